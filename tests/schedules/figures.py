#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
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
LINE = re.compile(r"(\w+): .*: event limit (\d+), (\d+) schedules, (\d+) steps, (\d+) kills, "
                  r"(\d+) power cuts")
PARTS = {"claims": "claims", "cache": "a cache and a writer", "publishers": "two publishers",
         "rewriters": "two programs that rewrite a file"}


def explored(program):
    """The line of the table for a test program."""
    done = subprocess.run([program], env={**os.environ, "CDI_FULL": "1"}, stdout=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{program} failed:\n{done.stdout[-4000:]}")
    lines = LINE.findall(done.stdout)
    part, events = lines[0][:2]
    sums = [sum(int(line[at]) for line in lines) for at in range(2, 6)]
    cells = [PARTS[part], str(len(lines)), events, *(f"{number:,}" for number in sums)]
    return "| " + " | ".join(cells) + " |"


def main():
    arguments = [word for word in sys.argv[1:] if word != "--write"]
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    found = sorted(pathlib.Path(arguments[0], "tests/schedules").glob("test-schedules-*"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        table = [*HEAD, *pool.map(explored, [path for path in found if path.is_file()])]
    print("\n".join(table))
    if "--write" in sys.argv:
        write_table("schedules", "tests/schedules/figures.py --write", table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
