#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of `cdi why`. usage: why_test.py CDI"""
import json
import os
import re
import shutil
import subprocess
import unittest

from cdi_case import CDI, CdiCase

GOOD = """cdiVersion: 0.6.0
kind: vendor.com/gpu
devices:
- name: gpu0
  containerEdits: {env: [A=0]}
- name: gpu1
  containerEdits: {env: [A=1]}
"""
ODD = """cdiVersion: 0.6.0
kind: odd.com/gpu
devices:
- name: good
  containerEdits: {env: [A=0]}
- name: bad
  containerEdits: {env: [A=1], colour: red}
"""


def advised_version(engine, message):
    """The version that a message advises for an engine; it reads specs."""
    found = re.search(f"(?:give the version, such as|for example) {engine}@([0-9.]+[0-9])", message)
    assert found, message
    done = subprocess.run([CDI, "convert", "--for", f"{engine}@{found[1]}", "missing.yaml"],
                          text=True, capture_output=True, check=False)
    assert done.stderr.startswith("cdi: error: missing.yaml: "), done.stderr
    return found[1]


class Files(CdiCase):
    """Spec files, and `cdi why` for them."""

    def setUp(self):
        super().setUp()
        self.good = self.put("specs/good.yaml", GOOD)

    def why(self, *args, dirs=("specs",), host=("--no-host",), warned=""):
        """Exit code and standard output of `cdi why` with directories, and without the host."""
        named = [word for name in dirs for word in ("-d", self.path(name))]
        done = self.run_tool(CDI, *named, "why", *host, *args, expect=None, env={
            "HOME": self.path("home"), "XDG_CONFIG_HOME": self.path("xdg")})
        self.assertEqual(done.stderr, warned)
        return done.returncode, done.stdout

    def record(self, *args, **more):
        """Exit code, and the JSON object of the only name."""
        code, out = self.why("-o", "json", *args, **more)
        (record,) = json.loads(out)
        return code, record


