#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of commands that may change some of their files, but not all. usage: half_done_test.py CDI

Another user than root runs the commands, in a directory of its own and one of root.
"""
import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from cdi_case import CDI, CdiCase  # noqa: E402

NOBODY = 65534
SPEC = """# cdi-publisher/owner: cdi
cdiVersion: 0.5.0
kind: vendor.com/{0}
devices:
- {{name: "0", containerEdits: {{mounts: [{{hostPath: /usr/lib, containerPath: /lib, \
options: [bind]}}]}}}}
"""


class HalfDone(CdiCase):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("only root can run a program as another user")
        try:
            subprocess.run([CDI, "--version"], user=NOBODY, stdout=subprocess.DEVNULL, check=True)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("no other user can run the program")
        for name in ("own", "theirs"):
            self.put(f"{name}/{name}.yaml", SPEC.format(name))
        self.put("theirs/config.json", "{}")
        os.chmod(self.folder, 0o755)
        for name in ("own", "own/own.yaml"):
            os.chown(self.path(name), NOBODY, NOBODY)

    def fail_as_nobody(self, *words):
        """What a command that fails prints on standard error."""
        done = subprocess.run([CDI, *words], user=NOBODY, group=NOBODY, extra_groups=[], text=True,
                              cwd=self.folder, capture_output=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn("theirs", done.stderr)
        self.assertIn("Permission denied", done.stderr)
        self.assertEqual(self.get("theirs/theirs.yaml"), SPEC.format("theirs"))
        self.assertEqual(self.files("theirs"), ["config.json", "theirs.yaml"])
        return done.stderr

    def test_what_was_done_is_said(self):
        dirs = ("-d", "own", "-d", "theirs")
        for words, said in (
                (("gc", "--owner", "cdi", *dirs), "own/own.yaml: already removed"),
                (("remove", *dirs, "own/own.yaml", "theirs/theirs.yaml"),
                 "own/own.yaml: already removed"),
                (("transform", "root", "--in-place", "/usr", "/x", "own/own.yaml",
                  "theirs/theirs.yaml"), "own/own.yaml: already rewritten")):
            with self.subTest(words):
                own = self.put("own/own.yaml", SPEC.format("own"))
                os.chown(own, NOBODY, NOBODY)
                self.assertIn(f"cdi: warning: {said}\n", self.fail_as_nobody(*words))
                self.assertNotEqual(pathlib.Path(own).exists() and self.get("own/own.yaml"),
                                    SPEC.format("own"))

    def test_a_file_that_cannot_be_replaced_stays(self):
        for words in (("convert", "--in-place", "--to", "0.7.0", "theirs/theirs.yaml"),
                      ("convert", "--in-place", "--backup", "--to", "0.7.0", "theirs/theirs.yaml"),
                      ("inject", "-d", "own", "--in-place", "theirs/config.json", "vendor.com/own=0"),
                      ("write", "-d", "theirs", "own/own.yaml"),
                      ("write", "-d", "theirs/new", "own/own.yaml")):
            with self.subTest(words):
                said = self.fail_as_nobody(*words)
                self.assertEqual(said.count("this process is user"), 1, said)
                self.assertEqual(self.get("theirs/config.json"), "{}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
