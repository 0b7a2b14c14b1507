#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cdi-dra while one system call fails: each call, with each error of its manual page.

usage: dra_calls_test.py CDI_DRA FAULTS [ARGUMENTS OF UNITTEST]
FAULTS is the library built from tests/faults/faults.cpp, or "none". By default, a sample of the
failures is tried; CDI_FULL=1 tries all.
"""
import errno
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from dra_case import CDI_DRA, DRIVER, DraCase, name_of, need_program, uid_of  # noqa: E402
from nri_peers import wait_until  # noqa: E402
from scripted_kubelet import grpc  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "faults"))
from failing_calls import calls_in, environment_of, try_failures  # noqa: E402

FAULTS = sys.argv.pop(1)
setUpModule = need_program
GPU = "nvidia-gpu-all"
LIMIT = 5  # seconds: a driver may end before it answers
# Without these calls, a temporary file or a socket cannot be removed, or seems to belong to another
# process.
MAY_STAY = {"lock": (".cdi-tmp",), "unlink": (".cdi-tmp", ".sock"), "stat": (".sock",)}


class FailingCase(DraCase):
    """A small node, whose claim has its only GPU."""

    tree = "wsl"

    def setUp(self):
        if FAULTS == "none":
            self.skipTest("calls cannot be made to fail with sanitizers or without glibc")
        super().setUp()
        self.write_claim(1, GPU)
        self.log = self.place / "calls.log"
        self.log.write_text("", encoding="ascii")


class Calls(FailingCase):
    """The kubelet starts a driver, prepares a claim, and takes it back."""

    def setUp(self):
        super().setUp()
        self.driver = self.socket = None
        self.may_miss_files = False  # those that a call says are missing

    def begin(self, fault):
        """A driver on a node where none ran before. It may end at once."""
        if self.driver:
            self.driver.kill()
        for folder in (self.kubelet, self.out, self.state):
            shutil.rmtree(folder, ignore_errors=True)
        self.driver = self.start("--max-version", "0.6.0",
                                 env=environment_of(os.path.abspath(FAULTS), fault))
        # Not in the log, which lacks a line if the driver cannot ask whether somebody reads it.
        wait_until(lambda: not self.driver.is_running() or
                   (self.registry / f"{DRIVER}-reg.sock").exists(), "the driver serves or ends")

    def closed(self, socket):
        """Each call has a connection of its own: a driver waits for connections when it ends."""
        self.socket = socket
        return socket

    def ask(self, act):
        """What a call of the kubelet gives; None if it fails. A driver that has ended starts again,
        as the kubelet starts its pod."""
        if not self.driver.is_running():
            self.assertTrue(self.driver.printed())
            self.driver = self.serving("--max-version", "0.6.0")
        try:
            return act()
        except grpc.RpcError:
            return None
        finally:
            self.socket.close()

    def until_good(self, act, good):
        """A call as the kubelet makes it, which tries again after a failure."""
        answers = []

        def succeeds():
            answers.append(self.ask(act))
            return answers[-1] == good
        wait_until(succeeds, f"{good} comes after {answers}")
        return len(answers)

    def notify(self):
        self.registration().notify(LIMIT, registered=True)
        return True

    def prepare(self):
        answer = self.service().prepare(name_of(1), timeout=LIMIT)
        if "error" not in answer[uid_of(1)]:
            self.check_prepared(answer, 1, GPU)
            self.check_claims(1)
            return "prepared"
        return answer[uid_of(1)]["error"]

    def unprepare(self):
        answer = self.service().unprepare(name_of(1), timeout=LIMIT)
        if answer == {uid_of(1): {}} and not self.may_miss_files:
            self.assertEqual(self.journal(), [])
            self.check_claims()
        return answer

    def work(self):
        """All that a kubelet asks of a driver. Gives the spec of the claim."""
        self.until_good(self.notify, True)
        self.until_good(self.prepare, "prepared")
        spec = self.spec(1)
        self.until_good(self.unprepare, {uid_of(1): {}})
        return spec

    def left(self, kind=None):
        """The files in the driver's folders, but locks and those that may stay."""
        ends = ("lock", *MAY_STAY.get(kind, ()))
        return [str(path.relative_to(self.place)) for folder in (self.kubelet, self.out, self.state)
                for path in folder.rglob("*") if not path.is_dir() and
                not path.name.endswith(ends)]

    def check_failure(self, fault, good):
        self.begin(fault)
        self.may_miss_files = fault["ERROR"] == errno.ENOENT
        spec = self.work()
        self.may_miss_files = False
        # It could not read a file, which it reads again.
        if spec != good or self.specs() or self.journal():
            self.assertEqual(self.work(), good)
        code = self.driver.stop()
        self.assertIn(code, (0, 1), self.driver.printed())
        self.assertEqual(self.left(fault["KIND"]), [])

    def test_each_call_fails_once(self):
        self.begin({"LOG": self.log})
        good = self.work()
        self.assertEqual((self.driver.stop(), self.left()), (0, []))
        try_failures(self, self.log, lambda fault: self.check_failure(fault, good))


