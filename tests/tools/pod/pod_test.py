#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of `cdi-pod`. usage: pod_test.py CDI_POD"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
import cases  # noqa: E402  pylint: disable=wrong-import-position

CDI_POD = sys.argv.pop(1)

SPEC = """cdiVersion: 0.6.0
kind: v.com/gpu
containerEdits: {env: [SPEC=1]}
devices:
- name: "0"
  containerEdits: {env: [ZERO=1], deviceNodes: [{path: /dev/null}]}
- name: "1"
  containerEdits: {env: [ONE=1]}
"""
SPEC_WITH_HOOK = """cdiVersion: 0.6.0
kind: v.com/gpu
devices:
- name: "0"
  containerEdits: {hooks: [{hookName: createContainer, path: /bin/true}]}
"""


def run(args, text=None):
    """Exit code, standard output and standard error."""
    done = subprocess.run([CDI_POD, *args], input=text, text=True, timeout=60,
                          capture_output=True)
    return done.returncode, done.stdout, done.stderr


def as_text(value):
    return value if isinstance(value, str) else json.dumps(value)


class Questions(unittest.TestCase):
    def test_answers(self):
        for args, value, expected, warning in cases.ANSWERS:
            with self.subTest(args=args, value=value):
                code, out, err = run(args, as_text(value))
                self.assertEqual(code, 0, err)
                answer = json.loads(out)
                self.assertEqual({key: answer.get(key) for key in expected}, expected)
                self.assertIn(warning, err)
                if not warning:
                    self.assertEqual(err, "")

    def test_refusals(self):
        for args, value, reason in cases.REFUSED:
            with self.subTest(args=args, value=value):
                code, out, err = run(args, as_text(value))
                self.assertEqual((code, out), (1, ""))
                self.assertTrue(err.startswith("cdi-pod: error: "), err)
                self.assertIn(reason, err)

    def test_a_pod_is_taken_as_kubectl_prints_it(self):
        spec = cases.pod(cases.container({"cpu": "1500m", "memory": "2Gi"}, {"cpu": "1500m"}),
                         resourceClaims=[{"name": "g", "resourceClaimName": "x"}])["pod"]
        spec["spec"]["nodeName"] = "n"
        one = {"apiVersion": "v1", "kind": "Pod", **spec, "status": {"phase": "Running"}}
        claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                 "metadata": {"name": "x", "namespace": "default"}, "spec": {}}
        as_yaml = ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n"
                   "  runtimeClassName: kata-remote\n  containers:\n  - name: c\n    resources:\n"
                   "      limits: {cpu: 1500m, memory: 2Gi}\n      requests:\n"
                   "        cpu: 1500m\n")
        for args in (["size", "--formula", "rfc", "-v"], ["peerpod"]):
            wanted = run(args, as_text({"pod": {**spec, "spec": {**spec["spec"],
                                                                 "resourceClaims": []}}}))[1]
            self.assertTrue(wanted)
            bare = {**one, "spec": {**spec["spec"], "resourceClaims": []}}
            for text in (as_text(bare), as_text({"kind": "List", "items": [bare]}),
                         as_text({"kind": "PodList", "items": [bare]}), as_yaml,
                         "---\n" + as_yaml, "# a pod\n" + as_yaml, "\n\n" + as_yaml,
                         "%YAML 1.1\n---\n" + as_yaml):
                with self.subTest(args=args, text=text):
                    self.assertEqual(run(args, text)[1], wanted)
        both = as_text({"kind": "List", "items": [claim, one]})
        self.assertNotIn("no claim has the name", run(["peerpod"], both)[2])

    def test_the_input_may_be_a_file(self):
        folder = tempfile.mkdtemp(prefix="cdi-pod-")
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "pod.yaml")
        with open(path, "w") as file:
            file.write("pod:\n  spec:\n    containers: [{name: c}]\n")
        self.assertEqual(run(["size", "--formula", "rfc", path])[0], 0)
        with open(path, "a") as file:
            file.write("pid: 1\n")
        self.assertIn(f"{path}:4:1: pid: unknown field: ", run(["size", "--formula", "rfc", path])[2])
        self.assertIn(f"{path}x", run(["size", "--formula", "rfc", path + "x"])[2])
        self.assertIn("--formula is required: give one of rfc, runtime-go, runtime-rs",
                      run(["size"])[2])

    def test_help_has_an_example(self):
        commands = ("requests visible inner guest podresources peerpod instance slices size "
                    "strategy").split()
        for args in [[], *([name] for name in commands)]:
            code, out, _ = run([*args, "--help"])
            self.assertEqual(code, 0)
            self.assertRegex(out, r"Examples?:\n +.*cdi-pod|Examples?:\n(.*\n)+.*cdi-pod")

    def test_wrong_usage(self):
        for args in [[], ["other"], ["requests"], ["requests", "--runtime", "docker"],
                     ["requests", "--runtime", "crio", "--prefix", ""],
                     ["size", "--formula", "x"], ["guest", "c", "--timeout", "-1"],
                     *(["peerpod", "--class", word] for word in ("odd", "=a.com/b", "odd=")),
                     ["guest", ""], ["guest", "-", "--spec-dir", ""]]:
            code, out, err = run(args, "{}")
            self.assertEqual((code, out), (2, ""), args)
            self.assertNotEqual(err, "")
        self.assertEqual(run(["other"])[2],
                         'cdi-pod: error: "other" is not a command: use one of requests, visible, '
                         "inner, guest, podresources, peerpod, instance, slices, size, strategy, "
                         "completion\n")
        self.assertEqual(run(["size"])[2],
                         "cdi-pod: error: --formula is required: give one of rfc, "
                         "runtime-go, runtime-rs\n")

    def test_full_disk(self):
        many = "v.com/gpu=" + ",".join(map(str, range(2000)))  # more than a buffer holds
        for args in (["visible", ""], ["visible", many], ["--help"], ["size", "--help"]):
            with self.subTest(args), open("/dev/full", "w") as full:
                done = subprocess.run([CDI_POD, *args], stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr, b"cdi-pod: error: cannot write to standard output\n")


