#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cdi-dra with an API server of the tests: claims, and ResourceSlices.

usage: dra_api_test.py CDI_DRA [ARGUMENTS OF UNITTEST]
"""
import copy
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
from dra_case import (  # noqa: E402
    CDI_DRA, DRIVER, GPUS, PCI, DraCase, claim, name_of, need_program, uid_of)
from fake_api_server import FakeApiServer  # noqa: E402
from nri_peers import wait_until  # noqa: E402
from scripted_kubelet import DRA, request  # noqa: E402

SLICES = "/resourceslices"


def setUpModule():
    need_program()
    if not shutil.which("openssl"):
        raise unittest.SkipTest("needs openssl, which makes a certificate")
    built = subprocess.run(["ldd", CDI_DRA], capture_output=True, text=True, check=False).stdout
    if "libcurl" not in built:
        raise unittest.SkipTest("cdi-dra is built without libcurl, so it knows no API server")


class ApiCase(DraCase):
    """A node whose claims and slices are in an API server."""

    def setUp(self):
        super().setUp()
        folder = self.place / "api"
        folder.mkdir()
        self.api = FakeApiServer(folder)
        self.addCleanup(lambda: self.api.stop())  # pylint: disable=unnecessary-lambda
        self.user = {"token": "token"}

    def source(self):
        return "--kubeconfig", str(self.api.kubeconfig(self.user))

    def registered(self, *options):
        """A driver that the kubelet has registered."""
        process = self.serving(*options)
        self.notify()
        return process

    def notify(self):
        self.registration().notify(registered=True)

    def published(self, *options):
        process = self.registered(*options)
        process.wait_for("published")
        return process

    def put_claim(self, number, *devices, **how):
        made = claim(number, *devices, **how)
        self.api.claims["default", f"claim-{number}"] = made
        return name_of(number)

    def add_slice(self, name, generation, count, device="other", pool="node1", driver=DRIVER):
        self.api.put_slice(name, {
            "driver": driver, "nodeName": "node1", "devices": [{"name": device}],
            "pool": {"name": pool, "generation": generation, "resourceSliceCount": count}})

    def survey(self, process):
        """Makes the driver look at the hardware."""
        process.process.send_signal(signal.SIGHUP)

    def pools(self):
        """The pool of each slice."""
        return [spec["pool"] for spec in self.api.specs().values()]

    def wait_for_devices(self, condition, what):
        self.api.wait(lambda: condition(self.api.devices()), what)


class Publishing(ApiCase):
    def test_slices_of_the_node(self):
        process = self.serving()
        self.assertEqual(self.api.requests, [])  # not before registration
        self.notify()
        process.wait_for("published")
        ((name, made),) = self.api.slices.items()
        self.assertTrue(name.startswith(f"node1-{DRIVER}-"), name)
        self.assertEqual(made["metadata"]["ownerReferences"], [
            {"apiVersion": "v1", "kind": "Node", "name": "node1", "uid": "node-uid",
             "controller": True}])
        spec = made["spec"]
        self.assertEqual((spec["driver"], spec["nodeName"], spec["pool"]), (
            DRIVER, "node1", {"name": "node1", "generation": 1, "resourceSliceCount": 1}))
        self.assertEqual(tuple(self.api.devices()), GPUS)
        (line,) = process.events("published")
        self.assertEqual((line["slices"], line["generation"]), (1, 1))
        self.assertEqual(self.api.writes(), [("POST", 201)])
        self.assertEqual(process.stop(), 0)
        self.assertEqual(len(self.api.slices), 1)  # the kubelet removes them

    def test_a_restart_writes_nothing(self):
        self.published().kill()
        before = copy.deepcopy(self.api.slices)
        self.api.forget()
        process = self.registered()
        self.api.wait_for("GET", SLICES)
        self.survey(process)
        self.notify()
        self.api.wait_for("GET", SLICES, 2)
        self.assertEqual((self.api.writes(), self.api.slices), ([], before))

    def test_each_registration_publishes(self):
        """The kubelet removes the slices when it starts."""
        process = self.published()
        for count in (2, 3):
            with self.api.changed:
                self.api.slices.clear()
            self.notify()
            process.wait_for("published", count)
            self.assertEqual(tuple(self.api.devices()), GPUS)

    def test_a_taint_comes_and_goes_in_the_same_generation(self):
        process = self.published()
        table = self.root / "dev.tab"
        text = table.read_text(encoding="ascii")
        table.write_text("".join(line for line in text.splitlines(keepends=True)
                                 if not line.startswith("/dev/nvidia0 ")), encoding="ascii")
        self.survey(process)
        self.wait_for_devices(lambda found: "taints" in found[GPUS[0]], "a taint")
        (taint,) = self.api.devices()[GPUS[0]]["taints"]
        self.assertEqual((taint["key"], taint["value"], taint["effect"]),
                         (f"{DRIVER}/unusable", "nvidia-node", "NoSchedule"))
        self.assertNotIn("taints", self.api.devices()[GPUS[1]])
        table.write_text(text, encoding="ascii")
        self.survey(process)
        self.wait_for_devices(lambda found: "taints" not in found[GPUS[0]], "no taint")
        self.assertEqual([pool["generation"] for pool in self.pools()], [1])
        self.assertEqual([method for method, _ in self.api.writes()], ["POST", "PUT", "PUT"])
        (made,) = self.api.slices.values()
        self.assertEqual(made["metadata"]["ownerReferences"][0]["uid"], "node-uid")
        self.assertEqual(len(self.api.seen("GET", "nodes")), 1)

    def test_a_gpu_that_fails_keeps_its_name(self):
        """Without its driver's answer, the UUID is unknown."""
        process = self.published()
        information = self.root / f"proc/driver/nvidia/gpus/{PCI[0]}/information"
        information.rename(self.place / "away")
        self.survey(process)
        self.wait_for_devices(lambda found: "taints" in found.get(GPUS[0], {}), "a taint")
        self.assertEqual(tuple(self.api.devices()), GPUS)

    def test_a_node_that_appears_without_an_event(self):
        """NVIDIA's driver has its nodes made by a program."""
        table = self.root / "dev.tab"
        text = table.read_text(encoding="ascii")
        table.write_text(text.replace("/dev/nvidia0 ", "/dev/none "), encoding="ascii")
        self.published()
        self.assertIn("taints", self.api.devices()[GPUS[0]])
        table.write_text(text, encoding="ascii")
        self.wait_for_devices(lambda found: "taints" not in found[GPUS[0]], "no taint")

    def test_a_gpu_that_is_taken_out(self):
        process = self.published()
        put_back = self.remove_gpu(PCI[0])
        self.survey(process)
        self.wait_for_devices(lambda found: tuple(found) == GPUS[1:], "one GPU")
        put_back()
        self.survey(process)
        self.wait_for_devices(lambda found: tuple(found) == GPUS, "both GPUs")

    def test_leftovers_are_removed(self):
        self.add_slice("a-old", 3, 1)
        self.add_slice("b-old", 4, 2)
        self.add_slice("c-pool", 9, 1, pool="before")
        self.add_slice("d-other", 9, 1, driver="other.example.com")
        process = self.published()
        self.assertEqual(set(self.api.slices) - {"d-other"}, {"b-old"})
        self.assertEqual(self.api.slices["b-old"]["spec"]["pool"],
                         {"name": "node1", "generation": 5, "resourceSliceCount": 1})
        self.assertEqual(process.events("published")[-1]["generation"], 5)

    def test_a_slice_cannot_move_to_another_pool(self):
        self.add_slice("a-old", 3, 1, pool="before")
        self.published()
        self.assertNotIn("a-old", self.api.slices)
        self.assertEqual([pool["name"] for pool in self.pools()], ["node1"])


