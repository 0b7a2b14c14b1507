#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cdi-dra with a kubelet that is a script: registration, claims, parameters, health.

usage: dra_test.py CDI_DRA [ARGUMENTS OF UNITTEST]
"""
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from dra_case import (  # noqa: E402
    CDI_DRA, DRIVER, GPUS, PCI, VERSIONS, DraCase, claim, name_of, need_program, uid_of)
from scripted_kubelet import DRA, HEALTH, HEALTHY, UNHEALTHY, same  # noqa: E402

setUpModule = need_program
ALIEN = {"driver": "other.example.com", "device": "x"}


def parameters(source="FromClaim", requests=(), driver=DRIVER, **members):
    """An item of `config`."""
    return {"source": source, "requests": list(requests), "opaque": {
        "driver": driver, "parameters": {"apiVersion": "cdi-dra.local/v1", "kind": "GpuConfig",
                                         **members}}}


class Registers(DraCase):
    """How the kubelet gets to know the driver."""

    def test_info(self):
        process = self.serving()
        registration = self.registration()
        self.assertEqual(registration.info(), {
            "type": "DRAPlugin", "name": DRIVER, "endpoint": str(self.service_path()),
            "versions": VERSIONS})
        registration.notify(registered=True)
        process.wait_for("registered")
        self.assertEqual(process.stop(), 0)
        self.assertEqual(os.listdir(self.registry), [])
        self.assertFalse(self.service_path().exists())

    def test_refused(self):
        process = self.serving()
        self.registration().notify(error="no such version")
        self.assertEqual(process.process.wait(30), 1)
        self.assertIn("the kubelet refuses the driver: \"no such version\"", process.printed())
        self.assertEqual(process.events("refused")[0]["error"], "no such version")
        self.assertEqual(os.listdir(self.registry), [])

    def test_only_the_user_opens_the_sockets(self):
        self.serving()
        for path in (self.service_path(), self.registry / f"{DRIVER}-reg.sock"):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)

    def test_unknown_methods(self):
        self.serving()
        for path in ("/v1.Nothing/Get", DRA["v1"] + "Nothing", "/"):
            self.assertEqual(self.service().status(path)[0], "UNIMPLEMENTED")
        self.assertEqual(self.registration().status(DRA["v1"] + "NodePrepareResources")[0],
                         "UNIMPLEMENTED")

    def test_calls_with_every_deadline(self):
        self.serving()
        for seconds in (None, 400 * 24 * 3600, 60):
            self.assertEqual(self.service().call(DRA["v1"] + "NodePrepareResources", b"", seconds),
                             b"")

    def test_a_stream_without_a_request(self):
        """It ends, and others go on."""
        process = self.serving()
        stream = self.service().channel.stream_stream(HEALTH["v1"], same, same)(
            iter(()), timeout=30, wait_for_ready=True)
        self.assertEqual(list(stream), [])
        watched, states = self.service().watch()
        self.assertEqual(len(next(states)), len(GPUS))
        self.assertEqual(process.stop(), 0)
        for again in watched:  # until it ends; the first stream may cause another message
            self.assertIn(GPUS[0].encode(), again)

    def test_hostile_requests(self):
        process = self.serving()
        prepare = DRA["v1"] + "NodePrepareResources"
        self.assertEqual(self.service().status(prepare, b"\xff\xff")[0], "INVALID_ARGUMENT")
        self.assertEqual(self.service().status(prepare, bytes(8 << 20))[0], "RESOURCE_EXHAUSTED")
        self.assertEqual(self.service().call(prepare), b"")
        self.assertTrue(process.is_running())


class Claims(DraCase):
    """Claims that the kubelet names."""

    def setUp(self):
        super().setUp()
        self.process = self.serving()
        self.driver = self.service()

    def refuse(self, number, *text):
        """The claim gets an error with these texts, and nothing is written."""
        answer = self.driver.prepare(name_of(number))[uid_of(number)]
        self.assertEqual(list(answer), ["error"])
        for part in text:
            self.assertIn(part, answer["error"])
        self.check_claims()
        self.assertTrue(self.process.events("failed"))

    def test_each_version(self):
        for version in DRA:
            with self.subTest(version):
                name = self.write_claim(1, *GPUS)
                self.check_prepared(self.driver.prepare(name, version=version), 1, *GPUS)
                self.check_claims(1)
                self.assertEqual(self.driver.unprepare(name, version=version), {uid_of(1): {}})
                self.check_claims()
        lines = self.process.events("prepared")
        self.assertEqual(lines[0]["claim"], uid_of(1))
        self.assertEqual(lines[0]["devices"], list(GPUS))
        self.assertEqual(len(lines[0]["ids"]), 2)
        self.assertGreater(lines[0]["microseconds"], 0)

    def test_a_batch_with_a_bad_claim(self):
        """A failure does not affect the others."""
        self.write_claim(1, GPUS[0])
        self.write_claim(3, GPUS[1])
        self.write("4.json", "{")
        answer = self.driver.prepare(name_of(1), name_of(2), name_of(3))
        self.check_prepared(answer, 1, GPUS[0])
        self.check_prepared(answer, 3, GPUS[1])
        self.assertIn("4.json", answer[uid_of(2)]["error"])
        self.check_claims(1, 3)
        answer = self.driver.unprepare(name_of(1), name_of(2), name_of(3))
        self.assertEqual(answer, {uid_of(number): {} for number in (1, 2, 3)})
        self.check_claims()

    def test_two_claims_for_one_gpu(self):
        self.write_claim(1, GPUS[0])
        self.write_claim(2, GPUS[0])
        answer = self.driver.prepare(name_of(1), name_of(2))
        self.check_prepared(answer, 1, GPUS[0])
        self.assertIn(uid_of(1), answer[uid_of(2)]["error"])
        self.check_claims(1)

    def test_twice_the_same(self):
        name = self.write_claim(1, GPUS[1])
        self.check_prepared(self.driver.prepare(name, name), 1, GPUS[1])
        before = self.spec_path(1).stat()
        self.check_prepared(self.driver.prepare(name), 1, GPUS[1])
        self.assertEqual(self.spec_path(1).stat().st_mtime_ns, before.st_mtime_ns)
        for _ in range(2):
            self.assertEqual(self.driver.unprepare(name, name), {uid_of(1): {}})
        self.check_claims()

    def test_unknown_claims_are_unprepared(self):
        self.assertEqual(self.driver.unprepare(("unknown", "gone"), ("../x", "gone")),
                         {"unknown": {}, "../x": {}})

    def test_a_claim_whose_object_is_gone_is_unprepared(self):
        name = self.write_claim(1, GPUS[1])
        self.driver.prepare(name)
        os.unlink(self.claims / "1.json")
        self.assertEqual(self.driver.unprepare(name), {uid_of(1): {}})
        self.check_claims()

    def test_requests_of_a_choice(self):
        self.write_claim(1, {"request": "gpu/small", "device": GPUS[0]},
                         {"request": "extra", "device": GPUS[1]}, ALIEN)
        devices = self.driver.prepare(name_of(1))[uid_of(1)]["devices"]
        self.assertEqual([device["requests"] for device in devices], [["gpu"], ["extra"]])

    def test_claims_that_cannot_be_prepared(self):
        good = claim(1, GPUS[0])
        self.write_claim(1, ALIEN)
        self.refuse(1, "the allocation has no device of the driver", DRIVER)
        self.write("1.json", {**good, "status": {}})
        self.refuse(1, "not allocated")
        self.write_claim(1, "gpu-7")
        self.refuse(1, "gpu-7", "no device on this host has that name")
        self.write_claim(1, {"device": GPUS[0], "pool": "node2"})
        self.refuse(1, GPUS[0], "in the pool \"node2\"", "\"node1\"")
        self.write("1.json", {**good, "kind": "Pod"})
        self.refuse(1, "1.json", "kind: must be ResourceClaim")
        self.write("1.json", {**good, "apiVersion": "resource.k8s.io/v2"})
        self.refuse(1, "1.json", "apiVersion: must be resource.k8s.io/v1")
        self.write_claim(1, {"device": 7})
        self.refuse(1, "status.allocation.devices.results[0].device: expected text, not 7")
        self.write("1.json", {**good, "metadata": {**good["metadata"], "uid": "another"}})
        self.refuse(1, "has the UID \"another\"", "deleted and recreated")
        os.unlink(self.claims / "1.json")
        self.refuse(1, "no file has the ResourceClaim")
        self.write("a.json", good)
        self.write("b.json", good)
        self.refuse(1, "b.json", "is also in", "a.json")

    def test_shares_of_a_device(self):
        """Kubelets that know no shares are not told of them."""
        for version in DRA:
            self.write_claim(1, {"device": GPUS[0], "shareID": "a"})
            (device,) = self.driver.prepare(name_of(1), version=version)[uid_of(1)]["devices"]
            self.assertEqual(device.get("share"), "a" if version == "v1" else None)

    def test_two_requests_for_one_device(self):
        """Each has a CDI device, the same when the claim is prepared again."""
        self.write_claim(1, {"device": GPUS[0], "adminAccess": True},
                         {"device": GPUS[0], "request": "two", "adminAccess": True},
                         {"device": GPUS[0], "request": "two", "shareID": "b",
                          "adminAccess": True})
        answers = [self.driver.prepare(name_of(1))[uid_of(1)] for _ in range(2)]
        self.assertEqual(answers[0], answers[1])
        self.assertEqual([(one["requests"], one.get("share"), one["ids"][0][-2:])
                          for one in answers[0]["devices"]],
                         [(["gpu"], None, "-0"), (["two"], None, "-1"), (["two"], "b", "-2")])

    def test_an_allocation_that_changes(self):
        """A claim keeps what it was prepared with."""
        self.write_claim(1, GPUS[0])
        self.driver.prepare(name_of(1))
        self.write_claim(1, GPUS[1])
        self.refused_again(1)
        self.write_claim(1, GPUS[0])
        self.check_prepared(self.driver.prepare(name_of(1)), 1, GPUS[0])

    def refused_again(self, number):
        answer = self.driver.prepare(name_of(number))[uid_of(number)]
        self.assertEqual(list(answer), ["error"])
        self.check_claims(number)
        return answer["error"]

    def test_odd_uids(self):
        """A text that is not a UID is refused. The name of a device takes no device."""
        odd = claim(1, GPUS[0])
        odd["metadata"]["uid"] = "a/b"
        self.write("1.json", odd)
        answer = self.driver.prepare(("a/b", "claim-1"))["a/b"]
        self.assertIn('the UID "a/b" is not valid', answer["error"])
        odd["metadata"]["uid"] = GPUS[1]
        self.write("1.json", odd)
        self.assertIn("devices", self.driver.prepare((GPUS[1], "claim-1"))[GPUS[1]])
        self.write_claim(2, GPUS[1])
        self.check_prepared(self.driver.prepare(name_of(2)), 2, GPUS[1])

    def test_lists(self):
        items = [claim(number, GPUS[number]) for number in (0, 1)]
        for kind, version in (("List", "v1"), ("ResourceClaimList", "resource.k8s.io/v1beta1")):
            with self.subTest(kind):
                self.write("all.json", {"kind": kind, "apiVersion": version, "items": items})
                answer = self.driver.prepare(name_of(0), name_of(1))
                self.check_prepared(answer, 0, GPUS[0])
                self.check_prepared(answer, 1, GPUS[1])
                self.driver.unprepare(name_of(0), name_of(1))

    def test_a_batch_of_a_hundred(self):
        for number in range(100):
            self.write_claim(number, GPUS[0] if number == 70 else "gpu-7")
        answer = self.driver.prepare(*map(name_of, range(100)))
        self.assertEqual(len(answer), 100)
        self.check_prepared(answer, 70, GPUS[0])
        self.assertEqual(sum("error" in one for one in answer.values()), 99)
        self.check_claims(70)

    def test_missing_nodes(self):
        table = self.root / "dev.tab"
        rows = table.read_text(encoding="utf-8").splitlines(keepends=True)
        table.write_text("".join(row for row in rows if not row.startswith("/dev/nvidia0 ")),
                         encoding="utf-8")
        (self.root / "dev/nvidia0").unlink(missing_ok=True)
        self.write_claim(1, GPUS[0])
        self.refuse(1, "/dev/nvidia0")
        table.write_text("".join(rows), encoding="utf-8")
        (self.root / "dev/nvidia0").touch()
        self.check_prepared(self.driver.prepare(name_of(1)), 1, GPUS[0])

    def test_parameters(self):
        """The claim's have priority over the class's."""
        self.write_claim(1, GPUS[0], config=[
            parameters(profile="video", ldLibraryPath=True),
            parameters("FromClass", profile="compute", ldLibraryPath=False),
            parameters(driver="other.example.com", profile="none"),
            parameters("FromClass", requests=["other"], profile="graphics")])
        self.check_prepared(self.driver.prepare(name_of(1)), 1, GPUS[0])
        text = (self.state / f"{uid_of(1)}.json").read_text(encoding="utf-8")
        self.assertIn('"profile": "video"', text)
        self.assertIn('"ld_library_path": "yes"', text)

    def test_parameters_of_a_choice(self):
        self.write_claim(1, {"request": "gpu/small", "device": GPUS[0]},
                         config=[parameters(requests=["gpu"], profile="compute")])
        self.assertIn("devices", self.driver.prepare(name_of(1))[uid_of(1)])
        text = (self.state / f"{uid_of(1)}.json").read_text(encoding="utf-8")
        self.assertIn('"profile": "compute"', text)

    def test_wrong_parameters(self):
        place = "status.allocation.devices.config[0].opaque.parameters"
        for members, text in (
                ({"profil": "all"}, f"{place}.profil: unknown field"),
                ({"profile": "most"}, f"{place}.profile: must be one of compute, graphics"),
                ({"ldLibraryPath": 7}, f"{place}.ldLibraryPath: expected true or false"),
                ({"kind": "Other"}, f"{place}: must be a GpuConfig of cdi-dra.local/v1"),
                ({"kind": None}, f"{place}.kind: expected text, not null")):
            with self.subTest(text):
                self.write_claim(1, GPUS[0], config=[parameters(**members)])
                self.refuse(1, text)
        self.write_claim(1, GPUS[0], {"request": "two", "device": GPUS[1]},
                         config=[parameters(requests=["two"], profile="video")])
        self.refuse(1, 'the parameters of the requests "gpu" and "two" differ')


class ChangedHost(DraCase):
    """A claim gets what the host has when it is prepared, although no event tells of a change and
    the driver has looked at the same host before."""

    def setUp(self):
        super().setUp()
        self.serving()
        self.driver = self.service()
        for number in (0, 1):
            self.write_claim(number, GPUS[number])
        for _ in range(3):
            self.check_prepared(self.driver.prepare(name_of(0)), 0, GPUS[0])
            self.driver.unprepare(name_of(0))

    def edit(self, name, *changes):
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")

    def nodes(self, number):
        """The device nodes in the spec of a claim, with their numbers."""
        edits = [self.spec(number)["containerEdits"],
                 *(device["containerEdits"] for device in self.spec(number)["devices"])]
        return {node["path"]: (node.get("major", 0), node.get("minor", 0))
                for one in edits for node in one.get("deviceNodes", ())}

    def prepare(self, number=0):
        self.check_prepared(self.driver.prepare(name_of(number)), number, GPUS[number])
        return self.nodes(number)

    def refuse(self, *texts):
        answer = self.driver.prepare(name_of(0))[uid_of(0)]
        self.assertEqual(list(answer), ["error"])
        for text in texts:
            self.assertIn(text, answer["error"])
        self.check_claims()

    def test_a_gpu_that_goes(self):
        put_back = self.remove_gpu(PCI[0])
        self.refuse(GPUS[0], "no device on this host has that name")
        put_back()
        self.prepare()

    def test_a_gpu_without_its_driver(self):
        link = self.root / f"sys/bus/pci/devices/{PCI[0]}/driver"
        target = os.readlink(link)
        link.unlink()
        self.refuse(GPUS[0], "no device on this host has that name")  # which its driver knows
        link.symlink_to(target)
        self.prepare()

    def test_other_numbers_of_a_module(self):
        """As after it was loaded again. The claims that are there get them, too."""
        self.assertEqual(self.prepare(0)["/dev/nvidia-uvm"], (510, 0))
        self.edit("dev.tab", (" c 510 ", " c 499 "))
        self.edit("proc/devices", ("510 nvidia-uvm", "499 nvidia-uvm"))
        self.assertEqual(self.prepare(1)["/dev/nvidia-uvm"], (499, 0))
        self.assertEqual(self.nodes(0)["/dev/nvidia-uvm"], (499, 0))

    def test_a_node_that_is_replaced(self):
        self.edit("dev.tab", ("/dev/nvidia0 c 195 0 ", "/dev/nvidia0 c 195 7 "))
        self.refuse("/dev/nvidia0 is 195:7, not 195:0")
        self.edit("dev.tab", ("/dev/nvidia0 c 195 7 ", "/dev/nvidia0 c 195 0 "))
        self.assertEqual(self.prepare()["/dev/nvidia0"], (195, 0))

    def test_a_node_that_is_gone(self):
        self.edit("dev.tab", ("/dev/nvidia0 c ", "/dev/other c "))
        self.refuse("/dev/nvidia0")

    def test_gpus_with_each_others_numbers(self):
        """As after the driver was loaded again."""
        self.assertIn("/dev/nvidia0", self.prepare())
        self.driver.unprepare(name_of(0))
        for address, old, new in ((PCI[0], 0, 1), (PCI[1], 1, 0)):
            self.edit(f"proc/driver/nvidia/gpus/{address}/information",
                      (f"Device Minor: \t {old}", f"Device Minor: \t {new}"))
        nodes = self.prepare()
        self.assertIn("/dev/nvidia1", nodes)
        self.assertNotIn("/dev/nvidia0", nodes)

    def test_a_gpu_that_is_partitioned(self):
        (self.root / "proc/driver/nvidia/capabilities/gpu0/mig/gi1").mkdir(parents=True)
        self.refuse(GPUS[0], "partitioned")

    def test_a_spec_that_was_left_stays(self):
        """A prepared claim keeps its spec as it is while its host is."""
        self.prepare()
        before = self.spec_path(0).stat()
        for _ in range(3):
            self.prepare(1)
            self.driver.unprepare(name_of(1))
        self.assertEqual(self.spec_path(0).stat().st_mtime_ns, before.st_mtime_ns)


class Health(DraCase):
    """The states of devices."""

    @staticmethod
    def state_with(states, gpu, health):
        """The first state in which a GPU has this health. A state may be sent twice."""
        for state in states:
            found = {name: (its_health, text) for _, name, its_health, text in state}
            if found[gpu][0] == health:
                return found
        raise AssertionError("the stream ended")

    def test_all_devices(self):
        """Each version of the service has a stream."""
        process = self.serving()
        for version in ("v1", "v1alpha1"):
            stream, states = self.service().watch(version)
            self.assertEqual(next(states), [("node1", gpu, HEALTHY, "") for gpu in sorted(GPUS)])
            stream.cancel()
        self.assertEqual(process.events("unhealthy"), [])

    def test_a_gpu_goes_and_returns(self):
        process = self.serving()
        stream, states = self.service().watch()
        next(states)
        put_back = self.remove_gpu(PCI[1])
        process.process.send_signal(signal.SIGHUP)
        state = self.state_with(states, GPUS[1], UNHEALTHY)
        self.assertEqual(state[GPUS[0]], (HEALTHY, ""))
        self.assertEqual(state[GPUS[1]], (UNHEALTHY, "it is gone from this host"))
        put_back()
        process.process.send_signal(signal.SIGHUP)
        state = self.state_with(states, GPUS[1], HEALTHY)
        self.assertEqual({health for health, _ in state.values()}, {HEALTHY})
        stream.cancel()
        self.assertEqual([line["devices"] for line in process.events("unhealthy")], [[GPUS[1]]])
        self.assertEqual([line["devices"] for line in process.events("healthy")], [[GPUS[1]]])

    def test_a_driver_root_that_is_away_for_a_while(self):
        """A container makes it again when it restarts; the driver looks again without an event."""
        driver = self.root / "run/nvidia/driver"
        shutil.copytree(self.root / "usr", driver / "usr", symlinks=True)
        process = self.serving("--driver-root", "/run/nvidia/driver")
        next(self.service().watch()[1])  # the driver serves before it has looked at the hardware
        self.assertEqual(process.events("unhealthy"), [])
        driver.rename(self.place / "away")
        process.process.send_signal(signal.SIGHUP)
        process.wait_for("warning")
        self.remove_gpu(PCI[1])
        (self.place / "away").rename(driver)
        process.wait_for("unhealthy")
        self.assertEqual([line["devices"] for line in process.events("unhealthy")], [[GPUS[1]]])


class CommandLine(unittest.TestCase):
    def test_answers_to_questions(self):
        for words in (["--help"], ["serve", "--help"], ["--version"], ["man-page"]):
            done = subprocess.run([CDI_DRA, *words], capture_output=True, text=True, timeout=30,
                                  check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("cdi-dra", done.stdout)

    def test_nvml_is_called_in_a_process_of_its_own(self):
        """The driver starts itself for it, since it has threads."""
        done = subprocess.run([CDI_DRA, "answer-nvml", "libcdi-none.so"], capture_output=True,
                              text=True, timeout=30, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("libcdi-none.so", json.loads(done.stdout)["error"])

    def test_wrong_options(self):
        good = ["--driver", DRIVER, "--node", "node1", "--claims", "/"]
        for words in (["--driver", "a/b", *good[2:]], ["--driver", "A", *good[2:]],
                      [*good, "--instance", "a/b"], good[2:], good[:2] + good[4:],
                      [*good, "--max-version", "new"]):
            with self.subTest(words):
                done = subprocess.run([CDI_DRA, "serve", *words], capture_output=True, text=True,
                                      timeout=30, check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertTrue(done.stderr.startswith("cdi-dra: error: "), done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
