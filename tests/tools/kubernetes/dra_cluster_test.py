#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Claims in a real API server: kubelet's code prepares them through cdi-dra, which reads them there.

usage: dra_cluster_test.py BUILD CDI_DRA CDI_PREPARE SAMPLE_NODE [ARGUMENTS OF UNITTEST]

CDI_FULL=1 builds kube-apiserver, etcd and dra-judge in the folder BUILD. The driver has the rights
of its manifest.
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import judges  # noqa: E402
from api_cluster import Cluster, need_cluster, path_of  # noqa: E402
from dra_peers import CdiDra, DraCase, DraJudge, allocated, claim, pod  # noqa: E402
from nri_peers import PATIENCE, LineJudge, wait_until  # noqa: E402

BUILD, CDI_DRA, CDI_PREPARE, SAMPLE_NODE = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
MANIFEST = pathlib.Path(__file__).resolve().parents[3] / "tools/dra/deploy/cdi-dra.yaml"
DRIVER = "gpu.cdi.local"
RESOURCE = "gpu.cdi.local/gpu"
NODE = "node1"


def setUpModule():
    DraCase.programs["cluster"] = need_cluster(BUILD)
    folder = judges.build_kubelet(BUILD)
    DraCase.programs.update({name: str(folder / name) for name in ("dra-judge", "device-judge")})
    DraCase.programs.update({"cdi-dra": CDI_DRA, "cdi-prepare": CDI_PREPARE,
                             "sample-node": SAMPLE_NODE})
    needed = subprocess.run(["ldd", CDI_DRA], capture_output=True, text=True, check=False).stdout
    if os.access(CDI_DRA, os.X_OK) and "libcurl" not in needed:
        raise unittest.SkipTest("cdi-dra is built without libcurl, so it knows no API server")


class RealCluster(CdiDra, DraCase):
    driver = DRIVER

    def setUp(self):
        super().setUp()
        try:
            import yaml  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("python3-yaml is not installed")
        self.cluster = Cluster(self.programs["cluster"], self.place.path("api"))
        self.addCleanup(self.cluster.stop)
        self.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})
        items = list(yaml.safe_load_all(MANIFEST.read_text("ascii")))
        for item in items:
            self.create(item)
        template, = (item["spec"]["template"] for item in items if item["kind"] == "DaemonSet")
        made = self.create({"apiVersion": "v1", "kind": "Pod",
                            "metadata": {"name": "driver", "namespace": "cdi-dra"},
                            "spec": {**template["spec"], "nodeName": NODE}})
        self.kubeconfig = self.place.write("kubeconfig", json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {
                "server": self.cluster.url,
                "certificate-authority": str(self.cluster.folder / "ca.crt")}}],
            "users": [{"name": "u", "user": {"token": self.cluster.pod_token(
                "cdi-dra", "cdi-dra", made["metadata"])}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))

    def create(self, body):
        answer = self.cluster.create(body)
        self.assertEqual(answer.status, 201, answer.message)
        return answer.object

    def create_claim(self, wanted):
        """With its status, and the UIDs that the server gave to the pods."""
        made = self.create(wanted)
        made["status"] = json.loads(json.dumps(wanted["status"]))
        for one in made["status"]["reservedFor"]:
            one["uid"] = self.cluster.get("Pod", one["name"]).object["metadata"]["uid"]
        path = path_of("ResourceClaim", made["metadata"]["name"]) + "/status"
        answer = self.cluster.request("PUT", path, made)
        self.assertEqual(answer.status, 200, answer.message)
        return answer.object["metadata"]["uid"]

    def judge(self):
        return self.process(DraJudge, self.programs["dra-judge"], self.place, "-kubeconfig",
                            self.cluster.kubeconfig)

    def slices(self):
        """The devices of the node in the API server, with the values of their taints."""
        found = {}
        for one in self.cluster.get("ResourceSlice").object["items"]:
            self.assertEqual((one["spec"]["driver"], one["spec"]["nodeName"]), (DRIVER, NODE))
            for device in one["spec"].get("devices", ()):
                found[device["name"]] = [taint.get("value") for taint in device.get("taints", ())]
        return found

    def wait_for_slices(self, **wanted):
        wait_until(lambda: self.slices() == wanted, f"slices {wanted}")

    def test_slices_and_claims(self):
        driver, judge = self.start_driver("--kubeconfig", self.kubeconfig), self.judge()
        judge.wait(driver=DRIVER)
        self.wait_for_slices(**{name: [] for name in self.devices})
        self.create(pod("one", ["shared"]))
        self.create(pod("two", ["shared"]))
        uid = self.create_claim(claim("shared", [allocated(name, driver=DRIVER)
                                                 for name in self.devices], ["one", "two"]))
        names = self.prepare(judge, "one")["main"]
        self.assertEqual(names, [f"{DRIVER}/claim={uid}-{number}" for number in range(2)])
        self.assertEqual(self.prepare(judge, "two")["main"], names)
        driver.kill()
        driver = self.start_driver("--kubeconfig", self.kubeconfig)
        for name in ("one", "two"):
            self.unprepare_again(judge, name)
        self.check_nothing_is_left()
        self.assertNotIn("warning", driver.printed())

    def test_a_claim_that_was_made_again(self):
        self.start_driver("--kubeconfig", self.kubeconfig)
        judge = self.judge()
        judge.wait(driver=DRIVER)
        self.create(pod("one", ["own"]))
        wanted = claim("own", [allocated(self.devices[0], driver=DRIVER)], ["one"])
        first = self.create_claim(wanted)
        self.prepare(judge, "one")
        self.cluster.delete("ResourceClaim", "own")
        self.unprepare(judge, "one")
        self.check_nothing_is_left()
        second = self.create_claim(wanted)
        self.assertNotEqual(first, second)
        self.assertIn(second, self.prepare(judge, "one")["main"][0])

    def test_devices_of_pods_have_a_taint(self):
        """So the scheduler gives a claim none that a pod has by the device plugin."""
        judge, devices = self.judge(), self.process(
            LineJudge, [self.programs["device-judge"], "-root", self.place.kubelet],
            self.place.path("devices.log"))
        self.start_driver("--kubeconfig", self.kubeconfig, "--device-plugin", RESOURCE)
        judge.wait(driver=DRIVER)
        self.wait_for_slices(**{name: [] for name in self.devices})
        self.good(devices.ask(f"wait {RESOURCE} 2 {PATIENCE}"))
        got, = self.good(devices.ask(f"allocate pod {RESOURCE} 1"))["ids"]
        self.wait_for_slices(**{name: ["device-plugin"] * (name == got) for name in self.devices})


if __name__ == "__main__":
    unittest.main(verbosity=2)