class Counters(ApiCase):
    tree = "vfio"

    def test_counters_are_a_slice_of_their_own(self):
        self.published()
        specs = list(self.api.specs().values())
        self.assertEqual(["sharedCounters" in spec for spec in specs], [True, False])
        self.assertEqual({pool["resourceSliceCount"] for pool in self.pools()}, {2})

    def test_a_server_without_counters_and_taints(self):
        """What it drops must not be missed: other devices are published."""
        self.api.drops = {"taints", "consumesCounters", "sharedCounters"}
        process = self.published()
        wait_until(lambda: len(self.api.slices) == 1, "one slice")
        found = self.api.devices()
        self.assertEqual(sorted(found), ["vfio-gpu-0000-81-00-0"])
        wait_until(lambda: len(process.events("warning")) == 2, "warnings")
        text = " ".join(line["error"] for line in process.events("warning"))
        self.assertIn("keeps no taints", text)
        self.assertIn("keeps no shared counters", text)

    def test_a_server_that_wants_counters_beside_devices(self):
        self.api.fail("POST", SLICES, 422)
        self.published()
        self.assertEqual(sorted(self.api.devices()),
                         ["vfio-gpu-0000-81-00-0", "vfio-gpu-0000-82-00-0"])


class Versions(ApiCase):
    tree = "vfio"

    def test_v1beta1_nests_devices(self):
        self.api.versions = ["v1beta1"]
        self.published()
        self.assertTrue(self.api.seen("POST", "/v1beta1/resourceslices"))
        for spec in self.api.specs().values():
            for device in spec.get("devices", ()):
                self.assertEqual(set(device), {"name", "basic"})
        self.api.forget()
        self.notify()
        self.api.wait_for("GET", SLICES)
        self.assertEqual(self.api.writes(), [])

    def test_the_newest_version_is_used(self):
        self.api.versions = ["v1alpha3", "v1beta1", "v1beta2"]
        self.published()
        self.assertTrue(self.api.seen("POST", "/v1beta2/resourceslices"))

    def test_a_server_that_is_updated(self):
        self.api.versions = ["v1beta1"]
        process = self.published()
        with self.api.changed:
            self.api.versions = ["v1"]
            self.api.slices.clear()
        self.notify()
        process.wait_for("published", 2)
        self.assertTrue(self.api.seen("POST", "/v1/resourceslices"))

    def test_a_server_that_is_rolled_back_after_the_list(self):
        def roll_back():
            self.api.versions = ["v1beta1"]

        self.api.fail("POST", SLICES, act=roll_back)
        process = self.published()
        self.assertEqual(process.events("warning"), [])
        self.assertEqual(self.api.writes(), [("POST", 404), ("POST", 201), ("POST", 201)])

    def test_a_server_without_the_api(self):
        self.api.versions = []
        process = self.registered()
        process.wait_for("warning")
        self.assertIn("no version of resource.k8s.io", process.events("warning")[0]["error"])
        with self.api.changed:
            self.api.versions = ["v1"]
        process.wait_for("published")


