#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of the `cdi` tool. usage: cdi_test.py CDI"""
import decimal
import itertools
import json
import os
import re
import stat
import unittest

from cdi_case import CDI, CdiCase

LOW = """
cdiVersion: 0.6.0
kind: vendor.com/gpu
containerEdits: {env: [SPEC=low]}
devices:
- {name: one, containerEdits: {env: [ONE=low]}}
- {name: two, containerEdits: {env: [TWO=low], \
mounts: [{hostPath: /h, containerPath: /c, options: [bind]}]}}
"""
HIGH = '{"cdiVersion":"0.3.0","kind":"vendor.com/gpu","devices":' \
       '[{"name":"one","containerEdits":{"env":["ONE=high"]}}]}'
NULL_ITEM = """cdiVersion: 0.6.0
kind: other.org/nic
devices:
- name: a
  containerEdits:
    mounts:
    - hostPath: /a
      containerPath: /b
    -
"""
NEW = """cdiVersion: 0.7.0
kind: vendor.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - {path: /dev/a, hostPath: /dev/a}
    additionalGids: [44]
- name: all
  annotations: {model: x}
  containerEdits:
    deviceNodes: [{path: /dev/a, hostPath: /dev/b}]
"""
CONFIG = """{
   "ociVersion": "1.0.2",
   "future": {"keep": [1, 2.50, null, {"deep": "\\u00e9"}]},
   "process": {
      "odd": true,
      "env": ["PATH=/bin", "ONE=0"],
      "cwd": "/"
   },
   "mounts": [],
   "zebra": 18446744073709551615
}
"""


