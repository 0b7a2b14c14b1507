#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Make fake nodes with GPUs: node_trees.py DEST [--mknod]

In DEST, a directory for each of TREES: its proc, sys and dev, and dev.tab, a line for each device
node: PATH TYPE MAJOR MINOR OCTALMODE UID GID. The nodes themselves are empty files; with --mknod,
as root, they are real. The formats follow the kernel and the drivers; the values are made up.
"""
import os
import pathlib
import stat
import sys

VIDEO, RENDER = 44, 992  # groups of /dev/dri/card* and /dev/dri/renderD*
NVIDIA_UUIDS = ("GPU-5f2a1c0e-3b7d-4c55-9f0a-8e1d2b3c4a51",
                "GPU-d91be2a4-0c44-1f6e-b7c3-52a09d77e8f2")
BMC_IDS = ("0x15d9", "0x1b65")  # subsystem vendor and device


class Tree:
    """A node below a directory, written part by part. Paths are those that the node has."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.nodes = []

    def place(self, path):
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def dir(self, path):
        self.place(path).mkdir(parents=True, exist_ok=True)

    def file(self, path, text="", mode=0o644):
        place = self.place(path)
        place.write_text(text)
        place.chmod(mode)

    def raw_link(self, path, text):
        place = self.place(path)
        place.unlink(missing_ok=True)
        place.symlink_to(text)

    def link(self, path, target):
        """A relative link, as all of sysfs has them."""
        self.raw_link(path, os.path.relpath(target, os.path.dirname(path)))

    def node(self, path, major, minor, mode=0o666, gid=0):
        self.nodes.append((path, major, minor, mode, gid))

    def pci(self, path, ids, code, driver=None, *, numa=0, group=None,
            sub=("0x0000", "0x0000"), revision="0xa1", **files):
        """A PCI function; `path` is its directory in /sys/devices, `ids` are vendor and device."""
        address = os.path.basename(path)
        number = int(code, 16)
        vendor, device, sub_vendor, sub_device = (int(text, 16) for text in (*ids, *sub))
        modalias = (f"pci:v{vendor:08X}d{device:08X}sv{sub_vendor:08X}sd{sub_device:08X}"
                    f"bc{number >> 16:02X}sc{number >> 8 & 255:02X}i{number & 255:02X}")
        files.update(
            vendor=ids[0], device=ids[1], subsystem_vendor=sub[0], subsystem_device=sub[1],
            revision=revision, numa_node=numa, modalias=modalias,
            driver_override=driver if driver == "vfio-pci" else "(null)")
        files["class"] = code
        for name, value in files.items():
            self.file(f"{path}/{name}", f"{value}\n" if value != "" else "")
        event = f"DRIVER={driver}\n" if driver else ""
        event += (f"PCI_CLASS={number:X}\nPCI_ID={vendor:04X}:{device:04X}\n"
                  f"PCI_SUBSYS_ID={sub_vendor:04X}:{sub_device:04X}\n"
                  f"PCI_SLOT_NAME={address}\nMODALIAS={modalias}\n")
        self.file(f"{path}/uevent", event)
        self.link(f"{path}/subsystem", "/sys/bus/pci")
        self.link(f"/sys/bus/pci/devices/{address}", path)
        if driver:
            self.pci_driver(path, driver)
        if group is not None:
            directory = f"/sys/kernel/iommu_groups/{group}"
            self.link(f"{path}/iommu_group", directory)
            self.link(f"{directory}/devices/{address}", path)
            self.file(f"{directory}/type", "DMA-FQ\n")
        return path

    def pci_driver(self, path, driver):
        directory = f"/sys/bus/pci/drivers/{driver}"
        module = "/sys/module/" + driver.replace("-", "_")
        self.link(f"{path}/driver", directory)
        self.link(f"{directory}/{os.path.basename(path)}", path)
        self.file(f"{module}/initstate", "live\n")
        self.link(f"{module}/drivers/pci:{driver}", directory)
        self.link(f"{directory}/module", module)

    def drm(self, parent, card, render, by_path):
        """The DRM nodes of a device; `render` is None for one that has no render node."""
        for name, minor, gid, end in ((f"card{card}", card, VIDEO, "card"),
                                      (f"renderD{render}", render, RENDER, "render")):
            if minor is None:
                continue
            entry = f"{parent}/drm/{name}"
            self.file(f"{entry}/dev", f"226:{minor}\n")
            self.file(f"{entry}/uevent",
                      f"MAJOR=226\nMINOR={minor}\nDEVNAME=dri/{name}\nDEVTYPE=drm_minor\n")
            self.raw_link(f"{entry}/device", f"../../../{os.path.basename(parent)}")
            self.link(f"{entry}/subsystem", "/sys/class/drm")
            self.link(f"/sys/class/drm/{name}", entry)
            self.link(f"/sys/dev/char/226:{minor}", entry)
            self.node(f"/dev/dri/{name}", 226, minor, 0o660, gid)
            self.raw_link(f"/dev/dri/by-path/{by_path}-{end}", f"../{name}")
        self.file("/sys/class/drm/version", "drm 1.1.0 20060810\n")

    def accel(self, parent, name, minor):
        entry = f"{parent}/accel/{name}"
        self.file(f"{entry}/dev", f"261:{minor}\n")
        self.link(f"/sys/class/accel/{name}", entry)
        self.node(f"/dev/accel/{name}", 261, minor, 0o660, RENDER)

    def bmc(self):
        """A display controller with a DRM card, card0, which is not a GPU to hand out."""
        path = "/sys/devices/pci0000:00/0000:00:1c.4/0000:02:00.0/0000:03:00.0"
        self.pci(path, ("0x1a03", "0x2000"), "0x030000", "ast", group=5, sub=BMC_IDS,
                 revision="0x41", boot_vga=1)
        self.drm(path, 0, None, "pci-0000:03:00.0")
        # A connector must not be taken for a card.
        self.file(f"{path}/drm/card0/card0-VGA-1/status", "connected\n")
        self.link("/sys/class/drm/card0-VGA-1", f"{path}/drm/card0/card0-VGA-1")

    def vfio_group(self, group, minor):
        directory = f"/sys/devices/virtual/vfio/{group}"
        self.file(f"{directory}/dev", f"243:{minor}\n")
        self.file(f"{directory}/uevent", f"MAJOR=243\nMINOR={minor}\nDEVNAME=vfio/{group}\n")
        self.link(f"/sys/class/vfio/{group}", directory)
        self.node(f"/dev/vfio/{group}", 243, minor, 0o600)

    def vfio_device(self, parent, minor):
        entry = f"{parent}/vfio-dev/vfio{minor}"
        self.file(f"{entry}/dev", f"511:{minor}\n")
        self.file(f"{entry}/uevent",
                  f"MAJOR=511\nMINOR={minor}\nDEVNAME=vfio/devices/vfio{minor}\n")
        self.raw_link(f"{entry}/device", f"../../../{os.path.basename(parent)}")
        self.link(f"/sys/class/vfio-dev/vfio{minor}", entry)
        self.node(f"/dev/vfio/devices/vfio{minor}", 511, minor, 0o600)

    def vfio_control(self):
        for name, minor, path, mode in (("vfio", 196, "/dev/vfio/vfio", 0o666),
                                        ("iommu", 125, "/dev/iommu", 0o660)):
            directory = f"/sys/devices/virtual/misc/{name}"
            self.file(f"{directory}/dev", f"10:{minor}\n")
            self.link(f"/sys/class/misc/{name}", directory)
            self.node(path, 10, minor, mode)

    def done(self, mknod, majors=()):
        """Writes /proc/devices, the table of nodes, and the nodes."""
        rows = sorted([(1, "mem"), (5, "/dev/tty"), (10, "misc"), (13, "input"), (116, "alsa"),
                       (136, "pts"), (226, "drm"), *majors])
        self.file("/proc/devices",
                  "Character devices:\n" + "".join(f"{major:3d} {name}\n" for major, name in rows)
                  + "\nBlock devices:\n  7 loop\n  8 sd\n259 blkext\n")
        self.file("/proc/sys/kernel/random/boot_id", "2f6f7c1e-7f5c-4d39-9a55-0d7f0d5a3b11\n")
        table = "# path type major minor mode uid gid\n"
        for path, major, minor, mode, gid in sorted(self.nodes):
            table += f"{path} c {major} {minor} {mode:04o} 0 {gid}\n"
            if mknod:
                place = self.place(path)
                os.mknod(place, stat.S_IFCHR | mode, os.makedev(major, minor))
                place.chmod(mode)
                os.chown(place, 0, gid)
            else:
                self.file(path)
        self.file("dev.tab", table)


