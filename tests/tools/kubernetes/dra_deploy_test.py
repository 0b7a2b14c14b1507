#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The manifests of cdi-dra, and what a real API server makes of them.

usage: dra_deploy_test.py BUILD CDI_DRA SAMPLE_NODE [ARGUMENTS OF UNITTEST]

CDI_FULL=1 builds kube-apiserver and etcd in the folder BUILD, and applies the manifests.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import uuid

sys.dont_write_bytecode = True
from api_cluster import Cluster, need_cluster  # noqa: E402
from dra_peers import make_gpus, uid_of  # noqa: E402

BUILD, CDI_DRA, SAMPLE_NODE = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
DEPLOY = pathlib.Path(__file__).resolve().parents[3] / "tools/dra/deploy"
DRIVER = "gpu.cdi.local"
GPU = uuid.uuid5(uuid.NAMESPACE_URL, "0")  # the first of `make_gpus`


def documents(name):
    try:
        import yaml  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise unittest.SkipTest("python3-yaml is not installed") from error
    return list(yaml.safe_load_all((DEPLOY / name).read_text("ascii")))


def of_kind(kind, items):
    return [item for item in items if item["kind"] == kind]


def daemon_pod(items, node, name):
    """The pod that the DaemonSet has on a node."""
    template = of_kind("DaemonSet", items)[0]["spec"]["template"]
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "cdi-dra", **template["metadata"]},
            "spec": {**template["spec"], "nodeName": node}}


