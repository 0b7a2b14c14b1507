#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds the Go reference as the program FOLDER/peer: go_peer.py FOLDER

Exits with 77, and prints why, if Go or its modules are missing.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def go(folder, *words):
    """Runs Go in peer/ without changing it."""
    environment = {**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off",
                   "GOTOOLCHAIN": "local", "CGO_ENABLED": "0", "GO111MODULE": "on"}
    environment.setdefault("GOCACHE", str(folder / "go-cache"))
    return subprocess.run(["go", *words], cwd=HERE / "peer", env=environment, text=True,
                          capture_output=True, timeout=600, check=False)


def build(folder):
    """Builds the program in a folder, and returns its path."""
    if not shutil.which("go"):
        raise unittest.SkipTest("go is not installed")
    needed = re.search(r"^go (.*)$", (HERE / "peer/go.mod").read_text(), re.M)[1]
    have = go(folder, "env", "GOVERSION").stdout.strip()
    if [int(number) for number in re.findall(r"\d+", have)] < list(map(int, needed.split("."))):
        raise unittest.SkipTest(f"go {needed} or newer is not installed: this is {have}")
    modules = go(folder, "list", "-deps", ".")
    if modules.returncode:
        why = modules.stderr.strip().splitlines()[-1]
        raise unittest.SkipTest("the Go modules of the reference are not available: " + why)
    with tempfile.TemporaryDirectory(dir=folder) as own:  # other tests may run the program now
        built = go(folder, "build", "-o", f"{own}/peer", ".")
        if built.returncode:
            sys.exit(built.stderr)
        return pathlib.Path(own, "peer").rename(folder / "peer")


if __name__ == "__main__":
    try:
        build(pathlib.Path(sys.argv[1]).resolve())
    except unittest.SkipTest as skipped:
        print(f"skipped '{skipped}'")
        sys.exit(77)
