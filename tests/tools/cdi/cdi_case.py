# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A test case for tests that run `cdi`, the first argument of their script."""
import json
import os
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from tool_case import ToolCase  # noqa: E402  pylint: disable=wrong-import-position

CDI = os.path.abspath(sys.argv.pop(1))


class CdiCase(ToolCase):
    """Runs `cdi` in an empty folder, with options of the class or object."""

    options = ()

    def run_cdi(self, *args, expect=0, **more):
        """Returns standard output and standard error."""
        done = self.run_tool(CDI, *self.options, *args, expect=expect, **more)
        if expect in (1, 2):
            self.assertEqual(done.stdout, "")
            self.assertNotEqual(done.stderr, "")
        return done.stdout, done.stderr

    def json_of(self, *args, **options):
        """The JSON that cdi prints."""
        return json.loads(self.run_cdi(*args, "-o", "json", **options)[0])
