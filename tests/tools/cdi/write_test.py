#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of `cdi write` and `cdi remove`. usage: write_test.py CDI"""
import os
import stat
import unittest

from cdi_case import CdiCase

SPEC = """cdiVersion: 0.5.0
kind: acme.com/npu
devices:
- {name: "0", containerEdits: {env: [A=0]}}
"""
TWO = SPEC + """- {name: "1", containerEdits: {env: [A=1]}}
"""
COMMENT = "# cdi-publisher/owner: "


class Write(CdiCase):
    def write(self, text, *words, **options):
        return self.run_cdi("write", "-", "-d", "specs", *words, given=text, **options)

    def refused(self, text, *words):
        """The error of a write that changes nothing."""
        before = {name: self.get("specs/" + name) for name in self.files("specs")}
        error = self.write(text, *words, expect=1)[1]
        self.assertEqual({name: self.get("specs/" + name) for name in self.files("specs")}, before)
        return error

    def test_the_file_has_the_usual_name_and_records_the_owner(self):
        self.assertEqual(self.write(SPEC), ("specs/acme.com-npu.yaml: created\n", ""))
        text = self.get("specs/acme.com-npu.yaml")
        self.assertTrue(text.startswith(COMMENT + "cdi\n"), text)
        mode = os.stat(self.path("specs/acme.com-npu.yaml")).st_mode
        self.assertEqual(stat.S_IMODE(mode), 0o644)
        self.assertEqual(self.write(SPEC)[0], "specs/acme.com-npu.yaml: unchanged\n")
        self.assertEqual(self.write(TWO)[0], "specs/acme.com-npu.yaml: replaced\n")
        self.assertEqual(self.files("specs"), ["acme.com-npu.yaml"])

    def test_devices_are_dropped_only_with_the_option(self):
        self.write(TWO)
        for words in ((), ("--force",), ("--dry-run",)):
            self.assertIn("no longer define acme.com/npu=1", self.refused(SPEC, *words))
        other = SPEC.replace("npu", "gpu")
        self.assertIn("acme.com/npu=0, acme.com/npu=1",
                      self.refused(other, "--name", "acme.com-npu.yaml"))
        made = self.json_of("write", "-", "-d", "specs", "--replace", "--dry-run", given=SPEC)
        self.assertEqual(made["dropped"], ["acme.com/npu=1"])
        self.assertEqual(self.write(SPEC, "--replace")[0], "specs/acme.com-npu.yaml: replaced; "
                                                           "no longer defines acme.com/npu=1\n")
        self.assertNotIn("A=1", self.get("specs/acme.com-npu.yaml"))

    def test_a_file_is_read_like_standard_input(self):
        self.put("a.yaml", SPEC)
        self.run_cdi("write", "a.yaml", "-d", "specs", "--name", "b.yaml", "--owner", "me")
        self.assertTrue(self.get("specs/b.yaml").startswith(COMMENT + "me\n"))
        self.assertIn("nothing.yaml", self.run_cdi("write", "nothing.yaml", "-d", "specs",
                                                   expect=1)[1])
        self.assertIn("Not a directory", self.run_cdi("write", "a.yaml", "-d", "a.yaml",
                                                      expect=1)[1])

    def test_without_a_directory_the_first_default_one_is_written(self):
        self.assertEqual(self.run_cdi("write", "-", "--dry-run", given=SPEC)[0],
                         "/etc/cdi/acme.com-npu.yaml: would be created\n")

    def test_a_kind_that_makes_too_long_a_name(self):
        self.assertIn("name", self.refused(SPEC.replace("npu", "n" * 300)))

    def test_json_needs_a_version_that_can_record_the_owner(self):
        self.assertIn("0.6.0", self.refused(SPEC, "--name", "a.json"))
        self.write(SPEC.replace("0.5.0", "0.6.0"), "--name", "a.json")
        self.assertIn('"cdi-publisher/owner": "cdi"', self.get("specs/a.json"))

    def test_the_result_is_also_json(self):
        self.assertEqual(self.json_of("write", "-", "-d", "specs", "--dry-run", given=SPEC),
                         {"version": 1, "dryRun": True, "file": "specs/acme.com-npu.yaml",
                          "action": "created", "dropped": []})

    def test_a_dry_run_changes_nothing(self):
        self.assertEqual(self.write(SPEC, "--dry-run")[0],
                         "specs/acme.com-npu.yaml: would be created\n")
        self.assertFalse(os.path.exists(self.path("specs")))

    def test_files_of_others_are_replaced_only_with_force(self):
        self.put("specs/acme.com-npu.yaml", COMMENT + "driver\n" + SPEC)
        self.assertIn('"driver"', self.refused(TWO))
        self.put("specs/acme.com-npu.yaml", SPEC)
        self.assertIn("records no owner", self.refused(TWO))
        self.write(TWO, "--force")
        self.assertIn(COMMENT + "cdi\n", self.get("specs/acme.com-npu.yaml"))

    def test_force_is_advised_only_where_it_helps(self):
        os.makedirs(self.path("specs"))
        os.mkfifo(self.path("specs/fifo.yaml"))
        for words in ((), ("--force",)):
            error = self.run_cdi("write", "-", "-d", "specs", "--name", "fifo.yaml", *words,
                                 given=SPEC, expect=1)[1]
            self.assertIn("cdi: error: specs/fifo.yaml: not a regular file", error)

    def test_a_device_of_another_file_is_a_conflict(self):
        self.put("specs/other.yaml", TWO)
        self.assertIn("cdi: error: specs/other.yaml:4:3: ", self.refused(SPEC))
        self.assertEqual(self.write(SPEC, "--name", "other.yaml", "--replace", "--force")[1], "")
        self.put("specs/other.yaml", TWO)
        error = self.write(SPEC, "--force")[1]
        self.assertIn("cdi: warning: specs/other.yaml:4:3: also defines", error)

    def test_a_spec_of_a_directory_with_another_priority_is_named(self):
        self.put("low/a.yaml", SPEC)
        out, error = self.run_cdi("write", "-", "-d", "low", "-d", "specs", given=SPEC)
        self.assertEqual(out, "specs/acme.com-npu.yaml: created\n")
        self.assertIn("cdi: warning: low/a.yaml:4:3: ", error)

    def test_nothing_is_written_from_an_invalid_or_longer_text(self):
        for text in ("", "{", SPEC.replace("A=0", "A"), SPEC + "---\n" + TWO,
                     SPEC.replace("env:", "colour:"), SPEC.replace("acme.com/", "")):
            with self.subTest(text):
                self.refused(text)
        self.write(SPEC, "--quarantine", expect=2)
        for name in ("a/b.yaml", "a.yml", ""):
            self.write(SPEC, "--name", name, expect=2)
        self.write(SPEC, "--owner", " ", expect=2)
        self.assertEqual(self.files("specs"), [])


