#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cdi-dra with an API server whose answers are wrong, late or missing.

usage: dra_answers_test.py CDI_DRA [ARGUMENTS OF UNITTEST]
"""
import base64
import json
import sys
import unittest

sys.dont_write_bytecode = True
from dra_api_test import SLICES, ApiCase, setUpModule  # noqa: E402,F401
from dra_case import DRIVER, GPUS, claim, name_of, uid_of  # noqa: E402
from scripted_device_kubelet import DeviceKubelet  # noqa: E402
from scripted_kubelet import DRA, request  # noqa: E402

NOT_FOUND = b"404 page not found\n"  # of a server that does not know the path
LARGEST = 64 << 20  # bytes
TWICE = 2  # libcurl sends a request again if a connection ends that it had used before


class Claims(ApiCase):
    def setUp(self):
        super().setUp()
        self.put_claim(1, GPUS[0])

    def prepare(self):
        return self.service().prepare(name_of(1))[uid_of(1)]

    def check_error(self, *texts):
        """The claim gets an error with these texts. Once the server is well, it is prepared."""
        error = self.prepare().get("error", "none")
        for text in texts:
            self.assertIn(text, error)
        self.check_claims()
        self.api.faults.clear()
        self.check_prepared(self.service().prepare(name_of(1)), 1, GPUS[0])
        self.service().unprepare(name_of(1))
        return error

    def test_answers_that_have_no_claim(self):
        self.serving()
        for status, body, text in (
                (400, None, "answers 400: fault 400"), (401, None, "check the token"),
                (404, None, "answers 404: fault 404"), (409, None, "answers 409: fault 409"),
                (422, None, "answers 422: fault 422"), (502, b"<html>", "answers 502: <html>"),
                (503, b"", "answers 503"), (200, b"", "the text is empty"),
                (200, b"[]", "expected an object"), (200, b"{}", "kind: must be ResourceClaim"),
                (200, b'{"kind": "List", "items": []}', "must be one ResourceClaim"),
                (200, json.dumps(claim(2, GPUS[0])).encode(), "deleted and recreated"),
                (200, b" " * (LARGEST + 1), "the answer is too large")):
            with self.subTest(status=status, body=(body or b"")[:40]):
                self.api.fail("GET", "resourceclaims", status, body=body)
                self.check_error(text)

    def test_a_server_that_no_longer_knows_its_version(self):
        self.serving()
        self.prepare()
        for body in (b"[]", b"{}", b'{"versions": 7}', b'{"versions": [7, {"version": "v9"}]}'):
            with self.subTest(body):
                self.service().unprepare(name_of(1))
                self.api.fail("GET", "resourceclaims", 404, body=NOT_FOUND)
                self.api.fail("GET", "resource.k8s.io$", 200, body=body)
                self.check_error("no version of resource.k8s.io")
        self.api.fail("GET", "resourceclaims", 404, body=NOT_FOUND, count=2)
        self.check_error("answers 404: 404 page not found")

    def test_connections_that_break(self):
        self.serving()
        self.api.hung.set()  # it ends a connection in the place of an answer
        self.api.fail("GET", "resourceclaims", None, count=TWICE)
        self.check_error(self.api.url)

    def test_an_answer_after_the_deadline(self):
        """It is too late for the claims that were not yet asked about, too."""
        process = self.serving()
        self.put_claim(2, GPUS[1])
        self.api.fail("GET", "claim-1", None)
        status = self.service().status(DRA["v1"] + "NodePrepareResources",
                                       request(name_of(1), name_of(2)), timeout=3)
        self.assertEqual(status[0], "DEADLINE_EXCEEDED")
        process.wait_for("failed")
        self.assertEqual(self.api.seen("GET", "claim-2"), [])
        self.check_claims()
        self.check_prepared(self.service().prepare(name_of(1)), 1, GPUS[0])

    def test_a_token_that_is_gone(self):
        token = self.place / "token"
        self.user = {"tokenFile": str(token)}
        self.serving()
        self.assertIn(str(token), self.prepare()["error"])
        self.assertEqual(self.api.requests, [])
        token.write_text("token", encoding="ascii")
        self.check_prepared(self.service().prepare(name_of(1)), 1, GPUS[0])

    def test_an_authority_that_is_no_certificate(self):
        (self.place / "api/ca.crt").write_text("none", encoding="ascii")
        self.serving()
        self.assertIn("check the certificate-authority of the cluster", self.prepare()["error"])
        self.assertEqual(self.api.requests, [])

    def test_a_kubeconfig_that_has_all_certificates(self):
        """No file is read but the kubeconfig, and no token is sent."""
        self.api.tokens = {""}
        path = self.api.kubeconfig({})
        config = json.loads(path.read_text(encoding="ascii"))
        text = {name: base64.b64encode((self.place / "api" / name).read_bytes()).decode("ascii")
                for name in ("ca.crt", "tls.key")}
        config["clusters"][0]["cluster"].pop("certificate-authority")
        config["clusters"][0]["cluster"]["certificate-authority-data"] = text["ca.crt"]
        config["users"][0]["user"] = {"client-certificate-data": text["ca.crt"],
                                      "client-key-data": text["tls.key"]}
        mine = self.place / "kubeconfig"
        mine.write_text(json.dumps(config), encoding="ascii")
        self.source = lambda: ("--kubeconfig", str(mine))
        self.serving()
        self.check_prepared(self.service().prepare(name_of(1)), 1, GPUS[0])


class Slices(ApiCase):
    """What is wrong is in the log, and the slices come when the server is well. Each registration
    lists them at once."""

    def check_warned(self, process, *texts):
        """A warning with these texts, and then the slices."""
        process.wait_for("warning")
        for text in texts:
            self.assertIn(text, process.events("warning")[0]["error"])
        process.wait_for("published")
        self.assertEqual(tuple(self.api.devices()), GPUS)

    def test_lists_that_are_no_lists(self):
        bodies = (b"", b"{", b"[]", b"7", b"{}", b'{"items": 7}', b"\xff\xfe", b"[" * 100000)
        process = self.serving()
        for number, body in enumerate(bodies, 1):
            self.api.fail("GET", SLICES, 200, body=body)
            self.notify()
            process.wait_for("warning", number)
        for number, line in enumerate(process.events("warning")):
            what = "the list of ResourceSlices"
            self.assertTrue(line["error"].startswith(what), line)
            if number in (2, 3):
                self.assertIn("expected an object, not ", line["error"])
            if number in (4, 5):
                self.assertEqual(line["error"], what + " has no items")
        self.check_warned(process)

    def test_items_that_are_no_slices(self):
        items = [7, {}, {"metadata": {}}, {"spec": {}}, {"metadata": {}, "spec": {}},
                 {"metadata": 7, "spec": {}}, {"metadata": {"name": "a"}, "spec": 7},
                 {"metadata": {"name": 7}, "spec": {}}]
        for body in (items, None):
            self.api.fail("GET", SLICES, 200, body=json.dumps({"items": body}).encode())
            process = self.published()
            self.assertEqual(process.events("warning"), [])
            self.assertEqual(self.api.writes(), [("POST", 201)])
            self.assertEqual(process.stop(), 0)
            self.api.slices.clear()
            self.api.forget()

    def test_slices_with_odd_members(self):
        """They are the driver's own, so they get the right content, or go."""
        for name, spec in (("a", {"pool": []}), ("b", {"pool": {"name": "node1",
                                                               "generation": "1"}}),
                           ("c", {"pool": {"name": "node1"}, "devices": 7}),
                           ("d", {"pool": {"name": "node1"}, "devices": [
                               7, {"name": "x", "taints": 7}, {"name": "y", "taints": [7]}]})):
            self.api.put_slice(name, {"driver": DRIVER, "nodeName": "node1", **spec})
        self.api.slices["b"]["metadata"]["ownerReferences"] = []
        self.api.slices["c"]["metadata"]["ownerReferences"] = {}
        process = self.published()
        self.assertEqual(process.events("warning"), [])
        (one,) = self.api.slices.values()
        self.assertEqual(one["metadata"]["ownerReferences"][0]["name"], "node1")
        self.assertEqual(tuple(self.api.devices()), GPUS)

    def test_answers_to_a_new_slice(self):
        for status, body, text in ((201, b"{}", "the API server answers with another object"),
                                   (400, None, "answers 400: fault 400"),
                                   (422, None, "answers 422: fault 422")):
            with self.subTest(status):
                self.api.slices.clear()
                self.api.fail("POST", SLICES, status, body=body)
                process = self.registered()
                self.check_warned(process, "a new ResourceSlice", text)
                self.assertEqual(process.stop(), 0)

    def test_nodes_without_a_uid(self):
        bodies = (b"[]", b"{}", b'{"metadata": 7}', b'{"metadata": {"uid": ""}}')
        process = self.serving()
        for number, body in enumerate(bodies, 1):
            self.api.fail("GET", "nodes", 200, body=body)
            self.notify()
            process.wait_for("warning", number)
        self.assertEqual({line["error"] for line in process.events("warning")},
                         {"Node node1 has no UID"})
        self.check_warned(process)

    def test_a_leftover_that_somebody_else_removes(self):
        for name in ("a-old", "b-old"):
            self.add_slice(name, 1, 2)
        self.api.fail("DELETE", SLICES, act=self.api.slices.clear)
        process = self.published()
        self.assertEqual(self.api.writes(), [("PUT", 200), ("DELETE", 404)])
        self.assertEqual(process.events("warning"), [])

    def test_a_connection_that_breaks_while_a_leftover_is_removed(self):
        for name in ("a-old", "b-old"):
            self.add_slice(name, 1, 2)
        self.api.hung.set()
        self.api.fail("DELETE", SLICES, None, count=TWICE)
        process = self.registered()
        process.wait_for("warning")
        self.api.wait(lambda: len(self.api.slices) == 1, "the leftover goes")
        self.assertEqual(tuple(self.api.devices()), GPUS)

    def test_a_registration_while_a_request_fails(self):
        """It is followed by a list at once."""
        self.api.fail("GET", SLICES, 500, headers={"Retry-After": 3600}, act=self.notify)
        self.check_warned(self.registered(), "answers 500")

    def test_a_driver_that_ends_before_it_is_registered(self):
        process = self.serving()
        self.assertEqual(process.stop(), 0)
        self.assertEqual(self.api.requests, [])


