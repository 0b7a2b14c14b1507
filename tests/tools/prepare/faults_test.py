#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Each fault that cdi-prepare has a code for, on a node: faults_test.py CDI_PREPARE [unittest options]"""
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import node_trees  # noqa: E402  pylint: disable=wrong-import-position
from tree_case import TreeTest, run_tests  # noqa: E402  pylint: disable=C0413

SOURCES = pathlib.Path(__file__).resolve().parents[3]
FIRST, SECOND = "0000:17:00.0", "0000:ca:00.0"  # the GPUs of nv2 and nv2mig
AMD = "0000:05:00.0"


class Node(TreeTest):
    """A node that a fault is put on."""

    def make(self, tree):
        node_trees.TREES[tree](str(self.root), False)

    def replace(self, name, old, new):
        """As `edit`, of a file that may be read-only."""
        text = self.path(name).read_text()
        self.assertIn(old, text)
        self.path(name).unlink()
        self.path(name).write_text(text.replace(old, new))

    def information(self, address, old, new):
        self.replace(f"proc/driver/nvidia/gpus/{address}/information", old, new)

    def renumber(self, path, old, new):
        self.edit("dev.tab", f"{path} c {old} ", f"{path} c {new} ")

    def unload(self, row):
        self.edit("proc/devices", row + "\n", "")

    def access(self, path):
        return self.path(f"proc/driver/nvidia/capabilities/gpu1/mig/{path}/access")


def remove_compute_instance(node):
    node.access("gi1/ci0").unlink()
    node.access("gi1/ci0").parent.rmdir()


def add_channel(node):
    with open(node.path("dev.tab"), "a", encoding="ascii") as table:
        table.write("/dev/nvidia-caps-imex-channels/channel3 c 234 4 0666 0 0\n")
    node.path("dev/nvidia-caps-imex-channels").mkdir()
    node.path("dev/nvidia-caps-imex-channels/channel3").touch()


def make_partitioning_unreadable(node):
    mode = node.pci(AMD) / "current_compute_partition"
    mode.unlink()
    mode.mkdir()


def remove_vfio(node):
    node.remove_node("/dev/vfio/vfio")
    node.remove_node("/dev/iommu")


def renumber_in_sysfs(node):
    node.path("sys/class/misc/dxg").mkdir(parents=True)
    node.path("sys/class/misc/dxg/dev").write_text("10:126\n")


def add_npu(node, more):
    """A device of a vendor file, with `more` in the file."""
    with open(node.path("dev.tab"), "a", encoding="ascii") as table:
        table.write("/dev/npu0 c 240 0 0666 0 0\n")
    node.path("dev/npu0").touch()
    node.path("sys/dev/char/240:0").mkdir(parents=True)
    node.path("etc/cdi-prepare.d").mkdir(parents=True)
    node.path("etc/cdi-prepare.d/npu.toml").write_text(
        f'kind = "acme.com/npu"\ndevices = "/dev/npu*"\n{more}\n')


# By code: the tree, what is done to it if anything, and options of `detect`.
CASES = {
    "bound-to-nouveau": ("nv2", lambda node: node.bind(FIRST, "nouveau")),
    "bound-to-no-driver": ("nv2", lambda node: node.bind(FIRST, None)),
    "bound-to-other-driver": ("nv2", lambda node: node.bind(FIRST, "pci-stub")),
    "driver-silent": ("nv2", lambda node: node.path(
        f"proc/driver/nvidia/gpus/{FIRST}/information").unlink()),
    "excluded-by-driver": ("nv2", lambda node: node.information(
        FIRST, "GPU Excluded:\t No", "GPU Excluded:\t Yes")),
    "no-device-minor": ("nv2", lambda node: node.information(FIRST, "Device Minor: \t 0\n", "")),
    "no-major": ("nv2", lambda node: node.unload("195 nvidia")),
    "nvidia-node": ("nv2", lambda node: node.remove_node("/dev/nvidia0")),
    "nvidiactl-node": ("nv2", lambda node: node.remove_node("/dev/nvidiactl")),
    "uvm-node": ("nv2", lambda node: node.renumber("/dev/nvidia-uvm", "510 0", "510 7")),
    "uvm-tools-node": ("nv2", lambda node: node.renumber("/dev/nvidia-uvm-tools", "510 1",
                                                         "510 7")),
    "modeset-node": ("nv2", lambda node: node.renumber("/dev/nvidia-modeset", "195 254",
                                                       "195 7")),
    "uvm-module": ("nv2", lambda node: node.unload("510 nvidia-uvm")),
    "modeset-module": ("nv2", lambda node: node.unload("195 nvidia-modeset")),
    "fabric-node": ("nv2", add_channel),
    "no-compute-instance": ("nv2mig", remove_compute_instance),
    "mig-access": ("nv2mig", lambda node: node.access("gi1").unlink()),
    "mig-node": ("nv2mig", lambda node: node.renumber("/dev/nvidia-caps/nvidia-cap156", "236 156",
                                                      "236 157")),
    "virtual-functions": ("intel-xe", None),
    "no-kfd-topology": ("mi300x-spx", lambda node: node.path(
        "sys/class/kfd/kfd/topology/nodes/2/properties").unlink()),
    "kfd-node": ("mi300x-spx", lambda node: node.remove_node("/dev/kfd")),
    "partitioning-unreadable": ("mi300x-spx", make_partitioning_unreadable),
    "no-render-node": ("other", lambda node: node.remove_node("/dev/dri/renderD128")),
    "no-accel-node": ("intel-accel", lambda node: node.remove_node("/dev/accel/accel1")),
    "udev-node": ("intel-xe", lambda node: node.remove_node("/dev/dri/card1")),
    "iommu-group": ("vfio", None),
    "vfio-node": ("vfio", remove_vfio),
    "dxg-node": ("wsl", renumber_in_sysfs),
    "shared-id": ("nv2", lambda node: node.information(SECOND, node_trees.NVIDIA_UUIDS[1],
                                                       node_trees.NVIDIA_UUIDS[0])),
    "nvml-failed": ("nv2", None, "--nvml", "--nvml-library", __file__),
    "unknown-driver-version": ("nv2", lambda node: node.path(
        "sys/module/nvidia/version").write_text("\n")),
    "no-libcuda": ("nv2", lambda node: node.path(
        "usr/lib/x86_64-linux-gnu/libcuda.so.570.195.03").unlink()),
    "other-libraries": ("nv2", lambda node: node.path(
        "sys/module/nvidia/version").write_text("575.57.08\n")),
    "integrated-gpu": ("nv2", lambda node: node.path("etc/nv_tegra_release").write_text("# R36\n")),
    "vendor-node": ("nv2", lambda node: add_npu(node, 'nodes = "/dev/npu{index}_dma"')),
    "vendor-path": ("nv2", lambda node: add_npu(node, 'mounts = "/opt/none"')),
    "vendor-name": ("nv2", lambda node: add_npu(node, 'name = "{attribute:serial}"')),
    "vendor-health": ("nv2", lambda node: add_npu(
        node, 'health = {attribute = "status", good = "ok"}')),
}


