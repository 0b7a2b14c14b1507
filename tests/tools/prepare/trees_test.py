#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What cdi-prepare makes of nodes of every vendor: trees_test.py CDI_PREPARE [unittest options]"""
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
import node_trees  # noqa: E402  pylint: disable=wrong-import-position
from tree_case import TreeTest, dri, paths, run_tests  # noqa: E402  pylint: disable=C0413

VIDEO, RENDER = node_trees.VIDEO, node_trees.RENDER


class Nvidia(TreeTest):
    tree = "nv2"

    def test_two_gpus(self):
        found = self.detect()
        self.assertEqual(list(found), ["nvidia.com/gpu"])
        vendor = found["nvidia.com/gpu"]
        self.assertEqual(vendor["driverVersion"], "570.195.03")
        self.assertEqual(
            [(gpu["index"], gpu["pciAddress"], gpu["id"], gpu["pciId"], paths(gpu["nodes"]))
             for gpu in vendor["gpus"]],
            [(0, "0000:17:00.0", node_trees.NVIDIA_UUIDS[0], "10de:20b5",
              ["/dev/nvidia0"] + dri(1, 128)),
             (1, "0000:ca:00.0", node_trees.NVIDIA_UUIDS[1], "10de:20b5",
              ["/dev/nvidia1"] + dri(2, 129))])
        self.assertEqual(list(self.devices(self.specs()["nvidia.com/gpu"])),
                         [*node_trees.NVIDIA_UUIDS, "0", "1", "0000:17:00.0", "0000:ca:00.0", "all"])

    def test_node_of_windows_beside_them(self):
        with open(self.path("dev.tab"), "a", encoding="ascii") as table:
            table.write("/dev/dxg c 10 125 0666 0 0\n")
        for name in ("dev/dxg", "usr/lib/wsl/lib/libcuda.so.1"):
            self.put(name, "")
        self.assertEqual(len(self.detect()["nvidia.com/gpu"]["gpus"]), 2)


    def test_odd_lines_about_a_gpu(self):
        place = self.path("proc/driver/nvidia/gpus/0000:17:00.0/information")
        text = place.read_text()
        place.unlink()
        place.write_text("no colon\n" + text)
        self.assertEqual(self.detect()["nvidia.com/gpu"]["gpus"][0]["id"],
                         node_trees.NVIDIA_UUIDS[0])

    def test_odd_places_of_firmware(self):
        before = self.specs()["nvidia.com/gpu"]["containerEdits"]["mounts"]
        place = self.path("sys/module/firmware_class/parameters/path")
        place.parent.mkdir(parents=True)
        for path in ("lib/firmware", "/nothing", ""):
            place.write_text(path + "\n")
            for kernel in ("../lib", ".x", "a/b"):
                self.path("proc/sys/kernel/osrelease").write_text(kernel + "\n")
                self.assertEqual(self.specs()["nvidia.com/gpu"]["containerEdits"]["mounts"],
                                 before)


