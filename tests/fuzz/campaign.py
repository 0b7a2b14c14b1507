#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fuzzes targets that build.sh made: campaign.py FOLDER SECONDS [--write] [TARGET...]

Each target runs for SECONDS of processor time, one on each processor at a time, from its corpus and
what an earlier campaign found, which FOLDER/found keeps. Prints a line for each: the processor
seconds and inputs of all campaigns, which FOLDER/totals.json keeps; the places of the code reached;
and findings, which are files in FOLDER/found/TARGET. A campaign that is interrupted loses at most
the last five minutes of a target. --write puts the lines of all targets in docs/evidence.md. Exits
with 1 if there are findings.
"""
import concurrent.futures
import fcntl
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True
import made_up_specs  # noqa: E402  pylint: disable=wrong-import-position
import vector_inputs  # noqa: E402  pylint: disable=wrong-import-position
from evidence import write_table  # noqa: E402  pylint: disable=wrong-import-position

HERE = pathlib.Path(__file__).resolve().parent
HEAD = ["| target | processor seconds | inputs | places reached | findings |",
        "|---|---|---|---|---|"]
ROUND = 300  # seconds, after which the totals are saved
FINDING = re.compile(r"(crash|leak|timeout|oom|slow-unit)-[0-9a-f]+")


def corpus_of(target):
    own = HERE / "corpus" / target.removeprefix("go_")
    return own if own.is_dir() else HERE / "corpus/spec"


def run_measured(command, log):
    """Runs a command with its messages in a file. Returns its exit status and processor seconds."""
    with log.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=file) as started:
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
    return started.returncode, used.ru_utime + used.ru_stime


def fuzz(folder, target, seconds):
    """Fuzzes a target once. Returns its exit status and what it adds to the totals."""
    found = folder / "found" / target
    found.mkdir(parents=True, exist_ok=True)
    made = folder / "made" / target
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    if target.startswith("go_"):
        vector_inputs.write(vector_inputs.inputs(target), made)
        vector_inputs.write(made_up_specs.inputs(target, time.time_ns(), 10 * seconds), made)
    log = folder / "found" / f"{target}.log"
    code, used = run_measured(
        [folder / target, f"-max_total_time={seconds}", f"-dict={HERE / 'yaml.dict'}",
         f"-artifact_prefix={found}/", "-timeout=10", "-print_final_stats=1", found, made,
         corpus_of(target)], log)
    messages = log.read_text(encoding="utf-8", errors="replace")
    places = re.findall(r"\bcov: (\d+)", messages)
    tried = re.search(r"stat::number_of_executed_units: *(\d+)", messages)
    if code != 0 and not findings_of(folder, target):
        raise SystemExit(f"{target} failed:\n{messages[-2000:]}")
    return code, {"seconds": used, "inputs": int(tried[1]) if tried else 0,
                  "places": int(places[-1]) if places else 0}


class Totals:
    """What all campaigns did, by target, in a file. Campaigns of other targets may add to it."""

    def __init__(self, path):
        self._path = path
        self.by_target = self._read()

    def _read(self):
        return json.loads(self._path.read_text(encoding="utf-8")) if self._path.exists() else {}

    def add(self, target, new):
        with self._path.with_suffix(".lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.by_target = self._read()
            old = self.by_target.get(target, {"seconds": 0, "inputs": 0})
            self.by_target[target] = {**new, "seconds": old["seconds"] + new["seconds"],
                                      "inputs": old["inputs"] + new["inputs"]}
            new_file = self._path.with_suffix(".new")  # an interruption leaves the old totals
            new_file.write_text(json.dumps(self.by_target), encoding="utf-8")
            new_file.replace(self._path)


def run(folder, target, seconds, totals):
    """Fuzzes a target in rounds, until it has used the processor seconds or fails."""
    left = seconds
    while left > 0:
        code, new = fuzz(folder, target, min(ROUND, math.ceil(left)))
        totals.add(target, new)
        left = left - new["seconds"] if code == 0 else 0
    return target


def findings_of(folder, target):
    return [name for name in os.listdir(folder / "found" / target) if FINDING.fullmatch(name)]


def line_of(folder, target, total):
    return (f"| {target} | {total['seconds']:,.0f} | {total['inputs']:,} | {total['places']:,} "
            f"| {len(findings_of(folder, target))} |")


def main():
    arguments = [word for word in sys.argv[1:] if word != "--write"]
    if len(arguments) < 2 or not arguments[1].isdigit():
        print(__doc__, file=sys.stderr)
        return 2
    folder, seconds = pathlib.Path(arguments[0]).resolve(), int(arguments[1])
    totals = Totals(folder / "totals.json")
    targets = arguments[2:] or sorted(path.stem for path in folder.glob("*.dict"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for target in pool.map(lambda one: run(folder, one, seconds, totals), targets):
            print(line_of(folder, target, totals.by_target[target]), flush=True)
    lines = [line_of(folder, target, total) for target, total in sorted(totals.by_target.items())]
    if "--write" in sys.argv:
        write_table("fuzzing", "tests/fuzz/campaign.py FOLDER SECONDS --write", [*HEAD, *lines])
    return int(any(findings_of(folder, target) for target in totals.by_target))


if __name__ == "__main__":
    sys.exit(main())
