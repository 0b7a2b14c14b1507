#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compares the specs of NVIDIA's GPUs with nvidia-ctk's, part by part.

nvidia_ctk_test.py CDI_PREPARE PLACE [unittest options]

The generator of NVIDIA's toolkit runs on the same trees, with a mock of NVML for the GPUs of a DGX
A100, H100, H200 and B200. Go builds it in PLACE. DIFFERENCES lists what is meant to differ.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "kubernetes"))
import judges  # noqa: E402  pylint: disable=wrong-import-position
import node_trees  # noqa: E402  pylint: disable=wrong-import-position

LIB = "/usr/lib/x86_64-linux-gnu"
HOOK = "/usr/bin/nvidia-cdi-hook"
HOOKS = ("create-symlinks", "update-ldcache", "enable-cuda-compat", "chmod",
         "disable-device-node-modification", "update-application-profile",
         "apply-cuda-memory-limits")
SERVERS = ("dgxa100", "dgxh100", "dgxh200", "dgxb200")
MODES = {"management": "management.nvidia.com/gpu", "gds": "nvidia.com/gds",
         "gdrcopy": "nvidia.com/gdrcopy", "imex": "nvidia.com/imex-channel",
         "mofed": "nvidia.com/mofed", "nvswitch": "nvidia.com/nvswitch"}
# Programs that manage GPUs may also compute and draw, with ours.
CONFIGURATION = {"/etc/OpenCL/vendors/nvidia.icd", "/etc/vulkan/icd.d/nvidia_icd.json",
                 "/usr/share/glvnd/egl_vendor.d/10_nvidia.json"}
VOID = "/var/run/nvidia-container-devices/void"

# Nodes of these kinds, and the names of their drivers.
MORE_NODES = (("/dev/nvidia-fs0", 240, 0, "nvidia-fs"), ("/dev/nvidia-fs1", 240, 1, "nvidia-fs"),
              ("/dev/gdrdrv", 241, 0, "gdrdrv"),
              ("/dev/nvidia-nvswitch0", 237, 0, "nvidia-nvswitch"),
              ("/dev/nvidia-nvswitchctl", 237, 255, "nvidia-nvswitch"),
              ("/dev/infiniband/uverbs0", 231, 192, "infiniband_verbs"),
              ("/dev/infiniband/rdma_cm", 10, 60, ""),
              ("/dev/nvidia-caps-imex-channels/channel0", 234, 0, ""),
              ("/dev/nvidia-caps-imex-channels/channel2047", 234, 2047, ""))

# Each part that differs, and why. A part that no longer differs fails the test, too.
DIFFERENCES = {
    "name PCI address": "the GPU at an address is asked for by it, for example by VM managers",
    "env NVIDIA_CTK_LIBCUDA_DIR": "only programs of the toolkit read it",
    "mount " + VOID: "only for the older runtime, if a device plugin lists the GPUs as mounts, too",
    "hook apply-cuda-memory-limits": "nothing without NVIDIA_GPU_MEMORY_* in the container",
    "links": "ours are all of the host; the toolkit leaves most to ldconfig",
    "version": "ours is the oldest version that can hold the spec",
}


def program(place):
    """The judge; the test is skipped if it cannot be built."""
    if os.environ.get("CDI_FULL") != "1" and "CDI_JUDGES" not in os.environ:
        raise unittest.SkipTest("to build the toolkit's generator takes a minute: CDI_FULL=1 does")
    if not shutil.which("gcc"):
        raise unittest.SkipTest("NVML's package for Go needs gcc")
    return judges.build("../prepare/nvidia-ctk", place, ["."], out="nvidia-ctk", cgo=True) \
        / "nvidia-ctk"


def key(node):
    return node["path"], node["major"], node.get("minor", 0), node["fileMode"], node["permissions"]


def nodes_of_devices(spec):
    """The nodes of each device. The toolkit leaves the numbers of IMEX channels to runtimes."""
    has_numbers = spec["kind"] != "nvidia.com/imex-channel"
    return {device["name"]: sorted(key(node) if has_numbers else node["path"]
                                   for node in device["containerEdits"]["deviceNodes"])
            for device in spec["devices"]}


def all_mounts(spec):
    edits = [spec["containerEdits"], *(device["containerEdits"] for device in spec["devices"])]
    return {mount["containerPath"]: mount for one in edits for mount in one.get("mounts", [])}


def links_of(hooks):
    """The links that create-symlinks makes, with their targets."""
    found = {}
    for hook in hooks:
        words = hook["args"]
        for option, value in zip(words, words[1:]):
            if option == "--link":
                target, _, link = value.partition("::")
                found[link] = os.path.normpath(os.path.join(os.path.dirname(link), target))
    return found


