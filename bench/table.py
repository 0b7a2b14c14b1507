#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0
"""Prints the table of run.sh: table.py FOLDER [--json FILE] [--readme]

FOLDER has a file PROGRAM.ROUND for each program and round, with a name and a number on each line.
"""
import argparse
import json
import pathlib
import re
import statistics
import textwrap
import typing

PROJECT = pathlib.Path(__file__).resolve().parents[1]
README = PROJECT / "README.md"
PAGE = PROJECT / "docs/speed.md"
TABLE = re.compile(r"^\| \| ours \|.*\n(?:\|.*\n)+", re.M)
VERSIONS = re.compile(r"^Measured with .*(?:\n.+)*\n", re.M)

PEERS = {"go-1.1.1": "Go 1.1.1", "go-0.5.2": "Go 0.5.2", "rust-1.1.1": "Rust 1.1.1"}
LIBRARIES = {"nlohmann": "nlohmann json", "nlohmann_ordered": "ordered_json",
             "rapidjson": "rapidjson", "simdjson": "simdjson", "libyaml": "libyaml events",
             "yaml_cpp": "yaml-cpp", "empty": "empty C program"}


class Row(typing.NamedTuple):
    """A row of the table."""
    label: str
    name: str  # of our measurement
    theirs: str = ""  # the name of what it is compared with, if it is not the same
    unit: str = "us"
    in_readme: bool = False


def rows_of_reading():
    for size, words in (("4kB", "4 kB"), ("60kB", "60 kB, like NVIDIA's"),
                        ("5MB", "5 MB, 10,000 devices")):
        for form in ("YAML", "JSON"):
            yield Row(f"read a spec of {words}: {form}", f"read_{size}_{form.lower()}",
                      in_readme=size == "60kB")


def rows_of_processes():
    for form in ("YAML", "JSON"):
        yield Row(f"process, `cdi inject`, a spec of 60 kB: {form}", f"cold_{form.lower()}",
                  in_readme=True)
    yield Row("process, `cdi --version`", "cold_version")


def rows_of_refreshes():
    for files in (1, 10, 100, 1000):
        words = f"{files} file{'s' if files > 1 else ''}"
        for tail, name in (("load", "load"), ("check, none changed", "unchanged"),
                           ("check, one changed", "changed"),
                           ("check with inotify, none changed", "watched")):
            yield Row(f"{words}: {tail}", f"{name}_{files}", in_readme=files == 1000)


def rows_of_lookups():
    for words, name, most in (("find a device among", "hit", 1_000_000),
                              ("find none among", "miss", 1_000_000),
                              ("find a device, kept current by a thread, among", "current_hit",
                               100_000)):
        for devices in (100, 10_000, 100_000, 1_000_000):
            if devices <= most:
                yield Row(f"{words}: {devices:,}", f"{name}_{devices}", unit="ns",
                          in_readme=name == "hit")


REST = (
    Row("check a name: short", "name_short", unit="ns"),
    Row("check a name: long", "name_long", unit="ns"),
    Row("check a name: not valid", "name_invalid", "name_reason", unit="ns"),
    Row("check a name: not valid, with the reason", "name_reason", unit="ns"),
    Row("inject into a config as: `oci::Spec`", "inject_model", in_readme=True),
    Row("inject into a config as: `nlohmann::json`", "inject_json", "inject_model"),
    Row("inject into a config as: `ordered_json`", "inject_ordered", "inject_model",
        in_readme=True),
    Row("inject into a config as: C structs of libocispec", "inject_c_structs", "inject_model"),
    Row("inject into a config as: protobuf messages of Kata", "inject_protobuf", "inject_model"),
    Row("config text to text: `cdi::inject_json`", "text_direct", "text_model", in_readme=True),
    Row("config text to text: C, `cdi_cache_inject_json`", "text_c", "text_model"),
    Row("config text to text: through `oci::Spec`", "text_model", in_readme=True),
    Row("config text to text: through `ordered_json`", "text_ordered", "text_model",
        in_readme=True),
    Row("peak memory: 5 MB of YAML, 10,000 devices", "process_5MB_yaml_peak", unit="kB"),
    Row("peak memory: 5 MB of JSON, 10,000 devices", "process_5MB_json_peak", unit="kB",
        in_readme=True),
    Row("peak memory: 1000 files", "process_1000_peak", unit="kB", in_readme=True),
    Row("peak memory: `cdi inject`, 60 kB of YAML", "cold_yaml_peak", unit="kB"),
)
ROWS = (*rows_of_reading(), *rows_of_processes(), *rows_of_refreshes(), *rows_of_lookups(), *REST)