class Starts(FailingCase):
    """A driver with a device plugin starts while it gets no more descriptors for a moment."""

    def begun(self, fault):
        process = self.start("--device-plugin", "nvidia.com/gpu",
                             env=environment_of(os.path.abspath(FAULTS), fault))
        wait_until(lambda: not process.is_running() or len(process.events("serving")) == 3,
                   "the driver serves or ends")
        return process

    def test_a_driver_that_ends_says_why(self):
        """The reason is from the failed call, whatever was called after it."""
        self.assertEqual(self.begun({"LOG": self.log}).stop(), 0)
        numbers = [number for kind, number, _ in calls_in(self.log) if kind == "descriptor"]
        self.assertTrue(numbers)
        ended = 0
        for number in numbers:
            with self.subTest(number=number):
                process = self.begun({"KIND": "descriptor", "AT": number, "ERROR": errno.EMFILE})
                if process.is_running():
                    process.stop()
                else:
                    ended += 1
                    self.assertIn(os.strerror(errno.EMFILE), process.printed())
        self.assertGreater(ended, 3)


class Looks(FailingCase):
    """Somebody looks at a driver, which goes on as it is."""

    def look(self, command, fault):
        return subprocess.run(
            [CDI_DRA, command, "--driver", DRIVER, "--kubelet-dir", self.kubelet, "--output-dir",
             self.out, "--state-dir", self.state, "--root", self.root],
            env=environment_of(os.path.abspath(FAULTS), fault), capture_output=True, text=True,
            timeout=60, check=False)

    def check_look(self, command, fault):
        """It says something, also about the spec by which `check` tries an engine, if it stays."""
        done = self.look(command, fault)
        self.assertIn(done.returncode, (0, 1))
        self.assertTrue(done.stdout + done.stderr)
        for path in self.out.glob("*probe*"):
            path.unlink()
            if path.suffix != ".json":
                self.assertIn(fault["KIND"], MAY_STAY)
            elif fault["ERROR"] != errno.ENOENT:  # else it seems to be missing
                self.assertIn("Remove cdi-dra-probe.json there", done.stdout)

    def test_each_call_fails_once(self):
        (self.root / "etc/containerd").mkdir(parents=True)
        (self.root / "etc/containerd/config.toml").write_text(
            f"version = 3\n[plugins.'io.containerd.cri.v1.runtime']\nenable_cdi = true\n"
            f"cdi_spec_dirs = ['{self.out}']\n", encoding="ascii")
        driver = self.serving("--max-version", "0.6.0")
        self.check_prepared(self.service().prepare(name_of(1)), 1, GPU)
        for command in ("status", "check"):
            self.log.write_text("", encoding="ascii")
            good = self.look(command, {"LOG": self.log})
            self.assertIn("dra.sock answers", good.stdout, good.stderr)
            try_failures(self, self.log, lambda fault, which=command: self.check_look(which, fault))
        self.check_claims(1)
        self.assertEqual(driver.stop(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
