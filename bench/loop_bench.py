#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures a contributor's loop, from an edit to the result of a header's own test.

usage: loop_bench.py [--all] [HEADER...]

HEADER is a path such as cdi/text/json.hpp. Without HEADER, of each folder the header with the
longest test is measured; --all measures all headers that have a test. For each header, the script
touches the file, builds its test in build/loop and runs it. It prints elapsed seconds, processor
seconds of all that ran, and the header, the slowest last.

build/loop is set up with clang++ if it is missing, as CONTRIBUTING.md advises. ccache is switched
off. Elapsed seconds depend on what else the machine does.
"""
import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

PROJECT = pathlib.Path(__file__).resolve().parents[1]
BUILD = PROJECT / "build/loop"
INCLUDE = PROJECT / "include/cdi"
TESTS = PROJECT / "tests/cdi"
SET_UP = ["meson", "setup", "build/loop", "-Dwerror=true", "-Dheader_only=true", "-Ddebug=false",
          "-Dtests=enabled"]


def test_of(header):
    """The source of a header's own test."""
    path = header.relative_to(INCLUDE)
    return TESTS / path.parent / f"{path.stem}_test.cpp"


def tested_headers():
    return [path for path in sorted(INCLUDE.rglob("*.hpp")) if test_of(path).exists()]


def with_longest_tests():
    """One header of each folder."""
    longest = {}
    for header in tested_headers():
        lines = len(test_of(header).read_text(encoding="utf-8").splitlines())
        if lines > longest.get(header.parent, (0, None))[0]:
            longest[header.parent] = lines, header
    return [header for _, header in longest.values()]


def run(*command):
    done = subprocess.run(command, cwd=PROJECT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False,
                          env={**os.environ, "CCACHE_DISABLE": "1"})
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout[-3000:]}")


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(header):
    """Elapsed and processor seconds of one loop. The test was built before."""
    name = str(test_of(header).relative_to(TESTS)).removesuffix("_test.cpp").replace("/", "_")
    program = f"tests/test-{name}"
    run("ninja", "-C", str(BUILD), program)
    elapsed, processor = time.monotonic(), processor_seconds()
    header.touch()
    run("ninja", "-C", str(BUILD), program)
    run(str(BUILD / program), "--no-version", "--minimal")
    return time.monotonic() - elapsed, processor_seconds() - processor


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="*", metavar="HEADER")
    parser.add_argument("--all", action="store_true", help="measure all headers with a test")
    given = parser.parse_args()
    headers = [PROJECT / "include" / name for name in given.headers]
    unknown = [str(path) for path in headers if not path.exists() or not test_of(path).exists()]
    if unknown:
        parser.error(f"no header with a test: {', '.join(unknown)}")
    if not headers:
        headers = tested_headers() if given.all else with_longest_tests()
    if not (BUILD / "build.ninja").exists():
        os.environ.setdefault("CXX", shutil.which("clang++") or "g++")
        run(*SET_UP)
    rows = []
    for number, header in enumerate(headers, 1):
        rows.append((*measure(header), header.relative_to(INCLUDE.parent)))
        print(f"{number} of {len(headers)}: {rows[-1][2]}", file=sys.stderr, flush=True)
    print("elapsed processor header")
    for elapsed, processor, header in sorted(rows):
        print(f"{elapsed:7.1f} {processor:9.1f} {header}")


if __name__ == "__main__":
    main()
