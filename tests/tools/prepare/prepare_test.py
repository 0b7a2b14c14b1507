#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of cdi-prepare on fake nodes: prepare_test.py CDI_PREPARE SAMPLE_NODE [unittest options]"""
import json
import os
import shutil
import stat
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from tree_case import NodeTest, with_text  # noqa: E402  pylint: disable=wrong-import-position

PREPARE = SAMPLE = ""

FIRST, SECOND = "0000:17:00.0", "0000:ca:00.0"
FIRST_ID = "GPU-5f2a1c0e-3b7d-4c55-9f0a-8e1d2b3c4a51"
SECOND_ID = "GPU-d91be2a4-0c44-1f6e-b7c3-52a09d77e8f2"
SPEC_FILE = "nvidia.com-gpu.yaml"
NO_GPU = "cdi-prepare: no device found on this host\n"
NO_BUS = NO_GPU.replace("\n", ", but its PCI bus cannot be read: spec files are not changed\n")
VIDEO, RENDER = 44, 992


def char_device(path, major, minor, mode=0o666, gid=None):
    """A node as the spec has it; like the reference, the library leaves a zero out of the text."""
    node = {"path": path, "type": "c", "major": major}
    if minor:
        node["minor"] = minor
    node.update(fileMode=mode, permissions="rwm")
    if gid is not None:
        node["gid"] = gid
    return node


def gpu_nodes(minor):
    card, render = 1 + minor, 128 + minor
    return [char_device(f"/dev/nvidia{minor}", 195, minor),
            char_device(f"/dev/dri/card{card}", 226, card, 0o660, VIDEO),
            char_device(f"/dev/dri/renderD{render}", 226, render, 0o660, RENDER)]


def device(name, nodes):
    edits = {"deviceNodes": nodes, "additionalGids": [VIDEO, RENDER]}
    return {"name": name, "containerEdits": edits}


def file_mount(host, container=None):
    return {"hostPath": host, "containerPath": container or host,
            "options": ["ro", "nosuid", "nodev", "rbind", "rprivate"]}


CONTROL_NODES = [char_device("/dev/nvidiactl", 195, 255), char_device("/dev/nvidia-uvm", 510, 0),
                 char_device("/dev/nvidia-uvm-tools", 510, 1),
                 char_device("/dev/nvidia-modeset", 195, 254)]


class PrepareTest(NodeTest):
    """A fake node in `self.root`, a place to write specs to in `self.out`."""

    def setUp(self):
        super().setUp()
        self.out = self.place / "run/cdi"
        self.make_sample()

    def make_sample(self, *options):
        shutil.rmtree(self.root, ignore_errors=True)
        subprocess.run([SAMPLE, str(self.root), "--driver-files", *options], check=True)

    # What a test changes on the node.

    def information(self, address):
        return f"proc/driver/nvidia/gpus/{address}/information"

    def move(self, address, other):
        """Gives a GPU another PCI address."""
        self.pci(address).rename(self.pci(other))
        gpus = self.path("proc/driver/nvidia/gpus")
        (gpus / address).rename(gpus / other)

    def set_node(self, path, **changes):
        """Changes or removes (`gone=True`) a row of the device table."""
        rows = self.path("dev.tab").read_text().splitlines()
        names = ("path", "type", "major", "minor", "mode", "uid", "gid")
        kept = []
        for row in rows:
            values = dict(zip(names, row.split()))
            if values["path"] != path:
                kept.append(row)
            elif not changes.get("gone"):
                values.update(changes)
                kept.append(" ".join(str(values[name]) for name in names))
        self.assertNotEqual(rows, kept)
        self.path("dev.tab").write_text("\n".join(kept) + "\n")

    # Running it.

    def run_prepare(self, *arguments, **options):
        return with_text(self.run_tool(PREPARE, *map(str, arguments), expect=None, **options))

    def detect(self, *arguments):
        return self.run_prepare("detect", "--root", self.root, *arguments)

    def write(self, *arguments, **options):
        return self.run_prepare("write", "--root", self.root, "--output-dir", self.out, *arguments,
                                **options)

    def spec(self, code=0):
        """The spec of the node as it is now."""
        done = self.write("--dry-run", "-o", "json")
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def names(self, code=0):
        return [device["name"] for device in self.spec(code)["devices"]]

    def assert_nothing_done(self, done, code, message):
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertIn(message, done.stderr)
        self.assertFalse(self.out.exists() and any(self.out.iterdir()))

    def assert_nothing_published(self, done, message):
        """It is too early: nothing is written, nothing removed."""
        self.assert_nothing_done(done, 4, "not ready: nvidia.com/gpu: ")
        self.assertIn(message, done.stderr)

    def assert_second_left_out(self, reason):
        """The second GPU is left out for `reason`; the first is handed out, its names unchanged."""
        done = self.write("-o", "json")
        self.assertEqual(done.returncode, 3, done.stderr)
        answers = json.loads(done.stdout)
        (answer,) = answers["specs"]
        self.assertEqual(answer["path"], str(self.out / SPEC_FILE))
        self.assertEqual(answer["devices"],
                         [f"nvidia.com/gpu={n}" for n in (FIRST_ID, "0", FIRST, "all")])
        (left_out,) = answers["leftOut"]
        self.assertEqual(left_out["kind"], "nvidia.com/gpu")
        self.assertIn(left_out["name"], (SECOND_ID, SECOND))
        self.assertIn(reason, left_out["reason"])
        self.assertIn(f"{SECOND}: {left_out['reason']}\n", done.stderr)
        spec = self.spec(3)
        self.assertEqual(spec["devices"][3], device("all", gpu_nodes(0)))


