#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What users build has no warnings under -Wall -Wextra, whose results depend on the optimiser.

By default: the library and the tools, as `examples/demo.sh` builds them. With --tools-are-optimised,
the tools are left out, because the build has compiled them so. CDI_FULL=1 builds them and the
programs to copy with the system's, the oldest and the newest compilers, from -O0 to -O3,
header-only, and with link-time optimisation.
"""
import os
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
from toolchain import INCLUDE, NEWEST, OLDEST, PROJECT, Case, Unit, first_of, tool_parts

FULL = bool(os.environ.get("CDI_FULL"))
LIBRARY = PROJECT / "src/library.cpp"
C_LIBRARY = PROJECT / "src/c/c_library.cpp"
TOOLS = {PROJECT / f"tools/{name}/main.cpp": tool_parts(name)
         for name in ("cdi", "prepare", "pod")}
PARTS = sorted({part for parts in TOOLS.values() for part in parts})
BUILT = "--tools-are-optimised" in sys.argv  # with -Doptimised_tools=true
TO_COPY = sorted((PROJECT / "examples").glob("*.cpp"))
COMPILERS = dict.fromkeys(filter(None, [first_of("g++")] + FULL * [
    OLDEST["g++"], OLDEST["clang++"], NEWEST["g++"], NEWEST["clang++"]]))
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-DFMT_HEADER_ONLY", "-I", INCLUDE]


def unit(compiler, source, *flags):
    """A unit that compiles a source file, and keeps nothing."""
    name = " ".join([pathlib.Path(compiler).name, *map(str, flags),
                     str(source.relative_to(PROJECT))])
    return Unit(name, [compiler, *FLAGS, *flags, "-c", source, "-o", "/dev/null"])


class UsersBuilds(Case):
    def test_release(self):
        self.all_good([unit(compiler, source, "-O3", "-DNDEBUG", "-DCDI_COMPILED")
                       for compiler in COMPILERS
                       for source in (LIBRARY, C_LIBRARY,
                                      *(() if BUILT and not FULL else [*TOOLS, *PARTS]))])

    @unittest.skipUnless(FULL, "CDI_FULL=1 builds them at each level of optimisation")
    def test_each_level_of_optimisation(self):
        self.all_good([unit(compiler, source, level, *mode)
                       for compiler in COMPILERS for source in (C_LIBRARY, *TOOLS, *PARTS, *TO_COPY)
                       for level in ("-O0", "-Og", "-O1", "-O2", "-O3")
                       for mode in ((), ("-DCDI_COMPILED",))])

    @unittest.skipUnless(FULL, "CDI_FULL=1 builds them with link-time optimisation")
    def test_link_time_optimisation(self):
        """g++ prints most warnings when it links."""
        program = self.folder() / "program"
        self.all_good([Unit(f"{source.name} {mode}",
                            [first_of("g++"), *FLAGS, "-O3", "-flto", *mode, source, *TOOLS.get(source, []),
                             "-pthread",
                             "-o", f"{program}{number}"])
                       for source in (*TOOLS, *TO_COPY)
                       for number, mode in enumerate(((), ("-DCDI_COMPILED", LIBRARY)))])


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=sys.argv[:1])
