#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Nodes that NVIDIA's driver lacks in /dev: make_nodes_test.py CDI_PREPARE
SWAPPING_MKNOD_LIBRARY [unittest options]"""
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import node_trees  # noqa: E402  pylint: disable=wrong-import-position
from tree_case import TreeTest, run_tests  # noqa: E402  pylint: disable=C0413

CONTROL = ["/dev/nvidiactl", "/dev/nvidia-modeset", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"]
GPUS = ["/dev/nvidia0", "/dev/nvidia1"]


class Nodes(TreeTest):
    """A node whose driver is loaded, and on which no program has used a GPU yet."""

    tree = "nv2"

    def params(self, old, new):
        path = self.path("proc/driver/nvidia/params")
        text = path.read_text()
        self.assertIn(old, text)
        path.unlink()
        path.write_text(text.replace(old, new))

    def dry_run(self, *options):
        done = self.run_prepare("write", "--dry-run", "--make-nodes", *options)
        found = re.findall("would make (.*)", done.stderr)
        self.errors = done.stderr
        return {line.split()[0]: line.split(maxsplit=1)[1] for line in found}

    def forget(self, *paths):
        for path in paths:
            self.remove_node(path)
            self.path(path).unlink()


class DryRun(Nodes):
    def test_nothing_is_missing(self):
        self.assertEqual([path for path in self.dry_run() if "cap" not in path], [])

    def test_numbers_and_rights(self):
        self.forget(*CONTROL, *GPUS)
        self.params("DeviceFileGID: 0", "DeviceFileGID: 44")
        self.params("DeviceFileMode: 438", "DeviceFileMode: 432")
        found = self.dry_run()
        rights = "0660 uid 0 gid 44"
        self.assertEqual({path: found[path] for path in CONTROL + GPUS}, {
            "/dev/nvidia0": f"c 195:0 {rights}", "/dev/nvidia1": f"c 195:1 {rights}",
            "/dev/nvidiactl": f"c 195:255 {rights}",
            "/dev/nvidia-modeset": f"c 195:254 {rights}",
            "/dev/nvidia-uvm": "c 510:0 0666 uid 0 gid 0",
            "/dev/nvidia-uvm-tools": "c 510:1 0666 uid 0 gid 0"})
        for path in CONTROL + GPUS:
            self.assertFalse(self.path(path).exists())

    def test_only_of_loaded_modules(self):
        self.forget(*CONTROL)
        shutil.rmtree(self.path("sys/module/nvidia_modeset"))
        self.edit("proc/devices", "510 nvidia-uvm\n", "")
        self.assertEqual([path for path in self.dry_run() if "cap" not in path],
                         ["/dev/nvidiactl"])

    def test_driver_that_forbids_it(self):
        self.forget("/dev/nvidia0", "/dev/nvidia-uvm")
        self.params("ModifyDeviceFiles: 1", "ModifyDeviceFiles: 0")
        self.assertEqual([path for path in self.dry_run() if "cap" not in path],
                         ["/dev/nvidia-uvm"])
        self.assertRegex(self.errors, "not made: /dev/nvidia0: .*ModifyDeviceFiles")

    def test_another_device_in_its_place(self):
        self.edit("dev.tab", "/dev/nvidia0 c 195 0", "/dev/nvidia0 c 1 3")
        self.assertNotIn("/dev/nvidia0", self.dry_run())
        self.assertIn("not made: /dev/nvidia0 is 1:3, not 195:0: remove it first", self.errors)

    def test_advice(self):
        self.forget("/dev/nvidia0", "/dev/nvidiactl")
        done = self.run_prepare("detect")
        self.assertIn(f"`cdi-prepare write --root {self.root} --make-nodes`", done.stderr)
        self.assertIn(f"create the nodes: `cdi-prepare write --root {self.root} --make-nodes`, or ",
                      self.run_prepare("doctor").stdout)

    def test_nodes_that_are_made_elsewhere(self):
        self.path("run/driver").mkdir(parents=True)
        found = self.dry_run("--dev-root", "/run/driver")
        self.assertEqual(found["/run/driver/dev/nvidia0"], "c 195:0 0666 uid 0 gid 0")
        done = self.run_prepare("write", "--make-nodes", "--dev-root", "/nothing")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot read --dev-root /nothing", done.stderr)

    def test_advice_where_the_nodes_are_elsewhere(self):
        self.path("run/driver").mkdir(parents=True)
        options = ("--driver-root", "/run/driver", "--dev-root", "/run/driver")
        done = self.run_prepare("detect", *options)
        command = f"`cdi-prepare write --root {self.root} {' '.join(options)} --make-nodes`"
        self.assertIn("/run/driver/dev/nvidia0 and ", done.stderr)
        self.assertIn(command, done.stderr)
        missing = self.run_prepare("detect", "--device", "7", *options).stderr
        self.assertIn(f"see `cdi-prepare detect --root {self.root} {' '.join(options)}`", missing)

    def test_advice_of_doctor_repeats_the_directory(self):
        out = str(self.path("etc/other"))
        self.forget("/dev/nvidia0")
        done = self.run_prepare("doctor", "--output-dir", out)
        self.assertIn(f"`cdi-prepare write --root {self.root} --output-dir {out} --make-nodes`",
                      done.stdout)
        self.assertIn(f"Run `cdi-prepare write --root {self.root} --output-dir {out}`.",
                      done.stdout)


class Mig(Nodes):
    tree = "nv2mig"

    def test_odd_files_of_capabilities(self):
        before = self.dry_run()
        deep = self.path("proc/driver/nvidia/capabilities/gpu1/mig/gi1/ci0/a/b/c")
        deep.mkdir(parents=True)
        (deep / "access").write_text("DeviceFileMinor: 99\n")
        self.path("proc/driver/nvidia/capabilities/gpu1/mig/gi1/odd").write_text("odd\n")
        self.assertEqual(self.dry_run(), before)

    def test_capabilities(self):
        self.forget("/dev/nvidia-caps/nvidia-cap1", "/dev/nvidia-caps/nvidia-cap156",
                    "/dev/nvidia-caps/nvidia-cap157")
        found = self.dry_run()
        self.assertEqual([found[f"/dev/nvidia-caps/nvidia-cap{minor}"] for minor in (1, 156, 157)],
                         ["c 236:1 0400 uid 0 gid 0", "c 236:156 0444 uid 0 gid 0",
                          "c 236:157 0444 uid 0 gid 0"])


class Made(Nodes):
    """With real nodes, below a directory."""

    def setUp(self):
        super().setUp()
        try:
            os.mknod(self.place / "probe", stat.S_IFCHR, os.makedev(1, 3))
        except PermissionError:
            self.skipTest("mknod is not permitted here")
        shutil.rmtree(self.root)
        node_trees.TREES["nv2mig"](str(self.root), True)
        self.path("dev.tab").unlink()

    def node(self, path):
        status = self.path(path).lstat()
        self.assertTrue(stat.S_ISCHR(status.st_mode))
        return (os.major(status.st_rdev), os.minor(status.st_rdev), status.st_mode & 0o777,
                status.st_gid)

    def test_write(self):
        for path in CONTROL + GPUS:
            self.path(path).unlink()
        shutil.rmtree(self.path("/dev/nvidia-caps"))
        self.params("DeviceFileGID: 0", "DeviceFileGID: 44")
        self.path("dev/char").mkdir()
        self.assertEqual(self.run_prepare("write").returncode, 4)
        done = self.run_prepare("write", "--make-nodes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("made /dev/nvidia0 c 195:0 0666 uid 0 gid 44\n", done.stderr)
        self.assertEqual(self.node("/dev/nvidia1"), (195, 1, 0o666, 44))
        self.assertEqual(self.node("/dev/nvidia-uvm-tools"), (510, 1, 0o666, 0))
        self.assertEqual(self.node("/dev/nvidia-caps/nvidia-cap1"), (236, 1, 0o400, 0))
        self.assertEqual(self.node("/dev/nvidia-caps/nvidia-cap156"), (236, 156, 0o444, 0))
        self.assertEqual(self.path("dev/nvidia-caps").stat().st_mode & 0o777, 0o755)
        self.assertEqual(os.readlink(self.path("dev/char/236:156")),
                         "../nvidia-caps/nvidia-cap156")
        again = self.run_prepare("write", "--make-nodes")
        self.assertEqual((again.returncode, again.stderr), (0, ""))

    def test_nothing_is_replaced(self):
        self.path("/dev/nvidia0").unlink()
        self.path("/dev/nvidia0").write_text("mine")
        self.path("/dev/nvidiactl").unlink()
        done = self.run_prepare("write", "--make-nodes")
        self.assertIn("not made: /dev/nvidia0: not a device node: remove it first", done.stderr)
        self.assertEqual(self.path("/dev/nvidia0").read_text(), "mine")
        self.assertEqual(self.node("/dev/nvidiactl"), (195, 255, 0o666, 0))

    def reports(self, text, *arguments, before=()):
        """How often a command that looks at the host again and again prints a text: until it has
        printed it, however slow the machine is, and for a second more."""
        command = [*before, self.program, arguments[0], "--root", str(self.root), "--make-nodes",
                   *arguments[1:]]
        with subprocess.Popen(command, text=True, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as process:
            self.addCleanup(process.kill)
            printed = ""
            while text not in printed:
                line = process.stderr.readline()
                self.assertNotEqual(line, "", printed)
                printed += line
            try:
                process.wait(1)
            except subprocess.TimeoutExpired:
                process.terminate()
            return (printed + process.stderr.read()).count(text)

    def test_reasons_that_last_are_reported_once(self):
        self.path("/dev/nvidia0").unlink()
        self.path("/dev/nvidia0").write_text("mine")
        reason = "not made: /dev/nvidia0: not a device node"
        self.assertEqual(self.reports(reason, "write", "--wait", "1"), 1)
        self.assertEqual(self.reports(reason, "watch", "--interval", "0.1"), 1)

    @unittest.skipUnless(shutil.which("setpriv"), "needs setpriv")
    def test_errors_that_last_are_reported_once(self):
        self.path("/dev/nvidia0").unlink()
        os.chmod(self.place, 0o755)
        for text in ("error: cannot make /dev/nvidia0", "left out: "):
            self.assertEqual(self.reports(
                text, "watch", "--interval", "0.1",
                before=("setpriv", "--reuid=65534", "--clear-groups")), 1, text)

    def test_link_does_not_lead_out_of_the_root(self):
        outside = self.place / "outside"
        outside.mkdir()
        shutil.rmtree(self.path("/dev/nvidia-caps"))
        self.path("/dev/nvidia-caps").symlink_to(outside)
        self.run_prepare("write", "--make-nodes")
        self.assertEqual(os.listdir(outside), [])

    def test_link_in_the_place_of_a_new_node_is_not_followed(self):
        outside = self.place / "outside"
        outside.write_text("secret")
        outside.chmod(0o600)
        before = outside.stat()
        self.path("/dev/nvidia0").unlink()
        self.params("DeviceFileGID: 0", "DeviceFileGID: 44")
        done = subprocess.run(
            [self.program, "write", "--root", str(self.root), "--make-nodes"], text=True,
            capture_output=True, timeout=20, check=False,
            env={**os.environ, "LD_PRELOAD": library, "SWAPPING_MKNOD": str(outside),
                 "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"})
        self.assertEqual(os.readlink(self.path("/dev/nvidia0")), str(outside), done.stderr)
        after = outside.stat()
        self.assertEqual((after.st_mode, after.st_gid), (before.st_mode, before.st_gid))
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: cannot make /dev/nvidia0: another program has just replaced it",
                      done.stderr)

    def test_umask_changes_no_mode(self):
        self.path("/dev/nvidia0").unlink()
        done = self.run_tool(self.program, "write", "--root", str(self.root), "--make-nodes",
                             umask=0o077)
        self.assertEqual(self.node("/dev/nvidia0"), (195, 0, 0o666, 0))

    def as_nobody(self, *options):
        """Runs `write --make-nodes` as a user who can make no node, but write specs."""
        os.chmod(self.place, 0o755)
        self.out = self.place / "out"
        self.out.mkdir(exist_ok=True)
        os.chown(self.out, 65534, -1)
        return self.run_tool("setpriv", "--reuid=65534", "--clear-groups", self.program, "write",
                             "--root", str(self.root), "--output-dir", str(self.out),
                             "--make-nodes", *options, expect=None)

    @unittest.skipUnless(shutil.which("setpriv"), "needs setpriv")
    def test_not_as_another_user(self):
        self.path("/dev/nvidia0").unlink()
        self.path("/dev/nvidiactl").unlink()
        done = self.as_nobody("-o", "json")
        self.assertEqual(done.returncode, 1)
        errors = json.loads(done.stdout)["errors"]
        self.assertEqual([error.split(": ")[0] for error in errors],
                         ["cannot make /dev/nvidia0", "cannot make /dev/nvidiactl"])
        for error in errors:
            self.assertTrue(error.endswith(": run this as root"), error)
        for path in ("/dev/nvidia0", "/dev/nvidiactl"):
            self.assertEqual(done.stderr.count(f"cannot make {path}: "), 1)
        self.assertFalse(self.path("/dev/nvidia0").exists())

    @unittest.skipUnless(shutil.which("setpriv"), "needs setpriv")
    def test_node_that_cannot_be_made_prevents_no_spec_without_it(self):
        for path, options, code, writes in (
                ("/dev/nvidia-modeset", (), 0, True),
                ("/dev/nvidia-uvm", ("--node-numbers", "asked", "--wait", "0.5"), 1, False)):
            with self.subTest(path=path):
                self.path(path).unlink()
                done = self.as_nobody(*options)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(done.stderr.count(f"error: cannot make {path}: "), 1)
                self.assertEqual(os.listdir(self.out), ["nvidia.com-gpu.yaml"] * writes)
                shutil.rmtree(self.out)

    @unittest.skipUnless(shutil.which("setpriv"), "needs setpriv")
    def test_node_of_one_gpu_that_cannot_be_made_prevents_no_spec_of_the_others(self):
        self.path("/dev/nvidia0").unlink()
        done = self.as_nobody()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("left out: ", done.stderr)
        text = (self.out / "nvidia.com-gpu.yaml").read_text()
        self.assertIn("/dev/nvidia1", text)
        self.assertNotIn("/dev/nvidia0", text)

    @unittest.skipUnless(shutil.which("setpriv"), "needs setpriv")
    def test_node_that_no_gpu_lacks_does_not_change_the_exit_code(self):
        self.path("/dev/nvidia-modeset").unlink()
        information = self.path("proc/driver/nvidia/gpus/0000:17:00.0/information")
        text = information.read_text()
        self.assertIn("Excluded:\t No", text)
        information.unlink()
        information.write_text(text.replace("Excluded:\t No", "Excluded:\t Yes"))
        self.assertEqual(self.as_nobody().returncode, 3)


if __name__ == "__main__":
    library = os.path.abspath(sys.argv.pop(2))
    run_tests()
