#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Claims of GPUs whose driver is not in /, and of devices in a vendor file:
claims_places_test.py CDI_PREPARE [unittest options]"""
import json
import shutil
import sys

sys.dont_write_bytecode = True
import node_trees  # noqa: E402  pylint: disable=wrong-import-position
from claim_case import ClaimTest, read_spec  # noqa: E402  pylint: disable=wrong-import-position
from tree_case import run_tests  # noqa: E402  pylint: disable=wrong-import-position
from vendor_case import VendorTest  # noqa: E402  pylint: disable=wrong-import-position

DRIVER = "/run/nvidia/driver"
THERE = ("--driver-root", DRIVER)
LIBCUDA = f"libcuda.so.{node_trees.NVIDIA_DRIVER}"


class PlacesTest(ClaimTest):
    def files(self, uid):
        """What is mounted from the host."""
        edits = read_spec(self.spec_path(uid)).get("containerEdits", {})
        return sorted(mount["hostPath"] for mount in edits.get("mounts", ()))

    def host_nodes(self, uid):
        """Where the nodes of a claim's first device are on the host."""
        edits = read_spec(self.spec_path(uid))["devices"][0]["containerEdits"]
        return [node.get("hostPath", node["path"]) for node in edits["deviceNodes"]]


class DriverRoot(PlacesTest):
    tree = "nv2"

    def setUp(self):
        super().setUp()
        # As doctor wants them.
        self.state, self.out = self.path("var/lib/cdi-prepare"), self.path("var/run/cdi")
        self.driver = self.path(DRIVER)
        self.driver.mkdir(parents=True)
        for name in ("usr", "lib", "etc"):
            shutil.move(self.path(name), self.driver / name)

    def test_libraries_are_mounted_from_it(self):
        self.prepare("a", "0", more=THERE)
        self.assertIn(f"{DRIVER}/usr/lib/x86_64-linux-gnu/{LIBCUDA}", self.files("a"))
        self.assertTrue(all(path.startswith(f"{DRIVER}/") for path in self.files("a")))

    def test_calls_for_other_claims_keep_them(self):
        self.prepare("a", "0", more=THERE)
        spec = self.spec_path("a").read_bytes()
        for call in (lambda: self.prepare("b", "1"), lambda: self.unprepare("b"), self.list):
            call()
            self.assertEqual(self.spec_path("a").read_bytes(), spec)

    def test_spec_is_written_again_with_them(self):
        self.prepare("a", "0", more=THERE)
        files = self.files("a")
        self.spec_path("a").unlink()
        self.list()
        self.assertEqual(self.files("a"), files)
        self.reboot()
        self.unprepare("another")
        self.assertEqual(self.files("a"), files)

    def test_claim_keeps_its_place(self):
        self.prepare("a", "0")
        self.prepare("a", "0", more=THERE)
        self.assertIn("the claim keeps the options", self.errors)
        self.assertEqual(self.files("a"), [])
        self.unprepare("a")
        self.prepare("a", "0", more=THERE)
        self.assertNotEqual(self.files("a"), [])

    def test_driver_is_away_for_a_while(self):
        """Its container starts again: running pods keep what they have."""
        self.prepare("a", "0", more=THERE)
        spec = self.spec_path("a").read_bytes()
        self.driver.rename(self.place / "away")
        fault = self.list(3)["a"]
        self.assertIn(f"cannot read --driver-root {DRIVER}", fault)
        self.assertEqual(self.spec_path("a").read_bytes(), spec)
        self.prepare("b", "1")
        self.assertIn(f"claim a: {fault}", self.errors)
        (self.place / "away").rename(self.driver)
        self.assertEqual(self.list(), {"a": None, "b": None})

    def test_libraries_elsewhere(self):
        (self.driver / "usr/lib/x86_64-linux-gnu").rename(self.driver / "opengl-driver")
        self.prepare("a", "0", more=(*THERE, "--library-search-path", "/opengl-driver"))
        self.spec_path("a").unlink()
        self.list()
        self.assertIn(f"{DRIVER}/opengl-driver/{LIBCUDA}", self.files("a"))

    def test_nodes_elsewhere(self):
        self.edit("dev.tab", "/dev/nvidia", f"{DRIVER}/dev/nvidia")
        self.prepare("a", "0", more=("--dev-root", DRIVER))
        self.prepare("b", "1", more=THERE)
        before = self.snapshot()
        self.assertEqual(self.list(), {"a": None, "b": None})
        self.assertEqual(self.snapshot(), before)
        for number, uid in enumerate("ab"):
            self.assertIn(f"{DRIVER}/dev/nvidia{number}", self.host_nodes(uid))
        self.assertIn("claim a has", self.refuse("c", "0", more=THERE))
        done = self.run_prepare("doctor", "-o", "json")
        self.assertEqual([finding for finding in json.loads(done.stdout)["findings"]
                          if finding["about"] == "claims"], [])

    def test_directory_that_is_not_there(self):
        for command in (["prepare", *self.asked("a", "0")], ["unprepare", "--claim", "a"],
                        ["list"]):
            self.run_claims(*command, "--driver-root", "/nothing", code=1)
            self.assertIn("cannot read --driver-root /nothing", self.errors)


