#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Counts the branches of the tools that their tests take: tool_coverage.py BUILD [--write]

Builds the tools and their tests in the folder BUILD with clang++, and runs the unit tests of
tools/ and the suites `cli` and `container`, but no slow tests. Processes that are killed,
or that call `_exit`, count too, also those that tests start as another user. Prints a row for each
tool, and with -v each branch that no test takes. --write writes docs/evidence.md. Takes half an
hour on two cores.
"""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from coverage import (CLANGXX, PROFDATA, PROJECT, missed_ways, read_counts, run, shown_counts)
from evidence import write_table

SUITES = {"cli", "container"}
TOOLS = PROJECT / "tools"


def launched(compiler):
    return f"ccache {compiler}" if shutil.which("ccache") else compiler


def configure(build):
    if (build / "build.ninja").exists():
        return
    # Not in LLVM_PROFILE_FILE: some tests start tools with an environment of their own.
    # %c maps the counters to the file, so that they outlive a process that is killed.
    counted = f"-fprofile-instr-generate={build}/counts/%m%c.profraw"
    mapped = f"{counted} -fcoverage-mapping -mllvm -runtime-counter-relocation"
    flags = [f"-D{language}_{kind}_args={words}".replace("__", "_") for language in ("c", "cpp")
             for kind, words in (("", mapped), ("link", counted))]
    run("meson", "setup", build, "-Doptimization=0", "-Ddebug=false", "-Dtests=enabled",
        "-Dcompiled=disabled", "-Dunity=on", "-Db_lundef=false", *flags, cwd=PROJECT,
        env={**os.environ, "CXX": launched(CLANGXX), "CC": launched(CLANGXX.replace("++", ""))})


def introspect(build, what):
    return json.loads(run("meson", "introspect", f"--{what}", build))


def programs_of(build):
    """The tools, and the programs of their unit tests."""
    return [pathlib.Path(target["filename"][0]) for target in introspect(build, "targets")
            if target["type"] == "executable" and
            (target["name"].startswith("test-tools") or
             TOOLS in pathlib.Path(target["defined_in"]).parents)]


def make_writable(build, counts):
    """Makes the files of counts, since tools that a test starts as another user could not."""
    counts.chmod(0o777)
    tools = [path for path in programs_of(build) if path.is_relative_to(build / "tools")]
    run("ninja", "-C", build, *(tool.relative_to(build) for tool in tools))
    for tool in tools:
        subprocess.run([tool, "--help"], stdout=subprocess.DEVNULL, check=False)
    for file in counts.iterdir():
        file.chmod(0o666)


def run_tests(build):
    """Runs the tests of the tools. Programs add their counts to one file for each program."""
    names = [test["name"] for test in introspect(build, "tests")
             if "slow" not in "".join(test["suite"]) and
             (test["name"].startswith("tools/") or
              SUITES & {suite.rpartition(":")[2] for suite in test["suite"]})]
    counts = build / "counts"
    shutil.rmtree(counts, ignore_errors=True)
    counts.mkdir()
    make_writable(build, counts)
    subprocess.run(["meson", "test", "-C", build, "--quiet", "--timeout-multiplier", "5", *names],
                   check=False)
    run(PROFDATA, "merge", "-sparse", *counts.glob("*.profraw"), "-o", build / "all.profdata")


def table_of(files):
    """A row for each tool: its files, branches, and those that tests take."""
    rows = collections.defaultdict(lambda: [0, 0, 0])
    for name, places in files.items():
        for row in (rows[name.split("/")[2]], rows["all"]):
            row[0] += 1
            row[1] += 2 * len(places)
            row[2] += sum(map(len, places.values()))
    yield "| tool | files | branches | taken | taken |"
    yield "|---|---|---|---|---|"
    for tool, (count, ways, taken) in sorted(rows.items()):
        name = "all" if tool == "all" else f"`{tool}/`"
        yield f"| {name} | {count} | {ways:,} | {taken:,} | {100 * taken / max(1, ways):.1f} % |"


def main(arguments):
    options = {"--write", "-v"} & {*arguments}
    paths = [word for word in arguments if word not in options]
    if len(paths) != 1 or paths[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    build = pathlib.Path(paths[0]).resolve()
    configure(build)
    run_tests(build)
    programs = [path for path in programs_of(build) if path.exists()]
    files = read_counts(shown_counts(build, programs, []), "tools/")
    table = list(table_of(files))
    print("\n".join(table))
    if "-v" in options:
        for name, line, text, way in missed_ways(files):
            print(f"{name}:{line}: never {way}: {text}")
    if "--write" in options:
        write_table("tool coverage", "tests/coverage/tool_coverage.py BUILD --write", table)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
