# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: the project's files, the README's code, and programs to run."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = "container-device-interface"
CONSUMERS = ROOT / "packaging" / "test_package"  # core.cpp and cdi.cpp, which exit 0
RELEASE = ".".join(re.findall(r"define CDI_VERSION_\w+ (\d+)",
                              (ROOT / "include/cdi/version.hpp").read_text(encoding="utf-8")))


def readme_block(heading, language, number=0):
    """The code of a language under a heading of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    _, found, section = text.partition(f"\n### {heading}\n")
    assert found, f"README.md has no heading {heading}"
    section = re.split(r"\n##", section)[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.S)[number]


def copy_project(folder):
    """The files of the working tree that a release has, without what was built in it."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".git", "build", "build-*"))


class PackagingTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cdi-packaging-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_in(self, folder, *command, fails=False, **options):
        """What a command printed; the test fails when it does not end as it should."""
        done = subprocess.run(command, cwd=folder, text=True, timeout=600, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        self.assertEqual(done.returncode != 0, fails, f"{command}\n{done.stdout[-4000:]}")
        return done.stdout
