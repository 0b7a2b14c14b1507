#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fails if clang-format 14 would change a header or source file; skips if it is not installed."""
import pathlib
import re
import shutil
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
tool = shutil.which("clang-format-14") or shutil.which("clang-format")
version = ""
if tool:
    version = subprocess.run([tool, "--version"], text=True, stdout=subprocess.PIPE).stdout
if not re.search(r"version 14\.", version):
    print("skipped 'clang-format 14 is not installed'")
    sys.exit(77)
# In src/library/, the order of includes has a meaning.
files = [path for folder in ("bench", "examples", "include", "schema", "src/c", "tests", "tools")
         for path in sorted((root / folder).rglob("*.*"))
         if path.suffix in (".hpp", ".cpp", ".inl")]
sys.exit(subprocess.run([tool, "--dry-run", "-Werror", *files]).returncode)
