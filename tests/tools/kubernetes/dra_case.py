# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A test case with cdi-dra on a fake node, for tests with the argument CDI_DRA."""
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

import scripted_kubelet as kubelet
from nri_peers import Process, wait_until
from results_schema import checked

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "prepare"))
import node_trees  # noqa: E402  pylint: disable=wrong-import-position

CDI_DRA = os.path.abspath(sys.argv.pop(1))
DRIVER = "gpu.example.com"
GPUS = tuple("nvidia-gpu-" + uuid.removeprefix("GPU-") for uuid in node_trees.NVIDIA_UUIDS)
PCI = ("0000:17:00.0", "0000:ca:00.0")
VERSIONS = ["v1.DRAPlugin", "v1beta1.DRAPlugin", "v1.DRAResourceHealth",
            "v1alpha1.DRAResourceHealth"]


def need_program():
    if os.environ.get("CDI_SANITIZED") and not os.access(CDI_DRA, os.X_OK):
        raise unittest.SkipTest("cdi-dra is built with the sanitizers only for CDI_FULL=1")
    if not os.access(CDI_DRA, os.X_OK):
        raise unittest.SkipTest("cdi-dra is not built: it needs gRPC and protobuf")
    kubelet.need_grpc()


def uid_of(number):
    return f"22222222-0000-4000-8000-{number:012}"


def claim(number, *devices, config=(), driver=DRIVER, **more):
    """A ResourceClaim `claim-NUMBER` with devices, each a name or a dictionary."""
    results = [{"request": "gpu", "driver": driver, "pool": "node1",
                **(device if isinstance(device, dict) else {"device": device})}
               for device in devices]
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {"name": f"claim-{number}", "namespace": "default", "uid": uid_of(number)},
            "status": {"allocation": {"devices": {"results": results, "config": list(config)}}},
            **more}


def name_of(number):
    """What the kubelet calls a claim."""
    return uid_of(number), f"claim-{number}"


class DriverProcess(Process):
    """cdi-dra."""

    def events(self, name=None):
        """The lines of its log."""
        lines = [checked("cdi-dra serve", line) for line in self.printed().splitlines()
                 if line[0] == "{"]
        return [line for line in lines if name in (None, line["event"])]

    def has_open(self, path):
        """Whether it has a file open, as while it waits for a lock."""
        for one in pathlib.Path(f"/proc/{self.pid}/fd").iterdir():
            try:
                if one.readlink() == path.resolve():
                    return True
            except FileNotFoundError:  # it was closed in between
                pass
        return False

    def wait_for(self, event, count=1):
        def is_there():
            if not self.is_running() and len(self.events(event)) < count:
                raise AssertionError(self.printed())
            return len(self.events(event)) >= count
        wait_until(is_there, f"{event} in\n{self.printed()}")


class DraCase(unittest.TestCase):
    """A node of `tree` with a kubelet's directory and a folder of claims."""

    tree = "nv2"
    before = ()  # words that run the driver in another way

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="dra-")
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.root, self.kubelet, self.out, self.state, self.claims = (
            self.place / name for name in ("node", "k", "cdi", "state", "claims"))
        node_trees.TREES[self.tree](str(self.root), False)
        self.claims.mkdir()
        self.runs = 0

    # The driver.

    def source(self):
        """The options that say where claims come from."""
        return "--claims", str(self.claims)

    def start(self, *options, driver=DRIVER, **how):
        self.runs += 1
        process = DriverProcess(
            [*self.before, CDI_DRA, "serve", "--driver", driver, "--node", "node1", "--kubelet-dir",
             str(self.kubelet), "--output-dir", str(self.out), "--state-dir", str(self.state),
             "--root", str(self.root), *self.source(), "-o", "json", *options],
            str(self.place / f"log{self.runs}"), **how)
        self.addCleanup(lambda: process.is_running() and process.kill())
        return process

    def serving(self, *options, **how):
        process = self.start(*options, **how)
        process.wait_for("serving", 2)
        return process

    def service(self, name="dra.sock"):
        return self.closed(kubelet.Service(self.service_path(name)))

    def registration(self, name=f"{DRIVER}-reg.sock"):
        return self.closed(kubelet.Registration(self.registry / name))

    def closed(self, socket):
        self.addCleanup(socket.close)
        return socket

    def service_path(self, name="dra.sock"):
        return self.kubelet / "plugins" / DRIVER / name

    @property
    def registry(self):
        return self.kubelet / "plugins_registry"

    # Claims and specs.

    def write_claim(self, number, *devices, **how):
        self.write(f"{number}.json", claim(number, *devices, **how))
        return name_of(number)

    def write(self, name, value):
        text = value if isinstance(value, str) else json.dumps(value)
        (self.claims / name).write_text(text, encoding="utf-8")

    def check_unanswered(self, calls):
        """The driver has ended. Calls that were not sent yet would wait for another one."""
        for call in calls:
            call.cancel()
        answered = [call for call in calls if not call.cancelled() and call.exception() is None]
        self.assertEqual(answered, [])

    def spec_path(self, number):
        return self.out / f"{DRIVER}-claim_{uid_of(number)}.json"

    def spec(self, number):
        return json.loads(self.spec_path(number).read_text(encoding="utf-8"))

    def specs(self):
        """The numbers of the claims with a spec."""
        found = self.out.glob("*.json") if self.out.exists() else []
        return sorted(int(path.stem[-12:]) for path in found)

    def journal(self):
        """The numbers of the claims in the journal."""
        found = self.state.glob("*.json") if self.state.exists() else []
        return sorted(int(path.stem[-12:]) for path in found)

    def check_claims(self, *numbers):
        """Journal and specs have these claims."""
        self.assertEqual((self.journal(), self.specs()), (list(numbers), list(numbers)))
        for number in numbers:
            self.assertTrue(all(device["containerEdits"]["deviceNodes"]
                                for device in self.spec(number)["devices"]))

    def check_prepared(self, answer, number, *devices):
        """A claim got these devices, in order."""
        self.assertEqual(answer[uid_of(number)], {"devices": [
            {"requests": ["gpu"], "pool": "node1", "device": device,
             "ids": [f"{DRIVER}/claim={uid_of(number)}-{index}"]}
            for index, device in enumerate(devices)]})

    # The hardware.

    def remove_gpu(self, address):
        """Takes a card out; what this gives puts it back."""
        places = (self.root / f"sys/bus/pci/devices/{address}",
                  self.root / f"proc/driver/nvidia/gpus/{address}")
        for number, place in enumerate(places):
            place.rename(self.place / f"removed{number}")

        def put_back():
            for number, place in enumerate(places):
                (self.place / f"removed{number}").rename(place)
        return put_back

    @staticmethod
    def wipe(folder):
        """Removes a folder, into which the driver may be writing."""
        def is_gone():
            try:
                shutil.rmtree(folder)
            except OSError:
                return False
            return True
        wait_until(is_gone, f"{folder} is gone")