NVIDIA_DRIVER = "570.195.03"
NVIDIA_PARAMS = """ResmanDebugLevel: 4294967295
RmLogonRC: 1
ModifyDeviceFiles: 1
DeviceFileUID: 0
DeviceFileGID: 0
DeviceFileMode: 438
InitializeSystemMemoryAllocations: 1
UsePageAttributeTable: 4294967295
EnableMSI: 1
EnablePCIeGen3: 0
MemoryPoolSize: 0
KMallocHeapMaxSize: 0
VMallocHeapMaxSize: 0
IgnoreMMIOCheck: 0
EnableStreamMemOPs: 0
EnableUserNUMAManagement: 1
NvLinkDisable: 0
RmProfilingAdminOnly: 1
PreserveVideoMemoryAllocations: 0
EnableS0ixPowerManagement: 0
S0ixPowerManagementVideoMemoryThreshold: 256
DynamicPowerManagement: 3
DynamicPowerManagementVideoMemoryThreshold: 200
RegisterPCIDriver: 1
EnablePCIERelaxedOrderingMode: 0
EnableResizableBar: 0
EnableGpuFirmware: 18
EnableGpuFirmwareLogs: 2
RmNvlinkBandwidthLinkCount: 0
EnableDbgBreakpoint: 0
OpenRmEnableUnsupportedGpus: 1
DmaRemapPeerMmio: 1
ImexChannelCount: 2048
CreateImexChannel0: 0
GrdmaPciTopoCheckOverride: 0
RegistryDwords: ""
RegistryDwordsPerDevice: ""
RmMsg: ""
GpuBlacklist: ""
TemporaryFilePath: "/var/tmp"
ExcludedGpus: ""
"""
NVIDIA_VERSION = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
    f"{NVIDIA_DRIVER}  Release Build  (dvs-builder@U22-I3-AM02-24-3)  "
    "Sat Sep 20 00:47:16 UTC 2025\n"
    "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04) \n")
