#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Times injection without hooks beside injection with hooks, as whole processes in one run.

usage: sandbox_bench.py CDI [RUNS]

The spec has 40 libraries, as NVIDIA's do, and the hooks that nvidia-ctk writes. The image has the
linker's cache of this machine, which is merged with the libraries; the state directory is warm. The
runs of all commands alternate. Each row is the minimum, and its ratio to the first row.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

LIBRARIES = 40
CONFIG = {"ociVersion": "1.0.0", "process": {"cwd": "/", "args": ["a"]}, "root": {"path": "image"}}
FOLDER = "/opt/driver/lib"


def hook(*args):
    return {"hookName": "createContainer", "path": "/usr/bin/nvidia-cdi-hook",
            "args": ["nvidia-cdi-hook", *args]}


def make_spec(folder):
    """Writes libraries, a spec with them, an image and a config."""
    (folder / "driver").mkdir()
    mounts, links = [], []
    for i in range(LIBRARIES):
        library = folder / f"driver/libbench{i}.so.570"
        subprocess.run(["cc", "-shared", "-fPIC", f"-Wl,-soname,libbench{i}.so.1", "-x", "c",
                        "/dev/null", "-o", library], check=True)
        mounts.append({"hostPath": str(library), "containerPath": f"{FOLDER}/{library.name}",
                       "options": ["ro", "nosuid", "nodev", "rbind", "rprivate"]})
        links += ["--link", f"libbench{i}.so.1::{FOLDER}/libbench{i}.so"]
    edits = {"mounts": mounts, "deviceNodes": [{"path": "/dev/null"}],
             "hooks": [hook("create-symlinks", *links), hook("update-ldcache", "--folder", FOLDER)]}
    (folder / "specs").mkdir()
    (folder / "specs/bench.json").write_text(json.dumps(
        {"cdiVersion": "0.6.0", "kind": "vendor.com/gpu",
         "devices": [{"name": "0", "containerEdits": edits}]}))
    (folder / "image/etc").mkdir(parents=True)
    (folder / "image/lib64").mkdir()
    (folder / "image/lib64/ld-linux-x86-64.so.2").write_text("")
    shutil.copy("/etc/ld.so.cache", folder / "image/etc/ld.so.cache")
    (folder / "state").mkdir(mode=0o755)
    (folder / "config.json").write_text(json.dumps(CONFIG))


def milliseconds(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1000


def main():
    cdi, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_spec(folder)
        base = [cdi, "-d", folder / "specs"]
        inject, config = [*base, "inject", "-q"], [folder / "config.json", "vendor.com/gpu=0"]
        state = ["--state-dir", folder / "state"]
        commands = {
            "inject, hooks kept": [*inject, *config],
            "inject --hooks replace, no state directory": [*inject, "--hooks", "replace", *config],
            "inject --hooks replace, warm state": [*inject, "--hooks", "replace", *state, *config],
            "args --for bwrap": [*base, "args", "--for", "bwrap", "vendor.com/gpu=0"],
        }
        times = {what: [] for what in commands}
        for _ in range(runs):
            for what, command in commands.items():
                times[what].append(milliseconds(command))
        first = min(next(iter(times.values())))
        for what, all_of in times.items():
            print(f"{what:45} {min(all_of):7.2f} ms  {min(all_of) / first:5.2f}")


if __name__ == "__main__":
    main()
