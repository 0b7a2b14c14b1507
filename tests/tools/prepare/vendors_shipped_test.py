#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Each vendor file that is installed, on a node as its driver makes it: vendors_shipped_test.py
CDI_PREPARE [unittest options]"""
import sys

sys.dont_write_bytecode = True
from tree_case import paths, run_tests  # noqa: E402  pylint: disable=wrong-import-position
from vendor_case import SHIPPED, VendorTest  # noqa: E402  pylint: disable=wrong-import-position

RNGD_NODES = ["mgmt", "pe0", "pe0-1", "ch0", "ch0r", "dmar", "bar0", "bar2", "bar4"]


class Shipped(VendorTest):
    """The nodes are made from the sources that the files name; no hardware was at hand."""

    def check(self, name, kind, devices, shared=()):
        """The devices that a file finds, and the nodes of each, in the spec."""
        self.finish()
        self.ship(name)
        found = self.detect()
        self.assertEqual((list(found), self.errors), ([kind], ""))
        spec = self.specs()[kind]
        self.assertEqual([node["path"] for node in
                          spec.get("containerEdits", {}).get("deviceNodes", [])], list(shared))
        names = self.devices(spec)
        for device, nodes in devices.items():
            self.assertEqual(names[device], nodes)
        self.assertEqual(sorted(names["all"]), sorted(sum(devices.values(), [])))
        return found[kind], spec

    def test_tenstorrent(self):
        for index, serial in enumerate(("a1", "b2")):
            self.add_node(f"/dev/tenstorrent/{index}", self.pci_device(index + 1),
                          tt_card_type="p150a", tt_asic_id=serial, tt_serial="77",
                          tt_fw_bundle_ver="18.6.0.0")
        self.tree_of_node.file("/sys/module/tenstorrent/version", "2.4.0\n")
        self.tree_of_node.dir("/dev/hugepages-1G")
        vendor, spec = self.check("tenstorrent.toml", "tenstorrent.com/npu",
                                  {"0": ["/dev/tenstorrent/0"], "1": ["/dev/tenstorrent/1"]})
        self.assertEqual(vendor["driverVersion"], "2.4.0")
        self.assertEqual([(gpu["model"], gpu["attributes"]) for gpu in vendor["gpus"]],
                         [("p150a", {"board": "77", "firmware": "18.6.0.0"})] * 2)
        self.assertEqual(self.devices(spec)["b2"], ["/dev/tenstorrent/1"])
        self.assertEqual([mount["hostPath"] for mount in spec["containerEdits"]["mounts"]],
                         ["/dev/hugepages-1G"])

    def test_furiosa(self):
        for index in (0, 1):
            for part in RNGD_NODES:
                self.add_node(f"/dev/rngd/npu{index}{part}", self.pci_device(index + 1))
        nodes = {str(index): [f"/dev/rngd/npu{index}{part}" for part in
                              ("mgmt", "pe0", "pe0-1", "ch0", "ch0r", "dmar", "bar0", "bar2", "bar4")]
                 for index in (0, 1)}
        _, spec = self.check("furiosa-rngd.toml", "furiosa.ai/rngd", nodes)
        self.assertEqual(self.devices(spec)["npu1"], nodes["1"])

    def test_rebellions(self):
        for index in (0, 1):
            self.add_node(f"/dev/rbln{index}", self.pci_device(index + 1, "0x1eff"))
        for path in ("/dev/rsd0", "/dev/rblnfs0"):
            self.add_node(path)
        self.tree_of_node.file("/usr/bin/rbln-smi", "", 0o755)
        _, spec = self.check("rebellions.toml", "rebellions.ai/npu",
                             {"0": ["/dev/rbln0"], "1": ["/dev/rbln1"]}, ["/dev/rsd0"])
        self.assertEqual([mount["containerPath"] for mount in spec["containerEdits"]["mounts"]],
                         ["/usr/bin/rbln-smi"])

    def test_hailo8(self):
        self.add_node("/dev/hailo0", self.pci_device(1), board_location="0000:01:00.0",
                      device_id="1e60:2864")
        vendor, _ = self.check("hailo8.toml", "hailo.ai/hailo8", {"0": ["/dev/hailo0"]})
        self.assertEqual(vendor["gpus"][0]["attributes"],
                         {"id": "1e60:2864", "location": "0000:01:00.0"})

    def test_hailo10(self):
        self.add_node("/dev/h1x-0", self.pci_device(1), device_id="0000:01:00.0")
        self.check("hailo10.toml", "hailo.ai/hailo10", {"0": ["/dev/h1x-0"]})

    def test_ascend(self):
        for index in (0, 1):
            self.add_node(f"/dev/davinci{index}", self.pci_device(index + 1, "0x19e5"), 0o660, 1001)
        for path in ("/dev/davinci_manager", "/dev/hisi_hdc", "/dev/devmm_svm"):
            self.add_node(path, None, 0o660, 1001)
        self.tree_of_node.dir("/usr/local/Ascend/driver")
        _, spec = self.check("ascend.toml", "huawei.com/ascend",
                             {"0": ["/dev/davinci0"], "1": ["/dev/davinci1"]},
                             ["/dev/davinci_manager", "/dev/hisi_hdc", "/dev/devmm_svm"])
        self.assertEqual(spec["devices"][0]["containerEdits"]["additionalGids"], [1001])
        self.assertEqual(len(spec["containerEdits"]["mounts"]), 1)

    def test_ascend_without_its_manager(self):
        self.add_node("/dev/davinci0", self.pci_device(1))
        self.finish()
        self.ship("ascend.toml")
        self.assertEqual(self.detect(4)["huawei.com/ascend"]["notReadyCode"], "vendor-node")

    def test_cambricon(self):
        for index in (0, 1):
            self.add_node(f"/dev/cambricon_dev{index}", self.pci_device(index + 1, "0xcabc"))
            self.add_node(f"/dev/cambricon_ipcm{index}")
        self.add_node("/dev/cambricon_ctl")
        self.check("cambricon.toml", "cambricon.com/mlu",
                   {str(index): [f"/dev/cambricon_dev{index}", f"/dev/cambricon_ipcm{index}"]
                    for index in (0, 1)}, ["/dev/cambricon_ctl"])

    def test_coral(self):
        for index, status in enumerate(("ALIVE", "ALIVE")):
            self.add_node(f"/dev/apex_{index}", self.pci_device(index + 1, "0x1ac1", "0x089a"),
                          0o660, 1002, status=status, unique_id=f"0{index}c0ffee")
        _, spec = self.check("coral.toml", "coral.ai/tpu",
                             {"0": ["/dev/apex_0"], "1": ["/dev/apex_1"]})
        self.assertEqual(self.devices(spec)["01c0ffee"], ["/dev/apex_1"])
        self.path("sys/dev/char/240:1/status").write_text("DEAD\n")
        self.assertEqual(self.detect(3)["coral.ai/tpu"]["gpus"][1]["leftOut"],
                         'its status is "DEAD"')

    def test_google_tpu(self):
        for index in (0, 1):
            self.add_node(f"/dev/accel{index}", self.pci_device(index + 1, "0x1ae0", "0x005e"))
        self.add_node("/dev/accel2", self.pci_device(3, "0x8086"))
        self.check("google-tpu.toml", "google.com/tpu",
                   {"0": ["/dev/accel0"], "1": ["/dev/accel1"]})

    def add_accelerators(self):
        """The NPUs of two vendors in one directory, and one of a third."""
        self.add_node("/dev/accel/accel0", self.pci_device(1, "0x17cb", "0xa100"))
        xdna = self.pci_device(2, "0x1022", "0x17f0", "0x118000")
        self.tree_of_node.file(f"{xdna}/vbnv", "RyzenAI-npu4\n")
        self.tree_of_node.file(f"{xdna}/fw_version", "1.0.0.166\n")
        self.add_node("/dev/accel/accel1", xdna)
        self.add_node("/dev/accel/accel2", self.pci_device(3, "0xabcd"))

    def test_qualcomm(self):
        self.add_accelerators()
        self.check("qualcomm-aic.toml", "qualcomm.com/aic", {"0": ["/dev/accel/accel0"]})

    def test_amd_xdna(self):
        self.add_accelerators()
        vendor, _ = self.check("amd-xdna.toml", "amd.com/npu", {"1": ["/dev/accel/accel1"]})
        self.assertEqual([(gpu["model"], gpu["attributes"]) for gpu in vendor["gpus"]],
                         [("RyzenAI-npu4", {"firmware": "1.0.0.166"})])

    def test_every_file_has_a_test_and_a_source(self):
        names = sorted(path.name for path in SHIPPED.glob("*.toml"))
        with open(__file__, encoding="ascii") as file:
            text = file.read()
        for name in names:
            self.assertIn(f'"{name}"', text)
            self.assertRegex((SHIPPED / name).read_text(), r"\n# Sources?: ")

    def test_all_files_together(self):
        self.add_accelerators()
        self.add_node("/dev/hailo0", self.pci_device(4), device_id="1e60:2864")
        self.finish()
        for path in SHIPPED.glob("*.toml"):
            self.ship(path.name)
        found = self.detect()
        self.assertEqual(sorted(found), ["amd.com/npu", "hailo.ai/hailo8", "qualcomm.com/aic"])
        self.assertEqual(paths(found["hailo.ai/hailo8"]["gpus"][0]["nodes"]), ["/dev/hailo0"])


if __name__ == "__main__":
    run_tests()