class Cdi(CdiCase):
    def setUp(self):
        super().setUp()
        self.options = ("-d", self.path("low"), "-d", self.path("high"))
        self.low = self.put("low/a.yaml", LOW)
        self.high = self.put("high/b.json", HIGH)
        self.config = self.put("config.json", CONFIG)

    # Listing

    def test_each_name_is_on_a_line(self):
        self.assertEqual(self.run_cdi("devices"), ("vendor.com/gpu=one\nvendor.com/gpu=two\n", ""))
        self.assertEqual(self.run_cdi("vendors"), ("vendor.com\n", ""))
        self.assertEqual(self.run_cdi("classes"), ("gpu\n", ""))

    def test_devices_as_json_have_file_and_line(self):
        devices = self.json_of("devices")
        self.assertEqual([(d["name"], d["file"]) for d in devices],
                         [("vendor.com/gpu=one", self.high), ("vendor.com/gpu=two", self.low)])
        self.assertEqual(devices[0]["containerEdits"], {"env": ["ONE=high"]})

    def test_yaml_quotes_text_that_looks_like_another_type(self):
        out = self.run_cdi("specs", "-o", "yaml")[0]
        self.assertIn(f'- file: {self.low}\n  priority: 0\n  kind: vendor.com/gpu\n'
                      '  cdiVersion: "0.6.0"\n  devices: 2\n', out)

    def test_dirs_shows_priority_and_state(self):
        missing = self.path("none")
        plain = self.put("plain", "")
        out, err = self.run_cdi("dirs", "-d", missing, "-d", plain, "-o", "json")
        self.assertEqual([(d["priority"], d["state"], d["specs"]) for d in json.loads(out)],
                         [(0, "read", 1), (1, "read", 1), (2, "missing", 0), (3, "unreadable", 0)])
        self.assertIn("Not a directory", err)
        self.assertIn("no such directory", err)

    def test_a_bad_file_is_a_warning_and_affects_only_its_devices(self):
        bad = self.put("high/bad.yaml", NULL_ITEM)
        out, err = self.run_cdi("devices")
        self.assertEqual(out, "vendor.com/gpu=one\nvendor.com/gpu=two\n")
        self.assertIn(f"cdi: warning: {bad}:9:5: devices[0].containerEdits.mounts[1]: ", err)

    # Validating

    def test_valid_files_are_named(self):
        self.assertEqual(self.run_cdi("validate", self.low, self.high)[0],
                         f"{self.low}: valid\n{self.high}: valid\n")
        self.assertEqual(self.run_cdi("validate")[0], f"{self.low}: valid\n{self.high}: valid\n")

    def test_an_error_has_file_line_column_member_and_expectation(self):
        bad = self.put("bad.yaml", NULL_ITEM)
        _, err = self.run_cdi("validate", self.low, bad, expect=1)
        self.assertIn(f"cdi: error: {bad}:9:5: devices[0].containerEdits.mounts[1]: ", err)
        _, err = self.run_cdi("-o", "json", "validate", bad, expect=1)
        self.assertEqual(json.loads(err), {
            "level": "error", "message": "expected an object, not null", "file": bad,
            "where": "devices[0].containerEdits.mounts[1]", "line": 9, "column": 5})

    def test_a_bad_file_in_a_directory_fails_validation(self):
        self.put("low/bad.json", "{")
        self.run_cdi("validate", expect=1)

    def test_other_files_than_specs_are_refused(self):
        os.mkfifo(self.path("fifo.yaml"))
        self.put("plain", "")
        for name, said in (("none.yaml", "No such file"), ("plain", "must end in .json or .yaml"),
                           ("fifo.yaml", "not a regular file"), ("config.json", "unknown field")):
            with self.subTest(name):
                self.assertIn(said, self.run_cdi("validate", self.path(name), expect=1)[1])

    def test_strict_treats_warnings_as_errors(self):
        doubtful = self.put("doubtful.yaml", """cdiVersion: 0.6.0
kind: vendor.com/gpu
devices:
- name: a
  containerEdits:
    hooks: [{hookName: prestart, path: bin/hook}]
""")
        said = f"{doubtful}:6:40: devices[0].containerEdits.hooks[0].path: "
        out, err = self.run_cdi("validate", doubtful)
        self.assertEqual(out, f"{doubtful}: valid\n")
        self.assertIn("cdi: warning: " + said, err)
        self.assertIn("cdi: error: " + said,
                      self.run_cdi("validate", "--strict", doubtful, expect=1)[1])
        self.assertEqual(self.run_cdi("validate", "--strict", self.low)[0], f"{self.low}: valid\n")
        _, err = self.run_cdi("-o", "json", "validate", "--strict", doubtful, expect=1)
        self.assertEqual(json.loads(err), {
            "level": "error", "message": "path \"bin/hook\" is not absolute: it must begin with /",
            "file": doubtful, "where": "devices[0].containerEdits.hooks[0].path", "line": 6,
            "column": 40, "rule": "hook-path-absolute"})

    def test_names_that_may_not_be_written_can_be_read(self):
        odd = self.put("odd/odd.yaml", NEW.replace("model:", "my model:"))
        said = f"{odd}:10:27: devices[1].annotations.my model: "
        out, err = self.run_cdi("validate", odd)
        self.assertEqual(out, f"{odd}: valid\n")
        self.assertIn("cdi: warning: " + said, err)
        self.assertIn("cdi: error: " + said, self.run_cdi("validate", "--strict", odd, expect=1)[1])
        out, _ = self.run_cdi("-d", self.path("odd"), "devices")
        self.assertIn("vendor.com/gpu=all\n", out)

    def test_no_files_to_validate_is_a_warning(self):
        os.remove(self.low)
        os.remove(self.high)
        said = f"no spec files in {self.path('low')} {self.path('high')}\n"
        self.assertEqual(self.run_cdi("validate"), ("", "cdi: warning: " + said))
        out, err = self.run_cdi("validate", "--strict", expect=1)
        self.assertEqual((out, err), ("", "cdi: error: " + said))

    def test_an_error_names_its_rule(self):
        bad = self.put("bad.yaml", LOW.replace("kind: vendor.com/gpu", "kind: gpu"))
        self.assertRegex(self.run_cdi("validate", bad, expect=1)[1],
                         rf"^cdi: error: {bad}:3:7: kind: .* \[kind-name\]\n$")

    def test_the_rules_are_a_table(self):
        lines = self.run_cdi("validate", "--rules")[0].splitlines()
        rows = json.loads(self.run_cdi("-o", "json", "validate", "--rules")[0])
        self.assertEqual(len(rows), len(lines))
        self.assertEqual(rows[0], {
            "rule": "version-known", "severity": "error",
            "demand": "cdiVersion is a version of the CDI specification",
            "source": "SPEC.md, Specification version"})
        self.assertEqual({row["severity"] for row in rows}, {"error", "write-error", "warning"})

    # Injecting

    def test_unknown_members_keep_value_and_place(self):
        out, err = self.run_cdi("inject", self.config, "vendor.com/gpu=one")
        config = json.loads(out)
        self.assertEqual(err, "")
        self.assertEqual(list(config), ["ociVersion", "future", "process", "mounts", "zebra"])
        self.assertEqual(config["future"], {"keep": [1, 2.5, None, {"deep": "é"}]})
        self.assertEqual(list(config["process"]), ["odd", "env", "cwd"])
        self.assertEqual(config["process"]["env"], ["PATH=/bin", "ONE=high"])
        self.assertEqual(config["zebra"], 18446744073709551615)
        self.assertEqual(config["mounts"], [])
        self.assertEqual(self.get("config.json"), CONFIG)

    def test_edits_of_the_spec_apply_only_with_its_devices(self):
        env = json.loads(self.run_cdi("inject", self.config, "vendor.com/gpu=two")[0])
        self.assertEqual(env["process"]["env"], ["PATH=/bin", "ONE=0", "SPEC=low", "TWO=low"])

    def test_the_layout_of_the_config_is_kept(self):
        out = self.run_cdi("inject", "-", "vendor.com/gpu=one", given='{\n\t"process": {}\n}')[0]
        self.assertIn('{\n\t"process": {\n\t\t"user": {\n', out)
        self.assertFalse(out.endswith("\n"))
        out = self.run_cdi("inject", "-", "vendor.com/gpu=one", given='{"process":{"cwd":"/"}}\n')[0]
        self.assertEqual(out, '{"process":{"cwd":"/","env":["ONE=high"]}}\n')

    def test_in_place_keeps_mode_and_link_and_prints_nothing(self):
        os.chmod(self.config, 0o640)
        os.symlink("config.json", self.path("link.json"))
        out, err = self.run_cdi("inject", "--in-place", self.path("link.json"),
                                "vendor.com/gpu=one")
        self.assertEqual((out, err), ("", ""))
        self.assertTrue(os.path.islink(self.path("link.json")))
        self.assertEqual(stat.S_IMODE(os.stat(self.config).st_mode), 0o640)
        self.assertIn("ONE=high", self.get("config.json"))
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["config.json", "high", "link.json", "low"])

    def test_an_unknown_name_changes_and_prints_nothing(self):
        for names, said in ((["vendor.com/gpu=nine"], "has no device \"nine\"; its devices: one, two"),
                            (["vendor.com/fpga=one"], "nearest: vendor.com/gpu"),
                            (["nine"], "write vendor.com/class=device"),
                            (["vendor.com/gpu=one", "a/b=c"], "cannot resolve \"a/b=c\"")):
            with self.subTest(names):
                self.assertIn(said, self.run_cdi("inject", "--in-place", self.config, *names,
                                                 expect=1)[1])
                self.assertEqual(self.get("config.json"), CONFIG)

    def test_a_comma_in_the_brackets_of_a_pattern_gets_no_advice(self):
        for pattern in ("vendor.com/gpu=[0,1", "gpu[0,1]"):
            self.assertNotIn("with spaces", self.run_cdi("devices", pattern, expect=1)[1])

    def test_a_kind_or_a_comma_gets_advice_on_several_names(self):
        for names, said in (
                (["vendor.com/gpu"], "is not a qualified device name: write 'vendor.com/gpu=*' for "
                 "all of its devices\n"),
                (["vendor.com/gpu=one,vendor.com/gpu=two"], ': separate names with spaces, not '),
                (["vendor.com/gpu=one,", "vendor.com/gpu=two"], ': separate names with spaces, '),
                (["vendor.com/gpu=*,", "vendor.com/gpu=two"], "`cdi devices` lists all names"),
                (["vendor.com/gpu,vendor.com/nic"], ': separate names with spaces, not ')):
            for command in (["devices"], ["show"], ["inject", self.config]):
                with self.subTest(names=names, command=command):
                    self.assertIn(said, self.run_cdi(*command, *names, expect=1)[1])
        for name, said in (("vendor.com/gpu", "write 'vendor.com/gpu=*' for all of its devices"),
                           ("vendor.com/gpu=one,two", "separate names with spaces, not")):
            self.assertIn(f"  fix: {said}", self.run_cdi("why", name, expect=10)[0])

    def test_a_member_in_another_case_is_refused(self):
        """Go runtimes would read it as the member, and so lose it when a second one is added."""
        self.put("high/x.yaml", NEW + """\
- name: env
  containerEdits: {env: [A=1]}
- name: hook
  containerEdits: {hooks: [{hookName: createContainer, path: /h}]}
- name: mount
  containerEdits: {mounts: [{hostPath: /h, containerPath: /c, options: [bind]}]}
""")
        rows = (("env", {"Process": {"user": {"uid": 1000}}}, "2:2: Process", "process"),
                ("0", {"process": {"User": {"uid": 1000}}}, "3:3: process.User", "user"),
                ("all", {"linux": {"Resources": {"devices": []}}}, "3:3: linux.Resources",
                 "resources"),
                ("hook", {"hooks": {"CreateContainer": []}}, "3:3: hooks.CreateContainer",
                 "createContainer"),
                ("mount", {"mount\u017f": []}, "2:2: mount\u017f", "mounts"))
        for device, config, where, name in rows:
            text = json.dumps(config, indent=1)
            for options in (["--in-place"], ["--diff"], []):
                with self.subTest(device=device, options=options):
                    self.put("config.json", text)
                    out, err = self.run_cdi("inject", *options, self.config,
                                            "vendor.com/gpu=" + device, expect=1)
                    self.assertEqual(out, "")
                    self.assertRegex(err, f'config.json:{where}: .*"{name}"')
                    self.assertEqual(self.get("config.json"), text)

    def test_the_same_devices_again_change_nothing(self):
        self.put("high/hook.json", json.dumps({
            "cdiVersion": "0.5.0", "kind": "vendor.com/hook", "devices": [{
                "name": "h", "containerEdits": {
                    "hooks": [{"hookName": "prestart", "path": "/h", "args": ["h"]}],
                    "mounts": [{"hostPath": "/a", "containerPath": "/b", "options": ["bind"]}]}}]}))
        once = self.run_cdi("inject", self.config, "vendor.com/hook=h")[0]
        self.assertEqual(len(json.loads(once)["hooks"]["prestart"]), 1)
        twice = self.run_cdi("inject", "-", "vendor.com/hook=h", given=once)[0]
        self.assertEqual(twice, once)

    def test_partial_injects_what_resolves_and_reports_the_rest(self):
        for names, code in ((["vendor.com/gpu=nine", "vendor.com/gpu=one", "a/b=c"], 12),
                            (["vendor.com/gpu=one", "a/b=c"], 11),
                            (["nine", "vendor.com/gpu=one"], 10)):
            with self.subTest(names):
                out, err = self.run_cdi("inject", "--partial", self.config, *names, expect=code)
                self.assertEqual(out, self.run_cdi("inject", self.config, "vendor.com/gpu=one")[0])
                for name in names:
                    self.assertEqual(f'cannot resolve "{name}"' in err, name != "vendor.com/gpu=one")
        self.assertEqual(self.get("config.json"), CONFIG)
        _, err = self.run_cdi("inject", "--partial", "--in-place", self.config,
                              "a/b=c", "vendor.com/gpu=one", expect=11)
        self.assertIn("cannot resolve \"a/b=c\"", err)
        self.assertIn("ONE=high", self.get("config.json"))
        self.assertEqual(self.run_cdi("inject", "--partial", self.config, "vendor.com/gpu=one"),
                         (self.get("config.json"), ""))

    def test_partial_without_any_device_prints_the_config(self):
        out, _ = self.run_cdi("inject", "--partial", self.config, "a/b=c", expect=11)
        self.assertEqual(out, CONFIG)

    def test_partial_refuses_a_device_that_cannot_be_injected(self):
        self.put("high/node.json", json.dumps({
            "cdiVersion": "0.5.0", "kind": "vendor.com/gone", "devices": [
                {"name": "a", "containerEdits": {"deviceNodes": [{"path": "/dev/not/there"}]}}]}))
        out, err = self.run_cdi("inject", "--partial", self.config, "a/b=c", "vendor.com/gone=a",
                                "vendor.com/gpu=one", expect=1)
        self.assertEqual(out, "")
        self.assertIn("/dev/not/there", err)

    def test_the_reason_can_be_a_refused_file(self):
        self.put("high/bad.yaml", NULL_ITEM)
        _, err = self.run_cdi("inject", self.config, "other.org/nic=a", expect=1)
        self.assertIn("bad.yaml:9:5: devices[0].containerEdits.mounts[1]: expected an object", err)

    def test_two_devices_of_the_dra_example_driver(self):
        uuids = [f"GPU-18db0e85-99e9-c746-8531-ffeb86328b3{n}" for n in range(4)]
        self.put("high/dra.json", json.dumps({
            "cdiVersion": "0.3.0", "kind": "k8s.gpu.resource.example.com/gpu",
            "containerEdits": {},
            "devices": [{"name": uuid, "containerEdits": {"env": [f"GPU_DEVICE_{n}={uuid}"]}}
                        for n, uuid in enumerate(uuids)]}))
        out, _ = self.run_cdi("inject", self.config,
                              *(f"k8s.gpu.resource.example.com/gpu={uuids[n]}" for n in (3, 1)))
        self.assertEqual(json.loads(out)["process"]["env"],
                         ["PATH=/bin", "ONE=0", f"GPU_DEVICE_3={uuids[3]}",
                          f"GPU_DEVICE_1={uuids[1]}"])

    def test_an_unusable_file_is_reported_though_the_injection_succeeds(self):
        self.put("high/bad.json", "{")
        out, err = self.run_cdi("inject", self.config, "vendor.com/gpu=one")
        self.assertIn("ONE=high", out)
        self.assertIn("bad.json:1:2: not valid JSON", err)

    def test_validate_names_files_that_are_ignored(self):
        self.put("odd/x.yml", LOW)
        self.put("odd/inner/x.yaml", LOW)
        odd = self.path("odd")
        said = (f"{odd}/inner: ignored: ", f"{odd}/x.yml: ignored: ")
        self.options = ("-d", odd)
        for strict, level in (((), "warning"), (("--strict",), "error")):
            err = self.run_cdi("validate", *strict, expect=len(strict))[1]
            for text in said:
                self.assertIn(f"cdi: {level}: {text}", err)

    def test_a_named_directory_should_exist(self):
        nowhere = self.path("nowhere")
        self.assertEqual(self.run_cdi("devices", "-d", nowhere)[1],
                         f"cdi: warning: {nowhere}: no such directory\n")
        link = self.path("link")
        os.symlink(nowhere, link)
        dangling = f'cdi: warning: {link}: the link leads to no directory: "{nowhere}"'
        self.assertEqual(self.run_cdi("-d", link, "dirs")[1].splitlines()[-1], dangling)
        self.assertIn(dangling, self.run_cdi("gc", "--owner", "me", "-d", link)[1])
        self.run_cdi("validate", "-d", nowhere, expect=1)

    def test_numbers_keep_their_digits(self):
        for text in ("0.1", "1.0", "1e5", "-0.0", "3.141592653589793", "0.30000000000000004",
                     "1.7976931348623157e308", "18446744073709551615", "-9223372036854775808",
                     "1e-400", "1.23456789012345e-320", "1700000000.123456789",
                     "12345678901234567890123", "1e400"):
            with self.subTest(text):
                given = f'{{"a":{text}}}'
                out = self.run_cdi("inject", "-", "vendor.com/gpu=one", given=given)[0]
                self.assertIn(f'"a":{text},', out)
                out = self.run_cdi("-o", "yaml", "inject", "-", "vendor.com/gpu=one",
                                   given=given)[0]
                found = re.search("^a: (.*)$", out, re.MULTILINE)[1]
                self.assertEqual(decimal.Decimal(found), decimal.Decimal(text))
        out = self.run_cdi("-o", "yaml", "inject", "-", "vendor.com/gpu=one",
                           given='{"a": [null, 1]}')[0]
        self.assertIn("a:\n  - null\n  - 1\n", out)

    def test_a_config_that_the_edits_make_too_large_for_yaml_is_refused(self):
        given = '{"a":"' + "x" * ((16 << 20) - 8) + '"}'  # of 16 MiB, the limit
        out = self.run_cdi("inject", "-", "vendor.com/gpu=one", given=given)[0]
        self.assertIn('"ONE=high"', out)
        _, err = self.run_cdi("-o", "yaml", "inject", "-", "vendor.com/gpu=one", given=given,
                              expect=1)
        self.assertIn("more than 16777216 bytes", json.loads(err)["message"])

    def test_quiet_prints_no_warnings_of_spec_files_but_the_same_errors(self):
        for file in ("high/bad.json", "high/other.json"):
            self.put(file, "{")
        loud = self.run_cdi("inject", self.config, "vendor.com/gpu=one")
        self.assertIn("bad.json", loud[1])
        self.assertEqual(self.run_cdi("inject", "-q", self.config, "vendor.com/gpu=one"),
                         (loud[0], ""))
        _, err = self.run_cdi("inject", "--quiet", self.config, "a/b=c", expect=1)
        self.assertNotIn("warning", err)
        self.assertEqual([line for line in self.run_cdi(
            "inject", self.config, "a/b=c", expect=1)[1].splitlines() if "error" in line],
            err.splitlines())

    def test_an_error_of_the_config_has_its_place(self):
        bad = self.put("bad.json", '{\n "process": {\n  "env": ["A=1",\n   3]}}')
        _, err = self.run_cdi("inject", bad, "vendor.com/gpu=one", expect=1)
        self.assertIn(f"cdi: error: {bad}:4:4: process.env[1]: ", err)

    def test_a_closed_standard_error_changes_nothing(self):
        self.put("high/bad.json", "{")
        done = self.run_tool("sh", "-c", f"exec '{CDI}' -d high devices 2>&-")
        self.assertEqual(done.stdout, "vendor.com/gpu=one\n")

    def test_a_missing_host_node_changes_nothing(self):
        self.put("high/node.json", json.dumps({
            "cdiVersion": "0.3.0", "kind": "n.org/node", "devices": [
                {"name": "x", "containerEdits": {"env": ["X=1"], "deviceNodes": [
                    {"path": "/dev/no-such-node"}]}}]}))
        _, err = self.run_cdi("inject", self.config, "n.org/node=x", expect=1)
        self.assertIn("node.json:1:124: devices[0].containerEdits.deviceNodes[0]: no host device",
                      err)

    def test_bad_configs_are_refused(self):
        for text, said in (("", "1:1: the text is empty"), ("[]", "expected an object"),
                           ('{\n "a": 1,\n "a": 2}', "3:2: key \"a\" is a duplicate"),
                           ('{"process": {"env": {}}}', "process.env: expected an array"),
                           ('{"process": {}} x', "1:17: not valid JSON"),
                           ("[" * 10000, "more than 64 levels deep")):
            with self.subTest(text[:40]):
                self.assertIn(said, self.run_cdi("inject", "-", "vendor.com/gpu=one", given=text,
                                                 expect=1)[1])

    # Converting

    def test_a_lossless_conversion_is_printed_in_the_format_of_the_file(self):
        for options, version in ((["--to", "0.5.0"], "0.5.0"), (["--for", "podman@4.3"], "0.5.0"),
                                 (["--to", "0.7.0"], "0.7.0")):
            with self.subTest(options):
                out, err = self.run_cdi("convert", *options, self.low)
                self.assertEqual(err, "")
                self.assertTrue(out.startswith(f'---\ncdiVersion: "{version}"\nkind: vendor.com/gpu\n'))
                again = self.put("again.yaml", out)
                self.assertEqual(self.run_cdi("convert", *options, again), (out, ""))
                same = self.run_cdi("convert", "--to", "0.6.0", again)[0]
                self.assertEqual(same, self.run_cdi("convert", "--to", "0.6.0", self.low)[0])
        out = self.run_cdi("convert", "--to", "1.1.0", self.high)[0]
        self.assertEqual(json.loads(out), {**json.loads(HIGH), "cdiVersion": "1.1.0"})
        out = self.run_cdi("convert", "--to", "1.1.0", "-o", "yaml", self.high)[0]
        self.assertTrue(out.startswith('---\ncdiVersion: "1.1.0"\n'))

    def test_standard_input_is_converted_like_a_file(self):
        commented = self.put("commented.yaml", "# a comment\n" + LOW)
        for spec, version, form in itertools.product(
                (self.low, commented, self.high), (["--to", "1.1.0"], ["--for", "podman@5.8"]),
                ([], ["-o", "yaml"], ["-o", "json"])):
            options = [*version, *form]
            with self.subTest(spec=spec, options=options), open(spec) as file:
                self.assertEqual(self.run_cdi("convert", *options, "-", given=file.read()),
                                 self.run_cdi("convert", *options, spec))
        _, err = self.run_cdi("convert", "--for", "podman@4.9.3", "-", given=NEW, expect=1)
        self.assertIn("cdi: error: standard input: not converted to 0.6.0; --lossy ", err)
        _, err = self.run_cdi("convert", "--to", "0.5.0", "--in-place", "-", given=LOW, expect=2)
        self.assertIn("--in-place: standard input cannot be rewritten: leave it out", err)

    def test_losses_prevent_the_conversion_and_are_reported_with_their_places(self):
        spec = self.put("new.yaml", NEW)
        _, err = self.run_cdi("convert", "--to", "0.6.0", spec, expect=1)
        self.assertIn(f"cdi: error: {spec}:8:21: devices[0].containerEdits.additionalGids: ", err)
        self.assertEqual(err.count("\n"), 2)
        lines = self.run_cdi("convert", "--for", "podman@4.2", spec, expect=1)[1].splitlines()
        self.assertEqual([line.split(": ")[2:4] for line in lines], [
            [f"{spec}:4:3", "devices[0]"],
            [f"{spec}:10:16", "devices[1].annotations"],
            [f"{spec}:12:44", "devices[1].containerEdits.deviceNodes[0].hostPath"],
            [f"{spec}", "not converted to 0.4.0; --lossy converts it anyway"]])
        spec = self.put("new.json", HIGH.replace("0.3.0", "0.6.0").replace(
            '"devices"', '\n"annotations": {"a": "\\ud83d\\ude00"}, "devices"'))
        self.assertIn(f"{spec}:2:16: annotations: ",
                      self.run_cdi("convert", "--to", "0.5.0", spec, expect=1)[1])

    def test_what_is_the_same_in_many_places_is_one_line_with_their_number(self):
        gids = "".join(f"- name: d{i}\n  containerEdits: {{additionalGids: [44], mounts: [{{hostPath: "
                       f"/h{i}, containerPath: /c{i}, options: [ro]}}]}}\n" for i in range(25))
        spec = self.put("many.yaml", "cdiVersion: 0.7.0\nkind: v.com/gpu\ndevices:\n" + gids)
        for options, code, level in ((("--lossy",), 0, "warning"), ((), 1, "error")):
            err = self.run_cdi("convert", "--to", "0.6.0", *options, spec, expect=code)[1]
            self.assertEqual(err.count("additionalGids [44]"), 1, err)
            self.assertRegex(err, rf"cdi: {level}: {spec}:5:36: .* \(and 24 more like it\)\n")
        err = self.run_cdi("validate", spec)[1]
        self.assertRegex(err, rf'^cdi: warning: {spec}:.*mount of "/h0" .* '
                         r"\(and 24 more like it\)\n$")
        self.assertEqual(self.run_cdi("-o", "json", "validate", spec)[1].count("\n"), 25)
        out = self.path("out")
        os.mkdir(out)
        err = self.run_cdi("-d", out, "write", spec)[1]
        self.assertEqual((err.count("\n"), err.count("(and 24 more like it)")), (1, 1), err)

    def test_convert_warns_of_members_that_newer_versions_retired(self):
        spec = self.put("rdt.yaml", 'cdiVersion: "1.1.0"\nkind: v.com/gpu\ndevices:\n- name: a\n'
                        "  containerEdits: {intelRdt: {closID: b, enableMonitoring: true}}\n")
        out, err = self.run_cdi("convert", "--to", "1.0.0", spec)
        self.assertIn("enableCMT", out)
        self.assertIn("enableMonitoring", err)
        self.assertEqual(self.run_cdi("convert", "--for", "containerd@2.1.0", spec)[1], "")

    def test_convert_respects_refuse_writable(self):
        os.chmod(self.low, 0o666)
        self.run_cdi("convert", "--to", "0.5.0", self.low)
        self.run_cdi("--refuse-writable", "convert", "--to", "0.5.0", self.low, expect=1)

    def test_convert_does_not_lose_invalid_devices(self):
        spec = self.put("bad.yaml", "cdiVersion: 0.6.0\nkind: v.com/c\ndevices:\n"
                        "- {name: bad}\n- name: d\n  containerEdits: {env: [A=1]}\n")
        for target in (["--to", "0.8.0"], ["--for", "podman@6.0"]):
            self.run_cdi("convert", *target, spec, expect=1)
            self.assertIn("--quarantine",
                          self.run_cdi("--quarantine", "convert", *target, spec, expect=2)[1])

    def test_convert_refuses_to_drop_further_documents(self):
        spec = self.put("two.yaml", "cdiVersion: 0.6.0\nkind: v.com/c\ndevices:\n- name: d\n"
                        "  containerEdits: {env: [A=1]}\n---\ncdiVersion: 0.6.0\n")
        err = self.run_cdi("convert", "--to", "0.5.0", spec, expect=1)[1]
        self.assertIn(f"{spec}:7:1: ", err)
        self.assertIn("--lossy", err)
        out, _ = self.run_cdi("convert", "--lossy", "--to", "0.5.0", spec)
        self.assertIn("name: d\n", out)
        self.run_cdi("validate", spec)
        self.run_cdi("validate", "--strict", spec, expect=1)

    def test_annotations_that_may_not_be_written_are_losses(self):
        odd = self.put("odd.yaml", NEW.replace("{model: x}", '{a: b, "my model": x, "": z}').replace(
            "devices:", "annotations: {a.b/c.d!: z}\ndevices:"))
        lost = [
            (f"{odd}:3:25", "annotations.a.b/c.d!", 'annotation key "a.b/c.d!": name "c.d!" must'),
            (f"{odd}:11:16", "devices[1].annotations", 'annotation key "" is empty'),
            (f"{odd}:11:35", "devices[1].annotations.my model", 'annotation key "my model" may')]
        out, err = self.run_cdi("convert", "--to", "1.1.0", odd, expect=1)
        lines = err.splitlines()
        self.assertIn("--lossy", lines.pop())
        out, err = self.run_cdi("convert", "--lossy", "--to", "1.1.0", odd)
        self.assertEqual([line.replace("warning", "error") for line in err.splitlines()], lines)
        self.assertEqual(len(lines), len(lost))
        for line, (place, where, why) in zip(lines, lost):
            self.assertIn(f"cdi: error: {place}: {where}: the annotation is lost: {why}", line)
        clean = self.put("clean.yaml", out)
        self.assertEqual(self.run_cdi("validate", "--strict", clean)[1], "")
        self.assertIn("annotations:\n      a: b\n    containerEdits", out)
        self.assertNotIn("c.d!", out)

    def test_losses_are_warnings_when_they_are_allowed(self):
        spec = self.put("new.yaml", NEW)
        out, err = self.run_cdi("convert", "--lossy", "--for", "podman@4.2", "-o", "json", spec)
        self.assertEqual(json.loads(out), {
            "cdiVersion": "0.4.0", "kind": "vendor.com/gpu", "devices": [
                {"name": "all", "containerEdits": {"deviceNodes": [{"path": "/dev/a"}]}}]})
        records = [json.loads(line) for line in err.splitlines()]
        self.assertEqual([record["level"] for record in records], ["warning"] * 3)
        self.assertIn('device "0"', records[0].pop("message"))
        self.assertEqual(records[0], {
            "level": "warning", "where": "devices[0]", "file": spec, "line": 4, "column": 3})
        self.run_cdi("validate", self.put("old.json", out))

    def test_a_spec_that_cannot_be_converted_is_refused_with_the_place(self):
        dotted = self.put("dotted.yaml", LOW.replace("vendor.com/gpu", "vendor.com/gpu.x"))
        self.assertIn(f'{dotted}:3:7: kind: kind "vendor.com/gpu.x" has a dot',
                      self.run_cdi("convert", "--lossy", "--to", "0.5.0", dotted, expect=1)[1])
        bad = self.put("bad.yaml", NULL_ITEM)
        self.assertIn(f"{bad}:9:5: devices[0]",
                      self.run_cdi("convert", "--lossy", "--to", "0.5.0", bad, expect=1)[1])
        digits = self.put("digits.json", HIGH.replace("one", "1").replace("0.3.0", "0.5.0"))
        self.assertIn("0.4.0 cannot express any of the devices",
                      self.run_cdi("convert", "--lossy", "--to", "0.4.0", digits, expect=1)[1])

    def test_a_file_that_the_engine_reads_is_printed_unchanged(self):
        text = ("# a comment\n" + LOW.replace("devices:", "annotations: {a b: x}\ndevices:"))
        spec = self.put("low.yaml", text)
        for engine in ("containerd@2.1.0", "podman@v5.1.0+ds1-1"):
            for more in ((), ("-o", "text"), ("-o", "yaml")):
                self.assertEqual(self.run_cdi(*more, "convert", "--for", engine, spec)[0], text)
            self.assertIn("annotations", self.run_cdi("-o", "json", "convert", "--for", engine,
                                                      spec, expect=1)[1])
        self.assertIn("annotations.a b", self.run_cdi("convert", "--for", "podman@4.3.0", spec,
                                                      expect=1)[1])

    def test_a_warning_that_is_not_about_the_text_changes_no_file(self):
        text = LOW.replace("env: [", "env: [' X=1', ")
        self.assertNotEqual(text, LOW)
        spec = self.put("blank.yaml", text)
        out, err = self.run_cdi("convert", "--for", "podman@6.0", spec)
        self.assertEqual(out, text)
        self.assertIn("cdi: warning: ", err)

    def test_a_value_that_an_engine_refuses_is_not_converted(self):
        spec = self.put("none.yaml", "cdiVersion: 0.3.0\nkind: v.com/gpu\ndevices:\n- name: dev\n"
                        "  containerEdits: {deviceNodes: [{path: /dev/a, permissions: none}]}\n")
        for options in ([], ["--lossy"]):
            err = self.run_cdi("convert", *options, "--for", "podman@6.0", spec, expect=1)[1]
            self.assertIn(f"{spec}:5:62: devices[0].containerEdits.deviceNodes[0].permissions: ",
                          err)
        self.run_cdi("convert", "--to", "0.5.0", spec)

    def test_a_file_is_converted_in_place(self):
        os.chmod(self.low, 0o640)
        if os.getuid() == 0:
            os.chown(self.low, 4242, 4343)
        before = os.stat(self.low)
        os.symlink("low/a.yaml", self.path("link.yaml"))
        new = self.run_cdi("convert", "--to", "0.5.0", self.low)[0]
        self.assertEqual(self.run_cdi("convert", "--in-place", "--to", "0.5.0",
                                      self.path("link.yaml")), ("", ""))
        self.assertEqual(self.get("low/a.yaml"), new)
        after = os.stat(self.low)
        self.assertEqual([before.st_mode, before.st_uid, before.st_gid],
                         [after.st_mode, after.st_uid, after.st_gid])
        self.assertTrue(os.path.islink(self.path("link.yaml")))
        self.assertEqual(os.listdir(self.path("low")), ["a.yaml"])

    def test_a_backup_has_the_old_file_and_replaces_none(self):
        spec = self.put("specs/a.yaml", LOW)
        os.chmod(spec, 0o640)
        self.put("specs/a.yaml.bak", "mine")
        out, err = self.run_cdi("convert", "--in-place", "--backup", "--to", "0.5.0", spec)
        self.assertEqual((out, err), (f"backup: {spec}.bak.2\n", ""))
        out, _ = self.run_cdi("-o", "yaml", "convert", "--in-place", "--backup", "--to", "0.7.0",
                              spec)
        self.assertEqual(out, f"---\nversion: 1\nbackup: {spec}.bak.3\n")
        self.assertEqual(self.get("specs/a.yaml.bak"), "mine")
        self.assertEqual(self.get("specs/a.yaml.bak.2"), LOW)
        self.assertIn("0.5.0", self.get("specs/a.yaml.bak.3"))
        self.assertEqual(stat.S_IMODE(os.stat(spec + ".bak.2").st_mode), 0o640)
        # Programs do not read backups.
        self.assertNotIn(".bak", self.run_cdi("-d", self.path("specs"), "specs")[0])

    def test_a_file_that_needs_no_conversion_is_not_touched(self):
        spec = self.put("specs/a.yaml", "# a comment\n" + LOW)
        os.utime(spec, (1, 1))
        def state():
            found = os.stat(spec)
            return found.st_ino, found.st_mtime_ns, found.st_ctime_ns
        before = state()
        for target in (["--to", "0.6.0"], ["--for", "podman@4.9"], ["--for", "podman@5.8"]):
            with self.subTest(target):
                self.assertEqual(self.run_cdi("convert", "--in-place", "--backup", *target, spec),
                                 ("", ""))
                self.assertEqual(state(), before)
                self.assertEqual(os.listdir(self.path("specs")), ["a.yaml"])
        # A text that programs read in different ways is not.
        odd = self.put("specs/a.yaml", LOW.replace("name:", "Name:"))
        self.run_cdi("convert", "--in-place", "--to", "0.6.0", odd)
        self.assertNotIn("Name:", self.get("specs/a.yaml"))

    def test_a_conversion_that_fails_changes_nothing(self):
        spec = self.put("specs/new.yaml", NEW)
        link = self.path("specs/link.json")
        os.symlink("new.yaml", link)
        owned = self.put("specs/owned.json", json.dumps({
            "cdiVersion": "0.6.0", "kind": "v.org/c",
            "annotations": {"cdi-publisher/owner": "me"},
            "devices": [{"name": "xx", "containerEdits": {"env": ["X=1"]}}]}))
        bad = self.put("specs/bad.yaml", "kind: v.org/c\n")
        texts = {name: self.get("specs/" + name) for name in os.listdir(self.path("specs"))}
        for target, path, said in ((["--to", "0.6.0"], spec, "--lossy converts it anyway"),
                                   (["--lossy", "--to", "0.5.0"], owned, "cannot record its owner"),
                                   (["--to", "0.6.0"], bad, "bad.yaml"),
                                   (["--to", "1.0.0"], link, "a file in another format"),
                                   (["--to", "0.6.0"], self.path("none.yaml"), "none.yaml"),
                                   (["--to", "0.6.0"], self.path("specs"), ".json or .yaml")):
            with self.subTest(path):
                self.assertIn(said, self.run_cdi("convert", "--in-place", "--backup", *target, path,
                                                 expect=1)[1])
                self.assertEqual({name: self.get("specs/" + name)
                                  for name in os.listdir(self.path("specs"))}, texts)
        os.chmod(spec, 0o666)
        self.assertIn("may write", self.run_cdi("--refuse-writable", "convert", "--in-place",
                                                "--to", "1.0.0", spec, expect=1)[1])

    def test_the_advice_for_an_owner_that_old_json_cannot_record_works(self):
        spec = self.put("owned.json", json.dumps({
            "cdiVersion": "0.6.0", "kind": "v.org/c",
            "annotations": {"cdi-publisher/owner": "me"},
            "devices": [{"name": "xx", "containerEdits": {"env": ["X=1"]}}]}))
        self.options = ()
        err = self.run_cdi("convert", "--to", "0.5.0", spec, expect=1)[1]
        self.assertIn("use -o yaml", err)
        out = self.run_cdi("convert", "--to", "0.5.0", "-o", "yaml", spec)[0]
        self.assertIn("cdi-publisher/owner: me", out)

    def test_a_conversion_keeps_the_owner(self):
        text = "# cdi-publisher/owner: me\n" + LOW
        spec = self.put("owned.yaml", text)
        self.run_cdi("convert", "--in-place", "--to", "0.6.0", spec)
        self.assertIn("annotations:\n  cdi-publisher/owner: me\n", self.get("owned.yaml"))
        self.assertIn(spec, self.run_cdi("-d", self.folder, "gc", "--owner", "me", "--dry-run")[0])
        self.run_cdi("convert", "--in-place", "--for", "podman@4.3", spec)
        self.assertTrue(self.get("owned.yaml").startswith(
            '# cdi-publisher/owner: me\n---\ncdiVersion: "0.5.0"\n'))
        former = self.put("former.yaml", "# Written by cdi-prepare, which will replace or remove "
                          "it.\n" + LOW)
        self.assertIn("cdi-publisher/owner: cdi-prepare",
                      self.run_cdi("convert", "--to", "0.7.0", former)[0])

    def test_the_help_of_convert_has_the_table_of_engines(self):
        out = " ".join(self.run_cdi("convert", "--help")[0].split())
        for word in ("containerd", "cri-o", "docker", "0.5.0 since 4.3.0, 0.6.0 since 4.7.0", "known to 6.0.0"):
            self.assertIn(word, out)

    # Cleaning

    def owned(self, name, owner="me"):
        """A spec file in `high` that records an owner."""
        return self.put(f"high/{name}", json.dumps({
            "cdiVersion": "0.6.0", "kind": "v.org/c", "annotations": {"cdi-publisher/owner": owner},
            "devices": [{"name": "x", "containerEdits": {"env": ["X=1"]}}]}))

    def test_only_files_of_the_owner_are_removed_except_those_to_keep(self):
        gone, kept = self.owned("gone.json"), self.owned("kept.json")
        others = [self.owned("other.json", "other"), self.low, self.high,
                  self.put("high/torn.json", ""), self.put("high/notes.txt", "")]
        left = self.put("high/.gone.json.1-0.cdi-tmp", "")
        os.symlink("kept.json", self.path("high/link.json"))
        args = ["gc", "--owner", "me", "--keep", "kept.json"]
        out, err = self.run_cdi(*args, "--dry-run")
        self.assertEqual(err, "")
        self.assertEqual(out, f"{gone}: would be removed\n"
                              f"{left}: would be removed, left by a killed writer\n")
        self.assertTrue(os.path.exists(gone) and os.path.exists(left))
        self.assertEqual(self.json_of(*args, "--dry-run"),
                         {"version": 1, "dryRun": True, "removed": [gone], "temporaries": [left]})
        out, err = self.run_cdi(*args)
        self.assertEqual(err, "")
        self.assertEqual(out, f"{gone}: removed\n"
                              f"{left}: removed, left by a killed writer\n")
        self.assertFalse(os.path.exists(gone) or os.path.exists(left))
        for path in [kept, *others]:
            self.assertTrue(os.path.exists(path), path)
        self.assertTrue(os.path.islink(self.path("high/link.json")))
        self.assertEqual(self.run_cdi(*args), ('owner "me" has no files to remove\n', ""))
        self.assertEqual(self.run_cdi(*args, "-o", "yaml")[0],
                         "---\nversion: 1\ndryRun: false\nremoved: []\ntemporaries: []\n")

    def test_an_owner_in_a_comment_counts_in_yaml_only(self):
        text = "# cdi-publisher/owner: me\r\n" + LOW.replace("0.6.0", "0.5.0")
        gone, kept = self.put("high/gone.yaml", text), self.put("high/kept.json", text)
        out, err = self.run_cdi("gc", "--owner", "me")
        self.assertEqual(out, f"{gone}: removed\n")
        self.assertIn(f"cdi: warning: {kept}: ", err)
        self.assertTrue(os.path.exists(kept))

    def test_errors_of_cleaning_are_reported(self):
        gone = self.owned("gone.json")
        deep = self.put("high/deep.yaml", "# cdi-publisher/owner\n" + "[" * 99 + "]" * 99)
        nowhere = self.path("nowhere")
        out, err = self.run_cdi("gc", "--owner", "me", "--keep", "gnoe.json", "-d", nowhere,
                                "--dry-run")
        self.assertEqual(out, f"{gone}: would be removed\n")
        self.assertIn(f"cdi: warning: {deep}:2:65: more than 64 levels deep", err)
        self.assertIn(f"cdi: warning: {nowhere}: no such directory\n", err)
        self.assertIn('cdi: warning: nothing to keep: owner "me" has no file "gnoe.json"\n', err)
        plain = self.put("plain", "")
        _, err = self.run_cdi("gc", "--owner", "me", "-d", plain, expect=1)
        self.assertIn(f"cdi: error: {plain}: cannot open the directory: Not a directory", err)
        self.assertTrue(os.path.exists(gone))

    def test_without_a_directory_the_last_default_one_is_cleaned(self):
        self.options = ()
        self.assertIn("only /var/run/cdi", self.run_cdi("gc", "--help")[0])
        self.assertEqual(self.run_cdi("gc", "--owner", "of a test", "--dry-run")[0],
                         'owner "of a test" has no files to remove\n')

    # Plans

    def test_resolve_lists_each_edit_with_its_place(self):
        out, err = self.run_cdi("resolve", "vendor.com/gpu=two")
        self.assertEqual(out, f"env  SPEC=low  vendor.com/gpu ({self.low}:4)\n"
                              f"env  TWO=low  vendor.com/gpu=two ({self.low}:7)\n"
                              f"mount  /c from /h  vendor.com/gpu=two ({self.low}:7)\n")
        self.assertEqual(err, "")

    def test_resolve_has_a_line_for_each_kind_of_edit(self):
        self.put("high/all.yaml", """cdiVersion: 1.1.0
kind: v.com/all
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - {path: "/dev/a b", hostPath: /dev/null, fileMode: 0600}
    netDevices:
    - {hostInterfaceName: eth0, name: net0}
    hooks:
    - {hookName: createRuntime, path: /bin/hook}
    - {hookName: createContainer, path: /bin/nvidia-cdi-hook, args: [x, chmod, --mode, "755"]}
    intelRdt: {closID: gold}
    additionalGids: [44]
""")
        where = f"v.com/all=0 ({self.path('high/all.yaml')}:"
        self.assertEqual(self.run_cdi("resolve", "v.com/all=0")[0],
                         f"node  /dev/a b c 1:3 0600 from /dev/null  {where}7)\n"
                         f"interface  net0 from eth0  {where}9)\n"
                         f"hook  createRuntime /bin/hook (foreign)  {where}11)\n"
                         f"hook  createContainer /bin/nvidia-cdi-hook (chmod)  {where}12)\n"
                         f"rdt  gold  {where}13)\n"
                         f"gid  44  {where}14)\n")
        plan = self.json_of("resolve", "v.com/all=0")
        self.assertEqual([hook["class"] for hook in plan["hooks"]], ["foreign", "chmod"])

    def test_resolve_as_json_has_all_members_and_the_overlaps(self):
        self.put("high/x.yaml", LOW.replace("vendor.com/gpu", "v.com/x").replace("ONE", "TWO"))
        plan = self.json_of("resolve", "v.com/x=one", "v.com/x=two")
        self.assertEqual(list(plan), ["version", "devices", "env", "deviceNodes", "netDevices",
                                      "hooks", "mounts", "intelRdt", "additionalGids", "notes",
                                      "overlaps"])
        self.assertEqual([device["name"] for device in plan["devices"]],
                         ["v.com/x=one", "v.com/x=two"])
        self.assertEqual(plan["mounts"][0]["edit"],
                         {"hostPath": "/h", "containerPath": "/c", "options": ["bind"]})
        self.assertEqual(plan["mounts"][0]["origin"]["where"],
                         "devices[1].containerEdits.mounts[0]")
        self.assertEqual([(env["edit"], env.get("overridden")) for env in plan["env"]],
                         [("SPEC=low", None), ("TWO=low", True), ("TWO=low", None)])
        self.assertEqual(plan["overlaps"], [])

    def test_overlaps_are_warnings_in_text(self):
        self.put("high/x.yaml", LOW.replace("vendor.com/gpu", "v.com/x"))
        _, err = self.run_cdi("resolve", "vendor.com/gpu=two", "v.com/x=two")
        self.assertIn("cdi: warning: same-mount /c: vendor.com/gpu=two (", err)
        self.assertIn("both mount to this path; the second mount wins; they are equal\n", err)

    def test_resolve_refuses_what_inject_refuses(self):
        self.assertIn("has no device", self.run_cdi("resolve", "vendor.com/gpu=9", expect=1)[1])
        self.put("high/bad.yaml", NEW)
        err = self.run_cdi("resolve", "vendor.com/gpu=0", expect=1)[1]
        self.assertIn("bad.yaml:7:7: devices[0].containerEdits.deviceNodes[0]", err)

    def test_a_diff_prints_what_changes_and_changes_nothing(self):
        out, err = self.run_cdi("inject", "--diff", self.config, "vendor.com/gpu=two",
                                "vendor.com/gpu=one")
        two = f"vendor.com/gpu=two ({self.low}:7)\n"
        self.assertEqual(out, f"replaced process.env[1]: ONE=0 -> ONE=high  vendor.com/gpu=one "
                              f"({self.high}:1)\n"
                              f"added process.env[2]: SPEC=low  vendor.com/gpu ({self.low}:4)\n"
                              f"added process.env[3]: TWO=low  {two}"
                              'added mounts[0]: {"destination":"/c","source":"/h",'
                              f'"options":["bind"]}}  {two}')
        self.assertEqual(err, "")
        self.assertEqual(self.get("config.json"), CONFIG)

    def test_a_partial_diff_warns_of_overlaps_too(self):
        names = ["vendor.com/twice=a", "vendor.com/twice=b"]
        self.put("high/twice.json", json.dumps({
            "cdiVersion": "0.5.0", "kind": "vendor.com/twice", "devices": [
                {"name": name, "containerEdits": {"env": [f"A={name}"]}} for name in "ab"]}))
        warning = self.run_cdi("inject", "--diff", self.config, *names)[1]
        self.assertIn("same-variable A", warning)
        self.assertIn(warning, self.run_cdi("inject", "--diff", "--partial", self.config, *names,
                                            "a/b=c", expect=11)[1])

    def test_a_diff_as_json_has_old_and_new_values(self):
        out = self.run_cdi("inject", "--diff", "-o", "json", "-", "vendor.com/gpu=two",
                           given='{"mounts": [{"type": "x", "destination": "/c"}]}')[0]
        self.assertEqual([change for change in json.loads(out) if change["part"] == "mounts"],
                         [{"change": "replaced", "part": "mounts", "key": "/c",
                           "before": {"destination": "/c", "type": "x"},
                           "after": {"destination": "/c", "source": "/h", "options": ["bind"]},
                           "from": 0, "to": 0, "origin": {
                               "name": "vendor.com/gpu=two", "file": self.low, "line": 7,
                               "where": "devices[1].containerEdits.mounts[0]"}}])
        for more in ((), ("--partial",)):
            self.assertIn("process.env: expected an array", self.run_cdi(
                "inject", "--diff", *more, "-", "vendor.com/gpu=two",
                given='{"process": {"env": 1}}', expect=1)[1])

    def test_a_diff_shows_entries_that_move(self):
        given = {"mounts": [{"destination": "/c/inner", "source": "/i"},
                            {"destination": "/b", "source": "/b"}]}
        out = self.run_cdi("inject", "--diff", "-o", "json", "-", "vendor.com/gpu=two",
                           given=json.dumps(given))[0]
        moved = [change for change in json.loads(out) if change["change"] == "moved"]
        self.assertTrue(moved, out)
        for change in moved:
            self.assertNotEqual(change["from"], change["to"])

    # Usage

    def test_wrong_usage_exits_2(self):
        for args in ([], ["frob"], ["inject"], ["inject", self.config], ["vendors", "extra"],
                     ["-o", "xml", "devices"], ["devices", "--no-such-option"],
                     ["inject", "--in-place", "-", "a/b=c"], ["inject", "--in-place", "", "a/b=c"],
                     ["inject", "", "a/b=c"], ["convert", "--to", "0.5.0", ""], ["validate", ""],
                     ["inject", "--in-place", "-o", "yaml", self.config, "a/b=c"],
                     ["inject", "--in-place", "--diff", self.config, "a/b=c"], ["resolve"],
                     ["convert", self.low], ["convert", "--to", "0.5.0"],
                     ["convert", "--to", "0.5.0", "--for", "podman@5", self.low],
                     ["convert", "--to", "0.5", self.low], ["convert", "--to", "0.2.0", self.low],
                     ["convert", "--for", "lxc@1", self.low],
                     ["convert", "--for", "talos", self.low],
                     ["convert", "--for", "podman@3.4.4", self.low],
                     ["convert", "--backup", "--to", "0.5.0", self.low],
                     ["-o", "json", "convert", "--in-place", "--to", "0.5.0", self.low],
                     ["-o", "yaml", "convert", "--in-place", "--to", "0.5.0", self.high],
                     ["--quarantine", "convert", "--in-place", "--to", "0.5.0", self.low],
                     ["gc"], ["gc", "--owner", ""], ["gc", "--owner", "a\nb"],
                     ["gc", "--owner", "me", "file.json"],
                     ["gc", "--owner", "me", "--keep", "high/b.json"],
                     ["gc", "--owner", "me", "--keep", "b"]):
            with self.subTest(args):
                self.run_cdi(*args, expect=2)

    def test_wrong_usage_is_explained(self):
        for args, said in (
                (["frob"], 'cdi: error: "frob" is not a command: use one of devices, vendors, '),
                (["--nope"], '"--nope" is not an option of cdi: `cdi --help` lists the options'),
                (["--nope", "-o", "yaml"], "is not an option of cdi"),
                ([""], 'cdi: error: "" is not a command'),
                ([], "no command is given: use one of devices, "),
                (["vendors", "extra"], 'cdi vendors does not take "extra"'),
                (["inject", "--in-place", "", "a/b=c"], "CONFIG: must not be empty"),
                (["inject", "--in-place", "-", "a/b=c"], "needs a file, not standard input"),
                (["inject", "--in-place", "-o", "yaml", "c.json", "a/b=c"], "leave out -o yaml"),
                (["convert", "--to", "0.5.0", ""], "FILE: must not be empty"),
                (["convert", "--in-place", "-o", "json", "--to", "0.5.0", "v.yaml"],
                 "keeps the format that the file extension sets: leave out -o json"),
                (["validate", self.low, ""], "FILE: must not be empty")):
            with self.subTest(args):
                self.assertIn(said, self.run_cdi(*args, expect=2)[1])

    def test_wrong_usage_is_a_record_in_the_selected_format(self):
        for args in (["-o", "json", "frob"], ["frob", "--output", "json"], ["-o", "json"],
                     ["--output=json", "devices", "--no-such-option"], ["-ojson", "gc"],
                     ["-o", "json", "convert", "--for", "lxc@1", self.low],
                     ["-o", "yaml", "vendors", "extra"]):
            with self.subTest(args):
                out, err = self.run_cdi(*args, expect=2)
                self.assertEqual((out, len(err.splitlines())), ("", 1), err)
                self.assertEqual(set(json.loads(err)) - {"where"}, {"level", "message", "advice"})

    def test_help_that_cannot_be_printed_fails(self):
        for args in (["--help"], ["inject", "--help"], ["--version"]):
            with self.subTest(args), open("/dev/full", "wb") as full:
                done = self.run_tool(CDI, *args, stdout=full, expect=1)
                self.assertIn("cannot write to standard output", done.stderr)

    def test_records_of_unresolved_names_have_the_place_of_their_cause(self):
        self.put("high/bad.yaml", "cdiVersion: 0.6.0\nkind: vendor.com/bad\ncolour: red\n")
        for args in (["inject", self.config], ["resolve"]):
            with self.subTest(args):
                err = self.run_cdi("-o", "json", *args, "vendor.com/bad=a", expect=1)[1]
                record, = (one for one in map(json.loads, err.splitlines())
                           if one["level"] == "error")
                self.assertEqual(
                    (record["name"], record["reason"], record["file"], record["line"],
                     record["column"]),
                    ("vendor.com/bad=a", "file-rejected", self.path("high/bad.yaml"), 3, 1))
                self.assertIn("colour", record["causes"][0]["where"])
                self.assertIn("correct the file", record["advice"])

    def test_a_slash_after_the_name_of_a_file_is_refused(self):
        os.symlink("config.json/", self.path("link"))
        for path in ("config.json/", "config.json//", "config.json/.", "link", "link/"):
            with self.subTest(path):
                _, err = self.run_cdi("inject", "--in-place", self.path(path), "vendor.com/gpu=one",
                                      expect=1)
                self.assertIn(f"cdi: error: {self.path(path)}: ", err)
                self.assertIn("Not a directory", err)
                self.assertEqual(self.get("config.json"), CONFIG)
        self.assertIn("the path has a slash after a file name", self.run_cdi(
            "inject", "--in-place", self.config + "/", "vendor.com/gpu=one", expect=1)[1])

    def test_output_is_utf8_without_control_characters(self):
        bad = os.fsencode(self.path("high/")) + b"\xff\xc2\x9b31m.yaml"
        with open(bad, "wb") as file:
            file.write(b'cdiVersion: 0.6.0\nkind: vendor.com/x\n"a\xc2\x9b\xe2\x80\xae": 1\n')
        for form, marks in (("text", (r"\xff\u009b31m.yaml", r"a\u009b\u202e: unknown")),
                            ("json", (r"\ufffd\u009b31m.yaml", r"\u202e")),
                            ("yaml", (r"\u009b31m.yaml", r"\u202e"))):
            with self.subTest(form):
                done = self.run_tool(CDI, "-o", form, "validate", bad, expect=1)
                said = done.stderr
                for mark in marks:
                    self.assertIn(mark, said)
                self.assertTrue(said.replace("\n", "").isprintable(), said)
                if form == "json":
                    messages = [json.loads(line)["message"] for line in said.splitlines()]
                    self.assertIn("unknown field", messages)

    def test_help_names_commands_and_exit_codes(self):
        out = self.run_cdi("--help")[0]
        for word in ("devices", "vendors", "classes", "specs", "dirs", "validate", "inject",
                     "resolve", "convert", "gc", "Exit codes"):
            self.assertIn(word, out)
        for code, words in ((2, "wrong usage"), (127, r"the command is not found \(run\)")):
            self.assertRegex(out, rf"(?m)^  {code} +{words}")

    def test_help_of_a_command_has_only_its_exit_codes(self):
        reasons = [str(10 + number) for number in range(11)]
        more = {"policy": ["4"], "inject": ["4", "10"], "args": ["4", "5"],
                "run": ["4", "5", "126", "127"], "wait": ["10", *reasons],
                "why": ["6", "10", *reasons]}
        commands = re.search(r"(?ms)^Commands:\n(.*?)\n\n", self.run_cdi("--help")[0])[1]
        for command in re.findall(r"(?m)^  ([\w-]+)", commands):
            with self.subTest(command):
                text = self.run_cdi(command, "--help")[0].partition("Exit codes:\n")[2]
                self.assertEqual(re.findall(r"(?m)^  (\d+)  ", text),
                                 ["0", "1", "2", *more.pop(command, [])])
        self.assertEqual(more, {})


if __name__ == "__main__":
    unittest.main(verbosity=2)
