#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The programs to copy do what their first line says.

usage: examples_test.py VALIDATE PUBLISH WATCH PLAN IN_MEMORY ENFORCE SPEC_VIEW CLAIMS PREPARE
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

VALIDATE, PUBLISH, WATCH, PLAN, IN_MEMORY, ENFORCE, SPEC_VIEW, CLAIMS, PREPARE = (
    os.path.abspath(sys.argv.pop(1)) for _ in range(9))
SAMPLE_NODE = pathlib.Path(__file__).parents[3] / "tools/prepare/sample-node"
NAME = "vendor.com-widget.yaml"


def run(*command, text=""):
    """Exit code, standard output and standard error."""
    done = subprocess.run(command, text=True, check=False, timeout=60, input=text,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout, done.stderr


class Examples(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="cdi-examples-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def test_publish_writes_what_differs(self):
        code, out, err = run(PUBLISH, self.folder, "/dev/null")
        self.assertEqual((code, out, err), (0, f"{self.folder}/{NAME}: created\n", ""))
        self.assertIn("WIDGET=/dev/null", (self.folder / NAME).read_text(encoding="utf-8"))
        self.assertEqual(run(PUBLISH, self.folder, "/dev/null")[1],
                         f"{self.folder}/{NAME}: unchanged\n")
        self.assertEqual(run(PUBLISH, self.folder, "/dev/zero")[1],
                         f"{self.folder}/{NAME}: replaced\n")

    def test_publish_keeps_base_and_claims_apart(self):
        def publish(*claims):
            code, out, err = run(PUBLISH, self.folder, "/dev/null", *claims)
            self.assertEqual((code, err), (0, ""))
            return out.replace(f"{self.folder}/vendor.com-", "")
        self.assertEqual(publish("a", "b"),
                         "widget.yaml: created\nclaim-a.yaml: created\nclaim-b.yaml: created\n")
        self.assertEqual(publish("b"),
                         "widget.yaml: unchanged\nclaim-a.yaml: removed\nclaim-b.yaml: unchanged\n")
        self.assertEqual(publish(), "widget.yaml: unchanged\nclaim-b.yaml: removed\n")

    def test_publish_leaves_files_of_others_alone(self):
        (self.folder / NAME).write_text("cdiVersion: 0.5.0\nkind: vendor.com/widget\n",
                                        encoding="utf-8")
        code, out, err = run(PUBLISH, self.folder, "/dev/null")
        self.assertEqual((code, out), (1, ""))
        self.assertIn(NAME, err)

    def test_publish_says_what_it_needs(self):
        self.assertEqual(run(PUBLISH), (2, "", "usage: publish DIRECTORY NODE [CLAIM...]\n"))

    def prepare(self, *words):
        return run(PREPARE, self.folder / "node", self.folder / "specs", *words)

    def test_prepare_finds_gpus(self):
        subprocess.run([sys.executable, SAMPLE_NODE, self.folder / "node"], check=True,
                       stdout=subprocess.DEVNULL)
        self.assertEqual(self.prepare(), (0, "example.com/gpu=0\nexample.com/gpu=1\n", ""))
        spec = (self.folder / "specs/example.com-gpu.yaml").read_text(encoding="utf-8")
        nodes = [line.split()[-1] for line in spec.splitlines() if "- path:" in line]
        common = ["/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"]
        self.assertEqual(nodes, [
            *("/dev/dri/card1", "/dev/dri/renderD128", *common, "/dev/nvidia0", "/dev/nvidiactl"),
            *("/dev/dri/card2", "/dev/dri/renderD129", *common, "/dev/nvidia1", "/dev/nvidiactl")])

    def test_prepare_writes_and_removes_claims(self):
        subprocess.run([sys.executable, SAMPLE_NODE, self.folder / "node"], check=True,
                       stdout=subprocess.DEVNULL)
        self.assertEqual(self.prepare()[0], 0)
        self.assertEqual(self.prepare("uid-1", "1"), (0, "example.com/claim=uid-1-1\n", ""))
        claim = self.folder / "specs/example.com-claim_uid-1.yaml"
        self.assertIn("/dev/nvidia1\n", claim.read_text(encoding="utf-8"))
        self.assertNotIn("/dev/nvidia0\n", claim.read_text(encoding="utf-8"))
        self.assertEqual(self.prepare("uid-2", "7"), (1, "", "prepare: this host has no GPU 7\n"))
        self.assertEqual(self.prepare("a/b", "0")[0], 1)
        for _ in range(2):  # the kubelet repeats calls
            self.assertEqual(self.prepare("uid-1"), (0, "", ""))
        self.assertEqual(os.listdir(self.folder / "specs"), ["example.com-gpu.yaml"])

    def test_prepare_without_gpus(self):
        (self.folder / "node").mkdir()
        code, out, err = self.prepare()
        self.assertEqual((code, out), (1, ""))
        self.assertIn("no GPU with a driver", err)
        self.assertEqual(run(PREPARE, "/")[0], 2)

    def test_claims_never_share_a_device(self):
        def claims(*words):
            return run(CLAIMS, self.folder / "state", self.folder / "specs", *words)
        self.assertEqual(claims("prepare", "a", "null", "zero"),
                         (0, "vendor.com/claim=a-0\nvendor.com/claim=a-1\n", ""))
        self.assertEqual(claims("prepare", "b", "null"),
                         (1, "", "claim a has device null: unprepare claim a first\n"))
        self.assertEqual(claims("prepare", "b", "none")[2], "/dev/none is not there\n")
        spec = self.folder / "specs/vendor.com-claim_a.json"
        spec.unlink()
        self.assertEqual(claims("list"), (0, "a: null, zero\n", ""))
        self.assertIn("/dev/zero", spec.read_text(encoding="utf-8"))
        self.assertEqual(claims("unprepare", "a"), (0, "", ""))
        self.assertFalse(spec.exists())
        self.assertEqual(claims("prepare", "b", "null")[0], 0)

    def test_validate_names_the_place_of_an_error(self):
        run(PUBLISH, self.folder, "/dev/null")
        good, bad = self.folder / NAME, self.folder / "bad.json"
        bad.write_text('{"cdiVersion": "0.6.0",\n "kind": "v/c", "devices": 5}', encoding="utf-8")
        code, out, err = run(VALIDATE, good, bad)
        self.assertEqual((code, out), (1, f"{good}: 1 devices\n"))
        self.assertTrue(err.startswith(f"{bad}:2:28: devices: "), err)
        self.assertEqual(run(VALIDATE, good)[0], 0)

    def test_plan_prints_nodes_and_mounts(self):
        file = self.folder / "a.yaml"
        file.write_text("""cdiVersion: 0.6.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - path: /dev/gpu
      hostPath: /dev/null
    mounts:
    - {hostPath: /a, containerPath: /m}
- name: "1"
  containerEdits:
    mounts:
    - {hostPath: /b, containerPath: /m}
""", encoding="utf-8")
        code, out, err = run(PLAN, self.folder, "vendor.com/gpu=0", "vendor.com/gpu=1")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, f"mknod /dev/gpu c 1 3  # vendor.com/gpu=0 ({file}:7)\n"
                              f"mount --bind /b /m  # vendor.com/gpu=1 ({file}:14)\n")
        self.assertEqual(run(PLAN, self.folder, "vendor.com/gpu=2")[0], 1)
        self.assertEqual(run(PLAN), (2, "", "usage: plan DIRECTORY NAME...\n"))

    def test_watch_prints_devices_as_they_appear(self):
        with subprocess.Popen([WATCH, self.folder], text=True, stdout=subprocess.PIPE) as watching:
            self.addCleanup(watching.kill)
            run(PUBLISH, self.folder, "/dev/null")
            self.assertEqual(watching.stdout.readline(), "devices: vendor.com/widget=0\n")
            (self.folder / NAME).unlink()
            self.assertEqual(watching.stdout.readline(), "devices:\n")
            watching.kill()

    def test_enforce_injects_what_the_policy_allows(self):
        (self.folder / "a.yaml").write_text("""cdiVersion: 0.5.0
kind: vendor.com/gpu
devices:
- name: plain
  containerEdits: {env: [GPU=0]}
- name: hook
  containerEdits:
    hooks: [{hookName: poststop, path: /x}]
""", encoding="utf-8")
        policy = self.folder / "policy.json"
        policy.write_text('{"rules": [{"name": "r", "allow": true, "edits": {"hooks": []}}]}',
                          encoding="utf-8")
        code, out, err = run(ENFORCE, policy, self.folder, "vendor.com/gpu=plain", text="{}")
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["process"]["env"], ["GPU=0"])
        self.assertTrue(json.loads(err)["allowed"])
        code, out, err = run(ENFORCE, policy, self.folder, "vendor.com/gpu=hook", text="{}")
        self.assertEqual((code, out), (1, ""))
        self.assertIn(f"{self.folder}/a.yaml:8:40: devices[1].containerEdits.hooks[0].path: the "
                      "policy denies", err)
        self.assertEqual(run(ENFORCE, policy)[:2], (2, ""))

    def test_in_memory_injects_what_resolves(self):
        code, out, err = run(IN_MEMORY, "vendor.com/gpu=1", "vendor.com/gpu=2", "vendor.com/gpu=0")
        self.assertEqual(code, 0)
        self.assertEqual(json.loads(out)["process"]["env"], ["GPU=0", "SITE=1"])
        self.assertTrue(err.startswith('skipped: cannot resolve "vendor.com/gpu=2": '), err)

    def test_spec_view_finds_the_devices_that_set_a_variable(self):
        spec = """cdiVersion: 0.5.0
kind: vendor.com/gpu
devices:
- {name: one, containerEdits: {env: [GPU=1, SIZE=8]}}
- {name: two, containerEdits: {env: [SIZES=9, GPU=2]}}
- {name: "3", containerEdits: {env: ["SIZE=16"]}}
"""
        self.assertEqual(run(SPEC_VIEW, "SIZE", text=spec),
                         (0, "vendor.com/gpu=one\nvendor.com/gpu=3\n", ""))
        for old, new, why in (("devices:", "devices: [", "standard input:4:1: not valid YAML"),
                              ("containerEdits", "edits", "standard input:4:15: devices[0].edits: "),
                              ("name: two", "name: one", "devices[1].name: device \"one\" is already")):
            code, out, err = run(SPEC_VIEW, "SIZE", text=spec.replace(old, new))
            self.assertEqual((code, out), (1, ""))
            self.assertIn(why, err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
