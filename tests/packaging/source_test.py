#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests packaging/source.sh: archives are reproducible, and their files agree on the version."""
import configparser
import hashlib
import os
import pathlib
import re
import shutil
import sys
import tarfile
import time
import unittest

sys.dont_write_bytecode = True
from project import (CLEAN_GIT, NAME, RELEASE, ROOT,  # noqa: E402
                     PackagingTest, commit_all, copy_project, project_files)

ARCHIVE = f"{NAME}-{RELEASE}.tar.gz"
FILES = {ARCHIVE, f"{NAME}.wrap", "cdi.hpp", "SHA256SUMS"}

class Source(PackagingTest):

    def setUp(self):
        super().setUp()
        self.tree = self.folder / "tree"
        copy_project(self.tree)
        commit_all(self.tree)

    def release(self, out, *options, fails=False):
        return self.run_in(self.folder, f"{self.tree}/packaging/source.sh", *options, out,
                           fails=fails, env=CLEAN_GIT)

    def change(self, name, old, new):
        """Changes a file and commits it."""
        path = self.tree / name
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text, name)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        commit_all(self.tree)

    def files(self, out):
        return {path.name: path.read_bytes() for path in (self.folder / out).iterdir()}

    def test_the_same_bytes_twice(self):
        self.release("one", "--trial")
        # Another clone, with another path, other times and another environment.
        clone = self.folder / "clone"
        self.run_in(self.folder, "git", "clone", "-q", str(self.tree), str(clone), env=CLEAN_GIT)
        for path in clone.rglob("*"):
            if ".git" not in path.parts:
                os.utime(path, (0, time.time() // 2))
        output = self.run_in(self.folder, "sh", "-c",
                             f"umask 077; exec {clone}/packaging/source.sh --trial two",
                             env={**CLEAN_GIT, "TZ": "Asia/Tokyo", "LC_ALL": "C", "GZIP": "-1"})
        one, two = self.files("one"), self.files("two")
        self.assertEqual(set(one), FILES)
        self.assertEqual(one, two)
        self.assertEqual(output.encode(), one["SHA256SUMS"])

    def test_contents(self):
        self.release("out", "--trial")
        files = self.files("out")
        for line in files["SHA256SUMS"].decode().splitlines():
            digest, name = line.split()
            self.assertEqual(hashlib.sha256(files[name]).hexdigest(), digest, name)
        wrap = configparser.ConfigParser()
        wrap.read_string(files[f"{NAME}.wrap"].decode())
        self.assertEqual(wrap["wrap-file"]["source_hash"],
                         hashlib.sha256(files[ARCHIVE]).hexdigest())
        overridden = {name for path in ("include/meson.build", "src/meson.build")
                      for name in re.findall(r"meson\.override_dependency\('([^']+)'",
                                             (ROOT / path).read_text(encoding="utf-8"))}
        self.assertEqual(set(wrap["provide"]["dependency_names"].split(", ")), overridden)
        with tarfile.open(self.folder / "out" / ARCHIVE) as archive:
            names = {name.partition("/")[2] for name in archive.getnames()}
            tops = {name.partition("/")[0] for name in archive.getnames()}
        self.assertEqual(tops, {wrap["wrap-file"]["directory"]})
        self.assertLessEqual(set(project_files()), names)
        header = files["cdi.hpp"]
        self.assertTrue(header.startswith(f"// cdi {RELEASE} ".encode()))
        self.assertNotIn(b"#include <cdi/", header)
        # Bodies follow the declarations; those for the library alone come last.
        declarations, _, bodies = header.partition(b"\n#if CDI_BODIES\n")
        self.assertNotRegex(declarations, rb"// ---- cdi/\S+\.inl\n")
        _, between, more = bodies.partition(b"\n#endif  // CDI_BODIES\n\n#ifdef CDI_SOURCE\n")
        self.assertTrue(between)
        self.assertTrue(more.endswith(b"\n#endif  // CDI_SOURCE\n"))
        doors = "".join(path.read_text("utf-8") for path in (ROOT / "include/cdi").glob("*.hpp"))
        for header in re.findall(r"#include <(cdi/\w+/\S+\.hpp)>", doors):
            self.assertIn(f"\n// ---- {header}\n".encode(), files["cdi.hpp"])

    def test_files_that_disagree_are_refused(self):
        ours, abi = RELEASE, "v" + RELEASE.replace(".", "_")
        other = re.sub(r"\d+$", "99", ours)
        rpm = f"packaging/{NAME}.spec"
        for name, text in (
                ("meson.build", f"version: '{ours}'"),
                ("conanfile.py", f'version = "{ours}"'),
                ("CHANGELOG.md", f"## {ours}"),
                (f"packaging/vcpkg/{NAME}/vcpkg.json", f'"version": "{ours}"'),
                (rpm, f"Version:        {ours}"),
                (rpm, f" - {ours}-1"),
                *((f"tools/{tool}/deploy/{file}", f"cdi-{tool}:{ours}")
                  for tool in ("dra", "nri") for file in ("Containerfile", f"cdi-{tool}.yaml")),
                ("docs/cdi-dra.md", f"cdi-dra:{ours}"),
                ("docs/install.md", f"{NAME}-{ours}.tar.gz"),
                ("docs/install.md", f"{NAME}/{ours}`"),
                ("docs/install.md", f"{NAME}/{ours}\n"),
                ("docs/install.md", f"GIT_TAG v{ours}"),
                ("docs/install.md", f"cdi-tools-{ours}-"),
                ("docs/cdi.h.3", f"{NAME} {ours}"),
                ("docs/abi.md", f"`cdi::{abi}`"),
                ("include/cdi/version.hpp", f"CDI_ABI {abi}")):
            with self.subTest(name, text=text):
                wrong = text.replace(ours, other).replace(abi, "v" + other.replace(".", "_"))
                self.change(name, text, wrong)
                output = self.release("out", "--trial", fails=True)
                place = "CDI_ABI" if name == "include/cdi/version.hpp" else name
                self.assertIn(f"source.sh: {place} has version '", output)
                self.assertFalse((self.folder / "out").exists())
                self.change(name, wrong, text)
        self.change("include/cdi/cdi.h", "CDI_VERSION_PATCH ", "CDI_VERSION_PATCH 9")
        self.assertIn("source.sh: include/cdi/cdi.h has version '9",
                      self.release("out", "--trial", fails=True))

    def test_uncommitted_or_unreleased_files_are_refused(self):
        heading = re.search(r"^## .*$", (self.tree / "CHANGELOG.md").read_text(encoding="utf-8"),
                            re.M)[0]
        self.change("CHANGELOG.md", heading, f"## {RELEASE}, not yet released")
        self.assertIn("CHANGELOG.md", self.release("out", fails=True))
        self.change("CHANGELOG.md", f"## {RELEASE}, not yet released", f"## {RELEASE}, 2026-11-21")
        pages = [self.tree / "README.md", *self.tree.glob("docs/*.md")]
        programs = {name for page in pages for name in re.findall(
            r"`g\+\+ [^`]* -o ([^` ]+)`", page.read_text(encoding="utf-8"))}
        self.assertIn("inject", programs)
        for name in programs:  # that a reader has compiled are no part of the project
            (self.tree / name).touch()
        self.release("released")
        (self.tree / "include/cdi/new.hpp").touch()
        self.assertIn("not committed:\n?? include/cdi/new.hpp", self.release("out", fails=True))
        self.assertFalse((self.folder / "out").exists())

    def test_nothing_is_made_if_git_or_python_fails(self):
        (self.folder / "bin").mkdir()
        python = self.folder / "bin/python3"
        python.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        python.chmod(0o755)
        self.run_in(self.folder, f"{self.tree}/packaging/source.sh", "--trial", "out", fails=True,
                    env={**CLEAN_GIT, "PATH": f"{python.parent}:{CLEAN_GIT['PATH']}"})
        self.assertFalse((self.folder / "out").exists())
        shutil.rmtree(self.tree / ".git")
        self.assertIn("git status failed", self.release("out", "--trial", fails=True))
        self.assertFalse((self.folder / "out").exists())

    def test_usage(self):
        for wrong in ([], ["--what", "out"], ["out", "more"], ["--trial"]):
            with self.subTest(wrong):
                self.assertIn("usage: source.sh", self.run_in(
                    self.folder, f"{self.tree}/packaging/source.sh", *wrong, fails=True))


class Wraps(unittest.TestCase):
    """The Meson wraps of the library's dependencies."""

    def test_wraps_provide_the_dependencies_of_meson_build(self):
        asked = set(re.findall(r"dependency\('([^']+)', version",
                               (ROOT / "meson.build").read_text(encoding="utf-8")))
        found = set()
        for path in (ROOT / "subprojects").glob("*.wrap"):
            wrap = configparser.ConfigParser()
            wrap.read(path)
            found |= set(wrap["provide"])
            kind = "wrap-file" if "wrap-file" in wrap else "wrap-git"
            files = wrap[kind].get("patch_directory")
            if files:
                patch = pathlib.Path(path.parent, "packagefiles", files, "meson.build")
                provided = list(wrap["provide"].values())[0]
                self.assertIn(f"{provided} = declare_dependency", patch.read_text(encoding="utf-8"))
            if kind == "wrap-file":
                self.assertRegex(wrap[kind]["source_hash"], r"^[0-9a-f]{64}$")
        self.assertEqual(found, asked)


if __name__ == "__main__":
    unittest.main(verbosity=2)