class Mig(TreeTest):
    tree = "nv2mig"
    first, second = node_trees.NVIDIA_UUIDS
    parts = {":gi1:ci0": (147, 148), ":gi2:ci0": (156, 157)}

    def nodes(self, part):
        caps = self.parts[part]
        return ["/dev/nvidia1", *(f"/dev/nvidia-caps/nvidia-cap{minor}" for minor in caps)]

    def access(self, path):
        return self.path(f"proc/driver/nvidia/capabilities/gpu1/mig/{path}/access")

    def instances(self, code=0):
        return self.detect(code)["nvidia.com/gpu"]["gpus"][1]["partitions"]

    def test_detect(self):
        whole, split = self.detect()["nvidia.com/gpu"]["gpus"]
        self.assertEqual(self.errors, "")
        self.assertEqual((whole["mode"], whole["partitions"]), (None, []))
        self.assertEqual((split["mode"], paths(split["nodes"])),
                         ("MIG", ["/dev/nvidia1"] + dri(2, 129)))
        self.assertEqual([(part["name"], paths(part["nodes"])) for part in split["partitions"]],
                         [(self.second + part, self.nodes(part)) for part in self.parts])

    def test_write(self):
        spec = self.specs()["nvidia.com/gpu"]
        devices = self.devices(spec)
        self.assertEqual(list(devices), [
            self.first, *(self.second + part for part in self.parts), "0", "1:gi1:ci0",
            "1:gi2:ci0", "0000:17:00.0", "0000:ca:00.0:gi1:ci0", "0000:ca:00.0:gi2:ci0", "all"])
        self.assertEqual(devices["1:gi2:ci0"], self.nodes(":gi2:ci0"))
        self.assertEqual(devices["all"], ["/dev/nvidia0", *dri(1, 128), *self.nodes(":gi1:ci0"),
                                          *self.nodes(":gi2:ci0")[1:]])

    def test_gpu_instance_without_compute_instance(self):
        self.access("gi1/ci0").unlink()
        self.access("gi1/ci0").parent.rmdir()
        self.assertEqual([(part["name"], part["leftOut"]) for part in self.instances(3)],
                         [(self.second + ":gi1", "it has no compute instance"),
                          (self.second + ":gi2:ci0", None)])

    def test_node_that_does_not_exist_yet(self):
        path = "/dev/nvidia-caps/nvidia-cap156"
        self.remove_node(path)
        node = self.instances()[1]["nodes"][1]
        self.assertEqual([node[key] for key in ("path", "major", "minor", "mode", "onHost")],
                         [path, 236, 156, "0444", False])
        # Where runtimes are to ask the host, it has none to tell.
        done = self.run_prepare("write", "--dry-run", "-o", "json", "--node-numbers", "asked")
        self.assertEqual(done.returncode, 3)
        name = f"{self.second}:gi2:ci0"
        self.assertIn(f'left out: nvidia.com/gpu {name}: device node "{path}" is missing',
                      done.stderr)
        devices = self.devices(json.loads(done.stdout))
        self.assertNotIn(name, devices)
        self.assertEqual(devices["all"],
                         ["/dev/nvidia0", *dri(1, 128), *self.nodes(":gi1:ci0")])

    def test_node_of_another_number(self):
        self.edit("dev.tab", "nvidia-cap156 c 236 156", "nvidia-cap156 c 236 157")
        reason = "/dev/nvidia-caps/nvidia-cap156 is 236:157, not 236:156"
        self.assertEqual([part["leftOut"] for part in self.instances(3)], [None, reason])
        self.assertIn(f"left out: nvidia GPU 0000:ca:00.0:gi2:ci0: {reason}\n", self.errors)
        self.assertNotIn("1:gi2:ci0", self.devices(self.specs(3)["nvidia.com/gpu"]))
        written = self.run_prepare("write", "--output-dir", str(self.place / "out"), "-o", "json")
        self.assertEqual(json.loads(written.stdout)["leftOut"],
                         [{"kind": "nvidia.com/gpu", "name": self.second + ":gi2:ci0",
                           "reason": reason}])

    def test_access_without_a_minor(self):
        self.access("gi2/ci0").unlink()  # it is read-only
        self.access("gi2/ci0").write_text("DeviceFileMode: 292\n")
        self.assertIn("lists no DeviceFileMinor", self.instances(3)[1]["leftOut"])

    def test_major_unknown(self):
        # The longer name must not be taken for it.
        self.edit("proc/devices", "236 nvidia-caps\n", "")
        reason = "/proc/devices lists no major for nvidia-caps"
        self.assertEqual([part["leftOut"] for part in self.instances(3)], [reason] * 2)

    def test_instances_are_ordered_as_numbers(self):
        mig = self.access("gi1").parent
        mig.rename(mig.with_name("gi10"))
        self.assertEqual([part["name"] for part in self.instances()],
                         [self.second + ":gi2:ci0", self.second + ":gi10:ci0"])


class NvidiaFabric(TreeTest):
    tree = "nv2"

    def add_nodes(self, nodes):
        with open(self.path("dev.tab"), "a", encoding="ascii") as table:
            for path, major, minor in nodes:
                table.write(f"{path} c {major} {minor} 0666 0 0\n")
                self.path(path).parent.mkdir(exist_ok=True)
                self.path(path).write_text("")

    def test_imex_channels(self):
        channels = [f"/dev/nvidia-caps-imex-channels/channel{minor}" for minor in (0, 7)]
        self.add_nodes([(channels[0], 234, 0), (channels[1], 234, 7)])
        self.assertEqual(paths(self.detect()["nvidia.com/gpu"]["fabricNodes"]), channels)
        self.assertNotIn("imex", json.dumps(self.specs()))

    def test_channel_of_another_number(self):
        self.add_nodes([("/dev/nvidia-caps-imex-channels/channel3", 234, 4)])
        self.assertEqual(self.detect()["nvidia.com/gpu"]["fabricNodes"], [])
        self.assertIn("channel3 is 234:4, not 234:3", self.errors)

    def test_switches(self):
        self.edit("proc/devices", "510 nvidia-uvm\n", "510 nvidia-uvm\n511 nvidia-nvswitch\n")
        self.add_nodes([("/dev/nvidia-nvswitchctl", 511, 255), ("/dev/nvidia-nvswitch0", 511, 0),
                        ("/dev/nvidia-nvswitch1", 511, 1)])
        self.assertEqual(paths(self.detect()["nvidia.com/gpu"]["fabricNodes"]),
                         ["/dev/nvidia-nvswitchctl", "/dev/nvidia-nvswitch0",
                          "/dev/nvidia-nvswitch1"])


