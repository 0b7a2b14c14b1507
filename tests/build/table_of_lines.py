#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Prints the lines of code by folder, and fails if a folder has more than its budget.

Budgets only shrink: what is new replaces something. `--shrink` lowers them to what there is, rounded
up to a hundred.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = (".hpp", ".inl", ".h", ".cpp", ".c", ".py", ".sh", ".go")
# What each folder may have, and what it should have at last.
BUDGETS = {
    "include": (31_700, 30_500),
    "src": (1_300, 1_500),
    "tools": (52_100, 44_000),
    "examples": (2_500, 2_600),
    "tests": (95_500, 90_000),
}


def lines_of(folder):
    return sum(path.read_bytes().count(b"\n") for path in (ROOT / folder).rglob("*")
               if path.suffix in CODE and path.is_file())


def shrink(found):
    text = pathlib.Path(__file__).read_text(encoding="utf-8")
    for name, (budget, _) in BUDGETS.items():
        lower = min(budget, -(-found[name] // 100) * 100)
        text = re.sub(rf'("{name}": \()[\d_]+', rf"\g<1>{lower:_}", text)
    pathlib.Path(__file__).write_text(text, encoding="utf-8")


def main():
    found = {folder: lines_of(folder) for folder in BUDGETS}
    if sys.argv[1:] == ["--shrink"]:
        shrink(found)
    print(f"{'folder':10} {'lines':>7} {'budget':>7} {'aim':>7}")
    for name, (budget, aim) in BUDGETS.items():
        exceeded = " exceeded" if found[name] > budget else ""
        print(f"{name:10} {found[name]:7,} {budget:7,} {aim:7,}{exceeded}")
    return any(found[name] > budget for name, (budget, _) in BUDGETS.items())


sys.exit(main())