NVIDIA_LIBRARIES = {  # and the links to them
    "libcuda.so": ("libcuda.so.1", "libcuda.so"),
    "libnvidia-ml.so": ("libnvidia-ml.so.1",),
    "libcudadebugger.so": ("libcudadebugger.so.1",),
    "libnvidia-nvvm.so": ("libnvidia-nvvm.so.4",),
    "libnvidia-ptxjitcompiler.so": ("libnvidia-ptxjitcompiler.so.1",),
    "libnvidia-opencl.so": ("libnvidia-opencl.so.1",),
    "libnvidia-gpucomp.so": (),
    "libnvidia-cfg.so": ("libnvidia-cfg.so.1",),
    "libnvidia-allocator.so": ("libnvidia-allocator.so.1",),
    "libEGL_nvidia.so": ("libEGL_nvidia.so.0",),
    "libGLX_nvidia.so": ("libGLX_nvidia.so.0",),
    "libnvidia-glcore.so": (),
    "libnvidia-glsi.so": (),
    "libnvidia-tls.so": (),
    "libnvidia-eglcore.so": (),
    "libnvidia-encode.so": ("libnvidia-encode.so.1",),
    "libnvcuvid.so": ("libnvcuvid.so.1",),
    "vdpau/libvdpau_nvidia.so": ("vdpau/libvdpau_nvidia.so.1",),
}
NVIDIA_PROGRAMS = ("nvidia-smi", "nvidia-debugdump", "nvidia-persistenced",
                   "nvidia-cuda-mps-control", "nvidia-cuda-mps-server")