class Why(Files):
    def test_an_engine_that_reads_another_name_does_not_have_the_device(self):
        text = GOOD.replace("gpu0", "010").replace("gpu1", "yes")
        quoted = "- {name: '8.0', containerEdits: {env: [A=2]}}\n"
        path = self.put("specs/good.yaml", text + quoted)
        for name, line, code in (("010", 4, 12), ("yes", 6, 12), ("8.0", 8, 0)):
            found, record = self.record("--for", "podman@5.1.0", f"vendor.com/gpu={name}")
            self.assertEqual((found, record["resolved"]), (code, not code))
            if code:
                (cause,) = record["causes"]
                self.assertEqual((record["reason"], cause["file"], cause["line"], cause["column"]),
                                 ("unknown-device", path, line, 9))
                self.assertIn(f"podman 5.1.0 reads {name} as ", record["message"])
                self.assertIn("quotes", cause["advice"])
            found, record = self.record("--for", "containerd@2.4.0", f"vendor.com/gpu={name}")
            self.assertEqual((found, record["resolved"]), (0, True))
        out = self.why("--for", "podman@5.1.0", "vendor.com/gpu=8.0", "vendor.com/gpu=yes")
        self.assertEqual((out[0], out[1].count("unknown-device: ")), (12, 1))
        for name in ("8", "true"):
            found, record = self.record("--for", "podman@5.1.0", f"vendor.com/gpu={name}")
            self.assertEqual((found, record["resolved"]), (0, True), name)
            self.assertTrue(record["warnings"])
            self.assertEqual(self.record("--for", "containerd@2.4.0", f"vendor.com/gpu={name}")[0],
                             12)

    def test_an_engine_that_reads_a_wrong_name_or_one_twice_rejects_the_file(self):
        for written, more in (("1e10", ""), ("1e40", ""),
                              ("010", "- {name: '8', containerEdits: {env: [A=2]}}\n")):
            path = self.put("specs/good.yaml", GOOD.replace("gpu0", written) + more)
            for name in (written, "gpu1", *(["8"] if more else [])):
                with self.subTest(written=written, name=name):
                    found, record = self.record("--for", "podman@5.1.0", f"vendor.com/gpu={name}")
                    self.assertEqual((found, record["reason"]), (14, "file-rejected"), record)
                    (cause,) = record["causes"]
                    self.assertEqual((cause["file"], cause["line"], cause["column"]), (path, 4, 9))
                    self.assertIn(f"podman 5.1.0 reads {written} as ", cause["message"])
                    self.assertEqual(cause["advice"], "put it in quotes")

    def test_the_names_that_older_engines_read(self):
        # Measured with sigs.k8s.io/yaml 1.3.0 and 1.4.0, which also keep 123456.78.
        for number, (written, read) in enumerate((
                ("Off", "false"), ("y", "true"), ("0x1F", "31"), ("0b11", "3"), ("1_000", "1000"),
                ("089", "89"), ("0o17", "15"), ("08.5", "8.5"), ("1.0", "1"), ("1.50", "1.5"), ("1e3", "1000"), ("1e-5", "1e-05"),
                ("0.1234567891", "0.12345679"), ("1e0", "1"))):
            self.put(f"d{number}/a.yaml", GOOD.replace("gpu0", written))
            for name, code in ((read, 0), (written, 12)):
                self.assertEqual(self.why("--for", "podman@5.1.0", f"vendor.com/gpu={name}",
                                          dirs=(f"d{number}",))[0], code, (written, name))
        self.put("kept/a.yaml", GOOD.replace("gpu0", "123456.78"))
        self.assertEqual(self.why("--for", "podman@5.1.0", "vendor.com/gpu=123456.78",
                                  dirs=("kept",))[0], 0)

    def test_a_resolved_name_has_file_and_line(self):
        self.assertEqual(self.why("vendor.com/gpu=gpu1"),
                         (0, f"resolved: vendor.com/gpu=gpu1: {self.good}:6\n"))
        self.assertEqual(self.record("vendor.com/gpu=gpu1"),
                         (0, {"name": "vendor.com/gpu=gpu1", "resolved": True, "file": self.good,
                              "line": 6, "priority": 0}))

    def test_each_reason_has_its_exit_code(self):
        os.makedirs(self.path("empty"))
        self.put("odd/odd.yaml", ODD)
        self.put("twice/a.yaml", GOOD)
        self.put("twice/b.yaml", GOOD)
        os.makedirs(self.path("gone"))
        os.symlink("nowhere", self.path("gone/x.yaml"))
        self.put("open/x.yaml", GOOD)
        os.chmod(self.path("open/x.yaml"), 0o666)
        self.put("nested/inner/x.yaml", GOOD)
        self.put("short/x.yml", GOOD)
        self.put("xdg/cdi/hidden.yaml", GOOD.replace("vendor.com", "hidden.com"))
        for code, reason, name, dirs, options in (
                (10, "invalid-name", "gpu0", ("specs",), ()),
                (11, "unknown-kind", "vendor.com/gpux=gpu0", ("specs",), ()),
                (12, "unknown-device", "vendor.com/gpu=gpu7", ("specs",), ()),
                (13, "conflict", "vendor.com/gpu=gpu0", ("twice",), ()),
                (14, "file-rejected", "odd.com/gpu=good", ("specs", "odd"), ()),
                (15, "device-quarantined", "odd.com/gpu=bad", ("odd",), ("--quarantine",)),
                (0, None, "odd.com/gpu=good", ("odd",), ("--quarantine",)),
                (16, "unreadable", "vendor.com/gpu=gpu0", ("gone",), ()),
                (17, "refused-by-policy", "vendor.com/gpu=gpu0", ("open",), ("--refuse-writable",)),
                (0, None, "vendor.com/gpu=gpu0", ("open",), ()),
                (18, "no-directory", "vendor.com/gpu=gpu0", ("none", "neither"), ()),
                (19, "not-searched", "hidden.com/gpu=gpu0", ("empty",), ()),
                (19, "not-searched", "vendor.com/gpu=gpu0", ("nested",), ()),
                (20, "file-ignored", "vendor.com/gpu=gpu0", ("short",), ())):
            with self.subTest(reason=reason, name=name):
                found, record = self.record(name, *options, dirs=dirs)
                self.assertEqual((found, record.get("reason")), (code, reason))
                if reason:
                    self.assertTrue(record["advice"])
                    self.assertIn(f'"{name}"', record["message"])
                patterns = [name + "*", name.replace("/g", "/[g]")] if reason else []
                for pattern in patterns[:1 if code == 10 else 2]:
                    found, record = self.record(pattern, *options, dirs=dirs)
                    self.assertEqual((found, record["reason"]), (code, reason), pattern)

    def test_a_pattern_has_the_reason_of_no_device_that_files_define(self):
        for name in ("a", "b"):
            self.put(f"both/{name}.yaml", GOOD.replace("gpu0", "none").replace("gpu1", name))
        code, record = self.record("vendor.com/gpu=z*", dirs=("both",))
        self.assertEqual((code, record["reason"]), (12, "unknown-device"), record)

    def test_the_responsible_file_is_reported_with_its_place(self):
        odd = self.put("specs/odd.yaml", ODD)
        _, record = self.record("odd.com/gpu=good")
        (cause,) = record["causes"]
        self.assertEqual((cause["file"], cause["line"], cause["column"], cause["where"]),
                         (odd, 7, 32, "devices[1].containerEdits.colour"))
        _, out = self.why("odd.com/gpu=good")
        self.assertIn(f"  at: {odd}:7:32: devices[1].containerEdits.colour: unknown field", out)
        self.assertIn("  fix: correct the file", out)

    def test_both_files_of_a_conflict_are_reported(self):
        other = self.put("specs/other.yaml", GOOD)
        _, record = self.record("vendor.com/gpu=gpu0")
        self.assertEqual([c["file"] for c in record["causes"]], [self.good, other])

    def test_the_version_that_a_file_needs_is_reported(self):
        self.put("specs/new.yaml", ODD.replace("0.6.0", "2.0.0"))
        self.assertEqual(self.record("odd.com/gpu=bad")[1]["needsVersion"], "2.0.0")
        self.assertIn("  fix: the file requires CDI 2.0.0, but this program supports CDI 1.1.0: ",
                      self.why("odd.com/gpu=bad")[1])
        self.put("specs/new.yaml", ODD.replace("colour: red", "additionalGids: [4]"))
        self.assertEqual(self.record("odd.com/gpu=bad")[1]["needsVersion"], "0.7.0")
        self.assertIn('  fix: set cdiVersion to "0.7.0" in the file\n',
                      self.why("odd.com/gpu=bad")[1])

    def test_files_that_may_define_the_device_are_reported(self):
        fifo = self.path("odd/fifo.yaml")
        empty = self.put("odd/empty.yaml", "")
        os.mkfifo(fifo)
        plain = self.put("plain", "")
        code, record = self.record("vendor.com/gpu=gpu0", dirs=("odd",))
        self.assertEqual((code, [c["file"] for c in record["causes"]]), (11, [empty, fifo]))
        self.assertIn("if one of the listed files should define the device, correct it", record["advice"])
        _, out = self.why("vendor.com/gpu=gpu0", dirs=("odd",))
        self.assertIn(f"  may be in: {fifo}: not a regular file\n", out)
        code, out = self.why("vendor.com/gpu=*", dirs=("odd",))
        self.assertEqual((code, out.count("  may be in: ")), (11, 2))
        code, record = self.record("vendor.com/gpu=gpu0", dirs=("plain",))
        self.assertEqual((code, [c["file"] for c in record["causes"]]), (16, [plain]))

    def test_all_files_are_listed_for_the_first_names_and_counted_for_the_others(self):
        for number in range(5):
            self.put(f"specs/broken{number}.yaml", "{")
        names = [f"other.com/gpu={number}" for number in range(9)]
        _, out = self.why(*names)
        self.assertEqual(out.count("  may be in: "), 8 * 5 + 3)
        self.assertEqual(out.count("  and 2 more\n"), 1)
        records = json.loads(self.why("-o", "json", *names)[1])
        self.assertEqual([(len(one["causes"]), one.get("moreCauses")) for one in records],
                         [(5, None)] * 8 + [(3, 2)])

    def test_a_rejected_file_of_higher_priority_is_reported(self):
        bad = self.put("high/x.yaml", GOOD + "odd: 1\n")
        _, out = self.why("vendor.com/gpu=gpu0", dirs=("specs", "high"))
        self.assertIn(f"\n  same kind, but not used: {bad}:8:1: odd: unknown field", out)
        _, record = self.record("vendor.com/gpu=gpu0", dirs=("specs", "high"))
        self.assertEqual([e["file"] for e in record["notUsed"]], [bad])

    def test_file_names_cannot_control_the_terminal(self):
        self.put("bad/e\033]0;x\007\n.yaml", GOOD)
        for command in (["why", "vendor.com/gpu=gpu0"], ["specs"], ["validate"]):
            done = self.run_tool(CDI, "-d", self.path("bad"), *command, expect=None)
            self.assertIn("/e\\x1b]0;x\\x07\\n.yaml", done.stdout)

    def test_similar_names_are_reported(self):
        self.assertEqual(self.record("vendor.com/gpu=gpu2")[1]["nearest"],
                         ["vendor.com/gpu=gpu0", "vendor.com/gpu=gpu1"])
        self.assertEqual(self.record("vender.com/gpu=gpu0")[1]["nearest"], ["vendor.com/gpu"])

    def test_a_device_in_another_directory_is_reported_with_its_file(self):
        hidden = self.put("home/.config/cdi/hidden.yaml", GOOD)
        os.makedirs(self.path("empty"))
        _, record = self.record("vendor.com/gpu=gpu1", dirs=("empty",))
        self.assertEqual((record["causes"][0]["file"], record["causes"][0]["line"]), (hidden, 6))

    def test_a_device_in_a_file_that_is_ignored_is_reported_with_the_remedy(self):
        file = self.put("short/x.YAML", GOOD)
        code, out = self.why("vendor.com/gpu=gpu1", dirs=("short",))
        self.assertEqual(code, 20)
        self.assertIn(f"\n  at: {file}:6:3: ", out)
        self.assertIn('"x.yaml"\n  fix: ', out)

    def test_all_names_are_reported_and_the_first_unresolved_one_decides(self):
        code, out = self.why("vendor.com/gpu=gpu0", "x", "vendor.com/gpu=gpu7")
        self.assertEqual(code, 10)
        self.assertEqual([line.split(":")[0] for line in out.splitlines() if line[0] != " "],
                         ["resolved", "invalid-name", "unknown-device"])

    def test_an_engine_reads_old_enough_versions(self):
        asked = ("--for", "podman@4.9.3", "vendor.com/gpu=gpu1")
        self.assertEqual(self.why(*asked),
                         (0, f"resolved by podman 4.9.3: vendor.com/gpu=gpu1: {self.good}:6\n"))
        self.assertEqual(self.record(*asked),
                         (0, {"name": "vendor.com/gpu=gpu1", "resolved": True, "file": self.good,
                              "line": 6, "priority": 0, "engine": "podman 4.9.3",
                              "reads": "0.6.0"}))

    def test_an_engine_refuses_newer_versions(self):
        name = "vendor.com/gpu=gpu1"
        code, out = self.why("--for", "podman@4.3.1", name)
        self.assertEqual(code, 14)
        self.assertIn(f"\n  at: {self.good}:1:13: cdiVersion: ", out)
        self.assertIn("; or update podman to 4.7.0 or newer\n", out)
        code, record = self.record("--for", "podman@4.3.1", name)
        self.assertEqual((code, record["resolved"], record["reason"], record["engine"],
                          record["reads"]),
                         (14, False, "file-rejected", "podman 4.3.1", "0.5.0"))
        (cause,) = record["causes"]
        self.assertEqual((cause["file"], cause["line"], cause["where"]),
                         (self.good, 1, "cdiVersion"))
        self.assertIn(f"--for podman@4.3.1 {self.good}`", record["advice"])
        # It is not the engine that such a name fails for.
        code, record = self.record("--for", "podman@4.9.3", "vendor.com/gpu=gpu7")
        self.assertEqual((code, record["reason"]), (12, "unknown-device"))

    def test_a_device_that_no_file_has_is_unknown_for_each_engine(self):
        for name, reason in (("vendor.com/gpu=gpu7", "unknown-device"),
                             ("vendor.com/other=gpu1", "unknown-kind")):
            code, text = self.why("--for", "podman@4.3.1", name)
            self.assertEqual((code, text), self.why(name))
            self.assertTrue(text.startswith(reason), text)

    def test_a_file_that_an_engine_refuses_hides_no_other(self):
        new = self.put("high/new.yaml", GOOD.replace("0.6.0", "1.1.0"))
        name, dirs = "vendor.com/gpu=gpu0", ("specs", "high")
        self.assertEqual(self.record(name, dirs=dirs)[1]["file"], new)
        code, record = self.record("--for", "podman@4.9.3", name, dirs=dirs)
        self.assertEqual((code, record["file"]), (0, self.good))
        self.assertEqual([e["file"] for e in record["notUsed"]], [new])
        twice = self.put("specs/twice.yaml", GOOD.replace("0.6.0", "0.7.0"))
        self.assertEqual(self.record(name)[0], 13)
        code, record = self.record("--for", "podman@4.9.3", name)
        self.assertEqual((code, record["file"], record["notUsed"][0]["file"]),
                         (0, self.good, twice))

    def test_an_engine_without_cdi(self):
        asked = ("--for", "containerd@1.6.20", "vendor.com/gpu=gpu1")
        code, out = self.why(*asked)
        self.assertEqual(code, 14)
        self.assertIn("containerd 1.6.20 is older than 1.7.0", out)
        self.assertIn("\n  fix: update containerd to 1.7.12 or newer", out)
        code, record = self.record(*asked)
        self.assertEqual((code, record["reads"]), (14, None))

    def test_no_update_is_advised_if_no_version_of_the_engine_reads_the_file(self):
        self.put("letter/letter.yaml", GOOD.replace("vendor.com/gpu", "v/gpu"))
        for version in ("3.0", "4.9.3", "6.0"):
            code, record = self.record("--for", f"podman@{version}", "v/gpu=gpu1",
                                       dirs=("letter",))
            self.assertEqual(code, 14)
            self.assertTrue(record["advice"].startswith("change the file"), record["advice"])
            self.assertTrue(record["advice"].endswith("refuses a vendor or class of one character"),
                            record["advice"])

    def test_an_engine_refuses_members_that_are_gone(self):
        path = self.put("gone/old.yaml", GOOD.replace("0.6.0", "0.7.0").replace(
            "{env: [A=0]}", "{intelRdt: {closID: c, enableCMT: true}}"))
        name = "vendor.com/gpu=gpu1"
        self.assertEqual(self.record("--for", "podman@5.3", name, dirs=("gone",))[0], 0)
        code, record = self.record("--for", "podman@6.0", name, dirs=("gone",))
        self.assertEqual(code, 14)
        (cause,) = record["causes"]
        self.assertEqual((cause["line"], cause["where"]),
                         (5, "devices[0].containerEdits.intelRdt.enableCMT"))
        self.assertIn(f"--for podman@6.0.0 {path}`", record["advice"])

    def test_what_is_assumed_about_an_unknown_version_is_reported(self):
        name = "vendor.com/gpu=gpu1"
        assumed = ("podman 7.1.0 is newer than 6.0.0, the newest known version, and is assumed to read the same versions")
        self.assertEqual(self.why("--for", "podman@7.1", name), (
            0, f"resolved by podman 7.1.0: {name}: {self.good}:6\n  assumed: {assumed}\n"))
        self.assertEqual(self.record("--for", "podman@7.1", name)[1]["assumed"], assumed)
        self.assertNotIn("assumed", self.record("--for", "podman@6.0", name)[1])
        self.put("specs/good.yaml", GOOD.replace("0.6.0", "1.0.0"))
        (cause,) = self.record("--for", "kata-shim@9.0", name)[1]["causes"]
        self.assertIn("the newest that kata-shim 9.0.0 reads; kata-shim 9.0.0 is newer than 4.1.0",
                      cause["message"])

    def test_an_update_may_have_to_skip_versions(self):
        """docker 25.0.17 reads 0.8.0, docker 26.0.0 does not."""
        self.put("specs/good.yaml", GOOD.replace("0.6.0", "0.8.0"))
        code, record = self.record("--for", "docker@25.0.16", "vendor.com/gpu=gpu1")
        self.assertEqual(code, 14)
        self.assertTrue(record["advice"].endswith("or update docker to 27.4.0 or newer"), record)

    def test_a_text_that_programs_read_in_different_ways_is_reported(self):
        path = self.put("odd/two.yaml", GOOD + "---\n{}\n")
        asked = ("--for", "podman@4.9.3", "vendor.com/gpu=gpu1")
        code, record = self.record(*asked, dirs=("odd",))
        self.assertEqual((code, record["resolved"]), (0, True))
        self.assertEqual([w["rule"] for w in record["warnings"]], ["single-document"])
        advice = ("convert the file with losses by running `cdi convert --in-place --backup --lossy --for "
                  f"podman@4.9.3 {path}`, which loses its other documents")
        self.assertEqual(record["advice"], advice)
        _, out = self.why(*asked, dirs=("odd",))
        self.assertIn(f"\n  may be refused or read differently: {path}:9:1: only the first", out)
        self.assertTrue(out.endswith(f"\n  fix: {advice}\n"))
        self.assertNotIn("warnings", self.record(asked[2], dirs=("odd",))[1])

    def test_an_engine_refuses_the_text_that_its_library_refuses(self):
        path = self.put("odd/case.yaml", GOOD.replace("{env: [A=1]}", "{Env: [A=1]}"))
        name = "vendor.com/gpu=gpu1"
        self.assertEqual(self.record("--for", "containerd@2.3.7", name, dirs=("odd",))[1].get(
            "warnings"), None)
        code, record = self.record("--for", "containerd@2.4.0", name, dirs=("odd",))
        self.assertEqual(code, 14)
        (cause,) = record["causes"]
        self.assertEqual((cause["line"], cause["where"]), (7, "Env"))
        self.assertTrue(cause["message"].startswith(
            "containerd 2.4.0, with CDI library 1.1.1, refuses it: names of members"), cause)
        self.assertIn(f"--for containerd@2.4.0 {path}`", record["advice"])

    def test_what_an_engine_needs_besides_the_file_is_reported(self):
        asked = ("--for", "containerd@1.7.1", "vendor.com/gpu=gpu1")
        self.put("specs/good.yaml", GOOD.replace("0.6.0", "0.5.0"))
        needs = ["containerd 1.7.1 injects CDI devices only with enable_cdi = true in the CRI "
                 "table of config.toml",
                 "containerd 1.7.1 ignores the CRI field CDI_devices: request devices with annotations"]
        self.assertEqual(self.record(*asked)[1]["needs"], needs)
        self.assertTrue(self.why(*asked)[1].endswith("".join(f"  needs: {n}\n" for n in needs)))
        self.assertNotIn("needs", self.record("--for", "containerd@2.0", asked[2])[1])
        for engine, setting in (
                ("docker@26.1.5", '"features": {"cdi": true} in daemon.json'),
                ("docker@28.2", None),
                ("nvidia-container-runtime@1.17.0", 'mode = "cdi" in [nvidia-container-runtime]'),
                ("talos@1.7.0", "enable_cdi = true in a patch of /etc/cri/conf.d"),
                ("talos@1.8.0", None)):
            with self.subTest(engine=engine):
                needs = self.record("--for", engine, asked[2])[1].get("needs", [""])[0]
                self.assertIn(f" injects CDI devices only with {setting}" if setting else "", needs)
                self.assertEqual(bool(needs), bool(setting))

    def test_an_engine_has_no_options_for_reading(self):
        """It rejects a file with a bad device as a whole, and reads files that others may write."""
        self.put("odd/odd.yaml", ODD)
        for option in ("--quarantine", "--refuse-writable"):
            done = self.run_tool(CDI, "-d", self.path("odd"), option, "why", "--for",
                                 "podman@4.9.3", "odd.com/gpu=good", expect=None)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("--for: cannot be combined with --quarantine", done.stderr)
        code, record = self.record("--for", "podman@4.9.3", "odd.com/gpu=good", dirs=("odd",))
        self.assertEqual((code, record["reason"]), (14, "file-rejected"))

    def test_an_unknown_engine_is_refused(self):
        for engine in ("lxc", "lxc@1.0", "podman@four"):
            done = self.run_tool(CDI, "why", "--for", engine, "a/b=c", expect=None)
            self.assertEqual((done.returncode, done.stdout), (2, ""))

    def test_an_engine_that_cannot_be_asked_for_its_version(self):
        for engine in ("kata-shim", "kata-agent", "talos"):
            done = self.run_tool(CDI, "why", "--for", engine, "a/b=c", expect=None)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            version = advised_version(engine, done.stderr)
            self.assertIn(f"specify it, for example {engine}@{version}", done.stderr)

    def test_the_help_has_the_exit_codes(self):
        out = self.run_tool(CDI, "why", "--help", expect=None).stdout
        self.assertIn("  14  file-rejected: a file of its kind is not a valid spec\n", out)


