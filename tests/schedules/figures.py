#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Explores the schedules of the model and sums up what was explored: figures.py BUILD [--write]

BUILD is a build folder with the tests of the model, which run as with CDI_FULL=1: for minutes.
Prints a table; --write puts it in docs/evidence.md. Exits with 1 if a test fails.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from evidence import write_table  # noqa: E402  pylint: disable=wrong-import-position

HEAD = ["| processes | scenarios | event limit | schedules | steps | kills | power cuts |",
        "|---|---|---|---|---|---|---|"]
LINE = re.compile(r"event limit (\d+), (\d+) schedules, (\d+) steps, (\d+) kills, (\d+) power cuts")
PARTS = {"cache": "a cache and a writer", "claims": "two drivers with claims", "publisher": "two publishers",
         "rewriter": "two programs that rewrite a file"}


def explored(program):
    """The line of the table for a test program."""
    done = subprocess.run([program], env={**os.environ, "CDI_FULL": "1"}, stdout=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{program} failed:\n{done.stdout[-4000:]}")
    lines = LINE.findall(done.stdout)
    sums = [sum(int(line[at]) for line in lines) for at in range(1, 5)]
    part = PARTS[program.name.rpartition("-")[2]]
    cells = [part, str(len(lines)), lines[0][0], *(f"{number:,}" for number in sums)]
    return "| " + " | ".join(cells) + " |"


def main():
    arguments = [word for word in sys.argv[1:] if word != "--write"]
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(arguments[0]).resolve() / "tests/schedules"
    programs = [folder / f"test-schedules-{part}" for part in PARTS]
    if missing := [program.name for program in programs if not program.exists()]:
        raise SystemExit(f"not built: meson compile -C {arguments[0]} {' '.join(missing)}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        table = [*HEAD, *pool.map(explored, programs)]
    print("\n".join(table))
    if "--write" in sys.argv:
        write_table("schedules", "tests/schedules/figures.py BUILD --write", table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
