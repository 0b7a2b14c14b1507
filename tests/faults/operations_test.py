#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fails if no *_operations.hpp calls a public function of the library: one that a header declares
which a door includes, and that may allocate memory.

usage: operations_test.py [PROGRAM --write]
With --write, PROGRAM, built from out_of_memory_test.cpp, lets each allocation fail, and the table
of docs/evidence.md is written.
"""
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/build"), str(ROOT / "tests")]
import evidence  # noqa: E402  pylint: disable=wrong-import-position
import signatures  # noqa: E402  pylint: disable=wrong-import-position

DOORS = ROOT / "include/cdi"
# Why functions are not called, and their names.
EXEMPT = {
    "they return numbers or views, and allocate nothing":
        "find dirs errors path has_waited list faults warnings check descriptor watch_error "
        "may_be_shared is_claim_uid uid_of_claim_file is_spec_of_claim format_of is_empty empty "
        "positions index size data source rest root has_marker_before_rest unportable may_have_nul "
        "max_model_bytes is_null is_scalar count_all document items members offset begin end "
        "Iterator Names each good written parse_spec_version at monitors",
    "the functions of a driver and of a sink belong to the caller's class":
        "makes_ready is_same overlaps excludes acquire release may_stay open_spec_dir "
        "advice_for_lost_spec begin_map end_map begin_list end_list integer unsigned_integer "
        "boolean null take JsonTextSink",
    "`Error::under` calls it": "add_outer",
    "the destructor of an nlohmann document allocates memory, and ends the process without it":
        "to_json_value",
    "keywords": "requires string",
}


class Functions(signatures.Header):
    """The names of public functions that may throw."""

    def check(self, begin, declaration):
        _, rest = signatures.split_heads(declaration)
        other = r"(extern|template|using|static_assert|concept|namespace|class|struct|enum)\b"
        if re.match(other, rest) or re.search(r"\b(friend|noexcept|constexpr|consteval|operator)\b"
                                              r"|=\s*(default|delete|0)\s*$", rest):
            return
        if match := re.search(r"(?<![~\w])(\w+)\s*\(", rest):
            self.found.append(match[1])


def public_headers():
    """The headers that doors include."""
    for door in sorted(DOORS.glob("*.hpp")):
        for name in re.findall(r"#include <cdi/(\w+/.*hpp)>", door.read_text(encoding="utf-8")):
            yield DOORS / name


def write_table(program, functions):
    done = subprocess.run([program], env={**os.environ, "CDI_FULL": "1"}, text=True,
                          capture_output=True, check=True)
    rows = re.findall(r"MESSAGE: (.*): (\d+) operations, (\d+) failed", done.stdout)
    total = [str(sum(int(row[i]) for row in rows)) for i in (1, 2)]
    evidence.write_table(
        "allocations", "tests/faults/operations_test.py PROGRAM --write",
        ["| operations on | operations | failed allocations |", "|---|---|---|",
         *(f"| {' | '.join(row)} |" for row in rows),
         f"| all, which call {functions} public functions | {' | '.join(total)} |"])


def main():
    texts = [path.read_text("utf-8") for path in (ROOT / "tests/faults").glob("*_operations.hpp")]
    words = set(re.findall(r"\w+", " ".join(texts)))
    exempt = set(" ".join(EXEMPT.values()).split())
    called, missing = set(), {}
    for path in sorted(set(public_headers())):
        header = Functions(path)
        header.walk(0, True, True)
        called |= words.intersection(header.found) - exempt
        if names := sorted(set(header.found) - words - exempt):
            missing[path.relative_to(DOORS)] = names
    for path, names in missing.items():
        print(f"{path}: add an operation to tests/faults/*_operations.hpp for", *names)
    print(f"{len(called)} public functions are called")
    if not missing and sys.argv[2:] == ["--write"]:
        write_table(sys.argv[1], len(called))
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
