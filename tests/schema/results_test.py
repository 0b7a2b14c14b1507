#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The JSON of each command of the tools has one style of keys, and is as schema/results-1.json says.

usage: results_test.py CDI CDI_PREPARE CDI_POD PROJECT
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zlib

try:
    from jsonschema import Draft202012Validator
except ImportError:
    Draft202012Validator = None

CDI, PREPARE, POD = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
PROJECT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
sys.path.append(str(PROJECT / "tests/tools/prepare"))
import node_trees  # noqa: E402  pylint: disable=wrong-import-position

SPEC = """cdiVersion: 0.6.0
kind: vendor.com/gpu
devices:
- {name: "0", containerEdits: {env: [A=0]}}
"""
CLAIM_DEVICE = {"request_names", "device_name", "cdi_device_ids"}  # of Kubernetes' DRA interface
CAMEL = re.compile(r"[a-z][a-zA-Z0-9]*")

# Members whose keys are not ours: names, annotations, variables of Kata, terms of a sum, and
# attributes of Kubernetes.
OPEN = {"annotations", "claims", "terms", "sandbox", "attributes"}

CDI_COMMANDS = {
    "cdi devices": "devices", "cdi vendors": "vendors", "cdi classes": "classes",
    "cdi specs": "specs", "cdi dirs": "dirs",
    "cdi validate": "validate a.yaml", "cdi version": "version",
    "cdi why": "why --no-host vendor.com/gpu=0",
    "cdi wait": "wait vendor.com/gpu=0",
    "cdi resolve": "resolve vendor.com/gpu=0",
    "cdi show": "show vendor.com/gpu=0",
    "cdi schema": "schema",
    "cdi validate --rules": "validate --rules",
    "cdi policy with names": "policy allowing.json vendor.com/gpu=0",
    "cdi inject --diff": "inject --diff config.json vendor.com/gpu=0",
    "cdi args": "args --for bwrap vendor.com/gpu=0",
    "cdi names": "names --from cuda --kind vendor.com/gpu --value 0",
    "cdi policy": "policy policy.json",
    "cdi new": "new a.com/b --device 0=/dev/a",
    "cdi convert": "convert --to 0.7.0 a.yaml",
    "cdi convert --in-place --backup": "convert --to 0.7.0 --in-place --backup b.json",
    "cdi transform root": "transform root / /host a.yaml",
    "cdi transform root --in-place": "transform root /dev /host/dev c.json --in-place --backup",
    "cdi write": "write a.yaml --name w.yaml --force",
    "cdi remove": "remove own.yaml",
    "cdi gc": "gc --owner me --dry-run",
}
# Commands that have tests of their own below, and those that print no JSON.
CDI_OTHERS = {"monitor"}
WITHOUT_JSON = {"run", "watch", "configure", "record", "completion"}
PREPARE_COMMANDS = {"detect": (0, 3), "write": (0, 3), "check": (0, 3), "diff": (0, 3),
                    "doctor": (0, 1), "list": (0, 3)}
PREPARE_OTHERS = {"prepare", "unprepare", "files", "slices"}
POD_COMMANDS = {
    "inner": {"devices": [{"vendorId": "0x10de", "classId": "0x030200",
                           "options": ["0000:41:00.0=02/00"], "containerPath": "/dev/vfio/12"}]},
    "instance": {"types": [{"name": "s", "vcpus": 2, "memoryMiB": 4096}],
                 "request": {"vcpus": 1, "memoryMiB": 1}},
    "size --formula runtime-go": {"pod": {"spec": {"containers": [
        {"name": "app", "resources": {"limits": {"cpu": "1500m", "memory": "1Gi"}}}]}}},
    "strategy": {"operator": "25.10", "nodes": ["containerd://1.6.20"]},
    "requests --runtime crio": {"cri": ["v.com/c=0"]},
    "visible v.com/c=0": None,
    "peerpod": {"pod": {"spec": {"containers": [{"name": "app"}]}}},
    "podresources -v": {"podResources": [{"name": "p", "containers": [
        {"name": "c", "devices": [{"resourceName": "v.com/c", "deviceIds": ["0"]}]}]}]},
}


