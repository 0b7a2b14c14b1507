#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fails if a header includes a header of a folder above its own, or if headers include each other
in a circle.

FOLDERS are the spine, lowest first. WINGS are features: a wing uses the spine and itself, and the
spine uses no wing; WINGS names the other wings that a wing uses. The headers in cdi/ itself are
doors: the headers that users include. A door has no code, and only doors include doors. Each wing
has a door of its name. FOLDER/NAME.inl has the bodies of functions that FOLDER/NAME.hpp declares:
only that header and other bodies include it.
"""
import pathlib
import re
import sys

FOLDERS = "base model oci text text/yaml rules apply targets registry files dirs".split()
WINGS = {"policy": {"requests"}, "plan": set(), "requests": set(), "versions": set(),
         "publish": set(), "claims": {"publish"}, "nvidia": set(), "nlohmann": set(),
         "sandbox": {"plan", "nvidia"}}
C_LIBRARY = "c"  # uses all others
FOR_ALL = {"version", "fwd"}  # not doors, but below all layers
THIRD_PARTY = {"nlohmann": {"nlohmann/models", "nlohmann/editor"}}

root = pathlib.Path(__file__).resolve().parents[2]
include = root / "include/cdi"
headers = {str(path.relative_to(include)).removesuffix(".hpp"): path.read_text()
           for path in sorted([*include.rglob("*.hpp"), *include.rglob("*.inl")])}
uses = {name: [used.removesuffix(".hpp")
               for used in re.findall(r"#include <cdi/([^>]+\.(?:hpp|inl))>", text)]
        for name, text in headers.items()}
wrong = []


def is_door(name):
    return "/" not in name and name not in FOR_ALL


def is_bodies(name):
    return name.endswith(".inl")


def declaring(name):
    """For the bodies of functions, the header that declares these; else the header itself."""
    return name.removesuffix(".inl")


def folder_of(name):
    return name.rpartition("/")[0]


def may_include(folder, used):
    """Whether headers of a folder may include headers of another."""
    if folder == used or used == "" or folder == C_LIBRARY:
        return True
    if folder in WINGS:
        return used in FOLDERS or used in WINGS[folder]
    return used in FOLDERS and FOLDERS.index(used) <= FOLDERS.index(folder)


def check_door(name):
    code = re.sub(r"//.*|#(include|ifndef|define|ifdef|endif).*|\s", "", headers[name])
    if code:
        wrong.append(f"{name} is a door, but contains code: {code[:60]}")


def check_include(name, used):
    if used not in headers:
        wrong.append(f"{name} includes {used}, which does not exist")
    elif is_door(used) and folder_of(name) != C_LIBRARY:
        wrong.append(f"{name} includes the door {used}; include the header behind it")
    elif not may_include(folder_of(name), folder_of(used)):
        wrong.append(f"{name} includes {used}, which is in a higher layer or another wing")
    elif is_bodies(used) and not is_bodies(name) and declaring(used) != name:
        wrong.append(f"{name} includes {used}, which only {declaring(used)} and bodies may include")


def check_repeats(name):
    """Bodies follow their header, whose includes they have."""
    own, given = (set(re.findall(r"^#include <([^>]+)>", headers[each], re.M))
                  for each in (name, declaring(name)))
    for used in sorted(own & given):
        wrong.append(f"{name} includes {used}, as {declaring(name)}.hpp does: leave it out")


def check_third_party(name):
    for library in re.findall(r"#include <([^/>]+)/", headers[name]):
        if library not in ("cdi", "sys") and declaring(name) not in THIRD_PARTY.get(library, ()):
            wrong.append(f"{name} may not include headers of {library}")


def check_circle(name, path, done):
    """Ignores bodies, since a header and its bodies include each other."""
    if name in path:
        wrong.append("circle: " + " -> ".join([*path[path.index(name):], name]))
    elif name not in done:
        done.add(name)
        for used in uses.get(name, ()):
            if not is_bodies(used):
                check_circle(used, [*path, name], done)


def check_all():
    done = set()
    for name in headers:
        if is_door(name):
            check_door(name)
            continue
        if folder_of(name) not in {"", C_LIBRARY, *FOLDERS, *WINGS}:
            wrong.append(f"{name} is in no folder of FOLDERS or WINGS")
            continue
        if is_bodies(name) and declaring(name) not in headers:
            wrong.append(f"{name} has no header {declaring(name)}.hpp")
        elif is_bodies(name):
            check_repeats(name)
        for used in uses[name]:
            check_include(name, used)
        check_third_party(name)
        check_circle(name, [], done)
    wrong.extend(f"the wing {wing}/ has no door {wing}.hpp" for wing in WINGS if wing not in headers)


if __name__ == "__main__":
    check_all()
    print("\n".join(wrong) or f"{len(headers)} headers in {len(FOLDERS)} layers and "
                              f"{len(WINGS)} wings")
    sys.exit(bool(wrong))
