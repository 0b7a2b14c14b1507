#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests the tools when system calls fail: faults_test.py FAULTS CDI CDI_PREPARE [unittest options].
FAULTS is the library built from faults.cpp, or "none" if it cannot be built. The seeds are always
the same; CDI_FULL=1 tests twenty times as many."""
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from claim_node import ClaimNode, files  # noqa: E402

FAULTS, CDI, PREPARE = (name if name == "none" else os.path.abspath(name) for name in sys.argv[1:4])

ALL_CALLS = "open read write stat rename unlink mkdir sync mode lock list random notify short twice"
HARMLESS = ("random", "short", "twice")  # the programs must succeed in spite of these
# Calls that also read the host. The programs cannot distinguish a file that they failed to read from
# a missing one: the spec is then valid, but does not match the node.
HOST_CALLS = ("open", "read", "stat", "list", ALL_CALLS)
SEEDS = range(34 * (20 if os.environ.get("CDI_FULL") == "1" else 1))
SPEC = """cdiVersion: 0.6.0
kind: vendor.com/{0}
devices:
- {{name: one, containerEdits: {{env: [ONE={0}]}}}}
- {{name: two, containerEdits: {{env: [TWO={0}]}}}}
"""
CONFIG = '{\n  "ociVersion": "1.0.2",\n  "process": {"cwd": "/", "env": ["A=1"]}\n}\n'


def faults():
    """The calls that fail, and the environment that makes them fail, for each seed."""
    kinds = [*ALL_CALLS.split(), ALL_CALLS]
    for seed in SEEDS:
        kind = kinds[seed % len(kinds)]
        yield kind, {"FAULT_CALLS": kind, "FAULT_SEED": str(seed),
                     "FAULT_ONE_IN": str((2, 7, 25)[seed // len(kinds) % 3])}


class FaultTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="cdi-faults-")
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.place.chmod(0o755)
        if FAULTS == "none":
            self.skipTest("calls cannot be made to fail with sanitizers or without glibc")
        self.specs = self.place / "specs"
        self.specs.mkdir(0o755)
        probe = self.run_tool([CDI, "-d", str(self.specs), "devices"],
                              {"FAULT_CALLS": "list", "FAULT_ONE_IN": "1"})
        if "cannot list the directory" not in probe.stderr:
            self.skipTest("the programs do not load the library: are they linked statically?")

    def run_tool(self, command, fault=None):
        """Runs a program, which may fail, but must not crash, hang, or fail without a message."""
        environment = {**os.environ, **fault, "LD_PRELOAD": FAULTS} if fault else None
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30,
                              check=False)
        self.assertIn(done.returncode, range(100), done.stderr)
        if done.returncode != 0:
            self.assertNotEqual(done.stdout + done.stderr, "")
        return done

    def run_well(self, command):
        done = self.run_tool(command)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def check_specs(self, directory):
        """Checks that all spec files of a directory are valid."""
        for path in directory.iterdir() if directory.exists() else []:
            if path.suffix in (".json", ".yaml"):
                self.run_well([CDI, "validate", str(path)])


class Library(FaultTest):
    """Reads specs and writes configs."""

    def setUp(self):
        super().setUp()
        for name in ("a", "b", "c"):
            (self.specs / f"{name}.yaml").write_text(SPEC.format(name))
        other = self.place / "linked.yaml"
        other.write_text(SPEC.format("linked"))
        (self.specs / "linked.yaml").symlink_to(other)

    def test_lost_devices_are_reported(self):
        command = [CDI, "-d", str(self.specs), "devices"]
        names = set(self.run_well(command).stdout.split())
        self.assertEqual(len(names), 8)
        for calls, fault in faults():
            with self.subTest(**fault):
                done = self.run_tool(command, fault)
                found = done.stdout.split()
                self.assertEqual(len(found), len(set(found)))
                self.assertLessEqual(set(found), names)
                if set(found) != names:
                    self.assertNotEqual(done.stderr, "")
                    self.assertNotIn(calls, HARMLESS)

    def test_config_in_place_is_the_old_or_the_new_one(self):
        directory = self.place / "bundle"
        directory.mkdir()
        config = directory / "config.json"
        command = [CDI, "-d", str(self.specs), "inject", "--in-place", str(config),
                   "vendor.com/a=one"]
        config.write_text(CONFIG)
        self.run_well(command)
        new = config.read_text()
        self.assertIn("ONE=a", new)
        for calls, fault in faults():
            config.write_text(CONFIG)
            config.chmod(0o640)
            with self.subTest(**fault):
                done = self.run_tool(command, fault)
                self.assertIn(config.read_text(), (CONFIG, new))
                self.assertEqual(config.read_text() == new,
                                 done.returncode == 0 or "the file was changed, but" in done.stderr)
                if calls in HARMLESS:
                    self.assertEqual(done.returncode, 0)
                config.write_text(CONFIG)
                self.run_well(command)
                self.assertEqual(config.read_text(), new)
                self.assertEqual(stat.S_IMODE(config.stat().st_mode), 0o640)
                self.assertEqual(os.listdir(directory), ["config.json"])


class Prepare(ClaimNode, FaultTest):
    """Writes specs and claims."""

    def setUp(self):
        super().setUp()
        self.make_node(self.place, PREPARE)

    def test_specs_stay_valid_and_the_next_write_corrects_them(self):
        self.run_well(self.command("write"))
        name, = files(self.out)
        new = (self.out / name).read_text()
        old = new.replace("renderD128", "renderD199")
        self.assertNotEqual(old, new)
        for calls, fault in faults():
            with self.subTest(**fault):
                (self.out / name).write_text(old)
                done = self.run_tool(self.command("write"), fault)
                self.check_specs(self.out)
                if calls not in HOST_CALLS:
                    self.assertIn((self.out / name).read_text(), (old, new))
                    self.assertEqual((self.out / name).read_text() == new,
                                     done.returncode == 0 or
                                     "the file was changed, but" in done.stderr)
                self.run_well(self.command("write"))
                self.assertEqual((self.out / name).read_text(), new)
                self.assertEqual(files(self.out), [name])

    def check_gone(self, uid):
        """Unprepares a claim, and checks that no file of it is left."""
        done = self.run_well(self.command("unprepare", "--claim", uid))
        self.assertEqual(json.loads(done.stdout), {"claims": {uid: {}}})
        self.assertEqual(json.loads(self.run_well(self.command("list", "-o", "json")).stdout),
                         {"version": 1, "claims": {}})
        self.assertEqual(files(self.out), [])
        self.assertEqual(files(self.state), [".lock"])

    def test_claim_exists_after_prepare_succeeds(self):
        command = self.command("prepare", "--claim", "a", "--device", "0")
        self.run_well(command)
        spec, = files(self.out)
        self.check_gone("a")
        for calls, fault in faults():
            with self.subTest(**fault):
                done = self.run_tool(command, fault)
                self.check_specs(self.out)
                if done.returncode == 0 and calls not in HOST_CALLS:
                    claims = json.loads(self.run_well(self.command("list", "-o", "json")).stdout)
                    self.assertIsNone(claims["claims"]["a"]["fault"])
                    self.assertEqual(files(self.out), [spec])
                elif done.returncode != 0:
                    self.assertNotIn(calls, HARMLESS)
                self.check_gone("a")

    def test_claim_is_gone_after_unprepare_succeeds(self):
        for calls, fault in faults():
            self.run_well(self.command("prepare", "--claim", "a", "--device", "0"))
            with self.subTest(**fault):
                done = self.run_tool(self.command("unprepare", "--claim", "a"), fault)
                self.check_specs(self.out)
                if done.returncode == 0:
                    left = [name for name in files(self.out) + files(self.state)
                            if name.endswith(".json")]
                    self.assertEqual(left, [])
                else:
                    self.assertNotIn(calls, HARMLESS)
            self.check_gone("a")


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[4:]])
