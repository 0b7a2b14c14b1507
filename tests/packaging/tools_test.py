#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests which files `meson install` installs for the tools: tools_test.py BUILD"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from project import RELEASE, ROOT, PackagingTest  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1))
TOOLS = ["cdi", "cdi-pod", "cdi-prepare"]
PAGES = ["man1/cdi.1", "man1/cdi-pod.1", "man8/cdi-prepare.8"]
# Each unit, and the program that it starts.
UNITS = {"cdi-prepare-watch.service": "cdi-prepare", "cdi-prepare.path": None,
         "cdi-prepare.service": "cdi-prepare"}
if (BUILD / "tools/dra/cdi-dra").exists():  # gRPC is installed
    TOOLS.append("cdi-dra")
    PAGES.append("man8/cdi-dra.8")
if (BUILD / "tools/nri/cdi-nri").exists():  # protobuf is installed
    TOOLS.append("cdi-nri")
    PAGES.append("man8/cdi-nri.8")
    UNITS["cdi-nri.service"] = "cdi-nri"


class Tools(PackagingTest):

    def test_programs_units_and_rules(self):
        self.run_in(BUILD, "meson", "install", "--no-rebuild", "--tags", "runtime,man",
                    "--destdir", str(self.folder))
        options = json.loads(self.run_in(BUILD, "meson", "introspect", "--buildoptions"))
        prefix = next(option["value"] for option in options if option["name"] == "prefix")
        usr = self.folder / prefix.lstrip("/")
        found = {str(path.relative_to(usr)) for path in usr.rglob("*") if path.is_file()}
        completions = {f"share/{place.format(name)}" for name in TOOLS for place in (
            "bash-completion/completions/{}", "zsh/site-functions/_{}",
            "fish/vendor_completions.d/{}.fish")}
        vendors = {f"share/cdi-prepare/vendor-files/{path.name}"
                   for path in ROOT.glob("tools/prepare/vendor-files/*.toml")}
        self.assertEqual(found, {*vendors, *(f"bin/{name}" for name in [*TOOLS, "cdi-runtime"]),
                                 *completions, *(f"share/man/{page}" for page in PAGES),
                                 "lib/udev/rules.d/90-cdi-prepare.rules",
                                 *(f"lib/systemd/system/{name}" for name in UNITS)})
        for name, program in UNITS.items():
            text = (usr / "lib/systemd/system" / name).read_text(encoding="ascii")
            commands = [line.split()[0] for line in text.splitlines()
                        if line.startswith("ExecStart=")]
            self.assertEqual(commands, [f"ExecStart={prefix}/bin/{program}"] if program else [],
                             name)
        for name in TOOLS:
            self.assertIn(RELEASE, self.run_in(usr, f"bin/{name}", "--version"))


class DebianPackages(PackagingTest):

    def test_a_failed_build_says_why(self):
        """The log is in a folder that the script removes."""
        if not (ROOT / ".git").exists():
            self.skipTest("not a clone of the repository")
        programs, temporary = self.folder / "bin", self.folder / "tmp"
        for folder in (programs, temporary):
            folder.mkdir()
        for name, text in {"dh": "", "dpkg-buildpackage": "seq 100 140; exit 3"}.items():
            (programs / name).write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
            (programs / name).chmod(0o755)
        done = subprocess.run(
            [ROOT / "packaging/deb.sh", self.folder / "out"], capture_output=True, text=True,
            timeout=60, check=False,
            env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "TMPDIR": temporary})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        said = done.stderr.splitlines()
        self.assertTrue(all(line.startswith("deb.sh: ") for line in said[:2]), said)
        self.assertEqual(said[2:], [str(number) for number in range(111, 141)])
        self.assertEqual(list(temporary.iterdir()), [])
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
