#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cdi-nri over time: restarts, load, other plugins, and what it reports.

usage: nri_life_test.py BUILD CDI_NRI [ARGUMENTS OF UNITTEST]

Builds nri-judge and nri-demo in the folder BUILD; all tests are skipped without Go or its modules.
"""
import json
import os
import signal
import sys
import unittest

sys.dont_write_bytecode = True
from judged_case import (  # noqa: E402
    CDI_NRI, PROGRAMS, JudgedCase, asked, build_programs)
from nri_cases import COMMON, KIND, ONE, TWO, ZERO  # noqa: E402
from nri_peers import names_in, request, wait_until  # noqa: E402

setUpModule = build_programs


class Restarts(JudgedCase):
    """Runtime and plugin end and start in any order."""

    def check(self, runtime):
        self.good(runtime.create(asked(ONE)))
        self.refused(runtime.create(asked(f"{KIND}=nine")), f"{KIND}=nine")

    def test_the_runtime_is_killed(self):
        runtime, plugin = self.judged("--resolve", "always")
        descriptors = plugin.descriptors()
        for _ in range(5):
            runtime.kill()
            runtime = self.judge()
            runtime.wait(1)
            self.check(runtime)
        self.assertEqual(plugin.descriptors(), descriptors)

    def test_the_policy_is_gone_when_the_runtime_starts(self):
        """Without the plugin, containers would be created without their devices."""
        policy = self.place.write("policy.json", {"rules": [{"name": "all", "allow": True}]})
        runtime, _ = self.judged("--policy", policy)
        self.good(runtime.create(asked(ONE)))
        os.unlink(policy)
        runtime.kill()
        runtime = self.judge()
        runtime.wait(1)
        self.refused(runtime.create(asked(ONE)), policy)

    def test_the_runtime_is_stopped_and_started(self):
        runtime, plugin = self.judged("--resolve", "always")
        runtime.end()
        runtime = self.judge()
        runtime.wait(1)
        self.check(runtime)
        self.assertTrue(plugin.is_running())

    def test_the_plugin_starts_first(self):
        plugin = self.cdi_nri(CDI_NRI, "--resolve", "always")
        wait_until(plugin.printed, "it says that it waits")
        runtime = self.judge()
        runtime.wait(1)
        self.check(runtime)

    def test_the_plugin_is_killed(self):
        runtime, plugin = self.judged("--resolve", "always")
        for _ in range(5):
            plugin.kill()
            runtime.wait(0)
            plugin = self.cdi_nri(CDI_NRI, "--resolve", "always")
            runtime.wait(1)
            self.check(runtime)

    def test_a_plugin_that_stands_still_stops_containers_but_no_runtime(self):
        """NRI 0.12.4 has a policy for that, which the plugin asks for."""
        runtime, plugin = self.judged("--resolve", "always", judge=("-timeout", "300ms"))
        plugin.process.send_signal(signal.SIGSTOP)
        self.refused(runtime.create(asked(ONE)), "cdi")
        plugin.process.send_signal(signal.SIGCONT)

        def has_one():
            answer = runtime.create(asked(ONE))
            return answer["ok"] and "ONE=1" in answer["spec"]["process"]["env"]
        wait_until(has_one, "an answer in 300 ms")


class TwoPlugins(JudgedCase):
    def test_each_gives_its_devices(self):
        runtime, _ = self.judged("--name", "ours", "--index", "20",
                                 judge=("-runtime", "containerd/v2.4.2"))
        self.plugin(PROGRAMS["nri-demo"])
        runtime.wait(2)
        answer = self.good(runtime.create(request({"nvidia.cdi.k8s.io/pod": TWO})))
        self.assertEqual(names_in(answer["adjust"]), [TWO])
        answer = self.good(runtime.create(request({f"{COMMON}/container.other": ONE})))
        self.assertEqual(names_in(answer["adjust"]), [])

    def test_the_same_edits_by_two_are_there_once(self):
        runtime, _ = self.judged("--name", "a", "--index", "20", "--resolve", "always")
        self.cdi_nri(CDI_NRI, "--name", "b", "--index", "30", "--resolve", "always")
        runtime.wait(2)
        answer = self.good(runtime.create(asked(ZERO)))
        spec = answer["spec"]
        self.assertEqual(len(spec["hooks"]["createRuntime"]), 1)
        self.assertEqual(spec["process"]["env"].count("ZERO=0"), 1)

    def test_the_same_name_by_two_is_an_error_of_nri(self):
        """No plugin is told which names others gave."""
        runtime, _ = self.judged("--resolve", "never", "--name", "ours", "--index", "20")
        self.plugin(PROGRAMS["nri-demo"])
        runtime.wait(2)
        self.refused(runtime.create(asked(ZERO)), "both tried to set", ZERO)
        self.good(runtime.create(request({"nvidia.cdi.k8s.io/pod": ZERO})))


class Load(JudgedCase):
    def test_three_thousand_pods(self):
        runtime, plugin = self.judged("--resolve", "always",
                                      judge=("-pods", "3000", "-pod-bytes", "4000"))
        self.check_memory(plugin)
        self.good(runtime.create(asked(ONE)))

    def test_many_containers_leave_nothing_behind(self):
        runtime, plugin = self.judged("--resolve", "always")
        one = json.dumps(asked(f"{ZERO},{TWO}"))
        bad = json.dumps(asked(f"{KIND}=nine"))
        for _ in range(2):
            runtime.ask(f"creates 50 1 {one}")
            runtime.ask(f"creates 50 1 {bad}")
        before = plugin.descriptors(), plugin.kilobytes()
        for _ in range(4):
            self.assertEqual(runtime.ask(f"creates 200 1 {one}")["errors"], [])
            self.assertEqual(len(runtime.ask(f"creates 200 1 {bad}")["errors"]), 200)
        self.assertEqual(plugin.descriptors(), before[0])
        self.check_memory(plugin, before[1] + 200)

    def test_many_at_once(self):
        runtime, plugin = self.judged("--resolve", "always")
        answer = runtime.ask(f"creates 500 50 {json.dumps(asked(ZERO))}")
        self.assertEqual(answer["errors"], [])
        self.assertTrue(plugin.is_running())


class Reports(JudgedCase):
    """The log, and what the plugin finds when it starts."""

    def test_a_line_of_json_for_each_container(self):
        path = self.place.path("cdi/vendor.json")
        runtime, plugin = self.judged("-o", "json", "--resolve", "always")
        self.good(runtime.create(asked(ONE)))
        self.refused(runtime.create(asked(f"{KIND}=nine")))
        lines = [json.loads(line) for line in plugin.printed().splitlines()]
        texts = [json.dumps(line) for line in lines]
        given = [text for text in texts if f'"{ONE}"' in text]
        self.assertEqual(len(given), 1, texts)
        for part in ("pod-one", "main", path):
            self.assertIn(part, given[0])
        self.assertRegex(given[0], r"[0-9a-f]{64}")
        self.assertEqual(len([text for text in texts if f"{KIND}=nine" in text]), 1, texts)

    def test_containers_that_asked_and_got_nothing(self):
        def container(name, **more):
            return {"id": f"id-{name}", "podSandboxId": "p1", "name": name,
                    "state": "CONTAINER_RUNNING", **more}
        nodes = [{"path": path, "type": "c", "major": 1, "minor": 3}
                 for path in ("/dev/vendor0", "/dev/second")]
        state = self.place.write("state.json", {
            "pods": [{"id": "p1", "name": "old-pod", "namespace": "default",
                      "annotations": {f"{COMMON}/container.poor": ZERO,
                                      f"{COMMON}/container.rich": ZERO}}],
            "containers": [
                container("poor"), container("other"),
                container("rich", env=["EVERY=container", "ZERO=0", "LIST=a,b=c d"], mounts=[
                    {"destination": "/mnt/vendor", "source": "/usr", "type": "bind"}],
                    linux={"devices": nodes})]})
        _, plugin = self.judged("--resolve", "always", judge=("-state", state))
        self.assertRegex(plugin.printed(), r"\bpoor\b")
        self.assertNotRegex(plugin.printed(), r"\b(other|rich)\b")

    def test_a_plugin_that_the_runtime_launches(self):
        for folder in ("plugins", "configs"):
            os.mkdir(self.place.path(folder))
        os.symlink(CDI_NRI, self.place.path("plugins/42-cdi-nri"))
        self.place.write("configs/42-cdi-nri.conf",
                         f'resolve = "always"\nspec-dirs = ["{self.place.specs}"]\n'
                         "answer-limit = 60000\n")
        runtime = self.judge("-plugins", self.place.path("plugins"), "-plugin-configs",
                             self.place.path("configs"))
        runtime.wait(1)
        answer = self.good(runtime.create(asked(ZERO)))
        self.assertIn("ZERO=0", answer["spec"]["process"]["env"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
