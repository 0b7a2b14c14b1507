#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs the tools while one system call fails: each call, with each error of its manual page.

usage: calls_test.py FAULTS CDI CDI_PREPARE CDI_POD CDI_RUNTIME [--write] [unittest options]
FAULTS is the library built from faults.cpp, or "none" if it cannot be built. By default, a sample
of the failures is tried; CDI_FULL=1 tries all, and then --write writes the table of
docs/evidence.md.
"""
import errno
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from claim_node import node_trees  # noqa: E402
from failing_calls import calls_in, environment_of, failures_of, sample_of  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import evidence  # noqa: E402  pylint: disable=wrong-import-position

if len(sys.argv) < 6:
    sys.exit(__doc__)
FAULTS, *TOOLS = (name if name == "none" else os.path.abspath(name) for name in sys.argv[1:6])
CDI, PREPARE, POD, RUNTIME = TOOLS
WRITE = "--write" in sys.argv
if WRITE:
    sys.argv.remove("--write")

SPEC = """cdiVersion: 0.6.0
kind: vendor.com/{0}
devices:
- name: one
  containerEdits:
    env: [ONE={0}]
    deviceNodes: [{{path: /dev/null}}]
    mounts: [{{hostPath: /opt/lib, containerPath: /opt/lib}}]
    hooks:
    - {{hookName: createContainer, path: /usr/bin/nvidia-cdi-hook,
       args: [nvidia-cdi-hook, create-symlinks, --link, "lib.so.1::/opt/lib.so"]}}
"""
CONFIG = """{"ociVersion": "1.0.2", "annotations": {"cdi.k8s.io/a": "vendor.com/a=one"},
 "root": {"path": "root"}, "process": {"cwd": "/", "env": ["A=1"]}}
"""
NEW_SPEC = """{"cdiVersion": "0.6.0", "kind": "vendor.com/new",
"devices": [{"name": "one", "containerEdits": {"env": ["A=1"]}}]}
"""
POLICY = '{"rules": [{"name": "all", "allow": true, "devices": ["vendor.com/a=*"]}]}\n'
RUNTIME_SETTINGS = 'runtime = "{0}/real-runtime"\nspec-dirs = ["{0}/specs"]\n'

# The exit codes of the tools' pages. The runtime that cdi-runtime starts ends with 7.
CODES = {CDI: range(30), PREPARE: (0, 1, 3, 4), POD: (0, 1), RUNTIME: (1, 7)}


class Row:
    """A command in a directory with the files of `make_files`. `reads_host`: it cannot tell a file
    of the host that it failed to read from a missing one, and may then do less. `undo` is a command
    that takes back what it then did."""

    def __init__(self, tool, words, reads_host=False, undo=None):
        self.tool, self.words, self.reads_host = tool, words.split(), reads_host
        self.undo = undo and Row(tool, undo)

    def may_do_less(self, kind, error):
        """Whether the command may succeed with another result and no message: it cannot doubt that
        a file is missing, and prints less of a path that it cannot read."""
        return self.reads_host or error == errno.ENOENT or kind == "readlink"


# Without these calls, a temporary file cannot be removed, or seems to belong to another process.
TEMPORARY_MAY_STAY = ("lock", "unlink")

ROWS = [
    Row(CDI, "-d specs devices"),
    Row(CDI, "-d specs validate"),
    Row(CDI, "-d specs why vendor.com/a=one vendor.com/b=one", reads_host=True),
    Row(CDI, "-d specs inject --in-place config.json vendor.com/a=one"),
    Row(CDI, "-d specs inject --in-place config.json --hooks replace vendor.com/a=one",
        reads_host=True),
    Row(CDI, "-d specs inject --in-place config.json --policy policy.json vendor.com/a=one"),
    Row(CDI, "convert --in-place --backup --to 0.5.0 specs/a.yaml"),
    Row(CDI, "transform root --in-place /opt /run/driver specs/a.yaml"),
    Row(CDI, "-d out write new.json"),
    Row(CDI, "-d specs remove --force specs/b.yaml"),
    Row(PREPARE, "detect --root node", reads_host=True),
    Row(PREPARE, "write --root node --output-dir out", reads_host=True),
    Row(PREPARE, "prepare --root node --output-dir out --state-dir state --claim a "
        "--device 0000:00:03.0", reads_host=True,
        undo="unprepare --root node --output-dir out --state-dir state --claim a"),
    Row(PREPARE, "list --root node --output-dir out --state-dir state -o json", reads_host=True),
    Row(POD, "guest config.json --spec-dir specs --timeout 0"),
    Row(RUNTIME, "create --bundle . id"),
]


def make_files(place):
    """Files for all rows; `node` is a host."""
    for folder in ("specs", "out", "state", "root/opt"):
        (place / folder).mkdir(parents=True)
    texts = {"specs/a.yaml": SPEC.format("a"), "specs/b.yaml": SPEC.format("b"),
             "new.json": NEW_SPEC, "config.json": CONFIG, "policy.json": POLICY,
             "settings.toml": RUNTIME_SETTINGS.format(place),
             "real-runtime": "#!/bin/sh\nexit 7\n"}
    for name, text in texts.items():
        (place / name).write_text(text)
    (place / "real-runtime").chmod(0o755)
    node_trees.TREES["other"](str(place / "node"), False)


def memory_or_disk():
    """A directory in memory, because the tools sync often; None if there is none."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def content(path):
    return os.readlink(path) if path.is_symlink() else path.read_bytes()


