#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""ResourceSlices of cdi-dra in a real API server, with the rights of its manifests.

usage: dra_slices_test.py CDI_DRA BUILD CDI_PREPARE [ARGUMENTS OF UNITTEST]

CDI_FULL=1 builds kube-apiserver and etcd in the folder BUILD.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from api_cluster import Cluster, need_cluster  # noqa: E402
from dra_case import CDI_DRA, GPUS, PCI, DraCase, need_program  # noqa: E402
from nri_peers import wait_until  # noqa: E402

BUILD, PREPARE = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "prepare"))
import node_trees  # noqa: E402  pylint: disable=wrong-import-position

MANIFEST = (pathlib.Path(__file__).resolve().parents[3] / "tools/dra/deploy/cdi-dra.yaml")
DRIVER = "gpu.cdi.local"


def setUpModule():
    need_program()
    built = subprocess.run(["ldd", CDI_DRA], capture_output=True, text=True, check=False).stdout
    if "libcurl" not in built:
        raise unittest.SkipTest("cdi-dra is built without libcurl, so it knows no API server")


def contents(specs):
    """The slices without what the server adds, and without their generation."""
    out = []
    for spec in specs:
        spec = {**spec, "pool": {"name": spec["pool"]["name"]}}
        if not spec.get("devices", True):
            del spec["devices"]
        for device in spec.get("devices", ()):
            for taint in device.get("taints", ()):
                taint.pop("timeAdded", None)
        out.append(json.dumps(spec, sort_keys=True))
    return sorted(out)


