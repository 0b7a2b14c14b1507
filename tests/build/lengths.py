#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fails if a header, or another file of a tool, has more than 400 lines."""
import pathlib
import sys

MAX_LINES = 400
ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = (".h", ".hpp", ".inl")
paths = [path for folder in ("bench", "examples", "include", "schema", "src", "tests",
                               "tools")
         for path in sorted((ROOT / folder).rglob("*"))
         if path.suffix in HEADERS or path.suffix == ".cpp" and path.is_relative_to(ROOT / "tools")]
wrong = []
for path in paths:
    lines = path.read_text(encoding="utf-8").count("\n")
    if lines > MAX_LINES:
        wrong.append(f"{path.relative_to(ROOT)} has {lines} lines, of at most {MAX_LINES}")
print("\n".join(wrong) or f"{len(paths)} files are short enough")
sys.exit(bool(wrong))
