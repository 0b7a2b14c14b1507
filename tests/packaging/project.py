# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: the project's files, the lines of docs/install.md, and programs to run."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = "container-device-interface"
CONSUMERS = ROOT / "packaging" / "test_package"  # programs for each way, which exit 0
HEADERS = {str(path.relative_to(ROOT)) for path in (ROOT / "include").rglob("*.hpp")}
RELEASE = ".".join(re.findall(r"define CDI_VERSION_\w+ (\d+)",
                              (ROOT / "include/cdi/version.hpp").read_text(encoding="utf-8")))


def install_block(heading, language, number=0):
    """The code of a language under a heading of docs/install.md."""
    text = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    _, found, section = text.partition(f"\n### {heading}\n")
    assert found, f"docs/install.md has no heading {heading}"
    section = re.split(r"\n##", section)[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.S)[number]


# For git and what calls it: nothing of the user's habits, and never the user's own repository.
NOBODY = {**{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
          "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
          "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@t",
          "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@t"}


def project_files():
    """The files that a release has, as paths from the root: those that git knows or would take."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
                            env=NOBODY)
    names = listed.stdout.splitlines() if (ROOT / ".git").exists() else [
        str(path.relative_to(ROOT)) for path in ROOT.rglob("*")
        if path.parts[len(ROOT.parts)] not in ("build", ".git")]
    return [name for name in names if (ROOT / name).is_file()]


def copy_project(folder):
    """Copies the files of a release from the working tree to a new folder."""
    for name in project_files():
        to = pathlib.Path(folder, name)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, to)
        to.chmod(to.stat().st_mode | 0o200)  # the tree may be one that nobody may write


def commit_all(tree):
    """Makes a repository of a folder, or one more commit there."""
    for command in (["init", "-q"], ["add", "-A"], ["commit", "--allow-empty", "-qm", "all"]):
        subprocess.run(["git", *command], cwd=tree, check=True, env=NOBODY)


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
