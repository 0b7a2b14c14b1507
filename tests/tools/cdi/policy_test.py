#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of `cdi policy` and of the policy of `cdi inject`. usage: policy_test.py CDI"""
import json
import os
import unittest

from cdi_case import CdiCase

DENIED = 4

SPEC = """cdiVersion: 0.6.0
kind: vendor.com/gpu
devices:
- name: hook
  containerEdits:
    hooks: [{hookName: createContainer, path: /usr/bin/tool}]
- name: plain
  containerEdits: {env: [GPU=1]}
"""
NO_HOOKS = {"rules": [{"name": "no hooks", "allow": True, "devices": ["vendor.com/gpu=*"],
                       "edits": {"hooks": []}}]}
ALL = {"rules": [{"name": "all", "allow": True}]}


class Policy(CdiCase):
    def setUp(self):
        super().setUp()
        self.options = ("-d", self.path("specs"))
        self.spec = self.put("specs/gpu.yaml", SPEC)
        self.config = self.put("config.json", "{}\n")
        self.log = self.path("log.json")

    def policy(self, value):
        return self.put("policy.json", value)

    def inject(self, policy, *args, expect=0):
        return self.run_cdi("inject", "--policy", self.policy(policy), "--decisions", self.log,
                            self.config, *args, expect=expect)

    def read_log(self):
        return json.loads(self.get("log.json"))

    def test_an_allowed_device_is_injected_and_logged(self):
        out, err = self.inject(NO_HOOKS, "vendor.com/gpu=plain")
        self.assertEqual(json.loads(out)["process"]["env"], ["GPU=1"])
        self.assertEqual(err, "")
        self.assertEqual(self.read_log(), {"allowed": True, "decisions": [
            {"device": "vendor.com/gpu=plain", "allowed": True, "rule": "no hooks",
             "source": "commandLine", "file": self.spec}]})

    def test_a_denied_device_is_not_injected_and_logged(self):
        out, err = self.inject(NO_HOOKS, "--in-place", "vendor.com/gpu=plain",
                               "vendor.com/gpu=hook", expect=DENIED)
        self.assertEqual(out, "")
        self.assertIn(f'{self.spec}:6:', err)
        self.assertIn('the policy denies "vendor.com/gpu=hook", by the rule "no hooks"', err)
        with open(self.config) as file:
            self.assertEqual(file.read(), "{}\n")
        log = self.read_log()
        self.assertFalse(log["allowed"])
        self.assertEqual([one["allowed"] for one in log["decisions"]], [True, False])
        self.assertEqual(log["decisions"][1]["reasons"][0]["member"],
                         "devices[0].containerEdits.hooks[0].path")

    def test_the_source_of_the_names_counts(self):
        policy = {"rules": [{"name": "field", "allow": True, "sources": ["field"]}]}
        self.inject(policy, "vendor.com/gpu=plain", expect=DENIED)
        self.inject(policy, "--source", "field", "vendor.com/gpu=plain")
        self.assertEqual(self.read_log()["decisions"][0]["source"], "field")

    def test_the_owner_and_mode_of_the_file_count(self):
        policy = {"rules": [{"name": "mine", "allow": True, "fileOwners": [os.geteuid()],
                             "fileMode": "0644"}]}
        os.chmod(self.spec, 0o644)
        self.inject(policy, "vendor.com/gpu=plain")
        os.chmod(self.spec, 0o666)
        self.inject(policy, "vendor.com/gpu=plain", expect=DENIED)

    def test_without_a_log_nothing_is_injected(self):
        os.mkdir(self.log)
        out, err = self.inject(ALL, "vendor.com/gpu=plain", expect=1)
        self.assertEqual(out, "")
        self.assertIn(self.log, err)

    def test_an_invalid_policy_denies_everything(self):
        out, err = self.inject({"rules": [{"name": "a", "allow": True, "hooks": []}]},
                               "vendor.com/gpu=plain", expect=1)
        self.assertEqual(out, "")
        self.assertIn("policy.json:1:41: rules[0].hooks: unknown field", err)
        self.run_cdi("inject", "--policy", "/no/such/file", self.config, "vendor.com/gpu=plain",
                     expect=1)

    def test_a_policy_that_others_may_write_denies_everything(self):
        path = self.policy(ALL)
        os.chmod(path, 0o646)
        for command in (["inject", "--policy", path, self.config], ["policy", path]):
            out, err = self.run_cdi(*command, "vendor.com/gpu=plain", expect=1)
            self.assertEqual(out, "")
            self.assertIn(f"check the file, then: `chmod go-w {path}`", err)

    def test_a_log_needs_a_policy(self):
        self.run_cdi("inject", "--decisions", self.log, self.config, "vendor.com/gpu=plain",
                     expect=2)

    def test_hooks_get_an_environment_with_a_policy_or_on_request(self):
        def env_of(out):
            return json.loads(out)["hooks"]["createContainer"][0].get("env")

        name = "vendor.com/gpu=hook"
        self.assertIsNone(env_of(self.run_cdi("inject", self.config, name)[0]))
        self.assertIn("PATH=", env_of(self.inject(ALL, name)[0])[0])
        self.assertIn("PATH=",
                      env_of(self.run_cdi("inject", "--hook-env", self.config, name)[0])[0])

    def test_a_policy_is_checked_and_asked_about_devices(self):
        path = self.policy(NO_HOOKS)
        self.assertEqual(self.run_cdi("policy", path)[0], f"{path}: valid\n")
        self.assertEqual(self.run_cdi("policy", path, "vendor.com/gpu=plain")[0],
                         'vendor.com/gpu=plain: allowed by "no hooks"\n')
        out = self.run_cdi("policy", path, "vendor.com/gpu=hook", expect=DENIED)[0]
        self.assertTrue(out.startswith('vendor.com/gpu=hook: denied by "no hooks"\n  ' + self.spec))
        log = json.loads(self.run_cdi("policy", path, "vendor.com/gpu=hook", "-o", "json",
                                      expect=DENIED)[0])
        self.assertFalse(log["allowed"])
        self.run_cdi("policy", path, "vendor.com/gpu=none", expect=1)
        self.run_cdi("policy", self.put("bad.json", "{}"), expect=1)

    def test_drift_of_device_numbers_is_kept_reported_followed_or_fails(self):
        spec = self.put("specs/null.yaml", """cdiVersion: 0.6.0
kind: vendor.com/null
devices:
- name: a
  containerEdits:
    deviceNodes: [{path: /dev/null, type: c, major: 250, minor: 7, fileMode: 438}]
""")

        def inject(*args, expect=0):
            out, err = self.run_cdi("inject", *args, self.config, "vendor.com/null=a",
                                    expect=expect)
            device = json.loads(out)["linux"]["devices"][0] if out else {}
            return device.get("major"), device.get("minor"), err

        message = (f'{spec}:6:53: devices[0].containerEdits.deviceNodes[0].major: host device '
                   '"/dev/null" is c 1:3, not c 250:7')
        self.assertEqual(inject(), (250, 7, ""))
        self.assertEqual(
            inject("--drift", "report"),
            (250, 7, f"cdi: warning: {message}; the numbers of the spec are used\n"))
        self.assertEqual(inject("--drift", "follow"),
                         (1, 3, f"cdi: warning: {message}; the numbers of the host are used\n"))
        self.assertEqual(
            inject("--drift", "fail", expect=1),
            (None, None, f"cdi: error: {message}: correct the spec, or follow the host\n"))

    def test_the_log_does_not_replace_an_input(self):
        policy = self.policy(ALL)
        features = self.put("features.json", '{"ociVersionMax": "1.1.0"}')
        link = self.path("link.json")
        os.symlink(self.config, link)
        for place in (self.config, policy, features, link, self.spec):
            with open(place) as file:
                before = file.read()
            out, err = self.run_cdi("inject", "--in-place", "--policy", policy, "--features",
                                    features, "--decisions", place, self.config,
                                    "vendor.com/gpu=plain", expect=2)
            self.assertIn("--decisions would replace", err)
            with open(place) as file:
                self.assertEqual((out, file.read()), ("", before))

    def test_the_log_replaces_only_regular_files(self):
        fifo, link = (self.path(name) for name in ("fifo", "link"))
        os.mkfifo(fifo)
        os.symlink(self.put("old.json", "{}"), link)
        for place in (fifo, link, self.folder):
            before = os.lstat(place).st_ino
            _, err = self.run_cdi("inject", "--policy", self.policy(ALL), "--decisions", place,
                                  self.config, "vendor.com/gpu=plain", expect=1)
            self.assertIn(f"{place}: not a regular file: use another file", err)
            self.assertEqual(os.lstat(place).st_ino, before)

    def test_the_log_does_not_go_to_standard_output(self):
        out, err = self.run_cdi("inject", "--policy", self.policy(ALL), "--decisions", "-",
                                self.config, "vendor.com/gpu=plain", expect=2)
        self.assertEqual(out, "")
        self.assertIn("--decisions: the result goes to standard output: name a file", err)

    def test_a_file_that_is_not_of_features_is_refused(self):
        _, err = self.run_cdi("inject", "--features", self.config, self.config,
                              "vendor.com/gpu=plain", expect=1)
        self.assertIn("this is not the output of `runc features`: ", err)
        _, err = self.run_cdi("inject", "--features", "/none.json", self.config,
                              "vendor.com/gpu=plain", expect=1)
        self.assertIn("/none.json", err)

    def test_a_source_needs_a_policy(self):
        self.run_cdi("inject", "--source", "field", self.config, "vendor.com/gpu=plain", expect=2)

    def test_edits_that_a_runtime_does_not_implement_are_reported(self):
        features = self.put("features.json", '{"ociVersionMax": "1.1.0", "hooks": ["poststop"]}')
        out, err = self.run_cdi("inject", "--features", features, self.config,
                                "vendor.com/gpu=hook")
        self.assertIn("createContainer", json.loads(out)["hooks"])
        self.assertIn(f"{self.spec}:6:24: devices[0].containerEdits.hooks[0].hookName: ", err)
        self.assertEqual(self.run_cdi("inject", "--features", features, self.config,
                                      "vendor.com/gpu=plain")[1], "")
        self.run_cdi("inject", "--features", self.config, self.config, "vendor.com/gpu=plain",
                     expect=1)

    def test_a_policy_judges_a_path_and_what_it_leads_to(self):
        target = self.put("secret/file", "")
        link = self.path("allowed/link")
        os.makedirs(os.path.dirname(link))
        os.symlink(target, link)
        for edits in ({"mounts": [{"hostPath": link, "containerPath": "/a", "options": ["bind"]}]},
                      {"deviceNodes": [{"path": "/dev/a", "hostPath": link, "type": "c",
                                        "major": 1, "minor": 3}]},
                      {"deviceNodes": [{"path": link, "type": "c", "major": 1, "minor": 3}]}):
            part = next(iter(edits))
            for place in ("device", "spec"):
                spec = self.put("specs/link.json", json.dumps({
                    "cdiVersion": "0.6.0", "kind": "vendor.com/link",
                    "containerEdits": edits if place == "spec" else {"env": ["A=1"]}, "devices": [
                        {"name": "a",
                         "containerEdits": edits if place == "device" else {"env": ["A=1"]}}]}))
                with self.subTest(part=part, place=place):
                    def inject(*folders, expect):
                        limit = [self.path(name) for name in folders]
                        return self.inject({"rules": [{"name": "r", "allow": True,
                                                       "edits": {part: limit}}]},
                                           "--resolve-links", "vendor.com/link=a", expect=expect)

                    for folders in (["allowed"], ["secret"]):
                        out, err = inject(*folders, expect=DENIED)
                        self.assertEqual(out, "")
                        judged = target if folders == ["allowed"] else link
                        self.assertIn(spec, err)
                        self.assertIn(f'"{judged}", which the rule does not allow', err)
                        self.assertFalse(self.read_log()["allowed"])
                    out = inject("allowed", "secret", expect=0)[0]
                    if part == "mounts":  # a node has no host path in the config
                        self.assertEqual(json.loads(out)["mounts"][0]["source"], target)
                    self.assertTrue(self.read_log()["allowed"])

    def test_a_pattern_does_not_cover_what_is_behind_a_line_end(self):
        self.put("specs/line.json", json.dumps({
            "cdiVersion": "0.6.0", "kind": "vendor.com/line", "devices": [
                {"name": "a", "containerEdits": {"env": ["GPU\nLD_PRELOAD=/x"]}}]}))
        for pattern, expect in (("GPU*", DENIED), ("*", 0)):
            _, err = self.inject({"rules": [{"name": "r", "allow": True,
                                             "edits": {"env": [pattern]}}]},
                                 "vendor.com/line=a", expect=expect)
            self.assertEqual('sets the variable "GPU\\nLD_PRELOAD"' in err, expect != 0, err)

    def test_links_are_resolved_on_request(self):
        os.symlink("/usr", self.path("link"))
        self.put("specs/link.json", json.dumps({
            "cdiVersion": "0.6.0", "kind": "vendor.com/link", "devices": [
                {"name": "a", "containerEdits": {"mounts": [
                    {"hostPath": self.path("link"), "containerPath": "/a"}]}}]}))
        def source(*args):
            out = self.run_cdi("inject", *args, self.config, "vendor.com/link=a")[0]
            return json.loads(out)["mounts"][0]["source"]

        self.assertEqual(source("--resolve-links"), "/usr")
        self.assertEqual(source(), self.path("link"))

    def test_a_loop_of_links_cannot_be_resolved(self):
        loop = self.path("loop")
        os.symlink("loop", loop)
        mount = {"mounts": [{"hostPath": loop, "containerPath": "/a", "options": ["bind"]}]}
        node = {"deviceNodes": [{"path": "/dev/a", "hostPath": loop, "type": "c", "major": 1}]}
        env = {"env": ["A=1"]}
        for where, of_all, of_device in (
                ("containerEdits.mounts[0].hostPath", mount, env),
                ("devices[0].containerEdits.deviceNodes[0].hostPath", env, node)):
            self.put("specs/link.json", json.dumps({
                "cdiVersion": "0.6.0", "kind": "vendor.com/link", "containerEdits": of_all,
                "devices": [{"name": "a", "containerEdits": of_device},
                            {"name": "b", "containerEdits": env}]}))
            for options in ((), ("--policy", self.policy(ALL))):
                err = self.run_cdi("inject", "--resolve-links", *options, self.config,
                                   "vendor.com/link=b", "vendor.com/link=a", expect=1)[1]
                self.assertIn(where + ": ", err)
                self.assertIn("Too many levels of symbolic links", err)

if __name__ == "__main__":
    unittest.main(verbosity=2)
