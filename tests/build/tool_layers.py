#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fails when a header of a program includes one of a folder above its own, or of another program.

FOLDERS lists the folders of the kit, of the room for GPUs and of each program, lowest first: a
header includes headers of its own folder and of those named before it, and of the rooms that USED
names. `main.cpp` includes any of its program. Inside a folder no two headers include each other.
"""
import pathlib
import re
import sys

FOLDERS = {
    "kit": ["base", "versions", "help", "completion", "host", "names", "kubernetes", "engines",
            "cdi_specs"],
    "cdi": ["results", "base", "why", "inject", "args", "run", "specs", "commands"],
    "gpu": ["base", "host", "model", "vendors", "vendor_files", "survey", "cdi_specs", "claims",
            "slices", "configure", "findings"],
    "prepare": [".", "doctor", "record", "commands"],
    "pod": ["."],
    "runtime": ["."],
    "nri": ["protocol", "."],
    "dra": ["protocol", "claims", "api_server", ".", "inspect", "device_plugin", "serve"],
}

# What each program may use beside its own folders.
USED = {"kit": (), "gpu": ("kit",), "prepare": ("kit", "gpu"), "dra": ("kit", "gpu")}

ROOT = pathlib.Path(__file__).resolve().parents[2] / "tools"
wrong = []


def included(path):
    """The headers of the tools that a file includes."""
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


def place(path):
    """The tool and the folder of a file; the folder of main.cpp is above all others."""
    tool, *folders = path.relative_to(ROOT).parts[:-1]
    return tool, "main" if path.name == "main.cpp" else "/".join(folders) or "."


def check(path):
    """Reports what a file should not include."""
    name = path.relative_to(ROOT)
    tool, folder = place(path)
    order = FOLDERS[tool]
    if folder not in order + ["main"]:
        wrong.append(f"{name} is in no folder of the list")
        return
    allowed = order if folder == "main" else order[:order.index(folder) + 1]
    for used in included(path):
        if not used.exists() or ROOT not in used.parents:
            wrong.append(f"{name} includes {used}, which is no header of the tools")
            continue
        used_tool, used_folder = place(used)
        is_allowed = (used_folder in allowed if used_tool == tool
                      else used_tool in USED.get(tool, ("kit",)))
        if not is_allowed:
            wrong.append(f"{name} includes {used.relative_to(ROOT)}")
    if is_reached(path, path, set()):
        wrong.append(f"{name} includes itself, through others")


files = sorted([*ROOT.rglob("*.hpp"), *ROOT.rglob("*.cpp")])
for file in files:
    check(file)
for one, folders in FOLDERS.items():
    for missing in set(folders) - {place(file)[1] for file in files if place(file)[0] == one}:
        wrong.append(f"{one}/{missing} is listed and has no header")
print("\n".join(wrong) or f"{len(files)} files of {len(FOLDERS)} folders in order")
sys.exit(bool(wrong))
