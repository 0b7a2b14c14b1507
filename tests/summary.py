#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Adds up the test results of several builds: summary.py FAILED BUILD...

FAILED is 1 if a build or a test run failed, even if no test reports it. Prints the slowest tests,
and the end of what each failed test printed. Exits with 1 if anything failed.
"""
import json
import pathlib
import re
import sys


SKIPPED = re.compile(r"skipped ['\"](.*)['\"]$", re.M)
SLOWEST = 10  # tests that are printed
END = 25  # lines of a failed test that are printed


def printed(test):
    return test.get("stdout", "") + test.get("stderr", "")


def count(test):
    """(passed, failed, skipped) of one test program, from the output of its framework."""
    out = printed(test)
    good = test["result"] in ("OK", "EXPECTEDFAIL")
    found = re.search(r"test cases: +\d+ \| +(\d+) passed \| +(\d+) failed \| +(\d+) skipped", out)
    if found:  # doctest; a case that prints why it is skipped has not passed
        skips = len(SKIPPED.findall(out))
        numbers = (int(found[1]) - skips, int(found[2]), int(found[3]) + skips)
    elif found := re.search(r"^Ran (\d+) tests?", out, re.M):  # unittest
        bad = sum(map(int, re.findall(r"(?:failures|errors)=(\d+)", out)))
        skipped = sum(map(int, re.findall(r"skipped=(\d+)", out)))
        numbers = (max(0, int(found[1]) - bad - skipped), bad, skipped)  # a module may be skipped
    elif found := re.search(r"(\d+) match, (\d+) deviate as listed, (\d+) wrong", out):
        numbers = (int(found[1]) + int(found[2]), int(found[3]), 0)
    elif test["result"] == "SKIP":
        numbers = (0, 0, 1)
    else:
        numbers = (1, 0, 0) if good else (0, 1, 0)
    if not good and test["result"] != "SKIP" and numbers[1] == 0:  # crashed, or timed out
        numbers = (numbers[0], 1, numbers[2])
    return numbers


total = [0, 0, 0]
reasons = {}
wrong = []
durations = []
for build in map(pathlib.Path, sys.argv[2:]):
    log = build / "meson-logs" / "testlog.json"
    if not log.exists():
        wrong.append(f"{build}: failed before its tests ran")
        total[1] += 1
        continue
    for line in log.read_text().splitlines():
        test = json.loads(line)
        numbers = count(test)
        total = [a + b for a, b in zip(total, numbers)]
        if numbers[1]:
            end = "".join(f"\n  | {line[:200]}" for line in printed(test).splitlines()[-END:])
            wrong.append(f"{build}: {test['name']}: {numbers[1]} failed{end}")
        durations.append((test["duration"], f"{build}: {test['name'].rpartition(':')[2]}"))
        for reason in SKIPPED.findall(printed(test)):
            reasons[reason] = reasons.get(reason, 0) + 1

for seconds, name in sorted(durations, reverse=True)[:SLOWEST]:
    print(f"{seconds:.0f} s: {name}")
for line in wrong:
    print(line)
for reason, times in reasons.items():
    print(f"skipped {times}: {reason}")
if sys.argv[1] != "0" and total[1] == 0:
    print("a build or a test run failed, see above")
    total[1] += 1
print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
sys.exit(total[1] != 0)
