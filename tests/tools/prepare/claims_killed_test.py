#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Claims while several calls run, and after a killed call:
claims_killed_test.py CDI_PREPARE KILL_AT [unittest options]"""
import fcntl
import itertools
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from claim_case import ClaimTest  # noqa: E402  pylint: disable=wrong-import-position
from tree_case import TreeTest  # noqa: E402  pylint: disable=wrong-import-position

KILL_AT = ""


class Parallel(ClaimTest):
    tree = "nv2mig"

    def hold_lock(self):
        self.state.mkdir(0o755, exist_ok=True)
        lock = open(self.state / ".lock", "w",  # pylint: disable=consider-using-with
                    encoding="ascii")
        self.addCleanup(lock.close)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lock

    def test_lock_of_another_call(self):
        lock = self.hold_lock()
        error = self.refuse("a", "0", more=("--lock-timeout", "0.1"))
        self.assertIn("another process holds the lock", error)
        self.assertIn(str(self.state / ".lock"), error)
        self.run_claims("unprepare", "--claim", "a", "--lock-timeout", "0", code=1)
        self.run_claims("list", "--lock-timeout", "0.1", code=1)
        self.run_claims("list", "--lock-timeout", "nan", code=2)
        self.run_claims("list", "--lock-timeout", "-1", code=2)
        fcntl.flock(lock, fcntl.LOCK_UN)
        self.prepare("a", "0", more=("--lock-timeout", "0"))

    def test_a_call_that_waits_surveys_the_host_again(self):
        lock = self.hold_lock()
        with subprocess.Popen(self.arguments("prepare", *self.asked("a", ["0"])),
                              stdout=subprocess.DEVNULL) as waiting:
            while waiting.poll() is None and not self.sleeps_for_lock(waiting.pid):
                continue
            self.assertIsNone(waiting.poll())
            table = self.path("dev.tab").read_text()
            self.path("dev.tab").write_text(table.replace(" c 510 ", " c 499 "))
            self.edit("proc/devices", "510 nvidia-uvm", "499 nvidia-uvm")
            fcntl.flock(lock, fcntl.LOCK_UN)
            self.assertEqual(waiting.wait(60), 0)
        self.assertEqual(self.claims(), ["a"])  # with nodes as they are now

    def sleeps_for_lock(self, pid):
        """Whether a call has found the lock taken: it never sleeps with it open otherwise."""
        process = pathlib.Path(f"/proc/{pid}")
        try:
            opened = [os.readlink(file) for file in (process / "fd").iterdir()]
        except FileNotFoundError:  # a file was closed meanwhile
            return False
        state = (process / "stat").read_text().rpartition(")")[2].split()[0]
        return state == "S" and str(self.state / ".lock") in opened

    def run_at_once(self, calls):
        """The exit codes of calls that all run at the same time, and what they say."""
        running = [subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                   for call in calls]
        said = [process.communicate(timeout=60) for process in running]
        return [process.returncode for process in running], said

    def test_one_claim_many_times(self):
        codes, said = self.run_at_once(
            [self.arguments("prepare", *self.asked("a", ["0@x"]))] * 8)
        self.assertEqual((codes, {out for out, _ in said}), ([0] * 8, {said[0][0]}))
        self.assertEqual(self.claims(), ["a"])
        codes, _ = self.run_at_once([self.arguments("unprepare", "--claim", "a")] * 8)
        self.assertEqual((codes, self.claims()), ([0] * 8, []))

    def test_many_claims(self):
        devices = {"a": "0", "b": "1:gi1:ci0", "c": "1:gi2:ci0"}
        calls = [self.arguments("prepare", *self.asked(uid, [name]))
                 for uid, name in devices.items()] * 3 + [self.arguments("list")] * 2
        codes, said = self.run_at_once(calls)
        self.assertEqual(codes, [0] * 11, said)
        self.assertEqual(self.claims(), ["a", "b", "c"])
        calls = [self.arguments("unprepare", "--claim", uid) for uid in ("a", "b")] * 2
        calls += [self.arguments("prepare", *self.asked("c", [devices["c"]]))] * 2
        codes, said = self.run_at_once(calls)
        self.assertEqual(codes, [0] * 6, said)
        self.assertEqual(self.claims(), ["c"])

    def test_one_device_for_many(self):
        codes, said = self.run_at_once(
            [self.arguments("prepare", *self.asked(f"a{number}", ["0"])) for number in range(8)])
        self.assertEqual(sorted(codes), [0] + [1] * 7)
        winner = f"a{codes.index(0)}"
        self.assertEqual(self.claims(), [winner])
        for code, (_, errors) in zip(codes, said):
            self.assertEqual(f"claim {winner} has" in errors, code == 1)


class Killed(ClaimTest):
    """Killed just before each system call that changes something, a call leaves what the next call
    makes right, whichever that is."""

    tree = "other"
    device = "0000:00:03.0"

    def run_killed(self, number, command, *more, out=None):
        """Whether a call was killed before its change of that number; else it was done before."""
        killed, permitted = 10, 77
        options = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # which traces, too
        done = self.run_tool(KILL_AT, str(number), *self.arguments(command, *more, out=out),
                             expect=None, umask=0o077, env={**os.environ, "ASAN_OPTIONS": options})
        if done.returncode == permitted:
            self.skipTest("ptrace is not permitted, or too old to tell system calls")
        self.assertIn(done.returncode, (0, killed), done.stderr)
        return done.returncode == killed

    def save(self):
        """What is in both directories, to be put there again."""
        return {directory: {path.name: (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
                            for path in directory.iterdir()}
                for directory in (self.state, self.out) if directory.exists()}

    def restore(self, saved):
        for directory in (self.state, self.out):
            shutil.rmtree(directory, ignore_errors=True)
        for directory, files in saved.items():
            directory.mkdir()
            directory.chmod(0o755)
            for name, (content, mode) in files.items():
                (directory / name).write_bytes(content)
                (directory / name).chmod(mode)

    def phase(self):
        path = self.state / "a.json"
        return self.journal("a")["phase"] if path.exists() else None

    def kill_everywhere(self, command, *more):
        """Kills a call at each place. There, gives the journal and how to come back. That
        is skipped where the files are the same as at another one: they are all that counts."""
        start = self.save()
        seen = set()
        for number in itertools.count(1):
            self.restore(start)
            killed = self.run_killed(number, command, *more)
            if not killed:
                self.assertGreater(number, 6)
                return
            for directory in (self.state, self.out):  # from the very first moment
                if directory.exists():
                    self.assertEqual(stat.S_IMODE(directory.stat().st_mode), 0o755)
            there = self.save()
            state = re.sub(r"\.\d+-\d+\.cdi-tmp", ".cdi-tmp", repr(there))
            if state in seen:
                continue
            seen.add(state)
            phase = self.phase()
            with self.subTest(command=command, number=number, phase=phase):
                yield phase, lambda there=there: self.restore(there)

    def check_all(self, devices, text, phase):
        """All calls that may be next. `devices` and `text` are those of claim a when it is there,
        and `phase` is that in the journal."""
        taken = phase == "prepared"

        def prepare_again():
            self.assertEqual(self.prepare("a", "0@x"), devices)
            return ["a"]

        def list_all():
            self.assertEqual(self.list(), {"a": None} if taken else {})
            return ["a"] if taken else []

        def take_back():
            self.unprepare("a")
            return []

        def take_the_same():
            if not taken:
                self.assertEqual(self.prepare("b", "0")[0]["device_name"], self.device)
                return ["b"]
            done = self.run_claims("prepare", *self.asked("b", ["0"]), code=1)
            self.assertIn("claim a has", done.stderr)
            return ["a"]

        def take_another():
            self.prepare("b", "1")
            return ["a", "b"] if taken else ["b"]
        for following in (prepare_again, list_all, take_back, take_the_same, take_another):
            with self.subTest(following=following.__name__):
                expected = following()
                self.assertEqual(self.claims(), expected)
                if "a" in expected:
                    self.assertEqual(self.spec_path("a").read_text(), text)
            yield

    def follow(self, kills, devices, text):
        phases = set()
        for phase, come_back in kills:
            phases.add(phase)
            for _ in self.check_all(devices, text, phase):
                come_back()
        return phases

    def test_prepare(self):
        devices = self.prepare("a", "0@x")
        text = self.spec_path("a").read_text()
        self.restore({})
        phases = self.follow(self.kill_everywhere("prepare", *self.asked("a", ["0@x"])),
                             devices, text)
        self.assertEqual(phases, {None, "prepared"})  # GPUs need no preparation

    def test_unprepare(self):
        devices = self.prepare("a", "0@x")
        text = self.spec_path("a").read_text()
        phases = self.follow(self.kill_everywhere("unprepare", "--claim", "a"), devices, text)
        self.assertEqual(phases, {None, "prepared"})

    def test_next_call_has_another_directory(self):
        elsewhere = self.place / "elsewhere"
        elsewhere.mkdir()
        spec = self.spec_path("a", elsewhere)
        for command, more in (("prepare", self.asked("a", ["0@x"])),
                              ("unprepare", ("--claim", "a"))):
            start = self.save()
            for number in itertools.count(1):
                self.restore(start)
                if not self.run_killed(number, command, *more, out=elsewhere):
                    break
                faults = self.list()
                there = [spec.name] if faults == {"a": None} else []
                self.assertEqual(os.listdir(elsewhere), there, (command, number, faults))
            self.assertGreater(number, 6)
            self.list()
            self.assertEqual(spec.exists(), command == "prepare")
            self.prepare("a", "0@x", out=elsewhere)

    def test_prepare_in_another_boot(self):
        devices = self.prepare("a", "0@x")
        old = self.spec_path("a").read_text()
        self.reboot()
        self.edit("dev.tab", "renderD128 c 226 128", "renderD128 c 226 140")
        self.path("sys/class/drm/renderD128/dev").write_text("226:140\n")
        before = self.save()
        self.assertEqual(self.prepare("a", "0@x"), devices)
        new = self.spec_path("a").read_text()
        self.assertEqual(old.replace('"minor": 128', '"minor": 140'), new)
        for lost in (False, True):  # /var/run may be emptied, or not
            self.restore(before)
            if lost:
                shutil.rmtree(self.out)
            phases = self.follow(self.kill_everywhere("prepare", *self.asked("a", ["0@x"])),
                                 devices, new)
            self.assertEqual(phases, {"prepared"})


if __name__ == "__main__":
    TreeTest.program = os.path.abspath(sys.argv[1])
    KILL_AT = os.path.abspath(sys.argv[2])
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[3:]])
