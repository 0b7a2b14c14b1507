#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of the requests and the differences of `cdi inject`. usage: inject_test.py CDI CDI_POD"""
import json
import os
import pty
import sys
import unittest

from cdi_case import CDI, CdiCase

POD = os.path.abspath(sys.argv.pop(1))

SPEC = """cdiVersion: "1.1.0"
kind: vendor.com/gpu
containerEdits:
  env: [DRIVER=7]
devices:
- name: "0"
  containerEdits:
    env:
    - GPU=0
    mounts:
    - {hostPath: /h, containerPath: /c, options: [bind]}
- name: "1"
  containerEdits: {env: [GPU=1]}
"""
KEY = "cdi.k8s.io/plugin_0"


class Inject(CdiCase):
    def setUp(self):
        super().setUp()
        self.bundle = self.path("bundle")
        self.specs = self.path("specs")
        self.options = ("-d", self.specs, "inject")
        self.spec = self.put("specs/gpu.yaml", SPEC)
        self.config = self.path("bundle/config.json")

    def write_config(self, annotations=None, **members):
        config = {"ociVersion": "1.0.2", **members}
        if annotations is not None:
            config["annotations"] = annotations
        return self.put("bundle/config.json", config)

    def read_config(self):
        return self.get("bundle/config.json")

    def cdi(self, *args, env=None, **more):
        return self.run_cdi(*args, env={**os.environ, **(env or {})}, **more)

    def env(self, *args):
        return json.loads(self.cdi(*args)[0]).get("process", {}).get("env", [])

    # Requests

    def test_annotations_name_the_devices(self):
        config = self.write_config({KEY: "vendor.com/gpu=1", "other": "vendor.com/gpu=0"})
        self.assertEqual(self.env("--annotations", config), ["DRIVER=7", "GPU=1"])
        self.cdi(config, expect=2)  # without the option, names are necessary
        self.assertEqual(self.env("--annotations", config, "vendor.com/gpu=0"),
                         ["DRIVER=7", "GPU=1"])
        self.assertEqual(json.loads(self.cdi("--annotations", config, "vendor.com/gpu=0")[0])
                         ["mounts"][0]["destination"], "/c")

    def test_a_config_without_requests_stays_as_it_is(self):
        for annotations in None, {}, {"a": "b"}, {"cdi.k8s.io/a": ""}:
            config = self.write_config(annotations)
            self.assertEqual(self.cdi("--annotations", config)[0], self.read_config())

    def test_a_name_and_an_annotation_inject_a_device_once(self):
        config = self.write_config({KEY: "vendor.com/gpu=1", KEY + "1": "vendor.com/gpu=1"})
        out, err = self.cdi("--diff", "--annotations", config, "vendor.com/gpu=[1]")
        self.assertEqual(out.count("GPU=1"), 1)
        self.assertEqual(err, "")  # no overlap

    def test_bundle_selects_its_config(self):
        self.write_config({KEY: "vendor.com/gpu=1"})
        self.assertEqual(self.env("--bundle", self.bundle, "vendor.com/gpu=0"),
                         ["DRIVER=7", "GPU=0"])
        self.assertEqual(self.env("--bundle", self.bundle, "--annotations"),
                         ["DRIVER=7", "GPU=1"])
        self.assertEqual(self.cdi("--bundle", self.bundle, "--in-place", "--annotations"),
                         ("", ""))
        self.assertIn('"GPU=1"', self.read_config())
        edited = self.read_config()
        self.cdi("--bundle", self.bundle, "--in-place", "--annotations")
        self.assertEqual(self.read_config(), edited)

    def test_output_to_the_config_itself_is_an_error(self):
        config = self.write_config()
        before = self.read_config()
        for mode, left in (("a", before), ("w", "")):  # as >> and >
            with open(config, mode) as out:
                done = self.run_tool(CDI, *self.options, config, "vendor.com/gpu=0", stdout=out,
                                     expect=1)
            self.assertEqual(self.read_config(), left)
            self.assertIn("use --in-place", done.stderr)

    def test_wrong_arguments_are_explained(self):
        config = self.write_config({})
        for args, said in ((["--bundle", self.bundle], "NAME or --annotations is required"),
                           ([], "CONFIG is required"), (["--annotations"], "CONFIG is required"),
                           ([config], "NAME or --annotations is required"),
                           (["vendor.com/gpu=0", config], "CONFIG: comes before the names"),
                           (["vendor.com/gpu=*", config], "CONFIG: comes before the names"),
                           (["vendor.com/gpu=0"], "CONFIG: comes before the names"),
                           (["--bundle", "", "vendor.com/gpu=0"], "must not be empty"),
                           (["--bundle", self.bundle, config, "vendor.com/gpu=0"],
                            "leave out CONFIG")):
            with self.subTest(args):
                self.assertIn(said, self.cdi(*args, expect=2)[1])
        missing = self.path("none")
        self.assertIn(f"{missing}/config.json", self.cdi("--bundle", missing, "--annotations",
                                                         expect=1)[1])

    def test_a_bad_annotation_changes_nothing(self):
        for value, said in (("vendor.com/gpu=9", 'has no device "9"'), ("gpu", "gpu"),
                            ("vendor.com/gpu=*", "vendor.com/gpu=*")):
            config = self.write_config({KEY: value})
            before = self.read_config()
            with self.subTest(value):
                self.assertIn(said, self.cdi("--annotations", config, expect=1)[1])
                self.assertIn(said, self.cdi("--annotations", "--in-place", config,
                                             expect=1)[1])
                self.assertEqual(self.read_config(), before)
        config = self.write_config({KEY: "vendor.com/gpu=9"})
        out, _ = self.cdi("--annotations", "--partial", config, "vendor.com/gpu=1", expect=12)
        self.assertIn("GPU=1", out)

    def test_annotations_mean_what_they_mean_to_cdi_pod_guest(self):
        for annotations in (None, {}, {KEY: "vendor.com/gpu=0"}, {"x/y": "vendor.com/gpu=0"},
                            {KEY: "vendor.com/gpu=1,vendor.com/gpu=0"},
                            {KEY + "1": "vendor.com/gpu=1", KEY: "vendor.com/gpu=0"},
                            {KEY: "vendor.com/gpu=1", KEY + "1": "vendor.com/gpu=1"},
                            {KEY: "vendor.com/gpu=9"}, {KEY: "gpu=0"}, {KEY: ","},
                            {KEY: "vendor.com/gpu=*"}, {KEY: 7}, {"CDI.k8s.io/x": "x"}, []):
            config = self.write_config(annotations)
            ours = self.run_tool(CDI, *self.options, "--annotations", config, expect=None)
            theirs = self.run_tool(POD, "guest", config, "--spec-dir", self.specs, "--timeout",
                                   "0", expect=None)
            with self.subTest(annotations):
                self.assertEqual((ours.returncode == 0, ours.stdout),
                                 (theirs.returncode == 0, theirs.stdout),
                                 ours.stderr + theirs.stderr)

    def test_a_policy_sees_that_an_annotation_requests_a_device(self):
        config = self.write_config({KEY: "vendor.com/gpu=1"})
        policy = self.put("policy.json", {"rules": [
            {"name": "only-by-hand", "allow": True, "sources": ["commandLine"]}]})
        args = ["--policy", policy, "--decisions", "log.json", "--annotations", config]
        self.assertIn("vendor.com/gpu=1", self.cdi(*args, "vendor.com/gpu=0", expect=4)[1])
        self.assertEqual(
            [(one["device"], one["allowed"], one["source"], one.get("key"))
             for one in json.loads(self.get("log.json"))["decisions"]],
            [("vendor.com/gpu=0", True, "commandLine", None),
             ("vendor.com/gpu=1", False, "annotation", KEY)])
        self.assertEqual(self.cdi(*args[:-2], config, "vendor.com/gpu=[01]")[1], "")

    # Differences

    def diff_in_terminal(self, *args, **env):
        """The output of `inject --diff` on a terminal."""
        primary, secondary = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", **env}
        if "NO_COLOR" not in env:
            environment.pop("NO_COLOR", None)
        self.run_tool(CDI, *self.options, "--diff", *args, stdout=secondary, env=environment)
        os.close(secondary)
        out = b""
        try:
            while part := os.read(primary, 4096):
                out += part
        except OSError:  # the end, on Linux
            pass
        os.close(primary)
        return out.decode().replace("\r\n", "\n")

    def test_a_changed_line_has_its_origin(self):
        config = self.write_config(process={"env": ["GPU=7"]})
        expected = (
            f"replaced process.env[0]: GPU=7 -> GPU=0  vendor.com/gpu=0 ({self.spec}:9)\n"
            f"added process.env[1]: DRIVER=7  vendor.com/gpu ({self.spec}:4)\n"
            'added mounts[0]: {"destination":"/c","source":"/h","options":["bind"]}  '
            f"vendor.com/gpu=0 ({self.spec}:11)\n")
        self.assertEqual(self.cdi("--diff", config, "vendor.com/gpu=0"), (expected, ""))
        self.assertEqual(self.cdi("--diff", "--hooks", "replace", config, "vendor.com/gpu=0")[0],
                         expected)
        records = json.loads(self.cdi("--diff", "-o", "json", config, "vendor.com/gpu=0")[0])
        self.assertEqual(records[2]["origin"], {
            "name": "vendor.com/gpu=0", "file": self.spec, "line": 11,
            "where": "devices[0].containerEdits.mounts[0]"})

    def test_a_number_that_no_double_has_keeps_its_digits(self):
        for number in ("1e999", "12345678901234567890123"):
            config = self.put("bundle/config.json", '{"mounts": [{"destination": "/c", '
                              f'"source": "/old", "x": {number}}}]}}')
            out = self.cdi("--diff", config, "vendor.com/gpu=0")[0]
            self.assertIn('replaced mounts[0]: {"destination":"/c","source":"/old","x":%s} -> '
                          % number, out)
            out = self.cdi("--diff", "-o", "json", config, "vendor.com/gpu=0")[0]
            self.assertIn(f'"x": {number}', out)

    def test_an_entry_with_too_many_values_is_an_error(self):
        """It is read alone, with less room than as a part of its config."""
        dense = '{"destination": "/c", "source": "/old", "x": [' + "1," * 1900000 + "1]}"
        config = self.put("bundle/config.json",
                          '{"pad": "%s", "mounts": [%s]}' % ("a" * 4000000, dense))
        err = self.cdi("--diff", "-o", "json", config, "vendor.com/gpu=0", expect=1)[1]
        self.assertEqual(json.loads(err)["where"], "mounts[0]")

    def test_an_entry_that_only_moves_has_no_origin(self):
        config = self.write_config(mounts=[{"destination": "/x/y"}, {"destination": "/x"}])
        lines = self.cdi("--diff", config, "vendor.com/gpu=0")[0].splitlines()
        self.assertEqual(sum(line.endswith("-> [2]") or line.endswith("-> [0]")
                             for line in lines if line.startswith("moved")), 1, lines)

    def test_nothing_to_change_is_said(self):
        config = self.put("bundle/config.json", '{"process": {"env": ["DRIVER=7", "GPU=1"]}}')
        for words in ([config, "vendor.com/gpu=1"], ["--annotations", config]):
            self.assertIn("no changes: ", self.cdi("--diff", *words)[0])
        self.assertEqual(self.cdi("--diff", "-o", "json", config, "vendor.com/gpu=1")[0], "[]\n")

    def test_colours_are_for_terminals(self):
        config = self.write_config(process={"env": ["GPU=7"]})
        name = "vendor.com/gpu=1"
        plain = self.cdi("--diff", config, name, env={"TERM": "xterm"})[0]
        self.assertNotIn("\x1b", plain)
        shown = self.diff_in_terminal(config, name)
        self.assertIn("\x1b[33mreplaced process.env[0]: GPU=7 -> GPU=1\x1b[0m  vendor.com", shown)
        self.assertIn("\x1b[32madded process.env[1]: DRIVER=7\x1b[0m  vendor.com", shown)
        for env in {"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}:
            self.assertEqual(self.diff_in_terminal(config, name, **env), plain)
        self.assertIn("\x1b[33m", self.diff_in_terminal(config, name, NO_COLOR=""))
        self.assertNotIn("\x1b", self.diff_in_terminal(config, name, "-o", "json"))

    def test_what_is_removed_or_moved_is_shown(self):
        """Of two nodes in one place, only one can be replaced."""
        self.put("specs/node.json", {"cdiVersion": "0.6.0", "kind": "vendor.com/node", "devices": [
            {"name": "0", "containerEdits": {
                "deviceNodes": [{"path": "/dev/z", "hostPath": "/dev/null"}],
                "mounts": [{"hostPath": "/h", "containerPath": "/x/z", "options": ["bind"]}]}}]})
        node = {"path": "/dev/z", "type": "c", "major": 1}
        config = self.write_config(
            linux={"devices": [{**node, "minor": 5}, {**node, "minor": 7}]},
            mounts=[{"destination": "/x/y"}, {"destination": "/x"}])
        shown = self.diff_in_terminal(config, "vendor.com/node=0")
        self.assertIn('\x1b[31mremoved linux.devices[0]: {"path":"/dev/z","type":"c","major":1,'
                      '"minor":5}\x1b[0m', shown)
        self.assertIn("\x1b[36mmoved mounts", shown)
        records = json.loads(self.cdi("--diff", "-o", "json", config, "vendor.com/node=0")[0])
        removed, = (one for one in records if one["change"] == "removed")
        self.assertEqual((removed["before"], removed["from"]), ({**node, "minor": 5}, 0))
        self.assertFalse({"after", "to"} & set(removed))


if __name__ == "__main__":
    unittest.main(verbosity=2)