def tree_of(place):
    """What is in a directory, without the host: the text of each file and link."""
    found = {}
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in folders if name != "node"]
        for name in names:
            path = pathlib.Path(folder) / name
            found[str(path.relative_to(place))] = (path.lstat().st_mode, content(path))
    return found


def restore(place, tree):
    """Makes a directory have these files again."""
    now = tree_of(place)
    for name in set(now) - set(tree):
        (place / name).unlink()
    for name, (mode, text) in tree.items():
        if now.get(name) != (mode, text):
            (place / name).write_bytes(text)
            (place / name).chmod(stat.S_IMODE(mode))


class Calls(unittest.TestCase):
    def setUp(self):
        if FAULTS == "none":
            self.skipTest("calls cannot be made to fail with sanitizers or without glibc")
        place = tempfile.TemporaryDirectory(prefix="cdi-calls-", dir=memory_or_disk())
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.place.chmod(0o755)
        make_files(self.place)
        self.old = tree_of(self.place)

    def run_tool(self, row, **fault):
        environment = environment_of(FAULTS, fault,
                                     CDI_RUNTIME_CONFIG=str(self.place / "settings.toml"))
        return subprocess.run([row.tool, *row.words], env=environment, cwd=self.place,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30,
                              check=False)

    def calls_of(self, row):
        """What a run that succeeds prints, and its calls."""
        log = self.place.with_suffix(".log")
        log.write_text("")
        self.addCleanup(log.unlink, missing_ok=True)
        return self.run_tool(row, LOG=log), calls_in(log)

    def tree(self, kind):
        """The files, without temporary ones that may stay."""
        return {name: found for name, found in tree_of(self.place).items()
                if kind not in TEMPORARY_MAY_STAY or not name.endswith(".cdi-tmp")}

    def check_failure(self, row, fault, good, new):
        """Runs a command while one call fails, and then again."""
        kind, number, error = fault
        done = self.run_tool(row, KIND=kind, AT=number, ERROR=error)
        self.assertIn(done.returncode, CODES[row.tool], done.stderr)
        if done.returncode != good.returncode:
            self.assertNotEqual(done.stdout + done.stderr, "")
        now = self.tree(kind)
        if not row.reads_host:
            for name in {*now, *self.old, *new}:
                self.assertIn(now.get(name), (self.old.get(name), new.get(name)), name)
        is_silent = (done.returncode, done.stderr) == (good.returncode, good.stderr)
        if is_silent and not row.may_do_less(kind, error):
            self.assertEqual(done.stdout, good.stdout)
            self.assertEqual(now, new)
        if now != new:
            if row.undo:
                self.assertEqual(self.run_tool(row.undo).returncode, 0)
            again = self.run_tool(row)
            self.assertEqual(again.returncode, good.returncode, again.stderr)
            self.assertEqual(self.tree(kind), new)

    def check_row(self, row, offset):
        """Returns the number of calls, of failures and of those tried."""
        good, calls = self.calls_of(row)
        self.assertIn(good.returncode, (0, 7), good.stderr)
        new = tree_of(self.place)
        tried = sample_of(calls, offset)
        for fault in tried:
            restore(self.place, self.old)
            with self.subTest(command=row.words, call=fault[:2], error=errno.errorcode[fault[2]]):
                self.check_failure(row, fault, good, new)
        restore(self.place, self.old)
        return len(calls), len(failures_of(calls)), len(tried)

    def test_each_call_fails_once(self):
        total = {}
        for offset, row in enumerate(ROWS):
            found = self.check_row(row, offset * 7)
            print(pathlib.Path(row.tool).name, *row.words, *found, file=sys.stderr, flush=True)
            name = pathlib.Path(row.tool).name
            total[name] = [a + b for a, b in zip(total.get(name, [0, 0, 0, 0]), [1, *found])]
        if WRITE:
            lines = ["| tool | commands | system calls | failures | tried |",
                     "|---|---|---|---|---|",
                     *(f"| `{name}` | {' | '.join(map(str, numbers))} |"
                       for name, numbers in total.items())]
            evidence.write_table("calls", "tests/faults/calls_test.py FAULTS CDI ... --write", lines)


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[6:]])
