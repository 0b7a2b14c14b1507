#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The device plugin of cdi-dra, and one in Go, with kubelet's own device manager.

usage: device_judge_test.py BUILD CDI_DRA CDI_PREPARE SAMPLE_NODE [ARGUMENTS OF UNITTEST]

Builds device-judge and demo-device-plugin in the folder BUILD. They need root or user namespaces.
"""
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import judges  # noqa: E402
from dra_peers import DRIVER, CdiDra, DraCase, own_claim  # noqa: E402
from nri_peers import PATIENCE, LineJudge, Process, wait_until  # noqa: E402

BUILD, CDI_DRA, CDI_PREPARE, SAMPLE_NODE = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
RESOURCE = "nvidia.com/gpu"


def setUpModule():
    if os.geteuid() and subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "true"],
                                       check=False, capture_output=True).returncode:
        raise unittest.SkipTest("needs root or user namespaces")
    folder = judges.build_kubelet(BUILD)
    DraCase.programs.update({name: str(folder / name) for name in (
        "dra-judge", "device-judge", "demo-device-plugin")})
    DraCase.programs.update({"cdi-dra": CDI_DRA, "cdi-prepare": CDI_PREPARE,
                             "sample-node": SAMPLE_NODE})


class Devices:
    """What each device plugin does."""

    def setUp(self):
        super().setUp()
        self.have()

    def device_judge(self):
        return self.process(
            LineJudge, [self.programs["device-judge"], "-root", self.place.kubelet],
            self.place.path("judge.log"))

    def wait(self, judge, count):
        self.good(judge.ask(f"wait {RESOURCE} {count} {PATIENCE}"))

    def allocate(self, judge, pod, count=1):
        return self.good(judge.ask(f"allocate {pod} {RESOURCE} {count}"))

    def wait_for_kubelet(self):
        path = os.path.join(self.place.kubelet, "device-plugins/kubelet.sock")
        wait_until(lambda: os.path.exists(path), path)

    def test_pods_come_and_go(self):
        judge = self.device_judge()
        self.wait_for_kubelet()
        self.start_plugin()
        self.wait(judge, 2)
        one, two = self.allocate(judge, "one"), self.allocate(judge, "two")
        self.assertEqual(sorted(one["ids"] + two["ids"]), sorted(self.devices[:2]))
        for got in (one, two):
            self.assertEqual(got["cdi"], [self.cdi_name(got["ids"][0])])
        self.refused(judge.ask(f"allocate three {RESOURCE} 1"), RESOURCE)
        judge.ask("free three")
        self.good(judge.ask("free one"))
        self.assertEqual(self.allocate(judge, "four")["ids"], one["ids"])
        for pod in ("two", "four"):
            self.good(judge.ask(f"free {pod}"))
        both = self.allocate(judge, "five", 2)
        self.assertEqual(sorted(both["cdi"]), sorted(map(self.cdi_name, self.devices[:2])))

    def test_the_plugin_is_killed(self):
        judge = self.device_judge()
        self.wait_for_kubelet()
        plugin = self.start_plugin()
        self.wait(judge, 2)
        self.allocate(judge, "one")
        plugin.kill()
        self.wait(judge, 0)
        self.start_plugin()
        self.wait(judge, 2)
        self.allocate(judge, "two")


class InGo(Devices, DraCase):
    devices = ["gpu-0", "gpu-1"]

    @staticmethod
    def cdi_name(device):
        return f"{RESOURCE}={device}"

    def start_plugin(self):
        return self.process(
            Process, [self.programs["demo-device-plugin"], "-root", self.place.kubelet, "-resource",
                      RESOURCE, "-devices", ",".join(self.devices)], self.log())


class Ours(CdiDra, Devices, DraCase):

    @staticmethod
    def cdi_name(device):
        return f"{DRIVER}/plugin={device}-0"

    def start_plugin(self):
        return self.start_driver("--device-plugin", RESOURCE)

    def allocate(self, judge, pod, count=1):
        got = super().allocate(judge, pod, count)
        self.resolved({"main": got["cdi"]})
        return got

    def test_kubelet_is_killed(self):
        """It removes the plugin's socket, and keeps its checkpoint."""
        judge = self.device_judge()
        self.start_plugin()
        self.wait(judge, 2)
        one = self.allocate(judge, "one")
        judge.kill()
        judge = self.device_judge()
        self.wait(judge, 2)
        self.assertEqual(self.allocate(judge, "one")["cdi"], one["cdi"])

    def test_claims_and_pods(self):
        self.have(*own_claim("claim", self.devices[0]))
        devices = self.device_judge()
        self.start_plugin()
        self.wait(devices, 2)
        claims = self.judge()
        claims.wait()
        self.prepare(claims, "claim")
        self.wait(devices, 1)
        self.assertEqual(self.allocate(devices, "one")["ids"], [self.devices[1]])
        self.unprepare(claims, "claim")
        self.wait(devices, 2)
        self.allocate(devices, "two")
        self.refused(claims.ask("prepare claim"), "by the device plugin")


if __name__ == "__main__":
    unittest.main(verbosity=2)
