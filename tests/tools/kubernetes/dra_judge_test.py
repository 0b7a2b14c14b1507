#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cdi-dra with kubelet's own code, and beside it a driver in Go: claims are prepared, whoever ends.

usage: dra_judge_test.py BUILD CDI_DRA CDI_PREPARE SAMPLE_NODE [ARGUMENTS OF UNITTEST]

Builds dra-judge and demo-driver in the folder BUILD; all tests are skipped without Go, its modules
or their build cache. CDI_FULL=1 kills more often.
"""
import os
import pathlib
import random
import shutil
import signal
import sys
import threading
import unittest

sys.dont_write_bytecode = True
import judges  # noqa: E402
from dra_peers import (  # noqa: E402
    DRIVER, CdiDra, DemoDriver, DraCase, allocated, claim, own_claim, pod, uid_of)
from nri_peers import wait_until  # noqa: E402

BUILD, CDI_DRA, CDI_PREPARE, SAMPLE_NODE = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
KILLS = 60 if os.environ.get("CDI_FULL") == "1" else 8


def setUpModule():
    folder = judges.build_kubelet(BUILD)
    DraCase.programs.update({name: str(folder / name) for name in ("dra-judge", "demo-driver")})
    DraCase.programs.update({"cdi-dra": CDI_DRA, "cdi-prepare": CDI_PREPARE,
                             "sample-node": SAMPLE_NODE})


class Claims:
    """What each driver does."""

    def test_one_device(self):
        self.have(*own_claim("one", self.devices[0]))
        _, judge = self.both()
        containers = self.prepare(judge, "one")
        self.assertEqual(len(containers["main"]), 1)
        self.assertEqual(self.prepare(judge, "one"), containers)
        self.unprepare(judge, "one")
        self.check_nothing_is_left()
        self.unprepare(judge, "one")
        self.assertEqual(self.prepare(judge, "one"), containers, "names stay")

    def test_two_pods_share_a_claim(self):
        """Of the request `gpu`, the alternative `small` was allocated."""
        self.have(claim("shared", [allocated(self.devices[0], "gpu/small"),
                                   allocated(self.devices[1], "extra")], ["one", "two"]),
                  pod("one", ["shared"], {"all": [{"name": "shared"}],
                                          "gpu": [{"name": "shared", "request": "gpu"}],
                                          "extra": [{"name": "shared", "request": "extra"}],
                                          "none": []}),
                  pod("two", ["shared"]))
        _, judge = self.both()
        got = self.prepare(judge, "one")
        self.assertEqual(len(set(got["all"])), 2)
        self.assertEqual([got["gpu"], got["extra"]], [[name] for name in got["all"]])
        self.assertEqual(got["none"], [])
        self.assertEqual(self.prepare(judge, "two")["main"], got["all"])
        self.unprepare(judge, "one")
        self.resolved(got)
        self.unprepare(judge, "two")
        self.check_nothing_is_left()

    def test_two_claims_of_a_pod(self):
        self.have(claim("a", [allocated(self.devices[0])], ["one"]),
                  claim("b", [allocated(self.devices[1])], ["one"]), pod("one", ["a", "b"]))
        _, judge = self.both()
        self.assertEqual(len(set(self.prepare(judge, "one")["main"])), 2)
        self.unprepare(judge, "one")
        self.check_nothing_is_left()

    def test_the_driver_is_killed(self):
        self.have(*own_claim("one", self.devices[0]), *own_claim("two", self.devices[1]))
        driver, judge = self.both()
        containers = self.prepare(judge, "one")
        driver.kill()
        self.resolved(containers)
        self.start_driver()
        self.prepare_again(judge, "two")
        self.resolved(containers)
        for name in ("one", "two"):
            self.unprepare(judge, name)
        self.check_nothing_is_left()

    def test_kubelet_is_killed(self):
        self.have(*own_claim("one", self.devices[0]), *own_claim("two", self.devices[1]))
        _, judge = self.both()
        one = self.prepare(judge, "one")
        judge.kill()
        judge = self.judge()
        judge.wait()
        self.assertEqual(self.good(judge.ask("devices one"))["containers"], one)
        self.assertEqual(self.prepare(judge, "one"), one, "as for a pod that starts again")
        self.prepare(judge, "two")
        for name in ("one", "two"):
            self.unprepare(judge, name)
        self.check_nothing_is_left()

    def test_kubelet_loses_its_checkpoint(self):
        self.have(*own_claim("one", self.devices[0]))
        _, judge = self.both()
        one = self.prepare(judge, "one")
        judge.kill()
        os.unlink(os.path.join(self.place.kubelet, "dra_manager_state"))
        judge = self.judge()
        judge.wait()
        self.assertEqual(self.prepare(judge, "one"), one)
        self.unprepare(judge, "one")
        self.check_nothing_is_left()

    def test_the_claim_was_deleted_before_unprepare(self):
        self.have(*own_claim("one", self.devices[0]))
        _, judge = self.both()
        self.prepare(judge, "one")
        pathlib.Path(self.place.claims, "one.json").unlink()
        self.unprepare(judge, "one")
        self.check_nothing_is_left()

    def kill_while(self, process, judge, command, start):
        """The answer to a command while a process is killed, at any moment of it."""
        killer = threading.Timer(random.uniform(0, 0.008), process.kill)
        killer.start()
        answer = judge.ask(command)
        killer.join()
        start()
        return answer

    def test_the_driver_is_killed_at_any_moment(self):
        self.have(*own_claim("one", self.devices[0]))
        driver, judge = self.both()
        names = self.prepare(judge, "one")
        for _ in range(KILLS):
            self.unprepare(judge, "one")
            self.kill_while(driver, judge, "prepare one", lambda: None)
            driver = self.start_driver()
            self.assertEqual(self.prepare_again(judge, "one"), names)
            self.kill_while(driver, judge, "unprepare one", lambda: None)
            driver = self.start_driver()
            self.unprepare_again(judge, "one")
            self.check_nothing_is_left()
            self.assertEqual(self.prepare_again(judge, "one"), names)


class Batch:

    def test_a_hundred_claims(self):
        """kubelet prepares them by one call."""
        names = [f"c{number}" for number in range(100)]
        self.have(*(claim(name, [allocated(device)], ["many"])
                    for name, device in zip(names, self.devices)), pod("many", names))
        _, judge = self.both()
        got = self.prepare(judge, "many")["main"]
        self.assertEqual(len(set(got)), len(names))
        self.unprepare(judge, "many")
        self.check_nothing_is_left()


class InGo(DemoDriver, Claims, DraCase):
    pass


class BatchInGo(DemoDriver, Batch, DraCase):
    pass


class OurBatch(CdiDra, Batch, DraCase):
    gpus = 100


class Ours(CdiDra, Claims, DraCase):

    def test_the_edits_are_those_of_the_device(self):
        self.have(*own_claim("one", self.devices[0]), *own_claim("two", self.devices[1]))
        _, judge = self.both()
        for number, name in enumerate(("one", "two")):
            cdi_name, = self.prepare(judge, name)["main"]
            nodes = {node["path"] for node in self.place.devices()[cdi_name]["deviceNodes"]}
            self.assertIn(f"/dev/nvidia{number}", nodes)
            self.assertNotIn(f"/dev/nvidia{1 - number}", nodes)
            self.assertIn(uid_of(name), cdi_name)

    def test_a_device_of_another_claim(self):
        self.have(*own_claim("one", self.devices[0]), *own_claim("two", self.devices[0]))
        _, judge = self.both()
        self.prepare(judge, "one")
        self.refused(judge.ask("prepare two"), self.devices[0], uid_of("one"))
        self.unprepare(judge, "one")
        self.prepare(judge, "two")

    def test_monitoring_beside_a_claim(self):
        self.have(*own_claim("one", self.devices[0]),
                  *own_claim("monitor", self.devices[0], adminAccess=True))
        _, judge = self.both()
        for name in ("one", "monitor"):
            self.prepare(judge, name)
        self.unprepare(judge, "monitor")
        self.assertEqual(len(self.place.specs()), 1)
        self.unprepare(judge, "one")
        self.check_nothing_is_left()

    def test_a_device_that_is_not_there(self):
        self.have(*own_claim("one", "nvidia-gpu-nine"), *own_claim("two", self.devices[1]))
        _, judge = self.both()
        self.refused(judge.ask("prepare one"), "nvidia-gpu-nine",
                     "no device on this host has that name")
        self.prepare(judge, "two")
        self.unprepare(judge, "one")
        self.unprepare(judge, "two")
        self.check_nothing_is_left()

    def test_one_claim_of_a_batch_fails(self):
        """The pod waits, but the other claim is prepared: it may belong to a running pod."""
        self.have(claim("bad", [allocated("nvidia-gpu-nine")], ["one"]),
                  claim("good", [allocated(self.devices[1])], ["one"]), pod("one", ["bad", "good"]))
        _, judge = self.both()
        self.refused(judge.ask("prepare one"), "nvidia-gpu-nine")
        self.assertEqual(len(self.place.specs()), 1)
        self.unprepare(judge, "one")
        self.check_nothing_is_left()

    def test_devices_of_other_drivers_and_parameters(self):
        parameters = {"apiVersion": "cdi-dra.local/v1", "kind": "GpuConfig", "profile": "compute"}
        of_other = {"source": "FromClaim",
                    "opaque": {"driver": "other.example.com", "parameters": {"a": 1}}}
        of_ours = {"source": "FromClaim", "opaque": {"driver": DRIVER, "parameters": parameters}}
        wrong = {"source": "FromClaim",
                 "opaque": {"driver": DRIVER, "parameters": {**parameters, "profil": "compute"}}}
        results = [allocated(self.devices[0])]
        self.have(claim("good", results, ["one"], [of_other, of_ours]), pod("one", ["good"]),
                  claim("bad", results, ["two"], [wrong]), pod("two", ["bad"]))
        _, judge = self.both()
        self.refused(judge.ask("prepare two"), "profil")
        self.prepare(judge, "one")

    def instance(self, uid):
        """An instance of the driver, as a DaemonSet has it in a pod, once kubelet knows it."""
        driver = self.start_driver("--instance", uid_of(uid))
        wait_until(lambda: "registered" in driver.printed(), driver.log)
        return driver

    def test_an_update_of_the_driver(self):
        """The new instance serves before the old one ends."""
        self.have(*own_claim("one", self.devices[0]), *own_claim("two", self.devices[1]))
        judge = self.judge()
        old = self.instance("old")
        one = self.prepare(judge, "one")
        new = self.instance("new")
        self.prepare(judge, "two")
        self.assertIn("two", new.printed())
        self.assertNotIn("two", old.printed())
        self.assertEqual(old.stop(), 0)
        self.resolved(one)
        self.unprepare_again(judge, "one")
        self.assertIn(uid_of("one"), new.printed())
        new.kill()
        last = self.instance("last")
        self.unprepare_again(judge, "two")
        self.check_nothing_is_left()
        self.assertEqual(last.stop(), 0)
        judge.wait("gone")
        for folder in ("plugins_registry", f"plugins/{DRIVER}"):
            left = os.listdir(os.path.join(self.place.kubelet, folder))
            self.assertEqual([name for name in left if name.endswith(".sock")], [])

    def test_the_new_instance_fails(self):
        """An update that is taken back."""
        self.have(*own_claim("one", self.devices[0]), *own_claim("two", self.devices[1]))
        judge = self.judge()
        self.instance("old")
        self.prepare(judge, "one")
        new = self.instance("new")
        self.prepare(judge, "two")
        new.kill()
        for name in ("one", "two"):
            self.unprepare_again(judge, name)
        self.check_nothing_is_left()

    def wipe(self, folder_too):
        """The driver may write again at once."""
        if folder_too:
            moved = self.place.path(f"wiped{len(os.listdir(self.place.folder))}")
            os.rename(self.place.cdi, moved)
            shutil.rmtree(moved, ignore_errors=True)
        else:
            for name in self.place.specs():
                os.unlink(os.path.join(self.place.cdi, name))

    def test_specs_are_wiped_while_the_driver_is_away(self):
        self.have(*own_claim("one", self.devices[0]))
        driver, judge = self.both()
        names = self.prepare(judge, "one")
        for folder_too in (False, True):
            driver.kill()
            self.wipe(folder_too)
            driver = self.start_driver()
            wait_until(self.place.specs, "specs are written at start")
            self.resolved(names)
        self.unprepare_again(judge, "one")
        self.check_nothing_is_left()

    def test_specs_are_wiped_while_the_driver_serves(self):
        self.have(*own_claim("one", self.devices[0]), *own_claim("two", self.devices[1]))
        _, judge = self.both()
        names = [self.prepare(judge, name) for name in ("one", "two")]
        for folder_too in (False, True, False):
            self.wipe(folder_too)
            wait_until(lambda: len(self.place.specs()) == 2, "specs are written again")
            for name in names:
                self.resolved(name)
        self.unprepare(judge, "two")
        self.assertEqual(len(self.place.specs()), 1)

    def remove_gpu(self):
        """Takes the first card out; what this gives puts it back."""
        moved = [(pathlib.Path(self.place.tree, folder, "0000:01:00.0"),
                  self.place.folder / f"moved{number}") for number, folder in enumerate(
                      ("proc/driver/nvidia/gpus", "sys/bus/pci/devices"))]
        for path, place in moved:
            path.rename(place)

        def put_back():
            for path, place in moved:
                place.rename(path)
        return put_back

    def test_health_of_a_pod(self):
        """As kubelet shows it in the pod's status."""
        self.have(*own_claim("one", self.devices[0]), *own_claim("two", self.devices[1]))
        driver, judge = self.both()
        for name in ("one", "two"):
            self.prepare(judge, name)

        def health(name):
            status, = self.good(judge.ask(f"health {name}"))["containers"]["main"]
            return status["resources"][0]["health"]
        wait_until(lambda: (health("one"), health("two")) == ("Healthy", "Healthy"), "healthy")
        put_back = self.remove_gpu()
        driver.process.send_signal(signal.SIGHUP)
        wait_until(lambda: health("one") == "Unhealthy", "unhealthy")
        self.assertEqual(health("two"), "Healthy")
        put_back()
        driver.process.send_signal(signal.SIGHUP)
        wait_until(lambda: health("one") == "Healthy", "healthy again")

    def test_a_gpu_vanishes_and_returns(self):
        self.have(*own_claim("one", self.devices[0]))
        _, judge = self.both()
        put_back = self.remove_gpu()
        self.refused(judge.ask("prepare one"), self.devices[0])
        self.assertEqual(self.place.specs(), [])
        put_back()
        self.prepare(judge, "one")
        self.unprepare(judge, "one")
        self.check_nothing_is_left()


if __name__ == "__main__":
    unittest.main(verbosity=2)