class AmdWhole(TreeTest):
    tree = "mi300x-spx"
    address, unique_id = "0000:05:00.0", "e3aa140f9a5f9e31"

    def test_detect(self):
        found = self.detect()
        self.assertEqual(list(found), ["amd.com/gpu"])
        self.assertEqual(self.errors, "")
        vendor = found["amd.com/gpu"]
        self.assertEqual(paths(vendor["controlNodes"]), ["/dev/kfd"])
        (gpu,) = vendor["gpus"]
        self.assertEqual(
            [gpu[key] for key in ("index", "name", "pciAddress", "model", "mode", "partitions")],
            [0, self.unique_id, self.address, "AMD Instinct MI300X OAM", "SPX/NPS1", []])
        self.assertEqual(paths(gpu["nodes"]), dri(1, 128))
        self.assertEqual([node["byPath"] for node in gpu["nodes"]],
                         [f"/dev/dri/by-path/pci-{self.address}-{end}"
                          for end in ("card", "render")])

    def test_write(self):
        spec = self.specs()["amd.com/gpu"]
        self.assertEqual(self.devices(spec),
                         dict.fromkeys((self.unique_id, "0", self.address, "all"), dri(1, 128)))
        shared = spec["containerEdits"]
        self.assertEqual((paths(shared["deviceNodes"]), shared["additionalGids"]),
                         (["/dev/kfd"], [RENDER]))

    def test_no_unique_id(self):
        for text in ("", "0\n", "../../etc\n", "12 34\n"):
            (self.pci(self.address) / "unique_id").write_text(text)
            self.assertIn(self.address, self.devices(self.specs()["amd.com/gpu"]))

    def test_other_driver(self):
        self.bind(self.address, None)
        self.assertIn("bound to no driver", self.run_prepare("detect").stderr)

    def test_no_kfd_node(self):
        # As a device cgroup that forbids the GPU makes it look: it does not exist to be read.
        (self.path("sys/class/kfd/kfd/topology/nodes/2/properties")).unlink()
        done = self.run_prepare("detect")
        self.assertEqual(done.returncode, 4)
        self.assertIn("KFD shows no topology node for it", done.stderr)

    def test_odd_lines_of_its_kfd_node(self):
        place = self.path("sys/class/kfd/kfd/topology/nodes/2/properties")
        text = place.read_text()
        place.write_text("odd\nodd line here\n" + text)
        self.assertEqual(len(self.detect()["amd.com/gpu"]["gpus"]), 1)
        place.write_text("".join(line for line in text.splitlines(keepends=True)
                                 if "drm_render_minor" not in line))
        self.assertIn("KFD shows no topology node for it", self.run_prepare("detect").stderr)

    def test_divided_and_without_a_partition(self):
        (self.pci(self.address) / "current_compute_partition").write_text("CPX\n")
        self.path("sys/class/kfd/kfd/topology/nodes/2/properties").unlink()
        self.assertIn("KFD shows no topology node for it", self.run_prepare("detect").stderr)

    def test_card_for_screens_needs_no_kfd_node(self):
        (self.path("sys/class/kfd/kfd/topology/nodes/2/properties")).unlink()
        (self.pci(self.address) / "class").write_text("0x030000\n")
        vendor = self.detect()["amd.com/gpu"]
        self.assertIn("no compute", self.errors)
        self.assertEqual(paths(vendor["gpus"][0]["nodes"]), dri(1, 128))
        self.assertEqual(vendor["controlNodes"], [])

    def test_partitioning_in_change(self):
        mode = self.pci(self.address) / "current_compute_partition"
        mode.unlink()
        mode.mkdir()  # what cannot be read
        self.assertIn("its partitioning cannot be read; try again",
                      self.run_prepare("detect").stderr)

    def test_kfd_missing(self):
        self.remove_node("/dev/kfd")
        done = self.run_prepare("write", "--dry-run")
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("not ready: amd.com/gpu: /dev/kfd: No such file", done.stderr)

    def test_render_node_missing(self):
        self.remove_node("/dev/dri/renderD128")
        done = self.run_prepare("detect")
        self.assertEqual(done.returncode, 4)
        self.assertIn("it has no usable render node", done.stderr)


