#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fails when a header or a program costs over 5 % more to compile than compile_cost.json says.

The test compares counts, not seconds: the MiB that g++ allocates and, for headers, the number of
templates that clang++ instantiates, without optimisation. It runs a compiler only if its version
and the versions of the libraries are those in the table.
`compile_cost_test.py --renew` updates the table.
"""
import concurrent.futures
import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True
PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "bench"))
from compile_bench import COMPILED, COMPILERS, PROGRAMS, Bench, Failed  # noqa: E402
from grown import has_grown  # noqa: E402
from toolchain import Unit, includes  # noqa: E402

TABLE = pathlib.Path(__file__).with_name("compile_cost.json")
# The headers that most others include, and those that users include alone; the programs cover the
# rest. All of them take less than 90 seconds of processor time.
HEADERS = [f"cdi/{name}.hpp" for name in """
name text/document spec oci/spec text/read text/write validate apply oci registry json yaml core
""".split()]
COUNTS = {"g++": ("MiB", Bench.mebibytes),
          "clang++": ("instantiations", Bench.instantiations)}
MACROS = {"machine": ("__x86_64__", "__aarch64__"), "compiler": ("__VERSION__",),
          "libstdc++": ("__GLIBCXX__",), "glibc": ("__GLIBC__", "__GLIBC_MINOR__"),
          "nlohmann": ("NLOHMANN_JSON_VERSION_MAJOR", "NLOHMANN_JSON_VERSION_MINOR",
                       "NLOHMANN_JSON_VERSION_PATCH")}


def versions(compiler):
    """The versions on which the counts of a compiler depend; empty if it is not installed."""
    if COMPILERS[compiler] is None:
        return ""
    done = Unit("", [COMPILERS[compiler], "-std=c++20", "-E", "-dM", "-x", "c++", "-"],
                includes("nlohmann/json.hpp")).run()
    defined = dict(line.split(" ", 2)[1:] for line in done.out.splitlines() if line.count(" ") > 1)
    found = {name: ".".join(macro if name == "machine" else defined[macro].strip('"')
                            for macro in macros if macro in defined)
             for name, macros in MACROS.items()}
    return ", ".join(f"{name} {value}" for name, value in found.items())


def measure(compilers):
    """Counts by unit, and the seconds of processor time that this took."""
    bench = Bench()
    if "g++" in compilers:
        _ = bench.still_clock  # made once, before the threads
    programs = [*PROGRAMS, *(name + COMPILED for name in PROGRAMS if name != "nlohmann")]
    work = [(unit, compiler) for unit in [*programs, *reversed(HEADERS)] for compiler in compilers
            if unit in HEADERS or compiler == "g++"]

    def count(unit, compiler):
        return COUNTS[compiler][1](bench, unit, 0)

    found = {unit: {} for unit in [*HEADERS, *programs]}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (unit, compiler), amount in zip(work, pool.map(lambda one: count(*one), work)):
            found[unit][COUNTS[compiler][0]] = amount
    return found, bench.spent


def write_table(here, found):
    head = [f'"{compiler}": {json.dumps(version)}' for compiler, version in here.items()]
    rows = [f'"{unit}": {json.dumps(counts)}' for unit, counts in found.items()]
    TABLE.write_text("{\n" + ",\n".join(head + rows) + "\n}\n", encoding="utf-8")


def has_become_dearer(found, table):
    return has_grown(((unit, count, what, table.get(unit, {}).get(what, 0))
                      for unit, counts in found.items() for what, count in counts.items()),
                     higher="too expensive", lower="cheaper")


def main():
    here = {compiler: versions(compiler) for compiler in COUNTS}
    if sys.argv[1:] == ["--renew"]:
        if not all(here.values()):
            sys.exit("both g++ and clang++ are needed")
        write_table(here, measure(COUNTS)[0])
        return
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    same = [compiler for compiler in COUNTS if here[compiler] == table[compiler]]
    found, spent = measure(same)
    print(f"{spent:.0f} s of processor time")
    if has_become_dearer(found, table):
        sys.exit("Include less, or instantiate less: `bench/compile_bench.py UNIT` measures one "
                 "unit. If the cost is justified, run tests/build/compile_cost_test.py --renew")
    if other := [compiler for compiler in COUNTS if compiler not in same]:
        why = "; ".join(f"{name}: {here[name] or 'missing'}, not {table[name]}" for name in other)
        print(f"skipped '{why}'")
        sys.exit(0 if same else 77)


if __name__ == "__main__":
    try:
        main()
    except Failed as why:
        sys.exit(str(why))