class Remove(CdiCase):
    def setUp(self):
        super().setUp()
        self.put("specs/one.yaml", COMMENT + "cdi\n" + SPEC)
        self.put("specs/two.yaml", COMMENT + "cdi\n" + TWO.replace("npu", "gpu"))
        self.put("specs/theirs.yaml", COMMENT + "driver\n" + SPEC.replace("npu", "nic"))

    def remove(self, *words, **options):
        return self.run_cdi("remove", "-d", "specs", *words, **options)

    def removed(self, *words):
        """The files that are gone after a removal."""
        before = self.files("specs")
        out = self.remove(*words)[0]
        gone = sorted(set(before) - set(self.files("specs")))
        self.assertEqual(out, "".join(f"specs/{name}: removed\n" for name in gone))
        return gone

    def refused(self, *words):
        """The error of a removal that removes nothing."""
        error = self.remove(*words, expect=1)[1]
        self.assertEqual(self.files("specs"), ["one.yaml", "theirs.yaml", "two.yaml"])
        return error

    def test_a_device_a_kind_and_a_file_select_files(self):
        self.assertEqual(self.removed("acme.com/npu=0"), ["one.yaml"])
        self.assertEqual(self.removed("acme.com/gpu"), ["two.yaml"])
        self.put("specs/a.yaml", COMMENT + "cdi\n" + SPEC)
        self.assertEqual(self.removed("a.yaml"), ["a.yaml"])
        self.put("specs/a.yaml", COMMENT + "cdi\n" + SPEC)
        self.assertEqual(self.removed("specs/a.yaml", "acme.com/npu"), ["a.yaml"])

    def test_a_device_of_a_file_with_more_devices_removes_nothing(self):
        self.assertIn("specs/two.yaml: also defines other devices", self.refused("acme.com/gpu=1"))

    def test_an_invalid_device_is_a_device_of_its_file(self):
        self.put("specs/two.yaml", COMMENT + "cdi\n" + TWO.replace("npu", "gpu") +
                 "- {name: bad, containerEdits: {env: [none]}}\n")
        self.assertIn("also defines other devices of \"acme.com/gpu\", in all 3",
                      self.refused("--quarantine", "acme.com/gpu=1"))
        self.assertIn("in all 3", self.refused("--quarantine", "acme.com/gpu=bad"))

    def test_a_pattern_selects_the_files_of_which_it_matches_all_devices(self):
        error = self.refused("acme.com/gpu=[1-9]")
        self.assertIn("specs/two.yaml: also defines ", error)
        self.assertIn('no device matches "acme.com/gpu=7*"', self.refused("acme.com/gpu=7*"))
        self.assertIn("is not a pattern", self.refused("acme.com/gpu=["))
        self.assertEqual(self.removed("acme.com/gpu=*", "acme.com/npu=?"), ["one.yaml", "two.yaml"])

    @unittest.skipIf(os.geteuid() != 0, "only root can make links of another user")
    def test_links_of_another_user_are_not_followed(self):
        os.symlink("specs", self.path("link"))
        os.chown(self.path("link"), 1234, 1234, follow_symlinks=False)
        for words in (("remove", "--force", "link/one.yaml"),
                      ("write", "--force", "--name", "one.yaml", "-d", "link", "-")):
            error = self.run_cdi(*words, given=SPEC, expect=1)[1]
            self.assertIn("a link owned by user 1234", error)
        self.assertEqual(self.get("specs/one.yaml"), COMMENT + "cdi\n" + SPEC)

    def test_a_device_may_have_a_name_like_a_file(self):
        self.put("specs/json.yaml", COMMENT + "cdi\n" + SPEC.replace('"0"', "a.json"))
        self.assertEqual(self.removed("acme.com/npu=a.json"), ["json.yaml"])

    def test_what_is_not_there_is_an_error(self):
        for word in ("acme.com/npu=7", "acme.com/tpu", "none.yaml", "specs/none.yaml", "npu",
                     "acme.com/npu="):
            with self.subTest(word):
                self.refused("one.yaml", word)
                self.refused(word, "one.yaml")
        self.put("more/a.yaml", SPEC)
        self.assertIn('there is no file "none.yaml" in specs, more',
                      self.run_cdi("remove", "-d", "specs", "-d", "more", "none.yaml",
                                   expect=1)[1])
        self.assertIn("records no owner", self.refused("acme.com/npu=7", "more/a.yaml"))
        self.assertIn('"driver"', self.refused("theirs.yaml", "one.yaml"))

    def test_files_of_others_are_removed_only_with_force(self):
        self.assertIn('records owner "driver": remove it with --force', self.refused("acme.com/nic"))
        self.put("hand.yaml", SPEC)
        self.assertIn("records no owner", self.remove("./hand.yaml", expect=1)[1])
        self.assertEqual(self.removed("acme.com/nic", "--force"), ["theirs.yaml"])
        self.assertEqual(self.removed("one.yaml", "--owner", "cdi"), ["one.yaml"])

    def test_of_a_kind_the_files_of_others_are_kept(self):
        self.put("specs/more.yaml", COMMENT + "driver\n" + SPEC)
        out, error = self.remove("acme.com/npu")
        self.assertEqual(out, "specs/one.yaml: removed\n")
        self.assertIn('cdi: warning: specs/more.yaml: the file records owner "driver"', error)
        self.assertIn("more.yaml", self.files("specs"))

    def test_an_invalid_file_can_be_removed(self):
        self.put("specs/one.yaml", COMMENT + "cdi\n" + SPEC.replace("env:", "colour:"))
        self.put("specs/tpu.yaml", COMMENT + "cdi\n" + SPEC.replace("npu", "tpu") + "colour: 1\n")
        self.assertEqual(self.removed("acme.com/npu"), ["one.yaml"])

    def test_a_dry_run_removes_nothing(self):
        self.assertEqual(self.remove("acme.com/npu", "two.yaml", "--dry-run")[0],
                         "specs/one.yaml: would be removed\nspecs/two.yaml: would be removed\n")
        self.assertEqual(self.json_of("remove", "-d", "specs", "one.yaml", "--dry-run"),
                         {"version": 1, "dryRun": True, "removed": ["specs/one.yaml"]})
        self.assertEqual(len(self.files("specs")), 3)


if __name__ == "__main__":
    unittest.main()