def mig_minor(gpu, instance):
    """The number of the capability of a GPU instance; its compute instances follow."""
    return 3 + 135 * gpu + 9 * instance


def nvidia_gpu(tree, bridge, address, minor, group):
    path = f"/sys/devices/{bridge}/{address}"
    tree.pci(path, ("0x10de", "0x20b5"), "0x030200", "nvidia", numa=minor, group=group,
             sub=("0x10de", "0x1533"), sriov_totalvfs=16, sriov_numvfs=0, reset="", boot_vga=0)
    tree.drm(path, 1 + minor, 128 + minor, f"pci-{address}")
    tree.node(f"/dev/nvidia{minor}", 195, minor)
    proc = f"/proc/driver/nvidia/gpus/{address}"
    tree.file(f"{proc}/information",
              f"Model: \t\t NVIDIA A100 80GB PCIe\nIRQ:   \t\t {200 + minor}\n"
              f"GPU UUID: \t {NVIDIA_UUIDS[minor]}\nVideo BIOS: \t 92.00.a0.00.05\n"
              "Bus Type: \t PCIe\nDMA Size: \t 47 bits\nDMA Mask: \t 0x7fffffffffff\n"
              f"Bus Location: \t {address}\nDevice Minor: \t {minor}\n"
              f"GPU Firmware: \t {NVIDIA_DRIVER}\nGPU Excluded:\t No\n", 0o444)
    tree.file(f"{proc}/registry", 'Binary: ""\n')
    tree.file(f"{proc}/power", "Runtime D3 status:          Disabled by default\n"
                               "Video Memory:               Active\n", 0o444)
    # A card that could be partitioned has this directory, partitioned or not.
    tree.dir(f"/proc/driver/nvidia/capabilities/gpu{minor}/mig")


def nvidia_capability(tree, path, minor, mode):
    tree.file(f"/proc/driver/nvidia/capabilities/{path}",
              f"DeviceFileMinor: {minor}\nDeviceFileMode: {mode}\nDeviceFileModify: 1\n", 0o444)
    tree.node(f"/dev/nvidia-caps/nvidia-cap{minor}", 236, minor, mode)


def nvidia_capabilities(tree):
    rows = ["config 1", "monitor 2"]
    for gpu in range(32):
        for instance in range(15):
            minor = mig_minor(gpu, instance)
            place = f"gpu{gpu}/gi{instance}"
            rows.append(f"{place}/access {minor}")
            rows += [f"{place}/ci{compute}/access {minor + 1 + compute}" for compute in range(8)]
    # These tables are the same on every node.
    tree.file("/proc/driver/nvidia-caps/mig-minors", "\n".join(rows) + "\n", 0o444)
    tree.file("/proc/driver/nvidia-caps/nvlink-minors", "fabric-mgmt 0\n", 0o444)
    tree.file("/proc/driver/nvidia-caps/sys-minors", "fabric-imex-mgmt 4323\n", 0o444)
    nvidia_capability(tree, "mig/config", 1, 0o400)
    nvidia_capability(tree, "mig/monitor", 2, 0o444)
    tree.file("/proc/driver/nvidia/capabilities/fabric-imex-mgmt",
              "DeviceFileMinor: 4323\nDeviceFileMode: 256\nDeviceFileModify: 1\n", 0o444)


