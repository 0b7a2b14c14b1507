#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Checks that the unit tests of some folders take each branch of these folders both ways.

usage: coverage.py [--build DIR] [--jobs N] [--write]

The unit tests of FOLDERS are built header-only with clang++ and run; llvm-cov counts how often each
condition was true and false, over all instances of a template. A way that no test takes must be in
exceptions.toml, with the reason why nothing can take it; an exception that is not needed is an
error. With --build, the build stays in DIR for the next call. With --write, docs/evidence.md gets
the table.

As a test (--skip-unless-full), it runs only with CDI_FULL=1.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from evidence import write_table  # noqa: E402  pylint: disable=wrong-import-position

PROJECT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["text", "rules", "apply", "targets", "registry", "requests"]
EXCEPTIONS = PROJECT / "tests/coverage/exceptions.toml"
COMMAND = "tests/coverage/coverage.py --write"
KEYS = {"file", "branch", "never", "reason"}
WAYS = {"true", "false"}
BRANCH = re.compile(r"\s*\|\s*Branch \((\d+):(\d+)\): \[True: (\S+), False: (\S+)\]")
FLAGS = ["-std=c++20", "-O0", "-pthread", "-fprofile-instr-generate", "-fcoverage-mapping"]


def first_of(*names):
    return next(filter(None, map(shutil.which, names)), None)


CLANGXX = first_of("clang++-14", "clang++")
LLVM_COV = first_of("llvm-cov-14", "llvm-cov")
PROFDATA = first_of("llvm-profdata-14", "llvm-profdata")


def run(*command, **options):
    """What a command prints; ends the program if it fails."""
    done = subprocess.run([*map(str, command)], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, errors="replace",
                          check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}")
    return done.stdout


def tests_of(folders):
    """The test files of folders of the library."""
    return sorted(path for folder in folders
                  for path in (PROJECT / "tests/cdi" / folder).rglob("*_test.cpp"))


def compile_file(source, output):
    cached = [ccache] if (ccache := shutil.which("ccache")) else []
    run(*cached, CLANGXX, *FLAGS, "-I", PROJECT / "include",
        f'-DCDI_TEST_DATA="{PROJECT}/tests/data"', "-c", source, "-o", output)


def program_of(test, build):
    return build / str(test.relative_to(PROJECT / "tests").with_suffix("")).replace("/", "_")


def run_test(source, build):
    """Builds a test and runs it; returns the program."""
    program = program_of(source, build)
    compile_file(source, f"{program}.o")
    run(CLANGXX, *FLAGS, f"{program}.o", build / "main.o", "-o", program)
    run(program, "--no-version", "--minimal", cwd=build,
        env={**os.environ, "LLVM_PROFILE_FILE": f"{program}.profraw"})
    return program


def shown_counts(build, programs, folders):
    """How often each condition in folders was true and false, as llvm-cov prints it."""
    return run(LLVM_COV, "show", f"-instr-profile={build}/all.profdata", "-show-branches=count",
               "-show-instantiations=false", programs[0],
               *(f"-object={program}" for program in programs[1:]), *folders)


def read_counts(shown, folder):
    """For each file in a folder and place (line, column) of a condition, the ways that tests took."""
    files = collections.defaultdict(lambda: collections.defaultdict(set))
    text = name = ""
    for line in shown.splitlines():
        if re.match(r"\s*\d+\|", line):
            text = line
        elif line.startswith("/") and line.endswith(":"):
            name = os.path.relpath(line[:-1], PROJECT)  # a path may have ".."
        # A condition that the compiler knows is "Folded", and has no ways; those of `= default` are
        # not in the text.
        elif (name.startswith(folder) and not text.endswith("= default;") and
              (found := BRANCH.match(line))):
            place = int(found[1]), int(found[2])
            files[name][place] |= {way for way, count in zip(("true", "false"), found.groups()[2:])
                                   if count != "0"}
    return files


def measure(build, folders, jobs):
    compile_file(PROJECT / "tests/support/main.cpp", build / "main.o")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        programs = list(pool.map(lambda test: run_test(test, build), tests_of(folders)))
    run(PROFDATA, "merge", "-sparse", *(f"{program}.profraw" for program in programs),
        "-o", build / "all.profdata")
    return read_counts(shown_counts(build, programs,
                                    [PROJECT / "include/cdi" / folder for folder in folders]),
                       "include/cdi/")


