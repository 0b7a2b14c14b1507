#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures what headers and typical programs cost to compile: compile_bench.py [UNIT...]

A unit is a header, such as cdi/spec.hpp, which stands for a file that only includes it, a source of
the compiled library, such as src/library.cpp, or one of PROGRAMS. Without UNIT, all are
measured. UNIT:compiled is the same with CDI_COMPILED, where a
library has the bodies. The table has a row for each unit, compiler and level of optimisation:

  seconds        processor time of the compiler, the minimum of --runs
  RSS            peak memory of the compiler, in MiB
  object         size of the object file, in KiB, without debug information
  MiB            memory that g++ allocated, as it reports
  instantiations classes and functions that clang++ instantiated from templates

Seconds depend on the machine and its load; MiB and instantiations do not.
"""
import argparse
import contextlib
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(PROJECT / "tests/build"))
from toolchain import CLANGXX, GXX, HEADERS, INCLUDE, includes  # noqa: E402

COMPILERS = {"g++": GXX, "clang++": CLANGXX}
PROGRAMS = {
    "own_type": "examples/own_type.cpp",  # an OCI type of the user's, with the core only
    "core": "packaging/test_package/core.cpp",  # our OCI type, with the core only
    "inject": "examples/inject.cpp",  # JSON text, with a cache
    "json_document": "bench/programs/json_document.cpp",  # the same with a JSON document
    "oci_json": "bench/programs/oci_json.cpp",  # our OCI type from JSON text and back
    "spec_file": "bench/programs/spec_file.cpp",  # reads a spec file
    "facade": "bench/programs/facade.cpp",  # JSON text, with one function
    "nlohmann": "bench/programs/nlohmann.cpp",  # reads and writes JSON like `json_document`, without cdi
}
LIBRARY = ["src/library.cpp", *sorted(
    str(path.relative_to(PROJECT)) for path in (PROJECT / "src/library").glob("*.cpp"))]
COMPILED = ":compiled"
UNITS = [*HEADERS, *PROGRAMS]
UNITS += [unit + COMPILED for unit in UNITS] + LIBRARY
COLUMNS = ("unit", "compiler", "level", "seconds", "RSS", "object", "MiB", "instantiations")
PAGE = PROJECT / "docs/headers.md"
ROW = re.compile(r"^(\| `(cdi/\S+)` \| .* \| .*? ?\|) \S+ \| \S+ \| \S+ \|$", re.M)

# By default, the memory of the machine decides when g++ collects garbage, which changes its count a
# little.
COLLECT = ("--param", "ggc-min-expand=300", "--param", "ggc-min-heapsize=131072")

# For its report, g++ reads the clock millions of times, which doubles its run time.
STILL_CLOCK = """\
#include <sys/times.h>
extern "C" clock_t times(struct tms* out) noexcept { return *out = {}, 0; }
"""


class Failed(Exception):
    """A unit that does not compile, with the output of the compiler."""


def source(unit):
    unit = unit.removesuffix(COMPILED)
    if unit in PROGRAMS:
        return (PROJECT / PROGRAMS[unit]).read_text(encoding="utf-8")
    if unit in LIBRARY:
        return f'#include "{PROJECT / unit}"\n'
    return includes(unit) if unit else ""


class Bench:
    """Compiles units in temporary folders."""

    def __init__(self):
        self.spent = 0  # seconds of processor time

    def run(self, folder, command, environment=()):
        """Seconds, peak MiB, and the output."""
        with open(f"{folder}/output", "w+", encoding="utf-8") as output:
            with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                                  stderr=output, env={**os.environ, "CCACHE_DISABLE": "1",
                                       **dict(environment)}) as process:
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            text = output.read()
        if process.returncode:
            raise Failed(text)
        seconds = used.ru_utime + used.ru_stime
        self.spent += seconds
        return seconds, used.ru_maxrss / 1024, text

    @contextlib.contextmanager
    def unit(self, unit, compiler, level):
        """A folder with the source of a unit, and the command that compiles it."""
        with tempfile.TemporaryDirectory(prefix="cdi-compile-") as folder:
            pathlib.Path(folder, "unit.cpp").write_text(source(unit), encoding="utf-8")
            mode = ["-DCDI_COMPILED"] if unit.endswith(COMPILED) else []
            yield folder, [COMPILERS[compiler], "-std=c++20", f"-O{level}", "-I", str(INCLUDE),
                           *mode, "unit.cpp"]

    @functools.cached_property
    def still_clock(self):
        """The environment in which the clock of a program stops; empty where that fails."""
        self.library = tempfile.TemporaryDirectory(prefix="cdi-compile-")
        path = f"{self.library.name}/still_clock.so"
        with contextlib.suppress(Failed):
            pathlib.Path(self.library.name, "still_clock.cpp").write_text(STILL_CLOCK, "utf-8")
            self.run(self.library.name, [GXX, "-shared", "-fPIC", "-o", path, "still_clock.cpp"])
            return {"LD_PRELOAD": path}
        return {}

    def mebibytes(self, unit, level):
        """The MiB that g++ allocates, as it reports."""
        with self.unit(unit, "g++", level) as (folder, command):
            report = self.run(folder, [*command, "-S", "-o", "/dev/null", "-ftime-report",
                                       *COLLECT], self.still_clock)[2]
        amount, unit_of = re.search(r"^ *TOTAL\b.*?(\d+)([kM])$", report, re.M).groups()
        return int(amount) if unit_of == "M" else round(int(amount) / 1024)

    def instantiations(self, unit, level):
        """How many classes and functions clang++ instantiates; None where it writes no trace."""
        with self.unit(unit, "clang++", level) as (folder, command):
            self.run(folder, [*command, "-fsyntax-only", "-ftime-trace",
                              "-ftime-trace-granularity=0"])
            for trace in pathlib.Path(folder).glob("*.json"):
                events = trace.read_bytes()
                return sum(events.count(b'"name":"Instantiate%b"' % kind)
                           for kind in (b"Class", b"Function"))
        return None

    def object(self, unit, compiler, level, runs):
        """Seconds, peak MiB, and KiB of the object."""
        with self.unit(unit, compiler, level) as (folder, command):
            done = [self.run(folder, [*command, "-c", "-o", "unit.o"]) for _ in range(runs)]
            size = os.path.getsize(f"{folder}/unit.o") / 1024
        return min(seconds for seconds, *_ in done), max(rss for _, rss, _ in done), size

    def row(self, unit, compiler, level, runs):
        seconds, rss, size = self.object(unit, compiler, level, runs)
        gnu = compiler == "g++"
        return dict(zip(COLUMNS, (
            unit or "(empty file)", compiler, level, round(seconds, 2), round(rss), round(size),
            self.mebibytes(unit, level) if gnu else None,
            None if gnu else self.instantiations(unit, level))))


def print_row(values):
    print("{:32} {:9} {:5} {:>7} {:>6} {:>7} {:>6} {:>15}".format(
        *("" if value is None else value for value in values)), flush=True)


def write_page(bench, runs):
    """Updates MiB and seconds in the table of headers."""
    def measured(row):
        seconds, *_ = bench.object(row[2], "g++", 0, runs)
        amount = bench.mebibytes(row[2], 0)
        compiled = bench.mebibytes(row[2] + COMPILED, 0)
        print(f"{row[2]:24} {amount:4} MiB {seconds:5.1f} s, compiled {compiled:4} MiB", flush=True)
        return f"{row[1]} {amount} | {seconds:.1f} | {compiled} |"

    PAGE.write_text(ROW.sub(measured, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    here = [name for name, path in COMPILERS.items() if path]
    parser.add_argument("units", nargs="*", metavar="UNIT",
                        help=f"a header, or one of {', '.join(PROGRAMS)}; either with :compiled; "
                             "or a source of packaging/")
    parser.add_argument("--compilers", nargs="+", choices=here, default=here)
    parser.add_argument("--levels", nargs="+", choices=[*"0123s"], default=["0", "2"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", metavar="FILE", help="also write the table to FILE")
    parser.add_argument("--page", action="store_true",
                        help="update MiB and seconds in docs/headers.md instead")
    given = parser.parse_args()
    unknown = set(given.units) - set(UNITS)
    if unknown:
        parser.error(f"unknown unit: {', '.join(sorted(unknown))}")
    return given


def main():
    given, bench = arguments(), Bench()
    if given.page:
        return write_page(bench, given.runs)
    print_row(COLUMNS)
    rows = []
    for unit in ["", *(given.units or UNITS)]:
        for compiler in given.compilers:
            for level in given.levels:
                rows.append(bench.row(unit, compiler, level, given.runs))
                print_row(rows[-1].values())
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return None


if __name__ == "__main__":
    try:
        main()
    except Failed as why:
        sys.exit(str(why))