class TwoGpus(PrepareTest):
    def test_spec(self):
        lib = "/usr/lib/x86_64-linux-gnu/"
        cuda, ml = (f"{lib}{name}.so.570.195.03" for name in ("libcuda", "libnvidia-ml"))
        self.assertEqual(self.spec(), {
            "cdiVersion": "0.7.0",
            "kind": "nvidia.com/gpu",
            "annotations": {
                "cdi-prepare/driver-version": "570.195.03",
                "cdi-prepare/gpus": f"{FIRST_ID} at {FIRST}, {SECOND_ID} at {SECOND}",
                "cdi-prepare/options": "profile=all hooks=none node-numbers=given",
                "cdi-publisher/owner": "cdi-prepare"},
            "devices": [device(FIRST_ID, gpu_nodes(0)), device(SECOND_ID, gpu_nodes(1)),
                        device("0", gpu_nodes(0)), device("1", gpu_nodes(1)),
                        device(FIRST, gpu_nodes(0)), device(SECOND, gpu_nodes(1)),
                        device("all", gpu_nodes(0) + gpu_nodes(1))],
            "containerEdits": {"env": ["NVIDIA_VISIBLE_DEVICES=void"],
                               "deviceNodes": CONTROL_NODES,
                               "mounts": [file_mount("/usr/bin/nvidia-smi"),
                                          file_mount(cuda), file_mount(cuda, lib + "libcuda.so.1"),
                                          file_mount(ml),
                                          file_mount(ml, lib + "libnvidia-ml.so.1")]},
        })

    def test_model(self):
        done = self.detect("-o", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (vendor,) = json.loads(done.stdout)["vendors"]
        self.assertEqual(vendor["kind"], "nvidia.com/gpu")
        self.assertEqual(vendor["driverVersion"], "570.195.03")
        self.assertEqual([node["path"] for node in vendor["controlNodes"]],
                         [node["path"] for node in CONTROL_NODES])
        first, second = vendor["gpus"]
        self.assertEqual(
            {key: value for key, value in second.items() if key != "nodes"},
            {"index": 1, "name": SECOND_ID, "aliases": ["1", SECOND], "vendor": "nvidia", "id": SECOND_ID,
             "model": "NVIDIA A100 80GB PCIe", "pciAddress": SECOND, "pciId": "10de:20b5",
             "physicalFunction": None, "iommuGroup": None, "driver": "nvidia", "numaNode": 1,
             "mode": None, "iommufdNodes": [], "otherNodes": [], "partitions": [],
             "leftOut": None, "leftOutCode": None})
        self.assertEqual((first["index"], first["pciAddress"]), (0, FIRST))
        self.assertEqual(second["nodes"][2],
                         {"path": "/dev/dri/renderD129", "type": "c", "major": 226, "minor": 129,
                          "uid": 0, "gid": RENDER, "mode": "0660",
                          "byPath": f"/dev/dri/by-path/pci-{SECOND}-render"})

    def test_model_as_text(self):
        done = self.detect()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in (FIRST_ID, SECOND_ID, FIRST, "A100", "NUMA node 1", "/dev/nvidia1", "195:255"):
            self.assertIn(word, done.stdout)

    def test_write(self):
        done = self.write()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        names = (FIRST_ID, SECOND_ID, "0", "1", FIRST, SECOND, "all")
        self.assertEqual(done.stdout.splitlines(),
                         [str(self.out / SPEC_FILE)] + [f"nvidia.com/gpu={name}" for name in names])
        text = (self.out / SPEC_FILE).read_text()
        self.assertEqual(text, self.write("--dry-run").stdout)
        self.assertIn("kind: nvidia.com/gpu\n", text)
        self.assertIn('name: "0"\n', text)

    def test_write_as_json(self):
        answers = [json.loads(self.write("-o", "json").stdout) for _ in range(2)]
        for answer, action in zip(answers, ("created", "unchanged")):
            self.assertEqual([answer[key] for key in ("removed", "leftOut", "notReady")], [[]] * 3)
            (spec,) = answer["specs"]
            self.assertEqual((spec["path"], spec["action"], spec["kind"]),
                             (str(self.out / SPEC_FILE), action, "nvidia.com/gpu"))
            self.assertEqual(len(spec["devices"]), 7)

    def test_dry_run_writes_nothing(self):
        for form in ("text", "json"):
            self.assertEqual(self.write("--dry-run", "-o", form).returncode, 0)
            self.assertFalse((self.place / "run").exists())

    def test_same_bytes_twice_and_no_other_file(self):
        self.write()
        before = (self.out / SPEC_FILE).read_bytes()
        self.write()
        self.assertEqual((self.out / SPEC_FILE).read_bytes(), before)
        self.assertEqual(os.listdir(self.out), [SPEC_FILE])

    def test_readable_by_all_whatever_the_umask(self):
        self.write(umask=0o077)
        for path, mode in ((self.out.parent, 0o755), (self.out, 0o755),
                           (self.out / SPEC_FILE, 0o644)):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), mode, path)

    def test_mode_of_a_directory_that_is_there_stays(self):
        self.out.mkdir(parents=True)
        self.out.chmod(0o750)
        self.write()
        self.assertEqual(stat.S_IMODE(self.out.stat().st_mode), 0o750)

    def test_replaces_what_is_there(self):
        self.write()
        self.path(self.information(SECOND)).unlink()
        self.write()
        self.assertNotIn(SECOND_ID, (self.out / SPEC_FILE).read_text())

    def test_numa_node_unknown(self):
        (self.pci(FIRST) / "numa_node").write_text("-1\n")
        gpus = json.loads(self.detect("-o", "json").stdout)["vendors"][0]["gpus"]
        self.assertIsNone(gpus[0]["numaNode"])


