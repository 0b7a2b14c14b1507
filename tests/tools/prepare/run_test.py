#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The README's lines for sandboxes with what `cdi-prepare write` wrote: run_test.py CDI_PREPARE CDI

On a host whose root is this host's with a fake node over it: real device nodes, though without
drivers, the driver's files, the socket of nvidia-persistenced and the directory of MPS. That root is
one of a mount namespace, so that nothing of this host changes.
"""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import node_trees  # noqa: E402  pylint: disable=wrong-import-position

PREPARE, CDI = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
PROGRAMS = ("bwrap", "unshare", "pivot_root", "setpriv")
# What nvidia-smi is on this host: it shows what it has.
SMI = """#!/usr/bin/sh
ls /dev | grep nvidia
test -S /run/nvidia-persistenced/socket && echo socket
[ ! -d /tmp/nvidia-mps ] || echo mps
"""
SHOWN = ["nvidia-modeset", "nvidia-uvm", "nvidia-uvm-tools", "nvidia0", "nvidiactl", "socket", "mps"]
# Makes the root from a tree, and enters it.
ENTER = r"""set -e
mount -t tmpfs none "$1"
cd "$1"
mkdir tree root
cp -a "$2/." tree
mount -t overlay -o ro,lowerdir=tree:/ none root
cd root
mount -t proc none proc
mount -t tmpfs none tmp
[ ! -d ../tree/tmp/nvidia-mps ] || mkdir tmp/nvidia-mps
cp "$3" tmp/cdi
cp -a ../tree/dev tmp/dev
for node in null zero full random urandom tty; do cp -a "/dev/$node" tmp/dev; done
mount --bind tmp/dev dev
pivot_root . .
umount -l .
cd /
shift 3
PATH=/tmp:$PATH exec "$@"
"""


class Written(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can make device nodes")
        for program in PROGRAMS:
            if not shutil.which(program):
                raise unittest.SkipTest(f"{program} is not installed")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)
        self.tree = self.folder / "tree"
        node_trees.TREES["nv2"](self.tree, True)
        (self.folder / "place").mkdir()
        shutil.move(self.tree / "lib/firmware", self.tree / "usr/lib/firmware")
        (self.tree / "lib").rmdir()
        (self.tree / "lib").symlink_to("usr/lib")  # as in the root below
        smi = self.tree / "usr/bin/nvidia-smi"
        smi.write_text(SMI)
        smi.chmod(0o755)
        (self.tree / "run/nvidia-persistenced").mkdir(parents=True)
        with socket.socket(socket.AF_UNIX) as daemon:
            daemon.bind(str(self.tree / "run/nvidia-persistenced/socket"))
        (self.tree / "tmp/nvidia-mps").mkdir(parents=True)
        self.user = ["setpriv", "--reuid=65534", "--regid=65534"]
        # The nodes of /dev/dri are of these groups.
        self.groups = f"--groups={node_trees.VIDEO},{node_trees.RENDER}"

    def line(self, begin):
        """A line of the README for a shell."""
        page = pathlib.Path(__file__).resolve().parents[3] / "README.md"
        if not page.exists():
            self.skipTest("the tests were copied without the pages")
        (found,) = re.findall(rf"^    ({re.escape(begin)}.*)$", page.read_text(encoding="utf-8"),
                              re.MULTILINE)
        return ["sh", "-c", found]

    def need_sandboxes(self):
        done = self.on_that_host("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "true")
        if done.returncode != 0:
            self.skipTest(f"no sandbox in a root of its own: {done.stderr.strip()}")

    def check(self, command, shown):
        for words in (command, [*self.user, self.groups, *command]):
            done = self.on_that_host(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout.split(), shown)

    def write(self, *options):
        subprocess.run([PREPARE, "write", "--root", self.tree, "--output-dir",
                        self.tree / "etc/cdi", *options], check=True, stdout=subprocess.DEVNULL)
        text = (self.tree / "etc/cdi/nvidia.com-gpu.yaml").read_text(encoding="utf-8")
        self.assertIn("persistenced/socket", text)
        self.assertIn("noexec", text)

    def on_that_host(self, *command):
        return subprocess.run(["unshare", "--mount", "sh", "-c", ENTER, "sh", self.folder / "place",
                               self.tree, CDI, *command], text=True, capture_output=True,
                              timeout=60, check=False)

    def test_the_line_of_the_readme(self):
        line = self.line("cdi run ")
        for numbers in ("given", "asked"):
            self.write("--node-numbers", numbers)
            self.need_sandboxes()
            self.check(line, SHOWN)
            done = self.on_that_host(*self.user, "--clear-groups", *line)
            self.assertEqual(done.returncode, 5, "which cannot open the nodes of /dev/dri")
            self.assertIn("add", done.stderr)
            self.assertNotIn("noexec", done.stderr)

    def test_the_line_of_the_readme_for_bwrap(self):
        """Without the directory of MPS: bwrap itself has no `noexec`."""
        (self.tree / "tmp/nvidia-mps").rmdir()
        self.write()
        self.need_sandboxes()
        self.check(self.line("words=$(cdi args --for bwrap "), SHOWN[:-1])


if __name__ == "__main__":
    unittest.main()
