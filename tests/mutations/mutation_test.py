#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Puts the faults of faults.toml into copies of the sources, and checks that tests find them.

usage: mutation_test.py [--list] [--jobs N] [ID...]

Each fault is put in alone, and the test that it names is built header-only with clang++ or g++ and
run: the test must fail. Without a fault, it must pass. With IDs, only these faults are tried; with
--list, only the list is checked: each text occurs exactly once in its file.

As a test (--skip-unless-full), only the list is checked, unless CDI_FULL=1 is set.
"""
import argparse
import concurrent.futures
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(PROJECT / "tests/build"))
from toolchain import CLANGXX, GXX, tool_parts  # noqa: E402  pylint: disable=wrong-import-position

LIST = PROJECT / "tests/mutations/faults.toml"
KEYS = {"id", "file", "text", "into", "test", "why"}
COPIED = ["include", "src", "tests", "tools"]
NOT_COPIED = ["corpus", "conformance", "packaging", "__pycache__"]
COMPILER = CLANGXX or GXX
FLAGS = ["-std=c++20", "-O0", "-DFMT_HEADER_ONLY", "-pthread"]
# The programs that a test in Python takes as arguments.
PROGRAMS = {
    "tests/tools/cdi/args_test.py": ["tools/cdi/main.cpp"],
    "tests/tools/cdi/policy_test.py": ["tools/cdi/main.cpp"],
    "tests/tools/pod/pod_test.py": ["tools/pod/main.cpp"],
    "tests/tools/runtime/runtime_test.py": ["tools/runtime/main.cpp"],
}
C_FLAGS = ["-x", "c", "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-c"]
C_LIBRARY = "src/c/c_library.cpp"
TIMEOUT = 300  # seconds for a build or a run; a run that hangs has found the fault


class Broken(Exception):
    """A fault or a test that cannot be tried, with the reason."""


def read_list():
    """The faults, after a check of the list."""
    faults = tomllib.loads(LIST.read_text(encoding="utf-8"))["fault"]
    wrong = []
    seen = set()
    for fault in faults:
        name = fault.get("id", "?")
        if set(fault) != KEYS or name in seen:
            wrong.append(f"{name}: a fault has one each of {', '.join(sorted(KEYS))}; ids differ")
            continue
        seen.add(name)
        path = PROJECT / fault["file"]
        count = path.read_text(encoding="utf-8").count(fault["text"]) if path.exists() else 0
        if count != 1:
            wrong.append(f"{name}: {fault['file']} contains the text {count} times, not once")
        if not (PROJECT / fault["test"]).exists():
            wrong.append(f"{name}: {fault['test']} does not exist")
    if wrong:
        sys.exit("\n".join(wrong) + f"\nchange {LIST.relative_to(PROJECT)}")
    return faults


def run(*command, cwd):
    """Whether a command succeeds, and the end of its output."""
    try:
        done = subprocess.run([*map(str, command)], cwd=cwd, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT,
                              errors="replace", check=False)
    except subprocess.TimeoutExpired:
        return False, f"still runs after {TIMEOUT} s"
    return done.returncode == 0, done.stdout[-2000:]


class Tree:
    """A copy of the sources, in which one test at a time is built and run."""

    def __init__(self, folder, main):
        self.root = folder / "source"
        self.build = folder / "build"
        self.main = main
        self.build.mkdir(parents=True)
        for name in COPIED:
            shutil.copytree(PROJECT / name, self.root / name, symlinks=True,
                            ignore=shutil.ignore_patterns(*NOT_COPIED))

    def compile(self, output, *sources, flags=FLAGS):
        good, text = run(COMPILER, *flags, "-I", self.root / "include",
                         f'-DCDI_TEST_DATA="{self.root}/tests/data"', *sources, "-o", output,
                         cwd=self.root)
        if not good:
            raise Broken(f"does not compile:\n{text}")
        return output

    def parts(self, room):
        """The objects of a folder of tools/, compiled again if a fault changed what they include."""
        objects = []
        for source in tool_parts(room, self.root):
            output = self.build / "-".join(source.relative_to(self.root).with_suffix(".o").parts)
            if self.is_old(output):
                self.compile(output, source, flags=[*FLAGS, "-MMD", "-c"])
            objects.append(output)
        return objects

    def is_old(self, output):
        """Whether an object does not exist, or is older than a file that it was compiled from."""
        if not output.exists():
            return True
        used = output.with_suffix(".d").read_text(encoding="utf-8").replace("\\\n", "").split()[1:]
        return any((self.root / name).stat().st_mtime_ns > output.stat().st_mtime_ns
                   for name in used)

    def passes(self, test):
        """Builds and runs a test; returns whether it passes, and its output."""
        program = self.build / "program"
        source = self.root / test
        parts = self.parts(test.split("/")[2]) if test.startswith("tests/tools/") else []
        if source.suffix == ".py":
            programs = [self.compile(self.build / pathlib.Path(path).parent.name, self.root / path, *parts)
                        for path in PROGRAMS[test]]
            return run(sys.executable, "-B", source, *programs, cwd=self.build)
        if source.suffix == ".c":
            user = self.compile(self.build / "user.o", source, flags=C_FLAGS)
            self.compile(program, self.root / C_LIBRARY, user)
            with tempfile.TemporaryDirectory(dir=self.build) as folder:
                return run(program, pathlib.Path(folder) / "specs", cwd=self.build)
        return run(self.compile(program, source, self.main, *parts), "--no-version", "--minimal",
                   cwd=self.build)

    def passes_with(self, fault):
        """Whether a test passes with a fault, and its output."""
        path = self.root / fault["file"]
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(fault["text"], fault["into"]), encoding="utf-8")
        try:
            return self.passes(fault["test"])
        finally:
            path.write_text(text, encoding="utf-8")


def try_test(tree, test, faults):
    """Tries a test without a fault, then with each of its faults. Yields what was tried, whether
    the result is as it should be, and the result."""
    try:
        passed, output = tree.passes(test)
    except Broken as why:
        passed, output = False, str(why)
    if not passed:
        yield from ((fault["id"], False, f"{test} fails without a fault\n{output}")
                    for fault in faults)
        return
    for fault in faults:
        began = time.monotonic()
        try:
            passed, output = tree.passes_with(fault)
            result = f"{test} passes: {fault['why']}" if passed else test
        except Broken as why:
            passed, result = True, str(why)
        yield fault["id"], not passed, f"{result} ({time.monotonic() - began:.0f} s)"


def try_all(faults, jobs):
    """Tries the faults, and prints a line about each. Returns how many are not found."""
    by_test = {}
    for fault in faults:
        by_test.setdefault(fault["test"], []).append(fault)
    with tempfile.TemporaryDirectory(prefix="cdi-mutation-") as folder:
        folder = pathlib.Path(folder)
        main = folder / "main.o"
        good, text = run(COMPILER, *FLAGS, "-c", PROJECT / "tests/support/main.cpp", "-o", main,
                         cwd=PROJECT)
        if not good:
            sys.exit(text)
        trees = queue.Queue()
        for number in range(jobs):
            trees.put(Tree(folder / str(number), main))

        def try_in_some_tree(test):
            missed = 0
            tree = trees.get()
            try:
                for name, good, result in try_test(tree, test, by_test[test]):
                    print(f"{'found ' if good else 'MISSED'} {name}: {result}", flush=True)
                    missed += not good
            finally:
                trees.put(tree)
            return missed

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            return sum(pool.map(try_in_some_tree, by_test))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID", help="a fault of faults.toml")
    parser.add_argument("--list", action="store_true", help="only check the list")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--skip-unless-full", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    faults = read_list()
    unknown = set(given.ids) - {fault["id"] for fault in faults}
    if unknown:
        parser.error(f"unknown fault: {', '.join(sorted(unknown))}")
    if given.list:
        print(f"{len(faults)} faults, each of whose texts occurs once")
        return 0
    if given.skip_unless_full and os.environ.get("CDI_FULL") != "1":
        print(f"skipped '{len(faults)} faults are put in only with CDI_FULL=1'")
        return 77
    if COMPILER is None:
        print("skipped 'neither clang++ nor g++ is installed'")
        return 77
    chosen = [fault for fault in faults if not given.ids or fault["id"] in given.ids]
    missed = try_all(chosen, given.jobs)
    print(f"{len(chosen) - missed} of {len(chosen)} faults are found")
    return int(missed != 0)


if __name__ == "__main__":
    sys.exit(main())
