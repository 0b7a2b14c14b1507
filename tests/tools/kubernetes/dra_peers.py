# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the tests of DRA drivers share: objects of Kubernetes, dra-judge, drivers and their node."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import uuid

from nri_peers import PATIENCE, LineJudge, Process, wait_until

NODE = "node1"
DRIVER = "gpu.example.com"
API = "resource.k8s.io/v1"


def uid_of(name):
    """A UID that depends only on a name."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def allocated(device, request="gpu", pool=NODE, driver=DRIVER, **more):
    """One device of an allocation."""
    return {"request": request, "driver": driver, "pool": pool, "device": device, **more}


def claim(name, results, pods, config=()):
    """A ResourceClaim for which devices are allocated, reserved for pods."""
    requests = [{"name": one, "exactly": {"deviceClassName": DRIVER}}
                for one in dict.fromkeys(result["request"].split("/")[0] for result in results)]
    devices = {"results": list(results)}
    if config:
        devices["config"] = list(config)
    return {"apiVersion": API, "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": "default", "uid": uid_of(name)},
            "spec": {"devices": {"requests": requests}},
            "status": {"allocation": {"devices": devices},
                       "reservedFor": [{"resource": "pods", "name": pod, "uid": uid_of(pod)}
                                       for pod in pods]}}


def pod(name, claims, containers=None):
    """A pod with claims; `containers` maps names to the entries of `resources.claims`."""
    containers = containers or {"main": [{"name": one} for one in claims]}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "uid": uid_of(name)},
            "spec": {"nodeName": NODE,
                     "resourceClaims": [{"name": one, "resourceClaimName": one} for one in claims],
                     "containers": [{"name": container, "image": "none",
                                     "resources": {"claims": entries}}
                                    for container, entries in containers.items()]}}


def own_claim(name, device, **more):
    """A pod and its claim of one device, both with a name."""
    return [claim(name, [allocated(device, **more)], [name]), pod(name, [name])]


def make_gpus(sample_node, folder, count, driver_files=True):
    """A tree like the sample node's, with so many GPUs."""
    loader = importlib.machinery.SourceFileLoader("sample_node", sample_node)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("sample_node", loader))
    loader.exec_module(module)
    node = module.Node(folder)
    node.driver()
    for i in range(count):
        node.gpu(f"0000:{i + 1:02x}:00.0", f"pci0000:{i:02x}/0000:{i:02x}:01.0", i, i, 128 + i,
                 i * 2 // count, f"GPU-{uuid.uuid5(uuid.NAMESPACE_URL, str(i))}")
    if driver_files:
        node.driver_files()
    node.table()


class DraJudge(LineJudge):
    """dra-judge, the part of kubelet that a DRA driver talks to."""

    def __init__(self, program, place, *options):
        super().__init__([program, "-root", place.kubelet, "-node", NODE, *options],
                         place.path("judge.log"))

    def wait(self, word="wait", driver=DRIVER):
        answer = self.ask(f"{word} {driver} {PATIENCE}")
        if not answer["ok"]:
            raise AssertionError(answer["error"])


class DraPlace:
    """The folders of a node: kubelet's, CDI specs, a driver's state, and ResourceClaims."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.kubelet, self.cdi, self.state, self.claims, self.tree = (
            self.path(name) for name in ("kubelet", "cdi", "state", "claims", "tree"))
        for name in (self.kubelet, self.cdi, self.state, self.claims):
            os.mkdir(name)

    def path(self, name):
        return str(self.folder / name)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.path(name)

    def write_objects(self, objects):
        """Writes the file of the judge, and the claims for a driver that reads a folder."""
        for one in objects:
            if one["kind"] == "ResourceClaim":
                self.write(f"claims/{one['metadata']['name']}.json", json.dumps(one))
        return self.write("objects.yaml",
                          "---\n".join(json.dumps(one) + "\n" for one in objects))

    def specs(self):
        """The names of the spec files; temporary ones have other names."""
        if not os.path.isdir(self.cdi):
            return []
        return sorted(name for name in os.listdir(self.cdi) if name.endswith(".json"))

    def devices(self):
        """The edits of each device in the specs, by its qualified name."""
        found = {}
        for name in self.specs():
            spec = json.loads(pathlib.Path(self.cdi, name).read_text(encoding="utf-8"))
            for device in spec["devices"]:
                found[f"{spec['kind']}={device['name']}"] = device["containerEdits"]
        return found

    def journal(self):
        """The files of a driver's state that are there for a claim."""
        return sorted(name for name in os.listdir(self.state)
                      if not name.startswith(".") and not name.endswith(".lock"))


class DraCase(unittest.TestCase):
    """A node with a driver and kubelet. A subclass has `start_driver` and `devices`."""
    maxDiff = None
    programs = {}

    def setUp(self):
        folder = tempfile.mkdtemp(prefix="cdi-dra-")
        self.addCleanup(shutil.rmtree, folder)
        self.place = DraPlace(folder)
        self.count = 0

    def process(self, kind, *arguments, **how):
        started = kind(*arguments, **how)
        self.addCleanup(started.kill)
        return started

    def log(self):
        self.count += 1
        return self.place.path(f"driver{self.count}.log")

    def have(self, *objects):
        """The objects of the API server, with the node."""
        node = {"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": NODE, "uid": uid_of(NODE)}}
        self.objects = self.place.write_objects([node, *objects])

    def judge(self):
        return self.process(DraJudge, self.programs["dra-judge"], self.place, "-objects",
                            self.objects)

    def both(self):
        """A driver that kubelet knows, and kubelet."""
        driver, judge = self.start_driver(), self.judge()
        judge.wait()
        return driver, judge

    def good(self, answer):
        self.assertTrue(answer["ok"], answer.get("error"))
        return answer

    def refused(self, answer, *texts):
        self.assertFalse(answer["ok"], answer)
        for text in texts:
            self.assertIn(text, answer["error"])
        return answer["error"]

    def prepare(self, judge, name):
        """The CDI names of each container. All are in specs."""
        return self.resolved(self.good(judge.ask(f"prepare {name}"))["containers"])

    def prepare_again(self, judge, name):
        """As kubelet does, which tries again after a failure."""
        answers = []

        def works():
            answers.append(judge.ask(f"prepare {name}"))
            return answers[-1]["ok"]
        wait_until(works, f"prepare {name}")
        return self.resolved(answers[-1]["containers"])

    def resolved(self, containers):
        devices = self.place.devices()
        for names in containers.values():
            for name in names:
                self.assertIn(name, devices)
        return containers

    def unprepare(self, judge, name):
        self.good(judge.ask(f"unprepare {name}"))

    def unprepare_again(self, judge, name):
        wait_until(lambda: judge.ask(f"unprepare {name}")["ok"], f"unprepare {name}")

    def check_nothing_is_left(self):
        self.assertEqual((self.place.specs(), self.place.journal()), ([], []))