class Names(PrepareTest):
    def test_uuid_unknown(self):
        for old, new in ((FIRST_ID, "GPU-????????-????-????-????-????????????"),
                         ("GPU UUID: \t GPU-????????-????-????-????-????????????\n", ""),
                         ("Bus Type", "GPU UUID: GPU-../../etc\nBus Type")):
            self.edit(self.information(FIRST), old, new)
            self.assertEqual(self.names(), [FIRST, SECOND_ID, "0", "1", SECOND, "all"])

    def test_uuid_shared(self):
        self.edit(self.information(SECOND), SECOND_ID, FIRST_ID)
        self.assertEqual(self.names(), [FIRST, SECOND, "0", "1", "all"])
        self.assertIn("same UUID", self.detect().stderr)

    def test_nodes_follow_the_device_minor_and_names_the_address(self):
        self.edit(self.information(FIRST), "Device Minor: \t 0", "Device Minor: \t 1")
        self.edit(self.information(SECOND), "Device Minor: \t 1", "Device Minor: \t 0")
        spec = self.spec()
        self.assertEqual(self.names(), [FIRST_ID, SECOND_ID, "0", "1", FIRST, SECOND, "all"])
        paths = [spec["devices"][i]["containerEdits"]["deviceNodes"][0]["path"] for i in (0, 2)]
        self.assertEqual(paths, ["/dev/nvidia1", "/dev/nvidia1"])

    def test_addresses_are_ordered_as_numbers(self):
        first, second = "10000:17:00.0", "2000:ca:00.0"
        self.move(FIRST, first)
        self.move(SECOND, second)
        self.assertEqual(self.names(), [SECOND_ID, FIRST_ID, "0", "1", second, first, "all"])

    def test_index_stays_when_a_gpu_before_it_is_left_out(self):
        self.bind(FIRST, "vfio-pci")
        self.assertEqual(self.names(3), [SECOND_ID, "1", SECOND, "all"])


class Access(PrepareTest):
    def test_open_nodes_need_no_group_and_an_older_version(self):
        for name in ("card1", "card2", "renderD128", "renderD129"):
            self.set_node(f"/dev/dri/{name}", mode="0666")
        spec = self.spec()
        self.assertEqual(spec["cdiVersion"], "0.6.0")
        self.assertNotIn("additionalGids", json.dumps(spec))
        node = spec["devices"][0]["containerEdits"]["deviceNodes"][1]
        self.assertEqual((node["fileMode"], node["gid"]), (0o666, VIDEO))

    def test_closed_nodes_of_the_driver(self):
        self.set_node("/dev/nvidia0", mode="0660", gid=1000)
        self.set_node("/dev/nvidiactl", mode="0664", gid=1000)
        spec = self.spec()
        edits = spec["devices"][0]["containerEdits"]
        self.assertEqual(edits["deviceNodes"][0], char_device("/dev/nvidia0", 195, 0, 0o660, 1000))
        self.assertEqual(edits["additionalGids"], [VIDEO, RENDER, 1000])
        self.assertEqual(spec["containerEdits"]["additionalGids"], [1000])

    def test_closed_to_all_but_root(self):
        self.set_node("/dev/dri/card1", mode="0600", gid=0)
        edits = self.spec()["devices"][0]["containerEdits"]
        self.assertEqual(edits["additionalGids"], [RENDER])
        self.assertNotIn("gid", edits["deviceNodes"][1])


