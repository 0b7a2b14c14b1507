#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The man pages of the tools: man and mandoc find no fault, and they have what the help has.

usage: man_test.py CDI CDI_PREPARE CDI_POD
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PAGES = {f"{name}.{section}": os.path.abspath(sys.argv.pop(1))
         for name, section in (("cdi", 1), ("cdi-prepare", 8), ("cdi-pod", 1))}
for name in ("cdi-nri", "cdi-dra"):  # if protobuf and gRPC are installed
    if sys.argv[1:] and sys.argv[1].endswith(name):
        PAGES[f"{name}.8"] = os.path.abspath(sys.argv.pop(1))
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXIT STATUS", "ENVIRONMENT",
            "FILES", "SEE ALSO"]


def printed(*command, **more):
    """What a command prints."""
    return subprocess.run(command, text=True, capture_output=True, check=True, **more).stdout


def words_of(text):
    """A text as words, so that line breaks do not matter."""
    return " ".join(text.split())


class ManPages(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cdi-man-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.pages = {}
        for name, tool in PAGES.items():
            text = printed(tool, "man-page", "2026-11-25")
            self.assertEqual(text, printed(tool, "man-page", "2026-11-25"))
            self.pages[name] = text
            (self.folder / name).write_text(text, encoding="ascii")

    def need(self, program):
        if not shutil.which(program):
            self.skipTest(f"{program} is not installed")

    def shown(self, name):
        """A page as man shows it, in one long line for each paragraph."""
        env = {**os.environ, "MANWIDTH": "2000", "LC_ALL": "C", "MANPAGER": "cat"}
        if subprocess.run(["man", "-l", self.folder / name], env=env, capture_output=True,
                          check=False).returncode:
            self.skipTest("man cannot show pages here")
        return printed("man", "-l", str(self.folder / name), env=env)

    def test_mandoc_finds_no_fault(self):
        self.need("mandoc")
        for name in PAGES:
            done = subprocess.run(["mandoc", "-Tlint", "-Wstyle", self.folder / name], text=True,
                                  capture_output=True, check=False)
            lines = [line for line in done.stdout.splitlines()
                     # Words longer than a line, as examples have, cannot be broken.
                     if "input text line longer than 80 bytes" not in line
                     and "referenced manual not found" not in line]
            self.assertEqual(lines, [], name)

    def test_groff_finds_no_fault(self):
        self.need("groff")
        for name in PAGES:
            done = subprocess.run(["groff", "-man", "-ww", "-b", "-z", "-Tascii",
                                   self.folder / name], text=True, capture_output=True,
                                  check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)

    def test_man_shows_them_without_a_warning(self):
        self.need("man")
        for name in PAGES:
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8",
                                   self.folder / name], text=True, capture_output=True,
                                  env={**os.environ, "LC_ALL": "C.UTF-8"}, check=False)
            if done.returncode:
                self.skipTest(f"man cannot show pages here: {done.stderr}")
            self.assertEqual(done.stderr, "", name)

    def test_sections(self):
        for name, text in self.pages.items():
            self.assertEqual(re.findall(r"^\.SH (.*)$", text, re.M), SECTIONS, name)
            title = name.rpartition(".")
            self.assertRegex(text, rf"(?m)^\.TH {title[0].upper()} {title[2]} 2026-11-25 "
                             .replace("-", r"\\?-"))

    def test_all_commands_and_options_of_the_help(self):
        self.need("man")
        for name, tool in PAGES.items():
            shown = self.shown(name)
            short = name.rpartition(".")[0]
            help_text = printed(tool, "--help")
            commands = re.search(r"(?ms)^Commands:\n(.*?)\n\n", help_text).group(1)
            commands = re.findall(r"^  ([\w-]+)", commands, re.M)
            self.assertEqual(re.findall(rf"(?m)^   {short} ([\w-]+)$", shown), commands, name)
            parts = re.split(rf"(?m)^   {short} [\w-]+$", shown)[1:]
            for command, part in zip(commands, parts, strict=True):
                wide = printed(tool, command, "--help", env={**os.environ, "COLUMNS": "100"})
                own = wide.split("\nOptions of all commands:")[0]
                for option in re.findall(r"^ {2,6}(-.*?)(?: {2}|$)", own, re.M):
                    if "--help" not in option:
                        self.assertIn(option, part, (command, option))
                self.assertIn("Example:", part, command)

    def test_exit_codes_are_those_of_the_help(self):
        self.need("man")
        for name, tool in PAGES.items():
            codes = printed(tool, "--help").partition("Exit codes:\n")[2]
            self.assertGreater(len(codes), 40)
            shown = words_of(self.shown(name).partition("EXIT STATUS")[2]).replace("`", "")
            self.assertTrue(shown.startswith(words_of(codes).replace("`", "")), (codes, shown))

    def test_all_exit_codes_of_cdi(self):
        """Also those that only some commands have: those in their help."""
        self.need("man")
        shown = self.shown("cdi.1").partition("EXIT STATUS")[2].partition("ENVIRONMENT")[0]
        codes = set(re.findall(r"(?m)^       (\d+)\b", shown))
        tables = [printed(PAGES["cdi.1"], command, "--help")
                  for command in ("why", "wait", "run", "inject")]
        in_help = set(re.findall(r"(?m)^  (\d+) ", "".join(tables)))
        self.assertEqual(codes, in_help)
        self.assertLessEqual({"0", "6", "10", "126", "127"}, codes)

    def test_environment_and_files(self):
        self.need("man")
        names = {"cdi.1": ("COLUMNS", "NO_COLOR", "TERM", "CUDA_VISIBLE_DEVICES"),
                 "cdi-prepare.8": ("COLUMNS", "NO_COLOR", "TERM"), "cdi-pod.1": ("COLUMNS",)}
        for page, variables in names.items():
            shown = self.shown(page).partition("ENVIRONMENT")[2].partition("FILES")[0]
            for variable in variables:
                self.assertRegex(shown, rf"(?m)^       {variable}\b", page)
        files = self.shown("cdi-prepare.8").partition("FILES")[2]
        for file in ("/etc/cdi-prepare.d", "/var/run/cdi", "/var/lib/cdi-prepare"):
            self.assertRegex(files, rf"(?m)^       {file}\b")


if __name__ == "__main__":
    unittest.main(verbosity=2)
