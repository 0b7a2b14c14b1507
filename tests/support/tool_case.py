# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What tests of command lines share: a folder of their own, and programs that run in it."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest


class ToolCase(unittest.TestCase):
    """Runs programs in an empty folder, which is made in `parent`."""

    parent = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cdi-test-", dir=self.parent))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, content=""):
        """Writes a file: a text, or a value as JSON."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return self.path(name)

    def get(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def files(self, folder):
        """The names in a folder; none if it is missing."""
        return sorted(os.listdir(self.path(folder))) if os.path.isdir(self.path(folder)) else []

    def run_tool(self, *command, expect=0, given="", **more):
        """Runs a program in the folder. Returns the `subprocess.CompletedProcess`. With the exit
        code None, any code is right."""
        if "stdin" not in more:
            more["input"] = given
        done = subprocess.run(command, **{
            "text": True, "timeout": 60, "cwd": self.folder, "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE, **more})
        if expect is not None:
            self.assertEqual(done.returncode, expect, done.stderr)
        return done