class Warnings(PlacesTest):
    """What `write` says about a driver is said about its claims, once for all."""

    tree = "nv2"

    def test_libraries_of_another_version(self):
        self.edit("sys/module/nvidia/version", node_trees.NVIDIA_DRIVER, "580.10.10")
        done = self.run_prepare("write", "--dry-run")
        self.assertEqual(done.returncode, 4)
        self.assertIn("the libraries on the host are version", done.stderr)
        claims = self.run_claims("prepare", *self.asked("a", ["0"]), code=4).stdout
        self.assertIn("libraries on the host", claims)

    def test_no_libraries(self):
        shutil.rmtree(self.path("usr"))
        self.prepare("a", "0")
        self.assertIn("containers cannot use CUDA", self.errors)

    def test_driver_that_is_gone(self):
        """The spec stays: without the libraries, containers would start but not work."""
        self.prepare("a", "0")
        old = self.files("a")
        for name in ("usr", "lib", "etc"):
            shutil.rmtree(self.path(name))
        self.assertIn("is gone, and the spec that has it stays", self.list(3)["a"])
        self.assertEqual(old, self.files("a"))

    def test_module_that_only_graphics_needs(self):
        self.edit("proc/devices", "195 nvidia-modeset\n", "")
        self.prepare("a", "0", more=("--profile", "compute"))
        self.assertEqual(self.errors, "")
        self.prepare("b", "1")
        self.assertEqual(self.errors, self.run_prepare("write", "--dry-run").stderr)
        self.assertIn("nvidia-modeset", self.errors)

    def test_of_another_kind(self):
        self.add_tree("mi300x-spx")
        shutil.rmtree(self.path("usr"))
        self.prepare("a", "amd.com/gpu=0")
        self.assertEqual(self.errors, "")


class VendorFile(PlacesTest, VendorTest):
    FILE = 'kind = "acme.com/npu"\ndevices = "/dev/npu[0-9]*"\n'

    def test_devices_are_found_again(self):
        self.two_npus()
        file = self.vendor_file(self.FILE)
        other = self.vendor_file(self.FILE.replace("npu", "fpga"), "other.toml")
        self.prepare("a", "acme.com/npu=0",
                     more=("--vendor-file", str(other), "--vendor-file", str(file)))
        spec = self.spec_path("a").read_bytes()
        self.spec_path("a").unlink()
        self.assertEqual(self.list(), {"a": None})
        self.assertEqual(self.spec_path("a").read_bytes(), spec)
        self.assertIn("claim a has", self.refuse("b", "0", more=("--vendor-file", str(file))))
        file.unlink()
        self.assertIn(f"{file}: No such file", self.list(3)["a"])
        self.assertEqual(self.spec_path("a").read_bytes(), spec)

    def prepare_under_the_root(self, file):
        """A claim whose journal is under the root, as doctor wants it."""
        self.state, self.out = self.path("var/lib/cdi-prepare"), self.path("var/run/cdi")
        self.two_npus()
        file.parent.mkdir(exist_ok=True)
        file.write_text(self.FILE)
        self.prepare("a", "acme.com/npu=0", more=("--vendor-file", str(file)))

    def record_vendor_file(self, path):
        claim = self.journal("a")
        claim["options"]["vendor_files"] = path
        (self.state / "a.json").write_text(json.dumps(claim))

    def faults_of_doctor(self, *arguments):
        """What doctor says about claims."""
        done = self.run_prepare("doctor", "-o", "json", *arguments)
        return [finding["what"] for finding in json.loads(done.stdout)["findings"]
                if finding["about"] == "claims"]

    def test_file_of_the_host_under_a_root(self):
        """The claim was prepared on the host itself: its paths have no root."""
        self.prepare_under_the_root(self.path("etc/npu.toml"))
        self.assertEqual(self.faults_of_doctor(), [])
        self.record_vendor_file("/etc/npu.toml")
        self.assertEqual(self.faults_of_doctor(), [])
        self.path("etc/npu.toml").unlink()
        self.assertIn("/etc/npu.toml: No such file", self.faults_of_doctor()[0])

    def test_journal_under_a_root_reads_no_file_outside(self):
        file = self.place / "npu.toml"
        self.prepare_under_the_root(file)
        self.assertEqual(self.faults_of_doctor("--vendor-file", str(file)), [])
        self.assertIn("give it as --vendor-file", self.faults_of_doctor()[0])
        secret = self.vendor_file("the secret\n", "secret")
        self.record_vendor_file(str(secret))
        for found in (self.faults_of_doctor()[0], self.list(3)["a"]):
            self.assertIn(f"{secret}: No such file", found)
            self.assertNotIn("the secret", found)


if __name__ == "__main__":
    run_tests()