class DemoDriver:
    """The driver in Go on the helper library of Kubernetes."""
    devices = [f"gpu-{number}" for number in range(100)]

    def start_driver(self):
        return self.process(
            Process, [self.programs["demo-driver"], "-driver", DRIVER, "-root",
                      self.place.kubelet, "-cdi-dir", self.place.cdi, "-node", NODE, "-objects",
                      self.objects, "-devices", ",".join(self.devices)], self.log())


class CdiDra:
    """cdi-dra, on a node of files with GPUs."""
    gpus = 2
    driver_files = True  # which containers get from their host
    driver = DRIVER

    def setUp(self):
        super().setUp()
        if not os.access(self.programs["cdi-dra"], os.X_OK):
            self.skipTest("cdi-dra is not built: it needs gRPC and protobuf")
        make_gpus(self.programs["sample-node"], self.place.tree, self.gpus,
                  self.driver_files)
        self.devices = self.published()

    def published(self):
        """The names of the devices in the ResourceSlices of the node."""
        done = subprocess.run([self.programs["cdi-prepare"], "slices", "-o", "json", "--root",
                               self.place.tree, "--driver", self.driver, "--node", NODE],
                              capture_output=True, text=True, timeout=60, check=True)
        return [device["name"] for one in json.loads(done.stdout)["items"]
                for device in one["spec"].get("devices", ())]

    def start_driver(self, *options, **how):
        """Claims come from the folder unless the options say otherwise."""
        source = [] if "--kubeconfig" in options else ["--claims", self.place.claims]
        return self.process(
            Process, [self.programs["cdi-dra"], "serve", "--driver", self.driver, "--node", NODE,
                      "--kubelet-dir", self.place.kubelet, "--output-dir", self.place.cdi,
                      "--state-dir", self.place.state, "--root", self.place.tree, *source,
                      *options], self.log(), **how)