class Features(ApiCase):
    tree = "vfio"

    def test_a_server_that_others_write_to_all_the_time(self):
        """It finds out very late that the server drops taints, and tries again later."""
        self.api.drops = {"taints"}
        self.api.fail("POST", SLICES, 409, count=5)
        process = self.registered()
        process.wait_for("warning")
        self.assertIn("stored ResourceSlices that differ from those it was sent",
                      process.events("warning")[0]["error"])
        process.wait_for("published")
        self.assertEqual(len(self.api.devices()), 2)  # without the one that has a taint

    def test_a_server_that_refuses_devices_with_counters(self):
        self.api.fail("POST", SLICES, 0)
        self.api.fail("POST", SLICES, 422)
        self.published()
        self.assertEqual(sorted(self.api.devices()),
                         ["vfio-gpu-0000-81-00-0", "vfio-gpu-0000-82-00-0"])


class Given(ApiCase):
    def test_a_device_of_a_pod_has_a_taint(self):
        """No claim can get it."""
        kubelet = DeviceKubelet(self.kubelet)
        self.addCleanup(kubelet.stop)
        self.published("--device-plugin", "nvidia.com/gpu", "--release-after", "0.3")
        plugin, _ = kubelet.plugin()
        self.addCleanup(plugin.close)
        plugin.wait(**dict.fromkeys(GPUS, True))
        kubelet.pods["one"] = ("nvidia.com/gpu", GPUS[:1])
        plugin.allocate(GPUS[0])
        self.wait_for_devices(lambda found: "taints" in found[GPUS[0]], "a taint")
        self.assertEqual([(taint["key"], taint["value"], taint["effect"])
                          for taint in self.api.devices()[GPUS[0]]["taints"]],
                         [(f"{DRIVER}/given", "device-plugin", "NoSchedule")])
        self.assertNotIn("taints", self.api.devices()[GPUS[1]])
        kubelet.pods.clear()
        self.wait_for_devices(lambda found: "taints" not in found[GPUS[0]], "no taint")


if __name__ == "__main__":
    unittest.main(verbosity=2)
