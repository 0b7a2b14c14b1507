#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The options of cdi-prepare that choose GPUs, the kind, the format, and where a driver is.

options_test.py CDI_PREPARE [unittest options]
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import node_trees  # noqa: E402  pylint: disable=wrong-import-position
from tree_case import TreeTest, dri, paths, run_tests  # noqa: E402  pylint: disable=C0413

FIRST_ID, SECOND_ID = node_trees.NVIDIA_UUIDS
LIB = "/usr/lib/x86_64-linux-gnu"
VERSION = node_trees.NVIDIA_DRIVER
DRIVER = "/run/nvidia/driver"


class OptionsTest(TreeTest):
    """Specs go to `self.out`."""

    tree = "nv2"

    def setUp(self):
        super().setUp()
        self.out = self.path("/var/run/cdi")

    def write(self, *arguments, code=0):
        done = self.run_prepare("write", *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def spec(self, *arguments, code=0):
        return json.loads(self.write("--dry-run", "-o", "json", *arguments, code=code).stdout)

    def files(self):
        return sorted(os.listdir(self.out)) if self.out.exists() else []

    def names(self, *arguments):
        return [device["name"] for device in self.spec(*arguments)["devices"]]

    def check(self, *arguments, code=0):
        done = self.run_prepare("check", *arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout


class DriverRoot(OptionsTest):
    def setUp(self):
        super().setUp()
        self.driver = self.path(DRIVER)
        self.driver.mkdir(parents=True)
        for name in ("usr", "lib", "etc"):
            shutil.move(self.path(name), self.driver / name)

    def edits(self, *arguments):
        return self.spec("--driver-root", DRIVER, *arguments)["containerEdits"]

    def move_nodes(self):
        """The nodes of NVIDIA move into the driver's dev."""
        table = self.path("dev.tab").read_text()
        self.path("dev.tab").write_text(re.sub("^/dev/nvidia", f"{DRIVER}/dev/nvidia", table,
                                               flags=re.MULTILINE))

    def test_files_are_below_it_on_the_host_only(self):
        mounts = self.edits()["mounts"]
        for mount in mounts:
            self.assertTrue(mount["hostPath"].startswith(DRIVER + "/"), mount)
            self.assertTrue(self.path(mount["hostPath"]).exists(), mount)
            self.assertNotIn(DRIVER, mount["containerPath"])
        places = {mount["containerPath"]: mount["hostPath"] for mount in mounts}
        for path, real in ((f"{LIB}/libcuda.so.1", f"{LIB}/libcuda.so.{VERSION}"),
                           ("/usr/bin/nvidia-smi",) * 2,
                           ("/etc/vulkan/icd.d/nvidia_icd.json",) * 2,
                           (f"/lib/firmware/nvidia/{VERSION}/gsp_ga10x.bin",) * 2):
            self.assertEqual(places[path], DRIVER + real)

    def test_without_it_there_are_no_files(self):
        done = self.write("--dry-run")
        self.assertIn("libcuda", done.stderr)
        self.assertNotIn("hostPath", done.stdout)

    def test_links_stay_inside(self):
        (self.driver / "usr/lib64").symlink_to("/usr/lib/x86_64-linux-gnu")
        shutil.move(self.driver / "usr/lib", self.driver / "moved")
        (self.driver / "usr/lib").symlink_to("/moved")
        places = {mount["containerPath"]: mount["hostPath"] for mount in self.edits()["mounts"]}
        self.assertEqual(places[f"/moved/x86_64-linux-gnu/libcuda.so.{VERSION}"],
                         f"{DRIVER}/moved/x86_64-linux-gnu/libcuda.so.{VERSION}")

    def test_path_of_the_kernel_for_firmware_is_on_the_host(self):
        shutil.move(self.driver / "lib/firmware", self.driver / "firmware")
        place = self.path("/sys/module/firmware_class/parameters/path")
        place.parent.mkdir(parents=True)
        place.write_text(f"{DRIVER}/firmware\n")
        names = [mount["containerPath"] for mount in self.edits()["mounts"]]
        self.assertIn(f"/firmware/nvidia/{VERSION}/gsp_ga10x.bin", names)

    def test_nodes_stay_on_the_host_unless_it_has_them(self):
        for node in self.edits()["deviceNodes"]:
            self.assertNotIn("hostPath", node)
        self.move_nodes()
        self.remove_dri()
        nodes = [node for edits in self.all_edits("--driver-root", DRIVER)
                 for node in edits["deviceNodes"]]
        for node in nodes:
            self.assertEqual(node["hostPath"], DRIVER + node["path"])
        self.assertIn("/dev/nvidiactl", paths(nodes))

    def remove_dri(self):
        table = self.path("dev.tab").read_text()
        self.path("dev.tab").write_text(re.sub("^/dev/dri.*\n", "", table, flags=re.MULTILINE))

    def test_directory_of_nodes(self):
        self.move_nodes()
        spec = self.spec("--dev-root", DRIVER, "--profile", "compute")
        self.assertEqual({node["hostPath"] for node in spec["containerEdits"]["deviceNodes"]},
                         {f"{DRIVER}/dev/{name}"
                          for name in ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")})
        # Given explicitly, the nodes of the host.
        done = self.write("--driver-root", DRIVER, "--dev-root", "/", code=4)
        self.assertIn("/dev/nvidia0", done.stderr)

    def test_nodes_of_other_vendors_stay_on_the_host(self):
        self.move_nodes()
        self.add_tree("mi300x-spx")
        self.write("--driver-root", DRIVER)
        for options in (("--driver-root", DRIVER), ("--dev-root", DRIVER)):
            nodes = [node for edits in self.all_edits(*options, "--kind", "amd.com/gpu")
                     for node in edits.get("deviceNodes", ())]
            self.assertIn("/dev/kfd", paths(nodes))
            self.assertIn("/dev/dri/renderD128", paths(nodes))
            self.assertEqual([node for node in nodes if "hostPath" in node], [])
            done = self.run_prepare("detect", "-o", "json", "--visible-only", *options)
            self.assertEqual((done.returncode, [vendor["kind"] for vendor in
                                                json.loads(done.stdout)["vendors"]]),
                             (0, ["nvidia.com/gpu", "amd.com/gpu"]))

    def all_edits(self, *arguments):
        spec = self.spec(*arguments)
        return [spec["containerEdits"], *(device["containerEdits"] for device in spec["devices"])]

    def test_of_a_wrong_number(self):
        self.move_nodes()
        self.edit("dev.tab", f"{DRIVER}/dev/nvidia1 c 195 1 ", f"{DRIVER}/dev/nvidia1 c 195 7 ")
        done = self.write("--driver-root", DRIVER, "--profile", "compute", code=3)
        self.assertIn("195:7, not 195:1", done.stderr)

    def test_is_recorded(self):
        options = ("--driver-root", DRIVER + "/", "--library-search-path", "/a", "--no-all",
                   "--library-search-path", "/b", "--device", "0,1", "--kind", "nvidia.com/gpu")
        for name in ("a", "b"):
            (self.driver / name).mkdir()
        self.write(*options)
        self.check(*options)
        self.assertIn("written with different options", self.check(code=1))
        self.edit("var/run/cdi/nvidia.com-gpu.yaml", "  - path: /dev/nvidiactl\n",
                  "  - path: /dev/nvidiacontrol\n")
        self.edit("var/run/cdi/nvidia.com-gpu.yaml", "major: 195\n      minor: 255",
                  "major: 0\n      minor: 255")
        found = json.loads(self.run_prepare("doctor", "-o", "json").stdout)["findings"]
        (advice,) = [one["advice"] for one in found if one["about"] == "specs" and one["advice"]]
        command = shlex.split(re.search("`(cdi-prepare write .*?)`", advice).group(1))
        done = subprocess.run([self.program, *command[1:]], check=False)
        self.assertEqual(done.returncode, 0)
        self.check(*options)

    def test_doctor_looks_where_it_is_recorded(self):
        without = self.run_prepare("doctor").stdout
        self.assertIn(f"name its directory, such as {DRIVER}: `cdi-prepare write --root "
                      f"{self.root} --driver-root DIR`.", without)
        self.move_nodes()
        self.write("--driver-root", DRIVER)
        done = self.run_prepare("doctor")
        self.assertIn(f"NVIDIA driver: module and libraries are {VERSION}", done.stdout)
        self.assertNotIn("fault", done.stdout)
        self.driver.rename(self.driver.with_name("gone"))
        done = self.run_prepare("doctor")
        self.assertIn("no libcuda is installed", done.stdout)

    def test_doctor_does_not_look_where_a_shadowed_file_records_it(self):
        self.write("--driver-root", DRIVER, "--output-dir", str(self.path("etc/cdi")))
        for name in ("usr", "lib", "etc/OpenCL"):
            if (self.driver / name).exists():
                shutil.copytree(self.driver / name, self.path(name), dirs_exist_ok=True)
        self.write()
        shutil.rmtree(self.driver / "usr")
        self.assertNotIn("no libcuda", self.run_prepare("doctor").stdout)

    def test_doctor_looks_where_a_spec_without_annotations_records_it(self):
        self.move_nodes()
        self.write("--driver-root", DRIVER, "--max-version", "0.5.0")
        found = self.run_prepare("doctor").stdout
        self.assertIn(f"NVIDIA driver: module and libraries are {VERSION}", found)
        self.assertIn("0.5.0", (self.out / "nvidia.com-gpu.yaml").read_text())

    def test_the_root_itself(self):
        for name in ("usr", "lib", "etc"):
            shutil.move(self.driver / name, self.path(name))
        self.assertEqual(self.spec("--driver-root", "//"), self.spec())

    def test_doctor_looks_where_nodes_are_recorded(self):
        self.move_nodes()
        self.driver.joinpath("dev/dri").mkdir(parents=True)
        self.write("--dev-root", DRIVER)
        self.assertNotIn("nvidiactl", self.run_prepare("doctor").stdout)
        self.edit("dev.tab", f"{DRIVER}/dev/", "/dev/")
        self.driver.rename(self.driver.with_name("gone"))
        self.assertIn("/dev/nvidiactl", self.run_prepare("doctor").stdout)

    def test_directory_that_is_not_there(self):
        for option in ("--driver-root", "--dev-root", "--library-search-path"):
            done = self.write(option, "/nothing", code=1)
            self.assertIn(f"cannot read {option} /nothing: No such file", done.stderr)
            self.assertIn("Not a directory", self.write(option, "/proc/devices", code=1).stderr)
            for command in ("files", "record /nothing", "detect", "slices", "check"):
                if command == "files" and option != "--driver-root":
                    continue
                done = self.run_prepare(*command.split(), option, "/nothing")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f"cannot read {option} /nothing: No such file", done.stderr)
            for path in ("relative", "/a b", "/a:b", "/a\nb", ""):
                done = self.write(option, path, code=2)
                self.assertIn("must be an absolute path", done.stderr)

    def test_libraries_elsewhere(self):
        shutil.move(self.driver / "usr/lib/x86_64-linux-gnu", self.driver / "opengl-driver")
        self.assertIn("libcuda.so", self.write("--driver-root", DRIVER, "--dry-run").stderr)
        names = [mount["containerPath"]
                 for mount in self.edits("--library-search-path", "/opengl-driver")["mounts"]]
        self.assertIn(f"/opengl-driver/libcuda.so.{VERSION}", names)
        self.assertIn("/opengl-driver/libcuda.so.1", names)


class Devices(OptionsTest):
    def test_every_name(self):
        for name in ("1", SECOND_ID, "0000:ca:00.0", "nvidia.com/gpu=1"):
            self.assertEqual(self.names("--device", name), [SECOND_ID, "1", "0000:ca:00.0", "all"])
        everything = self.names()
        for options in (("--device", "1,0"), ("--device", "1", "--device", "0"),
                        ("--device", "all")):
            self.assertEqual(self.names(*options), everything)

    def test_all_means_the_chosen(self):
        spec = self.spec("--device", "1")
        self.assertEqual(self.devices(spec)["all"], ["/dev/nvidia1", *dri(2, 129)])

    def test_unknown(self):
        self.write()
        before = (self.out / "nvidia.com-gpu.yaml").read_bytes()
        for name in ("7", "amd.com/gpu=0"):
            done = self.write("--device", "0," + name, code=4)
            self.assertIn(f"--device {name}: no device on this host has that name", done.stderr)
            self.assertEqual((self.out / "nvidia.com-gpu.yaml").read_bytes(), before)
        self.assertEqual(self.run_prepare("detect", "--device", "7").returncode, 4)
        for name in ("a b", "", "../x", "x="):
            self.assertIn("is not a device name", self.write("--device", name, code=2).stderr)

    def test_detect(self):
        done = self.run_prepare("detect", "--device", "1", "-o", "json")
        (kind,) = json.loads(done.stdout)["vendors"]
        self.assertEqual([gpu["index"] for gpu in kind["gpus"]], [1])

    def test_check_of_an_unknown_device(self):
        done = self.run_prepare("check", "-o", "json", "--device", "7")
        self.assertEqual(done.returncode, 4)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["stale"], [])
        self.assertIn("--device 7: no device", done.stderr)

    def test_check_without_what_is_left_out(self):
        self.remove_node("/dev/nvidia0")
        self.write(code=3)
        self.check()

    def test_numbers_are_not_written_to_etc(self):
        """They may differ after a boot, which files in /etc survive."""
        for place in ("/etc", "/etc/cdi"):
            self.write("--output-dir", str(self.path(place)))
            text = self.path(place + "/nvidia.com-gpu.yaml").read_text()
            self.assertNotIn("major:", text)

    def test_numbers_are_not_written_to_etc_that_leads_elsewhere(self):
        self.path("opt/cdi").mkdir(parents=True)
        shutil.rmtree(self.path("etc/cdi"), ignore_errors=True)
        self.path("etc/cdi").symlink_to("../opt/cdi")
        self.write("--output-dir", str(self.path("etc/cdi")))
        text = self.path("opt/cdi/nvidia.com-gpu.yaml").read_text()
        self.assertIn("node-numbers=asked", text)
        self.assertNotIn("major:", text)

    def test_order_and_repetition_do_not_matter(self):
        self.write("--device", "1,0")
        for names in ("0,1", "1,0", "0,1,0"):
            self.check("--device", names)
        self.assertIn("different options", self.check("--device", "0,all", code=1))

    def test_no_all(self):
        self.assertEqual(self.names("--no-all", "--device", "0"), [FIRST_ID, "0", "0000:17:00.0"])


class Partitions(OptionsTest):
    tree = "nv2mig"

    def test_gpu_means_its_partitions(self):
        self.assertEqual([name for name in self.names("--device", "1") if name[0] == "1"],
                         ["1:gi1:ci0", "1:gi2:ci0"])

    def test_one_partition(self):
        self.assertEqual(self.names("--device", "1:gi2:ci0"),
                         [f"{SECOND_ID}:gi2:ci0", "1:gi2:ci0", "0000:ca:00.0:gi2:ci0", "all"])


class Kinds(OptionsTest):
    def both(self):
        """A host with a GPU of another vendor, too."""
        node_trees.TREES["other"](str(self.root), False)
        second = self.path("dev.tab").read_text()
        node_trees.TREES["nv2"](str(self.root), False)
        with self.path("dev.tab").open("a", encoding="ascii") as table:
            table.write(second)

    def test_new_name(self):
        for version in ((), ("--max-version", "0.5.0")):  # with annotations, and without
            self.write("--kind", "acme.com/gpu", *version)
            self.assertEqual(self.files(), ["acme.com-gpu.yaml"])
            self.check("--kind", "acme.com/gpu", *version)
            done = self.run_prepare("doctor")  # it asks for no spec of the usual kind
            self.assertNotIn("no spec for", done.stdout)
            self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("is not a kind", self.write("--kind", "gpu", code=2).stderr)

    def test_misspelt(self):
        for wrong, meant in (("nvidia.com/imex-channels", "nvidia.com/imex-channel"),
                             ("nvidia.com/gdss", "nvidia.com/gds"), ("amd.com/gpus", "amd.com/gpu"),
                             ("management.nvidia.com/gpux", "management.nvidia.com/gpu")):
            done = self.write("--kind", wrong, code=1)
            self.assertIn(f"--kind {wrong}: there is no such kind: did you mean {meant}?",
                          done.stderr)
        self.assertEqual(self.files(), [])

    def test_only_one(self):
        self.both()
        self.write()
        self.assertEqual(self.files(), ["drm.local-gpu.yaml", "nvidia.com-gpu.yaml"])
        for file in self.files():
            (self.out / file).unlink()
        self.write("--kind", "nvidia.com/gpu")
        self.assertEqual(self.files(), ["nvidia.com-gpu.yaml"])

    def test_new_name_of_two(self):
        self.both()
        done = self.write("--kind", "acme.com/gpu", code=1)
        self.assertIn("choose one of them with --device", done.stderr)
        self.assertEqual(self.files(), [])
        self.write("--kind", "acme.com/gpu", "--device", "nvidia.com/gpu=all")
        self.assertEqual(self.files(), ["acme.com-gpu.yaml"])

    def test_kind_that_is_gone_is_not_that_of_others(self):
        done = self.write("--kind", "amd.com/gpu")
        self.assertIn("no device for kind amd.com/gpu found", done.stderr)
        self.assertEqual(self.files(), [])

    def test_files_of_other_kinds_stay(self):
        self.write("--kind", "acme.com/gpu")
        self.write()
        self.write("--kind", "acme.org/gpu")
        everything = ["acme.com-gpu.yaml", "acme.org-gpu.yaml", "nvidia.com-gpu.yaml"]
        self.assertEqual(self.files(), everything)
        self.check()
        self.check("--kind", "acme.com/gpu")
        for address in ("0000:17:00.0", "0000:ca:00.0"):
            shutil.rmtree(self.path(f"/sys/bus/pci/devices/{address}").resolve())
            self.path(f"/sys/bus/pci/devices/{address}").unlink()
        self.write()
        self.assertEqual(self.files(), everything[:2])
        self.write("--kind", "acme.org/gpu")
        self.assertEqual(self.files(), everything[:1])

    def test_files_of_other_kinds_stay_although_an_old_engine_allows_no_annotations(self):
        self.install(podman="4.3.1")
        kinds = (("--kind", "acme.com/gpu"), ("--kind", "management.nvidia.com/gpu"), ())
        for arguments in kinds:
            self.write(*arguments)
        everything = ["acme.com-gpu.yaml", "management.nvidia.com-gpu.yaml", "nvidia.com-gpu.yaml"]
        self.assertEqual(self.files(), everything)
        for name in everything:
            self.assertNotIn("annotations", (self.out / name).read_text())
        for arguments in kinds:
            self.check(*arguments)
            self.assertNotIn("removed", self.write(*arguments).stderr)
        self.assertIn("it was written with different options",
                      self.check("--kind", "acme.com/gpu", "--device", "0,1", code=1))
        for address in ("0000:17:00.0", "0000:ca:00.0"):
            (self.pci(address) / "class").write_text("0x040300\n")
        self.assertIn("nvidia.com-gpu.yaml removed", self.write().stderr)
        self.assertEqual(self.files(), everything[:2])
        self.write("--kind", "acme.com/gpu")
        self.assertEqual(self.files(), everything[1:2])

    def test_options_count_only_in_their_line(self):
        self.write("--kind", "acme.com/gpu", "--max-version", "0.5.0")
        file = self.out / "acme.com-gpu.yaml"
        owner, options, rest = file.read_text().split("\n", 2)
        self.assertEqual(owner, "# cdi-publisher/owner: cdi-prepare")
        self.assertRegex(options, "^# cdi-prepare/options: .*kind=acme.com/gpu")
        file.write_text(f"{owner}\n\n{options}\n{rest}")  # not in its place: not an option
        self.assertIn("acme.com-gpu.yaml removed", self.write().stderr)

    def test_chosen_devices_remove_no_file_of_others(self):
        self.both()
        self.write()
        self.write("--device", "nvidia.com/gpu=0")
        self.assertEqual(self.files(), ["drm.local-gpu.yaml", "nvidia.com-gpu.yaml"])


class Format(OptionsTest):
    def test_json(self):
        done = self.write("--format", "json")
        self.assertIn("run/cdi/nvidia.com-gpu.json\n", done.stdout)
        spec = json.loads((self.out / "nvidia.com-gpu.json").read_text())
        self.assertEqual(spec["kind"], "nvidia.com/gpu")
        self.check("--format", "json")
        self.assertEqual(json.loads(self.write("--dry-run", "--format", "json").stdout), spec)

    def test_other_format_is_replaced(self):
        for old, new in (("yaml", "json"), ("json", "yaml")):
            self.write("--format", old)
            done = self.run_prepare("check", "--format", new)
            self.assertEqual((done.returncode, done.stderr), (1, ""))
            self.assertEqual(done.stdout, f"{self.out}/nvidia.com-gpu.{old}: it was written with "
                             f"--format {old}: check it with --format {old}\n")
            self.check("--format", old)
            self.write("--format", new, "--device", "0")
            self.assertEqual(self.files(), [f"nvidia.com-gpu.{new}"])

    def test_both_formats(self):
        """A file of the other format beside the right one, or beside one that is damaged."""
        self.write()
        old = (self.out / "nvidia.com-gpu.yaml").read_bytes()
        self.write("--format", "json")
        (self.out / "nvidia.com-gpu.yaml").write_bytes(old)
        found = self.check("--format", "json", code=1)
        self.assertIn(f"{self.out}/nvidia.com-gpu.yaml: ", found)
        found = self.check(code=1)
        self.assertIn("nvidia.com-gpu.json: its kind has a file in another format", found)
        (self.out / "nvidia.com-gpu.json").write_text("{")
        found = self.check("--format", "json", code=1)
        self.assertEqual(len(found.splitlines()), 2, found)
        self.write("--format", "json", "--kind", "nvidia.com/gpu", "--force")
        self.assertEqual(self.files(), ["nvidia.com-gpu.json"])

    def keeps_the_yaml_file(self, *arguments, code):
        """Runs `write --format json`, which fails to write: the file in the other format stays."""
        before = (self.out / "nvidia.com-gpu.yaml").read_bytes()
        done = self.write("--format", "json", *arguments, code=code)
        self.assertNotIn("removed", done.stderr)
        self.assertEqual((self.out / "nvidia.com-gpu.yaml").read_bytes(), before)
        return done.stderr

    def test_format_that_an_old_engine_cannot_read_removes_no_spec(self):
        self.install(podman="4.3.1")
        self.write()
        self.assertIn("cannot record its owner", self.keeps_the_yaml_file(code=1))
        self.assertEqual(self.files(), ["nvidia.com-gpu.yaml"])

    def test_format_that_a_version_cannot_have_is_refused_by_each_command(self):
        advice = ("cdi-prepare: error: a JSON file in CDI 0.5.0 cannot record its owner: leave out "
                  "--format json, or use --max-version 0.6.0")
        for more, end in ((("--max-version", "0.5.0"), "\n"),
                          ((), ", which podman 4.3.1 does not read\n")):
            if not more:
                self.install(podman="4.3.1")
            for command in (("write",), ("write", "--dry-run"), ("check",), ("diff",)):
                with self.subTest(command=command, more=more):
                    done = self.run_prepare(*command, "--format", "json", *more)
                    self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
                    self.assertEqual(done.stderr.splitlines(True)[-1], advice + end)
            done = self.run_prepare("write", "--format", "json", "-o", "json", *more)
            (error,) = json.loads(done.stdout)["errors"]
            self.assertIn("cannot record its owner", error)
        self.assertEqual(self.files(), [])
        self.write("--format", "json", "--max-version", "0.6.0")

    def test_format_of_a_kind_that_is_not_ready_removes_no_spec(self):
        self.write()
        self.remove_node("/dev/nvidiactl")
        self.assertIn("not ready", self.keeps_the_yaml_file(code=4))
        self.assertEqual(self.files(), ["nvidia.com-gpu.yaml"])

    def test_format_whose_file_belongs_to_another_program_removes_no_spec(self):
        self.write()
        (self.out / "nvidia.com-gpu.json").write_text('{"kind": "nvidia.com/gpu"}')
        self.assertIn("records no owner", self.keeps_the_yaml_file(code=1))
        (self.out / "nvidia.com-gpu.json").unlink()
        (self.out / "nvidia.com-gpu.json").mkdir()
        self.assertIn("not a regular file", self.keeps_the_yaml_file("--force", code=1))

    def test_old_number_in_the_other_format(self):
        """Another driver may have the number now, whatever the format of the file."""
        self.write()
        self.edit("proc/devices", "510 nvidia-uvm", "511 nvidia-uvm")
        done = self.write("--format", "json", code=4)
        self.assertIn("nvidia.com-gpu.yaml removed: /dev/nvidia-uvm has numbers 510:0 there",
                      done.stderr)
        self.assertEqual(self.files(), [])

    def test_old_number_in_the_other_format_of_a_spec_that_cannot_be_written(self):
        self.write()
        self.edit("proc/devices", "510 nvidia-uvm", "511 nvidia-uvm")
        self.edit("dev.tab", " c 510 ", " c 511 ")
        self.assertEqual(self.check("--format", "json", code=1),
                         f"{self.out}/nvidia.com-gpu.yaml: /dev/nvidia-uvm has numbers 510:0 "
                         "there, and 511:0 now\n")
        (self.out / "nvidia.com-gpu.json").write_text('{"kind": "nvidia.com/gpu"}')
        done = self.write("--format", "json", code=1)
        self.assertIn("records no owner", done.stderr)
        self.assertIn("nvidia.com-gpu.yaml removed: /dev/nvidia-uvm has numbers 510:0 there",
                      done.stderr)
        self.assertEqual(self.files(), ["nvidia.com-gpu.json"])

    def test_kind_that_is_gone_in_the_other_format(self):
        self.write()
        for address in ("0000:17:00.0", "0000:ca:00.0"):
            (self.pci(address) / "class").write_text("0x040300\n")
        self.assertIn("nvidia.com-gpu.yaml removed", self.write("--format", "json").stderr)
        self.assertEqual(self.files(), [])

    def test_of_another_program_stays(self):
        self.out.mkdir(parents=True)
        text = "cdiVersion: 0.6.0\nkind: nvidia.com/gpu\n"
        (self.out / "nvidia.com-gpu.yaml").write_text(text)
        self.write("--format", "json")
        self.assertEqual((self.out / "nvidia.com-gpu.yaml").read_text(), text)

    def test_unknown_or_too_old(self):
        self.write("--format", "toml", code=2)
        done = self.write("--format", "json", "--max-version", "0.5.0", code=1)
        self.assertIn("0.6.0", done.stderr)
        self.assertEqual(self.files(), [])

    def test_engines_that_cannot_refuse_a_spec_change_no_advice(self):
        """One without a version, one that is off, and a builder that reads another directory."""
        self.write("--device", "0")
        self.edit("dev.tab", "/dev/nvidia-uvm c 510 0", "/dev/nvidia-uvm c 511 0")
        self.edit("proc/devices", "510 nvidia-uvm", "511 nvidia-uvm")
        def advice():
            found = json.loads(self.run_prepare("doctor", "-o", "json").stdout)["findings"]
            return [one["advice"] for one in found if one["about"] == "specs"]
        before = advice()
        self.install(containerd="1.7.24", buildkit="0.20.0")
        for name in ("podman", "buildkitd"):
            self.path(f"usr/bin/{name}").touch()
        self.assertEqual(advice(), before)
        done = self.run_prepare("doctor", "--output-dir", str(self.path("opt/cdi")))
        self.assertIn("buildkit 0.20.0: does not read /opt/cdi", done.stdout)
        self.assertNotIn(" buildkit --output-dir", done.stdout)

    def test_advice_keeps_it(self):
        self.write("--format", "json")
        self.edit("proc/sys/kernel/random/boot_id", "2", "3")
        self.assertIn("--format json", self.run_prepare("doctor").stdout)


if __name__ == "__main__":
    run_tests()