def rounds(folder, program):
    """The measurements of a program, a dictionary for each round; empty if it did not run."""
    paths = sorted(folder.glob(f"{program}.[0-9]*"), key=lambda path: int(path.suffix[1:]))
    lines = [[line.split() for line in path.read_text().splitlines()] for path in paths]
    return [{name: float(number) for name, number in of_round} for of_round in lines]


def spread(numbers):
    return {"median": statistics.median(numbers), "min": min(numbers), "max": max(numbers)}


def measured(folder):
    """A dictionary for each row: our spread, and the spread of the ratio of each other program."""
    ours = rounds(folder, "ours")
    others = {label: rounds(folder, program) for program, label in {**PEERS, **LIBRARIES}.items()}
    table = []
    for row in ROWS:
        if row.name not in ours[0]:
            continue
        theirs = row.theirs or row.name
        ratios = {label: spread([b[theirs] / a[row.name] for a, b in zip(ours, of_program)])
                  for label, of_program in others.items()
                  if of_program and theirs in of_program[0]}
        table.append({"row": row.label, "unit": row.unit, "in_readme": row.in_readme,
                      "ours": spread([of_round[row.name] for of_round in ours]), **ratios})
    return table


def digits(number):
    """About two significant digits."""
    return f"{number:.0f}" if number >= 9.95 else f"{number:.{1 if number >= 0.995 else 2}f}"


def short_unit(number, unit):
    """The unit that makes a number short, and how many of the given unit it is."""
    factor = 1
    for larger in {"ns": ("us", "ms"), "us": ("ms", "s"), "kB": ("MB",)}[unit]:
        if number < 1000 * factor:
            break
        factor, unit = 1000 * factor, larger
    return unit, factor


def cell(of_row, label, with_spread):
    """What the table has for a row and a program."""
    if label not in of_row:
        return "-"
    found, unit, factor = of_row[label], "", 1
    if label == "ours":
        unit, factor = short_unit(found["median"], of_row["unit"])
        unit = f" {unit}"
    least, most = digits(found["min"] / factor), digits(found["max"] / factor)
    return digits(found["median"] / factor) + unit + (f" [{least}..{most}]" if with_spread else "")


def cells(table, with_spread=True):
    """The table as text: a head, and a list of cells for each row."""
    peers = [label for label in PEERS.values() if any(label in of_row for of_row in table)]
    columns = ["ours", *peers]
    lines = [["", *columns]]
    lines += [[of_row["row"], *(cell(of_row, label, with_spread) for label in columns)]
              for of_row in table]
    return lines


def with_libraries(table):
    """The same, with a last column for the libraries."""
    alone = ["; ".join(f"{label} {cell(of_row, label, True)}" for label in LIBRARIES.values()
                       if label in of_row) for of_row in table]
    return [[*line, last] for line, last in zip(cells(table), ["libraries", *alone])]


def joined(lines):
    """The same with one line for lines that differ only after the last colon."""
    found = [list(lines[0])]
    for line in lines[1:]:
        group, _, tail = line[0].rpartition(": ")
        if found[-1][0].startswith(f"{group}: "):
            found[-1] = [f"{cell}; {more}" for cell, more in zip(found[-1], [tail, *line[1:]])]
        else:
            found.append(list(line))
    return found


def print_table(lines):
    widths = [max(map(len, column)) for column in zip(*lines)]
    for first, *middle, last in lines:
        numbers = (text.rjust(width) for text, width in zip(middle, widths[1:]))
        print("  ".join([first.ljust(widths[0]), *numbers, last]).rstrip())


def markdown(lines):
    head, *rest = [("| " + " | ".join(line) + " |\n").replace("|  |", "| |") for line in lines]
    return "".join([head, "|---" * len(lines[0]) + "|\n", *rest])


def rewrite(path, pattern, text):
    page, changes = pattern.subn(lambda _: text, path.read_text(encoding="utf-8"))
    if changes != 1:
        raise SystemExit(f"{path}: {changes} places for {pattern.pattern}, not one")
    path.write_text(page, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--readme", action="store_true")
    given = parser.parse_args()
    table = measured(given.folder)
    versions = (given.folder / "versions").read_text(encoding="utf-8").splitlines()
    print(*versions, sep="; ")
    print_table(with_libraries(table))
    if given.json:
        text = json.dumps({"versions": versions, "table": table}, indent=1)
        given.json.write_text(text + "\n", encoding="utf-8")
    if given.readme:
        short = [of_row for of_row in table if of_row["in_readme"]]
        rewrite(README, TABLE, markdown(joined(cells(short, with_spread=False))))
        rewrite(PAGE, TABLE, markdown(with_libraries(table)))
        words = f"Measured with {'; '.join(versions)}."
        rewrite(PAGE, VERSIONS, textwrap.fill(words, 100) + "\n")


if __name__ == "__main__":
    main()
