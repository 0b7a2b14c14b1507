#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds the compiled library and all unit tests with many compilers and libraries, and runs them.

usage: compatibility.py [--build DIR] [--jobs N] [--rest | --none] [--write] [NAME...]

A NAME is a row of ROWS; without names, all rows run. A row that cannot run says why. DIR keeps the
results: --rest runs only the rows without one that passed, --none runs no row, and --write puts all
results into docs/install.md. CDI_NLOHMANN is a folder with versions of nlohmann_json, such as
3.11.0/nlohmann/json.hpp.

As a test (--skip-unless-full), it runs only with CDI_FULL=1.
"""
import argparse
import datetime
import functools
import json
import os
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from evidence import write_table  # noqa: E402  pylint: disable=wrong-import-position
from targets import (PROJECT, TESTS, Native, Newest, Unit, Zig, big_endian, in_one,  # noqa: E402
                     musl_with_library, thirty_two_bit)

LIBCXX = "-stdlib=libc++"
TIMEOUT = 7200  # seconds, also for an emulator on a machine with other work
OF_GXX, OF_CLANG = ("g++", "libstdc++", "glibc"), ("clang", "libstdc++", "glibc")
OF_LIBCXX, OF_ZIG = ("clang", "libc++", "glibc"), ("zig, clang", "libc++", "musl")
# Each row: what makes its target, the machine, and what the table says until the row has run: the
# compiler, the standard library and the C library.
ROWS = {
    "g++-11": (functools.partial(Native, "g++-11", json="3.11.0"), "x86-64", OF_GXX),
    "g++-12": (functools.partial(Native, "g++-12"), "x86-64", OF_GXX),
    "newest-g++": (functools.partial(Newest, "g++"), "x86-64", OF_GXX),
    "clang++-13": (functools.partial(Native, "clang++-13", json="3.12.0"), "x86-64", OF_CLANG),
    "clang++-14-libc++": (functools.partial(Native, "clang++-14", LIBCXX), "x86-64", OF_LIBCXX),
    "clang++-22": (functools.partial(Native, "clang++-22", json="3.12.0"), "x86-64", OF_CLANG),
    "newest-clang++": (functools.partial(Newest, "clang++", packages=["g++"]), "x86-64", OF_CLANG),
    "newest-clang++-libc++": (functools.partial(
        Newest, "clang++", LIBCXX, packages=["libc++-*-dev", "libc++abi-*-dev"]), "x86-64",
                              OF_LIBCXX),
    "musl": (musl_with_library, "x86-64", ("g++", "libstdc++", "musl")),
    "zig-musl": (functools.partial(Zig, "x86_64-linux-musl"), "x86-64", OF_ZIG),
    "zig-musl-arm": (functools.partial(Zig, "arm-linux-musleabihf", "qemu-arm"),
                     "arm, 32 bits, emulated", OF_ZIG),
    "zig-musl-aarch64": (functools.partial(Zig, "aarch64-linux-musl", "qemu-aarch64"),
                         "aarch64, emulated", OF_ZIG),
    "i686": (thirty_two_bit, "i686, 32 bits", OF_GXX),
    "s390x": (big_endian, "s390x, big endian, emulated", OF_GXX),
}
HEAD = ["| compiler | standard library | C library | machine | nlohmann_json | unit tests | date |",
        "|---|---|---|---|---|---|---|"]
COMMAND = "tests/build/compatibility.py --write"
PROBE = """#include <cstdlib>
#include <nlohmann/json.hpp>
found clang? __clang__
found compiler __VERSION__
found libstdc++ _GLIBCXX_RELEASE
found libc++ _LIBCPP_VERSION
found glibc __GLIBC__.__GLIBC_MINOR__
found json NLOHMANN_JSON_VERSION_MAJOR.NLOHMANN_JSON_VERSION_MINOR.NLOHMANN_JSON_VERSION_PATCH
"""


def versions(target):
    """What the preprocessor of a target says about its compiler and libraries."""
    done = Unit("", [*target.command, "-E", "-P", "-x", "c++", "-"], PROBE).run()
    assert done.good, done.errors[-2000:]
    found = {name: re.sub(r"\s", "", text)
             for name, text in re.findall(r"^found (\S+) (.*)$", done.out, re.M)}
    number = re.search(r"\d+(\.\d+)+", found["compiler"])[0]
    name = "clang" if found["clang?"] == "1" else "g++"
    if isinstance(target, Zig):
        name = f"zig {Unit('', [target.compiler[0], 'version']).run().out.strip()}, clang"
    library = f"libstdc++ {found['libstdc++']}"
    if found["libc++"].isdigit():
        digits = int(found["libc++"])
        library = f"libc++ {digits // (10_000 if digits >= 100_000 else 1_000)}"
    libc = "musl" if "_" in found["glibc"] else f"glibc {found['glibc']}"
    return [f"{name} {number}", library, libc, found["json"]]


def run_tests(target, folder, jobs):
    """Builds the library and the unit tests, a unit for each folder; returns the result, as one
    line."""
    target.run = ("timeout", str(TIMEOUT), *target.run)
    # With clang 22, doctest numbers by lines, which are the same in several files of a unit.
    numbers = "-DDOCTEST_COUNTER=__COUNTER__"
    parts = [in_one(folder / f"units_{part.name}.cpp", sorted(part.rglob("*_test.cpp")))
             for part in sorted((TESTS / "cdi").iterdir()) if part.is_dir()]
    unit = target.program("units", [PROJECT / "src/library.cpp", *parts,
                                    TESTS / "support/main.cpp"],
                          ("-O0", "-DCDI_COMPILED", numbers, f'-DCDI_TEST_DATA="{TESTS}/data"'),
                          ["--no-version"], jobs)
    text = unit.out + unit.errors
    (folder / "output.txt").write_text(text, encoding="utf-8")
    found = re.search(r"test cases: *(\d+) *\| *(\d+) passed", text)
    if unit.code == 124:
        return f"failed: not done after {TIMEOUT // 60} minutes"
    if found is None:
        return "failed: " + next(iter(re.findall(r"error: .*", text)), f"see {folder}/output.txt")
    if not unit.good or found[1] != found[2] or found[1] == "0":
        return f"failed: {found[2]} of {found[1]} pass, exit code {unit.code}"
    return f"{found[1]} pass"


def run_row(name, build, jobs):
    """The cells of a row, after its tests have run."""
    make, machine, _ = ROWS[name]
    target = make()
    if target.missing:
        return {"result": f"not run: {target.missing}"}
    folder = build / name
    folder.mkdir(exist_ok=True)
    try:
        target.prepare(folder)
    except OSError as error:
        return {"result": f"not run: {error}"}
    compiler, library, libc, json_version = versions(target)
    result = run_tests(target, folder, jobs)
    return {"cells": [compiler, library, libc, machine, json_version], "result": result,
            "date": str(datetime.date.today())}


def table(results):
    """The lines of the table; a row that did not run says so."""
    lines = list(HEAD)
    for name, (_, machine, versionless) in ROWS.items():
        row = results.get(name, {"result": "not run"})
        cells = row.get("cells", [*versionless, machine, ""])
        lines.append("| " + " | ".join([*cells, row["result"], row.get("date", "")]) + " |")
    return lines


def stored(path):
    """The results in a file, by the name of the row."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def run_rows(names, build, jobs, rest):
    """Runs rows and stores each result; returns the new results, and all."""
    path = build / "results.json"
    done = []
    for name in names:
        if rest and re.fullmatch(r"\d+ pass", stored(path).get(name, {}).get("result", "")):
            continue
        row = run_row(name, build, jobs)
        done.append(row["result"])
        print(f"{name}: {done[-1]}", flush=True)
        path.write_text(json.dumps({**stored(path), name: row}, indent=1), encoding="utf-8")
    return done, stored(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--rest", action="store_true")
    which.add_argument("--none", action="store_true")
    parser.add_argument("--write", action="store_true", help="write the table into docs/install.md")
    parser.add_argument("--skip-unless-full", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("rows", nargs="*", default=list(ROWS), metavar="NAME")
    given = parser.parse_args()
    if unknown := set(given.rows) - set(ROWS):
        parser.error(f"unknown row: {', '.join(sorted(unknown))}; the rows are {', '.join(ROWS)}")
    if given.skip_unless_full and os.environ.get("CDI_FULL") != "1":
        print("skipped 'other compilers run all unit tests only with CDI_FULL=1'")
        return 77
    with tempfile.TemporaryDirectory(prefix="cdi-compatibility-") as folder:
        build = (given.build or pathlib.Path(folder)).resolve()
        build.mkdir(parents=True, exist_ok=True)
        rows = [] if given.none else given.rows
        done, results = run_rows(rows, build, given.jobs, given.rest)
    if given.write:
        write_table("compatibility", COMMAND, table(results), "install.md")
    if done and all(one.startswith("not run") for one in done):
        return 77
    return int(any(one.startswith("failed") for one in done))


if __name__ == "__main__":
    sys.exit(main())
