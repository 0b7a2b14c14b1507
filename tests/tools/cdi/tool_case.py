# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A test case with a folder of its own, for tests that run `cdi`."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

CDI = os.path.abspath(sys.argv.pop(1))


class ToolCase(unittest.TestCase):
    """Runs `cdi` in an empty folder."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cdi-test-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def get(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def files(self, folder):
        """The names in a folder; none if it is missing."""
        return sorted(os.listdir(self.path(folder))) if os.path.isdir(self.path(folder)) else []

    def run_cdi(self, *args, expect=0, given=""):
        """Runs cdi in the folder. Returns standard output and standard error."""
        done = subprocess.run([CDI, *args], input=given, text=True, timeout=20, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, expect, done.stderr)
        if expect in (1, 2):
            self.assertEqual(done.stdout, "")
            self.assertNotEqual(done.stderr, "")
        return done.stdout, done.stderr

    def json_of(self, *args, **options):
        """The JSON that cdi prints."""
        return json.loads(self.run_cdi(*args, "-o", "json", **options)[0])
