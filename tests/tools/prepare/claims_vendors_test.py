#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Claims of GPUs of several vendors, kinds and partitions:
claims_vendors_test.py CDI_PREPARE [unittest options]"""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import node_trees  # noqa: E402  pylint: disable=wrong-import-position
from claim_case import (  # noqa: E402  pylint: disable=wrong-import-position
    AMD_PCI, FIRST, FIRST_PCI, PARTS, THIRD, ClaimTest, id_of, read_spec)
from tree_case import TreeTest, dri, paths  # noqa: E402  pylint: disable=wrong-import-position


class OtherVendors(ClaimTest):
    def test_group_and_iommufd_are_ways_to_one_gpu(self):
        self.make_tree("vfio")
        gpu = "0000:81:00.0"
        self.prepare("a", gpu)
        self.assertEqual(self.nodes("a"), {id_of("a"): ["/dev/vfio/42", "/dev/vfio/vfio"]})
        self.assertIn("claim a has", self.refuse("b", f"{gpu}-iommufd"))
        self.unprepare("a")
        self.prepare("b", f"vfio.local/gpu={gpu}-iommufd")
        self.assertEqual(self.nodes("b"), {id_of("b"): [
            "/dev/vfio/devices/vfio0", "/dev/vfio/devices/vfio1", "/dev/iommu"]})
        self.assertIn("claim b has", self.refuse("a", gpu))
        self.assertIn("requested twice", self.refuse("b", gpu, f"{gpu}-iommufd"))

    def test_reason_why_a_gpu_is_left_out(self):
        self.make_tree("vfio")
        self.assertIn("IOMMU group 43 is not viable", self.refuse("a", "0000:82:00.0"))

    def test_one_iommu_group_is_for_one_claim(self):
        self.make_tree("vfio")
        second = "0000:82:00.0"
        group = self.path("sys/kernel/iommu_groups/42")
        (self.pci(second) / "iommu_group").unlink()
        (self.pci(second) / "iommu_group").symlink_to(group)
        (group / "devices" / second).symlink_to(self.pci(second))
        self.prepare("a", "0000:81:00.0")
        self.assertIn("claim a has", self.refuse("b", second))
        self.unprepare("a")
        self.prepare("b", "0000:81:00.0-iommufd", second)

    def test_a_function_of_a_gpu_that_another_claim_has(self):
        self.make_tree("intel-xe")
        card, function = "0000:03:00.0", "0000:03:00.1"
        away = self.place / "function"
        (self.pci(card) / "virtfn0").unlink()
        (self.pci(card) / "sriov_numvfs").write_text("0\n")
        self.pci(function).rename(away)
        self.prepare("a", card)
        away.rename(self.pci(function))
        (self.pci(card) / "virtfn0").symlink_to(f"../{function}")
        (self.pci(card) / "sriov_numvfs").write_text("1\n")
        self.assertIn(f"claim a has {card}", self.refuse("b", function))
        self.unprepare("a")
        self.prepare("b", function)

    def make_two_vendors(self, first="mi300x-spx", second="intel-accel"):
        self.make_tree(first)
        self.add_tree(second)

    def test_requests_of_two_kinds_have_nothing_of_each_other(self):
        self.make_two_vendors("nv2", "mi300x-spx")
        self.prepare("a", "nvidia.com/gpu=0@n", "nvidia.com/gpu=1@n", "amd.com/gpu=0@a")
        spec = read_spec(self.spec_path("a"))
        self.assertNotIn("containerEdits", spec)
        first, second, amd = (device["containerEdits"] for device in spec["devices"])
        for edits, minor in ((first, 0), (second, 1)):
            self.assertEqual({f"/dev/nvidia{minor}", "/dev/nvidiactl", "/dev/nvidia-uvm",
                              "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset",
                              *dri(1 + minor, 128 + minor)}, set(paths(edits["deviceNodes"])))
        self.assertEqual(first["mounts"], second["mounts"])
        self.assertEqual((paths(amd["deviceNodes"]), amd.get("mounts"), amd.get("env")),
                         (dri(1, 128) + ["/dev/kfd"], None, None))

    def test_too_early_only_when_waiting_helps(self):
        self.make_two_vendors()
        self.remove_node("/dev/kfd")
        self.prepare("a", "intel.com/npu=0")
        self.assertIn("claim a has", self.refuse("b", "intel.com/npu=0", code=1))
        self.assertIn("/dev/kfd", self.refuse("b", "amd.com/gpu=0", code=4))

    def test_too_early_by_the_fault_of_the_device(self):
        self.make_tree("nv2")
        self.remove_node("/dev/nvidia0")
        for name in ("0", FIRST, f"nvidia.com/gpu={FIRST}", "all"):
            with self.subTest(name=name):
                if name == "all":
                    self.remove_node("/dev/nvidia1")
                self.assertIn("/dev/nvidia", self.refuse("a", name, code=4))
        for name in ("2", THIRD, "amd.com/gpu=0"):
            self.assertIn("no device on this host has that name", self.refuse("a", name))
            self.refuse("a", FIRST, name, code=1)  # no time helps
        self.bind(FIRST_PCI, "pci-stub")  # by an administrator
        self.refuse("a", FIRST_PCI)

    def test_too_early_for_a_node_that_runtimes_ask_for(self):
        self.make_tree("nv2mig")
        self.remove_node("/dev/nvidia-caps/nvidia-cap148")
        asked = ("--node-numbers", "asked")
        for name in (PARTS[0], "all"):
            reason = self.refuse("a", name, code=4, more=asked)
            self.assertIn(f'device {PARTS[0]}: device node "/dev/nvidia-caps/nvidia-cap148"',
                          reason)
        self.prepare("b", PARTS[1], more=asked)
        self.prepare("a", PARTS[0])

    def test_too_early_for_a_name(self):
        """A GPU that the driver does not know yet may have any id."""
        self.make_tree("nv2")
        self.path(f"proc/driver/nvidia/gpus/{FIRST_PCI}/information").unlink()
        self.refuse("a", FIRST, code=4)
        self.refuse("a", f"amd.com/gpu={FIRST}", code=1)

    def test_too_early_for_a_part(self):
        self.make_tree("nv2mig")
        instance = self.path("proc/driver/nvidia/capabilities/gpu1/mig/gi1/ci0")
        shutil.rmtree(instance)
        self.refuse("a", "1:gi1:ci0", code=4)
        for name in ("0:gi1:ci0", "1gi1", "11:gi1:ci0"):
            self.refuse("a", name, code=1)
        self.prepare("a", "1:gi2:ci0")

    def test_one_name_in_two_kinds(self):
        self.make_two_vendors()
        self.assertIn("prefix it with the kind and =", self.refuse("a", "0"))
        names = [device["device_name"]
                 for device in self.prepare("a", "amd.com/gpu=0", "intel.com/gaudi=0")]
        self.assertEqual(names, [f"{node_trees.AMD_UNIQUE_ID:x}", "0000:19:00.0"])
        self.assertEqual(self.claims(), ["a"])

    def test_partitions_made_again(self):
        self.make_tree("mi300x-cpx")
        part = f"{node_trees.AMD_UNIQUE_ID:x}-p3"
        self.prepare("a", "0-p3")
        self.prepare("b", "0-p4")
        self.make_tree("mi300x-spx")
        faults = self.list(3)
        self.assertEqual(list(faults), ["a", "b"])
        self.assertIn(f"device {part}: its GPU is now partitioned differently", faults["a"])
        self.assertIn("has", self.refuse("c", "0"))
        self.make_tree("mi300x-cpx")
        self.assertEqual(self.list(), {"a": None, "b": None})

    def set_mode(self, old, new):
        self.edit(f"sys/bus/pci/devices/{AMD_PCI}/current_compute_partition", old, new)

    def test_partition_of_the_same_name_in_another_mode(self):
        self.make_tree("mi300x-cpx")
        devices = self.prepare("a", "0-p1")
        self.set_mode("CPX", "DPX")
        part = f"{node_trees.AMD_UNIQUE_ID:x}-p1"
        reason = (f"device {part}: its GPU is now partitioned differently: it is DPX/NPS4, not "
                  "CPX/NPS4: restore the partitions, or unprepare the claim")
        self.assertEqual(self.list(3), {"a": reason})
        self.assertEqual(self.refuse("a", "0-p1"), reason)
        self.set_mode("DPX", "CPX")
        self.assertEqual((self.prepare("a", "0-p1"), self.list()), (devices, {"a": None}))
        self.unprepare("a")

    def test_partition_whose_memory_mode_is_not_known_now(self):
        self.make_tree("mi300x-cpx")
        self.prepare("a", "0-p1")
        self.path(f"sys/bus/pci/devices/{AMD_PCI}/current_memory_partition").unlink()
        self.assertEqual(self.list(), {"a": None})
        for other in ("DPX", "CPX2"):
            self.set_mode("CPX", other)
            self.assertIn(f"it is {other}, not CPX/NPS4", self.list(3)["a"])
            self.set_mode(other, "CPX")

    def test_partition_whose_size_is_not_known_now(self):
        self.make_tree("nv2mig")
        self.prepare("a", "1:gi1:ci0")
        claim = self.journal("a")
        claim["devices"][0]["identity"]["division"] = "2g.20gb"  # as with --nvml
        (self.state / "a.json").write_text(json.dumps(claim))
        self.assertEqual(self.list(), {"a": None})  # its spec is of this boot
        self.spec_path("a").unlink()
        fault = self.list(3)["a"]
        self.assertIn("it is unknown whether it is still 2g.20gb", fault)
        self.assertFalse(self.spec_path("a").exists())
        (command,) = re.findall("`cdi-prepare (.*?)`", fault)
        self.assertEqual(command, f"prepare --root {self.root} --claim a --device "
                                  f"1:gi1:ci0 --state-dir {self.state}")
        done = subprocess.run(f"{TreeTest.program} {command}", shell=True, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)  # the node has no such library

    def test_division_that_becomes_known_later(self):
        self.make_tree("mi300x-cpx")
        devices = self.prepare("a", "0-p1")
        claim = self.journal("a")
        self.assertEqual(claim["devices"][0]["identity"].pop("division"), "CPX/NPS4")
        (self.state / "a.json").write_text(json.dumps(claim))
        self.assertEqual((self.prepare("a", "0-p1"), self.list()), (devices, {"a": None}))
        self.assertEqual(self.journal("a")["devices"][0]["identity"]["division"], "CPX/NPS4")


if __name__ == "__main__":
    TreeTest.program = os.path.abspath(sys.argv[1])
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[2:]])
