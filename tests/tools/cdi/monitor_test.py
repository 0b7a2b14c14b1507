#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of `cdi monitor` and `cdi wait`. usage: monitor_test.py CDI"""
import json
import os
import resource
import signal
import socket
import subprocess
import unittest

from cdi_case import CDI, CdiCase

GOOD = """cdiVersion: 0.6.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits: {env: [A=0]}
"""


class Files(CdiCase):
    """A spec directory, and programs that watch it."""

    def setUp(self):
        super().setUp()
        os.makedirs(self.path("specs"))
        signal.signal(signal.SIGALRM, self.give_up)  # a line that never comes
        signal.alarm(60)
        self.addCleanup(signal.alarm, 0)

    def give_up(self, *_):
        self.fail("waited for a minute")

    def write(self, name, text):
        """Writes a file as engines expect it: the old one or the new one is there."""
        os.rename(self.put(name + ".new", text), self.path(name))
        return self.path(name)

    def start(self, *args, dirs=("specs",)):
        named = [word for name in dirs for word in ("-d", self.path(name))]
        program = subprocess.Popen([CDI, *named, *args], text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(program.communicate)
        self.addCleanup(program.kill)
        return program

    def end(self, program, by=signal.SIGTERM):
        """What else a program prints until a signal ends it."""
        program.send_signal(by)
        out, err = program.communicate(timeout=20)
        self.assertEqual((program.returncode, err), (0, ""))
        return out


class Monitor(Files):
    def test_devices_that_are_added_changed_and_removed(self):
        file = self.write("specs/v.yaml", GOOD)
        program = self.start("monitor")
        read = program.stdout.readline
        self.assertEqual(read(), f"watching: {self.path('specs')}: 1 devices\n")
        self.write("specs/v.yaml", GOOD + "- name: \"1\"\n  containerEdits: {env: [A=1]}\n")
        self.assertEqual(read(), f"added: vendor.com/gpu=1: {file}:6\n")
        self.write("specs/v.yaml", GOOD.replace("A=0", "A=9"))
        self.assertEqual(read(), f"changed: vendor.com/gpu=0: {file}:4\n")
        self.assertEqual(read(), f"removed: vendor.com/gpu=1: {file}:6\n")
        other = self.path("specs/w.yaml")
        os.rename(file, other)
        self.assertEqual(read(), f"changed: vendor.com/gpu=0: {other}:4\n")
        self.write("specs/w.yaml", GOOD.replace("A=0", "A=9") + "containerEdits: {env: [B=1]}\n")
        self.assertEqual(read(), f"changed: vendor.com/gpu=0: {other}:4\n")
        os.remove(other)
        self.assertEqual(read(), f"removed: vendor.com/gpu=0: {other}:4\n")
        self.assertEqual(self.end(program), "")

    def test_a_record_is_one_line_of_json(self):
        program = self.start("monitor", "-o", "json")
        read = lambda: json.loads(program.stdout.readline())
        self.assertEqual(read(), {"event": "watching", "dirs": [self.path("specs")], "devices": []})
        file = self.write("specs/v.yaml", GOOD)
        self.assertEqual(read(), {"event": "added", "name": "vendor.com/gpu=0", "file": file,
                                  "line": 4})
        bad = self.write("specs/bad.yaml", GOOD + "colour: red\n")
        error = read()
        self.assertEqual((error["event"], error["level"], error["file"], error["line"],
                          error["where"]), ("error", "error", bad, 6, "colour"))
        os.remove(bad)
        self.assertEqual(read(), {**error, "event": "error-gone"})
        self.assertEqual(self.end(program, signal.SIGINT), "")

    def test_a_record_can_be_a_document_of_yaml(self):
        program = self.start("monitor", "-o", "yaml")
        read = program.stdout.readline
        self.assertEqual([read() for _ in range(5)],
                         ["---\n", "event: watching\n", "dirs:\n", f"  - {self.path('specs')}\n",
                          "devices: []\n"])
        self.assertEqual(self.end(program), "")

    def test_a_file_that_becomes_invalid_removes_its_devices(self):
        file = self.write("specs/v.yaml", GOOD)
        program = self.start("monitor")
        program.stdout.readline()
        self.write("specs/v.yaml", GOOD + "colour: red\n")
        self.assertEqual(program.stdout.readline(), f"removed: vendor.com/gpu=0: {file}:4\n")
        self.assertIn(f"error: {file}:6:1: colour: unknown field", program.stdout.readline())
        self.write("specs/v.yaml", GOOD)
        self.assertEqual(program.stdout.readline(), f"added: vendor.com/gpu=0: {file}:4\n")
        self.assertIn(f"error-gone: {file}:6:1: ", program.stdout.readline())
        self.end(program)

    def test_errors_that_exist_at_the_start_are_printed(self):
        bad = self.write("specs/bad.yaml", "{")
        program = self.start("monitor", dirs=("specs", "later"))
        read = program.stdout.readline
        self.assertIn(f"{self.path('later')}: 0 devices", read())
        self.assertEqual(read(), f"error: {self.path('later')}: no such directory\n")
        self.assertTrue(read().startswith(f"error: {bad}:1:"))
        os.makedirs(self.path("new"))
        self.write("new/v.yaml", GOOD)
        os.rename(self.path("new"), self.path("later"))
        self.assertIn("added: vendor.com/gpu=0: ", read())
        self.assertEqual(read(), f"error-gone: {self.path('later')}: no such directory\n")
        self.end(program)

    def test_what_changes_nothing_is_not_printed(self):
        self.write("specs/v.yaml", GOOD)
        program = self.start("monitor")
        program.stdout.readline()
        self.write("specs/v.yaml", GOOD + "# comment\n")
        self.write("specs/readme.txt", "")
        file = self.write("specs/w.yaml", GOOD.replace("vendor.com", "other.org"))
        self.assertEqual(program.stdout.readline(), f"added: other.org/gpu=0: {file}:4\n")
        self.assertEqual(self.end(program), "")

    def test_it_ends_when_nobody_reads(self):
        program = self.start("monitor")
        program.stdout.readline()
        program.stdout.close()
        program.stdout = None
        self.assertEqual(program.wait(timeout=20), 0)

    def test_it_ends_when_the_peer_of_a_socket_is_gone(self):
        here, there = socket.socketpair()
        with there:
            program = subprocess.Popen([CDI, "-d", self.path("specs"), "monitor"], stdout=there)
        self.addCleanup(program.kill)
        self.assertIn(b"watching", here.recv(1000))
        here.close()
        self.assertEqual(program.wait(timeout=20), 0)

    def test_waiting_takes_no_processor_time(self):
        program = self.start("monitor")
        program.stdout.readline()
        with self.assertRaises(subprocess.TimeoutExpired):
            program.wait(timeout=2)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.end(program)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertLess(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, 0.5)


class Wait(Files):
    NAME = "vendor.com/gpu=0"

    def run_wait(self, *args):
        done = self.run_tool(CDI, "-d", self.path("specs"), "wait", *args, expect=None)
        return done.returncode, done.stdout, done.stderr

    def test_devices_that_are_there(self):
        file = self.write("specs/v.yaml", GOOD)
        self.assertEqual(self.run_wait(self.NAME), (0, f"resolved: {self.NAME}: {file}:4\n", ""))

    def test_devices_that_come(self):
        monitor = self.start("monitor")
        monitor.stdout.readline()
        program = self.start("wait", self.NAME, "vendor.com/gpu=1", "--timeout", "20s")
        self.write("specs/v.yaml", GOOD)
        monitor.stdout.readline()  # now the kind exists, and one of the devices does not
        self.assertIsNone(program.poll())
        self.write("specs/w.yaml", GOOD.replace('"0"', '"1"'))
        out, err = program.communicate(timeout=20)
        self.assertEqual((program.returncode, err), (0, ""))
        self.assertEqual([line.split(": ")[:2] for line in out.splitlines()],
                         [["resolved", self.NAME], ["resolved", "vendor.com/gpu=1"]])

    def test_a_pattern_waits_for_a_device_that_matches(self):
        program = self.start("wait", "vendor.com/gpu=*", "--timeout", "20s")
        file = self.write("specs/v.yaml", GOOD)
        out, err = program.communicate(timeout=20)
        self.assertEqual((program.returncode, out, err), (0, f"resolved: {self.NAME}: {file}:4\n", ""))
        code, out, err = self.run_wait("--timeout", "10ms", self.NAME, "other.org/gpu=*")
        self.assertEqual((code, err), (11, "cdi: error: not all names resolve after 10ms\n"))
        self.assertIn(f"resolved: {self.NAME}", out)
        self.assertEqual(self.run_wait("--timeout", "1h", "vendor.com/gpu=[")[0], 10)

    def test_at_the_end_of_the_time_the_reason_is_printed_as_by_why(self):
        self.write("specs/v.yaml", GOOD)
        # The device may come in a second file, so the existing kind does not end the wait.
        code, out, err = self.run_wait("--timeout", "1500ms", self.NAME, "vendor.com/gpu=7")
        self.assertEqual((code, err), (12, "cdi: error: not all names resolve after 1500ms\n"))
        why = self.run_tool(CDI, "-d", self.path("specs"), "why", "--no-host", self.NAME,
                            "vendor.com/gpu=7", expect=None)
        self.assertEqual(out, why.stdout)
        self.assertIn("unknown-device: ", out)
        code, out, err = self.run_wait("--timeout=0", "-o", "json", "vendor.com/gpu=7")
        (record,) = json.loads(out)
        self.assertEqual((code, record["reason"]), (12, "unknown-device"))
        self.assertEqual(json.loads(err)["level"], "error")

    def test_a_name_that_can_never_resolve_ends_it_at_once(self):
        code, out, err = self.run_wait("--timeout", "1h", "gpu0")
        self.assertEqual((code, err), (10, ""))
        self.assertIn("invalid-name: ", out)

    def test_a_name_that_can_never_resolve_ends_it_beside_others(self):
        for never in ("vendor.com/gpu=[", "gpu0", "gpu*"):
            for other in ("vendor.com/gpu=7", "vendor.com/gpu=7*"):
                for names in ((never, other), (other, never)):
                    with self.subTest(names):
                        _, out, err = self.run_wait("--timeout", "1h", *names)
                        self.assertEqual((err, out.count("invalid-name: ")), ("", 1), out)

    def test_a_time_without_meaning_is_wrong_usage(self):
        for text in ("-1", "x", "1d", "", "1.5s", "9223372036854775807h", "367h0", "9000h"):
            code, out, _ = self.run_wait(f"--timeout={text}", self.NAME)
            self.assertEqual((code, out), (2, ""), text)
        self.write("specs/v.yaml", GOOD)
        for text in ("0", "5", "5s", "500ms", "2m", "1h"):
            self.assertEqual(self.run_wait(f"--timeout={text}", self.NAME)[0], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