class LeftOut(PrepareTest):
    def make_mig_without_compute_instances(self):
        self.make_sample("--mig")
        for number in (1, 2):
            shutil.rmtree(self.path(f"proc/driver/nvidia/capabilities/gpu1/mig/gi{number}/ci0"))

    def test_mig(self):
        self.make_sample("--mig")
        self.assertEqual(self.names()[:3], [FIRST_ID, f"{SECOND_ID}:gi1:ci0",
                                            f"{SECOND_ID}:gi2:ci0"])

    def test_mig_without_compute_instances(self):
        self.make_mig_without_compute_instances()
        done = self.write("-o", "json")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(json.loads(done.stdout)["leftOut"], [
            {"kind": "nvidia.com/gpu", "name": f"{SECOND_ID}:gi{number}",
             "reason": "it has no compute instance"} for number in (1, 2)])
        self.assertEqual(self.names(3), [FIRST_ID, "0", FIRST, "all"])

    def test_vfio(self):
        self.bind(SECOND, "vfio-pci")
        self.assert_second_left_out("bound to vfio-pci")

    def test_no_driver(self):
        self.bind(SECOND, None)
        self.assert_second_left_out("bound to no driver")

    def test_lost(self):
        self.path(self.information(SECOND)).unlink()
        self.assert_second_left_out("information: No such file")

    def test_excluded(self):
        self.edit(self.information(SECOND), "GPU Excluded:\t No", "GPU Excluded:\t Yes")
        self.assert_second_left_out("excluded")

    def test_no_minor(self):
        self.edit(self.information(SECOND), "Device Minor: \t 1\n", "")
        self.assert_second_left_out("no device minor")

    def test_node_missing(self):
        self.set_node("/dev/nvidia1", gone=True)
        self.assert_second_left_out("/dev/nvidia1: No such file")

    def test_node_of_another_major(self):
        self.set_node("/dev/nvidia1", major=236)
        self.assert_second_left_out("/dev/nvidia1 is 236:1, not 195:1")

    def test_node_of_another_minor(self):
        self.set_node("/dev/nvidia1", minor=0)
        self.assert_second_left_out("/dev/nvidia1 is 195:0, not 195:1")

    def test_block_device(self):
        self.set_node("/dev/nvidia1", type="b")
        self.assert_second_left_out("/dev/nvidia1 is not a character device")

    def test_detect_shows_it(self):
        self.make_mig_without_compute_instances()
        done = self.detect()
        self.assertEqual(done.returncode, 3)
        self.assertIn("left out: it has no compute instance", done.stdout)

    def test_all_of_them(self):
        for address in (FIRST, SECOND):
            self.bind(address, "vfio-pci")
        for done in (self.write(), self.write("--dry-run")):
            self.assert_nothing_done(done, 1, "bound to vfio-pci")
            self.assertIn("no device can be handed out", done.stderr)
        self.assertEqual(self.detect().returncode, 1)

    def test_major_unknown(self):
        # nvidia-caps and the block device named nvidia must not be taken for it.
        self.edit("proc/devices", "195 nvidia\n", "")
        self.assert_nothing_published(self.write(), "no major for nvidia")
        self.path("proc/devices").unlink()
        self.assert_nothing_published(self.write(), "no major for nvidia")

    def test_older_name_of_the_major(self):
        rows = "195 nvidia\n195 nvidia-modeset\n195 nvidiactl\n"
        self.edit("proc/devices", rows, "195 nvidia-frontend\n")
        self.assertEqual(len(self.names()), 7)


