#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fails unless each header in a folder of include/cdi has a test of the same name in tests/cdi, and
each test is of a header and in tests/meson.build.

A header with several test files has the others named after it: NAME_MORE_test.cpp.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
# Headers without a test of their own, each with the reason.
WITHOUT = {"text/models": "explicit instances for the compiled library; no code"}


def names(folder, ending):
    return {str(path.relative_to(folder)).removesuffix(ending)
            for path in folder.rglob("*" + ending)}


headers = {name for name in names(root / "include/cdi", ".hpp") if "/" in name}
tests = names(root / "tests/cdi", "_test.cpp")
meson = (root / "tests/meson.build").read_text(encoding="utf-8")
listed = re.findall(r"^  '(\S+)',$", meson.split("header_tests = [")[1].split("]")[0], re.MULTILINE)

wrong = [f"include/cdi/{name}.hpp: has no test tests/cdi/{name}_test.cpp"
         for name in sorted(headers - tests - WITHOUT.keys())]
wrong += [f"{name}: is an exception, but has a test, or is no header"
          for name in WITHOUT if name in tests or name not in headers]
for name in sorted(tests - headers):
    words = name.split("_")
    if not any("_".join(words[:count]) in headers for count in range(1, len(words))):
        wrong.append(f"tests/cdi/{name}_test.cpp: no header in include/cdi begins this name")
wrong += [f"tests/cdi/{name}_test.cpp: not in tests/meson.build"
          for name in sorted(tests - set(listed))]
if listed != sorted(listed):
    wrong.append("tests/meson.build: header_tests is not sorted")
print("\n".join(wrong))
sys.exit(bool(wrong))
