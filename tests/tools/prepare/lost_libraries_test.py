#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A driver whose libraries do not fit: the specs that have them stay, for each vendor, and all
commands give the same advice. lost_libraries_test.py CDI_PREPARE CDI [unittest options]
"""
import json
import os
import re
import shlex
import shutil
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import node_trees  # noqa: E402
from tree_case import run_tests  # noqa: E402
from vendor_case import VendorTest  # noqa: E402
# pylint: enable=wrong-import-position

CDI = os.path.abspath(sys.argv.pop(2))
LIBRARIES = "usr/lib/x86_64-linux-gnu"
VERSION = node_trees.NVIDIA_DRIVER
REMEDY = ("f the driver was upgraded, reboot or reload the module; otherwise install the libraries "
          "with the same version as the module")


class Lost(VendorTest):
    """`self.file` is the spec of the kind."""

    kind = "nvidia.com/gpu"

    @property
    def file(self):
        return self.path("/var/run/cdi/" + self.kind.replace("/", "-") + ".yaml")

    def run_ok(self, *arguments, code=0):
        done = self.run_prepare(*arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def check_kept(self, device, *options):
        """All commands keep the spec, and say the same."""
        before = self.file.read_bytes()
        for command in ("write", "check"):
            done = self.run_ok(command, *options, code=4)
            self.assertIn("not ready: ", done.stderr)
            self.assertIn("i" + REMEDY, done.stderr)
            self.assertIn("then run `write`", done.stderr)
        doctor = self.run_ok("doctor", *options, code=1).stdout
        advice = re.findall(rf"I{REMEDY}\. Then run `(cdi-prepare write[^`]*)`", doctor)
        self.assertEqual(len(set(advice)), 1, doctor)
        self.assertNotIn("\n       Run `cdi-prepare write", doctor)
        why = self.run_tool(CDI, "why", "--root", str(self.root), f"{self.kind}={device}",
                            expect=None).stdout
        self.assertIn("will fail: ", why)
        self.assertIn(f"fix: i{REMEDY}; then run `{advice[0]}`\n", why)
        self.assertEqual(self.file.read_bytes(), before)
        return advice[0]

    def check_mended(self, command, code=0):
        """The advised command does, once the libraries are back."""
        words = shlex.split(command)
        done = self.run_tool(self.program, *words[1:], expect=None)
        self.assertEqual(done.returncode, code, done.stderr)
        self.run_ok("doctor")


class Nvidia(Lost):
    tree = "nv2"

    def test_main_library(self):
        self.run_ok("write", "--profile", "compute")
        library = self.path(f"{LIBRARIES}/libcuda.so.{VERSION}")
        library.rename(self.place / "libcuda")
        command = self.check_kept("0")
        (self.place / "libcuda").rename(library)
        before = self.file.read_bytes()
        self.check_mended(command)
        self.assertEqual(self.file.read_bytes(), before)

    def test_whole_upgrade_is_written(self):
        self.run_ok("write")
        for top, _, names in os.walk(self.root):
            for name in names:
                if VERSION not in name:
                    continue
                shutil.move(os.path.join(top, name),
                            os.path.join(top, name.replace(VERSION, "580.1.2")))
        for top, _, names in os.walk(self.path("usr")):
            for path in (os.path.join(top, name) for name in names):
                if os.path.islink(path) and VERSION in os.readlink(path):
                    target = os.readlink(path).replace(VERSION, "580.1.2")
                    os.unlink(path)
                    os.symlink(target, path)
        self.path("sys/module/nvidia/version").write_text("580.1.2\n")
        doctor = self.run_ok("doctor", code=1).stdout
        self.assertIn("\n       Run `cdi-prepare write", doctor)
        self.run_ok("write")
        self.assertIn("libcuda.so.580.1.2", self.file.read_text())

    def test_claim(self):
        self.run_ok("write")
        self.run_ok("prepare", "--claim", "a", "--device", "0")
        claim = self.path("/var/run/cdi/cdi-prepare.local-claim_a.json")
        names = [path for path in self.path("/var/run/cdi").iterdir() if path != self.file]
        self.assertEqual(len(names), 1, (names, claim))
        before = names[0].read_bytes()
        self.path(f"{LIBRARIES}/libcuda.so.{VERSION}").unlink()
        done = self.run_ok("prepare", "--claim", "b", "--device", "1", code=4)
        self.assertIn(REMEDY, json.loads(done.stdout)["claims"]["b"]["error"])
        self.assertIn(REMEDY, self.run_ok("list", code=3).stdout)
        self.assertEqual(names[0].read_bytes(), before)

    def test_claim_with_libraries_of_another_version(self):
        self.path("sys/module/nvidia/version").write_text("575.57.08\n")
        done = self.run_ok("prepare", "--claim", "b", "--device", "1", code=4)
        self.assertIn(REMEDY, json.loads(done.stdout)["claims"]["b"]["error"])

    def test_other_driver_root(self):
        self.run_ok("write")
        self.path("/run/driver").mkdir(parents=True)
        shutil.move(self.path("usr"), self.path("/run/driver/usr"))
        self.put("/etc/cdi-prepare/config.toml", 'driver-root = "/run/driver"\n').chmod(0o644)
        self.run_ok("write")
        self.assertIn("/run/driver/usr", self.file.read_text())
        self.path(f"/run/driver/{LIBRARIES}/libcuda.so.{VERSION}").rename(self.place / "libcuda")
        self.check_kept("0")


class Wsl(Lost):
    tree = "wsl"

    def test_libraries(self):
        self.run_ok("write")
        for folder in self.path("/usr/lib/wsl").iterdir():
            folder.rename(self.place / folder.name)
        command = self.check_kept("all")
        for name in ("lib", "drivers"):
            if (self.place / name).exists():
                (self.place / name).rename(self.path("/usr/lib/wsl") / name)
        self.check_mended(command)


class VendorFile(Lost):
    kind = "acme.com/npu"

    def setUp(self):
        super().setUp()
        self.two_npus()

    def give(self, mounts):
        place = self.path("etc/cdi-prepare.d")
        place.mkdir(parents=True, exist_ok=True)
        place.joinpath("npu.toml").write_text(
            f'kind = "acme.com/npu"\ndevices = "/dev/npu{{index}}"\nmounts = [{mounts}]\n')

    def test_directory_of_the_driver(self):
        self.give('{host = "/opt/acme", optional = true}')
        self.path("/opt/acme/lib").mkdir(parents=True)
        self.run_ok("write")
        self.path("/opt/acme").rename(self.place / "acme")
        command = self.check_kept("0")
        (self.place / "acme").rename(self.path("/opt/acme"))
        self.check_mended(command)

    def test_all_libraries_but_not_some(self):
        self.give('{host = "/opt/libacme.so.1", optional = true}, '
                  '{host = "/opt/libtools.so.1", optional = true}, "/opt/program"')
        for name in ("libacme.so.1", "libtools.so.1", "program"):
            self.tree_of_node.file(f"/opt/{name}", "x")
        self.run_ok("write")
        self.path("/opt/libtools.so.1").unlink()
        self.run_ok("write")
        self.assertNotIn("libtools", self.file.read_text())
        self.path("/opt/libacme.so.1").unlink()
        self.check_kept("0")
        self.run_ok("write", "--force")
        self.assertNotIn("libacme", self.file.read_text())
        self.run_ok("write")

    def test_vendor_file_that_no_longer_names_them(self):
        self.give('{host = "/opt/acme", optional = true}')
        self.path("/opt/acme/lib").mkdir(parents=True)
        self.run_ok("write")
        self.give("")
        self.run_ok("write")
        self.assertNotIn("/opt/acme", self.file.read_text())


if __name__ == "__main__":
    run_tests()
