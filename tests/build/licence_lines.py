#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fails if a file of ours has no line with the licence. Files without comments, as JSON, and inputs
of tests have none."""
import pathlib
import subprocess
import sys

LINE = "SPDX-License-Identifier: Apache-2.0 OR MIT"
WITHOUT = (".json", ".sum", ".yaml.txt", ".json.txt", "LICENSE-APACHE", "LICENSE-MIT", ".gitignore",
           "packaging/debian/docs", "vcpkg/container-device-interface/usage")
INPUTS = ("tests/errors/cases/", "tests/fuzz/corpus/")
root = pathlib.Path(__file__).resolve().parents[2]
listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], text=True, stdout=subprocess.PIPE)
if listed.returncode:
    print("skipped 'the source is not in a git repository'")
    sys.exit(77)
files = [name for name in listed.stdout.split("\0")
         if name and not name.endswith(WITHOUT) and not name.startswith(INPUTS)]
wrong = [name for name in files if (root / name).is_file()
         and LINE not in (root / name).read_text(encoding="utf-8", errors="replace")]
for name in wrong:
    print(f"{name}: add a comment with {LINE}")
sys.exit(bool(wrong))
