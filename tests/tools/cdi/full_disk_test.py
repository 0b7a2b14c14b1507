#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests that each command fails if its result cannot be written. usage: full_disk_test.py CDI"""
import json
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from cdi_case import CDI, CdiCase  # noqa: E402

SPEC = """cdiVersion: 0.6.0
kind: vendor.com/gpu
annotations: {cdi-publisher/owner: cdi}
devices:
- {name: "0", containerEdits: {env: [A=0], \
mounts: [{hostPath: /usr/lib, containerPath: /lib, options: [ro, bind]}]}}
"""
CONFIG = {"ociVersion": "1.0.2", "process": {"env": []}}
POLICY = {"rules": [{"name": "all", "allow": True, "devices": ["vendor.com/gpu=*"],
                     "edits": {"env": ["*"], "mounts": ["/"]}}]}
COMMANDS = """
devices | vendors | classes | specs | dirs | version | schema | schema policy
show vendor.com/gpu=0 | why vendor.com/gpu=0 | why --bundle bundle | why --pod default/one
validate | validate --rules | validate -o sarif
inject bundle/config.json vendor.com/gpu=0 | inject -o yaml bundle/config.json vendor.com/gpu=0
inject --diff bundle/config.json vendor.com/gpu=0
resolve vendor.com/gpu=0 | policy policy.json | policy policy.json vendor.com/gpu=0
args --for docker vendor.com/gpu=0 | args --for docker -0 vendor.com/gpu=0
names --from cuda --value 0 --kind vendor.com/gpu
names --from cuda --value 0 --kind vendor.com/gpu -0
new v.com/c --device 0=/dev/null
convert --to 0.7.0 specs/a.yaml | convert --for podman@5.5 specs/a.yaml
transform root /usr /b specs/a.yaml
gc --owner x | gc --state-dir root | wait vendor.com/gpu=0 | completion bash
"""
# These have changed files before they print what they did.
CHANGES = """
write new.yaml | remove vendor.com/gpu=0
transform root --in-place /usr /b specs/a.yaml | convert --in-place --backup --to 0.7.0 specs/a.yaml
"""


def rows(text):
    return [row.split() for line in text.strip().splitlines() for row in line.split(" | ")]


class FullDisk(CdiCase):
    def setUp(self):
        super().setUp()
        self.fill()

    def fill(self):
        self.put("specs/a.yaml", SPEC)
        self.put("new.yaml", SPEC.replace("vendor.com/gpu", "v.com/new"))
        self.put("bundle/config.json", json.dumps(CONFIG))
        self.put("policy.json", json.dumps(POLICY))
        self.put("root/x", "")

    def check(self, *words):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([CDI, "-d", "specs", *words], stdout=full, text=True,
                                  stderr=subprocess.PIPE, cwd=self.folder, timeout=60, check=False)
        self.assertIn("cannot write to standard output", done.stderr)
        self.errors = done.stderr
        return done.returncode

    def test_a_result_that_cannot_be_written_is_an_error(self):
        for words in rows(COMMANDS):
            with self.subTest(words):
                self.assertEqual(self.check(*words), 1)

    def test_a_change_that_cannot_be_reported_is_an_error(self):
        for words in rows(CHANGES):
            with self.subTest(words):
                self.fill()
                self.assertEqual(self.check(*words), 1)

    def test_a_backup_that_cannot_be_reported_is_named_beside_the_error(self):
        self.check("convert", "--in-place", "--backup", "--to", "0.7.0", "specs/a.yaml")
        self.assertRegex(self.errors, r"warning: specs/a\.yaml: already rewritten: its old text is in"
                                      r" \S+/specs/a\.yaml\.bak\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