class OptionalNodes(PrepareTest):
    def assert_omitted(self, path, why="omitted"):
        done = self.write("-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"warning: {path} {why}", done.stderr)
        text = json.dumps(self.spec())
        self.assertNotIn(f'"{path}"', text)
        self.assertIn('"/dev/nvidia1"', text)

    def test_drm_node_missing(self):
        self.set_node("/dev/dri/renderD129", gone=True)
        self.assert_omitted("/dev/dri/renderD129")

    def test_drm_node_of_another_number(self):
        self.set_node("/dev/dri/card2", minor=3)
        self.assert_omitted("/dev/dri/card2")

    def test_drm_number_unknown(self):
        (self.pci(SECOND) / "drm/card2/dev").write_text("226\n")
        self.assert_omitted("/dev/dri/card2")

    def test_connectors_are_no_cards(self):
        connector = self.pci(SECOND) / "drm/card2-DP-1"
        connector.mkdir()
        (connector / "dev").write_text("226:77\n")
        done = self.write("--dry-run")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_it_does_not_exist_yet(self):
        """The driver of a node is loaded: its numbers are known, and a runtime makes it."""
        for path, major in (("/dev/nvidia-uvm-tools", 510), ("/dev/nvidia-modeset", 195)):
            self.set_node(path, gone=True)
            done = self.write("--dry-run", "-o", "json")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            nodes = json.loads(done.stdout)["containerEdits"]["deviceNodes"]
            (node,) = (node for node in nodes if node["path"] == path)
            self.assertEqual((node["type"], node["major"], node["fileMode"]), ("c", major, 0o666))

    def test_it_does_not_exist_yet_where_the_host_is_asked(self):
        """A runtime would find no numbers. Only nvidia-uvm itself is worth waiting for."""
        asked = ("--node-numbers", "asked", "--dry-run", "-o", "json")
        for path in ("/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"):
            self.set_node(path, gone=True)
            done = self.write(*asked)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"warning: {path} omitted: it does not exist", done.stderr)
            self.assertNotIn(f'"{path}"', done.stdout)
            self.assertIn('"/dev/nvidia-uvm"', done.stdout)
        self.assertEqual(self.write(*asked, "--profile", "compute").stderr.count("warning"), 1)
        done = self.write(*asked, "--profile", "graphics")
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn('device node "/dev/nvidia-modeset" is missing', done.stderr)
        self.set_node("/dev/nvidia-uvm", gone=True)
        done = self.write(*asked)
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn('device node "/dev/nvidia-uvm" is missing', done.stderr)

    def test_uvm_of_a_module_that_was_reloaded(self):
        """A good spec is not replaced by one without the node."""
        self.write()
        before = (self.out / SPEC_FILE).read_bytes()
        self.set_node("/dev/nvidia-uvm", major=509)
        reason = "not ready: nvidia.com/gpu: /dev/nvidia-uvm is 509:0, not 510:0"
        for profile in ("all", "compute", "video"):
            done = self.write("--profile", profile)
            self.assertEqual(done.returncode, 4)
            self.assertIn(reason, done.stderr)
            self.assertEqual((self.out / SPEC_FILE).read_bytes(), before)
        self.assertEqual(self.write("--profile", "graphics").returncode, 0)

    def test_node_of_another_number(self):
        for path, why in (("/dev/nvidia-uvm-tools", "omitted"),
                          ("/dev/nvidia-modeset", "is 195:7, not 195:254")):
            self.set_node(path, minor=7)
            self.assert_omitted(path, why)

    def test_uvm_not_loaded(self):
        self.edit("proc/devices", "510 nvidia-uvm\n", "")
        reason = "/dev/nvidia-uvm: its kernel module is not loaded"
        for profile in ("all", "compute", "video"):
            self.assert_nothing_published(self.write("--profile", profile), reason)
        done = self.write("--profile", "graphics")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_modeset_not_loaded(self):
        self.edit("proc/devices", "195 nvidia-modeset\n", "")
        reason = "/dev/nvidia-modeset: its kernel module is not loaded"
        done = self.write("--dry-run")
        self.assertEqual((done.returncode, done.stderr), (0, f"cdi-prepare: warning: {reason}\n"))
        self.assertEqual(self.write("--dry-run", "--profile", "compute").stderr, "")
        self.assert_nothing_published(self.write("--profile", "graphics"), reason)

    def test_control_node_is_not_optional(self):
        self.out.mkdir(parents=True)
        self.set_node("/dev/nvidiactl", minor=254)
        self.assert_nothing_published(self.write(), "/dev/nvidiactl is 195:254, not 195:255")
        self.set_node("/dev/nvidiactl", gone=True)
        for done in (self.write(), self.write("--dry-run")):
            self.assert_nothing_published(done, "/dev/nvidiactl: No such file")
        self.assertEqual(self.detect().returncode, 4)


