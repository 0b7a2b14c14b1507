#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Twice as many hooks cost `cdi inject --hooks replace` twice as much.

valgrind counts the instructions. usage: hook_cost_test.py CDI
"""
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

import growth

CDI = sys.argv.pop(1)
FEW = 60
MOST = 2.2  # times as much for twice as many; a sort costs a little more than twice
DEEP = "/a" * 20


def hooks(count):
    """Hooks of each class that can be many, and as many that stay."""
    for i in range(count):
        for args in (["create-symlinks", "--link", f"t::/l/{i}"],
                     ["create-symlinks", "--link", f"t{i}::/one"],
                     ["create-symlinks", "--link", f"t::{DEEP}/{i}"],
                     ["create-symlinks", "--link", f"t::/l/{i}/below"],
                     ["create-symlinks", "--link", f"n{i}::/dev/l{i}"],
                     ["update-ldcache", "--folder", f"/f/{i}"],
                     ["chmod", "--mode", "755", "--path", f"/f/{i}"],
                     ["apply-cuda-memory-limits", "--gpu-id", str(i)],
                     ["other", str(i)]):
            yield {"hookName": "createContainer", "path": "/usr/bin/nvidia-cdi-hook",
                   "args": ["nvidia-cdi-hook", *args]}


@unittest.skipUnless(shutil.which("valgrind"), "needs valgrind")
class HookCost(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="cdi-hook-cost-")
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        (self.folder / "rootfs").mkdir()
        self.config = self.folder / "config.json"

    def measure(self, count):
        (self.folder / "v.json").write_text(json.dumps({
            "cdiVersion": "0.5.0", "kind": "v.com/c",
            "devices": [{"name": "d", "containerEdits": {"hooks": list(hooks(count))}}]}))
        self.config.write_text(json.dumps({
            "ociVersion": "1.0.2", "root": {"path": "rootfs"},
            "process": {"env": [f"A{i}=1" for i in range(count)]},
            "mounts": [{"destination": "/dev", "type": "tmpfs"},
                       *({"destination": f"/m/{i}", "type": "bind"} for i in range(count))],
            "linux": {"devices": [{"path": f"/dev/n{i}", "type": "c", "major": 1, "minor": i}
                                  for i in range(count)]}}))
        cost = growth.instructions(self, 0, CDI, "-d", self.folder, "inject", "--in-place",
                                   "--hooks", "replace", self.config, "v.com/c=d")
        kept = json.loads(self.config.read_text())["hooks"]["createContainer"]
        self.assertEqual(len(kept), count)  # unknown commands
        return cost

    def test_twice_as_many_hooks_cost_twice_as_much(self):
        growth.check(self, "inject", [self.measure(FEW * n) for n in (1, 2, 4)], MOST)


if __name__ == "__main__":
    unittest.main(verbosity=2)