NEEDY = """cdiVersion: 0.6.0
kind: vendor.com/gpu
containerEdits:
  hooks:
  - {hookName: prestart, path: /usr/bin/hook}
devices:
- name: gpu0
  containerEdits:
    deviceNodes:
    - path: /dev/gpu0
    - {path: /dev/gpu1, type: c, major: 5, minor: 6}
    mounts:
    - {hostPath: /usr/lib/gpu.so, containerPath: /a, options: [ro, rbind]}
    - {hostPath: /usr/bin, containerPath: /b, options: [ro]}
"""


class Host(Files):
    """A made-up host, in the directory `host`."""

    def setUp(self):
        super().setUp()
        self.host = self.path("host")
        self.put("host/dev.tab", "/dev/gpu0 c 195 0 0666 0 0\n/dev/gpu1 c 5 6 0666 0 0\n")
        self.put("host/usr/lib/gpu.so", "")
        self.put("host/usr/bin/hook", "")
        os.chmod(self.path("host/usr/bin/hook"), 0o755)
        self.put("host/etc/cdi/v.yaml", NEEDY.replace("[ro]", "[ro, bind]"))
        self.file = self.path("host/etc/cdi/v.yaml")

    def install(self, **versions):
        """Engines, as Debian's list of packages has them; without a version, only the program."""
        for name in versions:
            self.put(f"host/usr/bin/{name}", "")
        self.put("host/var/lib/dpkg/status", "".join(
            f"Package: {name}\nStatus: install ok installed\nVersion: {version}\n\n"
            for name, version in versions.items() if version))

    def on_host(self, *args, **more):
        return self.why(*args, dirs=(), host=("--root", self.host), **more)

    def host_record(self, *args, **more):
        code, out = self.on_host("-o", "json", *args, **more)
        return code, json.loads(out)[0]

    def test_a_device_that_has_all_it_needs(self):
        self.assertEqual(self.on_host("vendor.com/gpu=gpu0"),
                         (0, f"resolved: vendor.com/gpu=gpu0: {self.file}:7\n"))
        code, record = self.host_record("vendor.com/gpu=gpu0")
        self.assertEqual((code, record),
                         (0, {"name": "vendor.com/gpu=gpu0", "resolved": True, "file": self.file,
                              "line": 7, "priority": 0}))

    def test_what_a_device_needs_and_the_host_does_not_have(self):
        self.put("host/etc/cdi/v.yaml", NEEDY)
        self.put("host/dev.tab", "")
        os.remove(self.path("host/usr/lib/gpu.so"))
        os.chmod(self.path("host/usr/bin/hook"), 0o644)
        edits = "devices[0].containerEdits"
        code, out = self.on_host("vendor.com/gpu=gpu0")
        first, *faults, advice = out.splitlines()
        self.assertEqual((code, first.split(": ")[1:]), (0, ["vendor.com/gpu=gpu0",
                                                             f"{self.file}:7"]))
        self.assertEqual([line.strip().split(": ")[:3] for line in faults], [
            ["will fail", f"{self.file}:10:7", f"{edits}.deviceNodes[0]"],
            ["may fail", f"{self.file}:11:7", f"{edits}.deviceNodes[1]"],
            ["will fail", f"{self.file}:13:7", f"{edits}.mounts[0]"],
            ["may fail", f"{self.file}:14:7", f"{edits}.mounts[1]"],
            ["will fail", f"{self.file}:5:5", "containerEdits.hooks[0]"]])
        self.assertIn("  fix: regenerate the spec", advice)
        code, record = self.host_record("vendor.com/gpu=gpu0")
        self.assertEqual((code, record["resolved"]), (0, True))
        self.assertEqual([(one["level"], one["line"]) for one in record["hostFaults"]],
                         [("error", 10), ("warning", 11), ("error", 13), ("warning", 14),
                          ("error", 5)])
        self.assertIn("regenerate", record["hostAdvice"])

    def test_similar_names_are_one_line(self):
        self.assertIn("\n  similar: vendor.com/gpu=gpu0, vendor.com/gpu=gpu1\n",
                      self.why("vendor.com/gpu=gpu7")[1])

    def test_five_faults_of_a_device_are_shown_and_the_rest_is_counted(self):
        nodes = "".join(f"    - {{path: /dev/none{i}}}\n" for i in range(8))
        self.put("host/etc/cdi/many.yaml", "cdiVersion: 0.5.0\nkind: many.com/gpu\ndevices:\n"
                 "- name: gpu0\n  containerEdits:\n    deviceNodes:\n" + nodes)
        self.put("host/dev.tab", "")
        _, out = self.on_host("many.com/gpu=gpu0")
        self.assertEqual(out.count("\n  will fail: "), 5, out)
        self.assertIn("\n  and 3 more\n", out)
        self.assertEqual(len(self.host_record("many.com/gpu=gpu0")[1]["hostFaults"]), 8)

    def test_the_fix_for_a_spec_of_cdi_prepare_is_its_command(self):
        self.put("host/etc/cdi/own.com-gpu.yaml", "cdiVersion: 0.6.0\nkind: own.com/gpu\n"
                 "annotations: {cdi-publisher/owner: cdi-prepare, cdi-prepare/options: "
                 "profile=compute}\ndevices:\n- name: gpu0\n  containerEdits:\n"
                 "    deviceNodes: [{path: /dev/none}]\n")
        self.put("host/dev.tab", "")
        self.assertIn(f"\n  fix: run `cdi-prepare write --root {self.path('host')} --profile compute "
                      "--output-dir ", self.on_host("own.com/gpu=gpu0")[1])

    def test_what_a_container_or_guest_has_is_not_looked_for_on_the_host(self):
        self.put("host/etc/cdi/v.yaml", NEEDY.replace("[ro]", "[ro, bind]").replace(
            "{hookName: prestart, path: /usr/bin/hook}",
            "{hookName: startContainer, path: /in/container}"))
        self.assertNotIn("hostFaults", self.host_record("vendor.com/gpu=gpu0")[1])
        self.put("host/dev.tab", "")
        name, agent = "vendor.com/gpu=gpu0", "kata-agent@3.30.0"
        os.makedirs(self.path("host/var/run/cdi"))
        os.rename(self.file, self.path("host/var/run/cdi/v.yaml"))
        self.assertIn("hostFaults", self.host_record(name)[1])
        self.assertIn("hostFaults", self.host_record("--for", "cri-o@1.34", name)[1])
        code, record = self.host_record("--for", agent, name)
        self.assertEqual((code, record["resolved"], "hostFaults" in record), (0, True, False))

    def test_numbers_that_drifted(self):
        self.put("host/dev.tab", "/dev/gpu0 c 195 0 0666 0 0\n/dev/gpu1 c 5 7 0666 0 0\n")
        code, record = self.host_record("vendor.com/gpu=gpu0")
        (fault,) = record["hostFaults"]
        self.assertEqual((code, fault["level"], fault["line"], fault["message"]),
                         (0, "error", 11, 'host device "/dev/gpu1" is c 5:7, not c 5:6'))

    def test_what_may_not_be_looked_at_is_not_missing(self):
        os.chmod(self.folder, 0o755)
        os.chmod(self.path("host/usr/lib"), 0)
        self.addCleanup(os.chmod, self.path("host/usr/lib"), 0o755)
        other = {"user": 65534} if os.geteuid() == 0 else {}
        try:
            done = self.run_tool(CDI, "why", "--root", self.host, "vendor.com/gpu=gpu0",
                                 expect=None, **other)
        except PermissionError:
            self.skipTest("the program is in a directory that only root may search")
        self.assertEqual((done.returncode, done.stdout.count("\n")), (0, 2), done.stdout)
        self.assertIn(f"  not checked: {self.file}:13:7: devices[0].containerEdits.mounts[0]: ",
                      done.stdout)

    def test_each_installed_engine_that_refuses_the_file_is_named(self):
        self.install(podman="4.3.1+ds1-8", containerd="2.0.5-1", crio=None)
        refusal = (f"{self.file}:1:13: cdiVersion: version \"0.6.0\" is newer than 0.5.0, the "
                   "newest that podman 4.3.1 reads")
        code, out = self.on_host("vendor.com/gpu=gpu0")
        self.assertEqual(code, 0)
        self.assertTrue(out.startswith(f"resolved: vendor.com/gpu=gpu0: {self.file}:7\n"), out)
        self.assertIn(f"\n  refused by podman 4.3.1: {refusal}\n  fix: convert the file", out)
        self.assertIn("\n  not checked: cri-o: /var/lib/dpkg/status lists no version", out)
        _, record = self.host_record("vendor.com/gpu=gpu0")
        engines = {one["engine"]: one for one in record["engines"]}
        self.assertEqual({name: one["result"] for name, one in engines.items()},
                         {"podman 4.3.1": "refuses", "containerd 2.0.5": "reads",
                          "cri-o": "unknown"})
        podman = engines["podman 4.3.1"]
        self.assertEqual((podman["reads"], podman["causes"][0]["line"]), ("0.5.0", 1))
        self.assertIn("cdi convert", podman["advice"])

    def test_an_engine_may_use_another_file(self):
        self.install(podman="4.3.1")
        old = self.put("specs/old.yaml", GOOD.replace("0.6.0", "0.5.0"))
        self.put("high/new.yaml", GOOD)
        os.remove(self.good)
        _, out = self.why("vendor.com/gpu=gpu1", dirs=("specs", "high"),
                          host=("--root", self.host))
        self.assertIn(f"  used by podman 4.3.1: {old}:6\n", out)

    def test_an_engine_that_does_not_inject_the_file(self):
        self.put("host/usr/bin/dockerd", "")
        self.put("host/etc/docker/daemon.json", '{"features": {"cdi": false}}')
        self.put("host/etc/containers/containers.conf",
                 '[engine]\ncdi_spec_dirs = ["/run/other"]\n')
        self.install(**{"docker.io": "28.2.2", "podman": "5.6.0"})
        _, record = self.host_record("vendor.com/gpu=gpu0")
        self.assertEqual({one["engine"]: one["result"] for one in record["engines"]},
                         {"docker 28.2.2": "off", "podman 5.6.0": "other-directory"})
        _, out = self.on_host("vendor.com/gpu=gpu0")
        self.assertIn("  not injected by docker 28.2.2: CDI is switched off\n  fix: ", out)
        self.assertIn(f"  not read by podman 5.6.0: {self.file}: it reads only /run/other\n", out)

    def test_the_engine_of_this_host_has_cdi_as_it_is_configured(self):
        asked = ("--for", "docker", "vendor.com/gpu=gpu0")
        self.put("host/usr/bin/dockerd", "")
        self.install(**{"docker.io": "26.1.5"})
        _, out = self.on_host(*asked)
        self.assertIn("\n  not injected by docker 26.1.5: CDI is switched off\n  fix: Set ", out)
        code, record = self.host_record(*asked)
        self.assertEqual((code, [one["result"] for one in record["engines"]], "needs" in record),
                         (0, ["off"], False))
        self.put("host/etc/docker/daemon.json", '{"features": {"cdi": true}}')
        self.assertEqual(self.on_host(*asked), (
            0, f"resolved by docker 26.1.5: vendor.com/gpu=gpu0: {self.file}:7\n"))

    def test_a_configuration_that_cannot_be_read_is_reported(self):
        self.install(podman="5.6.0")
        self.put("host/etc/containers/containers.conf", "[engine\n")
        said = "  warning about podman 5.6.0: /etc/containers/containers.conf:1:"
        for options in ((), ("--for", "podman")):
            self.assertIn(said, self.on_host(*options, "vendor.com/gpu=gpu0")[1])
            self.assertIn("/etc/containers/containers.conf:1:", self.host_record(
                *options, "vendor.com/gpu=gpu0")[1]["setupWarnings"][0]["message"])
        self.assertIn(said, self.on_host("--for", "podman", "vendor.com/gpu=gpu7")[1])
        self.put("host/etc/containers/containers.conf", "[engine]\n")
        self.assertNotIn("warning", self.on_host("vendor.com/gpu=gpu0")[1])

    def test_a_text_that_an_engine_may_read_otherwise(self):
        self.install(podman="4.9.3")
        self.put("host/etc/cdi/v.yaml", GOOD + "---\n{}\n")
        _, record = self.host_record("vendor.com/gpu=gpu1")
        (engine,) = record["engines"]
        self.assertEqual((engine["result"], engine["causes"][0]["rule"]),
                         ("in-doubt", "single-document"))

    def test_an_engine_without_a_version_is_the_one_of_the_host(self):
        self.install(podman="4.3.1", crio=None)
        code, record = self.host_record("--for", "podman", "vendor.com/gpu=gpu0")
        self.assertEqual((code, record["engine"]), (14, "podman 4.3.1"))
        self.install(podman="4.9.3", crio=None)
        code, record = self.host_record("--for", "podman", "vendor.com/gpu=gpu0")
        self.assertEqual((code, record["engine"], "engines" in record), (0, "podman 4.9.3", False))
        self.put("host/etc/containerd/config.toml", "version = 2\n")
        for engine, said in (("docker", "it is not installed on this host"),
                             ("containerd", "its program is not on this host"),
                             ("cri-o", "/var/lib/dpkg/status lists no version of package cri-o")):
            done = self.run_tool(CDI, "why", "--root", self.host, "--for", engine, "a/b=c",
                                 expect=None)
            version = advised_version(engine, done.stderr)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(f"cdi: error: --for {engine}: {said}: ", done.stderr)

    def test_the_programs_of_this_host_are_asked(self):
        asked = self.path("asked")
        script = self.put("podman", f'#!/bin/sh\n: >"{asked}"\necho podman version 4.3.1\n')
        os.chmod(script, 0o755)
        program = "/usr/local/sbin"  # where services look first
        def run_cdi(*args):
            return self.run_tool(
                "unshare", "-m", "sh", "-c", f"mount -t tmpfs t {program} || exit 77\n"
                f'cp "{script}" {program} && exec "$0" "$@"', CDI, "-d", self.path("specs"), *args,
                expect=None)
        def run(*args):
            return run_cdi("why", *args, "vendor.com/gpu=gpu0")
        if os.geteuid() != 0 or not shutil.which("unshare") or run().returncode in (1, 77):
            self.skipTest("cannot make a mount namespace")
        done = run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"  refused by podman 4.3.1: {self.good}:1:13: cdiVersion: ", done.stdout)
        done = run("--for", "podman")
        self.assertEqual(done.returncode, 14, done.stderr)
        self.assertIn("podman 4.3.1 refuses a file of its kind", done.stdout)
        done = run_cdi("convert", "--for", "podman", self.good)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, run_cdi("convert", "--to", "0.5.0", self.good).stdout)
        self.assertIn("podman@4.3.1", done.stderr)
        done = run_cdi("new", "a.com/b", "--for", "podman", "--device", "a=/dev/a", "-o", "json")
        self.assertIn('"note"', done.stderr)
        self.assertNotIn("podman", run("--no-host").stdout)
        usual = self.run_tool(
            "unshare", "-m", "sh", "-c",
            f'mount -t tmpfs t {program} && cp "{script}" {program} && mount -t tmpfs t /etc && '
            f'cp -r "{self.path("specs")}" /etc/cdi && exec "$0" why "$@"', CDI,
            "vendor.com/gpu=gpu0", expect=None)
        self.assertIn("  refused by podman 4.3.1: /etc/cdi/good.yaml:1:13: ", usual.stdout,
                      usual.stderr)
        self.assertTrue(os.path.exists(asked))
        os.remove(asked)
        self.assertEqual(run("--for", "podman@4.9.3").returncode, 0)
        self.assertFalse(os.path.exists(asked), "the version is known without it")
        done = run("--no-host", "--for", "podman")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("leave out --no-host, or give the version", done.stderr)

    def test_an_engine_searches_its_own_directories(self):
        name = "vendor.com/gpu=gpu1"
        file = self.put("host/var/run/cdi/only.yaml", GOOD.replace("vendor.com", "run.com"))
        build = self.put("host/etc/buildkit/cdi/b.yaml", GOOD.replace("vendor.com", "build.com"))
        name = "run.com/gpu=gpu1"
        for version, code in (("5.4.2", 0), ("5.5.0", 19), ("5.5.2", 19), ("5.6.0", 0)):
            self.assertEqual(self.host_record("--for", f"podman@{version}", name)[0], code, version)
        code, text = self.on_host("--for", "podman@5.5.1", name)
        self.assertEqual(code, 19)
        self.assertIn(f"  at: {file}:", text)
        self.assertTrue(text.endswith(
            "  fix: podman 5.5.1 reads only /etc/cdi: move the file there, or add its directory with "
            "cdi_spec_dirs in [engine] of containers.conf\n"), text)
        for engine, code in (("buildkit@0.34.0", 0), ("docker@29.2", 11)):
            found, record = self.host_record("--for", engine, "build.com/gpu=gpu1")
            self.assertEqual((found, record.get("file")), (code, None if code else build))
        # As it is configured.
        self.install(podman="5.5.2", crio=None)
        self.assertEqual(self.host_record("--for", "podman", name)[0], 19)
        self.put("host/etc/containers/containers.conf",
                 '[engine]\ncdi_spec_dirs = ["/var/run/cdi"]\n')
        self.assertEqual(self.host_record("--for", "podman", name)[0], 0)

    def test_rejected_files_of_another_host_are_the_reason(self):
        bad = GOOD.replace("vendor.com", "bad.com") + "colour: red\n"
        files = [self.put(f"host/{place}/bad.yaml", bad) for place in ("etc/cdi", "var/run/cdi")]
        code, record = self.host_record("bad.com/gpu=gpu0")
        self.assertEqual((code, [one["file"] for one in record["causes"]]), (14, files))
        link = self.path("host/etc/cdi/folder.yaml")
        os.symlink("/usr/bin", link)
        os.remove(files[0])
        os.remove(files[1])
        code, text = self.on_host("bad.com/gpu=gpu0")
        self.assertEqual(code, 11)
        self.assertIn(f"  may be in: {link}: not a regular file\n", text)

    def test_links_of_another_host_do_not_lead_out(self):
        os.makedirs(self.path("host/run/cdi"))
        os.makedirs(self.path("host/var"), exist_ok=True)
        os.symlink("/run", self.path("host/var/run"))
        file = self.put("host/run/cdi/r.yaml", GOOD.replace("vendor.com", "run.com"))
        self.assertEqual(self.on_host("run.com/gpu=gpu0"),
                         (0, f"resolved: run.com/gpu=gpu0: {file}:4\n"))

    def test_links_to_files_of_another_host_do_not_lead_out(self):
        self.put("outside/x.yaml", GOOD.replace("vendor.com", "outer.com"))
        inner = self.put("host" + self.path("outside/x.yaml"),
                         GOOD.replace("vendor.com", "inner.com"))
        link = self.path("host/etc/cdi/link.yaml")
        os.symlink(self.path("outside/x.yaml"), link)
        self.assertEqual(self.on_host("inner.com/gpu=gpu0"),
                         (0, f"resolved: inner.com/gpu=gpu0: {link}:4\n"))
        self.assertEqual(self.on_host("outer.com/gpu=gpu0")[0], 11)
        self.assertEqual(self.why("inner.com/gpu=gpu0", dirs=("host/etc/cdi",),
                                  host=("--root", self.host))[0], 0)
        os.remove(inner)
        code, text = self.on_host("outer.com/gpu=gpu0")
        self.assertEqual(code, 16)
        self.assertIn(f"{link}: the link target does not exist", text)