class NoGpu(PrepareTest):
    def assert_no_gpu(self, stderr=NO_BUS):
        self.assertEqual([(done.returncode, done.stdout, done.stderr)
                          for done in (self.write(), self.write("--dry-run"), self.detect())],
                         [(0, "", stderr)] * 3)
        self.assertFalse(self.out.exists())

    def test_empty_root(self):
        shutil.rmtree(self.root)
        self.root.mkdir()
        self.assert_no_gpu()

    def test_json_stays_json(self):
        shutil.rmtree(self.path("sys"))
        for done, answer in ((self.detect("-o", "json"), {"version": 1, "vendors": []}),
                             (self.write("-o", "json"),
                              {"version": 1, "specs": [], "removed": [], "leftOut": [], "notReady": [],
                               "warnings": [], "errors": []})):
            self.assertEqual((done.returncode, done.stderr), (0, NO_BUS))
            self.assertEqual(json.loads(done.stdout), answer)

    def test_no_proc_or_sys(self):
        shutil.rmtree(self.path("sys/bus"))
        self.assert_no_gpu()
        shutil.rmtree(self.path("proc"))
        self.assert_no_gpu()

    def test_sys_unreadable(self):
        directory = self.path("sys/bus/pci/devices")
        directory.chmod(0)
        self.addCleanup(directory.chmod, 0o755)
        if os.access(directory, os.R_OK):
            self.skipTest("root reads everything")
        self.assert_no_gpu()

    def test_sys_is_a_file(self):
        shutil.rmtree(self.path("sys"))
        self.path("sys").write_text("")
        self.assert_no_gpu()

    def test_no_function_is_a_gpu(self):
        (self.pci(FIRST) / "class").write_text("0x040300\n")  # the audio function of a GPU
        (self.pci(SECOND) / "class").write_text("0x068000\n")  # a bridge, as an NVSwitch is
        self.assert_no_gpu(NO_GPU)

    def test_of_another_vendor(self):
        (self.pci(SECOND) / "vendor").write_text("0x1a03\n")
        self.assertEqual([vendor["kind"] for vendor in
                          json.loads(self.detect("-o", "json").stdout)["vendors"]],
                         ["nvidia.com/gpu", "drm.local/gpu"])

    def test_the_file_there_stays(self):
        self.write()
        before = (self.out / SPEC_FILE).read_bytes()
        shutil.rmtree(self.path("sys"))
        self.assertEqual(self.write().returncode, 0)
        self.assertEqual((self.out / SPEC_FILE).read_bytes(), before)

    def test_virtual_functions_are_not_counted(self):
        physical = self.pci(FIRST).resolve()
        virtual = physical.with_name("0000:17:00.4")
        shutil.copytree(physical, virtual, symlinks=True)
        (virtual / "physfn").symlink_to(f"../{FIRST}")
        self.pci("0000:17:00.4").symlink_to(os.path.relpath(virtual, self.pci(FIRST).parent))
        self.assertEqual(self.names(), [FIRST_ID, SECOND_ID, "0", "1", FIRST, SECOND, "all"])


class HostileTree(PrepareTest):
    """Nothing in the tree makes it read outside, hang or crash."""

    def link_information(self, target):
        path = self.path(self.information(SECOND))
        path.unlink()
        path.symlink_to(target)

    def test_links_out_of_the_tree(self):
        secret = self.place / "secret"
        shutil.copy(self.path(self.information(SECOND)), secret)
        parent = self.path(self.information(SECOND)).parent
        for target in (secret, os.path.relpath(secret, parent), "../" * 40 + str(secret)[1:]):
            with self.subTest(target=str(target)):
                self.link_information(target)
                self.assertTrue(self.path(self.information(SECOND)).exists())
                self.assert_second_left_out("No such file")

    def test_directory_link_out_of_the_tree(self):
        outside = self.place / "outside"
        self.path("sys").rename(outside)
        self.path("sys").symlink_to(outside)
        self.assertEqual(self.detect().stderr, NO_BUS)

    def test_absolute_link_means_inside(self):
        self.path("copy").write_text(self.path(self.information(SECOND)).read_text())
        self.link_information("/copy")
        self.assertEqual(len(self.names()), 7)
        place = "/" + str(self.pci(FIRST).resolve().relative_to(self.root.resolve()))
        self.pci(FIRST).unlink()
        self.pci(FIRST).symlink_to(place)
        self.assertEqual(len(self.names()), 7)

    def test_link_loop(self):
        self.link_information("information")
        self.assert_second_left_out("information: Too many levels")

    def test_fifo(self):
        path = self.path(self.information(SECOND))
        path.unlink()
        os.mkfifo(path)
        self.assert_second_left_out("not a regular file")
        (self.pci(FIRST) / "numa_node").unlink()
        os.mkfifo(self.pci(FIRST) / "numa_node")
        self.assertEqual(self.detect().returncode, 3)

    def test_fifo_for_the_device_table(self):
        self.path("dev.tab").unlink()
        os.mkfifo(self.path("dev.tab"))
        self.assert_nothing_done(self.write(), 1, "/dev.tab: not a regular file")

    def test_directory_for_a_file(self):
        path = self.path(self.information(SECOND))
        path.unlink()
        path.mkdir()
        self.assert_second_left_out("not a regular file")

    def test_file_without_end(self):
        self.path(self.information(SECOND)).write_text("x" * (2 << 20))
        self.assert_second_left_out("larger than 1048576 bytes")

    def test_garbage(self):
        self.path(self.information(SECOND)).write_bytes(b"\0\xff:::\n" * 100)
        self.path("proc/devices").write_bytes(
            b"195 nvidia\n510 nvidia-uvm\nx y\n\xff\n" + b"9" * 30 + b" z\n")
        self.pci("no address").mkdir()
        self.assert_second_left_out("no device minor")

    def test_model_that_is_not_text(self):
        path = self.path(self.information(FIRST))
        path.write_bytes(path.read_bytes().replace(b"A100", b"\xff\xfe"))
        done = self.detect("-o", "json")
        self.assertEqual(done.returncode, 0)
        self.assertIn("??", json.loads(done.stdout)["vendors"][0]["gpus"][0]["model"])

    def test_device_table_with_a_bad_row(self):
        with open(self.path("dev.tab"), "a", encoding="ascii") as table:
            table.write("/dev/nvidia7 c 195 seven 0666 0 0\n")
        self.assert_nothing_done(self.write(), 1, "not a row of a device table")


