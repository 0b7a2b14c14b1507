#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""ResourceSlices of nodes of several vendors: slices_test.py CDI_PREPARE [unittest options]"""
import json
import re
import sys

sys.dont_write_bytecode = True
import node_trees  # noqa: E402  pylint: disable=wrong-import-position
from tree_case import TreeTest, run_tests  # noqa: E402  pylint: disable=wrong-import-position
from vendor_case import VendorTest  # noqa: E402  pylint: disable=wrong-import-position

LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def values(device):
    """The attributes of a device, without their types."""
    return {name: next(iter(value.values())) for name, value in device["attributes"].items()}


def taints(device):
    return [taint["value"] for taint in device.get("taints", [])]


class SliceTest(TreeTest):
    def slices(self, *options, code=0, node="node1"):
        """The slices of the node; the text has a line for each device."""
        options = ("--node", node, *options)
        done = self.run_prepare("slices", "-o", "json", *options)
        self.assertEqual(done.returncode, code, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual((found["apiVersion"], found["kind"]), ("v1", "List"))
        specs = [one["spec"] for one in found["items"]]
        names = [device["name"] for spec in specs for device in spec.get("devices", ())]
        self.assertEqual(len(set(names)), len(names))
        for name in names:
            self.assertTrue(LABEL.fullmatch(name), name)
        for spec in specs:
            self.assertEqual(spec["pool"], {"name": spec["nodeName"], "generation": 1,
                                            "resourceSliceCount": len(specs)})
            self.assertLessEqual(len(spec.get("devices", ())), 64)
            self.assertEqual(len({"devices", "sharedCounters"} & set(spec)), 1)
        text = self.run_prepare("slices", *options)
        self.assertEqual((text.returncode, text.stderr), (code, done.stderr))
        self.assertEqual([line.split()[0] for line in text.stdout.splitlines()], names)
        self.text = text.stdout
        return specs

    def devices(self, *options, code=0):  # pylint: disable=arguments-differ
        """The devices by name."""
        return {device["name"]: device for spec in self.slices(*options, code=code)
                for device in spec.get("devices", ())}

    def make(self, tree):
        node_trees.TREES[tree](str(self.root), False)


class Vendors(SliceTest):
    def test_nvidia(self):
        self.make("nv2")
        devices = self.devices()
        self.assertEqual(len(devices), 2)
        name, device = next(iter(devices.items()))
        found = values(device)
        self.assertEqual(name, "nvidia-" + found["uuid"].lower())
        self.assertEqual((found["kind"], found["type"], found["vendor"], found["index"]),
                         ("nvidia.com/gpu", "gpu", "nvidia", 0))
        self.assertIn("A100", found["productName"])
        self.assertRegex(found["resource.kubernetes.io/pciBusID"], "^0000:[0-9a-f]{2}:00.0$")
        self.assertRegex(found["resource.kubernetes.io/pcieRoot"], "^pci0000:[0-9a-f]{2}$")
        self.assertEqual(device["attributes"]["resource.kubernetes.io/numaNode"], {"int": 0})
        self.assertNotIn("taints", device)

    def test_driver_version_is_semantic(self):
        self.make("nv2")
        for text, version in (("570.195.03", "570.195.3"), ("570", "570.0.0"), ("5.1", "5.1.0"),
                              ("535.161.07.1", "535.161.7"), ("6.10.5-2.fc40", "6.10.5"),
                              ("beta", None), ("99999999999.1", None), ("", None)):
            with self.subTest(text):
                self.path("sys/module/nvidia/version").write_text(text + "\n")
                done = self.run_prepare("slices", "-o", "json", "--node", "n")
                device = json.loads(done.stdout)["items"][0]["spec"]["devices"][0]
                wanted = version and {"version": version}
                self.assertEqual(device["attributes"].get("driverVersion"), wanted)

    def test_mig(self):
        self.make("nv2mig")
        whole, *parts = self.devices().items()
        self.assertEqual(values(whole[1])["type"], "gpu")
        self.assertEqual(len(parts), 2)
        for name, device in parts:
            found = values(device)
            self.assertEqual((found["type"], found["mode"], found["parentIndex"]), ("mig", "MIG", 1))
            self.assertTrue(name.startswith("nvidia-" + found["parentUUID"].lower() + "-gi"), name)
            self.assertFalse({"uuid", "index"} & set(found))
            self.assertNotIn("consumesCounters", device)

    def test_amd_partitions_and_memory(self):
        self.make("mi300x-cpx")
        devices = list(self.devices().values())
        self.assertEqual(len(devices), 8)
        self.assertEqual({values(device)["type"] for device in devices}, {"partition"})
        self.assertEqual({values(device)["profile"] for device in devices}, {"CPX/NPS4"})
        self.assertNotIn("capacity", devices[0])

    def test_memory(self):
        self.make("mi300x-spx")
        (address,) = (device["pciAddress"] for device in self.detect()["amd.com/gpu"]["gpus"])
        for text, wanted in ((str(192 << 30), "192Gi"), ("1000000", "1M"), ("1536", "1536"),
                             (str(3 << 29), "1536Mi"), ("0", None), ("x", None)):
            with self.subTest(text):
                (self.pci(address) / "mem_info_vram_total").write_text(text + "\n")
                (device,) = self.devices().values()
                found = device.get("capacity", {}).get("memory", {}).get("value")
                self.assertEqual(found, wanted)

    def test_intel(self):
        self.make("intel-xe")
        devices = self.devices(code=3)
        self.assertIn("intel-gpu-0000-03-00-0", devices)
        self.assertEqual({values(one)["type"] for one in devices.values()}, {"gpu", "vfio"})

    def test_no_device(self):
        self.make("other")
        (spec,) = self.slices("--kind", "nvidia.com/gpu")
        self.assertEqual(spec["devices"], [])


class Exclusion(SliceTest):
    def test_group_and_iommufd_share_a_counter(self):
        self.make("vfio")
        counters, slice_of_devices = self.slices(code=3)
        sets = {one["name"]: one["counters"] for one in counters["sharedCounters"]}
        self.assertEqual(sets, {"vfio-gpu-0000-81-00-0": {"whole": {"value": "1"}}})
        devices = {one["name"]: one for one in slice_of_devices["devices"]}
        group, iommufd = devices["vfio-gpu-0000-81-00-0"], devices["vfio-gpu-0000-81-00-0-iommufd"]
        self.assertEqual(group["consumesCounters"], iommufd["consumesCounters"])
        self.assertEqual(group["consumesCounters"], [
            {"counterSet": "vfio-gpu-0000-81-00-0", "counters": {"whole": {"value": "1"}}}])
        self.assertEqual([values(one)["interface"] for one in (group, iommufd)],
                         ["group", "iommufd"])
        self.assertEqual(values(group)["iommuGroup"], 42)
        self.assertEqual(taints(devices["vfio-gpu-0000-82-00-0"]), ["iommu-group"])


class Faults(SliceTest):
    def test_a_device_that_cannot_be_handed_out_is_tainted_until_it_can(self):
        self.make("nv2")
        healthy = self.devices()
        table = self.path("dev.tab").read_text()
        self.remove_node("/dev/nvidia0")
        there = self.devices(code=3)
        name, device = next(iter(healthy.items()))
        self.assertEqual(there[name].pop("taints"), [
            {"key": "gpu.cdi.local/unusable", "effect": "NoSchedule", "value": "nvidia-node"}])
        self.assertEqual(there, healthy)
        self.assertIn("; tainted, nvidia-node: ", self.text)
        self.path("dev.tab").write_text(table)
        self.assertEqual(self.devices()[name], device)

    def test_key_of_the_driver(self):
        self.make("vfio")
        devices = self.devices("--driver", "gpu.example.com", code=3)
        (taint,) = devices["vfio-gpu-0000-82-00-0"]["taints"]
        self.assertEqual(taint["key"], "gpu.example.com/unusable")


class Names(SliceTest):
    def test_names_on_the_command_line(self):
        self.make("nv2")
        for option, bad in (("--driver", "a" * 64), ("--driver", "A"), ("--driver", "a..b"),
                            ("--driver", "-a"), ("--driver", ""), ("--driver", "a_b"),
                            ("--node", "a-.b"), ("--node", "a" * 254), ("--node", ".")):
            with self.subTest(option=option, bad=bad):
                done = self.run_prepare("slices", option, bad)
                self.assertEqual(done.returncode, 2)
                self.assertIn("is not the name of a " + option[2:], done.stderr)

    def test_node_is_the_host_that_etc_names(self):
        self.make("nv2")
        self.path("proc/sys/kernel/hostname").unlink(missing_ok=True)
        self.path("etc/hostname").write_text("Node-7\n")
        done = self.run_prepare("slices", "-o", "json")
        self.assertEqual(json.loads(done.stdout)["items"][0]["spec"]["nodeName"], "node-7")

    def test_node_is_the_host(self):
        self.make("nv2")
        place = self.path("proc/sys/kernel/hostname")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("Gpu-Host.example\n")
        done = self.run_prepare("slices", "-o", "json")
        self.assertEqual(json.loads(done.stdout)["items"][0]["spec"]["nodeName"],
                         "gpu-host.example")
        place.write_text("not_a_name\n")
        done = self.run_prepare("slices")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--node", done.stderr)


class VendorFiles(VendorTest, SliceTest):
    def test_attributes_and_limits(self):
        self.two_npus()
        self.path("sys/devices/pci0000:00/0000:01:00.0/npu/npu0/serial").write_text("x" * 65)
        file = self.vendor_file("""kind = "acme.example/npu"
devices = "/dev/npu*"
[attributes]
serial = "{attribute:serial}"
temp = "{attribute:temp}"
kind = "mine"
"no-identifier" = "{attribute:temp}"
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = "{attribute:temp}"
""")
        found = [values(one) for one in self.devices("--vendor-file", str(file),
                                                        code=3).values()]
        self.assertEqual([one.get("serial") for one in found], [None, "SN1"])
        self.assertEqual([one["temp"] for one in found], ["40", "41"])
        self.assertEqual({one["kind"] for one in found}, {"acme.example/npu"})
        for one in found:
            self.assertFalse({"no-identifier", "a" * 33} & set(one))

    def test_many_devices(self):
        for index in range(150):
            self.add_node(f"/dev/npu{index}")
        self.finish()
        file = self.vendor_file('kind = "acme.example/npu"\ndevices = "/dev/npu*"\n')
        specs = self.slices("--vendor-file", str(file))
        self.assertEqual([len(spec["devices"]) for spec in specs], [64, 64, 22])


if __name__ == "__main__":
    run_tests()