def lines_of_tests(build):
    """For each file and line, the tests of FOLDERS that execute it, the smallest first."""
    lines = collections.defaultdict(list)
    tests = tests_of(FOLDERS)
    for test in sorted(tests, key=lambda test: program_of(test, build).stat().st_size):
        program = program_of(test, build)
        run(PROFDATA, "merge", "-sparse", f"{program}.profraw", "-o", f"{program}.data")
        for line in run(LLVM_COV, "export", "-format=lcov", program, f"-instr-profile={program}.data",
                        *(PROJECT / "include/cdi" / folder for folder in FOLDERS)).splitlines():
            if line.startswith("SF:"):
                name = str(pathlib.Path(line[3:]).relative_to(PROJECT))
            elif found := re.match(r"DA:(\d+),[1-9]", line):
                lines[name, int(found[1])].append(test)
    return lines


def forget_chance(files, exceptions):
    """Leaves out the ways that a test may take by chance, so that the table does not depend on it."""
    for name, places in files.items():
        lines = (PROJECT / name).read_text(encoding="utf-8").splitlines()
        for one in (one for one in exceptions
                    if one.get("by_chance") and fnmatch.fnmatch(name, one["file"])):
            for (line, column), taken in places.items():
                if lines[line - 1][column - 1:].startswith(one["branch"]):
                    taken.discard(one["never"])


def missed_ways(files):
    """File, line, the condition's text from its first character, and the way not taken."""
    for name, places in sorted(files.items()):
        lines = (PROJECT / name).read_text(encoding="utf-8").splitlines()
        for (line, column), taken in sorted(places.items()):
            text = lines[line - 1][column - 1:]
            for way in sorted(WAYS - taken):
                yield name, line, text, way


def split_by_exceptions(missed, exceptions):
    """Splits the ways into those that are not excepted and those that are; and unused exceptions."""
    wanted, excepted, used = [], [], set()
    for name, line, text, way in missed:
        match = next((number for number, one in enumerate(exceptions) if fnmatch.fnmatch(name, one["file"]) and
                      text.startswith(one["branch"]) and one["never"] == way), None)
        used.add(match)
        (wanted if match is None else excepted).append((name, line, text, way))
    unused = [one for number, one in enumerate(exceptions)
              if number not in used and not one.get("by_chance")]
    return wanted, excepted, unused


def table_of(files, excepted):
    """A row for each folder: its conditions' ways, those taken, and those that are excepted."""
    rows = collections.defaultdict(lambda: [0, 0, 0, 0])
    for name, places in files.items():
        row = rows[name.split("/")[2]]
        row[0] += 1
        row[1] += 2 * len(places)
        row[2] += sum(map(len, places.values()))
    for name, *_ in excepted:
        rows[name.split("/")[2]][3] += 1
    yield "| folder | files | branches | taken | excepted | taken of the rest |"
    yield "|---|---|---|---|---|---|"
    for folder, (count, all_ways, taken, never) in sorted(rows.items()):
        share = 100 * taken / max(1, all_ways - never)
        yield f"| `{folder}/` | {count} | {all_ways} | {taken} | {never} | {share:.1f} % |"


def report(files, write):
    exceptions = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8")).get("exception", [])
    for one in exceptions:
        if set(one) - {"by_chance"} != KEYS or one["never"] not in WAYS:
            sys.exit(f"{EXCEPTIONS}: an exception has one each of {', '.join(sorted(KEYS))}: {one}")
    forget_chance(files, exceptions)
    wanted, excepted, unused = split_by_exceptions(missed_ways(files), exceptions)
    table = list(table_of(files, excepted))
    print("\n".join(table))
    for name, line, text, way in wanted:
        print(f"{name}:{line}: never {way}: {text}")
    for one in unused:
        print(f"this exception is not needed: {one['file']}: {one['branch']} is never {one['never']}")
    if write:
        write_table("coverage", COMMAND, table)
    print(f"{len(wanted)} branches are neither taken nor excepted")
    return int(bool(wanted or unused))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--write", action="store_true", help="write the table into docs/evidence.md")
    parser.add_argument("--skip-unless-full", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("folders", nargs="*", default=FOLDERS, metavar="FOLDER")
    given = parser.parse_args()
    if given.skip_unless_full and os.environ.get("CDI_FULL") != "1":
        print("skipped 'branches are counted only with CDI_FULL=1'")
        return 77
    if None in (CLANGXX, LLVM_COV, PROFDATA):
        print("skipped 'clang++ or llvm-cov is not installed'")
        return 77
    with tempfile.TemporaryDirectory(prefix="cdi-coverage-") as folder:
        build = (given.build or pathlib.Path(folder)).resolve()
        build.mkdir(parents=True, exist_ok=True)
        return report(measure(build, given.folders, given.jobs), given.write)


if __name__ == "__main__":
    sys.exit(main())