class RealCase(DraCase):
    """A node of a real cluster; the driver has the token of its pod."""

    tree = "nv2"
    options = ()

    @classmethod
    def setUpClass(cls):
        try:
            import yaml  # pylint: disable=import-outside-toplevel
        except ImportError as error:
            raise unittest.SkipTest("python3-yaml is not installed") from error
        programs = need_cluster(BUILD)
        folder = tempfile.mkdtemp(prefix="cdi-slices-")
        cls.addClassCleanup(shutil.rmtree, folder)
        cls.cluster = Cluster(programs, folder, *cls.options)
        cls.addClassCleanup(cls.cluster.stop)
        items = list(yaml.safe_load_all(MANIFEST.read_text("ascii")))
        for item in items:
            cls.cluster.create(item)
        (daemons,) = (item for item in items if item["kind"] == "DaemonSet")
        template = daemons["spec"]["template"]
        cls.uids, cls.tokens = {}, {}
        for node in ("node1", "node2"):
            made = cls.cluster.create({"apiVersion": "v1", "kind": "Node",
                                       "metadata": {"name": node}})
            cls.uids[node] = made.object["metadata"]["uid"]
            pod = cls.cluster.create({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": node, "namespace": "cdi-dra", **template["metadata"]},
                "spec": {**template["spec"], "nodeName": node}})
            cls.tokens[node] = cls.cluster.pod_token("cdi-dra", "cdi-dra", pod.object["metadata"])
        cls.wait_for_policy()

    @classmethod
    def wait_for_policy(cls):
        """A policy begins to act some time after it was made."""
        spec = {"driver": "x.example.com", "nodeName": "node1", "devices": [],
                "pool": {"name": "x", "generation": 1, "resourceSliceCount": 1}}
        for number in range(600):
            made = cls.cluster.create({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
                                       "metadata": {"name": f"try-{number}"}, "spec": spec},
                                      cls.tokens["node1"])
            if made.status != 201:
                return
            cls.cluster.delete("ResourceSlice", f"try-{number}")
        raise AssertionError("the policy does not act")

    def setUp(self):
        super().setUp()
        self.addCleanup(self.remove_slices)

    def source(self):
        return "--kubeconfig", str(self.kubeconfig(self.tokens["node1"]))

    def kubeconfig(self, token):
        text = pathlib.Path(self.cluster.kubeconfig).read_text(encoding="ascii")
        path = self.place / "kubeconfig"
        path.write_text(text.replace(self.cluster.token, token), encoding="ascii")
        return path

    def start(self, *options, driver=DRIVER):
        return super().start(*options, driver=driver)

    def notify(self):
        self.registration(f"{DRIVER}-reg.sock").notify(registered=True)

    def published(self):
        process = self.serving()
        self.notify()
        process.wait_for("published")
        return process

    def survey(self, process):
        process.process.send_signal(signal.SIGHUP)

    def slices(self):
        return [one for one in self.cluster.get("ResourceSlice").object["items"]
                if one["spec"]["driver"] == DRIVER]

    def specs(self):  # pylint: disable=arguments-differ
        return [one["spec"] for one in self.slices()]

    def devices(self):
        return {device["name"]: device for spec in self.specs()
                for device in spec.get("devices", ())}

    def versions(self):
        """The resource version of each slice."""
        return {one["metadata"]["name"]: one["metadata"]["resourceVersion"]
                for one in self.slices()}

    def pools(self):
        return {(spec["pool"]["generation"], spec["pool"]["resourceSliceCount"])
                for spec in self.specs()}

    def remove_slices(self):
        for name in self.versions():
            self.cluster.delete("ResourceSlice", name)

    def shown(self, *options):
        """The specs that `cdi-prepare slices` shows for the node."""
        done = subprocess.run([PREPARE, "slices", "--root", self.root, "--node", "node1", "-o",
                               "json", *options], capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        return [one["spec"] for one in json.loads(done.stdout)["items"]]


class Slices(RealCase):
    def test_the_server_keeps_what_it_gets(self):
        """It refuses members that it does not know."""
        for tree in ("nv2mig", "mi300x-cpx", "intel-xe", "vfio", "other"):
            with self.subTest(tree):
                shutil.rmtree(self.root)
                node_trees.TREES[tree](str(self.root), False)
                process = self.published()
                wanted = self.shown()
                self.assertEqual(contents(self.specs()), contents(wanted))
                self.assertEqual({pool[1] for pool in self.pools()}, {len(wanted)})
                self.assertEqual(process.events("warning"), [])
                self.assertEqual(process.stop(), 0)

    def test_the_node_owns_the_slices(self):
        self.published()
        (made,) = self.slices()
        (owner,) = made["metadata"]["ownerReferences"]
        self.assertEqual((owner["kind"], owner["name"], owner["uid"]),
                         ("Node", "node1", self.uids["node1"]))

    def test_a_restart_writes_nothing(self):
        self.published().kill()
        before = self.versions()
        process = self.serving()
        self.notify()
        process.wait_for("registered")
        put_back = self.remove_gpu(PCI[0])
        self.survey(process)
        process.wait_for("published")  # only now
        self.assertEqual(len(process.events("published")), 1)
        put_back()
        self.survey(process)
        wait_until(lambda: len(self.devices()) == 2, "both GPUs")
        self.assertEqual((set(self.versions()), self.pools()), (set(before), {(1, 1)}))

    def test_a_taint_keeps_its_time(self):
        process = self.published()
        table = self.root / "dev.tab"
        text = table.read_text(encoding="ascii")
        table.write_text(text.replace("/dev/nvidia0 ", "/dev/none "), encoding="ascii")
        self.survey(process)
        wait_until(lambda: "taints" in self.devices()[GPUS[0]], "a taint")
        (taint,) = self.devices()[GPUS[0]]["taints"]
        self.assertEqual((taint["key"], taint["effect"]), (f"{DRIVER}/unusable", "NoSchedule"))
        put_back = self.remove_gpu(PCI[1])
        self.survey(process)
        wait_until(lambda: len(self.devices()) == 1, "one GPU")
        self.assertEqual(self.devices()[GPUS[0]]["taints"], [taint])
        put_back()
        table.write_text(text, encoding="ascii")
        self.survey(process)
        wait_until(lambda: contents(self.specs()) == contents(self.shown()), "all is well")
        self.assertEqual(self.pools(), {(1, 1)})

    def test_the_kubelet_wipes_the_slices(self):
        process = self.published()
        self.remove_slices()
        self.notify()
        process.wait_for("published", 2)
        self.assertEqual(tuple(self.devices()), GPUS)

    def test_another_node(self):
        """The policy keeps a driver from writing slices of other nodes."""
        self.tokens, own = {**self.tokens, "node1": self.tokens["node2"]}, self.tokens
        process = self.serving()
        self.notify()
        process.wait_for("warning")
        self.assertIn("can only write slices of that node", process.events("warning")[0]["error"])
        self.assertEqual(self.slices(), [])
        self.tokens = own

    def test_many_devices(self):
        """A change of one device writes one slice; another number of slices, all."""
        file = self.place / "npu.toml"
        file.write_text('kind = "acme.example/npu"\ndevices = "/dev/npu*"\n', encoding="ascii")
        shutil.rmtree(self.root)
        tree = node_trees.Tree(self.root)

        def add(first, last):
            for index in range(first, last):
                tree.file(f"/sys/devices/virtual/npu/npu{index}/dev", f"240:{index}\n")
                tree.link(f"/sys/dev/char/240:{index}", f"/sys/devices/virtual/npu/npu{index}")
                tree.node(f"/dev/npu{index}", 240, index, 0o666, 0)

        add(0, 150)
        tree.done(False, [(240, "npu")])
        process = self.serving("--vendor-file", str(file))
        self.notify()
        process.wait_for("published")
        self.assertEqual(self.pools(), {(1, 3)})
        self.assertEqual(contents(self.specs()), contents(self.shown("--vendor-file", str(file))))
        before = self.versions()
        table = self.root / "dev.tab"
        text = table.read_text(encoding="ascii")
        table.write_text("".join(line for line in text.splitlines(keepends=True)
                                 if not line.startswith("/dev/npu149 ")), encoding="ascii")
        self.survey(process)
        wait_until(lambda: len(self.devices()) == 149, "149 devices")
        after = self.versions()
        self.assertEqual(len(set(before.items()) - set(after.items())), 1)
        self.assertEqual(self.pools(), {(1, 3)})
        table.write_text("".join(line for line in text.splitlines(keepends=True)
                                 if not line.startswith("/dev/npu1")), encoding="ascii")
        self.survey(process)
        wait_until(lambda: self.pools() == {(2, 2)}, "two slices of a new generation")


class WithoutCounters(RealCase):
    """A server where a feature is disabled drops what it needs."""

    tree = "vfio"
    options = ("--feature-gates=DRAPartitionableDevices=false",)

    def test_one_of_the_devices_that_exclude_each_other(self):
        process = self.published()
        wait_until(lambda: sorted(self.devices()) == [
            "vfio-gpu-0000-81-00-0", "vfio-gpu-0000-82-00-0"], "no iommufd device")
        process.wait_for("warning")
        self.assertIn("keeps no shared counters", process.events("warning")[0]["error"])
        self.assertEqual({pool[1] for pool in self.pools()}, {1})


if __name__ == "__main__":
    unittest.main(verbosity=2)
