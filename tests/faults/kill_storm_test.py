#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Kills the tools at random moments, several at a time: kill_storm_test.py CDI CDI_PREPARE [unittest
options]. Takes some seconds; with CDI_FULL=1, some minutes."""
import json
import os
import pathlib
import random
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
from claim_node import ClaimNode, files  # noqa: E402

CDI, PREPARE = map(os.path.abspath, sys.argv[1:3])
SECONDS = 180 if os.environ.get("CDI_FULL") == "1" else 5  # for each storm

SPEC = """cdiVersion: 0.6.0
kind: vendor.com/x
devices:
- {name: one, containerEdits: {env: [ONE=1]}}
"""
CONFIG = '{\n  "ociVersion": "1.0.2",\n  "process": {"cwd": "/", "env": ["A=1"]}\n}\n'


class Storm(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="cdi-storm-")
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.place.chmod(0o755)
        self.chance = random.Random(1)
        self.duration = 1.0  # seconds of the shortest call

    def run_well(self, command):
        begin = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        self.duration = min(self.duration, time.monotonic() - begin)
        self.assertEqual(done.returncode, 0, (command, done.stdout + done.stderr))
        return done

    def kill_some(self, commands):
        """Runs commands at the same time, and kills each at a random moment, which may be after its
        end. Returns how many were killed."""
        running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                   for command in commands]
        for process in running:
            time.sleep(self.chance.uniform(0, 1.5 * self.duration / len(running)))
            process.kill()
        return sum(process.wait() < 0 for process in running)

    def storm(self, commands, check):
        """Runs and kills the commands that `commands()` returns, and checks after each round."""
        end = time.monotonic() + SECONDS
        killed = number = 0
        while time.monotonic() < end or number < 10:
            killed += self.kill_some(commands())
            check()
            number += 1
        self.assertGreater(killed, 0)
        print(f"{killed} killed in {number} rounds", file=sys.stderr)


class Config(Storm):
    """Kills `cdi inject --in-place`."""

    def test_config_in_place(self):
        specs, bundle = self.place / "specs", self.place / "bundle"
        specs.mkdir(0o755)
        bundle.mkdir(0o755)
        (specs / "x.yaml").write_text(SPEC)
        config = bundle / "config.json"
        command = [CDI, "-d", str(specs), "inject", "--in-place", str(config), "vendor.com/x=one"]
        config.write_text(CONFIG)
        config.chmod(0o640)
        self.run_well(command)
        new = config.read_text()

        def commands():
            config.write_text(CONFIG)
            return [command] * self.chance.randint(1, 2)

        def check():
            self.assertIn(config.read_text(), (CONFIG, new))
            self.assertEqual(stat.S_IMODE(config.stat().st_mode), 0o640)
        self.storm(commands, check)
        self.run_well(command)
        self.assertEqual(config.read_text(), new)
        self.assertEqual(files(bundle), ["config.json"])


class Node(ClaimNode, Storm):
    """Kills the commands of cdi-prepare."""

    def setUp(self):
        super().setUp()
        self.make_node(self.place, PREPARE)

    def specs(self):
        """Checks that all spec files are valid, and returns their names."""
        names = [name for name in files(self.out) if name.endswith((".json", ".yaml"))]
        if names:
            self.run_well([CDI, "validate", *(str(self.out / name) for name in names)])
        return names

    def test_specs(self):
        self.run_well(self.command("write"))
        name, = files(self.out)
        new = (self.out / name).read_text()

        def commands():
            if self.chance.random() < 0.5:
                (self.out / name).unlink(missing_ok=True)
            else:
                (self.out / name).write_text(new.replace("renderD128", "renderD199"))
            return [self.command("write")] * self.chance.randint(1, 2)
        self.storm(commands, self.specs)
        self.run_well(self.command("write"))
        self.assertEqual((self.out / name).read_text(), new)
        self.assertEqual(files(self.out), [name])

    def test_claims(self):
        """The journal, the list and the specs have the same claims, and no device is in two
        claims."""
        claims = ("a", "b", "c")

        def one_call():
            uid = self.chance.choice(claims)
            if self.chance.random() < 0.4:
                return self.command("unprepare", "--claim", uid)
            return self.command("prepare", "--claim", uid, "--device", self.chance.choice("01"))

        def check():
            listed = json.loads(self.run_well(self.command("list", "-o", "json")).stdout)["claims"]
            taken = [device["device_name"] for claim in listed.values()
                     for device in claim["devices"]]
            self.assertEqual(len(taken), len(set(taken)), listed)
            self.assertEqual({claim["fault"] for claim in listed.values()} - {None}, set())
            journal = [name for name in files(self.state) if not name.startswith(".")]
            self.assertEqual(journal, [f"{uid}.json" for uid in sorted(listed)])
            self.assertEqual(self.specs(),
                             [f"cdi-prepare.local-claim_{uid}.json" for uid in sorted(listed)])
        self.storm(lambda: [one_call() for _ in range(self.chance.randint(1, 3))], check)
        for uid in claims:
            self.run_well(self.command("unprepare", "--claim", uid))
        self.assertEqual(files(self.out), [])
        self.assertEqual(files(self.state), [".lock"])


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[3:]])
