#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests the headers and the conformance vectors on 32-bit and big-endian machines, and with musl.

CDI_FULL=1 runs all unit tests, not only those where width and byte order matter most.
"""
import concurrent.futures
import os
import pathlib
import platform
import re
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from toolchain import (CLANGXX, GXX, HEADERS, INCLUDE, OF_CLANG, OF_GCC, PROJECT, WARNINGS, Unit,
                       first_of, includes, works)

TESTS = PROJECT / "tests"
VECTORS = sorted(path for path in (TESTS / "conformance").glob("*.json")
                 if path.name != "deviations.json")
UNIT_TESTS = """base/result apply/host files/signature files/text_file model/copy_as rules/name
text/document text/json nlohmann/models text/parse_json text/yaml/parse_yaml""".split()
FULL = bool(os.environ.get("CDI_FULL"))
if FULL:
    UNIT_TESTS = [str(path.relative_to(TESTS / "cdi")).removesuffix("_test.cpp")
                  for path in sorted((TESTS / "cdi").rglob("*_test.cpp"))]
THREADS = concurrent.futures.ThreadPoolExecutor(os.cpu_count())


class Target:
    """Builds programs for another machine, and runs them on this one."""
    missing = None  # why the target cannot be tested, if it cannot
    run = ()  # the command that runs a program
    link = ("-static", "-pthread")  # the flags that link a program; None if linking is not possible
    variants = ((),)  # sets of flags to compile the headers with

    def paths(self, folder):
        """The include paths, with links to the header-only libraries of this machine: the rest of
        its /usr/include is not for other machines."""
        for name in ("nlohmann", "doctest"):
            (folder / name).symlink_to(pathlib.Path("/usr/include") / name)
        return ["-isystem", folder, "-I", INCLUDE]

    def prepare(self, folder):
        self.folder = folder
        self.command = [self.compiler, *self.flags, *self.paths(folder), "-std=c++20"]

    def check(self, variant):
        """Compiles all headers."""
        return Unit("", [*self.command, *self.warnings, *variant, "-fsyntax-only", "-x", "c++",
                         "-"], includes(*HEADERS)).run()

    def program(self, name, sources, flags=(), arguments=()):
        """Builds a program and runs it."""
        path = self.folder / name.replace("/", "_")
        objects = []
        for number, source in enumerate(sources):
            objects.append(f"{path}{number}.o")
            unit = Unit(name, [*self.command, *flags, "-c", source, "-o", objects[-1]]).run()
            if not unit.good:
                return unit
        unit = Unit("", [self.compiler, *self.flags, *objects, *self.link, "-o", path]).run()
        if not unit.good:
            return unit
        return Unit("", [*self.run, path, *arguments]).run()


class Gcc(Target):
    def __init__(self, compilers, flags=(), emulator=None):
        self.compiler = first_of(*compilers)
        self.flags = flags
        # With 32 bits, size_t and uint32_t are the same type, and casts between them are useless.
        self.warnings = [*WARNINGS, *(flag for flag in OF_GCC if flag != "-Wuseless-cast")]
        if self.compiler is None:
            self.missing = f"{compilers[0]} is not installed"
        elif emulator is not None:
            self.run = (first_of(emulator, f"{emulator}-static"),)
            self.missing = None if self.run[0] else f"{emulator} is not installed"


class Musl(Target):
    """clang++ with libc++, and musl instead of glibc: Debian has no C++ library built for musl."""

    def __init__(self):
        self.compiler = CLANGXX
        machine = f"{platform.machine()}-linux-musl"
        self.warnings = [*WARNINGS, *OF_CLANG]
        self.libc = pathlib.Path("/usr/lib") / machine
        self.llvm = pathlib.Path(os.path.realpath(CLANGXX or "/bin/none")).parents[1]
        headers = [self.llvm / "include/c++/v1", self.print(CLANGXX, "-resource-dir") / "include",
                   pathlib.Path("/usr/include") / machine]
        for path in headers:
            if CLANGXX is None or not path.exists():
                self.missing = f"neither a g++ for musl nor clang++ with {path} is installed"
        self.flags = [f"--target={machine}"]
        self.standard = ["-nostdinc", "-D_LIBCPP_HAS_MUSL_LIBC",
                         *(word for path in headers for word in ("-isystem", path))]
        if not (self.llvm / "lib/libc++.a").exists() or not (self.libc / "libc.a").exists():
            self.link = None

    @staticmethod
    def print(compiler, what):
        if compiler is None:
            return pathlib.Path("/nowhere")
        return pathlib.Path(Unit("", [compiler, f"-print{what}"]).run().out.strip())

    def paths(self, folder):
        return [*self.standard, *super().paths(folder)]

    def prepare(self, folder):
        super().prepare(folder)
        if self.link is None:
            return
        shims = folder / "shims.o"
        Unit("", [self.compiler, *self.flags, *self.standard, "-x", "c",
                  TESTS / "build/musl_shims.c", "-c", "-o", shims]).run()
        gcc = {name: self.print(GXX, f"-file-name={name}")
               for name in ("crtbeginT.o", "crtend.o", "libgcc.a", "libgcc_eh.a")}
        self.link = [
            "-nostdlib", "-static", *(self.libc / name for name in ("crt1.o", "crti.o")),
            gcc["crtbeginT.o"], shims, self.llvm / "lib/libc++.a", self.llvm / "lib/libc++abi.a",
            "-Wl,--start-group", self.libc / "libc.a", gcc["libgcc.a"], gcc["libgcc_eh.a"],
            "-Wl,--end-group", gcc["crtend.o"], self.libc / "crtn.o"]


def thirty_two_bit():
    # Without this, files over 2 GiB cannot be opened, and large inode numbers cannot be read.
    large = ("-D_FILE_OFFSET_BITS=64",)
    target = Gcc(["i686-linux-gnu-g++-12", "i686-linux-gnu-g++"], flags=large)
    if target.missing and GXX:
        target = Gcc([GXX], flags=("-m32", *large))
        if not works(GXX, "-m32"):
            target.missing = "neither i686-linux-gnu-g++ nor g++ -m32 is installed"
    target.variants = (("-U_FILE_OFFSET_BITS",), ("-D_TIME_BITS=64",))
    return target


def musl():
    name = f"{platform.machine()}-linux-musl-g++"
    real = Gcc([name, name.replace("-linux", "-alpine-linux")])
    return Musl() if real.missing else real


def in_one(path, sources):
    """Writes a source file that includes others, and returns its path."""
    path.write_text("".join(f'#include "{source}"\n' for source in sources), encoding="utf-8")
    return path


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
        sources = [TESTS / f"cdi/{name}_test.cpp" for name in UNIT_TESTS]
        if not FULL:  # as one unit, most of whose time would go into the same headers
            sources = [in_one(folder / case.__name__ / "units.cpp", sources)]
        wanted.append((1, case, "units", target.program, (
            "units", [*sources, TESTS / "support/main.cpp"], (f'-DCDI_TEST_DATA="{TESTS}/data"',),
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
    target = Gcc(["s390x-linux-gnu-g++-12", "s390x-linux-gnu-g++"], emulator="qemu-s390x")


class MuslLibc(Foreign, unittest.TestCase):
    target = musl()
    if not FULL:  # width and byte order are those of this machine
        test_units = None


if __name__ == "__main__":
    unittest.main(verbosity=2)
