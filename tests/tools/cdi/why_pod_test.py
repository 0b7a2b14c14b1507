#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of `cdi why --pod`. usage: why_pod_test.py CDI

The checkpoints have the form that the code of kubelet 1.37.2 wrote for a claim of two devices, and
for a device of a device plugin.
"""
import base64
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
import zlib

CDI = sys.argv.pop(1)

POD = "33333333-0000-4000-8000-000000000001"
CLAIM = "22222222-0000-4000-8000-000000000001"
DRIVER = "gpu.example.com"
IDS = [f"{DRIVER}/claim={CLAIM}-gpu-{i}" for i in (0, 1)]


def known_claim(**changed):
    """An entry of dra_manager_state."""
    devices = [{"PoolName": "node1", "DeviceName": f"gpu-{i}", "ShareID": None,
                "RequestNames": [request], "CDIDeviceIDs": [IDS[i]]}
               for i, request in enumerate(("gpu", "extra"))]
    entry = {"ClaimUID": CLAIM, "ClaimName": "shared", "Namespace": "default",
             "PodUIDs": {POD: {}}, "DriverState": {DRIVER: {"Devices": devices}}}
    return {**entry, **changed}


def claims_file(*entries, checksum=None):
    data = json.dumps({"kind": "DRACheckpoint", "apiVersion": "checkpoint.dra.kubelet.k8s.io/v1",
                       "ClaimInfoStateList": entries}, separators=(",", ":"))
    return json.dumps({"Data": data, "Checksum": checksum or zlib.crc32(data.encode())})


def field(number, value):
    """A field of protobuf: text or bytes of less than 128 bytes."""
    value = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2, len(value)]) + value


def plugin_file(answer, container="main", pod=POD):
    """kubelet_internal_checkpoint with one device."""
    if isinstance(answer, bytes):
        answer = base64.b64encode(answer).decode()
    entry = {"PodUID": pod, "ContainerName": container, "ResourceName": "example.com/gpu",
             "DeviceIDs": {"-1": ["gpu-0"]}, "AllocResp": answer}
    return json.dumps({"Data": {"PodDeviceEntries": [entry],
                                "RegisteredDevices": {"example.com/gpu": ["gpu-0", "gpu-1"]}},
                       "Checksum": 664353258})


def resource_claim(**status):
    whole = {"allocation": {"devices": {"results": [
        {"request": "gpu/small", "driver": DRIVER, "pool": "node1", "device": "gpu-0"},
        {"request": "extra", "driver": DRIVER, "pool": "node1", "device": "gpu-1"}]}},
        "reservedFor": [{"resource": "pods", "name": "one", "uid": POD}]}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {"name": "shared", "namespace": "default", "uid": CLAIM},
            "status": {**whole, **status}}


def spec(ids):
    """A spec with a node and a variable for each device."""
    kind = ids[0].split("=")[0]
    return json.dumps({"cdiVersion": "0.6.0", "kind": kind, "devices": [
        {"name": name.split("=")[1], "containerEdits": {
            "env": [f"GPU_{i}=1"], "deviceNodes": [{"path": path}]}}
        for i, (name, path) in enumerate(zip(ids, ("/dev/null", "/dev/zero")))]})


class Node(unittest.TestCase):
    """A node with one pod, and `cdi why --pod` on it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cdi-pod-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.put(f"logs/default_one_{POD}/main/0.log", "")
        self.put("kubelet/dra_manager_state", claims_file(known_claim()))
        self.put("cdi/claim.json", spec(IDS))
        self.listen(f"kubelet/plugins/{DRIVER}/dra.sock")
        self.claim = self.put("claim.json", json.dumps(resource_claim()))

    def put(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def listen(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        server.bind(path)
        server.listen(8)
        return server

    def run_cdi(self, *args, pod="default/one", given="", engine="containerd@2.1.0"):
        words = [CDI, "-d", os.path.join(self.folder, "cdi"), "why", "--no-host", "--kubelet-dir",
                 os.path.join(self.folder, "kubelet"), "--pod-logs-dir",
                 os.path.join(self.folder, "logs"), "--pod", pod, *args]
        if engine:
            words += ["--for", engine]
        done = subprocess.run(words, input=given, text=True, timeout=60, capture_output=True,
                              env={"HOME": self.folder})
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def why(self, *args, **more):
        """The exit code, and the record; without the pod's claim unless it is passed."""
        code, out = self.run_cdi("-o", "json", *args, **more)
        return code, json.loads(out)

    def check(self, part, state, words, *args, **more):
        """The step is in the answer, and has advice unless all is well."""
        code, record = self.why(*args, **more)
        steps = [(one["step"], one["state"], one["message"]) for one in record["steps"]]
        found = [one for one in record["steps"]
                 if (one["step"], one["state"]) == (part, state) and words in one["message"]]
        self.assertEqual(len(found), 1, steps)
        self.assertEqual("advice" in found[0], state != "ok", found[0])
        self.assertEqual(record["holds"], code == 0)
        if state in ("missing", "wrong"):
            self.assertNotEqual(code, 0)
        return code, record


class Claims(Node):
    def test_all_is_well(self):
        code, record = self.why("--claim", self.claim)
        states = [(one["step"], one["state"]) for one in record["steps"]]
        self.assertEqual(states, [("pod", "ok"), ("claim", "ok"), ("kubelet", "ok"),
                                  ("kubelet", "ok"), ("driver", "ok"), ("engine", "ok")])
        self.assertEqual((code, record["holds"]), (0, True))
        self.assertEqual(record["pod"], {"namespace": "default", "name": "one", "uids": [POD]})
        self.assertEqual([one["name"] for one in record["devices"]], IDS)
        self.assertTrue(all(one["resolved"] for one in record["devices"]))

    def test_the_text_names_each_step(self):
        code, out = self.run_cdi("--claim", self.claim)
        self.assertEqual(code, 0, out)
        lines = out.splitlines()
        self.assertEqual(lines[0], f"ok: pod: default/one: UID {POD}, from {self.claim}")
        self.assertIn(f"ok: kubelet: default/shared: {DRIVER}/node1/gpu-0: prepared: {IDS[0]}",
                      lines)
        self.assertTrue(any(line.startswith(f"resolved by containerd 2.1.0: {IDS[1]}: ")
                            for line in lines), out)
        self.assertEqual(lines[-1], "ok: engine: containerd 2.1.0 reads the field CDI_devices of "
                                    "CRI")

    def test_a_list_of_claims_from_standard_input(self):
        other = resource_claim(reservedFor=[{"resource": "pods", "name": "two", "uid": "x"}])
        other["metadata"]["name"] = "others"
        both = json.dumps({"kind": "List", "items": [resource_claim(), other]})
        _, record = self.check("claim", "ok", "default/shared: allocated", "--claim", "-",
                               given=both)
        self.assertNotIn("others", json.dumps(record))

    def test_a_list_of_kubectl_may_have_other_kinds_and_no_kind(self):
        own, other = resource_claim(reservedFor=[]), resource_claim()
        own["metadata"] = {"name": "made", "ownerReferences": [{"kind": "Job", "name": "one"},
                                                               {"kind": "Pod", "name": "one"}]}
        other["metadata"] = {"name": "others", "namespace": "other"}
        del own["kind"]
        pod = {"kind": "Pod", "metadata": {"name": "one"}}
        given = json.dumps({"kind": "ResourceClaimList", "items": [own, other, pod]})
        _, record = self.check("claim", "missing", "default/made: it is not reserved for this pod",
                               "--claim", "-", given=given)
        self.assertNotIn("others", json.dumps(record))
        own["kind"] = "ResourceClaim"
        odd = {"metadata": {**own["metadata"], "name": "odd"}}
        given = json.dumps({"kind": "List", "items": [own, odd, pod]})
        _, record = self.check("claim", "missing", "default/made", "--claim", "-", given=given)
        self.assertNotIn("odd", json.dumps(record))

    def test_a_claim_without_a_uid_is_known_by_its_name(self):
        claim = resource_claim()
        del claim["metadata"]["uid"]
        self.put("kubelet/dra_manager_state", claims_file(
            known_claim(ClaimUID="x", ClaimName="else"), known_claim(ClaimUID="y")))
        path = self.put("claim.json", json.dumps(claim))
        _, record = self.why("--claim", path)
        self.assertEqual({one["state"] for one in record["steps"]}, {"ok"})
        self.put("kubelet/dra_manager_state", claims_file(known_claim(ClaimName="else")))
        self.check("kubelet", "missing", "default/shared: it is not in the checkpoint", "--claim",
                   path)

    def test_a_claim_without_devices(self):
        for claim in (resource_claim(allocation=None), {**resource_claim(), "status": {}},
                      {**resource_claim(), "status": None}):
            path = self.put("claim.json", json.dumps(claim))
            self.check("claim", "missing", "it is not allocated", "--claim", path)

    def test_a_claim_for_another_pod(self):
        path = self.put("claim.json", json.dumps(resource_claim(reservedFor=[])))
        self.put("kubelet/dra_manager_state", claims_file())
        self.check("claim", "missing", "it is not reserved for this pod", "--claim", path)

    def test_a_claim_of_another_namespace(self):
        claim = resource_claim()
        claim["metadata"]["namespace"] = "other"
        path = self.put("claim.json", json.dumps(claim))
        self.check("claim", "wrong", "another namespace", "--claim", path)

    def test_files_that_are_no_claims_or_bundles_are_refused(self):
        pod, torn = self.put("pod.json", '{"kind": "Pod"}'), self.put("torn.json", "{")
        for words, said in ((["--claim", pod], "it contains no ResourceClaim"),
                            (["--claim", torn], "torn.json:1:2"), (["--claim", "/none"], "/none"),
                            (["--bundle", "/none"], "/none"), (["--root", "/none"], "/none")):
            done = subprocess.run([CDI, "why", "--pod", "a/b", *words], text=True, timeout=60,
                                  capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)
            self.assertIn(said, done.stderr)


class Kubelet(Node):
    def test_kubelet_does_not_know_the_claim(self):
        os.remove(os.path.join(self.folder, "kubelet/dra_manager_state"))
        self.check("kubelet", "missing", "default/shared: it is not in the checkpoint", "--claim",
                   self.claim)

    def test_no_driver_answered(self):
        entry = known_claim(DriverState={DRIVER: {"Devices": None}})
        self.put("kubelet/dra_manager_state", claims_file(entry))
        code, _ = self.check("kubelet", "missing", f"driver {DRIVER} has prepared nothing",
                             "--claim", self.claim)
        self.assertEqual(code, 6)

    def test_a_device_without_a_name(self):
        entry = known_claim()
        entry["DriverState"][DRIVER]["Devices"][0]["CDIDeviceIDs"] = []
        self.put("kubelet/dra_manager_state", claims_file(entry))
        self.check("kubelet", "missing", "node1/gpu-0 has no CDI device")

    def test_another_device_than_allocated(self):
        claim = resource_claim()
        claim["status"]["allocation"]["devices"]["results"][0]["device"] = "gpu-7"
        path = self.put("claim.json", json.dumps(claim))
        self.check("kubelet", "wrong", f"the claim has {DRIVER}/node1/gpu-7", "--claim", path)

    def test_a_torn_checkpoint(self):
        text = claims_file(known_claim())
        for torn, words in ((text[:200], "dra_manager_state:1:"),
                            (claims_file(known_claim(), checksum=7), "its checksum is wrong"),
                            ("{}", "it has no member Data"), ("[]", "expected an object"),
                            (json.dumps({"Data": "{", "Checksum": zlib.crc32(b"{")}), "Data:1:")):
            with self.subTest(torn):
                self.put("kubelet/dra_manager_state", torn)
                self.check("kubelet", "wrong", words)

    def test_a_checkpoint_that_is_no_file(self):
        path = os.path.join(self.folder, "kubelet/dra_manager_state")
        os.remove(path)
        os.mkdir(path)
        self.check("kubelet", "wrong", "dra_manager_state: not a regular file")

    def test_a_directory_that_is_none_has_no_checkpoints(self):
        shutil.rmtree(os.path.join(self.folder, "kubelet"))
        self.put("kubelet", "")
        _, record = self.why()
        self.assertEqual([one["message"] for one in record["steps"] if one["step"] == "kubelet"],
                         ["it has given no devices to this pod"])

    def test_a_torn_checkpoint_of_plugins_is_the_only_fault(self):
        os.remove(os.path.join(self.folder, "kubelet/dra_manager_state"))
        for text in ("{", "{}", '{"Data": []}'):
            self.put("kubelet/device-plugins/kubelet_internal_checkpoint", text)
            _, record = self.why()
            found = [one["message"] for one in record["steps"] if one["step"] == "kubelet"]
            self.assertEqual(len(found), 1, found)
            self.assertIn("kubelet_internal_checkpoint", found[0])

    def test_a_claim_of_no_pod_is_left_out(self):
        self.put("kubelet/dra_manager_state", claims_file(known_claim(PodUIDs=None)))
        self.check("kubelet", "missing", "it has given no devices to this pod")
        entry = known_claim()
        del entry["PodUIDs"]
        self.put("kubelet/dra_manager_state", claims_file(entry))
        self.check("kubelet", "missing", "it has given no devices to this pod")

    def test_any_prefix_of_the_checkpoints_is_read(self):
        """A file of which the end is missing never ends the program by a signal."""
        whole = plugin_file(field(5, field(1, "example.com/gpu=gpu-0")))
        for size in range(0, len(whole), 7):
            self.put("kubelet/device-plugins/kubelet_internal_checkpoint", whole[:size])
            code, _ = self.why(engine=None)
            self.assertEqual(code, 6, size)

    def test_an_unknown_pod(self):
        code, record = self.check("pod", "missing", "default/two", pod="default/two")
        self.assertEqual((code, record["devices"]), (6, []))

    def test_a_wrong_name_of_a_pod(self):
        for name in ("one", "/one", "default/", "a/b/c"):
            done = subprocess.run([CDI, "why", "--pod", name], text=True, timeout=60,
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode, 2, name)
            self.assertIn("is not NAMESPACE/NAME", done.stderr)

    def test_no_program_listens(self):
        folder = os.path.join(self.folder, "kubelet/plugins", DRIVER)
        os.remove(os.path.join(folder, "dra.sock"))
        self.check("driver", "missing", f"{DRIVER}: no socket in {folder}")
        self.listen(f"kubelet/plugins/{DRIVER}/dra.sock").close()
        self.check("driver", "missing", "no program listens")

    def test_sockets_among_other_files(self):
        folder = os.path.join(self.folder, "kubelet/plugins", DRIVER)
        self.put(f"kubelet/plugins/{DRIVER}/notes.txt", "")
        self.put(f"kubelet/plugins/{DRIVER}/file.sock", "")
        self.listen(f"kubelet/plugins/{DRIVER}/z.sock").close()
        self.check("driver", "ok", f"{DRIVER}: {folder}/dra.sock, {folder}/z.sock")
        for name in ("dra.sock", "z.sock"):
            os.remove(os.path.join(folder, name))
        # A path that is too long for connect(2) cannot be asked; kubelet's own are shorter.
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(folder)
        far = socket.socket(socket.AF_UNIX)
        self.addCleanup(far.close)
        far.bind("n" * 80 + ".sock")
        os.chdir(before)
        self.check("driver", "ok", "n.sock")
        os.remove(os.path.join(folder, "n" * 80 + ".sock"))
        other = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(other.close)
        other.bind(os.path.join(folder, "dra.sock"))
        self.check("driver", "missing", "Protocol wrong type for socket")


class Plugins(Node):
    def setUp(self):
        super().setUp()
        os.remove(os.path.join(self.folder, "kubelet/dra_manager_state"))
        self.put("cdi/plugin.json", spec(["example.com/gpu=gpu-0"]))
        # As kubelet 1.37.2 wrote it.
        self.give("KhcKFWV4YW1wbGUuY29tL2dwdT1ncHUtMA==")

    def give(self, answer, **more):
        self.put("kubelet/device-plugins/kubelet_internal_checkpoint", plugin_file(answer, **more))

    def test_a_device_of_a_plugin(self):
        code, record = self.check("kubelet", "ok", "container main: example.com/gpu: gpu-0: given "
                                                   "as example.com/gpu=gpu-0", pod="default/one")
        self.assertEqual(code, 0)
        self.assertEqual([one["name"] for one in record["devices"]], ["example.com/gpu=gpu-0"])

    def test_by_annotation(self):
        entry = field(1, "cdi.k8s.io/plugin") + field(2, "example.com/gpu=gpu-0")
        self.give(b"\x08\x01" + field(4, entry))
        self.check("kubelet", "ok", "gpu-0, by annotation")

    def test_fields_of_later_versions_are_skipped(self):
        later = b"\x41" + bytes(8) + b"\x45" + bytes(4) + b"\x48\x01" + field(15, "x")
        self.give(later + field(5, field(2, "x") + field(1, "example.com/gpu=gpu-0")))
        self.check("kubelet", "ok", "given as example.com/gpu=gpu-0")

    def test_an_annotation_that_names_no_devices(self):
        self.give(field(4, field(1, "cdi.k8s.io/plugin") + field(2, "junk")))
        self.check("kubelet", "not-checked", "given without CDI")

    def test_without_cdi(self):
        self.give(field(1, field(1, "GPUS") + field(2, "0")))
        code, _ = self.check("kubelet", "not-checked", "given without CDI")
        self.assertEqual(code, 0)

    def test_a_torn_answer(self):
        for answer in (b"\x2a\x17\x0a", b"\x2a\x02\x0a\x15", b"\xff" * 12, "KhcK=", "@@@@",
                       b"\x88", b"\x08", b"\x2a", b"\x09\x00", b"\x0d\x00", b"\x0b"):
            with self.subTest(answer):
                self.give(answer)
                self.check("kubelet", "wrong", "the plugin's answer cannot be read")

    def test_other_pods_are_left_out(self):
        self.give("KhcKFWV4YW1wbGUuY29tL2dwdT1ncHUtMA==", pod="other")
        self.check("kubelet", "missing", "it has given no devices to this pod")

    def test_claim_and_plugin_offer_the_same(self):
        self.put("kubelet/dra_manager_state", claims_file(known_claim()))
        self.give(field(5, field(1, IDS[0])))
        self.check("kubelet", "wrong", f"{IDS[0]} is of claim shared and of example.com/gpu")


class Engines(Node):
    def test_an_engine_without_the_field(self):
        self.check("engine", "wrong", "containerd 1.7.0 does not read the field CDI_devices",
                   engine="containerd@1.7.0")
        self.check("engine", "not-checked", "CDI switched off by default",
                   engine="containerd@1.7.2")
        self.check("engine", "not-checked", "not an engine that kubelet uses",
                   engine="podman@5.5.0")
        self.check("engine", "not-checked", "no containerd or CRI-O was found", engine=None)

    def test_no_spec_has_the_device(self):
        os.remove(os.path.join(self.folder, "cdi/claim.json"))
        code, record = self.why("--claim", self.claim)
        self.assertEqual((code, record["holds"]), (11, False))
        self.assertEqual({one["resolved"] for one in record["devices"]}, {False})


class Containers(Node):
    CONTAINERD = {"io.kubernetes.cri.sandbox-name": "one",
                  "io.kubernetes.cri.sandbox-namespace": "default",
                  "io.kubernetes.cri.sandbox-uid": POD, "io.kubernetes.cri.container-name": "main"}
    CRIO = {"io.kubernetes.pod.name": "one", "io.kubernetes.pod.namespace": "default",
            "io.kubernetes.pod.uid": POD, "io.kubernetes.container.name": "main"}

    def bundle(self, annotations, *ids):
        path = self.put("bundle/config.json", json.dumps(
            {"ociVersion": "1.2.0", "annotations": annotations}))
        if ids:
            subprocess.run([CDI, "-d", os.path.join(self.folder, "cdi"), "inject", "--in-place",
                            path, *ids], check=True, timeout=60)
        return "--bundle", os.path.dirname(path)

    def test_a_container_with_the_devices(self):
        for annotations in (self.CONTAINERD, self.CRIO):
            args = self.bundle(annotations, *IDS)
            code, record = self.why(*args, engine=None)
            steps = [one["message"] for one in record["steps"] if one["step"] == "container"]
            self.assertEqual(steps, [f"main has {name}" for name in IDS])
            self.assertEqual(code, 0)
            self.assertTrue(record["bundle"]["holds"])

    def test_the_bundle_has_the_uid(self):
        """No log directory is needed."""
        for name in os.listdir(os.path.join(self.folder, "logs")):
            shutil.rmtree(os.path.join(self.folder, "logs", name))
        args = self.bundle(self.CRIO, *IDS)
        self.check("pod", "ok", "from the bundle", *args, engine=None)

    def test_a_container_without_a_device(self):
        args = self.bundle(self.CRIO, IDS[0])
        self.check("container", "not-checked", f"main does not have {IDS[1]}", *args, engine=None)

    def test_a_plugin_gave_the_container_a_device(self):
        self.put("cdi/plugin.json", spec(["example.com/gpu=gpu-0"]))
        self.put("kubelet/device-plugins/kubelet_internal_checkpoint",
                 plugin_file("KhcKFWV4YW1wbGUuY29tL2dwdT1ncHUtMA=="))
        args = self.bundle(self.CRIO)
        self.check("container", "missing", "main does not have example.com/gpu=gpu-0", *args,
                   engine=None)
        self.put("kubelet/device-plugins/kubelet_internal_checkpoint",
                 plugin_file("KhcKFWV4YW1wbGUuY29tL2dwdT1ncHUtMA==", container="other"))
        self.check("container", "not-checked", "main does not have example.com/gpu=gpu-0", *args,
                   engine=None)

    def test_a_bundle_of_another_pod(self):
        args = self.bundle({**self.CRIO, "io.kubernetes.pod.name": "two"}, *IDS)
        self.check("container", "wrong", "the bundle is of pod default/two", *args, engine=None)
        args = self.bundle({**self.CRIO, "io.kubernetes.pod.uid": "older"}, *IDS)
        self.check("container", "wrong", "an earlier pod, with UID older", *args, engine=None)
        args = self.bundle({**self.CRIO, "io.kubernetes.pod.namespace": "other"}, *IDS)
        self.check("container", "wrong", "the bundle is of pod other/one", *args, engine=None)
        args = self.bundle({}, *IDS)
        self.check("container", "wrong", "no annotations of a pod", *args, engine=None)

    def test_a_wrong_annotation_of_the_bundle_is_a_warning(self):
        args = self.bundle({**self.CRIO, "cdi.k8s.io/a": "no name"})
        done = subprocess.run([CDI, "-d", os.path.join(self.folder, "cdi"), "why", "--no-host",
                               "--pod", "default/one", *args], text=True, timeout=60,
                              capture_output=True, check=False)
        self.assertIn('cdi: warning: annotation "cdi.k8s.io/a": "no name" is not a qualified',
                      done.stderr)

    def test_a_bundle_without_the_uid_may_be_of_the_pod(self):
        args = self.bundle({name: value for name, value in self.CRIO.items() if value != POD}, *IDS)
        code, record = self.why(*args, engine=None)
        self.assertEqual(code, 0)
        self.assertNotIn("wrong", {one["state"] for one in record["steps"]})


class OtherHost(Node):
    """A host whose files are below a directory: its engines count, and its sockets are not
    opened."""

    def setUp(self):
        super().setUp()
        self.put("etc/cdi/claim.json", spec(IDS))
        self.put("dev.tab", "/dev/null c 1 3 0666 0 0\n/dev/zero c 1 5 0666 0 0\n")

    def install(self, **versions):
        """Engines, as Debian's list of packages has them; without a version, only the program."""
        for name in versions:
            self.put(f"usr/bin/{name}", "")
        self.put("var/lib/dpkg/status", "".join(
            f"Package: {name}\nStatus: install ok installed\nVersion: {version}\n\n"
            for name, version in versions.items() if version))

    def run_cdi(self, *args, pod="default/one", given="", engine=None):
        words = [CDI, "why", "--root", self.folder, "--kubelet-dir", "/kubelet/",
                 "--pod-logs-dir", "/logs", "--pod", pod, *args]
        done = subprocess.run(words + (["--for", engine] if engine else []), input=given, text=True,
                              timeout=60, capture_output=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def check_engine(self, state, words):
        return self.check("engine", state, words)

    def test_its_engine_reads_the_devices(self):
        self.install(containerd="2.1.0-1", podman="4.3.1")
        code, _ = self.check_engine("ok", "containerd 2.1.0 reads the field CDI_devices")
        self.assertEqual(code, 0)

    def test_a_socket_cannot_be_asked_from_another_host(self):
        os.remove(os.path.join(self.folder, f"kubelet/plugins/{DRIVER}/dra.sock"))
        self.listen(f"kubelet/plugins/{DRIVER}/dra.sock").close()
        self.check("driver", "ok", f"{DRIVER}: /kubelet/plugins/{DRIVER}/dra.sock")

    def test_an_engine_that_refuses_the_file_or_does_not_search_for_it(self):
        self.install(containerd="1.7.0", podman="4.3.1", crio=None)
        self.put("etc/containerd/config.toml",
                 'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\nenable_cdi = true\ncdi_spec_dirs = ["/run/other"]\n')
        _, record = self.check_engine("not-checked", "cri-o: its version is unknown: /var/lib/dpkg")
        steps = [one["message"] for one in record["steps"] if one["state"] == "wrong"]
        self.assertIn("containerd 1.7.0 does not read the field CDI_devices", steps.pop(0))
        self.assertEqual(steps, [f"containerd 1.7.0 refuses the file of {name}" for name in IDS])
        self.install(containerd="2.1.0")
        _, record = self.why()
        self.assertEqual([one["message"] for one in record["steps"] if one["state"] == "wrong"],
                         [f"containerd 2.1.0 does not search the directory of the file of {name}"
                          for name in IDS])

    def test_an_engine_that_is_switched_off_or_only_configured(self):
        self.install(containerd="1.7.27")
        self.check_engine("wrong", "containerd 1.7.27: CDI is switched off")
        os.remove(os.path.join(self.folder, "usr/bin/containerd"))
        self.put("etc/containerd/config.toml", "version = 2\n")
        self.check_engine("not-checked",
                          "containerd: its version is unknown: its program is not on this host")
        os.remove(os.path.join(self.folder, "etc/containerd/config.toml"))
        self.check_engine("not-checked", "no containerd or CRI-O was found")

    def test_an_old_cri_o(self):
        self.install(crio=None)
        self.check("engine", "wrong", "cri-o 1.27.0 does not read the field", engine="cri-o@1.27.0")
        self.check("engine", "wrong", "containerd 1.6.0 does not read the field",
                   engine="containerd@1.6.0")

    def test_a_container_whose_device_is_gone(self):
        config = {"ociVersion": "1.2.0", "annotations": Containers.CRIO}
        path = self.put("bundle/config.json", json.dumps(config))
        subprocess.run([CDI, "-d", os.path.join(self.folder, "cdi"), "inject", "--in-place", path,
                        *IDS], check=True, timeout=60)
        self.assertEqual(self.why("--bundle", os.path.dirname(path))[0], 0)
        self.put("dev.tab", "/dev/null c 1 3 0666 0 0\n")
        code, record = self.why("--bundle", os.path.dirname(path))
        self.assertEqual((code, record["bundle"]["holds"]), (6, False))


if __name__ == "__main__":
    unittest.main()
