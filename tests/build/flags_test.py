#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The headers compile without warnings under strict flags.

A header that is compiled alone can fail only because an include is missing; so each header is
compiled alone in one combination, or after headers that it includes, which shows the same: see
include_chains.py. All others compile all headers in one unit. The headers that users include are
compiled alone with CDI_COMPILED only: without it, they are the headers that they include. Of the
combinations of a mode and a compiler, those run that no other combination nearly repeats.
CDI_FULL=1 compiles each header alone, and everything, in every combination.
"""
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
from include_chains import chains
from toolchain import (CLANGXX, GXX, HEADERS, INCLUDE, NEWEST, OF_CLANG, OF_GCC, OLDEST,
                       THIRD_PARTY, WARNINGS, Case, Unit, includes, used_by, works)

COMPILERS = {"g++": (GXX, *WARNINGS, *OF_GCC),
             "clang++ libstdc++": (CLANGXX, *WARNINGS, *OF_CLANG),
             "clang++ libc++": (CLANGXX, "-stdlib=libc++", *WARNINGS, *OF_CLANG)}
# For all headers in one unit only; none that is also one of the above.
OTHERS = {"g++-11": (OLDEST["g++"], *WARNINGS, *OF_GCC),
          "clang++-13": (OLDEST["clang++"], *WARNINGS, *OF_CLANG),
          "newest g++": (NEWEST["g++"], *WARNINGS, *OF_GCC),
          "newest clang++": (NEWEST["clang++"], *WARNINGS, *OF_CLANG)}
USED = {os.path.realpath(row[0]) for row in COMPILERS.values() if row[0]}
OTHERS = {name: row for name, row in OTHERS.items()
          if row[0] is None or os.path.realpath(row[0]) not in USED}
DIALECTS = ("c++20", "gnu++20")  # in GNU modes `linux` and `unix` are macros
DOORS = [header for header in HEADERS if header.count("/") == 1]
ALONE = (("g++", "c++20"),)
ALONE_HEADERS = [header for header in HEADERS if header not in DOORS]
ALONE_COMPILED = DOORS
FULL = bool(os.environ.get("CDI_FULL"))
if FULL:
    ALONE = tuple((name, dialect) for name in COMPILERS for dialect in DIALECTS)
    ALONE_HEADERS = HEADERS
    ALONE_COMPILED = HEADERS
# Most modes do not run with clang++ and libstdc++: the other two have its warnings and its library.
TWO = COMPILERS if FULL else ("g++", "clang++ libc++")

# The headers that need no third-party header, and those that need neither exceptions nor RTTI.
CORE = used_by("cdi/core.hpp")
LEAN = used_by("cdi/core.hpp", "cdi/nlohmann.hpp")

# All macros that our headers may define, besides include guards.
MACROS = {"CDI_VERSION_MAJOR", "CDI_VERSION_MINOR", "CDI_VERSION_PATCH", "CDI_ABI", "CDI_BODIES",
          "CDI_INLINE"}


def command(compiler, *flags):
    """The command that compiles a text with a compiler, by name; None if it is not installed."""
    name, *warnings = {**COMPILERS, **OTHERS}[compiler]
    library = [flag for flag in warnings if flag.startswith("-stdlib")]
    if name is None or not works(name, *library):
        return None
    return [name, *warnings, "-I", INCLUDE, "-fsyntax-only", *flags, "-x", "c++", "-"]


class Flags(Case):
    def units(self, texts, *flags, compilers=COMPILERS, dialects=DIALECTS):
        """A unit for each compiler, dialect and named text."""
        out = []
        for compiler in compilers:
            if command(compiler) is None:
                self.missing.append(compiler)
                continue
            out += [Unit(f"{compiler} {dialect} {name}",
                         command(compiler, f"-std={dialect}", *flags), text)
                    for dialect in dialects for name, text in texts.items()]
        return out

    def setUp(self):
        self.missing = []

    def check(self, units):
        self.all_good(units)
        if self.missing:
            self.skipTest("not installed: " + ", ".join(sorted(set(self.missing))))

    def test_each_header_alone_and_twice(self):
        sets = [[header] for header in ALONE_HEADERS] if FULL else chains(ALONE_HEADERS)
        self.assertEqual(sorted(sum(sets, [])), sorted(ALONE_HEADERS))
        texts = {" ".join(each): includes(*(name for name in each for _ in range(2)))
                 for each in sets}
        self.check([unit for compiler, dialect in ALONE for unit in
                    self.units(texts, compilers=[compiler], dialects=[dialect])])

    def test_all_headers(self):
        """By g++ and with libc++, other tests compile them all in header-only mode."""
        self.check(self.units({"all": includes(*HEADERS)}, dialects=["c++20"],
                              compilers=COMPILERS if FULL else ["clang++ libstdc++"]))

    def test_oldest_and_newest_compilers(self):
        texts = {"all": includes(*HEADERS)}
        compiled = OTHERS if FULL else ()  # tests/run.sh compiles all tests so with the oldest
        self.check(self.units(texts, compilers=OTHERS, dialects=["c++20"]) +
                   self.units(texts, "-DCDI_COMPILED", compilers=compiled, dialects=["c++20"]))

    def test_gnu_mode_after_headers_that_define_common_names(self):
        """Such as `linux`, `major`, `minor`, `makedev`, `MIN` and `roundup`. Also includes our
        headers in reverse order."""
        greedy = ("sys/sysmacros.h", "sys/param.h", "linux/kdev_t.h", "syslog.h")
        self.check(self.units({"all": includes(*greedy, *reversed(HEADERS))},
                              dialects=["gnu++20"], compilers=TWO))

    def test_later_standard(self):
        self.check(self.units({"all": includes(*HEADERS)}, dialects=["c++2b"],
                              compilers=["g++", "clang++ libc++"]))

    def test_compiled_mode(self):
        """Compiles the headers that only declare, each alone, and the library."""
        texts = {header: includes(header) for header in ALONE_COMPILED}
        self.check(self.units(texts, "-DCDI_COMPILED", compilers=["g++"], dialects=["c++20"]) +
                   self.units({"all": includes(*HEADERS)}, "-DCDI_COMPILED", dialects=["gnu++20"]) +
                   self.units({"library": includes(*HEADERS)}, "-DCDI_SOURCE", dialects=["c++20"],
                              compilers=TWO))

    def check_refused(self, why, header, *flags):
        """Checks that each compiler refuses a header, and why."""
        for compiler in ("g++", "clang++ libstdc++"):
            if command(compiler) is None:
                self.missing.append(compiler)
                continue
            unit = Unit(compiler, command(compiler, *flags), includes(header)).run()
            self.assertFalse(unit.good, compiler)
            self.assertIn(why, unit.errors, compiler)
        self.check([])

    def test_neither_exceptions_nor_rtti(self):
        self.check(self.units({"core and JSON": includes(*LEAN)}, "-fno-exceptions", "-fno-rtti",
                              dialects=["c++20"]))

    def test_cxx17_is_refused(self):
        self.check_refused("cdi needs C++20", "cdi/version.hpp", "-std=c++17")

    def test_core_without_third_party_headers(self):
        """Replaces each third-party header by an error."""
        folder = self.folder()
        for name in THIRD_PARTY:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(f"#error {name} is not for the core\n")
        self.check(self.units({"core": includes(*CORE)}, "-I", folder, dialects=["c++20"],
                              compilers=["g++"]))


class Names(Case):
    def test_macros(self):
        """The headers define only MACROS and guards, named after their files, and undefine no macro
        of other headers."""
        for dialect in DIALECTS:
            done = Unit("", [GXX, f"-std={dialect}", "-I", INCLUDE, "-E", "-dD", "-x", "c++", "-"],
                        includes(*HEADERS)).run()
            self.assertTrue(done.good, done.errors)
            found = {}  # by file
            path = ""
            for line in done.out.splitlines():
                if marker := re.match(r'# \d+ "([^"]*)"', line):
                    path = marker[1]
                elif macro := re.match(r"#(define|undef) (\w+)", line):
                    if path.startswith(str(INCLUDE)):
                        found.setdefault(path, set()).add((macro[1], macro[2]))
            self.assertEqual(sum(path.endswith(".hpp") for path in found), len(HEADERS))
            leaked = {}
            for path, macros in found.items():
                name = os.path.relpath(path, INCLUDE)
                macros -= {("define", re.sub(r"\W", "_", name).upper())}
                if name == "cdi/version.hpp":
                    macros -= {("define", macro) for macro in MACROS}
                if name == "cdi/cdi.h":  # of the C library, whose parts include it
                    macros -= {("define", macro) for macro in MACROS
                               if macro.startswith("CDI_VERSION_")}
                    macros -= {("define", macro) for macro in ("CDI_H", "CDI_API", "CDI_HAS")}
                if macros:
                    leaked[name] = macros
            self.assertEqual(leaked, {})

    def test_symbols(self):
        """The linker can merge all functions and tables: none is local to an object. None of our
        code runs before main."""
        path = self.folder() / "all.o"
        self.all_good([Unit("all", [GXX, "-std=c++20", "-fkeep-inline-functions",
                                    "-fkeep-static-functions", "-I", INCLUDE, "-x", "c++", "-",
                                    "-c", "-o", path], includes(*HEADERS))])
        symbols = Unit("", ["nm", "-C", path]).run().out
        self.assertGreater(len(re.findall(r" [WVu] cdi::", symbols)), 1000)
        own = re.findall(r"^\w+ [tTdDbBrRC] ((?:cdi::|_GLOBAL__sub_I|__static_init).*)", symbols,
                         re.M)
        self.assertEqual([name for name in own if "{lambda" not in name], [])  # of static_assert


if __name__ == "__main__":
    unittest.main(verbosity=2)