class RealNodes(PrepareTest):
    """Without a device table the files in dev are looked at themselves."""

    def test_files_are_no_devices(self):
        self.path("dev.tab").unlink()
        self.assert_nothing_published(self.write(), "/dev/nvidia0: not a device node")

    def test_links_are_no_devices(self):
        self.path("dev.tab").unlink()
        self.path("dev/nvidia0").unlink()
        self.path("dev/nvidia0").symlink_to("/dev/null")
        self.assert_nothing_published(self.write(), "/dev/nvidia0: not a device node")

    def test_nodes(self):
        expected = self.spec()
        table = self.path("dev.tab").read_text().splitlines()[1:]
        self.path("dev.tab").unlink()
        for row in table:
            path, _, major, minor, mode, uid, gid = row.split()
            node = self.path(path[1:])
            node.unlink()
            try:
                os.mknod(node, stat.S_IFCHR, os.makedev(int(major), int(minor)))
            except PermissionError:
                self.skipTest("only root makes device nodes")
            os.chown(node, int(uid), int(gid))
            node.chmod(int(mode, 8))
        self.assertEqual(self.spec(), expected)


class Usage(PrepareTest):
    def test_wrong_usage(self):
        for arguments in ((), ("paint",), ("detect", "write"), ("detect", "--dry-run"),
                          ("detect", "-o", "xml"), ("write", "--root"), ("write", "extra"),
                          ("detect", "--root", self.place / "missing"),
                          ("write", "--output-dir", ""), ("doctor", "--spec-dir", "")):
            with self.subTest(arguments=arguments):
                done = self.run_prepare(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertNotEqual(done.stderr, "")

    def test_an_unknown_command_is_reported_with_the_known_ones(self):
        commands = ("detect, write, check, diff, watch, prepare, unprepare, list, doctor, "
                    "configure, files, slices, record")
        for word in ("paint", ""):
            done = self.run_prepare(word)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"one of {commands}, completion\n", done.stderr)
        done = self.run_prepare("--root")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (
            2, "", 'cdi-prepare: error: "--root" is not an option of cdi-prepare: put it after the '
            f"command that has it: {commands}\n"))

    def test_what_is_wrong_is_quoted(self):
        for arguments in (("list", "--lock-timeout"), ("write", "--wait"), ("write", "--expect"),
                          ("watch", "--interval"), ("write", "--max-version"), ("write", "--for"),
                          ("prepare", "--claim"), ("prepare", "--device"), ("prepare", "--kind")):
            for value in ("", "a b"):
                with self.subTest(arguments=arguments, value=value):
                    done = self.run_prepare(*arguments, value)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertIn(f'{arguments[1]}: ', done.stderr)
                    self.assertIn(f'"{value}" is no', done.stderr)

    def test_a_directory_that_cannot_be_opened_is_reported_once(self):
        self.out.parent.mkdir()
        self.out.write_text("mine\n")
        self.assertEqual(self.write().stderr.count("cannot open or create the directory"), 1)

    def test_a_root_that_may_not_be_read_is_named(self):
        self.path("dev.tab").unlink()
        self.path("dev.tab").symlink_to("dev.tab")
        for command in ("detect", "write", "write --make-nodes", "check", "diff", "doctor", "files",
                        "slices", "record /nothing", "configure podman", "configure podman --undo",
                        "list", "prepare --claim a --device 0", "unprepare --claim a"):
            with self.subTest(command=command):
                done = self.run_prepare(*command.split(), "--root", self.root)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr.count("/dev.tab: Too many levels"), 1, done.stderr)
        self.assertIn(f"error: cannot read --root {self.root}: /dev.tab", self.detect().stderr)

    def test_a_library_in_the_working_directory(self):
        self.path("libodd.so").write_text("no library")
        done = self.detect("--nvml", "--nvml-library", "libodd.so")
        self.assertEqual(done.returncode, 2)
        done = self.run_tool(PREPARE, "detect", "--root", ".", "--nvml", "--nvml-library",
                             "libodd.so", expect=None, cwd=self.root)
        self.assertIn(f"NVML: {os.path.realpath(self.root)}/libodd.so: file too short", done.stderr)

    @unittest.skipUnless(shutil.which("bwrap"), "needs bwrap")
    def test_nvml_in_a_container_without_proc(self):
        """The program starts itself for NVML, by a link there."""
        done = self.run_tool("bwrap", "--dev-bind", "/", "/", "--tmpfs", "/proc", PREPARE, "detect",
                             "--root", self.root, "--nvml", "--nvml-library", PREPARE, expect=None)
        if "bwrap: " in done.stderr:
            self.skipTest(done.stderr)
        self.assertIn("NVML: /proc/self/exe: ", done.stderr)

    def test_doctor_checks_only_below_the_root(self):
        for option in ("--spec-dir", "--output-dir"):
            for place in (self.place, self.path("../out"), f"{self.root}x"):
                done = self.run_prepare("doctor", "--root", self.root, option, place)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(f"error: {option} {os.path.abspath(place)} is not under --root "
                              f"{self.root}: ", done.stderr)
        done = self.run_prepare("doctor", "--root", self.root, "--spec-dir", self.path("etc/cdi"))
        self.assertNotEqual(done.returncode, 2)

    def test_help_has_the_exit_codes(self):
        for arguments in (("--help",), ("detect", "--help"), ("write", "--help")):
            done = self.run_prepare(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for code in range(5):
                self.assertIn(f"\n  {code}  ", done.stdout)

    def test_help_that_cannot_be_printed_fails(self):
        for arguments in (("--help",), ("write", "--help"), ("--version",)):
            with self.subTest(arguments), open("/dev/full", "wb") as full:
                done = self.run_tool(PREPARE, *arguments, expect=None, stdout=full)
                self.assertEqual((done.returncode, done.stderr),
                                 (1, "cdi-prepare: error: cannot write to standard output\n"))

    def test_output_dir_is_a_file(self):
        self.out.parent.mkdir()
        self.out.write_text("mine\n")
        for directory in (self.out, self.out / "below"):
            done = self.run_prepare("write", "--root", self.root, "--output-dir", directory)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(str(self.out), done.stderr)
        self.assertEqual(self.out.read_text(), "mine\n")

    def test_output_dir_is_a_file_and_there_is_no_gpu(self):
        self.out.parent.mkdir()
        self.out.write_text("mine\n")
        for address in (FIRST, SECOND):
            (self.pci(address) / "class").write_text("0x040300\n")
        done = self.write()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(str(self.out), done.stderr)
        self.assertEqual(self.out.read_text(), "mine\n")

    def test_working_directory_is_gone(self):
        place = self.place / "gone"
        place.mkdir()
        done = self.run_tool(PREPARE, "write", "--root", self.root, "--output-dir", "out",
                             expect=None, cwd=place, preexec_fn=place.rmdir)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("out: cannot open or create the directory: No such file", done.stderr)

    def test_numbers_of_options(self):
        for arguments, reason in (
                (("--max-version", "0.2.0"), '"0.2.0" is not a CDI version that specs can have'),
                (("--wait", "5x"), '"5x" is no'), (("--wait", "86401"), '"86401" is no')):
            done = self.run_prepare("write", "--root", self.root, *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(reason, done.stderr)

    def test_relative_output_dir(self):
        done = self.run_prepare("write", "--root", self.root, "--output-dir", "a/b/",
                                cwd=self.place)
        self.assertEqual(done.stdout.splitlines()[0], str(self.place / "a/b" / SPEC_FILE))
        self.assertTrue((self.place / "a/b" / SPEC_FILE).is_file())

    def test_full_standard_output(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PREPARE, "detect", "--root", self.root], stdout=full,
                                  stderr=subprocess.PIPE, timeout=20, check=False)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    PREPARE, SAMPLE = map(os.path.abspath, sys.argv[1:3])
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[3:]])