class AmdPartitions(TreeTest):
    tree = "mi300x-cpx"
    address, unique_id = AmdWhole.address, AmdWhole.unique_id

    def names(self):
        return [f"{self.unique_id}-p{part}" for part in range(8)]

    def test_detect(self):
        (gpu,) = self.detect()["amd.com/gpu"]["gpus"]
        self.assertEqual((gpu["name"], gpu["mode"], gpu["nodes"]),
                         (self.unique_id, "CPX/NPS4", []))
        self.assertEqual([(part["name"], paths(part["nodes"])) for part in gpu["partitions"]],
                         [(name, dri(1 + k, 128 + k)) for k, name in enumerate(self.names())])
        links = [part["nodes"][1]["byPath"] for part in gpu["partitions"][:2]]
        self.assertEqual(links, [f"/dev/dri/by-path/pci-{self.address}-render",
                                 "/dev/dri/by-path/platform-amdgpu_xcp_0-render"])

    def test_write(self):
        devices = self.devices(self.specs()["amd.com/gpu"])
        self.assertEqual(list(devices), [*self.names(), *(f"0-p{k}" for k in range(8)),
                                         *(f"{self.address}-p{k}" for k in range(8)), "all"])
        self.assertEqual(devices["0-p7"], dri(8, 135))
        self.assertEqual(devices["all"], [path for k in range(8) for path in dri(1 + k, 128 + k)])

    def test_partition_number_of_newer_kernels(self):
        for node in range(8):
            self.edit(f"sys/class/kfd/kfd/topology/nodes/{2 + node}/properties",
                      f"location_id {5 << 8 | node}\n", f"location_id {node << 28 | 5 << 8}\n")
        parts = self.detect()["amd.com/gpu"]["gpus"][0]["partitions"]
        self.assertEqual([part["name"] for part in parts], self.names())

    def test_names_stay_when_some_may_not_be_seen(self):
        for node in (2, 3, 5):
            self.path(f"sys/class/kfd/kfd/topology/nodes/{node}/properties").unlink()
        parts = self.detect()["amd.com/gpu"]["gpus"][0]["partitions"]
        self.assertEqual([part["name"] for part in parts],
                         [self.names()[k] for k in (2, 4, 5, 6, 7)])

    def test_a_single_visible_partition_is_not_the_whole_gpu(self):
        for node in range(3, 10):
            self.path(f"sys/class/kfd/kfd/topology/nodes/{node}/properties").unlink()
        (gpu,) = self.detect()["amd.com/gpu"]["gpus"]
        self.assertEqual([part["name"] for part in gpu["partitions"]], self.names()[:1])

    def test_odd_platform_devices(self):
        devices = self.path("sys/bus/platform/devices")
        (devices / "amdgpu_xcp_6/drm/renderDx").mkdir()
        self.assertEqual(len(self.detect()["amd.com/gpu"]["gpus"][0]["partitions"]), 8)
        shutil.rmtree((devices / "amdgpu_xcp_6").resolve())
        (devices / "amdgpu_xcp_6").unlink(missing_ok=True)
        self.assertEqual(len(self.detect()["amd.com/gpu"]["gpus"][0]["partitions"]), 7)

    def test_driver_that_does_not_tell_the_mode(self):
        (self.pci(self.address) / "current_compute_partition").unlink()
        (gpu,) = self.detect()["amd.com/gpu"]["gpus"]
        self.assertEqual([part["name"] for part in gpu["partitions"]], self.names())

    def test_partition_of_another_gpu(self):
        for place, other in (("location_id 1287", f"location_id {6 << 8 | 7}"),
                             ("domain 0", "domain 1")):
            self.edit("sys/class/kfd/kfd/topology/nodes/9/properties", place + "\n", other + "\n")
            (gpu,) = self.detect()["amd.com/gpu"]["gpus"]
            self.assertEqual([part["name"] for part in gpu["partitions"]], self.names()[:7])
            self.edit("sys/class/kfd/kfd/topology/nodes/9/properties", other + "\n", place + "\n")

    def test_node_of_one_missing(self):
        self.remove_node("/dev/dri/renderD130")
        (gpu,) = self.detect(3)["amd.com/gpu"]["gpus"]
        reason = "it has no usable render node"
        self.assertEqual([part["leftOut"] for part in gpu["partitions"]],
                         [None, None, reason] + [None] * 5)
        self.assertIn(f"amd GPU {self.address}-p2: {reason}\n", self.errors)
        self.assertNotIn("0-p2", self.devices(self.specs(3)["amd.com/gpu"]))

    def test_older_name_of_the_platform_devices(self):
        devices = self.path("sys/bus/platform/devices")
        (devices / "amdgpu_xcp_6").rename(devices / "amdgpu_xcp.6")
        self.assertIn("0-p7", self.devices(self.specs()["amd.com/gpu"]))


