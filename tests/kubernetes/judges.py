# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds the judges: programs in Go with the code of the runtimes, each in a folder beside this."""
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CONTAINERD = "github.com/containerd/containerd/v2/cmd/"


def go(module, place, *words):
    """Runs Go in a module without changing it; its cache is in `place`."""
    environment = {**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off",
                   "GOTOOLCHAIN": "local", "CGO_ENABLED": "0", "GO111MODULE": "on"}
    environment.setdefault("GOCACHE", str(place / "go-cache"))
    return subprocess.run(["go", *words], cwd=HERE / module, env=environment, text=True,
                          capture_output=True, timeout=1500, check=False)


def why_not(module, place, programs):
    """Why the programs of a module cannot be built; empty if they can."""
    if not shutil.which("go"):
        return "go is not installed"
    text = (HERE / module / "go.mod").read_text(encoding="utf-8")
    needed = re.search(r"^go (.*)$", text, re.M)[1]
    have = go(module, place, "env", "GOVERSION").stdout.strip()
    if [int(number) for number in re.findall(r"\d+", have)] < list(map(int, needed.split("."))):
        return f"go {needed} or newer is not installed: this is {have}"
    modules = go(module, place, "list", "-deps", *programs)
    if modules.returncode:
        return "the Go modules of the judges are not available: " + (
            modules.stderr.strip().splitlines()[-1])
    return ""


def build(module, place, programs):
    """The folder with the built programs of a module; the test is skipped if it cannot be. Programs
    that are there are built again only if their source changed."""
    place = pathlib.Path(place).resolve()
    place.mkdir(parents=True, exist_ok=True)
    with open(place / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # for tests that run at the same time
        why = why_not(module, place, programs)
        if why:
            raise unittest.SkipTest(why)
        built = go(module, place, "build", "-trimpath", "-ldflags", "-s -w", "-o",
                   str(place / "bin") + "/", *programs)
    if built.returncode:
        raise AssertionError(built.stderr)
    return place / "bin"


def build_nri(place):
    """The folder with nri-judge and nri-demo."""
    return build("nri", place, ["./nri-judge", "./nri-demo"])


def build_containerd(place):
    """The folder with containerd, its shim, ctr and cri-judge."""
    return build("containerd", place, ["./cri-judge", *(CONTAINERD + name for name in (
        "containerd", "containerd-shim-runc-v2", "ctr"))])
