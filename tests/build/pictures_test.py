#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The pictures of docs/ can be read: all text is in its box, and nothing is painted over."""
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import geometry  # noqa: E402

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = sorted((PROJECT / "docs").rglob("*.svg"))


class Pictures(unittest.TestCase):
    def test_each_can_be_read(self):
        self.assertTrue(PICTURES)
        for picture in PICTURES:
            with self.subTest(picture.name):
                svg = picture.read_text(encoding="utf-8")
                self.assertEqual(geometry.faults(svg), [])
                self.assertIn("prefers-color-scheme: dark", svg)

    def test_charts_show_the_table(self):
        charts = PROJECT / "bench/charts.py"
        done = subprocess.run([sys.executable, charts, "--check"], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


class Geometry(unittest.TestCase):
    def faults(self, *elements):
        """What is wrong with a picture of one box and more elements."""
        return geometry.faults(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 100"><style>'
            'text { font: 10px sans-serif } .mono { font: 10px monospace }</style>'
            '<rect x="10" y="10" width="100" height="40"/>' + "".join(elements) + "</svg>")

    def assert_fault(self, words, *elements):
        self.assertEqual([fault.partition(":")[0] for fault in self.faults(*elements)], [words])

    def test_a_good_picture_has_no_fault(self):
        self.assertEqual(self.faults(
            '<text x="14" y="24">a box</text>', '<text class="mono" x="14" y="40">a_name</text>',
            '<rect x="200" y="10" width="90" height="20"/>', '<path d="M110,20 H200"/>',
            '<path d="M110,30 H150 V70 H290"/>', '<text x="120" y="90">beside</text>'), [])

    def test_text_stays_in_its_box(self):
        self.assert_fault("out of its box", f'<text x="14" y="24">{"wide " * 6}</text>')
        self.assert_fault("out of its box", f'<text class="mono" x="14" y="24">{"i" * 20}</text>')
        self.assert_fault("out of its box", '<text x="14" y="49">too low, y</text>')
        self.assert_fault("out of its box",
                          '<text x="14" y="24">a <tspan class="mono">longer_name_here</tspan></text>')
        self.assert_fault("out of its box",
                          '<text x="100" y="24" text-anchor="middle">centred</text>')

    def test_nothing_is_painted_over(self):
        self.assert_fault("overlap", '<rect x="100" y="40" width="50" height="50"/>')
        self.assert_fault("two texts in one place", '<text x="14" y="24">one</text>',
                          '<text x="20" y="27">two</text>')
        self.assert_fault("an arrow through a box", '<path d="M5,5 V30 H50"/>')
        self.assert_fault("an arrow through a text", '<text x="150" y="24">one</text>',
                          '<path d="M155,5 V60"/>')

    def test_arrows_are_apart(self):
        arrow = '<path d="M110,20 H200 V80"/>'
        self.assertEqual(self.faults(arrow, '<path d="M110,40 H150 V60"/>'), [])
        self.assertEqual(self.faults(arrow, '<path d="M110,60 H290"/>'), [])  # they cross
        self.assert_fault("two arrows in one place", arrow, '<path d="M150,22 H250"/>')
        self.assert_fault("two arrows in one place", arrow, '<path d="M197,90 V70"/>')

    def test_all_is_inside_of_the_picture(self):
        self.assert_fault("outside of the picture", '<text x="280" y="80">outside</text>')
        self.assert_fault("outside of the picture", '<rect x="200" y="80" width="50" height="50"/>')


if __name__ == "__main__":
    unittest.main(verbosity=2)