class Intel(TreeTest):
    tree = "intel-xe"
    integrated, discrete, virtual = "0000:00:02.0", "0000:03:00.0", "0000:03:00.1"

    def test_gpus(self):
        found = self.detect(3)
        self.assertEqual(list(found), ["intel.com/gpu", "vfio.local/gpu"])
        self.assertEqual(
            [(gpu["pciAddress"], gpu["pciId"], gpu["driver"], paths(gpu["nodes"]),
              paths(gpu["otherNodes"])) for gpu in found["intel.com/gpu"]["gpus"]],
            [(self.integrated, "8086:4680", "i915", dri(1, 129), []),
             (self.discrete, "8086:e211", "xe", dri(0, 128), ["/dev/mei1"])])
        for gpu in found["intel.com/gpu"]["gpus"]:
            self.assertEqual([node["byPath"] for node in gpu["nodes"]],
                             [f"/dev/dri/by-path/pci-{gpu['pciAddress']}-{end}"
                              for end in ("card", "render")])

    def test_physical_function_with_virtual_ones(self):
        integrated, discrete = self.detect(3)["intel.com/gpu"]["gpus"]
        self.assertIsNone(integrated["leftOut"])
        self.assertEqual(discrete["leftOut"], "it is divided into virtual functions (1)")
        self.assertEqual(self.devices(self.specs(3)["intel.com/gpu"]), dict.fromkeys(
            (self.integrated, "0", "0000-00-02-0-0x4680", "all"), dri(1, 129)))

    def test_physical_function_alone(self):
        (self.pci(self.discrete) / "sriov_numvfs").write_text("0\n")
        devices = self.devices(self.specs()["intel.com/gpu"])
        self.assertEqual(list(devices), [
            self.integrated, self.discrete, "0", "1", "0000-00-02-0-0x4680", "0000-03-00-0-0xe211",
            "all"])
        self.assertEqual((devices["1"], devices["all"]), (dri(0, 128), dri(1, 129) + dri(0, 128)))

    def test_virtual_function_for_a_virtual_machine(self):
        (gpu,) = self.detect(3)["vfio.local/gpu"]["gpus"]
        self.assertEqual(
            [gpu[key] for key in ("vendor", "name", "physicalFunction", "iommuGroup", "index")],
            ["intel", self.virtual, self.discrete, "19", None])
        self.assertEqual((paths(gpu["nodes"]), paths(gpu["iommufdNodes"])),
                         (["/dev/vfio/19", "/dev/vfio/vfio"],
                          ["/dev/vfio/devices/vfio0", "/dev/iommu"]))

    def test_virtual_function_for_containers(self):
        self.bind(self.virtual, "xe")
        drm = self.pci(self.virtual) / "drm"
        for name, minor in (("card2", 2), ("renderD130", 130)):
            (drm / name).mkdir(parents=True)
            (drm / name / "dev").write_text(f"226:{minor}\n")
            with open(self.path("dev.tab"), "a", encoding="ascii") as table:
                table.write(f"/dev/dri/{name} c 226 {minor} 0660 0 {RENDER}\n")
        spec = self.specs(3)["intel.com/gpu"]
        self.assertEqual(list(self.devices(spec)), [self.integrated, self.virtual, "0",
                                                    "0000-00-02-0-0x4680", "0000-03-00-1-0xe211",
                                                    "all"])
        self.assertEqual(self.devices(spec)[self.virtual], dri(2, 130))

    def test_render_node_missing(self):
        self.remove_node("/dev/dri/renderD129")
        integrated, _ = self.detect(4)["intel.com/gpu"]["gpus"]
        self.assertEqual(integrated["leftOut"], "it has no usable render node")
        self.assertIn("warning: /dev/dri/renderD129 omitted", self.errors)


    def test_other_driver(self):
        self.bind(self.integrated, "pci-stub")
        gpu, *_ = self.detect(3)["intel.com/gpu"]["gpus"]
        self.assertEqual(gpu["leftOut"], "bound to pci-stub")


