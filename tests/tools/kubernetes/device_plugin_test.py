#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The device plugin of cdi-dra with a scripted kubelet: device_plugin_test.py CDI_DRA [...]"""
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from dra_case import (  # noqa: E402
    CDI_DRA, DRIVER, GPUS, PCI, DraCase, name_of, need_program, uid_of)
from nri_peers import wait_until  # noqa: E402
from scripted_device_kubelet import PLUGIN, DeviceKubelet, Plugin, allocation  # noqa: E402
from scripted_kubelet import DRA, request, same  # noqa: E402

RESOURCE = "nvidia.com/gpu"
ONE, TWO = GPUS
setUpModule = need_program


def id_of(device):
    return f"{DRIVER}/plugin={device}-0"


class DevicePlugin(DraCase):

    def setUp(self):
        super().setUp()
        self.process = None

    def kubelet_there(self):
        kubelet = DeviceKubelet(self.kubelet)
        self.addCleanup(kubelet.stop)
        return kubelet

    def plugin_of(self, kubelet):
        plugin, request = kubelet.plugin()
        self.addCleanup(plugin.close)
        self.assertEqual(request, {"version": "v1beta1", "endpoint": "cdi-nvidia.com-gpu.sock",
                                   "resource": RESOURCE, "options": {"preferred": True}})
        return plugin

    def started(self, *options, release="60"):
        self.process = self.start("--device-plugin", RESOURCE, "--release-after", release, *options)
        return self.process

    def both(self, **how):
        kubelet = self.kubelet_there()
        self.started(**how)
        plugin = self.plugin_of(kubelet)
        plugin.wait(**{ONE: True, TWO: True})
        return kubelet, plugin

    def test_devices_of_pods_as_json(self):
        def listed():
            return subprocess.run([CDI_DRA, "pod-resources", "--kubelet-dir", self.kubelet],
                                  capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(listed().returncode, 1)
        self.assertIn("no program serves this socket", listed().stderr)
        kubelet = self.kubelet_there()
        kubelet.claims = [{"name": "claim-1", "namespace": "team", "resources": [
            {"cdi": [{"name": "a.com/claim=1-0"}], "driver": DRIVER, "pool": "node1",
             "device": TWO}]}]
        kubelet.pods = {"one": (RESOURCE, [ONE])}
        self.assertEqual(json.loads(listed().stdout), {"podResources": [
            {"name": "one", "namespace": "default", "containers": [
                {"name": "main", "devices": [{"resourceName": RESOURCE, "deviceIds": [ONE]}],
                 "dynamicResources": [{
                     "claimName": "claim-1", "claimNamespace": "team", "claimResources": [{
                         "cdiDevices": [{"name": "a.com/claim=1-0"}], "driverName": DRIVER,
                         "poolName": "node1", "deviceName": TWO}]}]}]}]})

    def devices(self):
        """The paths of the nodes of each device in the specs, by CDI name."""
        found = {}
        for path in self.out.glob("*.json"):
            spec = json.loads(path.read_text(encoding="utf-8"))
            for device in spec["devices"]:
                found[f"{spec['kind']}={device['name']}"] = [
                    node["path"] for node in device["containerEdits"]["deviceNodes"]]
        return found

    def wait_for_devices(self, *names):
        wait_until(lambda: sorted(self.devices()) == sorted(map(id_of, names)),
                   f"specs for {names}")

    # Tests.

    def test_devices_and_options(self):
        _, plugin = self.both()
        self.assertEqual(plugin.numa_nodes(), {ONE: [0], TWO: [1]})
        self.assertEqual(plugin.options(), {"preferred": True})

    def test_allocate(self):
        _, plugin = self.both()
        self.assertEqual(plugin.allocate(ONE), [id_of(ONE)])
        self.assertIn("/dev/nvidia0", self.devices()[id_of(ONE)])
        self.assertEqual(plugin.allocate(TWO, ONE), [id_of(TWO), id_of(ONE)],
                         "as for a container after an init container")
        plugin.wait(**{ONE: True, TWO: True})
        self.process.kill()
        for path in self.out.glob("*.json"):
            path.unlink()
        self.started()
        self.wait_for_devices(ONE, TWO)

    def test_a_second_stream(self):
        """As of a kubelet that starts again while its socket stays."""
        kubelet, plugin = self.both()
        for _ in range(2):
            other = Plugin(kubelet.plugins / "cdi-nvidia.com-gpu.sock")
            self.addCleanup(other.close)
            other.wait(**{ONE: True, TWO: True})
            plugin.close()
            plugin = other
        empty = plugin.channel.stream_stream(PLUGIN + "ListAndWatch", same, same)(
            iter(()), timeout=30)
        self.assertEqual(list(empty), [])
        self.assertEqual(plugin.call(PLUGIN + "PreStartContainer"), b"")

    def test_a_device_whose_claim_is_damaged(self):
        _, plugin = self.both()
        plugin.allocate(ONE)
        (self.state / f"{ONE}.json").write_text("{", encoding="ascii")
        code, text = plugin.refusal(ONE)
        self.assertEqual(code, "INTERNAL")
        self.assertIn(f"{ONE}.json", text)

    def test_wrong_devices(self):
        _, plugin = self.both()
        code, text = plugin.refusal(ONE, "nvidia-gpu-nine")
        self.assertEqual(code, "NOT_FOUND")
        self.assertIn("nvidia-gpu-nine: no device on this host has that name", text)
        self.assertEqual(self.devices(), {}, "the first one is free again")
        self.assertEqual(plugin.status("/v1beta1.DevicePlugin/Allocate", b"\xff")[0],
                         "INVALID_ARGUMENT")

    def test_it_ends_while_calls_wait(self):
        """A call that waits for another process does not keep others from ending."""
        _, plugin = self.both()
        self.write_claim(1, TWO)
        with open(self.state / ".lock", "a", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            calls = [plugin.start(PLUGIN + "Allocate", allocation(ONE), timeout=300)]
            wait_until(lambda: self.process.has_open(self.state / ".lock"), "it waits for the lock")
            calls += [self.service().start(DRA["v1"] + "NodePrepareResources", request(name_of(1)),
                                           timeout=300) for _ in range(40)]
            self.process.process.send_signal(signal.SIGTERM)
            self.assertEqual(self.process.process.wait(30), 0, self.process.printed())
            self.check_unanswered(calls)
        self.assertEqual((self.devices(), self.journal()), ({}, []))
        self.assertEqual(list((self.kubelet / "device-plugins").glob("cdi-*")), [])

    def test_preferred_devices(self):
        _, plugin = self.both()
        self.assertEqual(len(plugin.prefer([ONE, TWO], 1)), 1)
        self.assertEqual(plugin.prefer([ONE, TWO], 1, [TWO]), [TWO])
        self.assertEqual(sorted(plugin.prefer([ONE, TWO], 2)), sorted([ONE, TWO]))

    # With claims.

    def test_a_device_of_a_claim_is_not_given_to_a_pod(self):
        _, plugin = self.both()
        service = self.service()
        self.write_claim(1, ONE)
        self.check_prepared(service.prepare(name_of(1)), 1, ONE)
        plugin.wait(**{ONE: False, TWO: True})
        code, text = plugin.refusal(ONE)
        self.assertEqual(code, "FAILED_PRECONDITION")
        self.assertIn(uid_of(1), text)
        service.unprepare(name_of(1))
        plugin.wait(**{ONE: True, TWO: True})
        plugin.allocate(ONE)

    def test_a_device_of_a_pod_is_not_given_to_a_claim(self):
        _, plugin = self.both()
        plugin.allocate(ONE)
        self.write_claim(1, ONE)
        error = self.service().prepare(name_of(1))[uid_of(1)]["error"]
        self.assertIn(f"a pod has the device {ONE} by the device plugin", error)
        self.write_claim(2, TWO)
        self.check_prepared(self.service().prepare(name_of(2)), 2, TWO)

    def test_monitoring_takes_no_device(self):
        _, plugin = self.both()
        plugin.allocate(ONE)
        self.write_claim(1, {"device": ONE, "adminAccess": True})
        self.write_claim(2, {"device": TWO, "adminAccess": True})
        answers = self.service().prepare(name_of(1), name_of(2))
        self.assertEqual([answer.get("error") for answer in answers.values()], [None, None])
        self.assertEqual(plugin.allocate(TWO), [id_of(TWO)])

    # Pods that end.

    def test_a_device_is_free_after_its_pod(self):
        kubelet, plugin = self.both(release="0.5")
        kubelet.pods["one"] = (RESOURCE, [ONE])
        plugin.allocate(ONE)
        plugin.allocate(TWO)
        self.process.wait_for("freed")  # TWO, of a pod that kubelet did not start
        self.assertEqual(sorted(self.devices()), [id_of(ONE)])
        self.write_claim(1, ONE)
        self.assertIn("error", self.service().prepare(name_of(1))[uid_of(1)])
        kubelet.pods.clear()
        self.process.wait_for("freed", 2)
        self.assertEqual(self.devices(), {})
        self.check_prepared(self.service().prepare(name_of(1)), 1, ONE)

    def test_a_device_that_is_given_again_stays(self):
        kubelet, plugin = self.both(release="1")
        for _ in range(6):
            lists = kubelet.lists
            plugin.allocate(ONE)
            wait_until(lambda seen=lists: kubelet.lists > seen, "kubelet lists pods")
        self.assertEqual(self.process.events("freed"), [])

    def test_devices_of_pods_are_adopted(self):
        """Another plugin gave them, or the journal is lost."""
        kubelet = self.kubelet_there()
        kubelet.pods = {"one": (RESOURCE, [ONE]), "other": ("example.com/nic", ["nic-1"])}
        self.started(release="0.5")
        self.plugin_of(kubelet)
        self.wait_for_devices(ONE)
        self.write_claim(1, ONE)
        self.assertIn("error", self.service().prepare(name_of(1))[uid_of(1)])

    def test_a_kubelet_that_does_not_list_frees_nothing(self):
        kubelet, plugin = self.both(release="0.3")
        plugin.allocate(ONE)
        kubelet.servers[0].stop(0).wait()
        self.process.wait_for("warning")
        self.assertIn("pod-resources", self.process.events("warning")[0]["error"])
        self.assertEqual(self.process.events("freed"), [])

    # Restarts and health.

    def test_kubelet_starts_later_and_again(self):
        self.started().wait_for("serving", 3)
        for _ in range(3):
            kubelet = self.kubelet_there()
            plugin = self.plugin_of(kubelet)
            plugin.wait(**{ONE: True, TWO: True})
            self.assertEqual(plugin.allocate(ONE), [id_of(ONE)])
            kubelet.stop()

    def test_a_socket_of_the_kubelet_that_changes(self):
        """It may belong to another kubelet."""
        kubelet, plugin = self.both()
        os.chmod(kubelet.plugins / "kubelet.sock", 0o600)
        (kubelet.plugins / "changed").write_text("", encoding="ascii")
        again = self.plugin_of(kubelet)
        again.wait(**{ONE: True, TWO: True})
        self.assertEqual(plugin.allocate(ONE), [id_of(ONE)])

    def test_kubelet_refuses_at_first(self):
        kubelet = self.kubelet_there()
        kubelet.refuses = True
        self.started().wait_for("warning")
        kubelet.refuses = False
        self.plugin_of(kubelet).wait(**{ONE: True, TWO: True})

    def test_the_plugin_is_killed(self):
        kubelet, plugin = self.both()
        plugin.allocate(ONE)
        for _ in range(3):
            self.process.kill()
            self.started()
            plugin = self.plugin_of(kubelet)
            plugin.wait(**{ONE: True, TWO: True})
            self.wait_for_devices(ONE)

    def test_it_ends(self):
        _, plugin = self.both()
        plugin.allocate(ONE)
        self.assertEqual(self.process.stop(), 0)
        self.assertEqual([path.name for path in (self.kubelet / "device-plugins").iterdir()],
                         ["kubelet.sock"])

    def test_two_instances(self):
        kubelet, _ = self.both()
        self.start("--device-plugin", RESOURCE, "--instance", "new")
        plugin, request = kubelet.plugin()
        self.addCleanup(plugin.close)
        self.assertEqual(request["endpoint"], "cdi-nvidia.com-gpu-new.sock")
        plugin.wait(**{ONE: True, TWO: True})
        self.assertEqual(plugin.allocate(ONE), [id_of(ONE)])

    def test_a_gpu_is_lost_and_returns(self):
        _, plugin = self.both()
        put_back = self.remove_gpu(PCI[0])
        self.process.process.send_signal(1)
        plugin.wait(**{ONE: False, TWO: True})
        self.assertEqual(plugin.refusal(ONE)[0], "NOT_FOUND")
        put_back()
        self.process.process.send_signal(1)
        plugin.wait(**{ONE: True, TWO: True})


class OtherNodes(DraCase):

    def test_only_whole_gpus_of_the_kind(self):
        for tree, resource, count in (("nv2mig", RESOURCE, 1), ("nv2", "amd.com/gpu", 0),
                                      ("nv2", "example.com/gpu", 2)):
            with self.subTest(tree=tree, resource=resource):
                self.tree = tree
                super().setUp()
                kubelet = DeviceKubelet(self.kubelet)
                self.addCleanup(kubelet.stop)
                self.start("--device-plugin", resource)
                plugin, _ = kubelet.plugin()
                self.addCleanup(plugin.close)
                wait_until(lambda there=plugin, wanted=count: len(there.devices) == wanted,
                           f"{count} devices")

    def test_devices_that_cannot_be_used(self):
        """GPUs that are passed through are not offered, and a GPU with a fault is not healthy."""
        self.tree = "intel-xe"
        super().setUp()
        kubelet = DeviceKubelet(self.kubelet)
        self.addCleanup(kubelet.stop)
        process = self.start("--device-plugin", "example.com/gpu")
        plugin, _ = kubelet.plugin()
        self.addCleanup(plugin.close)
        plugin.wait(**{"intel-gpu-0000-00-02-0": True, "intel-gpu-0000-03-00-0": False})
        (line,) = (line for line in process.events("unhealthy") if line.get("name"))
        self.assertIn("it is divided into virtual functions", line["error"])

    def test_a_socket_that_cannot_be_made(self):
        """At the start, this is an error. Later, it is tried again."""
        folder = self.kubelet / "device-plugins"
        self.kubelet.mkdir()
        folder.write_text("", encoding="ascii")
        process = self.start("--device-plugin", RESOURCE)
        self.assertEqual(process.process.wait(30), 1)
        self.assertIn("device-plugins: cannot open the directory", process.printed())
        self.assertEqual(list(self.kubelet.rglob("*.sock")), [])
        folder.unlink()
        process = self.start("--device-plugin", RESOURCE)
        process.wait_for("serving", 3)
        path = folder / "cdi-nvidia.com-gpu.sock"
        (self.place / "mine").write_text("mine", encoding="ascii")
        os.rename(self.place / "mine", path)
        process.wait_for("warning")
        self.assertIn("it is not a socket", process.events("warning")[0]["error"])
        path.unlink()
        process.wait_for("serving", 4)

    def test_wrong_names_of_resources(self):
        for name in ("gpu", "kubernetes.io/gpu", "a.kubernetes.io/gpu", "a/b/c", "a b/c", "/a"):
            process = self.start("--device-plugin", name)
            self.assertEqual(process.process.wait(20), 2, name)
            self.assertIn("extended resource", process.printed())


if __name__ == "__main__":
    unittest.main(verbosity=2)