class Generators(unittest.TestCase):
    ours_at = theirs_at = None

    def setUp(self):
        # As /tmp may forbid device nodes.
        self.root = tempfile.mkdtemp(prefix="nvidia-ctk-")
        self.addCleanup(shutil.rmtree, self.root)

    def make_tree(self, facts):
        tree = node_trees.Tree(self.root)
        node_trees.NVIDIA_DRIVER = facts["driver"]
        for gpu in facts["gpus"]:
            address, minor = gpu["Address"], gpu["Minor"]
            tree.pci(f"/sys/devices/pci{address[:7]}/{address}",
                     ("0x" + gpu["PciID"][4:], "0x" + gpu["PciID"][:4]), "0x030200", "nvidia")
            tree.node(f"/dev/nvidia{minor}", 195, minor)
            tree.file(f"/proc/driver/nvidia/gpus/{address}/information",
                      f"Model: \t\t {gpu['Name']}\nGPU UUID: \t {gpu['UUID']}\n"
                      f"Bus Location: \t {address}\nDevice Minor: \t {minor}\nGPU Excluded:\t No\n")
        node_trees.nvidia_driver(tree)
        node_trees.nvidia_user_space(tree)
        # Links of an installed driver, which the toolkit makes also where the host lacks them.
        tree.raw_link(f"{LIB}/libGLX_indirect.so.0", f"libGLX_nvidia.so.{facts['driver']}")
        tree.raw_link(f"{LIB}/gbm/nvidia-drm_gbm.so", "../libnvidia-allocator.so.1")
        tree.file(HOOK, " ".join(HOOKS), 0o755)
        for path, major, minor, _ in MORE_NODES:
            tree.node(path, major, minor)
        tree.file("/etc/cufile.json", "{}")
        tree.dir("/run/udev")
        tree.file("/sys/class/infiniband_verbs/uverbs0/dev", "231:192\n")
        tree.file("/sys/class/misc/rdma_cm/dev", "10:60\n")
        majors = {(major, name) for _, major, _, name in MORE_NODES if name}
        try:
            tree.done(True, [*node_trees.NVIDIA_MAJORS, *majors])
        except PermissionError:
            self.skipTest("mknod is not permitted here")

    def run_one(self, *command):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.replace(self.root, ""))

    def specs(self, server):
        self.make_tree(self.run_one(self.theirs_at, "facts", server))
        ours = self.run_one(self.ours_at, "write", "--root", self.root, "--dry-run", "-o", "json",
                            "--hooks", "nvidia")
        return ours, self.run_one(self.theirs_at, "spec", server, self.root, "nvml")

    def test_each_part(self):
        for server in SERVERS:
            with self.subTest(server=server):
                ours, theirs = self.specs(server)
                found = set()
                self.assertEqual(ours["kind"], theirs["kind"])
                if ours["cdiVersion"] != theirs["cdiVersion"]:
                    found.add("version")
                self.compare_devices(ours, theirs, found)
                self.compare_edits(ours["containerEdits"], theirs["containerEdits"], found)
                self.assertEqual(found, set(DIFFERENCES))
                shutil.rmtree(self.root)
                os.mkdir(self.root)

    def test_kinds_on_request(self):
        """Names, nodes and mounts are the same."""
        facts = self.run_one(self.theirs_at, "facts", "dgxa100")
        self.make_tree(facts)
        for mode, kind in MODES.items():
            with self.subTest(mode=mode):
                ours = self.run_one(self.ours_at, "write", "--root", self.root, "--dry-run", "-o",
                                    "json", "--hooks", "nvidia", "--kind", kind)
                theirs = self.run_one(self.theirs_at, "spec", "dgxa100", self.root, mode)
                self.assertEqual(ours["kind"], theirs["kind"])
                self.assertEqual(nodes_of_devices(ours), nodes_of_devices(theirs))
                mounts, others = all_mounts(ours), all_mounts(theirs)
                more = {path for path in mounts if path not in others}
                self.assertEqual(more, CONFIGURATION if mode == "management" else set())
                self.assertEqual({**mounts, VOID: others[VOID]},
                                 {**others, **{path: mounts[path] for path in more}})

    def compare_devices(self, ours, theirs, found):
        mine, others = ({device["name"]: device["containerEdits"] for device in spec["devices"]}
                        for spec in (ours, theirs))
        self.assertLess(set(others), set(mine))
        self.assertEqual(len(others), 17)  # 8 GPUs by UUID and index, and all
        for name in set(mine) - set(others):
            self.assertRegex(name, r"^0000:0[0-7]:00\.0$")
            found.add("name PCI address")
        for name, edits in others.items():
            self.assertEqual(set(edits), {"deviceNodes", "hooks"})
            self.assertEqual(set(mine[name]), {"deviceNodes"})
            self.assertEqual(list(map(key, mine[name]["deviceNodes"])),
                             list(map(key, edits["deviceNodes"])))
            for hook in edits["hooks"]:
                found.add("hook " + hook["args"][1])

    def compare_edits(self, ours, theirs, found):
        self.assertEqual(set(ours), set(theirs))
        self.assertLessEqual(set(ours["env"]), set(theirs["env"]))
        found |= {"env " + text.partition("=")[0] for text in set(theirs["env"]) - set(ours["env"])}
        self.assertEqual(set(map(key, ours["deviceNodes"])), set(map(key, theirs["deviceNodes"])))
        mine, others = ({mount["containerPath"]: mount for mount in edits["mounts"]}
                        for edits in (ours, theirs))
        self.assertEqual(set(mine) - set(others), set())
        found |= {"mount " + path for path in set(others) - set(mine)}
        for path, mount in mine.items():
            self.assertEqual(mount, others[path])
        self.compare_hooks(ours["hooks"], theirs["hooks"], found)

    def compare_hooks(self, ours, theirs, found):
        mine, others = links_of(ours), links_of(theirs)
        if mine != others:
            found.add("links")
        # Each link of theirs is one of ours, and leads to the same file.
        real = lambda path: os.path.realpath(self.root + path)  # noqa: E731
        for link, target in others.items():
            self.assertIn(link, mine)
            self.assertEqual(real(mine[link]), real(target))
        rest = [[(hook["hookName"], hook["path"], hook["args"], hook["env"]) for hook in hooks
                 if hook["args"][1] != "create-symlinks"] for hooks in (ours, theirs)]
        self.assertEqual(*rest)


if __name__ == "__main__":
    Generators.ours_at = os.path.abspath(sys.argv[1])
    try:
        Generators.theirs_at = program(sys.argv[2])
    except unittest.SkipTest as why:
        print(f"skipped: {why}")
        sys.exit(77)
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[3:]])