def nvidia_driver(tree):
    tree.file("/proc/driver/nvidia/version", NVIDIA_VERSION, 0o444)
    tree.file("/proc/driver/nvidia/params", NVIDIA_PARAMS, 0o444)
    tree.file("/proc/driver/nvidia/registry", 'Binary: ""\n')
    tree.file("/sys/module/nvidia/version", NVIDIA_DRIVER + "\n")
    for module in ("nvidia_uvm", "nvidia_modeset", "nvidia_drm"):
        tree.file(f"/sys/module/{module}/initstate", "live\n")
        tree.file(f"/sys/module/{module}/version", NVIDIA_DRIVER + "\n")
    for path, major, minor in (("/dev/nvidiactl", 195, 255), ("/dev/nvidia-modeset", 195, 254),
                               ("/dev/nvidia-uvm", 510, 0), ("/dev/nvidia-uvm-tools", 510, 1)):
        tree.node(path, major, minor)


def nvidia_user_space(tree):
    libraries = "/usr/lib/x86_64-linux-gnu"
    for name, links in NVIDIA_LIBRARIES.items():
        file = f"{name}.{NVIDIA_DRIVER}"
        tree.file(f"{libraries}/{file}", "stub\n")
        for link in links:
            tree.raw_link(f"{libraries}/{link}", os.path.basename(file))
    # Left by the driver before, and not to be mounted.
    tree.file(f"{libraries}/libnvidia-compiler.so.535.216.03", "stale\n")
    for name in NVIDIA_PROGRAMS:
        tree.file(f"/usr/bin/{name}", "stub\n", 0o755)
    for name in ("gsp_ga10x.bin", "gsp_tu10x.bin"):
        tree.file(f"/lib/firmware/nvidia/{NVIDIA_DRIVER}/{name}", "stub\n")
    tree.file("/usr/share/glvnd/egl_vendor.d/10_nvidia.json", "{}\n")
    tree.file("/etc/vulkan/icd.d/nvidia_icd.json", "{}\n")
    tree.file("/etc/OpenCL/vendors/nvidia.icd", "libnvidia-opencl.so.1\n")


NVIDIA_MAJORS = [(195, "nvidia"), (195, "nvidia-modeset"), (195, "nvidiactl"),
                 (510, "nvidia-uvm"), (236, "nvidia-caps"),
                 (234, "nvidia-caps-imex-channels"), (235, "nvidia-nvlink")]


def nvidia_tree(root, mig):
    """Two A100s. With `mig`, the second has two GPU instances with a compute instance each."""
    tree = Tree(root)
    tree.bmc()
    nvidia_gpu(tree, "pci0000:16/0000:16:01.0", "0000:17:00.0", 0, 18)
    nvidia_gpu(tree, "pci0000:c9/0000:c9:01.0", "0000:ca:00.0", 1, 71)
    nvidia_driver(tree)
    nvidia_capabilities(tree)
    for instance in (1, 2) if mig else ():
        minor = mig_minor(1, instance)
        nvidia_capability(tree, f"gpu1/mig/gi{instance}/access", minor, 0o444)
        nvidia_capability(tree, f"gpu1/mig/gi{instance}/ci0/access", minor + 1, 0o444)
    nvidia_user_space(tree)
    return tree


def nvidia(root, mknod, mig):
    nvidia_tree(root, mig).done(mknod, NVIDIA_MAJORS)


KFD_PROPERTIES = (
    "cpu_cores_count", "simd_count", "mem_banks_count", "caches_count", "io_links_count",
    "p2p_links_count", "cpu_core_id_base", "simd_id_base", "max_waves_per_simd", "lds_size_in_kb",
    "gds_size_in_kb", "num_gws", "wave_front_size", "array_count", "simd_arrays_per_engine",
    "cu_per_simd_array", "simd_per_cu", "max_slots_scratch_cu", "gfx_target_version", "vendor_id",
    "device_id", "location_id", "domain", "drm_render_minor", "hive_id", "num_sdma_engines",
    "num_sdma_xgmi_engines", "num_sdma_queues_per_engine", "num_cp_queues")
KFD_GPU_PROPERTIES = ("max_engine_clk_fcompute", "local_mem_size", "fw_version", "capability",
                      "debug_prop", "sdma_fw_version", "unique_id", "num_xcc")
AMD_UNIQUE_ID = 16404946649897475633
AMD_MEMORY = 206141652992