class Faults(ApiCase):
    def test_a_conflict_lists_again(self):
        process = self.published()
        self.api.forget()

        def change():
            (slice_,) = self.api.slices.values()
            self.api.version += 1
            slice_["metadata"]["resourceVersion"] = str(self.api.version)

        self.api.fail("PUT", SLICES, act=change)
        self.remove_gpu(PCI[0])
        self.survey(process)
        self.wait_for_devices(lambda found: tuple(found) == GPUS[1:], "one GPU")
        self.assertEqual(self.api.writes(), [("PUT", 409), ("PUT", 200)])
        self.assertEqual(process.events("warning"), [])

    def test_a_slice_that_goes_while_it_is_written(self):
        process = self.published()
        self.api.fail("PUT", SLICES, act=self.api.slices.clear)
        self.remove_gpu(PCI[0])
        self.survey(process)
        self.wait_for_devices(lambda found: tuple(found) == GPUS[1:], "one GPU")
        self.assertEqual(process.events("warning"), [])

    def test_gone_lists_again(self):
        self.api.fail("GET", SLICES, 410)
        process = self.published()
        self.assertEqual(len(self.api.seen("GET", SLICES)), 2)
        self.assertEqual(process.events("warning"), [])

    def test_too_many_requests(self):
        self.api.fail("GET", SLICES, 429, headers={"Retry-After": 2})
        process = self.published()
        first, second = self.api.seen("GET", SLICES)[:2]
        self.assertGreaterEqual(second.at - first.at, 2)
        self.assertIn("answers 429", process.events("warning")[0]["error"])

    def test_too_many_requests_for_what_a_slice_needs(self):
        for path in ("k8s.io$", "nodes"):
            with self.subTest(path):
                self.api.forget()
                self.api.slices.clear()
                self.api.fail("GET", path, 429, headers={"Retry-After": 2})
                process = self.published()
                first, second = (one for one in self.api.requests if re.search(path, one.path))
                self.assertGreaterEqual(second.at - first.at, 2)
                self.assertEqual(process.stop(), 0)

    def test_errors_of_the_server(self):
        self.api.fail("GET", SLICES, 500)
        self.api.fail("POST", SLICES, 503)
        process = self.published()
        self.assertEqual(len(process.events("warning")), 2)
        self.assertEqual(tuple(self.api.devices()), GPUS)

    def test_a_token_that_is_replaced(self):
        token = self.place / "token"
        token.write_text("old", encoding="ascii")
        self.user = {"tokenFile": str(token)}
        self.api.tokens = {"old"}
        process = self.published()
        with self.api.changed:
            self.api.tokens = {"new"}
            self.api.slices.clear()
            self.api.fail("GET", SLICES, act=lambda: token.write_text("new", encoding="ascii"))
        self.notify()
        process.wait_for("published", 2)
        self.assertEqual(process.events("warning"), [])  # the token was read again at once
        self.assertEqual([one.token for one in self.api.seen("GET", SLICES)][-2:], ["old", "new"])

    def test_no_right(self):
        self.api.fail("GET", "nodes", 403)
        process = self.published()
        self.assertIn("ClusterRole", process.events("warning")[0]["error"])

    def test_no_node(self):
        self.api.nodes = {}
        process = self.registered()
        process.wait_for("warning")
        self.assertIn("Node node1", process.events("warning")[0]["error"])
        self.assertEqual(self.api.writes(), [])

    def test_a_server_that_is_away(self):
        self.api.stop()
        self.api.hung.clear()
        process = self.registered()
        process.wait_for("warning")
        self.api.start()
        process.wait_for("published")
        self.assertEqual(tuple(self.api.devices()), GPUS)

    def test_a_server_that_hangs_does_not_stop_the_driver(self):
        self.api.fail("GET", SLICES, None, count=100)
        process = self.registered()
        self.assertEqual(process.stop(), 0)

    def test_a_certificate_of_another(self):
        self.api.tls.load_cert_chain(*self.other_certificate())
        process = self.registered()
        process.wait_for("warning")
        self.assertIn("certificate-authority", process.events("warning")[0]["error"])
        self.assertEqual(self.api.requests, [])

    def other_certificate(self):
        folder = self.place / "foreign"
        folder.mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                        folder / "k", "-out", folder / "c", "-days", "2", "-subj", "/CN=x",
                        "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        return folder / "c", folder / "k"

    def test_a_redirect_gets_no_token(self):
        self.api.fail("GET", "resource.k8s.io", 302, count=2,
                      headers={"Location": f"{self.api.url}/api/v1/nodes/node1"})
        process = self.registered()
        process.wait_for("warning")
        self.assertIn("answers 302", process.events("warning")[0]["error"])
        self.assertEqual(self.api.seen("GET", "nodes"), [])

    def test_no_proxy(self):
        os.environ["https_proxy"] = "http://127.0.0.1:1"
        self.addCleanup(os.environ.pop, "https_proxy")
        self.published()