CONFIG = {
    "ociVersion": "1.2.0",
    "process": {"env": ["PATH=/bin", "SHARED=1"], "user": {"additionalGids": [44]}},
    "mounts": [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/usr/lib/gpu.so", "source": "/usr/lib/gpu.so", "options": ["ro", "bind"]},
        {"destination": "/data", "source": "/srv/data", "options": ["rbind"]}],
    "hooks": {"createRuntime": [{"path": "/usr/bin/hook", "args": ["hook", "link"]}],
              "poststop": [{"path": "/usr/bin/other"}]},
    "linux": {"devices": [
        {"path": "/dev/fuse", "type": "c", "major": 10, "minor": 229},
        {"path": "/dev/gpu0", "type": "c", "major": 195, "minor": 0}]},
}
IN_CONFIG = """cdiVersion: 0.7.0
kind: vendor.com/gpu
containerEdits:
  env: [SHARED=1]
  hooks:
  - {hookName: createRuntime, path: /usr/bin/hook, args: [hook, link]}
devices:
- name: gpu0
  containerEdits:
    deviceNodes:
    - {path: /dev/gpu0}
    mounts:
    - {hostPath: /usr/lib/gpu.so, containerPath: /usr/lib/gpu.so, options: [ro, bind]}
    additionalGids: [44]
- name: uuid
  containerEdits:
    deviceNodes:
    - {path: /dev/gpu0}
    mounts:
    - {hostPath: /usr/lib/gpu.so, containerPath: /usr/lib/gpu.so, options: [ro, bind]}
    additionalGids: [44]
- name: gpu1
  containerEdits:
    deviceNodes:
    - {path: /dev/gpu1}
- name: all
  containerEdits:
    deviceNodes:
    - {path: /dev/gpu0}
    - {path: /dev/gpu1}
"""
HOST_NODES = "/dev/gpu0 c 195 0 0666 0 0\n/dev/fuse c 10 229 0666 0 0\n"


