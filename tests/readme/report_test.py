#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What `tests/run.sh --readme` prints: report_test.py [unittest options]"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(PROJECT / "bench"))
import statements  # noqa: E402  pylint: disable=wrong-import-position
import table  # noqa: E402  pylint: disable=wrong-import-position

ROW = "1000 files: load"


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cdi-report-")
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        (self.place / "meson-logs").mkdir()
        (self.place / "meson-logs/testlog.json").write_text(
            json.dumps({"name": "cdi:unit / readme", "result": "OK"}) + "\n")

    def measured(self, *times):
        """The row of the figures after rounds in which ours took these times, and Go twice as long."""
        for number, time in enumerate(times):
            for program, factor in (("ours", 1), ("go-1.1.2", 2)):
                (self.place / f"{program}.{number}").write_text(f"load_1000 {time * factor}\n")
        row, = table.measured(self.place)
        self.assertEqual(row["row"], ROW)
        return row

    def report(self, row, expected=0):
        figures = self.place / "figures.json"
        figures.write_text(json.dumps({"versions": ["2 processors, load 3.1"], "table": [row]}))
        done = subprocess.run([sys.executable, PROJECT / "tests/readme/statements.py", "--report",
                               self.place, figures], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (expected, ""))
        return done.stdout.splitlines()

    def test_it_begins_with_the_rounds_and_the_load(self):
        first, *_ = self.report(self.measured(2000.0))
        self.assertIn("measured in 1 round,", first)
        self.assertIn("load 3.1", first)
        self.assertIn("measured in 2 rounds,", self.report(self.measured(2000.0, 2000.0))[0])

    def test_a_line_that_is_cut_ends_in_points(self):
        page = (PROJECT / "README.md").read_text(encoding="utf-8")
        whole = {" ".join(unit.split()) for unit in statements.units(page)}
        said = [line.removeprefix("tested").strip()
                for line in self.report(self.measured(2000.0)) if line.startswith("tested ")]
        self.assertTrue(any(text.endswith("...") for text in said))
        self.assertTrue(any(text in whole for text in said))
        for text in said:
            self.assertLessEqual(len(text), 88)
            self.assertTrue(text in whole or text.endswith("..."), text)

    def test_it_ends_with_the_sentences_whose_tests_failed(self):
        (self.place / "meson-logs/testlog.json").write_text(
            json.dumps({"name": "cdi:unit / conformance", "result": "FAIL"}) + "\n")
        said = self.report(self.measured(2000.0), expected=1)
        failed = [line.removeprefix("FAILED").strip() for line in said if line.startswith("FAILED ")]
        self.assertGreater(len(failed), 1)
        self.assertEqual(said[-len(failed):],
                         [f"its test failed: {text}" for text in failed])

    def test_one_round_has_no_least_and_most(self):
        self.assertEqual(table.cell(self.measured(2000.0), "ours"), "2.0 ms")
        self.assertEqual(table.cell(self.measured(2000.0, 2000.0), "ours"), "2.0 ms [2.0..2.0]")
        self.assertEqual(table.cell(self.measured(2000.0, 3000.0), "Go 1.1.2"), "2.0 [2.0..2.0]")

    def test_a_small_ratio_is_not_zero(self):
        self.assertEqual([table.digits(number) for number in (0.0012, 0.012, 0.12, 1.2, 12.3)],
                         ["0.0012", "0.01", "0.12", "1.2", "12"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