class Hostile(ApiCase):
    """Answers that are not mistakes of networks: of a broken server, or of whoever may write slices."""

    def check_refused(self, answer, text):
        """It says why, and goes on."""
        self.api.fail("GET", SLICES, 200, body=answer)
        process = self.registered()
        process.wait_for("published")
        self.assertIn(text, process.events("warning")[0]["error"])
        self.assertEqual(tuple(self.api.devices()), GPUS)
        return process

    def check_memory(self, process):
        """The limit of the DaemonSet is 100 MiB, also for starting pods."""
        if os.environ.get("CDI_SANITIZED"):
            return
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])
        self.assertLess(peak, 60_000)

    @staticmethod
    def nested(levels, start, end):
        return start.encode() + b"[" * levels + b"]" * levels + end.encode()

    def test_levels(self):
        self.check_refused(self.nested(
            100_000, '{"items":[{"metadata":{"name":"x"},"spec":{"a":', "}}]}"), "64 levels")

    def test_levels_of_an_owner(self):
        self.check_refused(self.nested(
            100_000, '{"items":[{"metadata":{"name":"x","ownerReferences":[',
            ']},"spec":{"pool":{"name":"node1"}}}]}'), "64 levels")

    def test_levels_of_what_was_written(self):
        self.api.fail("POST", SLICES, 200, body=self.nested(
            100_000, '{"metadata":{"name":"x"},"spec":{"a":', "}}"))
        process = self.registered()
        process.wait_for("published")
        self.assertIn("another object", process.events("warning")[0]["error"])

    def test_many_values(self):
        process = self.check_refused(b'{"items":[' + b"{}," * 1_000_000 + b"{}]}", "values")
        self.check_memory(process)

    def test_a_list_that_is_too_large(self):
        process = self.check_refused(b'{"items":[' + b" " * (5 << 20) + b"]}", "too large")
        self.check_memory(process)

    def test_a_claim_that_is_too_large(self):
        process = self.serving()
        self.api.fail("GET", "claim-1", 200, body=b" " * (3 << 20))
        answer = self.service().prepare(name_of(1))
        self.assertIn("too large", answer[uid_of(1)]["error"])
        self.check_memory(process)

    def test_the_memory_for_a_list_of_3_mb(self):
        """One with as many values as there may be."""
        def slice_of(number):
            devices = [{"name": f"d{number}-{i}", "x": [{}, {"": 1}, "", [], 2] * 195,
                        "text": "t" * 38_000} for i in range(12)]
            return {"metadata": {"name": f"s{number}", "uid": "u", "resourceVersion": "1"},
                    "spec": {"driver": DRIVER, "nodeName": "node1", "devices": devices,
                             "pool": {"name": "node1", "generation": 5, "resourceSliceCount": 6}}}
        answer = json.dumps({"items": [slice_of(number) for number in range(6)]}).encode()
        self.assertGreater(len(answer), 3_000_000)
        self.api.fail("GET", SLICES, 200, body=answer)
        process = self.published()
        self.assertEqual(process.events("warning"), [])
        self.assertTrue(self.api.seen("PUT", SLICES + "/s0"))
        self.check_memory(process)

    def test_generations_without_a_next_one(self):
        for generation in (2**63 - 1, 2**64 - 1, -2**63, 1e300):
            with self.subTest(generation):
                self.api.slices.clear()
                self.add_slice("x", generation, 5)
                process = self.published()
                self.assertEqual([pool["generation"] for pool in self.pools()], [1])
                self.assertEqual(process.stop(), 0)

    def test_names_that_would_be_paths(self):
        for name in ("../../../../api/v1/nodes/node1", "..", "a/b", "a?b", ""):
            with self.subTest(name):
                self.api.slices.clear()
                self.api.forget()
                self.api.fail("GET", SLICES, 200, body=json.dumps({"items": [
                    {"metadata": {"name": name}, "spec": {"pool": {"name": "node1"}}}]}).encode())
                process = self.published()
                self.assertEqual(self.api.writes(), [("POST", 201)])
                self.assertEqual(process.stop(), 0)


