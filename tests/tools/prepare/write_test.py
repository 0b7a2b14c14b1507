#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the specs of cdi-prepare hold, when they are written, and whether they stay right.

write_test.py CDI_PREPARE [unittest options]
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import node_trees  # noqa: E402  pylint: disable=wrong-import-position
from tree_case import TreeTest, dri, paths, run_tests, with_text  # noqa: E402  pylint: disable=C0413

FIRST, SECOND = "0000:17:00.0", "0000:ca:00.0"
FIRST_ID, SECOND_ID = node_trees.NVIDIA_UUIDS
LIB = "/usr/lib/x86_64-linux-gnu"
VERSION = "570.195.03"
BOOT = "proc/sys/kernel/random/boot_id"


class WriteTest(TreeTest):
    """Two GPUs of NVIDIA; specs go to `self.out`."""

    tree = "nv2"

    def setUp(self):
        super().setUp()
        self.out = self.place / "out"
        self.file = self.out / "nvidia.com-gpu.yaml"

    def run_out(self, command, *arguments):
        if "--output-dir" not in arguments:
            arguments = ("--output-dir", str(self.out), *arguments)
        return self.run_prepare(command, *arguments)

    def write(self, *arguments, code=0):
        done = self.run_out("write", *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def spec(self, *arguments, code=0):
        return json.loads(self.write("--dry-run", "-o", "json", *arguments, code=code).stdout)

    def mounts(self, *arguments):
        """The paths of a container that are mounts, with their host paths."""
        return {mount["containerPath"]: mount["hostPath"]
                for mount in self.spec(*arguments)["containerEdits"]["mounts"]}

    def remove_row(self, path):
        """Removes a node; answers with what puts it there again."""
        table = self.path("dev.tab")
        before = table.read_text()
        self.remove_node(path)
        return lambda: table.write_text(before)


class Profiles(WriteTest):
    graphics_nodes = {*dri(1, 128), "/dev/nvidia-modeset"}

    def content(self, profile):
        spec = self.spec("--profile", profile)
        shared = spec["containerEdits"]
        nodes = {*paths(shared["deviceNodes"]), *self.devices(spec)[FIRST_ID]}
        names = {os.path.basename(mount["containerPath"]) for mount in shared["mounts"]}
        return spec, nodes, names

    def test_compute(self):
        spec, nodes, names = self.content("compute")
        self.assertEqual(nodes, {"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm",
                                 "/dev/nvidia-uvm-tools"})
        self.assertIn(f"libcuda.so.{VERSION}", names)
        self.assertNotIn(f"libnvidia-glcore.so.{VERSION}", names)
        self.assertNotIn(f"libnvcuvid.so.{VERSION}", names)
        self.assertNotIn("nvidia_icd.json", names)
        # No node is closed to others, so no gids, which newer engines only read.
        self.assertEqual((spec["cdiVersion"], "additionalGids" in json.dumps(spec)),
                         ("0.6.0", False))

    def test_graphics(self):
        _, nodes, names = self.content("graphics")
        self.assertLessEqual(self.graphics_nodes, nodes)
        self.assertLessEqual({f"libnvidia-glcore.so.{VERSION}", "nvidia_icd.json"}, names)
        self.assertNotIn(f"libnvcuvid.so.{VERSION}", names)

    def test_video(self):
        _, nodes, names = self.content("video")
        self.assertFalse(self.graphics_nodes & nodes)
        self.assertLessEqual({f"libnvcuvid.so.{VERSION}", f"libcuda.so.{VERSION}"}, names)
        self.assertNotIn(f"libnvidia-glcore.so.{VERSION}", names)

    def test_all_is_the_rest_together_and_the_default(self):
        parts = set()
        for profile in ("compute", "graphics", "video"):
            _, nodes, names = self.content(profile)
            parts |= nodes | names
        _, nodes, names = self.content("all")
        self.assertEqual(nodes | names, parts)
        self.assertEqual(self.spec(), self.spec("--profile", "all"))

    def test_unknown(self):
        self.write("--profile", "games", code=2)


class ProfilesOfOthers(WriteTest):
    tree = "mi300x-spx"

    def test_compute_needs_the_render_node(self):
        spec = self.spec("--profile", "compute")
        self.assertEqual(self.devices(spec)["0"], ["/dev/dri/renderD128"])
        self.assertEqual(paths(spec["containerEdits"]["deviceNodes"]), ["/dev/kfd"])


class Libraries(WriteTest):
    def test_the_version_that_is_loaded(self):
        mounts = self.mounts()
        cuda = f"{LIB}/libcuda.so.{VERSION}"
        for name in (cuda, f"{LIB}/libcuda.so.1", f"{LIB}/libcuda.so"):
            self.assertEqual(mounts[name], cuda)
        self.assertFalse([path for path in mounts if "535" in path])

    def test_options(self):
        mounts = self.spec()["containerEdits"]["mounts"]
        self.assertEqual({tuple(mount["options"]) for mount in mounts},
                         {("ro", "nosuid", "nodev", "rbind", "rprivate")})

    def test_every_path_is_on_the_host(self):
        for path in self.mounts().values():
            self.assertTrue(self.path(path).exists(), path)
            self.assertFalse(self.path(path).is_symlink(), path)

    def test_path_for_the_loader(self):
        env = self.spec("--ld-library-path")["containerEdits"]["env"]
        self.assertIn(f"LD_LIBRARY_PATH={LIB}:{LIB}/vdpau", env)
        self.assertNotIn("LD_LIBRARY_PATH", json.dumps(self.spec()))

    def test_name_that_no_spec_can_hold(self):
        directory = os.fsencode(self.path(f"/lib/firmware/nvidia/{VERSION}"))
        for name in (b"gsp_\xff.bin", b"gsp_\x1b\n.bin"):
            with open(os.path.join(directory, name), "w", encoding="ascii"):
                pass
        mounts = self.mounts()
        self.assertEqual(len([path for path in mounts if "gsp_" in path]), 2)

    def test_libraries_of_another_version_keep_the_old_spec(self):
        self.write()
        before = self.file.read_bytes()
        self.path("sys/module/nvidia/version").write_text("575.57.08\n")
        for options in ((), ("--profile", "compute"), ("--force",)):
            self.assertIn("not ready", self.write(*options, code=4).stderr)
        self.assertEqual(self.file.read_bytes(), before)
        self.assertEqual(self.run_out("check").returncode, 4)

    def test_libcuda_that_is_gone_keeps_the_old_spec(self):
        self.write()
        before = self.file.read_bytes()
        shutil.rmtree(self.path("usr"))
        self.assertIn("not ready", self.write(code=4).stderr)
        self.assertEqual(self.file.read_bytes(), before)
        self.assertEqual(self.run_out("check").returncode, 4)
        self.write("--force")
        self.assertNotIn(b"libcuda", self.file.read_bytes())
        self.write()

    def test_none_installed(self):
        shutil.rmtree(self.path("usr"))
        done = self.write("--dry-run")
        self.assertIn("warning: ", done.stderr)
        self.assertIn(VERSION, done.stderr)


class Hooks(WriteTest):
    hook = "/usr/bin/nvidia-cdi-hook"
    knows = ("update-ldcache enable-cuda-compat disable-device-node-modification "
             "update-application-profile")

    def install(self, text, path=hook, mode=0o755):
        self.path(path).write_text(text)
        self.path(path).chmod(mode)

    def hooks(self, edits):
        return [hook["args"] for hook in edits["hooks"]]

    def test_links_by_hooks(self):
        self.install("\0\1" + self.knows)
        spec = self.spec("--hooks", "nvidia")
        links, compat, cache, nodes, profile = spec["containerEdits"]["hooks"]
        for hook in (links, compat, cache, nodes, profile):
            self.assertEqual((hook["hookName"], hook["path"], hook["args"][0], hook["env"]),
                             ("createContainer", self.hook, "nvidia-cdi-hook",
                              ["NVIDIA_CTK_DEBUG=false"]))
        self.assertEqual(links["args"][1:3], ["create-symlinks", "--link"])
        self.assertIn(f"libcuda.so.{VERSION}::{LIB}/libcuda.so.1", links["args"])
        self.assertEqual(compat["args"][1:], ["enable-cuda-compat",
                                              f"--host-driver-version={VERSION}"])
        self.assertEqual(cache["args"][1:], ["update-ldcache", "--folder", LIB, "--folder",
                                             f"{LIB}/vdpau"])
        self.assertEqual(nodes["args"][1:], ["disable-device-node-modification"])
        self.assertEqual(profile["args"][1:], ["update-application-profile"])
        self.assertNotIn(f"{LIB}/libcuda.so.1", self.mounts("--hooks", "nvidia"))
        first = next(device for device in spec["devices"] if device["name"] == FIRST_ID)
        self.assertEqual(self.hooks(first["containerEdits"]), [[
            "nvidia-cdi-hook", "create-symlinks",
            "--link", f"../card1::/dev/dri/by-path/pci-{FIRST}-card",
            "--link", f"../renderD128::/dev/dri/by-path/pci-{FIRST}-render"]])

    def test_graphics_see_the_gpus_of_the_container_only(self):
        self.install(self.knows)
        for use, has_hook in (("graphics", True), ("compute", False)):
            text = json.dumps(self.spec("--hooks", "nvidia", "--profile", use))
            self.assertEqual("update-application-profile" in text, has_hook)

    def test_only_hooks_that_the_program_knows(self):
        self.install("an older one")
        names = [args[1] for args in self.hooks(self.spec("--hooks", "nvidia")["containerEdits"])]
        self.assertEqual(names, ["create-symlinks", "update-ldcache"])

    def test_older_program(self):
        self.install(self.knows, "/usr/bin/nvidia-ctk")
        first = self.spec("--hooks", "nvidia")["containerEdits"]["hooks"][0]
        self.assertEqual((first["path"], first["args"][:3]),
                         ("/usr/bin/nvidia-ctk", ["nvidia-ctk", "hook", "create-symlinks"]))

    def test_not_installed(self):
        self.install(self.knows, mode=0o644)
        done = self.write("--dry-run", "-o", "json", "--hooks", "nvidia")
        self.assertIn("no nvidia-cdi-hook is installed", done.stderr)
        edits = json.loads(done.stdout)["containerEdits"]
        self.assertNotIn("hooks", edits)
        self.assertEqual(edits["mounts"], self.spec()["containerEdits"]["mounts"])

    def test_wrapper_of_the_program(self):
        self.install("#!/bin/sh\nexec nvidia-cdi-hook.real \"$@\"\n")
        done = self.write("--dry-run", "-o", "json", "--hooks", "nvidia")
        self.assertIn("may not support all hooks", done.stderr)
        self.install(self.knows, self.hook + ".real")
        done = self.write("--dry-run", "-o", "json", "--hooks", "nvidia")
        self.assertEqual(done.stderr, "")
        self.assertEqual(len(self.hooks(json.loads(done.stdout)["containerEdits"])), 5)

    def test_link_to_another_directory(self):
        place = self.path(LIB)
        (place / "deep").mkdir()
        (place / f"libcuda.so.{VERSION}").rename(place / f"deep/libcuda.so.{VERSION}")
        (place / "libcuda.so.1").unlink()
        (place / "libcuda.so.1").symlink_to(f"deep/libcuda.so.{VERSION}")
        self.install(self.knows)
        links = self.spec("--hooks", "nvidia")["containerEdits"]["hooks"][0]["args"]
        self.assertIn(f"{LIB}/deep/libcuda.so.{VERSION}::{LIB}/libcuda.so.1", links)

    def test_driver_without_libraries_and_version(self):
        for name in ("usr/lib", "lib"):
            shutil.rmtree(self.path(name))
        self.path("sys/module/nvidia/version").write_text("\n")
        self.install(self.knows)
        names = [args[1] for args in self.hooks(self.spec("--hooks", "nvidia")["containerEdits"])]
        self.assertEqual(names, ["disable-device-node-modification", "update-application-profile"])

    def test_none_by_default(self):
        self.install(self.knows)
        self.assertNotIn('"hooks"', json.dumps(self.spec()))


class Numbers(WriteTest):
    def nodes(self, *arguments):
        spec = self.spec(*arguments)
        edits = [spec["containerEdits"], *(one["containerEdits"] for one in spec["devices"])]
        return [node for edit in edits for node in edit["deviceNodes"]]

    def test_given(self):
        for node in self.nodes():
            self.assertLessEqual({"type", "major"}, set(node))  # minor 0 is left out of the text

    def test_asked(self):
        for arguments in (("--node-numbers", "asked"), ("--output-dir", "/etc/cdi"),
                          ("--output-dir", "/etc/../etc/cdi/")):
            for node in self.nodes(*arguments):
                self.assertFalse({"type", "major", "minor"} & set(node))
                self.assertIn("fileMode", node)

    def test_link_into_etc(self):
        link = self.place / "link"
        link.symlink_to("/etc")
        self.assertNotIn("major", self.nodes("--output-dir", str(link / "cdi"))[0])

    def test_other_names_that_begin_so(self):
        for directory in ("/etcetera", "/tmp/etc"):
            self.assertIn("major", self.nodes("--output-dir", directory)[0])

    def test_the_boot_counts_only_with_numbers(self):
        self.assertIn("cdi-prepare/boot-id", self.spec()["annotations"])
        self.assertNotIn("cdi-prepare/boot-id",
                         self.spec("--node-numbers", "asked")["annotations"])


class Versions(WriteTest):
    def test_lowest_that_holds_it(self):
        self.assertEqual(self.spec()["cdiVersion"], "0.7.0")
        newest, plain = self.spec("--max-version", "1.1.0"), self.spec()
        for spec in (newest, plain):
            del spec["annotations"]["cdi-prepare/options"]
        self.assertEqual(newest, plain)

    def test_lowered(self):
        done = self.write("--dry-run", "-o", "json", "--max-version", "0.6.0")
        spec = json.loads(done.stdout)
        self.assertEqual(spec["cdiVersion"], "0.6.0")
        self.assertNotIn("additionalGids", json.dumps(spec))
        self.assertIn("warning: nvidia.com/gpu: 0.6.0: ", done.stderr)
        self.assertIn("additionalGids", done.stderr)

    def test_names_that_an_old_version_has_no_place_for(self):
        spec = self.spec("--max-version", "0.3.0")
        self.assertEqual((spec["cdiVersion"], [one["name"] for one in spec["devices"]]),
                         ("0.3.0", [FIRST_ID, SECOND_ID, "all"]))

    def test_owner_in_a_comment(self):
        old = ("--max-version", "0.5.0")
        for action in ("created", "unchanged"):
            (done,) = json.loads(self.write(*old, "-o", "json").stdout)["specs"]
            self.assertEqual(done["action"], action)
        self.assertNotIn("annotations", self.file.read_text())
        self.edit(f"proc/driver/nvidia/gpus/{SECOND}/information", "Excluded:\t No",
                  "Excluded:\t Yes")
        self.write(*old, code=3)
        self.assertNotIn(SECOND_ID, self.file.read_text())
        # Engines are upgraded, and back again.
        for arguments, in_annotation in (((), True), (old, False), ((), True)):
            self.write(*arguments, code=3)
            text = self.file.read_text()
            self.assertEqual("\n  cdi-publisher/owner: cdi-prepare\n" in text, in_annotation)
            self.assertEqual(text.startswith("# cdi-publisher/owner: cdi-prepare\n"),
                             not in_annotation)

    def test_owner_in_a_comment_of_a_kind_that_is_gone(self):
        self.write("--max-version", "0.5.0")
        for address in (FIRST, SECOND):
            (self.pci(address) / "class").write_text("0x040300\n")
        self.assertIn(f"{self.file} removed", self.write().stderr)
        self.assertEqual(os.listdir(self.out), [])

    def test_file_with_the_first_line_of_older_runs(self):
        former = "# Written by cdi-prepare, which will replace or remove it."
        comment = "# cdi-publisher/owner: cdi-prepare"
        old = ("--max-version", "0.5.0")
        self.write(*old)
        now = self.file.read_text()
        self.assertEqual(now.splitlines()[0], comment)
        for end in ("\n", "\r\n"):
            before = now.replace(comment + "\n", former + end)
            self.file.write_text(before)
            self.assertEqual(self.run_out("check", *old).returncode, 0)
            self.write(*old)
            self.assertEqual(self.file.read_text(), now)
            self.file.write_text(before)
            self.write()
            self.assertIn("cdi-publisher/owner: cdi-prepare", self.file.read_text())
        other = self.out / "other.yaml"
        other.write_text(before.replace("kind: nvidia.com/gpu", "kind: gone.com/gpu"))
        self.assertIn(f"{other}: the host no longer has such a device", self.run_out("check").stdout)
        self.assertIn(f"{other} removed", self.write().stderr)
        self.assertEqual(os.listdir(self.out), [self.file.name])

    def test_force_takes_what_others_have_but_no_directory(self):
        self.out.mkdir()
        for text in ("kind: [\n", "{}", "[" * 10000, "# cdi-publisher/owner: me\nkind: a.b/c\n"):
            self.file.write_text(text)
            for version in ("0.5.0", "0.7.0"):
                self.write("--force", "--max-version", version)
                self.assertEqual(self.run_out("check", "--max-version", version).returncode, 0)
        self.file.unlink()
        self.file.mkdir()
        for more in ((), ("--force",)):
            error = self.write(*more, code=1).stderr
            self.assertIn("not a regular file", error)
            self.assertNotIn("--force", error)

    def test_file_that_records_no_owner(self):
        self.write("--max-version", "0.5.0")
        self.file.write_text(self.file.read_text().split("\n", 1)[1] + "# mine\n")
        before = self.file.read_bytes()
        self.remove_node("/dev/nvidia1")
        for arguments in ((), ("--max-version", "0.5.0")):
            self.assertIn("--force", self.write(*arguments, code=1).stderr)
            self.assertEqual(self.file.read_bytes(), before)
        self.write("--max-version", "0.5.0", "--force", code=3)
        self.assertNotIn(SECOND_ID, self.file.read_text())

    def test_the_oldest_engine_installed_decides(self):
        self.install(podman="4.9.3+ds1-1", containerd="1.7.2-1")
        done = self.write()
        self.assertIn('\ncdiVersion: "0.5.0"\n', self.file.read_text())
        (line,) = [line for line in done.stderr.splitlines() if "specs are written" in line]
        self.assertEqual(line, "cdi-prepare: specs are written in CDI 0.5.0, the newest version "
                               "that containerd 1.7.2 reads; --for or --max-version chooses another")
        # The fingerprint, which 0.5.0 cannot hold, is not reported as a loss.
        self.assertNotIn("annotations", done.stderr)
        self.assertEqual(self.run_out("check").returncode, 0)
        for arguments in (("--max-version", "1.1.0"), ("--for", "podman@6.0")):
            done = self.write(*arguments)
            self.assertNotIn("specs are written", done.stderr)
            self.assertIn('\ncdiVersion: "0.7.0"\n', self.file.read_text())

    def test_engines_that_need_nothing_older_change_nothing(self):
        plain = self.spec()
        self.install(podman="5.8.1-1")
        done = self.write("--dry-run", "-o", "json")
        self.assertEqual((json.loads(done.stdout), done.stderr), (plain, ""))

    def test_an_engine_that_is_updated_makes_the_spec_stale(self):
        self.install(podman="4.9.3-1")
        self.write()
        self.edit("var/lib/dpkg/status", "4.9.3", "5.4.2")
        done = self.run_out("check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the host has changed", done.stdout)
        self.write()
        self.assertIn('\ncdiVersion: "0.7.0"\n', self.file.read_text())

    def test_an_engine_without_cdi_is_warned_of(self):
        self.install(containerd="1.6.20~ds1-1")
        done = self.write()
        self.assertIn("warning: containerd 1.6.20 is older than 1.7.0", done.stderr)
        self.assertIn('\ncdiVersion: "0.7.0"\n', self.file.read_text())

    def test_a_host_without_gpus_needs_no_engine(self):
        self.install(containerd="1.6.20~ds1-1")
        for address in (FIRST, SECOND):
            (self.pci(address) / "class").write_text("0x040300\n")
        self.assertEqual(self.write().stderr, "cdi-prepare: no device found on this host\n")

    def test_an_engine_of_unknown_version_is_warned_of(self):
        self.path("usr/bin").mkdir(parents=True, exist_ok=True)
        self.path("usr/bin/podman").touch()
        done = self.write()
        self.assertIn("warning: podman: its version is unknown", done.stderr)
        self.assertIn("--for podman@VERSION", done.stderr)
        self.assertEqual(self.write("--for", "podman@6.0").stderr, "")

    def test_an_engine_that_is_switched_off_does_not_count(self):
        self.install(containerd="1.7.2-1")
        self.path("etc/containerd").mkdir()
        self.path("etc/containerd/config.toml").write_text(
            'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\nenable_cdi = false\n')
        self.assertEqual(self.spec()["cdiVersion"], "0.7.0")

    def test_engines_given(self):
        spec = self.spec("--for", "podman@4.9.3", "--for", "containerd@1.7.16")
        self.assertEqual(spec["cdiVersion"], "0.6.0")
        self.assertIn("max-version=0.6.0", spec["annotations"]["cdi-prepare/options"])
        done = self.write("--for", "containerd@1.7.16", "--for", "podman@4.9.3", "--dry-run")
        self.assertIn("CDI 0.6.0, the newest version that podman 4.9.3 reads", done.stderr)
        for arguments in (("--for", "talos"), ("--for", "lxc@1"), ("--for", "podman@4.0"),
                          ("--for", "podman@4.9", "--max-version", "0.6.0")):
            self.write(*arguments, code=2)

    def test_an_engine_given_without_a_version_is_the_one_of_the_host(self):
        self.install(podman="4.9.3-1")
        done = self.write("--for", "podman")
        self.assertIn("podman@4.9.3", done.stderr)
        self.assertIn('\ncdiVersion: "0.6.0"\n', self.file.read_text())
        self.assertIn("--for docker: it is not installed on this host",
                      self.write("--for", "docker", code=1).stderr)
        self.edit("var/lib/dpkg/status", "4.9.3", "3.4.4")
        self.assertIn("podman 3.4.4", self.write("--for", "podman", code=1).stderr)

    def test_no_version(self):
        for text in ("new", "1.1", "0.7.0.0", ""):
            self.write("--max-version", text, code=2)


class Files(WriteTest):
    def test_same_bytes_wherever_and_whenever(self):
        self.write()
        other = self.place / "other"
        shutil.copytree(self.root, other / "node", symlinks=True)
        subprocess.run([self.program, "write", "--root", str(other / "node"), "--output-dir",
                        str(other / "out")], check=True, capture_output=True, timeout=20)
        self.assertEqual(self.file.read_bytes(),
                         (other / "out/nvidia.com-gpu.yaml").read_bytes())

    def test_unchanged_is_not_written(self):
        self.write()
        before = self.file.stat()
        self.write()
        self.assertEqual(self.file.stat(), before)

    def test_file_of_another_program(self):
        self.out.mkdir()
        self.file.write_text("cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices: []\n")
        before = self.file.read_bytes()
        self.assertIn("records no owner", self.write(code=1).stderr)
        self.assertEqual(self.file.read_bytes(), before)
        self.write("--force")
        self.write()
        self.assertIn("cdi-publisher/owner: cdi-prepare", self.file.read_text())

    def test_other_files_that_need_no_warning(self):
        """Of another kind, or not readable; and one in the other format, of another program."""
        self.out.mkdir()
        text = json.dumps({"cdiVersion": "0.5.0", "kind": "other.com/gpu",
                           "devices": [{"name": "0", "containerEdits": {"env": ["A=nvidia.com/gpu"]}}]})
        (self.out / "a.json").write_text(text)
        (self.out / "b.json").mkdir()
        self.assertNotIn("also defines", self.write().stderr)
        text = text.replace("other.com", "nvidia.com").replace(
            '"devices": [', '"devices": [{"name": "1", "containerEdits": {"env": ["A=b"]}}, ')
        (self.out / "nvidia.com-gpu.json").write_text(text)
        self.assertIn("nvidia.com-gpu.json also defines nvidia.com/gpu=0 and 1 more",
                      self.write().stderr)

    def test_file_that_not_all_may_read(self):
        self.write()
        self.file.chmod(0o600)
        self.assertIn("read", self.run_out("check").stdout + self.write().stderr)

    def test_options_that_change_names_are_recorded(self):
        for option in (("--nvml", "--nvml-library", __file__), ("--visible-only",)):
            self.write(*option)
            self.assertEqual(self.run_out("check", *option).returncode, 0)
            self.assertIn("written with different options", self.run_out("check").stdout)

    def test_library_path_without_libraries(self):
        shutil.rmtree(self.path("usr"))
        self.assertNotIn("LD_LIBRARY_PATH", json.dumps(self.spec("--ld-library-path")))

    def test_other_file_with_the_same_device(self):
        self.out.mkdir()
        other = self.out / "nvidia.json"
        for name, warned in (("0", True), ("9", False)):
            other.write_text(json.dumps({
                "cdiVersion": "0.5.0", "kind": "nvidia.com/gpu", "devices": [
                    {"name": name, "containerEdits": {"env": ["A=b"]}}]}))
            for stderr in (self.write().stderr, self.run_out("check").stderr):
                self.assertEqual(f"{other} also defines nvidia.com/gpu=0" in stderr, warned)

    def test_kind_that_is_gone(self):
        self.write()
        self.out.joinpath("other.json").write_text("{}")
        for address in (FIRST, SECOND):
            (self.pci(address) / "class").write_text("0x040300\n")
        done = self.write()
        self.assertIn(f"{self.file} removed", done.stderr)
        self.assertEqual(os.listdir(self.out), ["other.json"])

    def test_kind_that_is_not_ready_stays(self):
        self.write()
        before = self.file.read_bytes()
        put_back = self.remove_row("/dev/nvidiactl")
        self.assertIn("not ready: nvidia.com/gpu: /dev/nvidiactl", self.write(code=4).stderr)
        self.assertEqual(self.file.read_bytes(), before)
        put_back()
        self.write()

    def test_kind_of_which_everything_is_in_between_stays(self):
        self.write()
        before = self.file.read_bytes()
        for minor in (0, 1):
            self.remove_node(f"/dev/nvidia{minor}")
        self.assertIn("/dev/nvidia0: No such file", self.write(code=4).stderr)
        self.assertEqual(self.file.read_bytes(), before)

    def test_host_without_a_view_of_its_devices(self):
        self.write()
        shutil.rmtree(self.path("sys"))
        self.assertIn("spec files are not changed", self.write().stderr)
        self.assertTrue(self.file.exists())
        self.assertEqual(self.run_out("check").returncode, 0)

    def test_function_that_cannot_be_read(self):
        """It may be a GPU."""
        self.write()
        before = self.file.read_bytes()
        for address in (FIRST, SECOND):
            (self.pci(address) / "class").unlink()
            self.assertIn(f"cannot read class, vendor and device of PCI function {FIRST}",
                          self.write(code=4).stderr)
            self.assertEqual(self.run_out("check").returncode, 4)
            self.assertEqual(self.file.read_bytes(), before)

    def test_function_that_cannot_be_read_and_indexes(self):
        """A GPU never gets the index of another one."""
        def indexes():
            found = json.loads(self.run_prepare("detect", "-o", "json").stdout)["vendors"]
            return [(gpu["pciAddress"], gpu["index"]) for gpu in found[0]["gpus"]]
        self.assertEqual(indexes(), [(FIRST, 0), (SECOND, 1)])
        place = self.pci(SECOND) / "vendor"
        place.rename(self.place / "vendor")
        self.assertEqual(indexes(), [(FIRST, 0)])
        (self.place / "vendor").rename(place)
        (self.pci(FIRST) / "class").unlink()
        self.assertEqual(indexes(), [(SECOND, None)])
        (self.pci(FIRST) / "class").write_text("0x040300\n")  # surely no GPU
        (self.pci(FIRST) / "vendor").unlink()
        self.assertEqual(indexes(), [(SECOND, 0)])
        (self.pci(SECOND) / "device").unlink()
        self.assertIn(f"vendor and device of PCI function {SECOND}", self.write(code=4).stderr)

    def test_old_number_of_a_node(self):
        """Another driver may have the number now."""
        self.write()
        self.edit("proc/devices", "510 nvidia-uvm", "511 nvidia-uvm")
        old = "/dev/nvidia-uvm has numbers 510:0 there, and 511:0 now"
        done = self.run_out("check")
        self.assertEqual((done.returncode, done.stdout), (1, f"{self.file}: {old}\n"))
        done = self.write(code=4)
        self.assertIn("not ready: nvidia.com/gpu: /dev/nvidia-uvm is 510:0, not 511:0", done.stderr)
        self.assertIn(f"{self.file} removed: {old}", done.stderr)
        self.assertFalse(self.file.exists())
        for minor, name in enumerate(("uvm", "uvm-tools")):
            self.edit("dev.tab", f"/dev/nvidia-{name} c 510 {minor}",
                      f"/dev/nvidia-{name} c 511 {minor}")
        self.write()
        self.assertIn("major: 511", self.file.read_text())

    def test_modeset_node_of_an_old_number(self):
        """Only specs for graphics alone need it."""
        self.write("--profile", "graphics")
        before = self.file.read_bytes()
        self.edit("dev.tab", "/dev/nvidia-modeset c 195 254", "/dev/nvidia-modeset c 195 7")
        self.assertIn("not ready: nvidia.com/gpu: /dev/nvidia-modeset is 195:7, not 195:254",
                      self.write("--profile", "graphics", code=4).stderr)
        self.assertEqual(self.file.read_bytes(), before)
        self.assertIn("warning: /dev/nvidia-modeset is 195:7", self.write().stderr)
        self.assertNotIn("nvidia-modeset", self.file.read_text())

    def test_kind_without_usable_gpus(self):
        self.write()
        for address in (FIRST, SECOND):
            self.bind(address, "nouveau")
        self.assertIn(str(self.file), self.run_out("check").stdout)
        self.assertIn(f"{self.file} removed", self.write(code=1).stderr)
        self.assertFalse(self.file.exists())


class Readiness(WriteTest):
    def test_expect(self):
        self.write("--expect", "2")
        before = self.file.read_bytes()
        done = self.write("--expect", "3", code=4)
        self.assertIn("2 of 3 expected GPUs", done.stderr)
        self.assertEqual(self.file.read_bytes(), before)

    def test_expect_on_a_host_without(self):
        shutil.rmtree(self.path("sys"))
        self.write("--expect", "1", code=4)
        self.write("--expect", "0")

    def test_partitions_count(self):
        node_trees.TREES["nv2mig"](str(self.place / "mig"), False)
        self.root = self.place / "mig"
        self.write("--expect", "3")

    def test_wait_until_it_is_there(self):
        put_back = self.remove_row("/dev/nvidiactl")
        with subprocess.Popen([self.program, "write", "--root", str(self.root), "--output-dir",
                               str(self.out), "--wait", "20"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as waiting:
            put_back()
            _, stderr = waiting.communicate(timeout=20)
        self.assertEqual(waiting.returncode, 0)
        self.assertRegex(stderr, r"\A(cdi-prepare: waiting for at most 20 seconds: .*\n)?\Z")
        self.assertTrue(self.file.exists())

    def test_wait_for_a_driver_that_stays_silent(self):
        self.path(f"proc/driver/nvidia/gpus/{SECOND}/information").unlink()
        self.assertIn("left out", self.write("--wait", "0.3", code=3).stderr)

    def test_wait_for_the_second(self):
        put_back = self.remove_row("/dev/nvidia1")
        with subprocess.Popen([self.program, "write", "--root", str(self.root), "--output-dir",
                               str(self.out), "--wait", "20"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as waiting:
            put_back()
            waiting.communicate(timeout=20)
        self.assertEqual(waiting.returncode, 0)

    def test_no_time(self):
        for option in ("nan", "inf", "-1", "1e9", "x", ""):
            self.write("--wait", option, code=2)
        for option in ("-1", "x", "1.5"):
            self.write("--expect", option, code=2)

    def test_wait_ends(self):
        self.remove_row("/dev/nvidiactl")
        begin = time.monotonic()
        self.write("--wait", "0.5", code=4)
        self.assertGreaterEqual(time.monotonic() - begin, 0.5)

    def test_wait_for_a_node_that_runtimes_ask_for(self):
        put_back = self.remove_row("/dev/nvidia-uvm")
        begin = time.monotonic()
        done = self.write("--wait", "0.5", "--node-numbers", "asked", code=4)
        self.assertEqual(done.stderr.count("waiting for at most 0.5 seconds: "), 1)
        self.assertGreaterEqual(time.monotonic() - begin, 0.5)
        put_back()
        self.write("--wait", "600", "--node-numbers", "asked")

    def test_no_wait_for_what_will_not_come(self):
        for address in (FIRST, SECOND):
            self.bind(address, None)
        self.write("--wait", "600", code=1)


class Visible(WriteTest):
    def as_nobody(self, *arguments):
        """Runs it as a user without groups."""
        return self.write_as_nobody("--dry-run", "-o", "json", "--visible-only", *arguments)

    def write_as_nobody(self, *arguments):
        os.chmod(self.place, 0o755)
        other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        return with_text(self.run_tool(self.program, "write", "--root", str(self.root), *arguments,
                                       expect=None, **other))

    def test_a_directory_that_only_others_may_write(self):
        self.out.mkdir()
        for directory in (self.out, self.out / "none"):
            os.chmod(self.out, 0o555)
            done = self.write_as_nobody("--output-dir", str(directory))
            os.chmod(self.out, 0o755)
            self.assertEqual(done.returncode, 1)
            self.assertIn("Permission denied", done.stderr)
            self.assertEqual(done.stderr.count("mode 0555, owner "), 1, done.stderr)
            self.assertIn("run this as root, or choose a directory of your own with --output-dir",
                          done.stderr)

    def close(self, path):
        rows = self.path("dev.tab").read_text().splitlines()
        rows = [row.replace(" 0666 ", " 0600 ") if row.split()[0] == path else row for row in rows]
        self.path("dev.tab").write_text("\n".join(rows) + "\n")

    def test_gpus_that_may_not_be_opened_are_hidden(self):
        self.close("/dev/nvidia1")
        done = self.as_nobody("--expect", "1")
        self.assertEqual((done.returncode, done.stderr),
                         (0, "cdi-prepare: devices ignored, because this process cannot open them: 1\n"))
        devices = self.devices(json.loads(done.stdout))
        # The groups video and render are not this user's.
        self.assertEqual(devices, dict.fromkeys((FIRST_ID, "0", FIRST, "all"), ["/dev/nvidia0"]))

    def test_node_that_does_not_exist_yet(self):
        self.remove_node("/dev/nvidia-uvm")
        spec = json.loads(self.as_nobody().stdout)
        self.assertIn("/dev/nvidia-uvm", paths(spec["containerEdits"]["deviceNodes"]))

    def test_specs_stay(self):
        self.write()
        self.close("/dev/nvidiactl")
        self.place.chmod(0o755)
        done = self.as_nobody("--output-dir", str(self.out))
        self.assertEqual(done.returncode, 0)
        self.assertTrue(self.file.exists())

    def test_nothing(self):
        self.close("/dev/nvidiactl")
        done = self.as_nobody()
        self.assertEqual((done.returncode, done.stderr),
                         (0, "cdi-prepare: devices ignored, because this process cannot open them: 2\n"))
        self.assertEqual(self.as_nobody("--expect", "1").returncode, 4)


class Check(WriteTest):
    def check(self, command, *arguments, code):
        done = self.run_out(command, *arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_nothing_changed(self):
        self.write()
        for command in ("check", "diff"):
            self.assertEqual(self.check(command, code=0), "")

    def test_never_written(self):
        self.assertEqual(self.check("check", code=1), f"{self.file}: it does not exist\n")

    def change_driver(self):
        self.path("sys/module/nvidia/version").write_text("575.57.08\n")
        cuda = self.path(f"{LIB}/libcuda.so.{VERSION}")
        cuda.rename(cuda.with_name("libcuda.so.575.57.08"))

    def test_driver_changed(self):
        self.write()
        self.change_driver()
        out = self.check("check", code=1)
        self.assertIn(f"driver-version: {VERSION} -> 575.57.08\n", out)
        self.assertIn("more, which `diff` with the same options shows", out)
        out = self.check("diff", code=1)
        self.assertIn(f"  - mount {LIB}/libcuda.so.{VERSION}", out)

    def test_another_boot(self):
        self.write()
        self.path(BOOT).write_text("9d6e1a52-0000-4000-8000-000000000000\n")
        self.assertIn("annotation cdi-prepare/boot-id: ", self.check("check", code=1))

    def test_another_boot_where_the_host_is_asked(self):
        self.write("--node-numbers", "asked")
        self.path(BOOT).write_text("9d6e1a52-0000-4000-8000-000000000000\n")
        self.edit("proc/devices", "510 nvidia-uvm", "509 nvidia-uvm")
        self.edit("dev.tab", "c 510", "c 509")
        self.check("check", "--node-numbers", "asked", code=0)

    def test_number_changed(self):
        self.write()
        self.edit("proc/devices", "510 nvidia-uvm", "509 nvidia-uvm")
        self.edit("dev.tab", "c 510", "c 509")
        self.assertIn("node /dev/nvidia-uvm: major 510 -> 509", self.check("diff", code=1))

    def test_gpus_changed_places(self):
        self.write()
        for address, new in ((FIRST, SECOND_ID), (SECOND, FIRST_ID)):
            information = self.path(f"proc/driver/nvidia/gpus/{address}/information")
            text = information.read_text()
            information.unlink()
            information.write_text(text.replace(FIRST_ID if address == FIRST else SECOND_ID, new))
        self.assertIn(f"{FIRST_ID} at {FIRST}", self.check("check", code=1))

    def test_owner_in_a_comment(self):
        old = ("--max-version", "0.5.0")
        self.write(*old)
        self.check("check", *old, code=0)
        self.assertIn("with different options", self.check("check", code=1))
        self.file.chmod(0o600)
        self.check("check", *old, code=1)
        self.write(*old)
        self.check("check", *old, code=0)
        self.file.write_text(self.file.read_text().split("\n", 1)[1])
        self.assertIn("another program wrote it", self.check("check", *old, code=1))
        self.write(*old, code=1)

    def test_other_options(self):
        self.write("--profile", "compute")
        self.check("check", "--profile", "compute", code=0)
        self.assertIn("profile=compute", self.check("check", code=1))

    def test_kind_that_is_gone(self):
        self.write()
        for address in (FIRST, SECOND):
            (self.pci(address) / "class").write_text("0x040300\n")
        self.assertIn("no longer has such a device", self.check("check", code=1))

    def test_kind_that_cannot_be_handed_out(self):
        """This lasts until an administrator acts, so containers must not get such nodes."""
        for driver in (None, "nouveau"):
            with self.subTest(driver=driver):
                self.write()
                for address in (FIRST, SECOND):
                    self.bind(address, driver)
                reason = "no device of its kind can be handed out"
                self.assertEqual(self.check("check", code=1), f"{self.file}: {reason}\n")
                done = self.run_out("write", "-o", "json")
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"{self.file} removed: {reason}\n", done.stderr)
                self.assertEqual(done.stderr.count("error: no device can be handed out\n"), 1)
                answer = json.loads(done.stdout)
                self.assertEqual((answer["errors"], answer["removed"]),
                                 (["no device can be handed out"], [str(self.file)]))
                shutil.rmtree(self.root)
                node_trees.TREES[self.tree](str(self.root), False)

    def test_not_ready(self):
        self.write()
        self.remove_node("/dev/nvidiactl")
        self.check("check", code=4)

    def test_not_readable_by_all(self):
        self.write()
        self.file.chmod(0o600)
        self.assertIn("not all users can read it", self.check("check", code=1))
        self.write()
        self.check("check", code=0)

    def test_damaged(self):
        self.write()
        self.file.write_text("kind: [\n")
        self.assertIn(f"{self.file}: {self.file}:", self.check("check", code=1))

    def test_json(self):
        self.write()
        self.change_driver()
        (stale,) = json.loads(self.check("check", "-o", "json", code=1))["stale"]
        self.assertEqual(stale["path"], str(self.file))
        self.assertTrue(stale["changes"])

    def test_writes_nothing(self):
        self.check("check", code=1)
        self.assertFalse(self.out.exists())


class Watch(WriteTest):
    """`watch` surveys often here: the kernel has no events for these trees."""

    def setUp(self):
        super().setUp()
        # pylint: disable-next=consider-using-with
        self.watching = subprocess.Popen(
            [self.program, "watch", "--root", str(self.root), "--output-dir", str(self.out),
             "--interval", "0.05"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end)

    def end(self):
        self.watching.kill()
        self.watching.communicate()

    def wait_for(self, what):
        end = time.monotonic() + 20
        while not what():
            self.assertIsNone(self.watching.poll())
            self.assertLess(time.monotonic(), end, "waited in vain")
            time.sleep(0.01)

    def has(self, text):
        return self.file.exists() and text in self.file.read_text()

    def test_follows_the_host_until_a_signal(self):
        self.wait_for(lambda: self.has(SECOND_ID))
        (self.pci(SECOND) / "class").write_text("0x040300\n")
        self.wait_for(lambda: not self.has(SECOND_ID))
        self.assertTrue(self.has(FIRST_ID))
        self.watching.send_signal(signal.SIGTERM)
        _, stderr = self.watching.communicate(timeout=20)
        self.assertEqual(self.watching.returncode, 0)
        self.assertIn("created: 2 devices, 7 names\n", stderr)
        self.assertIn("replaced: 1 device, 4 names\n", stderr)

    def test_makes_again_what_is_removed(self):
        self.wait_for(lambda: self.has(FIRST_ID))
        self.file.unlink()
        self.wait_for(lambda: self.has(FIRST_ID))

    def test_follows_engines(self):
        self.wait_for(lambda: self.has('cdiVersion: "0.7.0"'))
        self.install(podman="4.9.3-1")
        self.wait_for(lambda: self.has('cdiVersion: "0.6.0"'))

    def test_state_that_lasts_is_written(self):
        """A GPU whose driver is silent may come back soon, or never."""
        self.wait_for(lambda: self.has(SECOND_ID))
        self.path(f"proc/driver/nvidia/gpus/{SECOND}/information").unlink()
        self.wait_for(lambda: not self.has(SECOND_ID))
        self.assertTrue(self.has(FIRST_ID))

    def test_host_that_is_unreadable_for_a_moment(self):
        self.wait_for(lambda: self.has(FIRST_ID))
        table = self.path("dev.tab")
        text = table.read_text()
        table.write_text("no table\n")
        line = self.watching.stderr.readline()
        while "not a row of a device table" not in line:
            line = self.watching.stderr.readline()
        self.assertTrue(self.has(FIRST_ID))
        table.write_text(text)
        self.file.unlink()
        self.wait_for(lambda: self.has(FIRST_ID))

    def test_partitions(self):
        self.wait_for(lambda: self.has(SECOND_ID))
        mig = self.path("proc/driver/nvidia/capabilities/gpu1/mig")
        ready = self.place / "gi1"
        (ready / "ci0").mkdir(parents=True)
        (ready / "access").write_text("DeviceFileMinor: 147\nDeviceFileMode: 292\n")
        (ready / "ci0/access").write_text("DeviceFileMinor: 148\nDeviceFileMode: 292\n")
        ready.rename(mig / "gi1")
        self.wait_for(lambda: self.has(f"{SECOND_ID}:gi1:ci0"))

    def test_not_ready_keeps_the_old(self):
        self.wait_for(lambda: self.has(SECOND_ID))
        before = self.file.read_bytes()
        self.remove_node("/dev/nvidiactl")
        line = self.watching.stderr.readline()
        while "not ready" not in line and "between two states" not in line:
            line = self.watching.stderr.readline()
        self.assertEqual(self.file.read_bytes(), before)


if __name__ == "__main__":
    run_tests()
