# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compilers, flags and headers, for the tests of this folder."""
import concurrent.futures
import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = PROJECT / "include"
HEADERS = sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.hpp"))
THIRD_PARTY = sorted({name for header in HEADERS for name in re.findall(
    r"#include <(nlohmann/[^>]+)>", (INCLUDE / header).read_text())})

# The warnings that strict users turn on. meson.build has those that need the optimiser.
WARNINGS = """-Werror -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
-Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual -Wnull-dereference -Wextra-semi
-Wcast-qual -Wcast-align -Wformat=2 -Wundef -Wdouble-promotion -Wfloat-equal
-Wmissing-declarations -Wimplicit-fallthrough -Wredundant-decls -Wsuggest-override -Wswitch-enum
-Wunused -Wvla -Wdeprecated""".split()
OF_GCC = """-Wuseless-cast -Wduplicated-cond -Wduplicated-branches -Wlogical-op
-Wcast-align=strict -Wzero-as-null-pointer-constant -Wmismatched-tags -Wredundant-tags
-Wctor-dtor-privacy -Wcomma-subscript -Wvolatile -Wcatch-value=3 -Wplacement-new=2
-Warith-conversion""".split()
OF_CLANG = """-Wdocumentation -Wdocumentation-unknown-command -Wdocumentation-pedantic
-Wshadow-all -Wheader-hygiene -Wnewline-eof -Wunused-template -Wused-but-marked-unused
-Wunreachable-code -Wshorten-64-to-32 -Wglobal-constructors -Wexit-time-destructors
-Wreserved-identifier -Wthread-safety -Wmissing-variable-declarations
-Winconsistent-missing-destructor-override -Wover-aligned -Wimplicit-int-conversion
-Wfloat-conversion -Wrange-loop-analysis -Wdeprecated-copy-dtor""".split()


def first_of(*names):
    """The path of the first command that is installed, or None."""
    return next(filter(None, map(shutil.which, names)), None)


def newest(name):
    """The path of the installed compiler with the highest version in its name, or None."""
    names = {path.name for folder in os.get_exec_path() for path in
             pathlib.Path(folder).glob(f"{name}-[0-9]*") if path.name[len(name) + 1:].isdigit()}
    return first_of(*sorted(names, key=lambda one: -int(one.rsplit("-", 1)[1])), name)


GXX = first_of("g++-12", "g++")  # the tables of costs are of g++ 12
CLANGXX = first_of("clang++-14", "clang++")
# The oldest that are supported, and the newest that are installed.
OLDEST = {"g++": first_of("g++-11"), "clang++": first_of("clang++-13")}
NEWEST = {"g++": newest("g++"), "clang++": newest("clang++")}


def includes(*headers):
    return "".join(f"#include <{header}>\n" for header in headers)


def tool_parts(room, root=PROJECT):
    """The sources of a folder of tools/ and of the rooms that it uses, without main.cpp."""
    rooms = ["kit"] + ["gpu"] * (room in ("prepare", "dra")) + [room] * (room != "kit")
    return sorted(path for name in rooms for path in (root / "tools" / name).rglob("*.cpp")
                  if path.name != "main.cpp")


class Unit:
    """One run of a compiler on a text: its name, command and output."""

    def __init__(self, name, command, text=""):
        self.name, self.command, self.text = name, [*map(str, command)], text

    def run(self):
        done = subprocess.run(self.command, input=self.text, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        self.code, self.out, self.errors = done.returncode, done.stdout, done.stderr
        self.good = self.code == 0
        return self


def run_all(units, jobs=os.cpu_count()):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(Unit.run, units))


class Case(unittest.TestCase):
    """Checks units, each in a subtest, and has a temporary folder."""

    def all_good(self, units):
        for unit in run_all(units):
            with self.subTest(unit.name):
                self.assertTrue(unit.good, unit.errors[:3000])

    def folder(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        return pathlib.Path(temporary.name)


@functools.lru_cache
def works(*command):
    """Whether a compiler finds the standard library that its flags name."""
    return Unit("", [*command, "-x", "c++", "-fsyntax-only", "-"], "#include <string>\n").run().good


def used_by(*headers):
    """The given headers, and all of ours that they include."""
    found = Unit("", [GXX, "-std=c++20", "-I", INCLUDE, "-M", "-x", "c++", "-"],
                 includes(*headers)).run()
    ours = re.findall(r"/include/(cdi/\S+\.hpp)", found.out)
    assert GXX is None or set(headers) <= set(ours), found.errors
    return ours
