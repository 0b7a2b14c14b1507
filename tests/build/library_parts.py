#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fails unless each file with bodies is in one part of the compiled library, and declarations.hpp
includes the doors of src/library.cpp."""
import collections
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
include = root / "include"
parts = sorted((root / "src/library").glob("*.cpp"))


def included(path):
    return re.findall(r"#include <(cdi/[^>]+)>", path.read_text(encoding="utf-8"))


wrong = []
places = collections.defaultdict(list)
for part in parts:
    for name in included(part):
        places[name].append(part.name)
for path in sorted(include.rglob("*.inl")):
    name = str(path.relative_to(include))
    if len(places[name]) != 1:
        wrong.append(f"{name}: in {len(places[name])} parts of src/library/, not in one")
declared = included(root / "src/library/declarations.hpp")
for door in included(root / "src/library.cpp"):
    if door not in declared and not places[door]:
        wrong.append(f"{door}: in src/library.cpp, not in declarations.hpp")
meson = (root / "src/meson.build").read_text(encoding="utf-8")
for part in parts:
    if f"'{part.stem}'" not in meson:
        wrong.append(f"{part.name}: not in src/meson.build")
print("\n".join(wrong))
sys.exit(bool(wrong))
