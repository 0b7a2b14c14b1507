#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of `cdi devices`, `show`, `specs`, `dirs`, `schema` and `version`.
usage: list_test.py CDI PROJECT"""
import json
import os
import pathlib
import sys
import unittest

from cdi_case import CDI, CdiCase

try:
    from jsonschema import Draft202012Validator
except ImportError:
    Draft202012Validator = None

SCHEMAS = pathlib.Path(sys.argv.pop(1)) / "schema"

GPU = """cdiVersion: "1.1.0"
kind: vendor.com/gpu
annotations: {a.com/b: text}
containerEdits:
  env: [DRIVER=7]
devices:
- name: "0"
  annotations: {model: big}
  containerEdits:
    env:
    - GPU=0
    deviceNodes:
    - path: /dev/gpu0
    - {path: /dev/b, hostPath: /dev/a, type: c, major: 1, minor: 2, fileMode: 0600}
    netDevices:
    - {hostInterfaceName: eth0, name: net}
    mounts:
    - {hostPath: /h, containerPath: /c, options: [bind]}
    hooks:
    - {hookName: createContainer, path: /bin/hook}
    intelRdt: {closID: fast}
    additionalGids: [44]
- name: "10"
  containerEdits: {env: [GPU=10]}
- name: "1"
  containerEdits: {env: [GPU=1]}
"""
BAD = """cdiVersion: "0.6.0"
kind: vendor.com/bad
devices:
- name: a
  containerEdits: {envy: [A=1]}
