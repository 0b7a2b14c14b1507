# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Shared by the tests of this folder: the project's files, code of docs/install.md, and a base
class that runs commands."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = "container-device-interface"
CONSUMERS = ROOT / "packaging" / "test_package"  # one program for each component; each exits with 0
# What an installation has: the C library is a package of its own.
HEADERS = {str(path.relative_to(ROOT)) for path in (ROOT / "include").rglob("*.*")
           if path.suffix in (".hpp", ".inl") and path.parent.name != "c"}
# For a build of the library of which a test asks only whether it links and runs: clang++ takes half
# the time of g++.
QUICK = shutil.which("clang++") or "c++"
RELEASE = ".".join(re.findall(r"define CDI_VERSION_\w+ (\d+)",
                              (ROOT / "include/cdi/version.hpp").read_text(encoding="utf-8")))


def install_block(heading, language, number=0):
    """A code block of the given language under a heading of docs/install.md."""
    text = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    _, found, section = text.partition(f"\n### {heading}\n")
    assert found, f"docs/install.md has no heading {heading}"
    section = re.split(r"\n##", section)[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.S)[number]


# An environment without the user's git configuration. A repository may belong to another user, as
# in a container.
CLEAN_GIT = {**{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
             "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
             "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory",
             "GIT_CONFIG_VALUE_0": "*",
             "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@t",
             "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@t"}


def project_files():
    """The files of a release, relative to the root: those that git tracks or would add."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
                            env=CLEAN_GIT)
    names = listed.stdout.splitlines() if (ROOT / ".git").exists() else [
        str(path.relative_to(ROOT)) for path in ROOT.rglob("*")
        if path.parts[len(ROOT.parts)] not in ("build", ".git")]
    assert names, "git does not list the files of the project"
    return [name for name in names if (ROOT / name).is_file()]


def copy_project(folder):
    """Copies the files of a release from the working tree to a new folder."""
    for name in project_files():
        to = pathlib.Path(folder, name)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, to)
        to.chmod(to.stat().st_mode | 0o200)  # the source tree may be read-only


def commit_all(tree):
    """Commits all files of a folder, and makes it a git repository if it is not one."""
    for command in (["init", "-q"], ["add", "-A"], ["commit", "--allow-empty", "-qm", "all"]):
        subprocess.run(["git", *command], cwd=tree, check=True, env=CLEAN_GIT)


class PackagingTest(unittest.TestCase):
    """A test with a temporary folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cdi-packaging-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_in(self, folder, *command, fails=False, **options):
        """Returns the output of a command. The test fails unless the command exits as expected."""
        done = subprocess.run(command, cwd=folder, text=True, timeout=600, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        self.assertEqual(done.returncode != 0, fails, f"{command}\n{done.stdout[-4000:]}")
        return done.stdout