def slice_of(node, name="", driver=DRIVER):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
            "metadata": {"name": name or f"{node}-gpus"},
            "spec": {"driver": driver, "nodeName": node,
                     "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                     "devices": [{"name": "gpu-0", "attributes": {"type": {"string": "gpu"}}}]}}


class Manifest(unittest.TestCase):

    def setUp(self):
        self.items = documents("cdi-dra.yaml")
        daemon_set, = of_kind("DaemonSet", self.items)
        self.template = daemon_set["spec"]["template"]
        self.assertEqual(daemon_set["spec"]["selector"]["matchLabels"],
                         self.template["metadata"]["labels"])
        self.pod = self.template["spec"]
        self.container, = self.pod["containers"]
        self.options = dict(word[2:].split("=", 1) for word in self.container["args"][1:])

    def test_options_are_those_of_the_program(self):
        if not os.access(CDI_DRA, os.X_OK):
            self.skipTest("cdi-dra is not built: it needs gRPC and protobuf")
        done = subprocess.run([CDI_DRA, "serve", "--help"], capture_output=True, text=True,
                              timeout=60, check=True)
        for option in self.options:
            self.assertRegex(done.stdout, rf"(?m)(^ +|, ?)--{option}[ ,\n]")

    def test_the_container_has_the_least_rights(self):
        rights = self.container["securityContext"]
        self.assertIs(rights["privileged"], False)
        self.assertIs(rights["allowPrivilegeEscalation"], False)
        self.assertIs(rights["readOnlyRootFilesystem"], True)
        self.assertEqual(rights["capabilities"], {"drop": ["ALL"]})
        self.assertFalse({"hostNetwork", "hostPID", "hostIPC"} & set(self.pod))

    def test_the_account_has_no_unused_right(self):
        role, = of_kind("ClusterRole", self.items)
        rights = {rule["resources"][0]: set(rule["verbs"]) for rule in role["rules"]}
        self.assertEqual(rights, {"resourceclaims": {"get"}, "nodes": {"get"},
                                  "resourceslices": {"list", "create", "update", "delete"}})

    def test_a_token_may_lack_what_names_the_node(self):
        """Without a `?`, the expression would fail without the message of the rule."""
        policy, = of_kind("ValidatingAdmissionPolicy", self.items)
        node, = [one["expression"] for one in policy["spec"]["variables"] if one["name"] == "node"]
        keys = node.strip().removeprefix("request.userInfo").removesuffix('.orValue("")')
        self.assertEqual(re.findall(r"[.\[]\??", re.sub('"[^"]*"', "", keys)), [".?", "[?", "[?"])

    def test_paths_are_those_of_the_host(self):
        """Kubelet gets the paths of sockets, and engines the paths of specs."""
        sources = {volume["name"]: volume["hostPath"]["path"] for volume in self.pod["volumes"]}
        written = {mount["mountPath"] for mount in self.container["volumeMounts"]
                   if not mount.get("readOnly")}
        for mount in self.container["volumeMounts"]:
            if mount["mountPath"] in written:
                self.assertEqual(sources[mount["name"]], mount["mountPath"])
        kubelet = self.options["kubelet-dir"]
        self.assertEqual(written, {f"{kubelet}/plugins/{DRIVER}", f"{kubelet}/plugins_registry",
                                   self.options["output-dir"]})
        self.assertTrue(self.options["state-dir"].startswith(f"{kubelet}/plugins/{DRIVER}/"))

    def test_the_host_is_mounted_in_parts(self):
        """Not its configuration, the sockets in /run, nor the Secrets of pods; and read-only."""
        root = self.options["root"]
        sources = {volume["name"]: volume["hostPath"]["path"] for volume in self.pod["volumes"]}
        parts = {sources[mount["name"]]: mount for mount in self.container["volumeMounts"]
                 if mount["mountPath"].startswith(root)}
        for source, mount in parts.items():
            self.assertEqual(mount["mountPath"], root + source)
            self.assertIs(mount["readOnly"], True)
        self.assertEqual(set(parts), {"/dev", "/sys", "/usr", "/proc/devices", "/proc/driver",
                                      "/proc/sys/kernel"})

    def test_the_parts_of_the_host_are_enough(self):
        """A claim gets the same as from the whole host."""
        if not os.access(CDI_DRA, os.X_OK):
            self.skipTest("cdi-dra is not built: it needs gRPC and protobuf")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="cdi-deploy-"))
        self.addCleanup(shutil.rmtree, folder)
        whole, parts = folder / "whole", folder / "parts"
        make_gpus(SAMPLE_NODE, str(whole), 2)
        parts.mkdir()
        shutil.copy(whole / "dev.tab", parts)  # in the place of the numbers of nodes
        for volume in self.pod["volumes"]:
            source = whole / volume["hostPath"]["path"][1:]
            copy = shutil.copytree if source.is_dir() else shutil.copy
            if volume["name"] not in ("plugin", "registry", "cdi") and source.exists():
                (parts / source.relative_to(whole)).parent.mkdir(parents=True, exist_ok=True)
                copy(source, parts / source.relative_to(whole), **(
                    {"symlinks": True} if source.is_dir() else {}))
        specs = [self.spec_of_a_claim(folder, root) for root in (whole, parts)]
        self.assertEqual(specs[0], specs[1])
        self.assertIn("libcuda.so", specs[0])
        self.assertIn("/dev/nvidia0", specs[0])

    def spec_of_a_claim(self, folder, root):
        """The spec that the driver writes for a claim; and its probes work meanwhile."""
        place = folder / f"of-{root.name}"
        (place / "claims").mkdir(parents=True)
        file = place / "claims/one.json"
        device = f"nvidia-gpu-{GPU}"
        file.write_text(json.dumps({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {"namespace": "default", "name": "one", "uid": "one"},
            "status": {"allocation": {"devices": {"results": [
                {"request": "gpu", "driver": DRIVER, "pool": "n", "device": device}]}}}}), "ascii")
        kubelet = ["--driver", DRIVER, "--kubelet-dir", place / "k", "--instance", "pod"]
        driver = subprocess.Popen(
            [CDI_DRA, "serve", *kubelet, "--node", "n", "--claims", place / "claims", "--root",
             root, "--output-dir", place / "cdi", "--state-dir", folder / "state"],
            stdout=subprocess.PIPE, text=True)
        try:
            while "reg.sock" not in driver.stdout.readline():
                self.assertIsNone(driver.poll())
            self.check_probes(place / "k", 0)
            subprocess.run([CDI_DRA, "call", "prepare", file, *kubelet], check=True,
                           capture_output=True, timeout=60)
            spec, = (place / "cdi").iterdir()
            text = spec.read_text("utf-8").replace(str(place), "")
            subprocess.run([CDI_DRA, "call", "unprepare", file, *kubelet], check=True,
                           capture_output=True, timeout=60)
        finally:
            driver.terminate()
            driver.communicate()
        self.check_probes(place / "k", 1)
        return text.replace(str(root), "")

    def check_probes(self, kubelet, code):
        """Those of the manifest, for a driver elsewhere."""
        for name in ("readinessProbe", "livenessProbe"):
            shell, option, script = self.container[name]["exec"]["command"]
            words = f"exec {CDI_DRA} status --sockets --kubelet-dir={kubelet} "
            script = script.replace("exec cdi-dra status --sockets ", words)
            self.assertIn(words, script)
            done = subprocess.run([shell, option, script], env={**os.environ, "POD_UID": "pod"},
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            self.assertNotIn("claim ", done.stdout)

    def test_one_name_of_the_driver(self):
        self.assertEqual(self.options["driver"], DRIVER)
        for name in ("cdi-dra.yaml", "samples.yaml"):
            text = (DEPLOY / name).read_text("ascii")
            self.assertEqual(set(re.findall(r"\b(?:partition\.)?(gpu\.[a-z.]+local)\b", text)),
                             {DRIVER})

    def test_samples_ask_for_no_capacity(self):
        """NVIDIA's devices have none, so that such a claim would never get them."""
        for item in documents("samples.yaml"):
            self.assertNotIn("device.capacity", str(item))

    def test_samples_ask_for_what_there_is(self):
        samples = documents("samples.yaml")
        classes = {item["metadata"]["name"] for item in of_kind("DeviceClass", self.items)}
        text = (DEPLOY / "samples.yaml").read_text("ascii")
        self.assertEqual(set(re.findall(r"deviceClassName: ([a-z.]+)", text)), classes)
        made = {item["metadata"]["name"] for kind in ("ResourceClaim", "ResourceClaimTemplate")
                for item in of_kind(kind, samples)}
        for pod in of_kind("Pod", samples):
            for claim in pod["spec"].get("resourceClaims", ()):
                self.assertIn(claim.get("resourceClaimName") or
                              claim["resourceClaimTemplateName"], made)


class Applied(unittest.TestCase):
    """In one real API server, in the order of their names."""

    @classmethod
    def setUpClass(cls):
        programs = need_cluster(BUILD)
        cls.items = documents("cdi-dra.yaml")
        folder = tempfile.mkdtemp(prefix="cdi-deploy-")
        cls.addClassCleanup(shutil.rmtree, folder)
        cls.cluster = Cluster(programs, folder)
        cls.addClassCleanup(cls.cluster.stop)
        for node in ("one", "two"):
            cls.cluster.create({"apiVersion": "v1", "kind": "Node",
                                "metadata": {"name": node, "uid": uid_of(node)}})
        cls.answers = [(item["kind"], cls.cluster.create(item)) for item in cls.items]
        cls.tokens = {}
        for node in ("one", "two"):
            pod = cls.cluster.create(daemon_pod(cls.items, node, f"cdi-dra-{node}"))
            cls.answers.append(("Pod", pod))
            if pod.status == 201:
                cls.tokens[node] = cls.cluster.pod_token("cdi-dra", "cdi-dra",
                                                         pod.object["metadata"])
        cls.wait_for_policy()

    @classmethod
    def wait_for_policy(cls):
        """A policy begins to act some time after it was made."""
        for number in range(600):
            made = cls.cluster.create(slice_of("two", f"try-{number}"), cls.tokens["one"])
            if made.status != 201:
                return
            cls.cluster.delete("ResourceSlice", f"try-{number}")
        raise AssertionError("the policy does not act")

    def good(self, answer):
        self.assertIn(answer.status, (200, 201), answer.message)
        return answer.object

    def forbidden(self, answer, *texts):
        self.assertIn(answer.status, (403, 422), answer.object)
        for text in texts:
            self.assertIn(text, answer.message)

    def test_strict_validation(self):
        for kind, answer in self.answers:
            with self.subTest(kind=kind):
                self.good(answer)

    def test_strict_validation_finds_faults(self):
        wrong = {**of_kind("DeviceClass", self.items)[0], "metadata": {"name": "wrong"}}
        wrong["spec"] = {**wrong["spec"], "extendedResourcename": "a.b/c"}
        answer = self.cluster.create(wrong)
        self.assertEqual(answer.status, 400, answer.object)
        self.assertIn("extendedResourcename", answer.message)

    def test_samples(self):
        for item in documents("samples.yaml"):
            with self.subTest(kind=item["kind"], name=item["metadata"]["name"]):
                self.good(self.cluster.create(item))

    def test_slices_of_the_own_node(self):
        one = self.tokens["one"]
        made = self.good(self.cluster.create(slice_of("one"), one))
        made["spec"]["pool"]["generation"] = 2
        made = self.good(self.cluster.replace(made, one))
        self.good(self.cluster.get("ResourceSlice", token=one))
        with self.subTest("another pod"):
            two = self.tokens["two"]
            made["spec"]["pool"]["generation"] = 3
            text = "cdi-dra on two can only write slices of that node"
            self.forbidden(self.cluster.replace(made, two), text)
            self.forbidden(self.cluster.delete("ResourceSlice", "one-gpus", token=two), text)
            self.forbidden(self.cluster.create(slice_of("one", "more"), two), text)
        self.good(self.cluster.delete("ResourceSlice", "one-gpus", token=one))

    def test_slices_that_belong_to_nobody(self):
        one = self.tokens["one"]
        everywhere = slice_of("one", "everywhere")
        del everywhere["spec"]["nodeName"]
        everywhere["spec"]["allNodes"] = True
        self.forbidden(self.cluster.create(everywhere, one), "of that node")
        self.forbidden(self.cluster.create(slice_of("one", "of-other", "other.example.com"), one),
                       "of the driver gpu.cdi.local")

    def test_a_token_without_a_node(self):
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        path = "/api/v1/namespaces/cdi-dra/serviceaccounts/cdi-dra/token"
        token = self.cluster.request("POST", path, body).object["status"]["token"]
        self.forbidden(self.cluster.create(slice_of("one", "none"), token), "names no node")

    def test_the_policy_is_for_nobody_else(self):
        self.good(self.cluster.create(slice_of("one", "of-admin", "other.example.com")))
        self.good(self.cluster.delete("ResourceSlice", "of-admin"))

    def test_other_rights(self):
        one = self.tokens["one"]
        self.good(self.cluster.get("Node", "one", token=one))
        claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                 "metadata": {"name": "claim", "namespace": "default"},
                 "spec": {"devices": {"requests": [
                     {"name": "gpu", "exactly": {"deviceClassName": DRIVER}}]}}}
        made = self.good(self.cluster.create(claim))
        self.good(self.cluster.get("ResourceClaim", "claim", token=one))
        status = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/claim/status"
        secrets = "/api/v1/namespaces/cdi-dra/secrets"
        for what, answer in {
                "claims of all": self.cluster.get("ResourceClaim", token=one),
                "nodes": self.cluster.get("Node", token=one),
                "pods": self.cluster.get("Pod", token=one),
                "secrets": self.cluster.request("GET", secrets, token=one),
                "write a claim": self.cluster.replace(made, one),
                "its status": self.cluster.request("PUT", status, made, one),
                "delete a claim": self.cluster.delete("ResourceClaim", "claim", token=one),
                "delete a node": self.cluster.delete("Node", "two", token=one),
                "write a class": self.cluster.delete("DeviceClass", DRIVER, token=one),
                "delete the policy": self.cluster.delete("ValidatingAdmissionPolicy",
                                                         "cdi-dra-slices", token=one)}.items():
            with self.subTest(what):
                self.assertEqual(answer.status, 403, answer.object)


if __name__ == "__main__":
    unittest.main(verbosity=2)