def codes_in(vendor):
    """All codes of an inventory, each with its text beside it."""
    found = [(vendor["notReady"], vendor["notReadyCode"])]
    assert len(vendor["warnings"]) == len(vendor["warningCodes"])
    found += zip(vendor["warnings"], vendor["warningCodes"])
    found += [(one["reason"], one["code"]) for one in vendor["missing"]]
    for gpu in vendor["gpus"]:
        found += [(one["leftOut"], one["leftOutCode"]) for one in [gpu, *gpu["partitions"]]]
    return found


class Faults(Node):
    def find(self, *options):
        done = self.run_prepare("detect", "-o", "json", *options)
        self.assertIn(done.returncode, (0, 3, 4), done.stderr)
        found = [pair for vendor in json.loads(done.stdout)["vendors"] for pair in codes_in(vendor)]
        for text, code in found:
            self.assertEqual(text is None, code is None, (text, code))
        return {code for _, code in found if code}

    def check(self, code):
        tree, change, *options = CASES[code]
        self.make(tree)
        if change or options:
            self.assertNotIn(code, self.find())
        if change:
            change(self)
        self.assertIn(code, self.find(*options))
        if not options and code != "modeset-module":  # which servers lack on purpose
            self.assertIn(code, [finding["code"] for finding in self.findings()])

    def findings(self):
        return json.loads(self.run_prepare("doctor", "-o", "json").stdout)["findings"]

    def advice(self):
        return {finding["what"]: (finding["level"], finding["advice"])
                for finding in self.findings()}

    def test_every_code_has_a_case_and_is_documented(self):
        header = (SOURCES / "tools/gpu/model/fault.hpp").read_text()
        codes = re.findall(r'\{Fault::\w+, "([a-z-]+)"', header)
        page = (SOURCES / "docs/cdi-prepare.md").read_text()
        kept = "nvml-of-other-host"  # settings_test.py: detect refuses the option
        self.assertEqual(sorted(codes), sorted([*CASES, kept]))
        table = re.search(r"(?m)^\| code \|.*\n(?:\|.*\n)+", page)[0]
        self.assertEqual(re.findall(r"^\| `([a-z][a-z-]*)` \|", table, re.M), codes)

    def test_advice_on_mig_without_a_compute_instance(self):
        self.make("nv2mig")
        remove_compute_instance(self)
        level, advice = self.advice()["left out: it has no compute instance"]
        self.assertEqual(level, "fault")
        self.assertIn("nvidia-smi mig -cci", advice)

    def test_advice_on_a_module_that_is_not_loaded(self):
        self.make("nv2")
        self.assertNotIn("fault", [level for what, (level, _) in self.advice().items()
                                   if "nvidia-uvm" in what])
        self.edit("proc/devices", "510 nvidia-uvm\n", "")
        level, advice = self.advice()["/dev/nvidia-uvm: its kernel module is not loaded"]
        self.assertEqual(level, "fault")
        self.assertIn("modprobe nvidia-uvm", advice)

    def test_spec_with_an_old_number_of_a_node_that_is_missing(self):
        self.make("nv2")
        self.assertEqual(self.run_prepare("write").returncode, 0)
        self.assertEqual(self.run_prepare("doctor").returncode, 0)
        self.unload("510 nvidia-uvm")
        self.edit("proc/devices", "195 nvidiactl\n", "195 nvidiactl\n511 nvidia-uvm\n")
        for path in ("/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"):
            self.remove_node(path)
            self.path(path).unlink()
        facts = [what for what, (level, _) in self.advice().items() if level == "fault"]
        self.assertEqual(facts, ["/var/run/cdi/nvidia.com-gpu.yaml: /dev/nvidia-uvm has numbers 510:0 "
                                 "there, and 511:0 now"])
        self.assertEqual(self.run_prepare("doctor").returncode, 1)
        self.assertEqual(self.run_prepare("write").returncode, 0)
        self.assertEqual(self.run_prepare("doctor").returncode, 0)


for one in CASES:
    setattr(Faults, "test_" + one.replace("-", "_"), lambda self, code=one: self.check(code))

if __name__ == "__main__":
    run_tests()
