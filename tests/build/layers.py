#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0
"""Fails if a header includes a header of a folder above its own, or if headers include each other
in a circle.

FOLDERS are the layers, lowest first. The headers in cdi/ itself, and oci/config_json, oci/editor
and oci/json_editor, are doors: the headers that users include. A door has no code, and only doors
include doors. FOLDER/impl/NAME.hpp has the bodies of the functions that FOLDER/NAME.hpp declares:
only that header and other bodies include it. Each header has a test file of its own.
"""
import pathlib
import re
import sys

FOLDERS = "base model oci text rules engine targets registry files dirs".split()
DOORS_IN_OCI = {"oci/config_json", "oci/editor", "oci/json_editor"}
FOR_ALL = {"version", "fwd"}  # not doors, but below all layers
THIRD_PARTY = {"nlohmann": {"text/json", "targets/json_editor"},
               "openssl": {"files/sha256"}}
# The headers that are tested only through others.
UNTESTED = {"dirs/publication", "dirs/wait_options", "files/read_options", "registry/any_names",
            "rules/loss", "rules/purpose"}

root = pathlib.Path(__file__).resolve().parents[2]
include = root / "include/cdi"
headers = {str(path.relative_to(include))[:-4]: path.read_text()
           for path in sorted(include.rglob("*.hpp"))}
uses = {name: re.findall(r"#include <cdi/([^>]+)\.hpp>", text) for name, text in headers.items()}
wrong = []


def is_door(name):
    return ("/" not in name and name not in FOR_ALL) or name in DOORS_IN_OCI


def declaring(name):
    """For a header of impl/, the header that declares its functions; else the header itself."""
    return name.replace("/impl/", "/")


def layer(name):
    folder = name.split("/")[0]
    return -1 if name in FOR_ALL else FOLDERS.index(folder) if folder in FOLDERS else None


def check_door(name):
    code = re.sub(r"//.*|#(include|ifndef|define|ifdef|endif).*|\s", "", headers[name])
    if code:
        wrong.append(f"{name} is a door, but contains code: {code[:60]}")


def check_include(name, used):
    bodies = "/impl/" in used
    if used not in headers:
        wrong.append(f"{name} includes {used}, which does not exist")
    elif is_door(used):
        wrong.append(f"{name} includes the door {used}; include the header behind it")
    elif layer(used) > layer(name):
        wrong.append(f"{name} includes {used}, which is in a higher layer")
    elif bodies and "/impl/" not in name and declaring(used) != name and name not in FOR_ALL:
        wrong.append(f"{name} includes {used}, which only {declaring(used)} and bodies may include")


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
            if "/impl/" not in used:
                check_circle(used, [*path, name], done)


def check_test(name):
    if name in UNTESTED or name in FOR_ALL or "/impl/" in name:
        return
    if not (root / f"tests/cdi/{name}_test.cpp").exists():
        wrong.append(f"cdi/{name}.hpp has no tests/cdi/{name}_test.cpp")


def check_all():
    done = set()
    for name in headers:
        if is_door(name):
            check_door(name)
            continue
        if layer(name) is None:
            wrong.append(f"{name} is not in a folder of FOLDERS")
            continue
        for used in uses[name]:
            check_include(name, used)
        check_third_party(name)
        check_circle(name, [], done)
        check_test(name)


if __name__ == "__main__":
    check_all()
    print("\n".join(wrong) or f"{len(headers)} headers in {len(FOLDERS)} layers")
    sys.exit(bool(wrong))
