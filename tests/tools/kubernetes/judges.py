# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds the judges: programs in Go with the code of the runtimes and of Kubernetes, each in a folder
beside this. Those in the folder CDI_JUDGES, if it is set, are used as they are."""
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CONTAINERD = "github.com/containerd/containerd/v2/cmd/"
KUBERNETES = "v1.37.2"  # as in kubernetes/go.mod


def go(module, place, *words, cgo=False):
    """Runs Go in a module without changing it, with the user's cache, or one in `place`."""
    environment = {**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off",
                   "GOTOOLCHAIN": "local", "CGO_ENABLED": str(int(cgo)), "GO111MODULE": "on"}
    if not {"HOME", "XDG_CACHE_HOME"} & set(environment):
        environment.setdefault("GOCACHE", str(place / "go-cache"))
    return subprocess.run(["go", *words], cwd=HERE / module, env=environment, text=True,
                          capture_output=True, timeout=5000, check=False)


def not_cached(module, place, programs):
    """How many packages, of other modules than ours, Go would compile."""
    stale = "{{if .Stale}}{{.ImportPath}} {{.StaleReason}}{{end}}"
    listed = go(module, place, "list", "-trimpath", "-deps", "-f", stale, *programs)
    return sum(bool(line) and "build cache" not in line and not line.startswith("k8s-judges/")
               for line in listed.stdout.splitlines())


def why_not(module, place, programs, cached=False):
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
    if cached and os.environ.get("CDI_FULL") != "1":
        missing = not_cached(module, place, programs)
        if missing:
            return (f"Go's build cache has not {missing} of the packages, and to build them takes "
                    "minutes: CDI_FULL=1 does")
    return ""


def build(module, place, programs, cached=False, out="", flags="-s -w", cgo=False):
    """The folder with the built programs of a module; the test is skipped if it cannot be. Programs
    that are there are built again only if their source changed. With `cached`, a first build, which
    takes long, is for CDI_FULL=1. `out` is the name of a single program. With `cgo`, a C compiler
    takes part."""
    before = pathlib.Path(os.environ.get("CDI_JUDGES") or "/nonexistent").resolve()
    names = [out] if out else [name.rpartition("/")[2] for name in programs]
    if all((before / name).exists() for name in names):
        return before
    place = pathlib.Path(place).resolve()
    place.mkdir(parents=True, exist_ok=True)
    with open(place / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # for tests that run at the same time
        why = why_not(module, place, programs, cached)
        if why:
            raise unittest.SkipTest(why)
        built = go(module, place, "build", "-trimpath", "-ldflags", flags, "-o",
                   str(place / "bin" / out) + ("" if out else "/"), *programs, cgo=cgo)
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


def build_kubelet(place):
    """The folder with dra-judge, device-judge, and a driver and a device plugin in Go."""
    return build("kubernetes", place, ["./dra-judge", "./device-judge", "./demo-driver",
                                       "./demo-device-plugin"], cached=True)


def build_cluster(place):
    """The folder with kube-apiserver, etcd and load, for cluster.sh. Minutes."""
    version = f"-X k8s.io/component-base/version.gitVersion={KUBERNETES}"
    build("etcd", place, ["go.etcd.io/etcd/server/v3"], True, "etcd")
    build("kubernetes", place, ["k8s.io/kubernetes/cmd/kube-apiserver"], True,
          flags=f"-s -w {version}")
    return build("kubernetes", place, ["./load"], True)
