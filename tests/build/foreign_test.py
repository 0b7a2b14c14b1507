#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests the headers and the conformance vectors on 32-bit and big-endian machines, and with musl.

It runs the unit tests where width and byte order matter most; compatibility.py runs all.
"""
import concurrent.futures
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from targets import TESTS, big_endian, in_one, musl, thirty_two_bit

VECTORS = sorted(path for path in (TESTS / "conformance").glob("*.json")
                 if path.name != "deviations.json")
UNIT_TESTS = """base/result apply/host files/signature files/text_file model/copy_as rules/name
text/document text/json nlohmann/models text/parse_json text/yaml/parse_yaml""".split()
THREADS = concurrent.futures.ThreadPoolExecutor(os.cpu_count())


def setUpModule():
    """Starts all jobs at once, the longest first; each test waits for its own."""
    folder = pathlib.Path(tempfile.mkdtemp())
    unittest.addModuleCleanup(shutil.rmtree, folder)
    unittest.addModuleCleanup(THREADS.shutdown, cancel_futures=True)
    cases = (ThirtyTwoBit, BigEndian, MuslLibc)
    wanted = []
    for case in cases:
        case.jobs = {}
        target = case.target
        if target.missing:
            continue
        (folder / case.__name__).mkdir()
        target.prepare(folder / case.__name__)
        for variant in target.variants:
            wanted.append((3, case, " ".join(("headers", *variant)), target.check, (variant,)))
        if target.link is None:
            continue
        wanted.append((0, case, "conformance", target.program, (
            "conformance", [TESTS / "conformance/conformance.cpp"], ("-O0",),
            ("--check", TESTS / "conformance/deviations.json", *VECTORS))))
        wanted.append((1, case, "no_exceptions", target.program, (
            "no_exceptions", [TESTS / "build/no_exceptions.cpp"],
            ("-fno-exceptions", "-fno-rtti"))))
        if case.test_units is None:
            continue
        # As one unit, because most of its time goes into the same headers.
        source = in_one(folder / case.__name__ / "units.cpp",
                        (TESTS / f"cdi/{name}_test.cpp" for name in UNIT_TESTS))
        wanted.append((1, case, "units", target.program, (
            "units", [source, TESTS / "support/main.cpp"], (f'-DCDI_TEST_DATA="{TESTS}/data"',),
            ("--no-version",))))
    for _, case, name, what, arguments in sorted(wanted, key=lambda one: one[0]):
        case.jobs[name] = THREADS.submit(what, *arguments)


class Foreign:
    def check(self, beginning):
        if self.target.missing:
            self.skipTest(self.target.missing)
        jobs = {name: job for name, job in self.jobs.items() if name.startswith(beginning)}
        if not jobs:
            self.skipTest(f"{type(self).__name__}: no libc++.a or libc.a is installed")
        for name, job in jobs.items():
            with self.subTest(name):
                done = job.result()
                self.assertTrue(done.good, (done.out + done.errors)[-3000:])

    def test_headers(self):
        self.check("headers")

    def test_core_and_json_without_exceptions(self):
        self.check("no_exceptions")

    def test_conformance(self):
        self.check("conformance")

    def test_units(self):
        self.check("units")


class ThirtyTwoBit(Foreign, unittest.TestCase):
    target = thirty_two_bit()


class BigEndian(Foreign, unittest.TestCase):
    target = big_endian()


class MuslLibc(Foreign, unittest.TestCase):
    target = musl()
    test_units = None  # musl changes neither this machine's width nor its byte order


if __name__ == "__main__":
    unittest.main(verbosity=2)
