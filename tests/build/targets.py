# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compilers, libraries and machines that programs are built for, and run on from here."""
import os
import pathlib
import platform
import re
import shutil

from toolchain import (CLANGXX, GXX, HEADERS, INCLUDE, OF_CLANG, OF_GCC, PROJECT, WARNINGS, Unit,
                       first_of, includes, run_all, works)

TESTS = PROJECT / "tests"
USERS_HEADERS = pathlib.Path("/usr/include")


class Target:
    """Builds programs for a machine, and runs them on this one."""
    missing = None  # why the target cannot be tested, if it cannot
    run = ()  # the command that runs a program
    flags = ()
    link = ("-static", "-pthread")  # the flags that link a program; None if linking is not possible
    variants = ((),)  # sets of flags to compile the headers with
    json = USERS_HEADERS  # the folder with nlohmann_json's headers

    def paths(self, folder):
        """The include paths, with links to the header-only libraries of this machine: the rest of
        its /usr/include is not for other machines."""
        for name, home in (("nlohmann", self.json), ("doctest", USERS_HEADERS)):
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to(home / name)
        return ["-isystem", folder, "-I", INCLUDE]

    def prepare(self, folder):
        self.folder = folder
        self.command = [*self.compiler, *self.flags, *self.paths(folder), "-std=c++20"]

    def check(self, variant):
        """Compiles all headers."""
        return Unit("", [*self.command, *self.warnings, *variant, "-fsyntax-only", "-x", "c++",
                         "-"], includes(*HEADERS)).run()

    def program(self, name, sources, flags=(), arguments=(), jobs=1):
        """Builds a program and runs it."""
        path = self.folder / name.replace("/", "_")
        objects = [f"{path}{number}.o" for number in range(len(sources))]
        compiled = run_all([Unit(name, [*self.command, *flags, "-c", source, "-o", out])
                            for source, out in zip(sources, objects)], jobs)
        for unit in compiled:
            if not unit.good:
                return unit
        unit = Unit("", [*self.compiler, *self.flags, *objects, *self.link, "-o", path]).run()
        if not unit.good:
            return unit
        return Unit("", [*self.run, path, *arguments]).run()


class Gcc(Target):
    def __init__(self, compilers, flags=(), emulator=None):
        self.compiler = [first_of(*compilers)]
        self.flags = flags
        # With 32 bits, size_t and uint32_t are the same type, and casts between them are useless.
        self.warnings = [*WARNINGS, *(flag for flag in OF_GCC if flag != "-Wuseless-cast")]
        if self.compiler == [None]:
            self.missing = f"{compilers[0]} is not installed"
        elif emulator is not None:
            self.run = (first_of(emulator, f"{emulator}-static"),)
            self.missing = None if self.run[0] else f"{emulator} is not installed"


class Musl(Target):
    """clang++ with libc++, and musl instead of glibc: Debian has no C++ library built for musl."""

    def __init__(self):
        self.compiler = [CLANGXX]
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
        """The include paths, with links to the headers of the kernel, shared by all C libraries."""
        for path in (USERS_HEADERS / "linux", USERS_HEADERS / "asm-generic",
                     USERS_HEADERS / f"{platform.machine()}-linux-gnu/asm"):
            (folder / path.name).unlink(missing_ok=True)
            (folder / path.name).symlink_to(path)
        return [*self.standard, *super().paths(folder)]

    def prepare(self, folder):
        super().prepare(folder)
        if self.link is None:
            return
        shims = folder / "shims.o"
        Unit("", [*self.compiler, *self.flags, *self.standard, "-x", "c",
                  TESTS / "build/musl_shims.c", "-c", "-o", shims]).run()
        gcc = {name: self.print(GXX, f"-file-name={name}")
               for name in ("crtbeginT.o", "crtend.o", "libgcc.a", "libgcc_eh.a")}
        self.link = [
            "-nostdlib", "-static", *(self.libc / name for name in ("crt1.o", "crti.o")),
            gcc["crtbeginT.o"], shims, self.llvm / "lib/libc++.a", self.llvm / "lib/libc++abi.a",
            "-Wl,--start-group", self.libc / "libc.a", gcc["libgcc.a"], gcc["libgcc_eh.a"],
            "-Wl,--end-group", gcc["crtend.o"], self.libc / "crtn.o"]