"""


class Lists(CdiCase):
    def setUp(self):
        super().setUp()
        self.specs = self.path("specs")
        self.options = ("-d", self.specs)
        self.gpu = self.write("gpu.yaml", GPU)

    def write(self, name, content):
        return self.put(f"specs/{name}", content)

    def run_unread(self, *args):
        """Runs cdi, which prints what it can read and then fails."""
        done = self.run_tool(CDI, *self.options, *args, expect=1)
        return done.stdout, done.stderr

    # devices and show

    def test_devices_lists_names_and_patterns(self):
        names = [f"vendor.com/gpu={name}" for name in ("0", "1", "10")]
        self.assertEqual(self.run_cdi("devices")[0].split(), names)
        self.assertEqual(self.run_cdi("devices", "*/*=1*")[0].split(), names[1:])
        self.assertEqual(self.run_cdi("devices", names[2], names[0])[0].split(),
                         [names[2], names[0]])
        self.assertEqual([one["name"] for one in self.json_of("devices", "*/*=?")], names[:2])
        self.assertIn("no device matches", self.run_cdi("devices", "a.com/b=*", expect=1)[1])
        self.assertIn('has no device "7"', self.run_cdi("devices", "vendor.com/gpu=7", expect=1)[1])

    def test_a_list_of_nothing_says_why(self):
        os.rename(self.gpu, self.path("specs/gpu.yml"))
        for command in ("devices", "vendors", "classes", "specs"):
            with self.subTest(command):
                out, err = self.run_cdi(command)
                self.assertEqual(out, "")
                self.assertEqual(err.count("\n"), 1, err)
                self.assertIn("gpu.yml: ignored: ", err)
        os.unlink(self.path("specs/gpu.yml"))
        self.assertEqual(self.run_cdi("devices"),
                         ("", f"cdi: warning: no spec files in {self.specs}\n"))
        self.write("gpu.yml", GPU)
        self.write("gpu.yaml", GPU)
        self.assertEqual(self.run_cdi("devices")[1], "")

    def test_a_named_directory_that_cannot_be_read_is_an_error(self):
        link, plain = self.path("link"), self.put("plain")
        os.symlink("nowhere", link)
        for unread in (link, plain):
            for command in (("devices",), ("devices", "-o", "json"), ("vendors",), ("classes",),
                            ("specs",), ("show", "vendor.com/gpu=0")):
                with self.subTest(unread, command=command):
                    out, err = self.run_unread(*command, "-d", unread)
                    self.assertEqual(out, self.run_cdi(*command)[0])
                    self.assertIn("error", err)
                    self.assertIn(unread, err)
            self.assertIn(unread, self.run_cdi("dirs", "-d", unread)[0])

    def test_show_has_a_line_for_each_edit_with_its_place(self):
        device, kind = "vendor.com/gpu=0", "vendor.com/gpu"
        lines = [f"{device}  {self.gpu}:7", "  annotation  model: big",
                 f"  env  DRIVER=7  {kind} ({self.gpu}:5)",
                 f"  env  GPU=0  {device} ({self.gpu}:11)",
                 f"  node  /dev/gpu0  {device} ({self.gpu}:13)",
                 f"  node  /dev/b c 1:2 0600 from /dev/a  {device} ({self.gpu}:14)",
                 f"  interface  net from eth0  {device} ({self.gpu}:16)",
                 f"  hook  createContainer /bin/hook (foreign)  {device} ({self.gpu}:20)",
                 f"  mount  /c from /h  {device} ({self.gpu}:18)",
                 f"  rdt  fast  {device} ({self.gpu}:21)",
                 f"  gid  44  {device} ({self.gpu}:22)"]
        self.assertEqual(self.run_cdi("show", device)[0].splitlines(), lines)
        self.assertEqual(self.run_cdi("devices", "-v", device)[0].splitlines(), lines)
        self.assertEqual(self.run_cdi("devices", "-v")[0].splitlines()[:len(lines)], lines)

    def test_show_has_numbers_without_a_type(self):
        self.write("odd.yaml", BAD.replace(
            "envy: [A=1]", "deviceNodes: [{path: /dev/a, major: 5, minor: 6}]"))
        self.assertIn("node  /dev/a 5:6", self.run_cdi("show", "vendor.com/bad=a")[0])

    def test_show_says_a_path_once_if_the_host_has_the_same(self):
        self.write("same.yaml", BAD.replace("0.6.0", "1.1.0").replace(
            "envy: [A=1]", "mounts: [{hostPath: /a, containerPath: /a}], "
                           "netDevices: [{hostInterfaceName: e, name: e}]"))
        out = self.run_cdi("show", "vendor.com/bad=a")[0]
        self.assertIn("  mount  /a  vendor", out)
        self.assertIn("  interface  e  vendor", out)

    def test_show_needs_no_host_and_resolve_does(self):
        self.assertIn("/dev/gpu0", self.run_cdi("resolve", "vendor.com/gpu=0", expect=1)[1])

    def test_show_as_json_has_the_edits_as_written(self):
        record = self.json_of("show", "vendor.com/gpu=0", "vendor.com/gpu=1")
        self.assertEqual(record["version"], 1)
        first, second = record["devices"]
        self.assertEqual((first["name"], first["file"], first["line"], first["annotations"]),
                         ("vendor.com/gpu=0", self.gpu, 7, {"model": "big"}))
        self.assertEqual(first["edits"]["deviceNodes"][0], {
            "edit": {"path": "/dev/gpu0"}, "origin": {
                "name": "vendor.com/gpu=0", "file": self.gpu, "line": 13,
                "where": "devices[0].containerEdits.deviceNodes[0]"}})
        self.assertEqual([one["origin"]["where"] for one in second["edits"]["env"]],
                         ["containerEdits.env[0]", "devices[2].containerEdits.env[0]"])
        self.assertEqual(self.json_of("devices", "-v", "vendor.com/gpu=0")[0]["edits"],
                         first["edits"])
        if Draft202012Validator:
            schema = json.loads((SCHEMAS / "shown-1.json").read_text())
            Draft202012Validator(schema).validate(record)
            del record["devices"][0]["line"]
            self.assertFalse(Draft202012Validator(schema).is_valid(record))

    def test_show_reports_each_name_that_does_not_resolve(self):
        err = self.run_cdi("show", "vendor.com/gpu=0", "vendor.com/gpu=8", "x", expect=1)[1]
        self.assertEqual(err.count("cannot resolve"), 2)

    # specs and dirs

    def test_specs_has_columns_and_the_errors_of_rejected_files(self):
        bad = self.write("bad.yaml", BAD)
        out, err = self.run_cdi("specs")
        self.assertEqual(err, "")  # the list has the error
        pad = " " * (len(bad) - 4 + 2)
        self.assertTrue(bad < self.gpu and len(bad) == len(self.gpu), "the columns below")
        *table, error = out.splitlines()
        self.assertEqual(table, [f"FILE{pad}KIND            CDI    DEVICES",
                                 f"{self.gpu}  vendor.com/gpu  1.1.0  3",
                                 f"{bad}  vendor.com/bad  -      rejected"])
        self.assertIn(f"  {bad}:5:20: devices[0].containerEdits.envy: ", error)

    def test_specs_has_files_whose_kind_is_unknown(self):
        torn = self.write("torn.json", "{")
        out, _ = self.run_cdi("specs")
        self.assertRegex(out, f"(?m)^{torn} +- +- +rejected$")

    def test_specs_as_json_has_the_errors_of_rejected_files(self):
        bad = self.write("bad.yaml", BAD)
        good, rejected = self.json_of("specs")
        self.assertEqual(good, {"file": self.gpu, "priority": 0, "kind": "vendor.com/gpu",
                                "cdiVersion": "1.1.0", "devices": 3, "valid": True})
        error = rejected.pop("error")
        self.assertEqual(rejected, {"file": bad, "priority": 0, "kind": "vendor.com/bad",
                                    "cdiVersion": "", "devices": 0, "valid": False})
        self.assertEqual((error["message"], error["line"]), ("unknown field", 5))

    def test_specs_still_warns_of_what_the_list_lacks(self):
        self.write("twin.json", {
            "cdiVersion": "0.6.0", "kind": "vendor.com/gpu",
            "devices": [{"name": "0", "containerEdits": {"env": ["A=1"]}}]})
        self.write("bad.yaml", BAD)
        plain = self.put("plain")
        out, err = self.run_unread("specs", "-d", plain, "-d", self.path("none"))
        self.assertIn("which has the same priority", err)
        self.assertIn("Not a directory", err)
        self.assertIn("no such directory", err)
        self.assertNotIn("unknown field", err)
        self.assertNotIn(plain, out)

    def test_specs_in_detail_has_owners_and_devices(self):
        text = GPU.replace("annotations: {a.com/b: text}\n", "").replace("gpu", "npu")
        mine = self.write("own.yaml", "# cdi-publisher/owner: my-driver\n" + text)
        out = self.run_cdi("specs", "-v")[0]
        self.assertIn(f"{self.gpu}  vendor.com/gpu  1.1.0  3\n  vendor.com/gpu=0  line 7\n"
                      "  vendor.com/gpu=10  line 23\n  vendor.com/gpu=1  line 25\n", out)
        self.assertIn(f"{mine}  vendor.com/npu  1.1.0  3\n  owner  my-driver\n", out)
        records = self.json_of("specs", "-v")
        self.assertEqual(records[1]["owner"], "my-driver")
        self.assertEqual(records[0]["defines"][1], {"name": "vendor.com/gpu=10", "line": 23})

    def test_dirs_has_columns(self):
        out = self.run_cdi("dirs", "-d", self.path("none"))[0]
        pad = " " * (len(self.specs) - len("DIRECTORY") + 2)
        self.assertEqual(out, f"DIRECTORY{pad}PRIORITY  STATE    SPECS\n"
                              f"{self.specs}  0         read     1\n"
                              f"{self.folder}/none   1         missing  0\n")

    def test_columns_count_characters_and_an_empty_list_has_no_header(self):
        self.write("\u00e9.yaml", GPU.replace("gpu", "npu"))
        lines = self.run_cdi("specs")[0].splitlines()
        self.assertEqual(len({line.index("vendor.com") for line in lines[1:]}), 1, lines)
        os.unlink(self.gpu)
        os.unlink(self.path("specs/\u00e9.yaml"))
        self.assertEqual(self.run_cdi("specs")[0], "")

    # schema and version

    def test_schema_prints_the_files(self):
        names = [one["name"] for one in self.json_of("schema")]
        self.assertEqual(names, sorted(path.stem for path in SCHEMAS.glob("*.json")
                                       if path.stem != "engines"))
        for name in names:
            self.assertEqual(self.run_cdi("schema", name)[0],
                             (SCHEMAS / f"{name}.json").read_text())
            self.assertIn(f"urn:container-device-interface:{name}\n",
                          self.run_cdi("-o", "yaml", "schema", name)[0])
        self.assertIn("\nresolved-1  The resolved edits", self.run_cdi("schema")[0])
        self.assertIn("cdi-1.1.0", self.run_cdi("schema", "nope", expect=2)[1])

    def test_version(self):
        text = self.run_cdi("version")[0]
        self.assertEqual(text, self.run_cdi("--version")[0])
        record = self.json_of("version")
        self.assertEqual(text, f"cdi {record['version']}, CDI {record['cdiVersion']}\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
