#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0
"""What headers and typical programs cost to compile: compile_bench.py [UNIT...]

A unit is a header, such as cdi/spec.hpp, for a file that only includes it, or one of PROGRAMS; all
without UNIT. UNIT:compiled is the same with CDI_COMPILED, where a library has the bodies. Of each,
with each compiler and at each level of optimisation:

  seconds        processor time of the compiler, the least of --runs
  RSS            the most memory it held, in MiB
  object         the size of what it made, in KiB, without debug information
  MiB            what g++ allocated, as it counts itself
  instantiations classes and functions that clang++ made of templates

Seconds depend on the machine and on what else it does; MiB and instantiations do not.
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
    "own_type": "examples/own_type.cpp",  # an OCI type of the user's; the core only
    "core": "packaging/test_package/core.cpp",  # our OCI type; the core only
    "inject": "examples/inject.cpp",  # a JSON document; everything
    "oci_json": "bench/programs/oci_json.cpp",  # our OCI type from JSON text and back
    "spec_file": "bench/programs/spec_file.cpp",  # what a reader of spec files needs
    "facade": "bench/programs/facade.cpp",  # JSON text, by one function
    "nlohmann": "bench/programs/nlohmann.cpp",  # the reading and writing of `inject`, without us
}
COMPILED = ":compiled"
UNITS = [*HEADERS, *PROGRAMS]
UNITS += [unit + COMPILED for unit in UNITS]
COLUMNS = ("unit", "compiler", "level", "seconds", "RSS", "object", "MiB", "instantiations")
PAGE = PROJECT / "docs/headers.md"
ROW = re.compile(r"^(\| `(cdi/\S+)` \| .* \| .*? ?\|) \S+ \| \S+ \| \S+ \|$", re.M)

# When g++ collects garbage depends on the memory of the machine, and a little of its count on that.
COLLECT = ("--param", "ggc-min-expand=300", "--param", "ggc-min-heapsize=131072")

# For its report g++ asks for the time millions of times, and takes twice as long for it.
STILL_CLOCK = """\
#include <sys/times.h>
extern "C" clock_t times(struct tms* out) noexcept { return *out = {}, 0; }
"""


class Failed(Exception):
    """A unit that does not compile, with what the compiler said."""


def source(unit):
    unit = unit.removesuffix(COMPILED)
    if unit in PROGRAMS:
        return (PROJECT / PROGRAMS[unit]).read_text(encoding="utf-8")
    return includes(unit) if unit else ""


class Bench:
    """Compiles units, in folders that go with it."""

    def __init__(self):
        self.spent = 0  # seconds of processor time

    def run(self, folder, command, environment=()):
        """Seconds, MiB held at most, and what was said."""
        with open(f"{folder}/said", "w+", encoding="utf-8") as said:
            with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said,
                                  stderr=said, env={**os.environ, "CCACHE_DISABLE": "1",
                                       **dict(environment)}) as process:
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            text = said.read()
        if process.returncode:
            raise Failed(text)
        seconds = used.ru_utime + used.ru_stime
        self.spent += seconds
        return seconds, used.ru_maxrss / 1024, text

    @contextlib.contextmanager
    def unit(self, unit, compiler, level):
        """A folder with the unit in it, and the command to compile that."""
        with tempfile.TemporaryDirectory(prefix="cdi-compile-") as folder:
            pathlib.Path(folder, "unit.cpp").write_text(source(unit), encoding="utf-8")
            mode = ["-DCDI_COMPILED"] if unit.endswith(COMPILED) else []
            yield folder, [COMPILERS[compiler], "-std=c++20", f"-O{level}", "-I", str(INCLUDE),
                           *mode, "unit.cpp"]

    @functools.cached_property
    def still_clock(self):
        """What makes a program take its clock for still; nothing where that cannot be made."""
        self.library = tempfile.TemporaryDirectory(prefix="cdi-compile-")
        path = f"{self.library.name}/still_clock.so"
        with contextlib.suppress(Failed):
            pathlib.Path(self.library.name, "still_clock.cpp").write_text(STILL_CLOCK, "utf-8")
            self.run(self.library.name, [GXX, "-shared", "-fPIC", "-o", path, "still_clock.cpp"])
            return {"LD_PRELOAD": path}
        return {}

    def mebibytes(self, unit, level):
        """What g++ allocates, by its own count."""
        with self.unit(unit, "g++", level) as (folder, command):
            said = self.run(folder, [*command, "-S", "-o", "/dev/null", "-ftime-report", *COLLECT],
                            self.still_clock)[2]
        amount, of = re.search(r"^ *TOTAL\b.*?(\d+)([kM])$", said, re.M).groups()
        return int(amount) if of == "M" else round(int(amount) / 1024)

    def instantiations(self, unit, level):
        """How many classes and functions clang++ makes of templates; None where it does not say."""
        with self.unit(unit, "clang++", level) as (folder, command):
            self.run(folder, [*command, "-fsyntax-only", "-ftime-trace",
                              "-ftime-trace-granularity=0"])
            for trace in pathlib.Path(folder).glob("*.json"):
                events = trace.read_bytes()
                return sum(events.count(b'"name":"Instantiate%b"' % kind)
                           for kind in (b"Class", b"Function"))
        return None

    def object(self, unit, compiler, level, runs):
        """Seconds, MiB held at most, and KiB of the object."""
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
    """Fills in MiB and seconds of the table of headers."""
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
    parser.add_argument("units", nargs="*", metavar="UNIT", help=f"a header; {', '.join(PROGRAMS)}; with :compiled")
    parser.add_argument("--compilers", nargs="+", choices=here, default=here)
    parser.add_argument("--levels", nargs="+", choices=[*"0123s"], default=["0", "2"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", metavar="FILE", help="writes the table there too")
    parser.add_argument("--page", action="store_true",
                        help="writes MiB and seconds into docs/headers.md instead")
    given = parser.parse_args()
    unknown = set(given.units) - set(UNITS)
    if unknown:
        parser.error(f"no such unit: {', '.join(sorted(unknown))}")
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