class Native(Target):
    """A compiler of this system."""
    link = ("-pthread",)

    def __init__(self, compiler, *flags, json=None):
        self.compiler = [first_of(compiler)]
        self.flags = flags
        if self.compiler == [None]:
            self.missing = f"{compiler} is not installed"
        elif not works(*self.compiler, *flags):
            self.missing = f"{compiler} finds no standard library for {' '.join(flags)}"
        if json is not None:
            self.json = pathlib.Path(os.environ.get("CDI_NLOHMANN", "/nowhere")) / json
            if not (self.json / "nlohmann/json.hpp").exists():
                self.missing = f"CDI_NLOHMANN names no folder with {json}/nlohmann"


class Zig(Target):
    """clang++ of zig, with libc++ and musl, which zig compiles the first time."""
    link = ("-static",)

    def __init__(self, machine, emulator=None):
        self.compiler = [first_of("zig", "python-zig"), "c++", "-target", machine]
        self.flags = ("-fno-sanitize=undefined",)
        if self.compiler[0] is None:
            self.missing = "zig is not installed"
        elif emulator is not None:
            self.run = (first_of(emulator, f"{emulator}-static"),)
            self.missing = None if self.run[0] else f"{emulator} is not installed"

    def prepare(self, folder):
        """The C library of zig 0.17.1 has its own strtoull, which nlohmann_json cannot use."""
        super().prepare(folder)
        source = folder / "digits.cpp"
        source.write_text("""#include <cstdlib>
            int main() { char* end; std::strtoull("123456789012345678901234567890", &end, 10);
                         return *end; }""", encoding="utf-8")
        if not self.program("digits", [source]).good:
            raise OSError("strtoull of this zig stops before the end of a long number")


class Newest(Target):
    """A compiler of Debian's newest packages, in a root of its own."""
    link = ("-pthread",)

    def __init__(self, compiler, *flags, packages=()):
        self.name, self.flags, self.packages = compiler, flags, ("{}", *packages)
        if os.geteuid() != 0 or None in map(first_of, ("debootstrap", "bwrap")):
            self.missing = "needs root, debootstrap and bwrap"

    def prepare(self, folder):
        root = folder.parent / "sid"
        inside = ["bwrap", "--bind", root, "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc",
                  "--cap-add", "ALL", "--setenv", "DEBIAN_FRONTEND", "noninteractive"]
        apt = [*inside, "--ro-bind", "/etc/resolv.conf", "/etc/resolv.conf", "apt-get", "-qq",
               "-o", "Acquire::Check-Valid-Until=false"]  # debootstrap does not check it either
        if not root.exists():
            part = folder.parent / "sid.part"
            shutil.rmtree(part, ignore_errors=True)
            self.must("debootstrap", "--variant=minbase",
                      "--include=doctest-dev,nlohmann-json3-dev", "sid", part)
            part.rename(root)
        self.must(*apt, "update")  # the root may be of an earlier day
        package = self.name.replace("clang++", "clang")
        known = self.must(*inside, "apt-cache", "pkgnames", package)
        version = max(map(int, re.findall(rf"^{re.escape(package)}-(\d+)$", known, re.M)))
        self.must(*apt, "install", "--no-install-recommends",
                  *(name.format(f"{package}-{version}").replace("*", str(version))
                    for name in self.packages))
        self.run = [*inside, "--ro-bind", PROJECT, PROJECT, "--bind", folder, folder]
        self.compiler = [*self.run, f"{self.name}-{version}"]
        super().prepare(folder)

    @staticmethod
    def must(*command):
        """What a command prints; raises OSError if it fails."""
        unit = Unit("", command).run()
        if not unit.good:
            raise OSError(f"{command[-1]}: {(unit.errors or unit.out)[-200:]}")
        return unit.out


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


def big_endian():
    return Gcc(["s390x-linux-gnu-g++-12", "s390x-linux-gnu-g++"], emulator="qemu-s390x")


def musl_with_library():
    """g++ for musl, with a C++ library for it: the input streams of the one for glibc crash."""
    name = f"{platform.machine()}-linux-musl-g++"
    return Gcc([name, name.replace("-linux", "-alpine-linux")])


def musl():
    real = musl_with_library()
    return Musl() if real.missing else real


def in_one(path, sources):
    """Writes a source file that includes others, and returns its path."""
    path.write_text("".join(f'#include "{source}"\n' for source in sources), encoding="utf-8")
    return path
