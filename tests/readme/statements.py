#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Shows what stands behind each sentence, table row and block of code of the README.

usage: statements.py --check BUILD            statements.toml has each of them, and names real tests
       statements.py --tests BUILD            prints the names of the tests in BUILD
       statements.py --report BUILD FIGURES   prints a line for each, from the log of the tests in
                                              BUILD, and what `bench/run.sh --json FIGURES` measured

--report prints measured figures beside the README's figures, in the same form: they depend on the
machine, and nothing fails because of them. Exits with 1 if a test failed.
"""
import json
import pathlib
import re
import subprocess
import sys
import tomllib

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(PROJECT / "bench"))
import table  # noqa: E402  pylint: disable=wrong-import-position

LIST = tomllib.loads((PROJECT / "tests/readme/statements.toml").read_text(encoding="utf-8"))
MEASURED = {said: [label] for head in table.README_TABLES.values() for said, label in head.items()}
KINDS = ("tests", "measured", "by_hand")
BLOCK = re.compile(r"^```.*\n(?s:.*?)^```$|(?:^    .*\n?)+|(?:^\|.*\n?)+|(?:^(?!```|    |\|).+\n?)+",
                   re.M)
SENTENCE_END = re.compile(r"(?<=[.:])\s+(?=[A-Z`!])")


def units(text):
    """The blocks of code, table rows and sentences of a page, without headings."""
    for block in BLOCK.findall(re.sub(r"<!--.*?-->|^\[\w+\]: [^\n]*$", "", text, flags=re.S | re.M)):
        block = block.rstrip()
        if block.startswith(("```", "    ")):
            yield block
        elif block.startswith("|"):
            yield from block.splitlines()[2:]
        elif not block.startswith("#"):
            for item in re.split(r"^- ", block, flags=re.M):
                yield from filter(None, SENTENCE_END.split(" ".join(item.split())))


def statement_of(unit):
    """The rows of statements.toml, and of the tables of speed, that are about a unit."""
    row = [{"text": unit, "measured": labels} for said, labels in MEASURED.items()
           if unit.startswith(f"| {said} |")]
    explained = [{"text": text} for text in LIST["explanations"] if text in unit]
    return [*row, *explained, *(one for one in LIST["statement"] if one["text"] in unit)]


def tests_in(build):
    """The names of all tests of a build; those of unit tests have a folder in most builds."""
    found = json.loads(subprocess.run(["meson", "introspect", "--tests", build], check=True,
                                      stdout=subprocess.PIPE).stdout)
    return [test["name"] for test in found]


def shortened(text):
    """A text on a line of at most 88 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 88 else line[:85].rstrip() + "..."


def is_of(test, name):
    return test == name or test.startswith(name + "/")


def check(build):
    """What is wrong with statements.toml."""
    readme = list(units((PROJECT / "README.md").read_text(encoding="utf-8")))
    for unit in readme:
        if len(statement_of(unit)) != 1:
            yield f"{len(statement_of(unit))} rows, not 1, are about: {unit[:90]}"
    for text in [*LIST["explanations"], *(one["text"] for one in LIST["statement"])]:
        if sum(text in unit for unit in readme) != 1:
            yield f"not in exactly one place of README.md: {text}"
    known, labels = tests_in(build), {row.label for row in table.ROWS}
    for one in LIST["statement"]:
        if sum(kind in one for kind in KINDS) != 1 or ("by_hand" in one) != ("why" in one):
            yield f"needs one of {', '.join(KINDS)}, and `why` with by_hand: {one['text']}"
        for name in one.get("tests", []):
            if not any(is_of(test, name) for test in known):
                yield f"no test: {name}"
        for label in {*one.get("measured", [])} - labels:
            yield f"no row of docs/speed.md: {label}"


def results_of(build):
    """The result of each test in the log of a build."""
    lines = (pathlib.Path(build) / "meson-logs/testlog.json").read_text().splitlines()
    return {test["name"].rpartition(":")[2].rpartition(" / ")[2]: test["result"]
            for test in map(json.loads, lines)}


def verdict(names, results):
    """What tests of these names say together, and each with its result."""
    of_name = {name: [result for test, result in results.items() if is_of(test, name)] or ["NOT RUN"]
               for name in names}
    every = [result for found in of_name.values() for result in found]
    said = "tested"
    if "OK" not in every:
        said = "skipped"
    if not {*every} <= {"OK", "SKIP", "NOT RUN"}:
        said = "FAILED"
    return said, ", ".join(f"{name} {'/'.join(sorted({*found}))}" for name, found in of_name.items())


def figures_of(labels, figures):
    """The medians of rows: ours, and the ratio of each peer."""
    for row in (figures[label] for label in labels if label in figures):
        cells = ((label, table.cell(row, label)) for label in table.README_COLUMNS)
        yield ", ".join(f"{label} {text.partition(' [')[0]}" for label, text in cells)


def conditions(figures):
    """In how many rounds, and under which load, figures were measured."""
    rounds = max(row["ours"]["rounds"] for row in figures["table"])
    return (f"measured in {rounds} round{'s' * (rounds > 1)}, with {'; '.join(figures['versions'])}"
            "; other work on the machine changes the figures")


def report(build, path):
    results = results_of(build)
    figures = {}
    if pathlib.Path(path).exists():
        measured = json.loads(pathlib.Path(path).read_text())
        print(conditions(measured))
        figures = {row["row"]: row for row in measured["table"]}
    count, failed = {}, []
    for unit in units((PROJECT / "README.md").read_text(encoding="utf-8")):
        (one,) = statement_of(unit)
        if "tests" in one:
            said, detail = verdict(one["tests"], results)
        elif "measured" in one:
            detail = "; ".join(figures_of(one["measured"], figures))
            said = "measured" if detail else "skipped"
        elif "by_hand" in one:
            said, detail = "by hand", f"{one['by_hand']}  ({one['why']})"
        else:
            continue
        count[said] = count.get(said, 0) + 1
        print(f"{said:9} {shortened(unit)}\n          {detail}")
        failed += [unit] if said == "FAILED" else []
    print(", ".join(f"{number} {said}" for said, number in sorted(count.items())))
    for unit in failed:
        print(f"its test failed: {shortened(unit)}")
    return bool(failed)


def main(arguments):
    match arguments:
        case ["--check", build]:
            faults = list(check(build))
            print("\n".join(faults))
            return bool(faults)
        case ["--tests", build]:
            wanted = {name for one in LIST["statement"] for name in one.get("tests", [])}
            print("\n".join(test for test in tests_in(build)
                            if any(is_of(test, name) for name in wanted)))
            return 0
        case ["--report", build, figures]:
            return report(build, figures)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