def kfd_properties(**values):
    names = [*KFD_PROPERTIES, *(KFD_GPU_PROPERTIES if "simd_count" in values else ())]
    clock = values.get("max_engine_clk_ccompute", 3700)
    return "".join(f"{name} {values.get(name, 0)}\n" for name in names) \
        + f"max_engine_clk_ccompute {clock}\n"


def kfd_topology(tree, parts):
    """Two processors, and a node for each partition of the GPU."""
    topology = "/sys/devices/virtual/kfd/kfd/topology"
    tree.file(f"{topology}/generation_id", "2\n")
    tree.file(f"{topology}/system_properties", "platform_oem 4777524452235890003\n"
                                               "platform_id 85015745549651\nplatform_rev 2\n")
    for index in (0, 1):
        node = f"{topology}/nodes/{index}"
        tree.file(f"{node}/gpu_id", "0\n")
        tree.file(f"{node}/name", "\n")
        tree.file(f"{node}/properties", kfd_properties(
            cpu_cores_count=96, mem_banks_count=1, io_links_count=2, cpu_core_id_base=96 * index))
    for part in range(parts):
        node = f"{topology}/nodes/{2 + part}"
        tree.file(f"{node}/gpu_id", f"{28851 + 1543 * part}\n")
        tree.file(f"{node}/name", "ip discovery\n")
        tree.file(f"{node}/properties", kfd_properties(
            simd_count=1216 // parts, mem_banks_count=1, caches_count=498 // parts,
            io_links_count=parts, p2p_links_count=1, simd_id_base=2147488064 + 64 * part,
            max_waves_per_simd=8, lds_size_in_kb=64, num_gws=64, wave_front_size=64,
            array_count=32 // parts, simd_arrays_per_engine=1, cu_per_simd_array=10, simd_per_cu=4,
            max_slots_scratch_cu=32, gfx_target_version=90402, vendor_id=4098, device_id=29857,
            location_id=5 << 8 | part, drm_render_minor=128 + part, hive_id=15188982192727901047,
            num_sdma_engines=2, num_sdma_xgmi_engines=14 if parts == 1 else 0,
            num_sdma_queues_per_engine=8, num_cp_queues=24, max_engine_clk_fcompute=2100,
            fw_version=177, capability=2893521536, debug_prop=1511, sdma_fw_version=24,
            unique_id=AMD_UNIQUE_ID, num_xcc=8 // parts, max_engine_clk_ccompute=2750))
        memory = AMD_MEMORY // (1 if parts == 1 else 4)
        tree.file(f"{node}/mem_banks/0/properties", f"heap_type 1\nsize_in_bytes {memory}\n"
                                                    "flags 0\nwidth 8192\nmem_clk_max 1300\n")


def amd(root, mknod, cpx):
    """An MI300X, whole or in eight partitions."""
    tree = Tree(root)
    tree.bmc()
    address = "0000:05:00.0"
    bridges = "0000:00:01.1/0000:01:00.0/0000:02:00.0/0000:03:01.0/0000:04:00.0"
    path = f"/sys/devices/pci0000:00/{bridges}/{address}"
    tree.pci(path, ("0x1002", "0x74a1"), "0x120000", "amdgpu", group=12, sub=("0x1002", "0x74a1"),
             revision="0x00", unique_id=f"{AMD_UNIQUE_ID:x}",
             product_name="AMD Instinct MI300X OAM", mem_info_vram_total=AMD_MEMORY,
             current_compute_partition="CPX" if cpx else "SPX",
             available_compute_partition="SPX, DPX, QPX, CPX",
             current_memory_partition="NPS4" if cpx else "NPS1",
             available_memory_partition="NPS1, NPS4")
    tree.drm(path, 1, 128, f"pci-{address}")
    # The driver makes these for partitions whether or not there are any.
    for index in range(7):
        name = f"amdgpu_xcp_{index}"
        device = f"/sys/devices/platform/{name}"
        tree.link(f"{device}/subsystem", "/sys/bus/platform")
        tree.file(f"{device}/uevent", f"MODALIAS=platform:{name}\n")
        tree.link(f"/sys/bus/platform/devices/{name}", device)
        tree.drm(device, 2 + index, 129 + index, f"platform-{name}")
    kfd = "/sys/devices/virtual/kfd/kfd"
    tree.file(f"{kfd}/dev", "509:0\n")
    tree.file(f"{kfd}/uevent", "MAJOR=509\nMINOR=0\nDEVNAME=kfd\nDEVMODE=0666\n")
    tree.link("/sys/class/kfd/kfd", kfd)
    kfd_topology(tree, 8 if cpx else 1)
    tree.file("/sys/module/amdgpu/version", "6.12.12\n")
    tree.node("/dev/kfd", 509, 0, 0o660, RENDER)
    tree.done(mknod, [(509, "kfd")])


def intel(root, mknod):
    """A GPU in the processor; and a card, which has card0, with a virtual function on vfio-pci."""
    tree = Tree(root)
    integrated = "/sys/devices/pci0000:00/0000:00:02.0"
    tree.pci(integrated, ("0x8086", "0x4680"), "0x030000", "i915", group=0,
             sub=("0x1043", "0x8694"), revision="0x0c", boot_vga=1)
    tree.drm(integrated, 1, 129, "pci-0000:00:02.0")
    tree.file(f"{integrated}/drm/card1/card1-HDMI-A-1/status", "connected\n")
    tree.link("/sys/class/drm/card1-HDMI-A-1", f"{integrated}/drm/card1/card1-HDMI-A-1")

    bridges = "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0"
    ids, sub = ("0x8086", "0xe211"), ("0x8086", "0x1114")
    card = tree.pci(f"{bridges}/0000:03:00.0", ids, "0x030000", "xe", group=18, sub=sub,
                    revision="0x00", sriov_totalvfs=7, sriov_numvfs=1, sriov_drivers_autoprobe=0,
                    boot_vga=0)
    tree.drm(card, 0, 128, "pci-0000:03:00.0")
    tree.dir(f"{card}/tile0/gt0")
    management = f"{card}/xe.mei-gscfi.768/mei/mei1"
    tree.file(f"{management}/dev", "510:1\n")
    tree.link("/sys/class/mei/mei1", management)
    tree.node("/dev/mei1", 510, 1, 0o600)

    virtual = tree.pci(f"{bridges}/0000:03:00.1", ids, "0x030000", "vfio-pci", group=19, sub=sub,
                       revision="0x00")
    tree.link(f"{virtual}/physfn", card)
    tree.link(f"{card}/virtfn0", virtual)
    tree.vfio_device(virtual, 0)
    tree.vfio_group(19, 0)
    tree.vfio_control()
    tree.done(mknod, [(510, "mei"), (243, "vfio"), (511, "vfio-dev")])


def intel_accelerators(root, mknod):
    """An NPU and a Gaudi."""
    tree = Tree(root)
    npu = "/sys/devices/pci0000:00/0000:00:0b.0"
    tree.pci(npu, ("0x8086", "0x7d1d"), "0x120000", "intel_vpu", group=3)
    tree.accel(npu, "accel0", 0)
    gaudi = "/sys/devices/pci0000:15/0000:15:01.0/0000:19:00.0"
    tree.pci(gaudi, ("0x1da3", "0x1060"), "0x120000", "habanalabs", group=7, module_id=3,
             pci_addr="0000:19:00.0")
    tree.accel(gaudi, "accel1", 1)
    tree.accel(gaudi, "accel_controlD1", 2)
    verbs = f"{gaudi}/infiniband_verbs/uverbs0"
    tree.file(f"{verbs}/dev", "231:192\n")
    tree.link("/sys/class/infiniband_verbs/uverbs0", verbs)
    tree.node("/dev/infiniband/uverbs0", 231, 192)
    tree.file("/sys/module/habanalabs/version", "1.20.0\n")
    tree.done(mknod, [(231, "infiniband_verbs"), (261, "accel")])


def vfio(root, mknod):
    """Two GPUs for virtual machines. The sound function of the second still has its driver."""
    tree = Tree(root)
    tree.bmc()
    bridge, gpu, sound = ("0x1022", "0x14ab"), ("0x10de", "0x2684"), ("0x10de", "0x22ba")
    sub = ("0x1043", "0x889a")
    first = "/sys/devices/pci0000:80/0000:80:01.1"
    tree.pci(first, bridge, "0x060400", "pcieport", numa=1, group=40)
    tree.vfio_device(tree.pci(f"{first}/0000:81:00.0", gpu, "0x030000", "vfio-pci", numa=1,
                              group=42, sub=sub, boot_vga=0, reset=""), 0)
    tree.vfio_device(tree.pci(f"{first}/0000:81:00.1", sound, "0x040300", "vfio-pci", numa=1,
                              group=42, sub=sub), 1)
    second = "/sys/devices/pci0000:80/0000:80:03.1"
    tree.pci(second, bridge, "0x060400", "pcieport", numa=1, group=41)
    tree.vfio_device(tree.pci(f"{second}/0000:82:00.0", gpu, "0x030000", "vfio-pci", numa=1,
                              group=43, sub=sub, boot_vga=0), 2)
    tree.pci(f"{second}/0000:82:00.1", sound, "0x040300", "snd_hda_intel", numa=1, group=43,
             sub=sub)
    tree.vfio_group(42, 0)
    tree.vfio_group(43, 1)
    tree.vfio_control()
    tree.done(mknod, [(243, "vfio"), (511, "vfio-dev")])


def wsl(root, mknod):
    """The Windows Subsystem for Linux, on a host with an NVIDIA GPU."""
    tree = Tree(root)
    tree.node("/dev/dxg", 10, 125)
    store = "drivers/nv_dispi.inf_amd64_4c2b1e8d7f0a9c35"
    for directory, names in (
            ("lib", ("libdxcore.so", "libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-encode.so.1",
                     "libd3d12.so")),
            (store, ("libcuda.so.1.1", "libcuda_loader.so", "libnvidia-ptxjitcompiler.so.1",
                     "libnvidia-ml.so.1", "libnvidia-ml_loader.so", "libnvdxgdmal.so.1",
                     "nvcubins.bin", "nvidia-smi"))):
        for name in names:
            tree.file(f"/usr/lib/wsl/{directory}/{name}", "stub\n")
    tree.done(mknod)


def other(root, mknod):
    """A virtio GPU, a GPU that is part of the processor, and a BMC."""
    tree = Tree(root)
    tree.bmc()
    virtio = "/sys/devices/pci0000:00/0000:00:03.0"
    tree.pci(virtio, ("0x1af4", "0x1050"), "0x038000", "virtio-pci", numa=-1)
    tree.drm(virtio, 1, 128, "pci-0000:00:03.0")
    mali = "/sys/devices/platform/soc/1c40000.gpu"
    tree.link(f"{mali}/driver", "/sys/bus/platform/drivers/panfrost")
    tree.link("/sys/bus/platform/devices/1c40000.gpu", mali)
    tree.drm(mali, 2, 129, "platform-1c40000.gpu")
    tree.done(mknod)


TREES = {
    "nv2": lambda root, mknod: nvidia(root, mknod, mig=False),
    "nv2mig": lambda root, mknod: nvidia(root, mknod, mig=True),
    "mi300x-spx": lambda root, mknod: amd(root, mknod, cpx=False),
    "mi300x-cpx": lambda root, mknod: amd(root, mknod, cpx=True),
    "intel-xe": intel,
    "intel-accel": intel_accelerators,
    "vfio": vfio,
    "wsl": wsl,
    "other": other,
}


def main():
    mknod = "--mknod" in sys.argv
    (place,) = (argument for argument in sys.argv[1:] if argument != "--mknod")
    for name, make in TREES.items():
        make(os.path.join(place, name), mknod)


if __name__ == "__main__":
    main()
