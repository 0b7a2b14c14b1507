#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fuzzes targets that build.sh made: campaign.py FOLDER SECONDS [--write] [TARGET...]

Each target runs SECONDS, one on each processor at a time, from its corpus and what an earlier
campaign found, which FOLDER/found keeps. Prints a line for each: the processor seconds and inputs
of all campaigns, which FOLDER/totals.json keeps; the places of the code reached; and findings,
which are files in FOLDER/found/TARGET. --write puts the lines of all targets in docs/evidence.md.
Exits with 1 if there are findings.
"""
import concurrent.futures
import json
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


def run(folder, target, seconds):
    """Fuzzes a target. Returns what it adds to the totals."""
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
    return {"seconds": used, "inputs": int(tried[1]) if tried else 0,
            "places": int(places[-1]) if places else 0}


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
    kept = folder / "totals.json"
    totals = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    targets = arguments[2:] or sorted(path.stem for path in folder.glob("*.dict"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for target, new in zip(targets, pool.map(lambda one: run(folder, one, seconds), targets)):
            old = totals.get(target, {"seconds": 0, "inputs": 0})
            totals[target] = {**new, "seconds": old["seconds"] + new["seconds"],
                              "inputs": old["inputs"] + new["inputs"]}
            kept.write_text(json.dumps(totals), encoding="utf-8")
            print(line_of(folder, target, totals[target]), flush=True)
    lines = [line_of(folder, target, total) for target, total in sorted(totals.items())]
    if "--write" in sys.argv:
        write_table("fuzzing", "tests/fuzz/campaign.py FOLDER SECONDS --write", [*HEAD, *lines])
    return int(any(findings_of(folder, target) for target in totals))


if __name__ == "__main__":
    sys.exit(main())