def foreign_keys(value):
    """The keys of a result that have another style."""
    if isinstance(value, list):
        return set().union(*map(foreign_keys, value))
    if not isinstance(value, dict):
        return set()
    found = {key for key in value if not CAMEL.fullmatch(key)}
    for key, member in value.items():
        inner = list(member.values()) if key in OPEN and isinstance(member, dict) else member
        found |= foreign_keys(inner)
    return found


@unittest.skipUnless(Draft202012Validator, "needs python3-jsonschema 4")
class Results(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cdi-results-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.schema = json.loads((PROJECT / "schema/results-1.json").read_text(encoding="utf-8"))

    def validator(self, name):
        if name in ("cdi resolve", "cdi show"):
            path = {"cdi resolve": "resolved-1", "cdi show": "shown-1"}[name]
            return Draft202012Validator(
                json.loads((PROJECT / f"schema/{path}.json").read_text(encoding="utf-8")))
        self.assertIn(name, self.schema["$defs"])
        return Draft202012Validator({**self.schema, "$ref": f"#/$defs/{name}"})

    def check(self, name, value):
        """Checks a result with the definition of its command."""
        errors = [error.message for error in self.validator(name).iter_errors(value)]
        self.assertEqual(errors, [], value)
        self.assertLessEqual(foreign_keys(value), CLAIM_DEVICE)

    def put(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_tool(self, *words, given="", codes=(0,)):
        done = subprocess.run(words, cwd=self.folder, input=given, capture_output=True, text=True,
                              timeout=30, check=False)
        self.assertIn(done.returncode, codes, done.stderr)
        return done

    def test_the_schema_is_a_schema(self):
        Draft202012Validator.check_schema(self.schema)

    def test_cdi(self):
        self.put("cdi/a.yaml", SPEC)
        self.put("cdi/own.yaml", "# cdi-publisher/owner: cdi\n" + SPEC.replace("gpu", "nic"))
        self.put("a.yaml", SPEC)
        for name in ("b.json", "c.json"):
            self.put(name, json.dumps({
                "cdiVersion": "0.6.0", "kind": "v.com/a", "devices": [
                    {"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/a"}]}}]}))
        self.put("config.json", "{}")
        self.put("policy.json", '{"rules": []}')
        self.put("allowing.json", json.dumps({"rules": [
            {"name": "all", "allow": True, "devices": ["vendor.com/gpu=*"]}]}))
        for name, command in CDI_COMMANDS.items():
            with self.subTest(name):
                done = self.run_tool(CDI, "-d", "cdi", "-o", "json", *command.split())
                self.check(name, json.loads(done.stdout))

    def test_errors_of_cdi(self):
        self.put("cdi/bad.yaml", SPEC.replace("env:", "colour:"))
        done = self.run_tool(CDI, "-d", "cdi", "-o", "json", "why", "--no-host", "vendor.com/gpu=0",
                             codes=range(10, 40))
        self.check("cdi why", json.loads(done.stdout))
        done = self.run_tool(CDI, "-d", "cdi", "-o", "json", "resolve", "vendor.com/gpu=0",
                             codes=(1,))
        for line in done.stderr.splitlines():
            self.check("error", json.loads(line))

    def test_a_container(self):
        device = '- {name: "%s", containerEdits: {env: [A=%s], deviceNodes: [{path: /dev/%s}]}}\n'
        two = SPEC[:SPEC.index("- {")] + device % (0, 0, "null") + device % (1, 1, "zero")
        self.put("cdi/a.yaml", two)
        self.put("config.json", '{"ociVersion": "1.2.0"}')
        self.run_tool(CDI, "-d", "cdi", "inject", "--in-place", "config.json", "vendor.com/gpu=*")
        for text, code, states in (
                (two, 0, {"same", "replaced"}), (two.replace("A=1", "A=2"), 6, {"same", "differs"}),
                (two.replace("A=1", "B=1"), 6, {"same", "differs", "absent"})):
            with self.subTest(states):
                self.put("cdi/a.yaml", text)
                done = self.run_tool(CDI, "-d", "cdi", "-o", "json", "why", "--bundle",
                                     "config.json", codes=(code,))
                record = json.loads(done.stdout)
                self.check("cdi why --bundle", record)
                self.assertEqual({edit["state"] for one in record["devices"]
                                  for edit in one["edits"]}, states)

    def test_a_pod(self):
        """kubelet knows a claim of a pod whose UID a log directory has."""
        data = json.dumps({"ClaimInfoStateList": [{
            "ClaimUID": "c", "ClaimName": "gpu", "Namespace": "a", "PodUIDs": {"u": {}},
            "DriverState": {"d.com": {"Devices": [{
                "PoolName": "p", "DeviceName": "0", "CDIDeviceIDs": ["vendor.com/gpu=0"]}]}}}]})
        self.put("kubelet/dra_manager_state",
                 json.dumps({"Data": data, "Checksum": zlib.crc32(data.encode())}))
        self.put("logs/a_b_u/c/0.log", "")
        self.put("cdi/a.yaml", SPEC)
        self.put("bundle/config.json", '{"ociVersion": "1.2.0"}')
        for more in ((), ("--bundle", "bundle")):
            done = self.run_tool(CDI, "-d", "cdi", "-o", "json", "why", "--no-host", "--pod", "a/b",
                                 "--kubelet-dir", "kubelet", "--pod-logs-dir", "logs", *more,
                                 codes=(6,))
            self.check("cdi why --pod", json.loads(done.stdout))

    def test_monitor(self):
        self.put("cdi/a.yaml", SPEC)
        with subprocess.Popen([CDI, "-d", "cdi", "-o", "json", "monitor"], cwd=self.folder,
                              stdout=subprocess.PIPE, text=True) as watch:
            self.addCleanup(watch.kill)
            events = [json.loads(watch.stdout.readline())]
            for text in (SPEC.replace("A=0", "A=1"), SPEC.replace("env:", "colour:"), SPEC):
                self.put("new.yaml", text)
                os.replace(self.folder / "new.yaml", self.folder / "cdi/a.yaml")
                events.append(json.loads(watch.stdout.readline()))
                if text == SPEC or "colour" in text:
                    events.append(json.loads(watch.stdout.readline()))
            watch.terminate()
        for event in events:
            self.check("cdi monitor", event)
        self.assertEqual({one["event"] for one in events},
                         {"watching", "changed", "removed", "error", "added", "error-gone"})

    def test_cdi_prepare(self):
        for tree in ("nv2mig", "mi300x-cpx"):
            root = str(self.folder / tree)
            node_trees.TREES[tree](root, False)
            for command, codes in PREPARE_COMMANDS.items():
                with self.subTest(tree=tree, command=command):
                    done = self.run_tool(PREPARE, command, "--root", root, "-o", "json",
                                         codes=codes)
                    self.check(f"cdi-prepare {command}", json.loads(done.stdout))
                    self.check_messages(done)

    def check_messages(self, done):
        """Checks that each line of standard error is a record. Returns the levels."""
        records = [json.loads(line) for line in done.stderr.splitlines()]
        for record in records:
            self.check("error", record)
        return {record["level"] for record in records}

    def test_claims(self):
        root = str(self.folder / "node")
        node_trees.TREES["nv2mig"](root, False)
        claim = ("--root", root, "--claim", "one")
        for command, codes in ((("prepare", *claim, "--device", "none"), (1,)),
                               (("prepare", *claim, "--device", "0@gpu"), (0,)),
                               (("unprepare", *claim), (0,)),
                               (("unprepare", *claim, "--state-dir", "/dev/null/x"), (1,))):
            with self.subTest(command):
                done = self.run_tool(PREPARE, *command, codes=codes)
                self.check(f"cdi-prepare {command[0]}", json.loads(done.stdout))

    def test_files(self):
        root = str(self.folder / "node")
        node_trees.TREES["nv2mig"](root, False)
        done = self.run_tool(PREPARE, "files", "--root", root, "-o", "json", codes=(0, 1))
        self.check("cdi-prepare files", json.loads(done.stdout))

    def test_slices(self):
        for tree in ("nv2mig", "mi300x-cpx", "vfio"):
            with self.subTest(tree):
                root = str(self.folder / tree)
                node_trees.TREES[tree](root, False)
                done = self.run_tool(PREPARE, "slices", "--root", root, "--node", "a", "-o", "json",
                                     codes=(0, 3))
                self.check("cdi-prepare slices", json.loads(done.stdout))
                self.check_messages(done)

    def test_errors_of_cdi_prepare(self):
        """What keeps a command from its work is a record, with its place and advice."""
        root = str(self.folder / "node")
        node_trees.TREES["nv2mig"](root, False)
        empty = self.folder / "empty"
        empty.mkdir()
        self.put("bad.toml", "a = \n")
        for command, code, level in (
                (("detect", "--root", root, "--vendor-file", "bad.toml"), 1, "error"),
                (("write", "--root", root, "--output-dir", "/dev/null/x"), 1, "error"),
                (("write", "--root", root, "--expect", "99"), 4, "error"),
                (("list", "--root", root, "--state-dir", "/dev/null/x"), 1, "error"),
                (("doctor", "--root", root, "--spec-dir", "/etc/cdi"), 2, "error"),
                (("detect", "--root", root, "--no"), 2, "error"),
                (("detect", "--root", str(empty)), 0, "note")):
            with self.subTest(command):
                done = self.run_tool(PREPARE, *command, "-o", "json", codes=(code,))
                self.assertIn(level, self.check_messages(done), done)
                if command[0] == "list":
                    self.check("cdi-prepare list", json.loads(done.stdout))
        done = self.run_tool(PREPARE, "detect", "--root", root, "--vendor-file", "bad.toml", "-o",
                             "json", codes=(1,))
        record = json.loads(done.stderr)
        self.assertEqual((record["file"], record["line"]), (str(self.folder / "bad.toml"), 1))

    def test_each_command_is_tested(self):
        """The commands of the tools, as their help lists them, are those above."""
        words = lambda keys: {key.split()[0] for key in keys}  # noqa: E731
        tested = {
            CDI: words(name.removeprefix("cdi ") for name in CDI_COMMANDS) | CDI_OTHERS,
            PREPARE: set(PREPARE_COMMANDS) | PREPARE_OTHERS,
            POD: words(POD_COMMANDS) | {"guest", "slices"},
        }
        for tool, names in tested.items():
            text = self.run_tool(tool, "--help").stdout
            listed = re.findall(r"^  ([a-z]+)  ", text[text.index("Commands:"):], re.MULTILINE)
            self.assertEqual(set(listed) - WITHOUT_JSON, names, tool)

    def test_cdi_pod(self):
        for command, value in POD_COMMANDS.items():
            with self.subTest(command):
                given = "" if value is None else json.dumps(value)
                done = self.run_tool(POD, *command.split(), given=given)
                self.check("cdi-pod", json.loads(done.stdout))

    def test_claims_of_peer_pods(self):
        """The spec for the guest is valid, too."""
        request = {"name": "r", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}}
        given = {"kind": "List", "items": [
            {"kind": "ResourceClaim", "metadata": {"name": "x.y", "namespace": space},
             "spec": {"devices": {"requests": [request, {**request, "name": "s"}]}}}
            for space in ("a", "b")]}
        self.put("types.json", '[{"name": "a", "gpus": 8}]')
        done = self.run_tool(POD, "peerpod", "--types", "types.json", given=json.dumps(given))
        answer = json.loads(done.stdout)
        self.check("cdi-pod", answer)
        self.put("guest.json", json.dumps(answer["guestSpec"]))
        self.run_tool(CDI, "validate", "--strict", "guest.json")

    def test_another_style_is_found(self):
        self.assertEqual(foreign_keys([{"leftOut": {"left_out": 1}, "annotations": {"a/b": 1}}]),
                         {"left_out"})


if __name__ == "__main__":
    unittest.main()
