#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Directories of claims, and what doctor says of claims:
claims_state_test.py CDI_PREPARE [unittest options]"""
import json
import os
import pathlib
import resource
import shutil
import stat
import sys
import unittest

sys.dont_write_bytecode = True
from claim_case import (  # noqa: E402  pylint: disable=wrong-import-position
    FIRST, FIRST_PCI, ClaimTest, read_spec)
from tree_case import TreeTest  # noqa: E402  pylint: disable=wrong-import-position


class Directories(ClaimTest):
    tree = "other"

    def test_one_way_or_another_to_the_same_journal(self):
        devices = self.prepare("a", "0")
        link = self.place / "link"
        link.symlink_to("state")
        for state in (link, f"{self.state}/", f"{self.place}/./x/..//state"):
            self.assertEqual(self.prepare("a", "0", state=state), devices)
        before = self.snapshot()
        done = self.run_tool(TreeTest.program, "list", "--root", "node", "--state-dir", "state",
                             "--output-dir", "out", "-o", "json", expect=None, cwd=self.place)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(json.loads(done.stdout)["claims"]), ["a"])
        self.assertEqual(self.snapshot(), before)

    def test_not_the_directory_of_the_specs(self):
        for state in (self.out, f"{self.out}/"):
            error = self.refuse("a", "0", state=state)
            self.assertIn("use another --state-dir", error)
        self.assertFalse(self.out.exists())
        self.out.mkdir()
        (self.place / "link").symlink_to("out")
        self.assertIn("use another", self.refuse("a", "0", state=self.place / "link"))
        self.assertEqual(os.listdir(self.out), [])

    def test_state_that_cannot_be(self):
        self.state.write_text("")
        self.assertIn("Not a directory", self.refuse_in("a", self.state))
        self.assertIn("Not a directory", self.refuse_in("a", self.state / "x"))
        self.assertIn("in ASCII", self.refuse_in("a", self.place / "ä"))
        self.assertIn("in ASCII", self.refuse_in("a", self.place / ("a" * 200) / ("b" * 50)))
        loop = self.place / "loop"
        loop.symlink_to("loop")
        self.refuse_in("a", loop)
        busy = self.place / "busy"
        busy.mkdir(0o755)
        (busy / ".lock").symlink_to("x")
        self.assertIn("cannot open the lock", self.refuse_in("a", busy))
        self.assertFalse(self.out.exists())

    def refuse_in(self, uid, state):
        done = self.run_claims("prepare", "--claim", uid, "--device", "0", code=1, state=state)
        error = json.loads(done.stdout)["claims"][uid]["error"]
        self.run_claims("list", code=1, state=state)
        return error

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_directories_that_may_not_be_written(self):
        self.prepare("a", "0")
        for directory in (self.out, self.state):
            directory.chmod(0o555)
            self.refuse("b", "1")
            self.assertEqual(self.claims_of(), ["a"])
            directory.chmod(0o755)
        self.prepare("b", "1")

    def claims_of(self):
        return [name[:-5] for name in sorted(os.listdir(self.state)) if name.endswith(".json")]

    def test_specs_that_cannot_be_written(self):
        self.refuse("a", "0", out=pathlib.Path("/proc/cdi-prepare"))
        self.assertEqual(self.claims(), [])
        self.prepare("a", "0")

    def test_full_disk(self):
        def no_space():
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        # Python ignores SIGXFSZ: a write fails.
        full = {"preexec_fn": no_space, "restore_signals": False}
        self.assertIn("cannot write", self.refuse("a", "0", **full))
        self.assertEqual(self.claims(), [])
        self.prepare("a", "0")
        self.prepare("a", "0", **full)
        self.refuse("b", "1", **full)
        self.unprepare("a", **full)  # is what makes room
        self.assertEqual(self.claims(), [])

    def test_modes_whatever_the_umask(self):
        for umask in (0o000, 0o777):
            deep = self.place / f"{umask:o}"
            self.prepare("a", "0", state=deep / "x/state", out=deep / "y/out", umask=umask)
            for path, mode in (("", 0o755), ("x", 0o755), ("x/state", 0o755), ("y/out", 0o755),
                               ("x/state/a.json", 0o600),
                               ("y/out/" + self.spec_path("a").name, 0o644)):
                self.assertEqual(stat.S_IMODE((deep / path).stat().st_mode), mode, path)


class Doctor(ClaimTest):
    """What doctor says about claims. Each command that it advises is run."""

    tree = "nv2mig"

    def setUp(self):
        super().setUp()
        self.state, self.out = self.path("var/lib/cdi-prepare"), self.path("var/run/cdi")

    def doctor(self, *more):
        """The level, fact and advice of each finding about claims and specs. Changes nothing."""
        before = self.snapshot()
        done = self.run_prepare("doctor", "-o", "json", *more)
        self.assertEqual(done.stderr, "")
        self.assertEqual(self.snapshot(), before)
        return [(finding["level"], finding["what"], finding["advice"])
                for finding in json.loads(done.stdout)["findings"]
                if finding["about"] in ("claims", "specs", "devices")
                and "no spec for" not in finding["what"]]

    def obey(self, advice, code=0):
        """Runs the command of an advice, as a shell would."""
        command = advice.split("`")[1]
        self.assertTrue(command.startswith("cdi-prepare "), advice)
        done = self.run_tool("sh", "-c", command.replace("cdi-prepare", TreeTest.program, 1),
                             expect=None)
        self.assertEqual(done.returncode, code, done.stderr)

    def only(self, fact, level="fault", *more):
        """The advice of the only finding."""
        found = self.doctor(*more)
        self.assertEqual(len(found), 1, found)
        self.assertEqual(found[0][0], level)
        self.assertIn(fact, found[0][1])
        return found[0][2]

    def test_claims_without_a_fault(self):
        self.prepare("a", "0")
        self.prepare("b", "1:gi1:ci0", more=("--kind", "nvidia.com/gpu"))
        self.prepare("c", "1:gi2:ci0", more=("--node-numbers", "asked"))
        self.assertEqual(self.doctor(), [])
        # A spec of a claim is not the spec of the kind.
        done = self.run_prepare("doctor")
        self.assertIn("no spec for nvidia.com/gpu", done.stdout)

    def test_spec_is_missing(self):
        self.prepare("a", "0")
        spec = self.spec_path("a").read_bytes()
        self.spec_path("a").unlink()
        self.obey(self.only("claim a: its spec /var/run/cdi/cdi-prepare.local-claim_a.json is "
                            "missing"))
        self.assertEqual(self.spec_path("a").read_bytes(), spec)
        self.assertEqual(self.doctor(), [])

    def test_gpu_is_gone(self):
        self.prepare("a", "0")
        self.bind(FIRST_PCI, "nouveau")
        self.obey(self.only("claim a: device " + FIRST + ": bound to nouveau"), code=3)
        put_back = self.remove_gpu(FIRST_PCI)
        self.only("claim a: device " + FIRST + ": it is gone from this host")
        put_back()

    def test_numbers_have_changed(self):
        self.prepare("a", "0")
        self.edit("proc/devices", "510 nvidia-uvm", "511 nvidia-uvm")
        for name, minor in ("uvm", 0), ("uvm-tools", 1):
            self.edit("dev.tab", f"/dev/nvidia-{name} c 510 {minor}",
                      f"/dev/nvidia-{name} c 511 {minor}")
        advice = [advice for level, fact, advice in self.doctor()
                  if "claim a: its spec" in fact and level == "fault"
                  and "/dev/nvidia-uvm has numbers 510:0 there, and 511:0 now" in fact]
        self.assertEqual(len(advice), 1)
        self.obey(advice[0])
        self.assertEqual(self.doctor(), [])

    def test_numbers_have_changed_and_no_node_has_them(self):
        self.prepare("a", "0")
        self.edit("proc/devices", "510 nvidia-uvm", "511 nvidia-uvm")
        self.list(code=3)
        self.assertFalse(self.spec_path("a").exists())

    def test_spec_without_a_claim(self):
        self.prepare("a", "0")
        (self.state / "a.json").unlink()
        advice = self.only("/var/run/cdi/cdi-prepare.local-claim_a.json belongs to no claim of the "
                           "journal in /var/lib/cdi-prepare")
        self.obey(advice)
        self.assertFalse(self.spec_path("a").exists())

    def test_spec_of_another_journal(self):
        self.state, self.out = self.path("srv/its state"), self.path("etc/cdi")
        self.prepare("a", "0", more=("--node-numbers", "given"))
        self.assertEqual(self.doctor(), [])
        self.assertEqual(self.doctor("--state-dir", str(self.state)), [])
        shutil.rmtree(self.state)
        self.obey(self.only("belongs to no claim of the journal in /srv/its state"))
        self.assertFalse(self.spec_path("a").exists())

    def test_claim_that_is_damaged_or_unfinished(self):
        self.prepare("a", "0")
        journal = self.state / "a.json"
        text = journal.read_text()
        journal.write_text(text.replace('"prepared"', '"preparing"'))
        self.obey(self.only("claim a: a call for it was interrupted, or is still running", "note"))
        self.prepare("a", "0")
        journal.write_text("{")
        self.obey(self.only("claim a: /var/lib/cdi-prepare/a.json:1:2: not valid JSON"))
        self.assertEqual((self.doctor(), list(self.out.iterdir())), ([], []))

    def test_specs_that_do_not_belong_to_the_claim(self):
        """Each change of the spec file is found; the advice writes the spec again."""
        def replace(old, new):
            return lambda text: text.replace(old, new)
        cases = ((lambda text: "{", ":1:2: not valid JSON"),
                 (replace('"cdi-publisher/owner"', '"other/owner"'), "another program wrote its"),
                 (replace('"a-0"', '"b-0"'), "it has no device a-0"),
                 (replace('"major": 195', '"major": 196'), "has numbers 196:"))
        for number, (change, reason) in enumerate(cases):
            with self.subTest(reason=reason):
                self.prepare("a", "0")
                text = self.spec_path("a").read_text()
                self.assertNotEqual(change(text), text)
                self.spec_path("a").write_text(change(text))
                found = [what for level, what, _ in self.doctor() if level == "fault"]
                self.assertTrue(any(reason in what for what in found), (number, found))
                self.spec_path("a").unlink()
                self.unprepare("a")

    def test_spec_and_journal_that_are_no_files(self):
        self.prepare("a", "0")
        self.spec_path("a").unlink()
        self.spec_path("a").mkdir()
        self.assertTrue(any("claim a: " in what and "not a regular file" in what
                            for _, what, _ in self.doctor()))
        self.spec_path("a").rmdir()
        (self.state / "a.json").unlink()
        (self.state / "a.json").mkdir()
        self.only("claim a: /var/lib/cdi-prepare/a.json: not a regular file")
        shutil.rmtree(self.state)
        self.state.write_text("")
        self.state = self.place / "none"
        self.only("cannot read the journal: /var/lib/cdi-prepare: Not a directory", "note")

    def test_journal_that_is_not_on_the_host(self):
        self.state = self.place / "outside"
        self.prepare("a", "0")
        self.only(f"belongs to no claim of the journal in {self.state}")

    def test_engine_too_old_for_claims(self):
        self.prepare("a", "0")
        self.install(podman="4.3.1")
        done = json.loads(self.run_prepare("doctor", "-o", "json").stdout)["findings"]
        self.assertEqual([one["advice"] for one in done if "refuses" in one["what"]],
                         ["Update this engine: a spec of a claim needs CDI 0.6.0."])

    def test_spec_that_this_host_cannot_provide(self):
        self.prepare("a", "0")
        spec = read_spec(self.spec_path("a"))
        spec["containerEdits"]["mounts"].append({"hostPath": "/gone", "containerPath": "/gone"})
        self.spec_path("a").write_text(json.dumps(spec))
        found = [one for one in self.doctor() if '"/gone" is missing' in one[1]]
        self.assertIn("which rewrites the specs of claims", found[0][2])
        self.obey(found[0][2])
        self.assertEqual(self.doctor(), [])

    def test_engine_that_is_too_old(self):
        self.prepare("a", "0", more=("--max-version", "0.7.0"))
        self.install(podman="4.9.3+ds1-1")
        done = json.loads(self.run_prepare("doctor", "-o", "json").stdout)["findings"]
        advice = [one["advice"] for one in done if "refuses" in one["what"]]
        self.assertEqual(len(advice), 1)
        self.assertIn("A claim with an explicit version keeps it", advice[0])
        self.obey(advice[0])

    def test_function_that_cannot_be_read(self):
        (self.pci(FIRST_PCI) / "class").unlink()
        self.only("cannot read class, vendor and device of PCI function " + FIRST_PCI)

    def test_journal_is_outside(self):
        done = self.run_prepare("doctor", "--state-dir", str(self.place / "other"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("--state-dir", done.stderr)


if __name__ == "__main__":
    TreeTest.program = os.path.abspath(sys.argv[1])
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[2:]])
