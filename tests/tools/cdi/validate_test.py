#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of `cdi validate`. usage: validate_test.py CDI"""
import json
import os
import unittest

from cdi_case import CDI, CdiCase

GOOD = """cdiVersion: 0.6.0
kind: vendor.com/gpu
devices:
- name: a
  containerEdits: {env: [A=1]}
"""
BAD = """cdiVersion: 0.6.0
kind: vendor
colour: red
devices:
- name: a b
  containerEdits: {env: [A, B=1, {c: 1}]}
"""
# Lines and columns of the errors in BAD, with the members and the rules.
ERRORS = [(2, 7, "kind", "kind-name"), (3, 1, "colour", None),
          (5, 9, "devices[0].name", "device-name"),
          (6, 26, "devices[0].containerEdits.env[0]", "env-entry"),
          (6, 34, "devices[0].containerEdits.env[2]", None)]
DOUBTFUL = GOOD.replace("env: [A=1]", "hooks: [{hookName: prestart, path: bin/hook}]")


class Validate(CdiCase):
    def setUp(self):
        super().setUp()
        self.good = self.put("specs/good.yaml", GOOD)

    def validate(self, *args, **more):
        """Exit code, standard output and standard error."""
        done = self.run_tool(CDI, "validate", *args, expect=None, **more)
        return done.returncode, done.stdout, done.stderr

    def errors(self, *args, **more):
        """The places of all errors, as in ERRORS."""
        code, out, err = self.validate("-o", "json", *args, **more)
        self.assertEqual((code, out), (1, ""))
        records = [json.loads(line) for line in err.splitlines()]
        self.assertEqual({record["level"] for record in records}, {"error"})
        return [(one["line"], one["column"], one["where"], one.get("rule")) for one in records]

    def test_every_error_of_a_file_is_reported(self):
        bad = self.put("bad/bad.yaml", BAD)
        for args in ((bad,), (self.path("bad"),), ("-d", self.path("bad"))):
            with self.subTest(args):
                self.assertEqual(self.errors(*args), ERRORS)
        self.assertEqual(self.errors("-", given=BAD), ERRORS)

    def test_an_error_outside_of_members_is_the_only_one_of_its_file(self):
        broken = self.put("bad/x.json", "{\n  \"a\": 1,\n")
        code, _, err = self.validate(broken)
        self.assertEqual((code, err.count("\n")), (1, 1))
        self.assertIn(f"cdi: error: {broken}:", err)

    def test_the_first_place_of_a_warning_about_other_readers_is_reported_and_then_the_next(self):
        text = GOOD.replace("name: a", "name: 010") + "- name: yes\n  containerEdits: {env: [B=1]}\n"
        case = GOOD.replace("env", "Env") + "- Name: b\n  containerEdits: {env: [B=1]}\n"
        for given, rule, corrected in ((text, "portable-text", ("010", "'010'")),
                                       (case, "member-case", ("Env", "env"))):
            for wanted in (4 if "010" in given else 5, 6):
                code, _, err = self.validate("--strict", "-", "-o", "json", given=given)
                found = [json.loads(line) for line in err.splitlines()]
                self.assertEqual((code, [(one["line"], one["rule"]) for one in found]),
                                 (1, [(wanted, rule)]))
                given = given.replace(*corrected)

    def test_with_quarantine_the_errors_of_devices_are_reported(self):
        bad = self.put("bad.yaml", GOOD + "- name: b\n  containerEdits: {env: [B]}\n")
        self.assertEqual(self.errors(bad), [(7, 26, "devices[1].containerEdits.env[0]", "env-entry")])
        self.assertEqual(self.errors("--quarantine", bad),
                         [(7, 26, "devices[1].containerEdits.env[0]", "env-entry")])

    def test_a_mount_of_a_node_is_a_warning(self):
        """Runtimes add no device rule for it. Whether it is one, this host tells."""
        text = GOOD + """\
- name: mounts
  containerEdits:
    mounts:
    - {hostPath: /dev/shm, containerPath: /dev/shm, options: [rbind]}
    - {hostPath: /dev/null, containerPath: /dev/x, options: [bind]}
    - {hostPath: /dev/none, containerPath: /dev/y, options: [bind]}
containerEdits:
  mounts: [{hostPath: /dev/zero, containerPath: /dev/z, options: [bind]}]
"""
        path = self.put("nodes.yaml", text)
        code, out, err = self.validate("-o", "json", path)
        self.assertEqual((code, json.loads(out)["valid"]), (0, [path]))
        found = [json.loads(line) for line in err.splitlines()]
        lines = text.splitlines()
        self.assertEqual([(one["level"], one["where"], lines[one["line"] - 1].split()[1:3])
                          for one in found], [
            ("warning", "containerEdits.mounts[0]", ["[{hostPath:", "/dev/zero,"]),
            ("warning", "devices[1].containerEdits.mounts[1]", ["{hostPath:", "/dev/null,"])])
        self.assertIn("list it in deviceNodes", found[0]["advice"])
        self.assertEqual(self.validate("--strict", path)[0], 0)  # as on a host without the node
        sarif = json.loads(self.validate("-o", "sarif", path)[1])
        self.assertEqual({one["ruleId"] for one in sarif["runs"][0]["results"]}, {"mounted-node"})

    def test_a_member_that_newer_versions_retired_is_a_warning(self):
        text = GOOD.replace("0.6.0", "1.0.0").replace("env: [A=1]", "intelRdt: {enableCMT: true}")
        code, _, err = self.validate("-", "-o", "json", given=text)
        record = json.loads(err)
        self.assertEqual((code, record["level"], record["line"]), (0, "warning", 5))
        self.assertEqual(record["where"], "devices[0].containerEdits.intelRdt.enableCMT")
        self.assertIn("enableMonitoring replaced it in CDI 1.1.0", record["message"])
        self.assertEqual(self.validate("--strict", "-", given=text)[0], 1)
        self.assertEqual(self.validate("-q", "-", given=text), (0, "", ""))
        (found,) = json.loads(self.validate("-", "-o", "sarif", given=text)[1])["runs"][0]["results"]
        self.assertEqual(found["ruleId"], "unsupported")

    def test_standard_input_is_a_file(self):
        self.assertEqual(self.validate("-", given=GOOD), (0, "standard input: valid\n", ""))
        as_json = json.dumps({"cdiVersion": "0.6.0", "kind": "v.com/c", "devices": [
            {"name": "a", "containerEdits": {"env": ["A=1"]}}]})
        self.assertEqual(self.validate("-", given=as_json)[0], 0)
        code, out, err = self.validate("-", given=BAD)
        self.assertEqual((code, out), (1, ""))
        self.assertTrue(err.startswith("cdi: error: standard input:2:7: kind: "), err)

    def test_a_directory_is_examined_as_one_of_specs(self):
        other = self.put("specs/other.json", json.dumps({"cdiVersion": "0.6.0"}))
        ignored = self.put("specs/x.yml", GOOD)
        code, out, err = self.validate(self.path("specs"))
        self.assertEqual((code, out), (1, ""))
        self.assertIn(f"cdi: error: {other}:1:1: kind: the required field is missing", err)
        self.assertIn(f"cdi: error: {other}:1:1: devices: the required field is missing", err)
        self.assertIn(f"cdi: warning: {ignored}: ignored: ", err)
        self.assertTrue(err.endswith("cdi: 2 files, 1 with errors\n"), err)
        os.makedirs(self.path("empty"))
        self.assertEqual(self.validate(self.path("empty")), (
            0, "", f"cdi: warning: no spec files in {self.path('empty')}\n"))

    def test_two_files_of_a_directory_with_one_device_are_an_error(self):
        other = self.put("specs/other.yaml", GOOD)
        code, _, err = self.validate(self.path("specs"))
        self.assertEqual(code, 1)
        self.assertIn(f"cdi: error: {self.good}:4:3: ", err)
        self.assertIn(f"cdi: error: {other}:4:3: ", err)
        self.assertEqual(self.validate(self.good, other)[0], 0)  # files may be for two directories

    def test_the_summary_counts_files(self):
        bad = self.put("bad.yaml", BAD)
        doubtful = self.put("doubtful.yaml", DOUBTFUL)
        for files, said in (((self.good, bad, doubtful), "3 files, 1 with errors, 1 with warnings"),
                            ((self.good, doubtful), "2 files, all valid, 1 with warnings"),
                            ((self.good, "--strict", doubtful), "2 files, 1 with errors"),
                            ((self.good, bad, self.path("none.yaml")), "3 files, 2 with errors")):
            with self.subTest(files):
                self.assertEqual(self.validate(*files)[2].splitlines()[-1], "cdi: " + said)
        self.assertEqual(self.validate(self.good)[2], "")

    def test_quiet_prints_errors_only(self):
        bad = self.put("bad.yaml", BAD)
        doubtful = self.put("doubtful.yaml", DOUBTFUL)
        for quiet in ("-q", "--quiet"):
            self.assertEqual(self.validate(quiet, self.good, doubtful), (0, "", ""))
        code, out, err = self.validate("--quiet", self.good, doubtful, bad)
        self.assertEqual((code, out, err.count("cdi: error: "), len(err.splitlines())), (1, "", 5, 5))
        self.assertEqual(self.validate("--quiet", "--strict", doubtful)[0], 1)

    def test_a_file_that_is_not_there_is_an_error(self):
        for name in ("none", "none.yaml"):
            code, _, err = self.validate(self.path(name))
            self.assertEqual(code, 1)
            self.assertIn("No such file or directory", err)

    def test_a_list_of_valid_files_is_an_object(self):
        other = self.put("other.yaml", GOOD)
        code, out, err = self.validate("-o", "json", self.good, other)
        self.assertEqual((code, json.loads(out)["valid"], err), (0, [self.good, other], ""))

    def test_standard_input_that_cannot_be_read(self):
        folder = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        for command in (["validate"], ["write"], ["transform", "root", "/a", "/b"]):
            self.assertIn("Is a directory", self.run_cdi(*command, "-", stdin=folder, expect=1)[1])

    def test_of_many_errors_the_first_are_reported(self):
        bad = self.put("bad.yaml", GOOD + "".join(
            f"- {{name: 'a {i}', containerEdits: {{env: [A]}}}}\n" for i in range(500)))
        code, _, err = self.validate(bad)
        self.assertEqual(code, 1)
        self.assertRegex(err, r"more than \d+ errors: only the first ones are listed")
        self.assertLess(err.count("\n"), 1100)

    def sarif(self, *args, expect=1, **more):
        """The results of the only run, and its rules by their ids."""
        code, out, err = self.validate("-o", "sarif", *args, **more)
        self.assertEqual((code, err), (expect, ""))
        log = json.loads(out)
        self.assertEqual(log["version"], "2.1.0")
        (run,) = log["runs"]
        driver = run["tool"]["driver"]
        self.assertEqual(driver["name"], "cdi")
        rules = {rule["id"]: rule for rule in driver["rules"]}
        self.assertEqual(len(rules), len(driver["rules"]))
        for result in run["results"]:
            self.assertIn(result["ruleId"], rules)
            self.assertIn(result["level"], ("error", "warning"))
            self.assertTrue(result["message"]["text"])
        return run["results"], rules

    def test_sarif_has_rules_levels_and_places(self):
        bad = self.put("specs/bad 1.yaml", BAD)
        self.put("specs/doubtful.yaml", DOUBTFUL)
        results, rules = self.sarif("bad 1.yaml", "doubtful.yaml", cwd=self.path("specs"))
        found = []
        for result in results:
            (location,) = result["locations"]
            place = location["physicalLocation"]
            (member,) = location["logicalLocations"]
            found.append((place["artifactLocation"]["uri"], result["level"], result["ruleId"],
                          place["region"]["startLine"], place["region"]["startColumn"],
                          member["fullyQualifiedName"]))
        self.assertEqual(found, [
            *(("bad%201.yaml", "error", rule or "schema", line, column, where)
              for line, column, where, rule in ERRORS),
            ("doubtful.yaml", "warning", "hook-path-absolute", 5, 55,
             "devices[0].containerEdits.hooks[0].path")])
        self.assertIn("write vendor.com/class", results[0]["message"]["text"])
        listed = json.loads(self.validate("-o", "json", "--rules")[1])
        self.assertLessEqual({row["rule"] for row in listed}, set(rules))
        results, _ = self.sarif(bad)
        self.assertEqual(results[0]["locations"][0]["physicalLocation"]["artifactLocation"],
                         {"uri": "file://" + bad.replace(" ", "%20")})

    def test_sarif_columns_count_characters(self):
        for args, given in (((self.put("x.yaml", GOOD.replace("A=1", "É=ü, B")),), ""),
                            (("-",), GOOD.replace("A=1", "É=ü, B"))):
            ((result,), _) = self.sarif(*args, given=given)
            self.assertEqual(result["locations"][0]["physicalLocation"]["region"],
                             {"startLine": 5, "startColumn": 31})

    def test_sarif_without_findings_and_for_a_text_with_one(self):
        self.assertEqual(self.sarif(self.good, expect=0)[0], [])
        ((result,), _) = self.sarif("-", given="{")
        self.assertEqual(result["ruleId"], "syntax")
        ((result,), _) = self.sarif(self.path("none.yaml"))
        self.assertEqual((result["ruleId"], list(result["locations"][0]["physicalLocation"])),
                         ("unreadable", ["artifactLocation"]))
        os.mkdir(self.path("empty"))
        ((result,), _) = self.sarif("-d", self.path("empty"), expect=0)
        self.assertEqual((result["level"], result["locations"]), ("warning", []))
        self.put("Z{[~@9.yaml", "{")
        ((result,), _) = self.sarif("Z{[~@9.yaml", cwd=self.folder)
        self.assertEqual(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
                         "Z%7B%5B~%409.yaml")
        done = self.run_tool(CDI, "-o", "sarif", "devices", expect=None)
        self.assertEqual((done.returncode, done.stdout), (2, ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
