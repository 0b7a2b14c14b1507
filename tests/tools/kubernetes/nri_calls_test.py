#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cdi-nri while one system call fails: each call, with each error of its manual page.

usage: nri_calls_test.py CDI_NRI FAULTS [ARGUMENTS OF UNITTEST]
FAULTS is the library built from tests/faults/faults.cpp, or "none". By default, a sample of the
failures is tried; CDI_FULL=1 tries all.
"""
import errno
import os
import pathlib
import select
import sys
import unittest

sys.dont_write_bytecode = True
from wire_case import CDI_NRI, GOOD, WireCase, need_program  # noqa: E402
from scripted_runtime import Closed, Failed  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "faults"))
from failing_calls import environment_of, try_failures  # noqa: E402

FAULTS = sys.argv.pop(1)
setUpModule = need_program


def without_host(adjustment):
    """An adjustment without the modes of nodes, which come from the host, if it can be read."""
    for node in adjustment.get("linux", {}).get("devices", []):
        node.pop("fileMode", None)
    return adjustment


class Calls(WireCase):
    def setUp(self):
        if FAULTS == "none":
            self.skipTest("calls cannot be made to fail with sanitizers or without glibc")
        super().setUp()
        self.connections, self.nri = [], None

    def connect(self):
        """A connection; None if the plugin ends before."""
        while self.nri.is_running():
            if select.select([self.runtime.listener], [], [], 0.01)[0]:
                self.connections.append(self.accept())
                return self.connections[-1]
        return None

    def answer(self):
        """What the plugin answers to a request on a new connection; None if that fails."""
        try:
            connection = self.connect()
            if connection is None:
                return None
            connection.start()
            return without_host(connection.create(GOOD))
        except (Closed, Failed):
            return None

    def answers(self, fault):
        """The answers of a plugin with a failing call, on one connection and, while it runs, on the
        next."""
        if self.nri:
            self.nri.kill()
        self.runtime.close()
        self.runtime = self.listen()  # without connections of an earlier plugin
        self.nri = self.cdi_nri(CDI_NRI, "--resolve", "always",
                                env=environment_of(os.path.abspath(FAULTS), fault))
        first = self.answer()
        for connection in self.connections:
            connection.close()
        self.connections.clear()
        return first, self.answer()

    def check_failure(self, fault, good):
        first, second = self.answers(fault)
        self.assertIn(first, (good, None))
        if self.nri.is_running():
            self.assertIn(second, (good, None))
            if fault["ERROR"] != errno.ENOENT:  # specs that are missing do not come back at once
                self.assertIn(good, (first, second))
            self.assertEqual(self.nri.stop(), 0)
        else:
            self.assertIn(self.nri.process.returncode, (1, 2))
            self.assertNotEqual(self.nri.printed(), "")

    def test_each_call_fails_once(self):
        log = pathlib.Path(self.place.write("calls.log", ""))
        good, again = self.answers({"LOG": log})
        self.assertTrue(good)
        self.assertEqual(good, again)
        self.assertEqual(self.nri.stop(), 0)
        try_failures(self, log, lambda fault: self.check_failure(fault, good))


if __name__ == "__main__":
    unittest.main(verbosity=2)
