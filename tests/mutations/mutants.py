#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes mutants of headers, each with one small change, and counts those that unit tests reject.

usage: mutants.py [--list] [--count N] [--seed TEXT] [--build DIR] [--jobs N] [--write] [FOLDER...]

Of each folder, N mutants are tried, which the seed chooses: the header's own test is built and run,
then up to OTHERS tests that execute the changed line. A mutant that does not compile is not counted.
equivalent.toml lists mutants that do the same as the original, with the reason; --list only checks
that each is a mutant of a header. With --build, results stay in DIR, and the next call only tries
what is new or has survived; with --tried, it only counts. --write writes docs/evidence.md.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import tomllib

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "coverage"))
import coverage  # noqa: E402  pylint: disable=wrong-import-position
from coverage import CLANGXX, FOLDERS, PROJECT  # noqa: E402  pylint: disable=wrong-import-position
from evidence import write_table  # noqa: E402  pylint: disable=wrong-import-position
from made_mutants import all_mutants, sample  # noqa: E402  pylint: disable=wrong-import-position

EQUIVALENT = PROJECT / "tests/mutations/equivalent.toml"
OTHERS, TIMEOUT, MEMORY = 3, 60, 4 << 30
# With the checks of libstdc++, as an access out of bounds may have no effect: the project's tests
# also run with the address sanitizer, which would report it.
FLAGS = ["-std=c++20", "-O0", "-pthread", "-w", "-D_GLIBCXX_ASSERTIONS",
         f'-DCDI_TEST_DATA="{PROJECT}/tests/data"']
# What most tests include besides headers of the library.
PARSED = "".join(f"#include <{name}>\n" for name in "doctest/doctest.h nlohmann/json.hpp filesystem "
                 "functional map optional string vector".split())

def tests_for(mutant, lines):
    own = PROJECT / re.sub(r"include/(.*)\.\w+$", r"tests/\1_test.cpp", mutant.file)
    others = [test for test in lines.get((mutant.file, mutant.number), []) if test != own]
    others.sort(key=lambda test: test.parent != own.parent)
    return [own] * own.exists() + others[:OTHERS]


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def is_rejected(tree, test):
    """Whether a test fails with the headers of a tree; None if it does not compile."""
    build = [CLANGXX, *FLAGS, f"-I{tree}/include", "-include-pch", tree.parent / "pch", test,
             tree.parent / "main.o", "-o", tree / "program"]
    if subprocess.run(build, capture_output=True, check=False).returncode != 0:
        return None
    try:
        return subprocess.run([tree / "program", "--no-version", "--minimal", "--abort-after=1"],
                              cwd=tree, timeout=TIMEOUT, capture_output=True, check=False,
                              preexec_fn=limit_memory).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def result_of(mutant, tree, lines):
    header = tree / mutant.file
    text = header.read_text(encoding="utf-8")
    changed = text.split("\n")
    changed[mutant.number - 1] = mutant.into
    header.write_text("\n".join(changed), encoding="utf-8")
    results = (is_rejected(tree, test) for test in tests_for(mutant, lines))
    result = next((one for one in results if one is not False), False)
    header.write_text(text, encoding="utf-8")
    return {None: "no mutant", True: "rejected", False: "survived"}[result]


def try_some(todo, tree, lines, log):
    """Tries mutants in one copy of the headers, and writes each result to the log."""
    shutil.copytree(PROJECT / "include", tree / "include")
    for mutant in todo:
        result = result_of(mutant, tree, lines)
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps([mutant.key, result]) + "\n")


def try_all(mutants, build, jobs, log):
    lines = coverage.lines_of_tests(build)
    todo = iter(mutants)  # shared by the threads
    with tempfile.TemporaryDirectory(prefix="cdi-mutants-") as name:
        folder = pathlib.Path(name)
        (folder / "pch.hpp").write_text(PARSED, encoding="utf-8")
        coverage.run(CLANGXX, *FLAGS, "-x", "c++-header", folder / "pch.hpp", "-o", folder / "pch")
        coverage.run(CLANGXX, *FLAGS, "-c", PROJECT / "tests/support/main.cpp", "-o", folder / "main.o")
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for each in [pool.submit(try_some, todo, folder / str(number), lines, log)
                         for number in range(jobs)]:
                each.result()


def read_log(log):
    return dict(map(json.loads, log.read_text(encoding="utf-8").splitlines())) if log.exists() else {}


def table_of(samples, results, equal):
    yield "| folder | mutants | rejected | the same as the original | survived | rejected of the rest |"
    yield "|---|---|---|---|---|---|"
    for folder, mutants in samples.items():
        counts = collections.Counter("equal" if one.key in equal else results.get(one.key)
                                     for one in mutants)
        rejected, survived = counts["rejected"], counts["survived"]
        yield (f"| `{folder}/` | {rejected + survived + counts['equal']} | {rejected} | "
               f"{counts['equal']} | {survived} | {100 * rejected / max(1, rejected + survived):.1f} % |")


def check_list(equal):
    known = {key for folder in FOLDERS for key in all_mutants(folder)}
    for key in equal - known:
        print(f"{EQUIVALENT.relative_to(PROJECT)}: this is no mutant of a header: {key}")
    return int(not equal <= known)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="only check the list")
    parser.add_argument("--count", type=int, default=60, metavar="N")
    parser.add_argument("--seed", default="1", metavar="TEXT")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--tried", action="store_true", help="only count what was tried before")
    parser.add_argument("--write", action="store_true", help="write docs/evidence.md")
    parser.add_argument("folders", nargs="*", default=FOLDERS, metavar="FOLDER")
    given = parser.parse_args()
    equal = {one["mutant"]
             for one in tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["equivalent"]}
    if given.list:
        return check_list(equal)
    samples = {folder: sample(folder, given.count, given.seed) for folder in given.folders}
    every = [one for mutants in samples.values() for one in mutants]
    with tempfile.TemporaryDirectory(prefix="cdi-mutants-") as folder:
        build = (given.build or pathlib.Path(folder) / "build").resolve()
        log = build / "mutants.log"
        if not build.exists():
            build.mkdir(parents=True)
            coverage.measure(build, FOLDERS, given.jobs)
        before = read_log(log)
        if not given.tried:
            try_all([one for one in every if one.key not in equal and
                     before.get(one.key, "survived") == "survived"], build, given.jobs, log)
        results = read_log(log)
    for one in every:
        if results.get(one.key) == "survived" and one.key not in equal:
            print(f"survived: {one.number}: {one.key}")
    table = list(table_of(samples, results, equal))
    print("\n".join(table))
    if given.write:
        write_table("mutants", "tests/mutations/mutants.py "
                             f"--count {given.count} --seed {given.seed} --write", table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
