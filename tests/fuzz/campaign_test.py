#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A campaign adds up what its targets did, ends a target that failed, and reports findings."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CAMPAIGN = pathlib.Path(__file__).resolve().parent / "campaign.py"
# A target prints what libFuzzer prints, after a quarter of a processor second.
TARGET = f"""#!{sys.executable}
import sys, time
while time.process_time() < 0.25: pass
print("#9 INITED cov: 5")
print("#20 DONE cov: 12")
print("stat::number_of_executed_units: 100")
"""
CRASH = """
where = [word.partition("=")[2] for word in sys.argv if word.startswith("-artifact_prefix=")][0]
open(where + "crash-0a1b", "w").close()
sys.exit(77)
"""


class CampaignTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def add_target(self, name, rest=""):
        program = self.folder / name
        program.write_text(TARGET + rest, encoding="utf-8")
        program.chmod(0o755)
        (self.folder / f"{name}.dict").touch()

    def start(self, *arguments):
        return subprocess.Popen([sys.executable, CAMPAIGN, self.folder, *arguments], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_campaign(self, *arguments):
        with self.start(*arguments) as campaign:
            out, err = campaign.communicate()
        return campaign.returncode, out, err

    def totals(self):
        return json.loads((self.folder / "totals.json").read_text(encoding="utf-8"))

    def test_rounds_add_up_to_the_seconds(self):
        self.add_target("a")
        code, out, _ = self.run_campaign("1")
        self.assertEqual(code, 0)
        total = self.totals()["a"]
        self.assertGreaterEqual(total["seconds"], 1)
        self.assertIn(total["inputs"], (100, 200, 300, 400))  # a start takes processor time, too
        self.assertEqual(total["places"], 12)
        self.assertEqual(out, f"| a | {total['seconds']:.0f} | {total['inputs']} | 12 | 0 |\n")

    def test_campaigns_at_once_lose_nothing(self):
        names = ["a", "b", "c"]
        for name in names:
            self.add_target(name)
        campaigns = [self.start("1", name) for name in names]
        for campaign in campaigns:
            with campaign:
                self.assertEqual(campaign.wait(), 0)
        self.assertEqual(sorted(self.totals()), names)
        first = self.totals()["a"]
        self.run_campaign("1", "a")
        again = self.totals()["a"]
        self.assertGreaterEqual(again["seconds"], first["seconds"] + 1)
        self.assertGreater(again["inputs"], first["inputs"])

    def test_a_finding_ends_its_target_and_fails_the_campaign(self):
        self.add_target("bad", CRASH)
        self.add_target("good")
        code, out, _ = self.run_campaign("1")
        self.assertEqual(code, 1)
        self.assertEqual(self.totals()["bad"]["inputs"], 100)
        self.assertIn(" | 100 | 12 | 1 |", out)
        self.assertGreaterEqual(self.totals()["good"]["seconds"], 1)

    def test_a_target_that_fails_without_a_finding_shows_why(self):
        self.add_target("broken", "sys.exit('no such option')")
        code, _, err = self.run_campaign("1")
        self.assertNotEqual(code, 0)
        self.assertIn("broken failed:", err)
        self.assertIn("no such option", err)
        self.assertFalse((self.folder / "totals.json").exists())

    def test_usage(self):
        for arguments in (), ("soon",):
            code, _, err = self.run_campaign(*arguments)
            self.assertEqual(code, 2)
            self.assertIn("campaign.py FOLDER SECONDS", err)


if __name__ == "__main__":
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    unittest.main()
