#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Kinds on request (management, GDS, MOFED, IMEX and others), and Tegra with its CSV files.

kinds_test.py CDI_PREPARE [unittest options]
"""
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
import node_trees  # noqa: E402  pylint: disable=wrong-import-position
from tree_case import TreeTest, paths, run_tests  # noqa: E402  pylint: disable=C0413

VERSION = node_trees.NVIDIA_DRIVER
CHANNELS = "/dev/nvidia-caps-imex-channels"


class KindTest(TreeTest):
    def add(self, *nodes):
        """Adds nodes, each as (path, major, minor)."""
        with self.path("dev.tab").open("a", encoding="ascii") as table:
            for path, major, minor in nodes:
                table.write(f"{path} c {major} {minor} 0666 0 0\n")
                self.put(path)

    def drivers(self, *rows):
        self.edit("proc/devices", "\nBlock", "".join(f"{row}\n" for row in rows) + "\nBlock")

    def write(self, *arguments, code=0):
        done = self.run_prepare("write", "--dry-run", "-o", "json", *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.errors = done.stderr
        return json.loads(done.stdout) if done.stdout else None


class OnRequest(KindTest):
    tree = "nv2"

    def setUp(self):
        super().setUp()
        self.drivers("240 nvidia-fs", "241 gdrdrv", "242 nvidia-nvswitch", "231 infiniband_verbs")

    def spec(self, kind, *arguments):
        spec = self.write("--kind", kind, *arguments)
        self.assertEqual((spec["kind"], spec["containerEdits"]["env"]),
                         (kind, ["NVIDIA_VISIBLE_DEVICES=void"]))
        return spec

    def test_none_without_request(self):
        self.add(("/dev/nvidia-fs0", 240, 0), (CHANNELS + "/channel0", 234, 0))
        self.assertEqual(self.write()["kind"], "nvidia.com/gpu")

    def test_host_without_it(self):
        for kind in ("nvidia.com/gds", "nvidia.com/mofed", "nvidia.com/gdrcopy",
                     "nvidia.com/imex-channel", "nvidia.com/nvswitch"):
            self.assertIsNone(self.write("--kind", kind))
            self.assertRegex(self.errors, f"no device for kind {kind} found on this host: no .*: "
                             r".*is the module \w+(-fs)? loaded\?")

    def test_storage(self):
        self.add(("/dev/nvidia-fs0", 240, 0), ("/dev/nvidia-fs1", 240, 1))
        self.put("/etc/cufile.json", "{}")
        self.path("/run/udev").mkdir(parents=True)
        spec = self.spec("nvidia.com/gds")
        self.assertEqual(self.devices(spec), {"all": ["/dev/nvidia-fs0", "/dev/nvidia-fs1"]})
        mounts = spec["containerEdits"]["mounts"]
        self.assertEqual([mount["containerPath"] for mount in mounts],
                         ["/etc/cufile.json", "/run/udev"])
        self.assertEqual({tuple(mount["options"]) for mount in mounts},
                         {("ro", "nosuid", "nodev", "rbind", "rprivate")})

    def test_network(self):
        for path, number in (("infiniband_verbs/uverbs0", "231:192"),
                             ("infiniband_verbs/uverbs1", "231:193"), ("misc/rdma_cm", "10:58")):
            self.put(f"/sys/class/{path}/dev", number + "\n")
        self.put("/sys/class/infiniband_verbs/abi_version", "6\n")
        self.add(("/dev/infiniband/uverbs0", 231, 192), ("/dev/infiniband/uverbs1", 231, 9),
                 ("/dev/infiniband/rdma_cm", 10, 58))
        spec = self.spec("nvidia.com/mofed")
        self.assertEqual(self.devices(spec),
                         {"all": ["/dev/infiniband/uverbs0", "/dev/infiniband/rdma_cm"]})
        self.assertIn("uverbs1 is 231:9, not 231:193", self.errors)

    def test_nodes_of_other_types(self):
        with self.path("dev.tab").open("a", encoding="ascii") as table:
            table.write("/dev/gdrdrv b 241 0 0666 0 0\n")
        self.put("/dev/gdrdrv")
        self.assertIsNone(self.write("--kind", "nvidia.com/gdrcopy"))
        self.assertIn("/dev/gdrdrv is not a character device", self.errors)

    def test_switches_and_copies(self):
        self.add(("/dev/nvidia-nvswitch0", 242, 0), ("/dev/nvidia-nvswitchctl", 242, 255),
                 ("/dev/gdrdrv", 241, 0))
        self.assertEqual(self.devices(self.spec("nvidia.com/nvswitch")),
                         {"all": ["/dev/nvidia-nvswitch0", "/dev/nvidia-nvswitchctl"]})
        self.assertEqual(self.devices(self.spec("nvidia.com/gdrcopy")), {"all": ["/dev/gdrdrv"]})

    def test_channels(self):
        self.add(*((f"{CHANNELS}/channel{number}", 234, number) for number in (0, 7, 10)))
        spec = self.spec("nvidia.com/imex-channel")
        channels = [f"{CHANNELS}/channel{number}" for number in (0, 7, 10)]
        self.assertEqual(self.devices(spec), {"0": channels[:1], "7": channels[1:2],
                                              "10": channels[2:], "all": channels})
        self.assertEqual(list(self.devices(self.spec("nvidia.com/imex-channel", "--no-all",
                                                     "--device", "7"))), ["7"])

    def test_management(self):
        self.add(("/dev/nvidia-fs0", 240, 0), ("/dev/nvidia-nvswitch0", 242, 0),
                 (CHANNELS + "/channel0", 234, 0), ("/dev/nvidia7", 99, 7))
        spec = self.spec("management.nvidia.com/gpu")
        self.assertEqual(self.devices(spec), {"all": [
            "/dev/nvidia-modeset", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia0",
            "/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-caps/nvidia-cap1",
            "/dev/nvidia-caps/nvidia-cap2", CHANNELS + "/channel0"]})
        self.assertIn("/dev/nvidia7 is 99:7, but /proc/devices lists no nvidia", self.errors)
        edits = spec["containerEdits"]
        self.assertIn(f"/usr/lib/x86_64-linux-gnu/libcuda.so.{VERSION}",
                      [mount["hostPath"] for mount in edits["mounts"]])

    def test_management_may_create_nodes(self):
        self.put("/usr/bin/nvidia-cdi-hook", "disable-device-node-modification enable-cuda-compat "
                 "update-application-profile")
        self.path("/usr/bin/nvidia-cdi-hook").chmod(0o755)
        text = json.dumps(self.spec("management.nvidia.com/gpu", "--hooks", "nvidia"))
        self.assertIn("update-ldcache", text)
        self.assertNotIn("disable-device-node-modification", text)
        self.assertNotIn("update-application-profile", text)

    def test_files_of_both_stay(self):
        self.add(("/dev/nvidia-fs0", 240, 0))
        for arguments in ((), ("--kind", "nvidia.com/gds"), ()):
            self.assertEqual(self.run_prepare("write", *arguments).returncode, 0)
        self.assertEqual(sorted(os.listdir(self.path("/var/run/cdi"))),
                         ["nvidia.com-gds.yaml", "nvidia.com-gpu.yaml"])
        self.edit("dev.tab", "/dev/nvidia-fs0", "/dev/other")
        self.assertEqual(self.run_prepare("write", "--kind", "nvidia.com/gds").returncode, 0)
        self.assertEqual(os.listdir(self.path("/var/run/cdi")), ["nvidia.com-gpu.yaml"])


class TegraWithCards(TreeTest):
    """A board whose processor has a GPU, with cards on the PCI bus: two sets of libraries."""

    tree = "nv2"

    def test_no_library_is_to_be_removed(self):
        for folder in ("nvidia", "tegra"):
            with self.subTest(folder=folder):
                lib = self.path(f"/usr/lib/aarch64-linux-gnu/{folder}")
                lib.mkdir(parents=True)
                (lib / "libcuda.so.1.1").write_bytes(b"\x7fELF\x02" + bytes(60))
                self.path("/etc/nv_tegra_release").write_text("# R36\n")
                done = self.run_prepare("doctor")
                self.assertIn("module and libraries are ", done.stdout)
                self.assertNotIn("libcuda.so.1.1", done.stdout)
                self.assertRegex(done.stdout, "note .*GPU of the Tegra processor is left out.*\n"
                                              ".*remove none of them")
                done = self.run_prepare("detect")
                self.assertIn("warning: the GPU of the Tegra processor is left out", done.stderr)
                self.assertEqual(done.returncode, 0)

    def test_other_version_is_not_removed_either(self):
        folder = self.path("/usr/lib/x86_64-linux-gnu/nvidia/current")
        folder.mkdir(parents=True)
        (folder / "libcuda.so.580.1.2").write_bytes(b"\x7fELF\x02" + bytes(60))
        done = self.run_prepare("doctor")
        self.assertIn("but programs load /usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.580",
                      done.stdout)
        self.assertNotIn("remove the libraries", done.stdout)


class Tegra(KindTest):
    tree = "other"
    lists = "/etc/nvidia-container-runtime/host-files-for-container.d"
    lib = "/usr/lib/aarch64-linux-gnu"

    def setUp(self):
        super().setUp()
        for name in ("pci/devices", "platform/devices"):
            shutil.rmtree(self.path("/sys/bus") / name, ignore_errors=True)
            (self.path("/sys/bus") / name).mkdir(parents=True)
        self.add(("/dev/nvhost-ctrl", 505, 1), ("/dev/nvmap", 10, 120))
        self.put("/etc/nv_tegra_release", "# R35\n")
        self.put(f"{self.lib}/tegra/libcuda.so.1.1")
        self.put(f"{self.lib}/tegra/firmware/a.bin")
        self.path(f"{self.lib}/libcuda.so").symlink_to("tegra/libcuda.so.1.1")
        self.put(f"{self.lists}/devices.csv", "dev, /dev/nvhost-ctrl\ndev,/dev/nvmap\n"
                                              "dev, /dev/nvhost-gpu\n# a comment, /dev/zero\n")
        self.put(f"{self.lists}/drivers.csv",
                 f"lib, {self.lib}/tegra/libcuda.so.1.1\nlib, /usr/lib/missing.so\n"
                 f"dir, {self.lib}/tegra/firmware\nsym, {self.lib}/libcuda.so\n"
                 "lib, ../etc/passwd\nnode, /dev/zero\n")
        self.put(f"{self.lists}/l4t.csv", f"sym, {self.lib}/libcuda.so\r\n")
        self.put(f"{self.lists}/mine.csv", "dev, /dev/mine\n")

    def spec(self):
        done = self.run_prepare("write", "--dry-run", "-o", "json", "--kind", "nvidia.com/gpu")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout) if done.stdout else None

    def test_what_the_files_list(self):
        spec = self.spec()
        nodes = ["/dev/nvhost-ctrl", "/dev/nvmap"]
        self.assertEqual(self.devices(spec), {"0": nodes, "all": nodes})
        cuda = f"{self.lib}/tegra/libcuda.so.1.1"
        self.assertEqual([(mount["containerPath"], mount["hostPath"])
                          for mount in spec["containerEdits"]["mounts"]],
                         [("/etc/nv_tegra_release",) * 2,
                          (f"{self.lib}/tegra/firmware",) * 2, (cuda, cuda),
                          (f"{self.lib}/libcuda.so", cuda)])

    def test_odd_lines_and_files(self):
        before = self.spec()
        with self.path(f"{self.lists}/drivers.csv").open("a", encoding="latin-1") as file:
            file.write(f"no comma\nlib, {self.lib}/\xff.so\nlib, {self.lib}/fifo\n"
                       f"lib, {self.lib}/odd.so\n")
        os.mkfifo(self.path(f"{self.lib}/fifo"))
        self.put(f"{self.lib}/odd\x01.so")
        self.path(f"{self.lib}/odd.so").symlink_to("odd\x01.so")
        self.assertEqual(self.spec(), before)

    def test_chip_by_its_family(self):
        self.path("/etc/nv_tegra_release").unlink()
        self.assertIsNone(self.spec())
        self.put("/sys/devices/soc0/family", "Tegra\n")
        self.assertEqual(paths(self.spec()["devices"][0]["containerEdits"]["deviceNodes"]),
                         ["/dev/nvhost-ctrl", "/dev/nvmap"])

    def test_other_hosts(self):
        for name in ("devices.csv", "drivers.csv", "l4t.csv"):
            self.path(f"{self.lists}/{name}").unlink()
        self.assertIsNone(self.spec())


class TegraWithOtherGpus(KindTest):
    tree = "nv2"

    def test_is_left_to_the_bus(self):
        self.put("/etc/nv_tegra_release", "# R38\n")
        self.put(f"{Tegra.lists}/devices.csv", "dev, /dev/nvidiactl\n")
        self.assertIn("GPU-", self.write()["devices"][0]["name"])


if __name__ == "__main__":
    run_tests()
