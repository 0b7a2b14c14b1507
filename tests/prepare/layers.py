#!/usr/bin/env python3
"""Fails when a header of cdi-prepare includes one of a folder above its own, or of another tool.

ORDER is the list of folders of CONTRIBUTING.md, lowest first: a header includes headers of its own
folder and of those named before it. Inside a folder no two headers include each other.
"""
import pathlib
import re
import sys

ORDER = ["base", "host", "engines", "gpu", "vendors", "spec", "claims", "doctor", "commands"]

root = pathlib.Path(__file__).resolve().parents[2] / "examples" / "prepare"
SHARED = root.parent / "shared"  # of all tools
wrong = []


def included(path):
    """The headers of cdi-prepare that a header includes."""
    for name in re.findall(r'#include "([^"]+)"', path.read_text()):
        yield (path.parent / name).resolve()


def is_reached(header, start, seen):
    """Whether `start` includes `header`, directly or through others of its folder."""
    for used in included(start):
        if used == header:
            return True
        if used.parent == header.parent and used not in seen:
            seen.add(used)
            if is_reached(header, used, seen):
                return True
    return False


headers = sorted(root.rglob("*.hpp"))
for path in headers:
    name = path.relative_to(root)
    if len(name.parts) != 2 or name.parts[0] not in ORDER:
        wrong.append(f"{name} is in no folder of the list")
        continue
    rank = ORDER.index(name.parts[0])
    for used in included(path):
        if not used.exists():
            wrong.append(f"{name} includes {used}, which does not exist")
        elif used.parent == SHARED:
            continue
        elif used.parent.parent != root or used.parent.name not in ORDER[:rank + 1]:
            wrong.append(f"{name} includes {used.relative_to(root.parent)}")
    if is_reached(path, path, set()):
        wrong.append(f"{name} includes itself, through others")
for folder in ORDER:
    if not any(path.parent.name == folder for path in headers):
        wrong.append(f"{folder} is listed and has no header")
print("\n".join(wrong) or f"{len(headers)} headers in {len(ORDER)} folders in order")
sys.exit(bool(wrong))
