#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fuzzes targets that build.sh made: campaign.py FOLDER SECONDS [--write] [TARGET...]

Each target runs SECONDS, from its corpus and what an earlier campaign found, which FOLDER/found
keeps. Prints a line for each: inputs tried, places of the code reached, and findings, which are
files in FOLDER/found/TARGET. --write puts the lines in docs/evidence.md. Exits with 1 if there are
findings.
"""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from evidence import write_table  # noqa: E402  pylint: disable=wrong-import-position

HERE = pathlib.Path(__file__).resolve().parent
HEAD = ["| target | seconds | inputs | places reached | findings |", "|---|---|---|---|---|"]
FINDING = re.compile(r"(crash|leak|timeout|oom|slow-unit)-[0-9a-f]+")


def corpus_of(target):
    own = HERE / "corpus" / target
    return own if own.is_dir() else HERE / "corpus/spec"


def run(folder, target, seconds):
    """The line of a target, and whether there are findings."""
    found = folder / "found" / target
    found.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [folder / target, f"-max_total_time={seconds}", f"-dict={HERE / 'yaml.dict'}",
         f"-artifact_prefix={found}/", "-timeout=10", "-print_final_stats=1", found,
         corpus_of(target)], capture_output=True, text=True, errors="replace", check=False)
    places = re.findall(r"\bcov: (\d+)", done.stderr)
    tried = re.search(r"stat::number_of_executed_units: *(\d+)", done.stderr)
    findings = [name for name in os.listdir(found) if FINDING.fullmatch(name)]
    if done.returncode != 0 and not findings:
        raise SystemExit(f"{target} failed:\n{done.stderr[-2000:]}")
    line = (f"| {target} | {seconds:,} | {int(tried[1]) if tried else 0:,} "
            f"| {int(places[-1]) if places else 0:,} | {len(findings)} |")
    return line, bool(findings)


def main():
    arguments = [word for word in sys.argv[1:] if word != "--write"]
    if len(arguments) < 2 or not arguments[1].isdigit():
        print(__doc__, file=sys.stderr)
        return 2
    folder, seconds = pathlib.Path(arguments[0]).resolve(), int(arguments[1])
    targets = arguments[2:] or sorted(path.stem for path in folder.glob("*.dict"))
    table, bad = [], False
    for target in targets:
        line, found = run(folder, target, seconds)
        print(line, flush=True)
        table, bad = [*table, line], bad or found
    if "--write" in sys.argv:
        write_table("fuzzing", "tests/fuzz/campaign.py --write", [*HEAD, *table])
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