class IntelAccelerators(TreeTest):
    tree = "intel-accel"

    def test_another_function_of_the_card_is_no_gaudi(self):
        (self.pci("0000:19:00.0") / "class").write_text("0x020000\n")
        self.assertNotIn("intel.com/gaudi", self.detect())

    def test_npu(self):
        (npu,) = self.detect()["intel.com/npu"]["gpus"]
        self.assertEqual((npu["name"], npu["driver"], paths(npu["nodes"])),
                         ("0000:00:0b.0", "intel_vpu", ["/dev/accel/accel0"]))

    def test_other_accelerators_are_no_npus(self):
        self.bind("0000:00:0b.0", "dfl-pci")
        self.assertNotIn("intel.com/npu", self.detect())

    def test_gaudi(self):
        (gaudi,) = self.detect()["intel.com/gaudi"]["gpus"]
        nodes = ["/dev/accel/accel1", "/dev/accel/accel_controlD1", "/dev/infiniband/uverbs0"]
        self.assertEqual((gaudi["vendor"], gaudi["name"], paths(gaudi["nodes"])),
                         ("habana", "0000:19:00.0", nodes))
        self.assertEqual(self.devices(self.specs()["intel.com/gaudi"]),
                         dict.fromkeys(("0000:19:00.0", "0", "all"), nodes))

    def test_gaudi_without_its_node(self):
        self.remove_node("/dev/accel/accel1")
        (gaudi,) = self.detect(4)["intel.com/gaudi"]["gpus"]
        self.assertEqual(gaudi["leftOut"], "it has no usable node in /dev/accel")

    def test_gaudi_without_driver(self):
        self.bind("0000:19:00.0", None)
        (gaudi,) = self.detect(3)["intel.com/gaudi"]["gpus"]
        self.assertEqual(gaudi["leftOut"], "bound to no driver")


class Vfio(TreeTest):
    tree = "vfio"
    first, second = "0000:81:00.0", "0000:82:00.0"
    group = ["/dev/vfio/42", "/dev/vfio/vfio"]
    iommufd = ["/dev/vfio/devices/vfio0", "/dev/vfio/devices/vfio1", "/dev/iommu"]

    def gpus(self, code=3):
        found = self.detect(code)
        self.assertEqual(list(found), ["vfio.local/gpu"])
        return found["vfio.local/gpu"]["gpus"]

    def reason(self):
        """Why the first is left out; there is none to hand out then."""
        done = self.run_prepare("detect")
        self.assertEqual(done.returncode, 4)
        (row,) = (row for row in done.stderr.splitlines() if self.first in row)
        return row.split(f"left out: nvidia GPU {self.first}: ")[1]

    def test_gpus(self):
        first, second = self.gpus()
        self.assertEqual((first["name"], first["vendor"], first["driver"], first["iommuGroup"]),
                         (self.first, "nvidia", "vfio-pci", "42"))
        self.assertEqual((paths(first["nodes"]), paths(first["iommufdNodes"])),
                         (self.group, self.iommufd))
        self.assertEqual((second["name"], second["leftOut"]), (
            self.second, "IOMMU group 43 is not viable: 0000:82:00.1 is bound to snd_hda_intel"))

    def test_write(self):
        self.assertEqual(self.devices(self.specs(3)["vfio.local/gpu"]), {
            self.first: self.group, f"{self.first}-iommufd": self.iommufd, "all": self.group})

    def test_group_becomes_viable(self):
        for driver in ("vfio-pci", "pci-stub", "pcieport", "nvgrace_gpu_vfio_pci", None):
            self.bind("0000:82:00.1", driver)
            self.assertEqual([gpu["leftOut"] for gpu in self.gpus(0)], [None, None])

    def test_another_card_in_the_group(self):
        group = self.path("sys/kernel/iommu_groups/42/devices")
        (group / self.second).symlink_to(f"/sys/bus/pci/devices/{self.second}")
        first, _ = self.gpus()
        self.assertEqual(paths(first["iommufdNodes"]), self.iommufd)

    def test_nothing_by_iommufd(self):
        self.remove_node("/dev/iommu")
        first, _ = self.gpus()
        self.assertEqual((paths(first["nodes"]), first["iommufdNodes"]), (self.group, []))
        self.assertEqual(list(self.devices(self.specs(3)["vfio.local/gpu"])), [self.first, "all"])

    def test_nothing_by_group(self):
        self.remove_node("/dev/vfio/42")
        devices = self.devices(self.specs(3)["vfio.local/gpu"])
        self.assertEqual(devices, dict.fromkeys((self.first, f"{self.first}-iommufd", "all"),
                                                self.iommufd))

    def test_nothing_at_all(self):
        self.remove_node("/dev/vfio/vfio")
        self.remove_node("/dev/iommu")
        self.assertEqual(self.reason(), "/dev/vfio/vfio: No such file or directory; "
                                        "with iommufd: /dev/iommu: No such file or directory")

    def test_unsafe_mode(self):
        self.path("sys/class/vfio/42").rename(self.path("sys/class/vfio/noiommu-42"))
        self.edit("dev.tab", "/dev/vfio/42 ", "/dev/vfio/noiommu-42 ")
        self.assertEqual(paths(self.gpus()[0]["nodes"]), ["/dev/vfio/noiommu-42", "/dev/vfio/vfio"])


