#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Help and usage errors of the tools.

usage: help_test.py CDI CDI_PREPARE CDI_POD
"""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unittest

TOOLS = {name: os.path.abspath(sys.argv.pop(1)) for name in ("cdi", "cdi-prepare", "cdi-pod")}
for name in ("cdi-nri", "cdi-dra"):  # if protobuf and gRPC are installed
    if sys.argv[1:] and sys.argv[1].endswith(name):
        TOOLS[name] = os.path.abspath(sys.argv.pop(1))
PLAIN = {key: value for key, value in os.environ.items() if key != "COLUMNS"}


def help_of(tool, *command, **more):
    """The help of a command."""
    return subprocess.run([TOOLS[tool], *command, "--help"], text=True, capture_output=True,
                          check=True, env={**PLAIN, **more}).stdout


def commands_of(tool):
    """The commands in a tool's help."""
    rows = re.search(r"(?ms)^Commands:\n(.*?)\n\n", help_of(tool)).group(1)
    return re.findall(r"^  ([\w-]+)", rows, re.M)


def on_terminal(columns, *command):
    """What a command prints on a terminal of so many columns."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(command, stdout=child, stdin=child, env=PLAIN) as done:
        os.close(child)
        out = b""
        while True:
            try:
                part = os.read(parent, 65536)
            except OSError:  # the end
                break
            if not part:
                break
            out += part
    os.close(parent)
    assert done.returncode == 0
    return out.decode().replace("\r\n", "\n")


def widest(text):
    """The length of the longest line that could be wrapped: lines of examples are printed as they
    are."""
    text = re.sub(r"(?m)^Example:\n(  .*\n)+", "", text)
    return max(map(len, text.splitlines()))


class Help(unittest.TestCase):

    def test_output_that_cannot_be_written_is_an_error(self):
        for tool, program in TOOLS.items():
            for word in ("--help", "--version"):
                with self.subTest(f"{tool} {word}"), open("/dev/full", "wb") as full:
                    done = subprocess.run([program, word], text=True, stdout=full, check=False,
                                          stderr=subprocess.PIPE)
                    self.assertEqual((done.returncode, done.stderr),
                                     (1, f"{tool}: error: cannot write to standard output\n"))

    def test_words_stay_whole(self):
        for tool in TOOLS:
            for command in commands_of(tool):
                known = set(help_of(tool, command, COLUMNS="100").split())
                for columns in (40, 60, 80):
                    text = help_of(tool, command, COLUMNS=str(columns))
                    self.assertLessEqual(set(text.split()), known, (tool, command))

    def test_width_of_the_terminal(self):
        for columns, least, most in ((40, 30, 40), (80, 70, 80), (200, 90, 100), (20, 30, 40)):
            with self.subTest(columns):
                width = widest(on_terminal(columns, TOOLS["cdi"], "inject", "--help"))
                self.assertTrue(least < width <= most, width)

    def test_width_without_a_terminal(self):
        for columns, least, most in ((None, 70, 80), ("60", 50, 60), ("500", 90, 100),
                                     ("wide", 70, 80), ("0", 70, 80), ("-5", 70, 80)):
            with self.subTest(columns):
                more = {} if columns is None else {"COLUMNS": columns}
                width = widest(help_of("cdi", "inject", **more))
                self.assertTrue(least < width <= most, width)

    def test_each_command_fits_80_columns_and_has_an_example(self):
        lacking = []
        for tool in TOOLS:
            for command in commands_of(tool):
                text = help_of(tool, command)
                self.assertLessEqual(widest(text), 80, (tool, command))
                self.assertIn(f"Usage: {tool} {command}", text)
                self.assertLessEqual(text.count("\nExample:\n"), 1, (tool, command))
                if not re.search(rf"(?m)^Example:\n(  .*\n)*?.*\b{tool} {command}\b", text):
                    lacking.append(f"{tool} {command}")
        self.assertEqual(lacking, [], "these commands lack an example: see `Command::example`")

    def test_options_of_all_commands_are_in_the_help_of_each(self):
        for command in commands_of("cdi"):
            text = help_of("cdi", command)
            self.assertIn("\nOptions of all commands:\n", text)
            for option in ("-d, --spec-dir DIR", "-o, --output FORMAT", "    --quarantine",
                           "    --refuse-writable"):
                self.assertEqual(text.count(f"\n  {option}  "), 1, (command, option))

    def test_facts_about_options(self):
        text = " ".join(help_of("cdi", "inject").split())
        self.assertIn("the policy (field, annotation, variable, commandLine; default: "
                      "commandLine; needs --policy)", text)
        self.assertIn("Usage: cdi args --for PROGRAM [OPTIONS] NAME...", help_of("cdi", "args"))
        self.assertIn("Usage: cdi run [OPTIONS] NAME... -- COMMAND", help_of("cdi", "run"))
        self.assertIn("Usage: cdi new --device NAME=HOST[:CONTAINER[:PERMISSIONS]] [OPTIONS] KIND",
                      help_of("cdi", "new"))
        self.assertIn("--mount HOST:CONTAINER[:OPTIONS]", help_of("cdi", "new"))
        self.assertIn("(exactly one is required)", help_of("cdi", "convert"))
        self.assertIn("Usage: cdi validate [OPTIONS] [FILE...]", help_of("cdi", "validate"))
        self.assertEqual(help_of("cdi", "convert").count("--help"), 1)
        self.assertEqual(help_of("cdi", "convert").count("known engine version:"), 1)
        self.assertEqual(help_of("cdi", "convert").count("Exit codes:"), 1)

    def test_a_note_is_printed_once(self):
        for tool in TOOLS:
            for command in commands_of(tool):
                text = help_of(tool, command)
                parts = text.split("\n\n")
                self.assertEqual(len(parts), len(set(parts)), (tool, command))
                self.assertEqual(text.count("Usage: "), 1, (tool, command))

    def test_help_speaks_only_of_options_that_the_command_has(self):
        for tool in TOOLS:
            for command in commands_of(tool):
                text = help_of(tool, command, COLUMNS="100")
                has = set(re.findall(r"(?m)^  (?:-\w, |    )(--[\w-]+)", text))
                if (tool, command) == ("cdi", "version"):
                    has.add("--version")  # of the tool
                own = re.sub(r"`[^`]*`|(?ms:^Example:.*?\n\n)", "", text)
                self.assertLessEqual(set(re.findall(r"--[a-z][\w-]*", own)), has, (tool, command))

    def test_the_hidden_command_is_not_listed(self):
        for tool in TOOLS:
            self.assertNotIn("man-page", help_of(tool))


class UsageErrors(unittest.TestCase):

    def wrong(self, tool, *arguments):
        """What a tool prints on standard error for a wrong command line."""
        done = subprocess.run([TOOLS[tool], *arguments], text=True, capture_output=True,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr

    def test_near_words(self):
        for arguments, said in (
                (["cdi", "devcies"], '"devcies" is not a command: did you mean devices?'),
                (["cdi", "dev"], '"dev" is not a command: did you mean devices?'),
                (["cdi", "ls"], '"ls" is not a command: did you mean devices?'),
                (["cdi", "list"], '"list" is not a command: did you mean devices?'),
                (["cdi-prepare", "ls"], '"ls" is not a command: did you mean list?'),
                (["cdi", "help"], '"help" is not a command: use `cdi --help`'),
                (["cdi", "help", "inject"], '"help" is not a command: use `cdi inject --help`'),
                (["cdi", "help", "devices"], '"help" is not a command: use `cdi devices --help`'),
                (["cdi-prepare", "help"], '"help" is not a command: use `cdi-prepare --help`'),
                (["cdi-prepare", "help", "write"],
                 '"help" is not a command: use `cdi-prepare write --help`'),
                (["cdi", "--spec-dri", "x", "devices"],
                 '"--spec-dri" is not an option of cdi devices: did you mean --spec-dir?'),
                (["cdi", "inject", "--in-palce", "a", "b"],
                 '"--in-palce" is not an option of cdi inject: did you mean --in-place?'),
                (["cdi", "inject", "--in-palce=1", "a", "b"],
                 '"--in-palce=1" is not an option of cdi inject: did you mean --in-place?'),
                (["cdi", "devices", "--qarantine"],
                 '"--qarantine" is not an option of cdi devices: did you mean --quarantine?'),
                (["cdi", "-o", "jsn", "devices"],
                 '--output: "jsn" is none of text, json, yaml: did you mean json?'),
                (["cdi", "args", "--for", "bwra", "a/b=c"], "did you mean bwrap?"),
                (["cdi", "transform", "rot"], '"rot" is not a command: did you mean root?'),
                (["cdi", "transform", "root", "--relative", "a", "b"], "did you mean --relative-to?"),
                (["cdi", "validate", "--ruels"], "did you mean --rules?"),
                (["cdi", "validate", "--quite"], "did you mean --quiet?"),
                (["cdi", "names", "--form", "cuda"], "did you mean --from"),
                (["cdi-prepare", "lsit"], '"lsit" is not a command: did you mean list?'),
                (["cdi", "why", "--for", "podmna", "a/b=c"],
                 'engine "podmna" is not known: did you mean podman?\n'),
                (["cdi", "convert", "--for", "dokcer@28", "a.yaml"],
                 'engine "dokcer" is not known: did you mean docker?\n'),
                (["cdi-prepare", "detcet"], '"detcet" is not a command: did you mean detect?'),
                (["cdi-prepare", "write", "--dry-rnu"],
                 '"--dry-rnu" is not an option of cdi-prepare write: did you mean --dry-run?'),
                (["cdi-prepare", "--root", "n8", "detect"],
                 '"--root" is before the command: put it after the command: cdi-prepare detect '
                 "--root"),
                (["cdi", "convert", "--to", "0.9.0"],
                 '--to: "0.9.0" is none of 0.3.0, 0.4.0, 0.5.0, 0.6.0, 0.7.0, 0.8.0, 1.0.0, '
                 "1.1.0"),
                (["cdi-pod", "gest"], '"gest" is not a command: did you mean guest?'),
                (["cdi-pod", "size", "--formla", "x"],
                 '"--formla" is not an option of cdi-pod size: did you mean --formula?')):
            with self.subTest(arguments):
                said_by = self.wrong(*arguments)
                self.assertTrue(said_by.startswith(f"{arguments[0]}: error: "), said_by)
                self.assertIn(said, said_by)

    def test_without_a_near_word_the_advice_is_a_list_or_the_help(self):
        for arguments, said in (
                (["cdi", "frobnicate"], '"frobnicate" is not a command: use one of devices, '),
                (["cdi", "--zzz"], '"--zzz" is not an option of cdi: `cdi --help` lists the '
                 "options\n"),
                (["cdi", "--diff"], '"--diff" is not an option of cdi: put it after the command '
                 "that has it: inject"),
                (["cdi", "-"], '"-" is not a command: '),
                (["cdi"], "cdi: error: no command is given: use one of devices, "),
                (["cdi-prepare"], "cdi-prepare: error: no command is given: use one of detect, "),
                (["cdi-pod"], "cdi-pod: error: no command is given: use one of requests, "),
                (["cdi", "gc", "extra", "--owner", "me"],
                 'cdi gc does not take "extra": `cdi gc --help` lists the options'),
                (["cdi", "--spec-dir"], "--spec-dir needs a value: `cdi --help` lists the options"),
                (["cdi", "completion"], "SHELL is required: give one of bash, zsh, fish\n"),
                (["cdi", "inject", "--", "config.json"],
                 "error: NAME or --annotations is required: "),
                (["cdi", "wait", "a.b/c=d", "--timeout", "1", "--timeout", "2"],
                 "--timeout is given more than once: give it once\n"),
                (["cdi", "gc", "--state-dir", "s", "--unused", "-1"],
                 '--unused: "-1" is not a number of days, such as 30: '),
                (["cdi", "gc", "--state-dir", "s", "--unused", "030"], '"030" is not a number of'),
                (["cdi", "gc", "--state-dir", "s", "--unused", "1d"], '"1d" is not a number of days'),
                (["cdi", "completion", "csh"],
                 'SHELL: "csh" is none of bash, zsh, fish: did you mean zsh')):
            with self.subTest(arguments):
                self.assertIn(said, self.wrong(*arguments))

    def test_options_that_are_missing_or_exclude_each_other(self):
        for arguments, said in (
                (["cdi", "convert", "a.yaml"],
                 "an option is missing: give --to VERSION or --for ENGINE[@VERSION]\n"),
                (["cdi", "convert", "a.yaml", "--to", "0.5.0", "--for", "podman@5.4"],
                 "--to and --for exclude each other: leave out all but one\n"),
                (["cdi", "why", "--bundle", "a", "--for", "podman@5.4"],
                 "excludes --bundle: leave out one of them\n")):
            with self.subTest(arguments):
                self.assertIn(said, self.wrong(*arguments))

    def test_records(self):
        for arguments in (["cdi", "-o", "json", "devcies"], ["cdi", "devices", "-ojson", "--qq"],
                          ["cdi", "--output=yaml", "inject"], ["cdi", "-o", "json"],
                          ["cdi-prepare", "write", "-o", "json", "--qq"],
                          ["cdi-prepare", "-o", "json"],
                          ["cdi-prepare", "detect", "--output=json", "extra"]):
            with self.subTest(arguments):
                record = json.loads(self.wrong(*arguments))
                self.assertEqual(list(record), ["level", "message", "advice"])
                self.assertEqual(record["level"], "error")
                self.assertTrue(record["message"] and record["advice"])
        record = json.loads(self.wrong("cdi", "-o", "json", "convert", "--to", "9"))
        self.assertEqual(record["where"], "--to")


if __name__ == "__main__":
    unittest.main(verbosity=2)
