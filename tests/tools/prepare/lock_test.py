#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Concurrent runs of cdi-prepare: the newest survey writes the specs.

lock_test.py CDI_PREPARE [unittest options]

CDI_FULL=1 also spends the minute for which a run waits.
"""
import contextlib
import fcntl
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from tree_case import TreeTest, run_tests  # noqa: E402  pylint: disable=wrong-import-position

GPUS = ("0000:17:00.0", "0000:ca:00.0")
WAITING = "waiting for another run that changes specs\n"


class Beside(TreeTest):
    """The test is the other run: it holds the lock, and lets go of it."""

    tree = "nv2"

    def setUp(self):
        super().setUp()
        self.out = self.place / "out"
        self.file = self.out / "nvidia.com-gpu.yaml"
        self.out.mkdir()

    @contextlib.contextmanager
    def lock(self):
        directory = os.open(self.out, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        finally:
            os.close(directory)

    def start(self, command, *arguments, stdout=subprocess.PIPE):
        process = subprocess.Popen(  # pylint: disable=consider-using-with
            [self.program, command, "--root", str(self.root), "--output-dir", str(self.out),
             *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def begins_to_wait(self, process):
        line = process.stderr.readline()
        while line and not line.endswith(WAITING):
            self.assertNotIn(" created: ", line)
            line = process.stderr.readline()
        self.assertTrue(line, "does not wait")

    def write(self, code=0):
        done = self.run_prepare("write", "--output-dir", str(self.out))
        self.assertEqual(done.returncode, code, done.stderr)

    def set_classes(self, text):
        for address in GPUS:
            (self.pci(address) / "class").write_text(text)

    def new_major(self, old, new):
        self.edit("proc/devices", f"{old} nvidia-uvm", f"{new} nvidia-uvm")
        self.edit("dev.tab", f" c {old} ", f" c {new} ")

    def test_options_that_another_run_records_meanwhile(self):
        self.run_prepare("write", "--output-dir", str(self.out), "--profile", "compute")
        compute = self.file.read_bytes()
        self.write()
        self.assertNotEqual(self.file.read_bytes(), compute)
        with self.lock():
            waiting = self.start("write", "--keep-options")
            self.begins_to_wait(waiting)
            self.file.write_bytes(compute)
        _, errors = waiting.communicate(timeout=20)
        self.assertEqual(waiting.returncode, 0, errors)
        self.assertEqual(self.file.read_bytes(), compute)

    def test_gpu_that_appears_meanwhile(self):
        self.write()
        written = self.file.read_bytes()
        self.file.unlink()
        self.set_classes("0x040300\n")
        with self.lock():
            waiting = self.start("write")
            self.begins_to_wait(waiting)
            self.set_classes("0x030200\n")
            self.file.write_bytes(written)
        _, errors = waiting.communicate(timeout=20)
        self.assertEqual((waiting.returncode, errors), (0, ""))
        self.assertEqual(self.file.read_bytes(), written)

    def test_number_that_changes_meanwhile(self):
        with self.lock():
            waiting = self.start("write")
            self.begins_to_wait(waiting)
            self.new_major(510, 511)
        waiting.communicate(timeout=20)
        self.assertEqual(waiting.returncode, 0)
        self.assertIn("major: 511", self.file.read_text())

    def test_watch(self):
        with self.lock():
            watching = self.start("watch", "--interval", "0.05")
            self.begins_to_wait(watching)
            self.new_major(510, 511)
        line = watching.stderr.readline()
        while line and " created: " not in line:
            line = watching.stderr.readline()
        self.assertIn("major: 511", self.file.read_text())

    def test_signal_ends_a_watch_that_waits(self):
        with self.lock():
            watching = self.start("watch", "--interval", "0.05")
            self.begins_to_wait(watching)
            watching.terminate()
            watching.communicate(timeout=20)
        self.assertEqual(watching.returncode, 0)

    def test_no_lock_during_a_pause(self):
        """A run that waits for an event or a GPU keeps no other run from writing."""
        watching = self.start("watch", "--interval", "3600")
        while " created: " not in watching.stderr.readline():
            self.assertIsNone(watching.poll())
        self.write()
        self.remove_node("/dev/nvidia1")
        self.start("write", "--wait", "3600")
        self.write(code=3)

    def test_other_commands_do_not_wait(self):
        self.write()
        with self.lock():
            for command in (("check",), ("diff",), ("detect",), ("doctor",), ("write", "--dry-run")):
                more = () if command == ("detect",) else ("--output-dir", str(self.out))
                done = self.run_prepare(*command, *more)
                self.assertNotIn("waiting", done.stderr)

    def test_no_lock_while_nobody_reads_the_output(self):
        full, end = os.pipe()
        for descriptor in (full, end):
            self.addCleanup(os.close, descriptor)
        os.write(end, b" " * fcntl.fcntl(end, fcntl.F_GETPIPE_SZ))
        stuck = self.start("write", stdout=end)
        while not self.file.exists():
            self.assertIsNone(stuck.poll())
        done = self.run_prepare("write", "--output-dir", str(self.out))
        self.assertNotIn("without", done.stderr)
        self.assertIsNone(stuck.poll())

    @unittest.skipUnless(os.environ.get("CDI_FULL"), "CDI_FULL=1 waits for a minute")
    def test_run_waits_for_the_lock_only_once(self):
        self.remove_node("/dev/nvidia1")
        with self.lock():
            _, errors = self.start("write", "--wait", "61").communicate(timeout=200)
        self.assertEqual(errors.count(WAITING), 1, errors)
        self.assertEqual(errors.count("going on without it\n"), 1, errors)
        self.assertTrue(self.file.exists())

    def test_directory_that_cannot_be_made(self):
        self.out.rmdir()
        self.out.write_text("a file")
        self.write(code=1)
        self.set_classes("0x040300\n")
        done = self.run_prepare("write", "--output-dir", str(self.out / "deep"))
        self.assertEqual(self.out.read_text(), "a file")
        self.assertIn("no device found on this host", done.stderr)

    def test_host_without_gpus_gets_no_directory(self):
        self.out.rmdir()
        self.set_classes("0x040300\n")
        self.write()
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    run_tests()