class Wsl(TreeTest):
    tree = "wsl"

    def test_detect(self):
        found = self.detect()
        self.assertEqual(list(found), ["nvidia.com/gpu"])
        vendor = found["nvidia.com/gpu"]
        self.assertEqual({os.path.dirname(file["path"]) for file in vendor["files"]},
                         {"/usr/lib/wsl/lib",
                          "/usr/lib/wsl/drivers/nv_dispi.inf_amd64_4c2b1e8d7f0a9c35"})
        (gpu,) = vendor["gpus"]
        self.assertEqual((gpu["name"], gpu["pciAddress"], paths(gpu["nodes"])),
                         ("all", None, ["/dev/dxg"]))

    def test_write(self):
        spec = self.specs()["nvidia.com/gpu"]
        self.assertEqual(self.devices(spec), {"all": ["/dev/dxg"]})
        self.assertEqual(spec["containerEdits"]["env"], ["NVIDIA_VISIBLE_DEVICES=void"])

    def test_gpu_of_another_vendor(self):
        self.path("usr/lib/wsl/lib/libcuda.so.1").unlink()
        self.assertEqual(list(self.detect()), ["microsoft.com/gpu"])
        self.assertNotIn("env", self.specs()["microsoft.com/gpu"].get("containerEdits", {}))

    def test_places_without_libraries(self):
        before = self.detect()["nvidia.com/gpu"]["files"]
        self.path("usr/lib/wsl/drivers/empty").mkdir()
        self.path("usr/lib/wsl/lib/libodd\x01.so").touch()
        self.assertEqual(self.detect()["nvidia.com/gpu"]["files"], before)
        for path in self.path("usr/lib/wsl").rglob("nvidia-smi"):
            path.unlink()
        self.assertNotIn("nvidia-smi", json.dumps(self.specs()))

    def test_number_is_that_of_sysfs(self):
        self.path("sys/class/misc/dxg").mkdir(parents=True)
        self.path("sys/class/misc/dxg/dev").write_text("10:126\n")
        done = self.run_prepare("detect")
        self.assertEqual(done.returncode, 4)
        self.assertIn("left out: nvidia GPU all: /dev/dxg is 10:125, not 10:126", done.stderr)


class OtherGpus(TreeTest):
    tree = "other"
    pci_gpu, platform_gpu = "0000:00:03.0", "1c40000.gpu"

    def test_detect(self):
        found = self.detect()
        self.assertEqual(list(found), ["drm.local/gpu"])
        self.assertEqual(
            [(gpu["index"], gpu["vendor"], gpu["name"], gpu["driver"], paths(gpu["nodes"]))
             for gpu in found["drm.local/gpu"]["gpus"]],
            [(0, "other", self.pci_gpu, "virtio-pci", dri(1, 128)),
             (1, "other", self.platform_gpu, "panfrost", dri(2, 129))])

    def test_write(self):
        devices = self.devices(self.specs()["drm.local/gpu"])
        self.assertEqual(list(devices), [self.pci_gpu, self.platform_gpu, "0", "1", "all"])

    def test_nodes_of_a_device_that_the_function_carries(self):
        drm = self.pci(self.pci_gpu) / "drm"
        (drm.parent / "virtio0").mkdir()
        drm.rename(drm.parent / "virtio0/drm")
        gpu = self.detect()["drm.local/gpu"]["gpus"][0]
        self.assertEqual((gpu["name"], paths(gpu["nodes"])), (self.pci_gpu, dri(1, 128)))

    def move_nodes(self, device, child):
        """Puts the DRM nodes of a platform device below a child that has its own driver."""
        place = self.path("sys/bus/platform/devices") / device
        drm = place.parent / os.readlink(place.parent / self.platform_gpu) / "drm"
        place.joinpath(child).mkdir(parents=True)
        place.joinpath(child, "driver").symlink_to("../drivers/of_child")
        drm.rename(place / child / "drm")

    def test_nodes_of_a_device_that_a_platform_device_carries(self):
        # In a microVM, and of Tegra.
        for device, child, name in (("a003e00.virtio_mmio", "virtio0", "a003e00.virtio-mmio"),
                                    ("50000000.host1x", "drm", "50000000.host1x")):
            with self.subTest(device=device):
                shutil.rmtree(self.root)
                node_trees.TREES[self.tree](str(self.root), False)
                self.move_nodes(device, child)
                gpu = self.detect()["drm.local/gpu"]["gpus"][1]
                self.assertEqual((gpu["name"], gpu["driver"], paths(gpu["nodes"])),
                                 (name, "of_child", dri(2, 129)))
                self.assertEqual(gpu["nodes"][1]["byPath"],
                                 f"/dev/dri/by-path/platform-{device}-render")

    def test_names_that_no_device_can_have(self):
        devices = self.path("sys/bus/platform/devices")
        for name, shown in (("soc@0:gpu", "soc-0-gpu"), ("all", "gpu-all-0"), ("-x-", "gpu--x--0")):
            (devices / name).symlink_to(os.readlink(devices / self.platform_gpu))
            names = list(self.devices(self.specs()["drm.local/gpu"]))
            self.assertIn(shown, names)
            self.assertIn(self.pci_gpu, names)
            self.assertEqual(len(self.devices(self.specs()["drm.local/gpu"])["all"]), 4)
            (devices / name).unlink()

    def test_name_that_no_spec_can_hold(self):
        devices = self.path("sys/bus/platform/devices")
        (devices / self.platform_gpu).rename(devices / os.fsdecode(b"\xfb.gpu"))
        nodes = [node for gpu in self.detect()["drm.local/gpu"]["gpus"] for node in gpu["nodes"]]
        links = [node.get("byPath") for node in nodes]
        self.assertEqual(links, [f"/dev/dri/by-path/pci-{self.pci_gpu}-{end}"
                                 for end in ("card", "render")] + [None] * 2)
        self.assertIn("gpu--.gpu-0", self.devices(self.specs()["drm.local/gpu"]))

    def test_software_is_not_a_gpu(self):
        devices = self.path("sys/bus/platform/devices")
        for name in ("vgem", "vkms", "amdgpu_xcp_3"):
            (devices / name).symlink_to(self.platform_gpu)
        self.assertEqual(len(self.detect()["drm.local/gpu"]["gpus"]), 2)

    def test_render_node_missing(self):
        self.remove_node("/dev/dri/renderD128")
        gpus = self.detect(3)["drm.local/gpu"]["gpus"]
        self.assertEqual([gpu["leftOut"] for gpu in gpus],
                         ["it has no usable render node", None])


