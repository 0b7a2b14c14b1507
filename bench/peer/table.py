#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0
"""Prints the table of run.sh. usage: table.py FOLDER OURS PEER...

FOLDER has a file PROGRAM.ROUND for each program and round, with a name and a number on each line.
"""
import pathlib
import statistics
import sys

FOLDER, OURS, *PEERS = sys.argv[1:]


def rounds(program):
    """The measurements of a program, a dictionary for each round."""
    paths = sorted(pathlib.Path(FOLDER).glob(f"{program}.*[0-9]"),
                   key=lambda path: int(path.suffix[1:]))
    lines = [[line.split() for line in path.read_text().splitlines()] for path in paths]
    return [{name: float(number) for name, number in of_round} for of_round in lines]


def ratio(ours, theirs, name):
    """The median of the rounds' ratios, with the minimum and the maximum."""
    if name not in theirs[0]:
        return "-"
    ratios = [b[name] / a[name] for a, b in zip(ours, theirs)]
    return f"{statistics.median(ratios):.2f} [{min(ratios):.2f}..{max(ratios):.2f}]"


ours, peers = rounds(OURS), [rounds(peer) for peer in PEERS]
rows = [["", "ours", *(f"{peer} / ours" for peer in PEERS)]]
for name in ours[0]:
    median = statistics.median(of_round[name] for of_round in ours)
    rows.append([name, f"{median:.1f}", *(ratio(ours, peer, name) for peer in peers)])
widths = [max(map(len, column)) for column in zip(*rows)]
for first, *others in rows:
    numbers = (cell.rjust(width) for cell, width in zip(others, widths[1:]))
    print(first.ljust(widths[0]), *numbers, sep="  ")