class PeerPods(unittest.TestCase):
    """Claims in files, instance types, and a spec for the guest."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cdi-pod-")
        self.addCleanup(shutil.rmtree, self.folder)

    def put(self, name, value):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(as_text(value))
        return path

    def answer(self, *args, given):
        code, out, err = run(["peerpod", *args], as_text(given))
        self.assertEqual(code, 0, err)
        return json.loads(out), err

    def nodes(self, answer):
        return {one["name"]: [node["path"] for node in one["containerEdits"]["deviceNodes"]]
                for one in answer["guestSpec"]["devices"]}

    def test_a_pod_with_a_claim(self):
        claim = self.put("claim.json", cases.claim("made", cases.exactly("a", "gpu.nvidia.com", 2),
                                                   pod_claim="g"))
        types = self.put("types.json", {"types": cases.DEVICE_TYPES})
        answer, err = self.answer("--claim", claim, "--types", types, given=cases.pod(
            cases.using("g"), cases.using("other"), resourceClaims=[
                {"name": "g", "resourceClaimTemplateName": "t"}, {"name": "other"}]))
        self.assertEqual(answer["instance"], "nvidia2")
        self.assertEqual(answer["unmapped"], [{"container": "c", "claim": "other"}])
        self.assertEqual(answer["containers"],
                         [{"container": "c", "devices": ["kata.peerpods.io/claim=made"]}])
        self.assertEqual(self.nodes(answer)["made"][-2:], ["/dev/nvidia0", "/dev/nvidia1"])
        self.assertIn(f"set the annotation {cases.TYPE}: nvidia2", err)

    def test_each_claim_has_devices_of_its_own(self):
        claims = {"kind": "List", "items": [
            cases.claim("one", cases.exactly("a", "gpu.nvidia.com")),
            cases.claim("two", cases.exactly("a", "gpu.nvidia.com"),
                        cases.exactly("b", "gpu.amd.com"))]}
        answer, _ = self.answer(given=claims)
        nodes = self.nodes(answer)
        self.assertEqual(sorted(nodes), ["one", "two", "two:a", "two:b"])
        self.assertEqual(nodes["one"][-1], "/dev/nvidia0")
        self.assertEqual(nodes["two:a"][-1], "/dev/nvidia1")
        self.assertEqual(nodes["two:b"], ["/dev/kfd", "/dev/dri/renderD128"])
        self.assertEqual(nodes["two"], [*nodes["two:a"], *nodes["two:b"]])

    def test_claims_of_the_same_name_in_two_namespaces(self):
        claims = {"kind": "List", "items": [cases.claim("x", cases.ONE_AMD, space="b"),
                                            cases.claim("x", cases.ONE_NVIDIA, space="a")]}
        answer, err = self.answer(given=claims)
        self.assertEqual(sorted(self.nodes(answer)), ["a_x", "b_x"])
        self.assertIn("the claims are of several namespaces", err)
        # A pod has those of its own namespace, so their names are enough.
        answer, err = self.answer("--claim", self.put("claims.json", claims),
                                  given=cases.in_namespace("a", cases.NAMED))
        self.assertEqual(answer["containers"],
                         [{"container": "c", "devices": ["kata.peerpods.io/claim=x"]}])
        self.assertEqual(self.nodes(answer)["x"][-1], "/dev/nvidia0")
        self.assertNotIn("several namespaces", err)

    def test_claims_and_classes_of_files(self):
        """Standard input has the pod, so the claims come from files."""
        one = self.put("one.json", {"kind": "ResourceClaimList", "items": [
            cases.claim("one", cases.exactly("a", "odd"), cases.exactly("b", "odd"))]})
        classes = self.put("classes.json", {"kind": "DeviceClass", "metadata": {"name": "odd"},
                                            "spec": {"extendedResourceName": "nvidia.com/gpu"}})
        answer, _ = self.answer("--claim", one, "--claim", classes, given={"pod": {
            **cases.pod(cases.using("g", request="b"), resourceClaims=[
                {"name": "g", "resourceClaimTemplateName": "t"}])["pod"],
            "status": {"resourceClaimStatuses": [{"name": "other", "resourceClaimName": "two"},
                                                 {"name": "g", "resourceClaimName": "one"}]}}})
        self.assertEqual(answer["containers"],
                         [{"container": "c", "devices": ["kata.peerpods.io/claim=one:b"]}])
        shared = ["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"]
        self.assertEqual(self.nodes(answer)["one"], [*shared, "/dev/nvidia0", "/dev/nvidia1"])
        self.assertEqual(self.nodes(answer)["one:b"], [*shared, "/dev/nvidia1"])

    def test_a_claim_of_a_cloud_pool(self):
        """The device that the scheduler chose from `slices` is the instance type."""
        types = self.put("types.json", cases.DEVICE_TYPES)
        slices = json.loads(run(["slices"], as_text({"types": cases.DEVICE_TYPES}))[1])
        (one,) = slices["items"]
        for device in one["spec"]["devices"]:
            answer, _ = self.answer("--types", types, given=cases.claim(
                "vm", cases.exactly("a", "peer"),
                results=[("a", one["spec"]["driver"], device["name"])]))
            self.assertEqual((answer["instance"], answer["rule"]),
                             (device["attributes"]["instanceType"]["string"], "claim"))
        _, err = self.answer("--types", types, given=cases.claim(
            "vm", cases.exactly("a", "peer"), results=[("a", one["spec"]["driver"], "gone")]))
        self.assertIn('no type has the name of the claimed device "gone"', err)

    def test_names_of_instance_types_and_resources(self):
        types = [{"name": "T~1", "devices": {"A.com/z~1": 2, "3d.com/" + 40 * "x": 1}}]
        given = {"types": types, "default": "x", "validTypes": []}  # as for `peerpod --types`
        (one,) = json.loads(run(["slices"], as_text(given))[1])["items"]
        (device,) = one["spec"]["devices"]
        self.assertEqual(device["name"], "t-1")
        self.assertEqual(device["attributes"]["instanceType"], {"string": "T~1"})
        self.assertEqual(device["attributes"]["A_com_z_1"], {"int": 2})
        self.assertEqual(device["attributes"]["_3d_com_" + 24 * "x"], {"int": 1})

    def test_many_instance_types(self):
        types = [{"name": f"t.{i}", "vcpus": i} for i in range(300)]
        items = json.loads(run(["slices"], as_text({"types": types}))[1])["items"]
        self.assertEqual([len(one["spec"]["devices"]) for one in items], [128, 128, 44])
        self.assertEqual([one["metadata"]["name"] for one in items],
                         ["instances-0", "instances-1", "instances-2"])
        self.assertEqual({one["spec"]["pool"]["resourceSliceCount"] for one in items}, {3})


class Guest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cdi-pod-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.specs = os.path.join(self.folder, "cdi")

    def write_spec(self, name="v.yaml", text=SPEC):
        os.makedirs(self.specs, exist_ok=True)
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        os.rename(path, os.path.join(self.specs, name))

    def guest(self, annotations, *options, env=(), timeout=0):
        """Exit code, the variables of the config, and standard error."""
        config = json.dumps({"process": {"env": list(env)}, "annotations": annotations})
        code, out, err = run(["guest", "-", "--spec-dir", self.specs, "--timeout", str(timeout),
                              *options], config)
        self.assertEqual(bool(out), code == 0)
        return code, json.loads(out)["process"]["env"] if out else None, err

    def test_annotations_come_before_the_variable(self):
        self.write_spec()
        visible = "VISIBLE_CDI_DEVICES=v.com/gpu=1,0"
        for option in [], ["--compatible"]:
            self.assertEqual(self.guest({"cdi.k8s.io/a": "v.com/gpu=0"}, *option, "--visible",
                                        env=[visible]),
                             (0, [visible, "SPEC=1", "ZERO=1", "ONE=1"], ""))

    def test_the_variable_does_not_matter_by_default(self):
        self.write_spec()
        for value in "v.com/gpu=1", "junk":
            variable = "VISIBLE_CDI_DEVICES=" + value
            for option in [], ["--compatible"]:
                self.assertEqual(self.guest({}, *option, env=[variable]), (0, [variable], ""))

    def test_a_node_gets_its_cgroup_rule(self):
        self.write_spec()
        config = os.path.join(self.folder, "config.json")
        with open(config, "w") as file:
            json.dump({"annotations": {"cdi.k8s.io/vfio17": "v.com/gpu=0"}}, file)
        code, out, err = run(["guest", config, "--spec-dir", self.specs, "--timeout", "0"])
        self.assertEqual((code, err), (0, ""))
        linux = json.loads(out)["linux"]
        self.assertEqual([node["path"] for node in linux["devices"]], ["/dev/null"])
        self.assertEqual([(rule["major"], rule["minor"]) for rule in linux["resources"]["devices"]],
                         [(1, 3)])

    def test_repeated_names_of_annotations(self):
        self.write_spec(text=SPEC_WITH_HOOK)
        name = "v.com/gpu=0"
        annotations = {"cdi.k8s.io/a": f"{name},{name}", "cdi.k8s.io/b": name}
        config = json.dumps({"annotations": annotations,
                             "process": {"env": ["VISIBLE_CDI_DEVICES=" + name]}})
        for option, count in ([], 1), (["--compatible"], 3):
            code, out, err = run(["guest", "-", "--spec-dir", self.specs, "--timeout", "0",
                                  "--visible", *option], config)
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(len(json.loads(out)["hooks"]["createContainer"]), count, option)

    def test_nothing_asked_means_no_waiting(self):
        for options in [], ["--compatible"]:
            self.assertEqual(self.guest({"other": "x"}, *options, timeout=1000), (0, [], ""))
        pause = {"io.katacontainers.pkg.oci.container_type": "pod_sandbox",
                 "cdi.k8s.io/a": "v.com/gpu=0"}
        self.assertEqual(self.guest(pause, timeout=1000)[:2], (0, []))

    def test_a_late_spec_is_waited_for(self):
        for options in [], ["--compatible"]:
            writer = threading.Timer(0.2, self.write_spec)
            writer.start()
            code, env, err = self.guest({"cdi.k8s.io/a": "v.com/gpu=1"}, *options, timeout=60)
            writer.join()
            self.assertEqual((code, env, err), (0, ["SPEC=1", "ONE=1"], ""))
            shutil.rmtree(self.specs)

    def test_failures_at_once(self):
        self.write_spec()
        for options in [], ["--compatible"]:
            for value, reason in [("v.com/gpu=0,v.com/gpu=2", "has no device"),
                                  ("junk", "not a qualified"), ("", "not a qualified")]:
                code, _, err = self.guest({"cdi.k8s.io/a": value}, *options, timeout=1000)
                self.assertEqual(code, 1)
                self.assertIn(reason, err)
        code, _, err = self.guest({}, "--visible", env=["VISIBLE_CDI_DEVICES=all"], timeout=1000)
        self.assertEqual(code, 1)
        self.assertIn("VISIBLE_CDI_DEVICES: selector", err)

    def test_a_kind_that_stays_away_is_a_timeout(self):
        self.write_spec()
        for options in [], ["--compatible"]:
            code, _, err = self.guest({"cdi.k8s.io/a": "v.com/nic=0"}, *options)
            self.assertEqual(code, 1)
            self.assertIn("v.com/nic", err)
            self.assertIn("CDI timeout of 0 seconds", err)

    def test_a_bad_file_matters_to_the_agent_alone(self):
        self.write_spec()
        self.write_spec("bad.yaml", "cdiVersion: 9.0.0\nkind: x.com/y\n")
        code, env, err = self.guest({"cdi.k8s.io/a": "v.com/gpu=1"})
        self.assertEqual((code, env), (0, ["SPEC=1", "ONE=1"]))
        self.assertIn("warning: " + self.specs + "/bad.yaml", err)
        code, _, err = self.guest({"cdi.k8s.io/a": "v.com/gpu=1"}, "--compatible", timeout=1000)
        self.assertEqual(code, 1)
        self.assertIn("error: " + self.specs + "/bad.yaml", err)

    def test_a_conflict_of_other_devices_matters_to_nobody(self):
        self.write_spec()
        self.write_spec("w.yaml", SPEC.replace('- name: "1"', '- name: "2"'))
        for options in [], ["--compatible"]:
            code, env, _ = self.guest({"cdi.k8s.io/a": "v.com/gpu=1"}, *options)
            self.assertEqual((code, env), (0, ["SPEC=1", "ONE=1"]))

    def test_a_device_that_cannot_be_injected_is_no_reason_to_wait(self):
        self.write_spec(text=SPEC.replace("/dev/null", "/dev/no-such"))
        for options in [], ["--compatible"]:
            code, _, err = self.guest({"cdi.k8s.io/a": "v.com/gpu=0"}, *options, timeout=1000)
            self.assertEqual(code, 1)
            self.assertIn("/dev/no-such", err)

    def test_configs_that_cannot_be_used(self):
        for text, reason in [("[", "standard input:1:2"), ("[]", "expected an object"),
                             ('{"annotations": 1}', "annotations: expected an object"),
                             ('{"Annotations": {}}', "Annotations: the member name")]:
            code, out, err = run(["guest", "-", "--spec-dir", self.specs], text)
            self.assertEqual((code, out), (1, ""))
            self.assertIn(reason, err)
        self.assertEqual(run(["guest", "/nonexistent"])[0], 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
