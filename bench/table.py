#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Prints the table of run.sh: table.py FOLDER [--readme]

FOLDER has a file PROGRAM.ROUND for each program and round, with a name and a number on each line.
"""
import argparse
import pathlib
import re
import statistics
import textwrap
import typing

PROJECT = pathlib.Path(__file__).resolve().parents[1]
README = PROJECT / "README.md"
PAGE = PROJECT / "docs/speed.md"
TABLE = r"^\| {} ?\| ours \|.*\n(?:\|.*\n)+"
VERSIONS = r"^Measured in .*(?:\n.+)*\n"

PEERS = {"go-1.1.2": "Go 1.1.2", "go-0.5.2": "Go 0.5.2", "rust-1.1.1": "Rust 1.1.1"}
LIBRARIES = {"nlohmann": "nlohmann json", "nlohmann_ordered": "ordered_json",
             "rapidjson": "rapidjson", "simdjson": "simdjson", "libyaml": "libyaml events",
             "rapidyaml": "rapidyaml", "yaml_cpp": "yaml-cpp", "by_hand": "by hand",
             "empty": "empty C program"}


class Row(typing.NamedTuple):
    """A row of the table."""
    label: str
    name: str  # of our measurement
    theirs: str = ""  # the name of what peers measure, if it is not the same
    unit: str = "us"


def rows_of_reading():
    for size, words in (("4kB", "4 kB"), ("60kB", "60 kB, like NVIDIA's"),
                        ("5MB", "5 MB, 10,000 devices")):
        for form in ("YAML", "JSON"):
            yield Row(f"read a spec of {words}: {form}", f"read_{size}_{form.lower()}")


def rows_of_processes():
    for form in ("YAML", "JSON"):
        yield Row(f"process, `cdi inject`, a spec of 60 kB: {form}", f"cold_{form.lower()}")
    yield Row("process, `cdi --version`", "cold_version")


def rows_of_refreshes():
    for files in (1, 10, 100, 1000, 10_000):
        count = f"{files:,}" if files > 9999 else str(files)
        words = f"{count} file{'s' if files > 1 else ''}"
        for tail, name in (("load", "load"), ("check, none changed", "unchanged"),
                           ("check, one changed", "changed")):
            yield Row(f"{words}: {tail}", f"{name}_{files}")
    yield Row("1000 files: check with inotify, none changed", "watched_1000")


def rows_of_lookups():
    for devices in (1, 100, 10_000, 100_000, 1_000_000):
        yield Row(f"find a device among: {devices:,}", f"hit_{devices}", unit="ns")


REST = (
    Row("check a name: short", "name_short", unit="ns"),
    Row("check a name: long", "name_long", unit="ns"),
    Row("check a name: not valid", "name_invalid", "name_reason", unit="ns"),
    Row("check a name: not valid, with the reason", "name_reason", unit="ns"),
    Row("inject into a config as: `oci::Spec`", "inject_model"),
    Row("inject into a config as: `nlohmann::json`", "inject_json", "inject_model"),
    Row("inject into a config as: `ordered_json`", "inject_ordered", "inject_model"),
    Row("inject into a config as: C structs of libocispec", "inject_c_structs", "inject_model"),
    Row("inject into a config as: protobuf messages of Kata", "inject_protobuf", "inject_model"),
    Row("config text to text: `cdi::inject_json`", "text_direct", "text_model"),
    Row("config text to text: C, `cdi_cache_inject_json`", "text_c", "text_model"),
    Row("config text to text: through `oci::Spec`", "text_model"),
    Row("config text to text: through `ordered_json`", "text_ordered", "text_model"),
    Row("peak memory: 5 MB of YAML, 10,000 devices", "process_5MB_yaml_peak", unit="kB"),
    Row("peak memory: 5 MB of JSON, 10,000 devices", "process_5MB_json_peak", unit="kB"),
    Row("peak memory: 1000 files", "process_1000_peak", unit="kB"),
    Row("peak memory: `cdi inject`, 60 kB of YAML", "cold_yaml_peak", unit="kB"),
)
# The tables of README: what they say, and the label of the row.
README_COLUMNS = ("ours", "Go 1.1.2", "Rust 1.1.1")
README_TABLES = {
    "one spec, one config": {
        "read a spec of 60 kB: YAML": "read a spec of 60 kB, like NVIDIA's: YAML",
        "read a spec of 60 kB: JSON": "read a spec of 60 kB, like NVIDIA's: JSON",
        "find one of 10,000 devices, without a check": "find a device among: 10,000",
        "inject into a parsed config": "inject into a config as: `oci::Spec`",
        "inject into the text of a config": "config text to text: `cdi::inject_json`",
        "the same, through `ordered_json`": "config text to text: through `ordered_json`",
        "a whole process, `cdi inject`": "process, `cdi inject`, a spec of 60 kB: YAML",
    },
    "1000 spec files": {
        "load": "1000 files: load",
        "check, none changed": "1000 files: check, none changed",
        "check, one changed": "1000 files: check, one changed",
        "check with inotify, none changed": "1000 files: check with inotify, none changed",
        "peak memory": "peak memory: 1000 files",
    },
}
ROWS = (*rows_of_reading(), *rows_of_processes(), *rows_of_refreshes(), *rows_of_lookups(), *REST)


def rounds(folder, program):
    """The measurements of a program, a dictionary for each round; empty if it did not run."""
    paths = sorted(folder.glob(f"{program}.[0-9]*"), key=lambda path: int(path.suffix[1:]))
    lines = [[line.split() for line in path.read_text().splitlines()] for path in paths]
    return [{name: float(number) for name, number in of_round} for of_round in lines]


def spread(numbers):
    return {"median": statistics.median(numbers), "min": min(numbers), "max": max(numbers),
            "rounds": len(numbers)}


def measured(folder):
    """A dictionary for each row: our spread, and the spread of the ratio of each other program."""
    ours = rounds(folder, "ours")
    others = {label: rounds(folder, program) for program, label in {**PEERS, **LIBRARIES}.items()}
    table = []
    for row in ROWS:
        if row.name not in ours[0]:
            continue
        ratios = {}
        for label, of_program in others.items():
            theirs = row.theirs if row.theirs and label in PEERS.values() else row.name
            if of_program and theirs in of_program[0]:
                ratios[label] = spread([b[theirs] / a[row.name]
                                        for a, b in zip(ours, of_program)])
        table.append({"row": row.label, "unit": row.unit,
                      "ours": spread([of_round[row.name] for of_round in ours]), **ratios})
    return table


def digits(number):
    """About two significant digits; for the least, at least one."""
    decimals = 0 if number >= 9.95 else 1 if number >= 0.995 else 2 if number >= 0.00995 else 4
    return f"{number:.{decimals}f}"


def short_unit(number, unit):
    """The unit that makes a number short, and how many of the given unit it is."""
    factor = 1
    for larger in {"ns": ("us", "ms"), "us": ("ms", "s"), "kB": ("MB",)}[unit]:
        if number < 1000 * factor:
            break
        factor, unit = 1000 * factor, larger
    return unit, factor


def cell(of_row, label, spreads=True):
    """What the table has for a row and a program."""
    if label not in of_row:
        return "-"
    found, unit, factor = of_row[label], "", 1
    if label == "ours":
        unit, factor = short_unit(found["median"], of_row["unit"])
        unit = f" {unit}"
    text = f"{digits(found['median'] / factor)}{unit}"
    if not spreads or found["rounds"] == 1:
        return text
    return f"{text} [{digits(found['min'] / factor)}..{digits(found['max'] / factor)}]"


def cells(table, spreads=True):
    """The table as text: a head, and a list of cells for each row; the last is for libraries."""
    peers = [label for label in PEERS.values() if any(label in of_row for of_row in table)]
    columns = ["ours", *peers]
    lines = [["", *columns, "libraries"]]
    for of_row in table:
        libraries = "; ".join(f"{label} {cell(of_row, label, spreads)}"
                              for label in LIBRARIES.values() if label in of_row)
        lines.append([of_row["row"], *(cell(of_row, label, spreads) for label in columns),
                      libraries])
    return lines


def readme_tables(page):
    """The tables of README, by their heads, from the text of docs/speed.md."""
    rows = [[text.strip() for text in line.split("|")[1:-1]]
            for line in re.search(TABLE.format(""), page, re.M)[0].splitlines()]
    columns = [rows[0].index(label) for label in README_COLUMNS]
    by_label = {row[0]: [row[column] for column in columns] for row in rows}
    return {head: markdown([[head, *README_COLUMNS],
                            *([said, *by_label[label]] for said, label in lines.items())])
            for head, lines in README_TABLES.items()}


def print_table(lines):
    widths = [max(map(len, column)) for column in zip(*lines)]
    for first, *middle, last in lines:
        numbers = (text.rjust(width) for text, width in zip(middle, widths[1:]))
        print("  ".join([first.ljust(widths[0]), *numbers, last]).rstrip())


def markdown(lines):
    head, *rest = [("| " + " | ".join(line) + " |\n").replace("|  |", "| |") for line in lines]
    return "".join([head, "|---" * len(lines[0]) + "|\n", *rest])


def rewrite(path, pattern, text):
    page, changes = re.subn(pattern, lambda _: text, path.read_text(encoding="utf-8"), flags=re.M)
    if changes != 1:
        raise SystemExit(f"{path}: {changes} places for {pattern}, not one")
    path.write_text(page, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--readme", action="store_true")
    given = parser.parse_args()
    table = measured(given.folder)
    versions = (given.folder / "versions").read_text(encoding="utf-8").splitlines()
    print(*versions, sep="; ")
    print_table(cells(table))
    if given.readme:
        rewrite(PAGE, TABLE.format(""), markdown(cells(table, spreads=False)))
        count = len(rounds(given.folder, "ours"))
        words = f"Measured in {count} round{'s' * (count > 1)} with {'; '.join(versions)}."
        rewrite(PAGE, VERSIONS, textwrap.fill(words, 100) + "\n")
        for head, text in readme_tables(PAGE.read_text(encoding="utf-8")).items():
            rewrite(README, TABLE.format(head), text)


if __name__ == "__main__":
    main()