class Terminal(TreeTest):
    """Text from a node makes no new lines, and a terminal does not interpret it."""

    odd = "\x1b]0;title\a\x7f\nforged: line"
    shown = "\\x1b]0;title\\x07\\x7f\\nforged: line"

    def make_tree(self, name):
        shutil.rmtree(self.root, ignore_errors=True)
        node_trees.TREES[name](str(self.root), False)

    def odd_link(self, name):
        self.path(name).unlink(missing_ok=True)
        self.path(name).symlink_to(f"/nowhere/{self.odd}")

    def check_output(self, shown, *commands):
        for command in commands:
            done = self.run_prepare(*command)
            said = done.stdout + done.stderr
            with self.subTest(command=command, said=said):
                self.assertEqual([c for c in said if not c.isprintable() and c != "\n"], [])
                self.assertIn(shown, said)
                self.assertNotIn("\nforged", said)

    def test_driver(self):
        self.make_tree("nv2")
        self.odd_link("sys/bus/pci/devices/0000:17:00.0/driver")
        self.check_output(self.shown, ["detect"], ["doctor"], ["write", "--dry-run"])

    def test_physical_function(self):
        self.make_tree("intel-xe")
        self.odd_link("sys/bus/pci/devices/0000:03:00.1/physfn")
        self.check_output(self.shown, ["detect"])

    def test_partitioning(self):
        self.make_tree("mi300x-spx")
        place = next(self.path("sys/bus/pci/devices").glob("*/current_compute_partition"))
        place.write_text(f"CPX{self.odd}\n")
        self.check_output("CPX" + self.shown, ["detect"])

    def test_device_table(self):
        self.make_tree("nv2")
        with open(self.path("dev.tab"), "a", encoding="ascii") as table:
            table.write(self.odd.replace("\n", " "))
        shown = self.shown.replace("\\n", " ")
        self.check_output(shown, ["detect"], ["doctor"], ["write"], ["list"])


class AllVendors(TreeTest):
    """A node with GPUs of several vendors."""

    def test_each_has_its_kind_and_only_its_own_faults(self):
        node_trees.TREES["mi300x-cpx"](str(self.root), False)
        amd = self.path("dev.tab").read_text()
        node_trees.TREES["intel-accel"](str(self.root), False)
        with open(self.path("dev.tab"), "a", encoding="ascii") as table:
            table.write(amd)
        self.remove_node("/dev/kfd")
        found = self.detect(4)
        self.assertEqual(list(found), ["amd.com/gpu", "intel.com/npu", "intel.com/gaudi"])
        self.assertEqual(found["amd.com/gpu"]["notReady"],
                         "/dev/kfd: No such file or directory")
        self.assertEqual(sorted(self.specs(4)), ["intel.com/gaudi", "intel.com/npu"])


if __name__ == "__main__":
    run_tests()
