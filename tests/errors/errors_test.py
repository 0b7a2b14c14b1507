#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The exact messages for broken and doubtful specs: place, member, text, and what to do.

A case is a file of cases/, NAME.FORMAT.txt: the messages, a line `----`, and the text of the spec,
which has one error, because `cdi validate` prints all errors and `cdi why` only the first.
`cdi validate`, `cdi why`, their JSON and the C library must agree on each message and its advice.
`errors_test.py --show CDI FILE` prints the messages for a spec as a case has them.
usage: errors_test.py CDI C_LIBRARY
"""
import ctypes
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CASES = pathlib.Path(__file__).resolve().parent / "cases"


class CError(ctypes.Structure):
    """The struct cdi_error."""


CError._fields_ = [("size", ctypes.c_size_t), ("code", ctypes.c_int)] + [
    (name, ctypes.c_char_p) for name in ("text", "message", "advice", "where", "file")] + [
    ("line", ctypes.c_uint32), ("column", ctypes.c_uint32), ("system", ctypes.c_int),
    ("next", ctypes.POINTER(CError))]


class CErrors(ctypes.Structure):
    """The struct cdi_errors."""

    _fields_ = [("items", ctypes.POINTER(ctypes.POINTER(CError))), ("count", ctypes.c_size_t)]


class CReason(ctypes.Structure):
    """The struct cdi_reason."""

    _fields_ = [("size", ctypes.c_size_t)] + [
        (name, ctypes.c_char_p) for name in ("name", "code", "text", "advice")]


class CReasons(ctypes.Structure):
    """The struct cdi_reasons."""

    _fields_ = [("items", ctypes.POINTER(ctypes.POINTER(CReason))), ("count", ctypes.c_size_t)]


def run(*command):
    return subprocess.run(command, text=True, encoding="utf-8", stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)


def place(record):
    """The place of a message: line, column and member."""
    member = f"{record['where']}: " if "where" in record else ""
    return f"{record['line']}:{record['column']}: {member}"


def shown(record):
    """A record of `cdi validate -o json` as the lines of a case."""
    rule = f" [{record['rule']}]" if "rule" in record else ""
    advice = f"  fix: {record['advice']}\n" if "advice" in record else ""
    return f"{record['level']}{rule}: {place(record)}{record['message']}\n{advice}"


def with_advice(record):
    """The message of a record, and its advice, as a text has them."""
    return record["message"] + (f": {record['advice']}" if "advice" in record else "")


def validated(cdi, *paths):
    made = run(cdi, "validate", "-o", "json", *map(str, paths))
    return [json.loads(line) for line in made.stderr.splitlines()]


def names_in(text):
    """Names of devices that a broken spec may define."""
    kind = re.search(r"""\bkind["']?: *["']?([^\s"',}]+)""", text)
    devices = re.findall(r"""\bname["']?: *["']?([^\s"',}]+)""", text) + ["0"]
    return [f"{kind[1]}={device}" for device in devices if kind]


def from_c(library, path):
    """The text, message and advice of each error and warning of the C library."""
    library.cdi_validate.restype = ctypes.POINTER(CErrors)
    error = ctypes.POINTER(CError)()
    warnings = library.cdi_validate(path.read_bytes(), str(path).encode(), ctypes.byref(error))
    of_c = [error[0]] if error else [warnings[0].items[i][0] for i in range(warnings[0].count)]
    out = [tuple(text.decode() for text in (one.text, one.message, one.advice)) for one in of_c]
    library.cdi_free(warnings or error)
    return out


def reasons_from_c(library, folder, names):
    """Code and advice by name, of names that do not resolve."""
    library.cdi_cache_open.restype = ctypes.c_void_p
    library.cdi_cache_why.restype = ctypes.POINTER(CReasons)
    dirs = (ctypes.c_char_p * 1)(folder.encode())
    all_names = (ctypes.c_char_p * len(names))(*(name.encode() for name in names))
    cache = ctypes.c_void_p(library.cdi_cache_open(dirs, ctypes.c_size_t(1), None))
    reasons = library.cdi_cache_why(cache, all_names, ctypes.c_size_t(len(names)), None)
    items = [reasons[0].items[i][0] for i in range(reasons[0].count)]
    out = {one.name.decode(): (one.code.decode(), one.advice.decode()) for one in items}
    library.cdi_free(reasons)
    library.cdi_free(cache)
    return out


class ErrorsTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        """Writes the text of each case to a file, and validates all of them."""
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.messages = {}  # by path
        for case in sorted(CASES.iterdir()):
            messages, _, text = case.read_bytes().partition(b"----\n")
            path = pathlib.Path(cls.folder.name) / case.stem
            path.write_bytes(text)
            cls.messages[path] = messages.decode()
        cls.records = validated(CDI, *cls.messages)

    def each_case(self):
        """Each file, and the records about it."""
        self.assertGreater(len(self.messages), 100)
        for path in self.messages:
            yield path, [one for one in self.records if one["file"] == str(path)]

    def names(self):
        """A name for each device that a case may define, and others that do not resolve."""
        names = {"none.com/such=0", "no-name"}
        for path in self.messages:
            names.update(names_in(path.read_text("utf-8", errors="replace")))
        return sorted(names)

    def test_messages(self):
        for path, records in self.each_case():
            with self.subTest(path.name):
                self.assertEqual("".join(map(shown, records)), self.messages[path])

    def test_text_has_message_and_advice(self):
        *lines, summary = run(CDI, "validate", *map(str, self.messages)).stderr.splitlines()
        broken = {one["file"] for one in self.records if one["level"] == "error"}
        doubtful = {one["file"] for one in self.records} - broken
        self.assertEqual(summary, f"cdi: {len(self.messages)} files, {len(broken)} with errors, "
                                  f"{len(doubtful)} with warnings")
        self.assertEqual(len(lines), len(self.records))
        for line, record in zip(lines, self.records):
            rule = f" [{record['rule']}]" if "rule" in record else ""
            self.assertEqual(line, f"cdi: {record['level']}: {record['file']}:{place(record)}"
                                   f"{with_advice(record)}{rule}")

    def test_why_gives_the_same_advice(self):
        why = [CDI, "why", "--no-host", "--spec-dir", self.folder.name]
        names, found, text = self.names(), [], ""
        for first in range(0, len(names), 8):  # the first eight names have all causes
            some = names[first:first + 8]
            found += json.loads(run(*why, *some, "-o", "json").stdout)
            text += run(*why, *some).stdout
        causes = [cause for one in found for cause in one.get("causes", [])]
        for record in self.records:
            if record["level"] == "warning":
                continue
            self.assertIn(record, causes)
            self.assertIn(f": {record['file']}:{place(record)}{with_advice(record)}\n", text)
        for one in found:
            if not one["resolved"]:
                self.assertIn(f"\n  fix: {one['advice']}\n", text)

    def test_the_c_library_gives_the_same_advice(self):
        if b"__asan_init" in pathlib.Path(C_LIBRARY).read_bytes():
            self.skipTest("Python is not built with the sanitizers")
        library = ctypes.CDLL(C_LIBRARY)
        names = [name for name in self.names() if "[" not in name]  # a pattern, only for `cdi`
        made = run(CDI, "why", "--no-host", "--spec-dir", self.folder.name, "-o", "json", *names)
        reasons = {one["name"]: (one["reason"], one["advice"]) for one in json.loads(made.stdout)
                   if not one["resolved"]}
        self.assertGreaterEqual(len({code for code, _ in reasons.values()}), 4)
        self.assertEqual(reasons_from_c(library, self.folder.name, names), reasons)
        for path, records in self.each_case():
            with self.subTest(path.name):
                self.assertEqual(from_c(library, path), [
                    (f"{path}:{place(one)}{one['message']}", one["message"], one.get("advice", ""))
                    for one in records])


if __name__ == "__main__":
    if sys.argv[1] == "--show":
        print("".join(map(shown, validated(*sys.argv[2:4]))), end="")
        sys.exit()
    CDI, C_LIBRARY = sys.argv[1:3]
    del sys.argv[1:3]
    unittest.main()
