# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What tests of vendor files share: nodes with accelerators of any vendor."""
import json
import pathlib

import node_trees
from tree_case import ToolCase, TreeTest, paths

SHIPPED = pathlib.Path(__file__).resolve().parents[3] / "tools/prepare/vendor-files"
MAJOR = 240


class VendorTest(TreeTest):
    """A node with devices that only a vendor file describes."""

    def setUp(self):
        super().setUp()
        self.tree_of_node = node_trees.Tree(self.root)
        self.minor = 0

    def pci_device(self, number, vendor="0x1e52", device="0xb140", code="0x120000"):
        """The directory of a PCI function; its address is 0000:0N:00.0."""
        path = f"/sys/devices/pci0000:00/0000:{number:02x}:00.0"
        return self.tree_of_node.pci(path, (vendor, device), code, "vendor")

    def add_node(self, path, parent=None, mode=0o666, gid=0, **attributes):
        """A node with a directory in sysfs, as the kernel makes it."""
        name = path.removeprefix("/dev/").replace("/", "!")
        entry = f"{parent or '/sys/devices/virtual'}/npu/{name}"
        tree, number = self.tree_of_node, f"{MAJOR}:{self.minor}"
        tree.file(f"{entry}/dev", number + "\n")
        tree.link(f"/sys/dev/char/{number}", entry)
        if parent:
            tree.link(f"{entry}/device", parent)
        for attribute, value in attributes.items():
            tree.file(f"{entry}/{attribute}", f"{value}\n")
        tree.node(path, MAJOR, self.minor, mode, gid)
        self.minor += 1

    def finish(self):
        self.tree_of_node.done(False, [(MAJOR, "npu")])

    def two_npus(self):
        """/dev/npu0 and /dev/npu1, on PCI, and /dev/npu_ctl."""
        for index in (0, 1):
            self.add_node(f"/dev/npu{index}", self.pci_device(index + 1), serial=f"SN{index}",
                          status="ok", temp=40 + index)
        self.add_node("/dev/npu_ctl")
        self.finish()

    def vendor_file(self, text, name="npu.toml"):
        path = self.place / name
        path.write_text(text)
        return path

    def ship(self, name):
        """Puts a shipped file where commands find it without an option."""
        ToolCase.put(self, f"etc/cdi-prepare.d/{name}", (SHIPPED / name).read_text())

    def detect_with(self, text, code=0, *options):
        """The inventory of a vendor file."""
        path = self.vendor_file(text)
        done = self.run_prepare("detect", "-o", "json", "--vendor-file", str(path), *options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.errors = done.stderr
        return json.loads(done.stdout)["vendors"][0]

    def spec_with(self, text, *options):
        """The spec of a vendor file."""
        path = self.vendor_file(text)
        done = self.run_prepare("write", "--dry-run", "-o", "json", "--vendor-file", str(path),
                                *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def fault_in(self, text):
        """The error about a vendor file, without its path."""
        path = self.vendor_file(text)
        done = self.run_prepare("detect", "--vendor-file", str(path))
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        start = f"cdi-prepare: error: {path}:"
        self.assertTrue(done.stderr.startswith(start), done.stderr)
        return done.stderr.removeprefix(start).rstrip("\n")

    @staticmethod
    def nodes_by_name(vendor):
        return {gpu["name"]: paths(gpu["nodes"]) for gpu in vendor["gpus"]}
