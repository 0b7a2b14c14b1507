#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`cdi inject` looks a device node up once, and reads a spec file once; with `--diff`, it reads the
file again for the lines of its edits.

valgrind prints the system calls. usage: inject_once_test.py CDI
"""
import re
import shutil
import unittest

from cdi_case import CDI, CdiCase

NODE = "/dev/null"


@unittest.skipUnless(shutil.which("valgrind"), "needs valgrind")
class InjectOnce(CdiCase):
    def setUp(self):
        super().setUp()
        self.put("specs/v.json", {
            "cdiVersion": "0.5.0", "kind": "v.com/c",
            "devices": [{"name": "d", "containerEdits": {"deviceNodes": [{"path": NODE}]}}]})
        self.put("config.json", {"ociVersion": "1.0.2"})

    def calls(self, *options):
        """The system calls of an injection: a name and a path each."""
        done = self.run_tool("valgrind", "--tool=none", "--trace-syscalls=yes", CDI, "-d", "specs",
                             "inject", *options, "config.json", "v.com/c=d", timeout=120)
        return re.findall(r"sys_(\w+) \(.*?0x\w+\(([^)]*)\)", done.stderr)

    def test_with_and_without_a_diff(self):
        for options in (), ("-q",), ("-q", "--diff"), ("--diff",):
            with self.subTest(options):
                calls = self.calls(*options)
                opens = [path for name, path in calls
                         if name.startswith("open") and path.endswith("v.json")]
                self.assertEqual(len(opens), 2 if "--diff" in options else 1, calls)
                lookups = [name for name, path in calls if path == NODE]
                self.assertLessEqual(len(lookups), 1, calls)


if __name__ == "__main__":
    unittest.main(verbosity=2)
