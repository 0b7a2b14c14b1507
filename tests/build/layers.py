#!/usr/bin/env python3
"""Fails when a header includes one of its own layer's later rows or of a layer above.

ORDER is the list of layers of CONTRIBUTING.md, lowest first; inside a layer, a header may include
those named before it. No cycle and no upward edge can pass. Each header has its test file.

cdi/impl/NAME.hpp has the bodies of what cdi/NAME.hpp declares: it may include what that may, and it.
Only that header includes it, and bodies of later rows that use its templates.
"""
import pathlib
import re
import sys

ORDER = """
version fwd
result member_path order storage value rare fields type scalar rules name annotation_key path list_plan
spec oci/root oci/mount oci/hooks oci/process oci/resources oci/seccomp oci/linux
oci/solaris oci/windows oci/vm oci/zos oci/freebsd oci/spec convert document read write
unicode document_builder parse_json json_text yaml_scanner parse_yaml yaml
host minimum_version validate lower engine_releases annotations apply oci/editor
any_names unresolved nearest_names loaded_spec registry json oci/json_editor
signature descriptor directory text_file replace_file salvage read_options spec_text file_state file
sha256 scanner scan watch cache inject_json diagnose publish
core cdi
""".split()
THIRD_PARTY = {"nlohmann": {"json", "oci/json_editor", "inject_json"}, "openssl": {"sha256"}}

include = pathlib.Path(__file__).resolve().parents[2] / "include" / "cdi"
place = {f"cdi/{name}.hpp": rank for rank, name in enumerate(ORDER)}
wrong = []
for path in sorted(include.rglob("*.hpp")):
    name = f"cdi/{path.relative_to(include)}"
    text = path.read_text()
    bodies = name.replace("cdi/", "cdi/impl/", 1)
    seen = place
    if name.startswith("cdi/impl/"):
        name = name.replace("cdi/impl/", "cdi/", 1)
        rank = place.get(name, -1) + 0.5
        seen = place | {key.replace("cdi/", "cdi/impl/", 1): row + 0.5 for key, row in place.items()}
    else:
        rank = place.get(name, -1)
    if rank < 0:
        wrong.append(f"{path.relative_to(include)} is in no layer")
        continue
    for used in re.findall(r"#include <(cdi/[^>]+)>", text):
        if seen.get(used, len(ORDER)) >= rank and used != bodies:
            wrong.append(f"{path.relative_to(include)} includes {used}")
    for library in re.findall(r"#include <([^/>]+)/", text):
        allowed = THIRD_PARTY.get(library, set())
        if library not in ("cdi", "sys") and name[4:-4] not in allowed:
            wrong.append(f"{name} includes {library}")
tests = include.parents[1] / "tests" / "cdi"
for name in ORDER:  # what has nothing of its own to test is tested by tests/build
    if name in "version fwd any_names loaded_spec read_options core cdi".split():
        continue
    if not (tests / f"{name}_test.cpp").exists():
        wrong.append(f"cdi/{name}.hpp has no tests/cdi/{name}_test.cpp")
for name in place:
    if not (include.parent / name).exists():
        wrong.append(f"{name} is listed, but not there")
print("\n".join(wrong) or f"{len(place)} headers in order")
sys.exit(bool(wrong))
