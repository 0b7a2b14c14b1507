#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cdi-nri at its limits: signals, a log without a reader, and rare requests.

usage: nri_ends_test.py BUILD CDI_NRI [ARGUMENTS OF UNITTEST]

Builds nri-judge and nri-demo in the folder BUILD; all tests are skipped without Go or its modules.
"""
import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from judged_case import CDI_NRI, JudgedCase, asked, build_programs, compared, device  # noqa: E402
from nri_cases import COMMON, KIND, ONE, TWO, ZERO  # noqa: E402
from nri_peers import Process, request  # noqa: E402

setUpModule = build_programs
SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ


class Ends(JudgedCase):
    def test_the_plugin_is_asked_to_end(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number.name):
                runtime, plugin = self.judged("--resolve", "always")
                plugin.process.send_signal(number)
                self.assertEqual(plugin.process.wait(20), 0)
                runtime.wait(0)
                runtime.end()

    def test_the_first_process_of_a_container_is_asked_to_end(self):
        """The system ends such a process only if it handles the signal."""
        runtime = self.judge()
        start = ["unshare", "--pid", "--fork", "--kill-child", CDI_NRI, "--socket",
                 self.place.socket, "--spec-dir", self.place.specs]
        if os.geteuid() != 0 or not shutil.which("unshare"):
            self.skipTest("needs root and unshare")
        outer = self.process(Process, start, self.place.path("plugin.log"))
        runtime.wait(1)
        children = pathlib.Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
        os.kill(int(children.read_text(encoding="utf-8")), signal.SIGTERM)
        self.assertEqual(outer.process.wait(20), 0)

    def test_the_reader_of_the_log_is_gone(self):
        reader, writer = os.pipe()
        runtime = self.judge()
        plugin = self.cdi_nri(CDI_NRI, "--resolve", "always", stdout=writer)
        os.close(writer)
        runtime.wait(1)
        os.close(reader)
        for _ in range(3):
            self.assertIn("ONE=1", self.environment(runtime.create(asked(ONE))))
        self.assertTrue(plugin.is_running())

    def test_the_reader_of_the_log_stands_still(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        fcntl.fcntl(writer, SET_PIPE_SIZE, 4096)
        runtime = self.judge()
        self.cdi_nri(CDI_NRI, "--resolve", "always", stdout=writer)
        os.close(writer)
        runtime.wait(1)
        answer = runtime.ask(f"creates 100 1 {json.dumps(asked(ONE))}")
        self.assertEqual(answer["errors"], [])
        self.assertIn("ONE=1", self.environment(runtime.create(asked(ONE))))

    def environment(self, answer):
        return self.good(answer)["spec"]["process"]["env"]


class Rare(JudgedCase):
    def test_a_policy_counts_also_with_names(self):
        """Either the plugin does not start with both options, or the policy counts."""
        policy = self.place.write("policy.json", {"rules": [
            {"name": "no two", "allow": False, "devices": [TWO], "sources": ["annotation"]},
            {"name": "others", "allow": True, "devices": [f"{KIND}=*"]}]})
        runtime = self.judge()
        plugin = self.cdi_nri(CDI_NRI, "--policy", policy, "--resolve", "never")
        try:
            self.assertEqual(plugin.process.wait(2), 2)
        except subprocess.TimeoutExpired:
            runtime.wait(1)
            self.refused(runtime.create(asked(TWO)), TWO, "no two")

    def test_a_node_with_two_permissions(self):
        """The container may do what any of its devices allows."""
        self.place.write("cdi/r.json", device("r", deviceNodes=[
            {"path": "/dev/zero", "permissions": "r"}]))
        self.place.write("cdi/all.json", device("all", deviceNodes=[{"path": "/dev/zero"}]))
        runtime, _ = self.judged("--resolve", "always")
        for names in ("vendor.com/r=0,vendor.com/all=0", "vendor.com/all=0,vendor.com/r=0"):
            spec = self.good(runtime.create(asked(names)))["spec"]
            self.assertEqual(compared(spec)["rules"]["c", 1, 5], set("rwm"))

    def test_three_thousand_pods_that_ask_for_devices(self):
        """The plugin looks at each of their containers once; they have nothing."""
        runtime, plugin = self.judged("--resolve", "always", judge=(
            "-pods", "3000", "-pod-bytes", "4000", "-pod-annotation", f"{COMMON}/pod={ZERO}"))
        self.check_memory(plugin)
        self.assertEqual(plugin.printed().count("runs without"), 3000)
        self.good(runtime.create(asked(ONE)))

    def test_an_annotation_of_very_many_names_stops_no_other_container(self):
        """Kubernetes allows 256 KiB of annotations."""
        runtime, _ = self.judged("--resolve", "always")
        many = ",".join(f"{KIND}=a{number}" for number in range(10_000))
        for _ in range(3):
            self.assertNotIn("specs", self.refused(runtime.create(asked(many))))
            self.good(runtime.create(asked(ONE)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
