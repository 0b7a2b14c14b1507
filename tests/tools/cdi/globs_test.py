#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of patterns in place of device names, in all commands. usage: globs_test.py CDI"""
import json
import unittest

from cdi_case import CdiCase


def spec(kind, *names):
    """A spec of devices that set a variable each."""
    return json.dumps({"cdiVersion": "0.6.0", "kind": kind, "devices": [
        {"name": name, "containerEdits": {"env": [f"D{name}=1"]}} for name in names]})


class Globs(CdiCase):
    def setUp(self):
        super().setUp()
        self.options = ("-d", self.path("specs"))
        self.put("specs/gpu.json", spec("vendor.com/gpu", "10", "1", "0", "all"))
        self.put("specs/nic.json", spec("vendor.com/nic", "a"))
        self.config = self.put("config.json", "{}")

    def resolved(self, *names):
        return [device["name"] for device in self.json_of("resolve", *names)["devices"]]

    def test_a_pattern_stands_for_the_devices_that_it_matches(self):
        for pattern, names in (("vendor.com/gpu=*", ["0", "1", "10", "all"]),
                               ("vendor.com/gpu=[0-9]*", ["0", "1", "10"]),
                               ("vendor.com/gpu=?", ["0", "1"]),
                               ("vendor.com/gpu=[^0-9]*", ["all"]),
                               ("*/*u=1?", ["10"]), ("v*.com/gpu=[01]", ["0", "1"])):
            with self.subTest(pattern):
                self.assertEqual(self.resolved(pattern), ["vendor.com/gpu=" + n for n in names])

    def test_with_a_pattern_each_name_comes_once_at_its_first_place(self):
        self.assertEqual(self.resolved("vendor.com/gpu=10", "vendor.com/gpu=1*", "*/*=a",
                                       "vendor.com/nic=a", "vendor.com/gpu=?"),
                         ["vendor.com/gpu=10", "vendor.com/gpu=1", "vendor.com/nic=a",
                          "vendor.com/gpu=0"])

    def test_names_without_a_pattern_may_repeat(self):
        self.assertEqual(self.resolved("vendor.com/gpu=1", "vendor.com/gpu=1"),
                         ["vendor.com/gpu=1"] * 2)

    def test_a_star_matches_no_slash(self):
        self.assertIn('no device matches "*"', self.run_cdi("resolve", "*", expect=1)[1])

    def test_all_commands_take_patterns(self):
        policy = self.put("policy.json", '{"rules": []}')
        pattern = "vendor.com/gpu=[01]"
        for args, said in ((["inject", self.config, pattern], "D1=1"),
                           (["inject", "-q", self.config, pattern], "D1=1"),
                           (["inject", "--diff", self.config, pattern], "D1=1"),
                           (["inject", "--partial", self.config, pattern], "D1=1"),
                           (["resolve", pattern], "D1=1"),
                           (["why", "--no-host", pattern], "resolved: vendor.com/gpu=1"),
                           (["args", "--for", "bwrap", pattern], "D1 1")):
            with self.subTest(args):
                out = self.run_cdi(*args)[0]
                self.assertIn(said, out)
                self.assertIn(said.replace("1", "0", 1), out)
                self.assertNotRegex(out, "gpu=10|D10")
        out, _ = self.run_cdi("policy", policy, pattern, expect=4)
        self.assertEqual(out.count("denied"), 2)

    def test_a_pattern_that_matches_nothing_is_an_error(self):
        for pattern, said in (
                ("vendor.com/gpu=x*", "its kind has no device of such a name: `cdi devices`"),
                ("vendor.com/gpx=*", "no spec has this kind: `cdi devices`"),
                *((name, "a pattern has the form of a whole name")
                  for name in ("gpu=*", "vendor.com/g[=]*"))):
            for args in (["resolve", pattern], ["inject", self.config, pattern],
                         ["inject", "--in-place", self.config, "vendor.com/gpu=1", pattern],
                         ["args", "--for", "bwrap", pattern], ["run", pattern, "--", "true"]):
                with self.subTest(args):
                    err = self.run_cdi(*args, expect=1)[1]
                    self.assertIn(f'no device matches "{pattern}"', err)
                    self.assertIn(said, err)
        self.assertEqual(self.get("config.json"), "{}")

    def test_a_malformed_pattern_is_refused(self):
        for pattern in ("vendor.com/gpu=[0", "vendor.com/gpu=[]", "vendor.com/gpu=[a-]",
                        "vendor.com/gpu=*\\"):
            with self.subTest(pattern):
                self.assertIn("is not a pattern", self.run_cdi("resolve", pattern, expect=1)[1])
        self.assertIn("fix: write [^01] ", self.run_cdi("why", "vendor.com/gpu=[!0]", expect=10)[0])

    def test_a_pattern_of_devices_that_do_not_resolve_says_why(self):
        twice = self.put("specs/twice.json", spec("vendor.com/gpu", "1"))
        for args in (["resolve"], ["inject", "-q", self.config], ["show"], ["devices"]):
            err = self.run_cdi(*args, "vendor.com/gpu=1", expect=1)[1]
            reason = err.splitlines()[-1].removeprefix("cdi: error: ")
            self.assertIn(twice, reason)
            err = self.run_cdi(*args, "vendor.com/gpu=[1]", expect=1)[1]
            self.assertTrue(err.endswith(f"resolves: {reason}\n"), err)
        self.run_cdi("inject", "--partial", self.config, "vendor.com/gpu=[1]", expect=13)
        self.put("specs/odd.json", spec("odd.com/gpu", "a", "z").replace("Da=1", "Da"))
        err = self.run_cdi("--quarantine", "resolve", "odd.com/gpu=a*", expect=1)[1]
        self.assertIn('cannot resolve "odd.com/gpu=a"', err)
        self.put("specs/odd.json", spec("odd.com/gpu", "b c", "z"))
        err = self.run_cdi("--quarantine", "resolve", "odd.com/gpu=b*", expect=1)[1]
        self.assertIn("its kind has no device of such a name", err)

    def test_the_first_word_that_does_not_resolve_decides(self):
        for words, code in ((("a.com/b=*", "vendor.com/gpu=7"), 11),
                            (("vendor.com/gpu=7", "a.com/b=*"), 12)):
            found = self.json_of("why", "--no-host", "vendor.com/gpu=0", *words, expect=code)
            self.assertEqual([one["name"] for one in found], ["vendor.com/gpu=0", *words])
            err = self.run_cdi("inject", "--partial", "-o", "json", self.config, *words,
                               expect=code)[1]
            self.assertEqual([json.loads(line)["name"] for line in err.splitlines()],
                             list(words))
            err = self.run_cdi("show", "-o", "json", *words, expect=1)[1]
            self.assertEqual([json.loads(line)["name"] for line in err.splitlines()],
                             list(words))

    def test_partial_injects_the_others(self):
        out, err = self.run_cdi("inject", "--partial", self.config, "vendor.com/gpu=x*",
                                "vendor.com/gpu=1", expect=12)
        self.assertIn("D1=1", out)
        self.assertIn("no device matches", err)

    def test_a_rejected_file_of_the_kind_is_the_reason(self):
        bad = self.put("specs/bad.json", spec("bad.com/nic", "a").replace("env", "envy"))
        err = self.run_cdi("inject", "-q", self.config, "bad.com/n*=*", expect=1)[1]
        self.assertIn(f"{bad}:1:", err)
        other = self.put("specs/worse.json", spec("bad.com/nic", "b").replace("env", "envy"))
        self.put("specs/torn.json", "{")
        err = self.run_cdi("inject", "-q", self.config, "bad.com/n*=*", expect=1)[1]
        for file in (bad, other):
            self.assertIn(f"{file}:1:", err)
        self.assertNotIn("torn.json", err)

    def test_why_also_matches_names_that_do_not_resolve(self):
        self.put("specs/bad.json", spec("vendor.com/gpu", "2").replace("env", "envy"))
        self.put("specs/twice.json", spec("vendor.com/gpu", "1"))
        found = self.json_of("why", "--no-host", "vendor.com/gpu=?", "a.com/b=*", expect=13)
        self.assertEqual([(one["name"], one.get("reason")) for one in found],
                         [("vendor.com/gpu=0", None), ("vendor.com/gpu=1", "conflict"),
                          ("vendor.com/gpu=2", "file-rejected"), ("a.com/b=*", "unknown-kind")])
        self.put("specs/odd.json", spec("odd.com/gpu", "a", "b c"))
        found = self.json_of("--quarantine", "why", "--no-host", "odd.com/gpu=*", expect=10)
        self.assertEqual([(one["name"], one["resolved"]) for one in found],
                         [("odd.com/gpu=a", True), ("odd.com/gpu=b c", False)])
        self.run_cdi("why", "--no-host", "a.com/b=*", expect=11)
        self.run_cdi("why", "--no-host", "a.com/b=[", expect=10)
        self.assertEqual(self.resolved("vendor.com/gpu=?"), ["vendor.com/gpu=0"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