class Bundle(Files):
    def setUp(self):
        super().setUp()
        self.file = self.put("host/etc/cdi/v.yaml", IN_CONFIG)
        self.config = self.put("bundle/config.json", json.dumps(CONFIG, indent=1))
        self.put("host/dev.tab", HOST_NODES)
        self.put("host/srv/data/x", "")
        self.put("host/usr/lib/gpu.so", "")
        for program in ("hook", "other"):
            os.chmod(self.put(f"host/usr/bin/{program}", ""), 0o755)

    def bundle(self, *args, path=None, warned=""):
        return self.why("--bundle", path or self.config, *args, dirs=(),
                        host=("--root", self.path("host")), warned=warned)

    def bundle_record(self, *args, **more):
        code, out = self.bundle("-o", "json", *args, **more)
        return code, json.loads(out)

    def config_line(self, text):
        """The line of a text in the config."""
        with open(self.config) as file:
            return next(n for n, line in enumerate(file, 1) if text in line)

    def write_config(self, **more):
        self.put("bundle/config.json", json.dumps({**CONFIG, **more}, indent=1))

    def test_what_annotations_ask_for(self):
        asked = "requested by annotation cdi.k8s.io/a_{}: vendor.com/gpu={}"
        self.write_config(annotations={"cdi.k8s.io/a_1": "vendor.com/gpu=uuid", "other": "x"})
        code, out = self.bundle()
        self.assertEqual((code, asked.format(1, "uuid\n") in out), (0, True), out)
        self.write_config(annotations={
            "cdi.k8s.io/a_1": "vendor.com/gpu=gpu0,vendor.com/gpu=gpu1",
            "cdi.k8s.io/a_2": "vendor.com/gpu=gone"})
        code, out = self.bundle()
        self.assertEqual(code, 6)
        for line in (asked.format(1, "gpu0"),
                     asked.format(1, "gpu1: not in the container with the nodes of its spec"),
                     asked.format(2, "gone: no spec defines it now")):
            self.assertIn(line + "\n", out)
        self.assertEqual(self.bundle_record()[1]["requests"], [
            {"name": f"vendor.com/gpu={name}", "annotation": f"cdi.k8s.io/a_{number}",
             "inContainer": there, "defined": known}
            for number, name, there, known in ((1, "gpu0", True, True), (1, "gpu1", False, True),
                                               (2, "gone", False, False))])

    def test_a_bad_annotation_is_a_warning(self):
        self.write_config(annotations={"cdi.k8s.io/a": "no name"})
        code, out = self.bundle(warned=(
            'cdi: warning: annotation "cdi.k8s.io/a": "no name" is not a qualified device name: '
            "write vendor.com/class=device\n"))
        self.assertEqual(code, 0)
        self.assertIn("vendor.com/gpu=gpu0", out)

    def test_rdt_settings_are_compared(self):
        rdt = "    intelRdt: {closID: gpu, l3CacheSchema: 'L3:0=f', enableCMT: true}\n"
        self.put("host/etc/cdi/v.yaml", IN_CONFIG.replace(
            "    additionalGids: [44]\n- name: uuid", rdt + "- name: uuid"))
        settings = {"closID": "gpu", "l3CacheSchema": "L3:0=f", "enableMonitoring": True}
        same = {**CONFIG["linux"], "intelRdt": settings}
        self.write_config(linux=same)
        code, out = self.bundle()
        self.assertEqual(code, 0, out)
        self.assertIn("  linux.intelRdt: Intel RDT settings: ", out)
        self.put("host/etc/cdi/v.yaml", IN_CONFIG.replace(
            "    additionalGids: [44]\n- name: uuid",
            rdt.replace("enableCMT", "enableMBM") + "- name: uuid"))
        self.assertEqual(self.bundle()[0], 0)
        self.write_config(linux={**same, "intelRdt": {**settings, "l3CacheSchema": "L3:0=1"}})
        code, out = self.bundle()
        self.assertEqual(code, 6)
        self.assertIn('differs: the container has "closID gpu, l3CacheSchema L3:0=1, '
                      'enableMonitoring true", the spec has "closID gpu, l3CacheSchema L3:0=f, '
                      'enableMonitoring true"', out)
        self.write_config()
        code, out = self.bundle()
        self.assertEqual((code, "not in the container: Intel RDT settings" in out), (6, True))

    def test_edits_that_a_config_has_in_another_form(self):
        """A character device is `c` there, an interface may keep its name, group 0 is not added,
        and monitoring has one switch."""
        edits = ("{deviceNodes: [{path: /dev/u0, type: u, major: 9, minor: 1}], netDevices: "
                 "[{hostInterfaceName: eth0, name: eth0}], additionalGids: [0, 55], intelRdt: "
                 "{closID: x, enableMonitoring: %s}}")
        self.put("host/dev.tab", HOST_NODES + "/dev/u0 c 9 1 0666 0 0\n")
        for monitored in (True, False):
            self.put("host/etc/cdi/odd.yaml", "cdiVersion: 1.1.0\nkind: odd.com/gpu\ndevices:\n"
                     f"- name: a\n  containerEdits: {edits % str(monitored).lower()}\n")
            rdt = {"closID": "x", **({"enableMonitoring": True} if monitored else {})}
            node = {"path": "/dev/u0", "type": "c", "major": 9, "minor": 1}
            self.write_config(
                process={**CONFIG["process"], "user": {"additionalGids": [0, 44, 55]}},
                linux={"devices": [*CONFIG["linux"]["devices"], node], "netDevices": {"eth0": {}},
                       "intelRdt": rdt})
            code, record = self.bundle_record()
            odd, = (one for one in record["devices"] if one["names"] == ["odd.com/gpu=a"])
            self.assertEqual({edit["state"] for edit in odd["edits"]}, {"same"})
            self.assertEqual((code, len(odd["edits"])), (0, 4))

    def test_what_came_from_which_device_and_still_holds(self):
        said = (
            "vendor.com/gpu=gpu0, vendor.com/gpu=uuid: {v}:8: 3 of 3 edits in the container\n"
            "  linux.devices[1]: device node /dev/gpu0: {v}:11\n"
            "  mounts[1]: mount /usr/lib/gpu.so: {v}:13\n"
            "  process.user.additionalGids[0]: group 44: {v}:14\n"
            "vendor.com/gpu: {v}:4: 2 of 2 edits in the container\n"
            "  process.env[1]: variable SHARED: {v}:4\n"
            "  hooks.createRuntime[0]: hook createRuntime /usr/bin/hook link: {v}:6\n"
            "of no known device: linux.devices[0]: device node /dev/fuse\n"
            "of no known device: hooks.poststop[0]: hook poststop /usr/bin/other\n"
        ).replace("{v}", self.file)
        self.assertEqual(self.bundle(), (0, said))
        self.assertEqual(self.bundle(path=self.path("bundle")), (0, said))
        code, record = self.bundle_record()
        self.assertEqual((code, record["holds"], "advice" in record), (0, True, False))
        self.assertEqual(record["config"], self.config)
        first, shared = record["devices"]
        self.assertEqual((first["names"], first["file"], first["line"]),
                         (["vendor.com/gpu=gpu0", "vendor.com/gpu=uuid"], self.file, 8))
        self.assertEqual(first["edits"][1], {
            "kind": "mounts", "key": "/usr/lib/gpu.so", "file": self.file, "line": 13,
            "where": "devices[0].containerEdits.mounts[0]", "state": "same",
            "inConfig": "mounts[1]"})
        self.assertEqual(shared["names"], ["vendor.com/gpu"])
        self.assertEqual([one["inConfig"] for one in record["others"]],
                         ["linux.devices[0]", "hooks.poststop[0]"])

    def test_what_the_host_no_longer_has(self):
        self.put("host/dev.tab", "/dev/gpu0 c 195 7 0666 0 0\n")
        os.remove(self.path("host/usr/lib/gpu.so"))
        os.chmod(self.path("host/usr/bin/hook"), 0o644)
        shutil.rmtree(self.path("host/srv"))
        code, out = self.bundle()
        self.assertEqual(code, 6)
        for line in (
                f'will fail: {self.config}:{self.config_line("/dev/gpu0") - 1}:4: '
                'linux.devices[1]: host device "/dev/gpu0" is c 195:7, not c 195:0',
                'mounts[1]: mount source "/usr/lib/gpu.so" is missing',
                'hooks.createRuntime[0]: hook program "/usr/bin/hook" is not executable',
                'may fail: ', 'linux.devices[0]: device node "/dev/fuse" is missing; ',
                "of no known device: mounts[2]: mount /data\n",
                'mounts[2]: mount source "/srv/data" is missing',
                "\nfix: regenerate the spec with the program that wrote it, or install"):
            self.assertIn(line, out)
        code, record = self.bundle_record()
        self.assertEqual((code, record["holds"]), (6, False))
        fault = record["devices"][0]["edits"][1]["hostFaults"][0]
        self.assertEqual((fault["level"], fault["where"], fault["file"]),
                         ("error", "mounts[1]", self.config))
        self.assertEqual(self.why("--bundle", self.config, dirs=("host/etc/cdi",))[0], 0)

    def test_what_the_spec_says_now(self):
        self.put("host/etc/cdi/v.yaml", IN_CONFIG.replace(
            "hostPath: /usr/lib/gpu.so", "hostPath: /usr/lib/gpu.so.2").replace(
            "SHARED=1]", "SHARED=2, MORE=1]"))
        code, out = self.bundle()
        self.assertEqual(code, 6)
        self.assertIn(f"{self.file}:8: 2 of 3 edits in the container\n", out)
        self.assertIn('    differs: the container has "/usr/lib/gpu.so", the spec has '
                      '"/usr/lib/gpu.so.2"\n', out)
        self.assertIn(f"  not in the container: variable MORE: {self.file}:4\n", out)
        self.assertTrue(out.endswith(
            "\nfix: create the container again, so that it gets what the specs say now\n"), out)
        _, record = self.bundle_record()
        self.assertEqual([(one["key"], one["state"]) for one in record["devices"][1]["edits"][:2]],
                         [("SHARED", "differs"), ("MORE", "absent")])

    def test_the_path_of_a_node_on_the_host_is_that_of_the_spec(self):
        self.put("host/etc/cdi/v.yaml", IN_CONFIG.replace(
            "{path: /dev/gpu0}", "{path: /dev/gpu0, hostPath: /dev/other}"))
        self.put("host/dev.tab", HOST_NODES.replace("/dev/gpu0", "/dev/other"))
        self.assertEqual(self.bundle()[0], 0)

    def test_a_device_without_nodes_is_there_if_all_its_edits_are(self):
        text = GOOD.replace("A=0", "SHARED=1").replace("A=1", "SHARED=1, OTHER=1")
        self.put("host/etc/cdi/v.yaml", text)
        _, record = self.bundle_record()
        self.assertEqual([one["names"] for one in record["devices"]], [["vendor.com/gpu=gpu0"]])
        os.remove(self.file)
        code, out = self.bundle()
        self.assertEqual(code, 0)
        self.assertTrue(out.startswith("no device of these directories is in the container: "), out)

    def test_an_edit_that_another_device_replaced_has_not_changed(self):
        edits = ("env: [V={0}], deviceNodes: [{{path: /dev/n{0}, type: c, major: 1, minor: {0}}}, "
                 "{{path: /dev/n, type: c, major: 2, minor: {0}}}], mounts: [{{hostPath: /tmp/{0}, "
                 "containerPath: /m, options: [bind]}}], "
                 "netDevices: [{{hostInterfaceName: e, name: e{0}}}]")
        path = self.put("specs/good.yaml", GOOD.replace("0.6.0", "1.1.0").replace(
            "env: [A=0]", edits.format(0)).replace("env: [A=1]", edits.format(1)))
        config = self.put("plain/config.json", '{"ociVersion": "1.2.0"}')
        names = ["vendor.com/gpu=gpu0", "vendor.com/gpu=gpu1"]
        for name in names:  # together, the net devices contradict each other
            subprocess.run([CDI, "-d", self.path("specs"), "inject", "--in-place", config, name],
                           check=True)
        why = ("--no-host", "--bundle", config)
        code, out = self.why(*why)
        self.assertEqual((code, out.count("    replaced by vendor.com/gpu=gpu1\n")), (0, 4), out)
        code, out = self.why(*why, "-o", "json")
        record = json.loads(out)
        replaced = [edit for edit in record["devices"][0]["edits"] if edit["state"] == "replaced"]
        self.assertEqual([(one["kind"], one["key"], one["replacedBy"]) for one in replaced],
                         [("env", "V", names[1:]), ("deviceNodes", "/dev/n", names[1:]),
                          ("netDevices", "e", names[1:]), ("mounts", "/m", names[1:])])
        with open(path) as file:
            text = file.read()
        self.put("specs/good.yaml", text.replace("V=1", "V=2"))
        code, out = self.why(*why)
        self.assertEqual(code, 6)
        self.assertIn('    differs: the container has "1", the spec has "0"\n', out)

    def test_what_is_no_config_is_refused(self):
        for text, said in (("{", "not valid JSON"), ('{"mounts": 3}', "mounts: expected a list"),
                           (None, "No such file")):
            path = self.put("bad/config.json", text) if text else self.path("none")
            done = self.run_tool(CDI, "why", "--bundle", path, expect=None)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(said, done.stderr)
        for words in ((), ("--bundle", self.config, "vendor.com/gpu=gpu0"),
                      ("--bundle", self.config, "--for", "podman@5.4"), ("--bundle", "")):
            done = self.run_tool(CDI, "why", *words, expect=None)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)

    def test_crio_stands_for_cri_o(self):
        self.put("specs/good.yaml", GOOD)
        answers = [self.why("--no-host", "--for", engine + "@1.24", "vendor.com/gpu=gpu0")
                   for engine in ("cri-o", "crio")]
        self.assertEqual(answers[0], answers[1])
        self.assertIn("cri-o 1.24.0 refuses", answers[0][1])

    def test_what_inject_wrote_is_found_again(self):
        self.put("specs/good.yaml", GOOD.replace("env: [A=1]", "env: [A=1], mounts: [{hostPath: "
                   "/usr/../usr, containerPath: /x/../y, options: [bind]}], additionalGids: [7], "
                   "hooks: [{hookName: poststop, path: /bin/true, args: [true, x]}]").replace(
                   "0.6.0", "0.7.0"))
        config = self.put("plain/config.json", '{"ociVersion": "1.2.0"}')
        subprocess.run([CDI, "-d", self.path("specs"), "inject", "--in-place", config,
                        "vendor.com/gpu=gpu1"], check=True)
        code, out = self.why("-o", "json", "--bundle", config)
        record = json.loads(out)
        self.assertEqual((code, [one["names"] for one in record["devices"]], record["others"]),
                         (0, [["vendor.com/gpu=gpu1"]], []))

    def test_replaced_hooks_count_as_missing(self):
        hook = "/usr/bin/nvidia-cdi-hook"
        self.put("specs/good.yaml", GOOD.replace(
            "env: [A=1]", "deviceNodes: [{path: /dev/null}], hooks: [{hookName: createContainer, "
            f"path: {hook}, args: [{hook}, create-symlinks, --link, 'a::/usr/lib/b']}}]"))
        config = self.put("config.json", '{"ociVersion": "1.2.0", "root": {"path": "rootfs"}}')
        subprocess.run([CDI, "-d", self.path("specs"), "inject", "--in-place", "--hooks", "replace",
                        config, "vendor.com/gpu=gpu1"], check=True, stderr=subprocess.DEVNULL)
        code, out = self.why("--bundle", config)
        self.assertEqual(code, 6)
        self.assertIn(f"not in the container: hook createContainer {hook}", out)


if __name__ == "__main__":
    unittest.main(verbosity=2)
