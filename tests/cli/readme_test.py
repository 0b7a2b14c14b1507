#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0
"""The README's first code is examples/inject.cpp, and does what the README says.

usage: readme_test.py INJECT PROJECT
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

INJECT, PROJECT = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))


def run(config, *names):
    return subprocess.run([INJECT, *names], input=json.dumps(config), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Readme(unittest.TestCase):
    def test_first_code_is_the_example(self):
        blocks = re.findall(r"```cpp\n(.*?)```", (PROJECT / "README.md").read_text(), re.S)
        self.assertEqual(blocks[0], (PROJECT / "examples/inject.cpp").read_text())

    def test_edits_are_applied_and_members_stay(self):
        done = run({"unknown": [1, None], "process": {"env": ["A=1"], "cwd": "/"}})
        if "no host device" in done.stderr:
            self.skipTest("the host has no /dev/fuse")
        config = json.loads(done.stdout)
        self.assertEqual(list(config), ["unknown", "process", "linux"])
        self.assertEqual(config["unknown"], [1, None])
        self.assertEqual(config["process"]["env"], ["A=1", "GREETING=hello"])
        self.assertEqual(config["linux"]["devices"][0]["path"], "/dev/fuse")

    def test_an_unknown_name_is_an_error(self):
        done = run({}, "no-such-vendor.example.com/device=one")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn('no spec of kind "no-such-vendor.example.com/device"', done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