class Claims(ApiCase):
    def setUp(self):
        super().setUp()
        self.process = self.serving()

    def error(self, number):
        return self.service().prepare(name_of(number))[uid_of(number)]["error"]

    def test_a_claim(self):
        name = self.put_claim(1, GPUS[0])
        self.check_prepared(self.service().prepare(name), 1, GPUS[0])
        self.check_claims(1)

    def test_a_batch_in_which_one_is_missing(self):
        names = [self.put_claim(1, GPUS[0]), name_of(2), self.put_claim(3, GPUS[1])]
        answer = self.service().prepare(*names)
        self.check_prepared(answer, 1, GPUS[0])
        self.check_prepared(answer, 3, GPUS[1])
        self.assertIn('"claim-2" not found', answer[uid_of(2)]["error"])
        self.assertEqual(len(self.api.seen("GET", "resourceclaims")), 3)

    def test_a_claim_that_was_made_again(self):
        self.put_claim(1, GPUS[0])
        self.api.claims["default", "claim-2"] = self.api.claims["default", "claim-1"]
        self.assertIn("it was deleted and recreated", self.error(2))

    def test_errors_have_the_answer_of_the_server(self):
        self.put_claim(1, GPUS[0])
        self.api.fail("GET", "resourceclaims", 403)
        self.assertIn("answers 403: fault 403: give the service account", self.error(1))
        self.api.fail("GET", "resourceclaims", 200, body=b"<html>")
        self.assertIn("claim-1", self.error(1))
        self.check_prepared(self.service().prepare(name_of(1)), 1, GPUS[0])

    def test_names_that_are_no_names(self):
        answer = self.service().prepare((uid_of(1), "../nodes/node1"))
        self.assertIn("cannot be the name", answer[uid_of(1)]["error"])
        self.assertEqual(self.api.seen("GET", "nodes"), [])

    def test_a_server_that_is_away(self):
        name = self.put_claim(1, GPUS[0])
        self.service().prepare(name)
        self.api.stop()
        self.assertIn("127.0.0.1", self.error(2))
        self.assertEqual(self.service().unprepare(name), {uid_of(1): {}})
        self.check_claims()

    def test_a_server_that_hangs(self):
        """Other calls do not wait for it."""
        self.put_claim(2, GPUS[1])
        self.api.fail("GET", "claim-1", None)
        call = self.service().start(DRA["v1"] + "NodePrepareResources", request(name_of(1)))
        self.check_prepared(self.service().prepare(name_of(2)), 2, GPUS[1])
        self.assertFalse(call.done())
        call.cancel()

    def test_a_release_does_not_wait_for_starting_pods(self):
        """More calls wait for the API server than the driver has threads for each method."""
        name = self.put_claim(0, GPUS[0])
        self.check_prepared(self.service().prepare(name), 0, GPUS[0])
        self.api.fail("GET", "claim-[1-9]", None, count=100)
        calls = [self.service().start(DRA["v1"] + "NodePrepareResources", request(name_of(number)))
                 for number in range(1, 41)]
        self.api.wait_for("GET", "resourceclaims/claim-", 17)  # the first was another
        self.assertEqual(self.service().unprepare(name, timeout=5), {uid_of(0): {}})
        self.assertFalse(any(call.done() for call in calls))
        for call in calls:
            call.cancel()
        self.check_claims()

    def test_a_call_of_many_claims_has_one_deadline(self):
        """Each request alone may last ten seconds."""
        self.api.fail("GET", "claim-[1-9]", None, count=100)
        start = time.monotonic()
        answer = self.service().prepare(*map(name_of, range(1, 4)))
        self.assertLess(time.monotonic() - start, 15)
        self.assertEqual(len(answer), 3)
        for number in range(1, 4):
            self.assertRegex(answer[uid_of(number)]["error"], f"claim-{number}: .*(timed out|passed)")

    def test_it_ends_while_a_server_hangs(self):
        """Within the time that its DaemonSet gives it: then, it would be killed."""
        deploy = pathlib.Path(__file__).parents[3] / "tools/dra/deploy/cdi-dra.yaml"
        grace = re.search(r"terminationGracePeriodSeconds: (\d+)",
                          deploy.read_text(encoding="utf-8"))
        self.api.fail("GET", "claim-1", None)
        call = self.service().start(DRA["v1"] + "NodePrepareResources", request(name_of(1)))
        self.api.wait_for("GET", "claim-1")
        self.process.process.send_signal(signal.SIGTERM)
        late = int(grace[1]) + 3  # with other work on the machine; a request may last ten seconds
        self.assertEqual(self.process.process.wait(late), 0)
        call.cancel()
        self.assertEqual(self.specs(), [])
        self.assertFalse(self.service_path().exists())


@unittest.skipIf(os.geteuid() or not shutil.which("unshare"), "needs root and unshare")
class InCluster(ApiCase):
    """The driver as in a pod: with the files of its service account where a pod has them."""

    def setUp(self):
        super().setUp()
        files = self.place / "files"
        files.mkdir()
        (files / "ca.crt").symlink_to(self.place / "api/ca.crt")
        (files / "token").write_text("token\n", encoding="ascii")
        script = ("mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io && "
                  f"ln -s {files} /run/secrets/kubernetes.io/serviceaccount && exec \"$@\"")
        self.before = ("unshare", "-m", "sh", "-c", script, "sh")
        if subprocess.run([*self.before, "true"], capture_output=True, check=False).returncode:
            self.skipTest("cannot mount here")
        for name, value in (("HOST", "127.0.0.1"), ("PORT", str(self.api.port))):
            os.environ[f"KUBERNETES_SERVICE_{name}"] = value
            self.addCleanup(os.environ.pop, f"KUBERNETES_SERVICE_{name}")

    def source(self):
        return ()

    def test_slices_and_claims(self):
        self.published()
        self.assertEqual(tuple(self.api.devices()), GPUS)
        name = self.put_claim(1, GPUS[0])
        self.check_prepared(self.service().prepare(name), 1, GPUS[0])
        (self.place / "files/token").write_text("new", encoding="ascii")
        self.api.tokens = {"new"}
        name = self.put_claim(2, GPUS[1])
        self.check_prepared(self.service().prepare(name), 2, GPUS[1])


class Settings(ApiCase):
    def test_without_a_source(self):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("KUBERNETES_")}
        done = subprocess.run([CDI_DRA, "serve", "--driver", DRIVER, "--node", "n", "--kubelet-dir",
                               str(self.kubelet), "--root", str(self.root)], env=environment,
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("runs in no pod: give --kubeconfig, or --claims", done.stderr)

    def test_a_kubeconfig_with_an_error(self):
        path = self.place / "bad"
        path.write_text("clusters: 7\n", encoding="ascii")
        done = subprocess.run([CDI_DRA, "serve", "--driver", DRIVER, "--node", "n", "--kubelet-dir",
                               str(self.kubelet), "--root", str(self.root), "--kubeconfig",
                               str(path)], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{path}", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
