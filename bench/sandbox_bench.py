#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Times injection without hooks beside injection with hooks, as whole processes in one run.

usage: sandbox_bench.py CDI [RUNS]

The spec has 40 libraries, as NVIDIA's do, and the hooks that nvidia-ctk writes. The image has the
linker's cache of this machine, which is merged with the libraries; the state directory is warm. The
runs of all commands alternate. Each row is the minimum, and its ratio to the first row.

With nvidia-cdi-hook in PATH, as root, two rows are the hooks that a runtime runs otherwise, on a
root with the libraries: `go install github.com/NVIDIA/nvidia-container-toolkit/cmd/nvidia-cdi-hook`.
"""
import ctypes
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


def vendor_hooks(folder):
    """The commands of NVIDIA's hooks by their names; none where they cannot run."""
    program = shutil.which("nvidia-cdi-hook")
    if not program or os.geteuid() != 0:
        return {}
    bundle = folder / "bundle"
    shutil.copytree(folder / "driver", bundle / "rootfs" / FOLDER[1:])
    (bundle / "rootfs/etc").mkdir()
    (bundle / "config.json").write_text(json.dumps({**CONFIG, "root": {"path": "rootfs"}}))
    (folder / "state.json").write_text(json.dumps(
        {"ociVersion": "1.0.0", "id": "a", "status": "creating", "pid": 1, "bundle": str(bundle)}))
    spec = json.loads((folder / "specs/bench.json").read_text())
    hooks = spec["devices"][0]["containerEdits"]["hooks"]
    return {f"the hook {hook['args'][1]} alone": [program, *hook["args"][1:]] for hook in hooks}


def enter_mount_namespace(folder):
    """Makes the root of the hooks a mount, which pivot_root needs, for this process alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    root = os.fsencode(folder / "bundle/rootfs")
    clone_newns, bind, private = 0x20000, 0x1000, 0x44000  # private: MS_REC | MS_PRIVATE
    for failed in (libc.unshare(clone_newns), libc.mount(None, b"/", None, private, None),
                   libc.mount(root, root, None, bind, None)):
        if failed:
            raise OSError(ctypes.get_errno(), "the hooks need a mount namespace")


def milliseconds(command, state=os.devnull):
    with open(state, encoding="utf-8") as given:
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdin=given, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
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
        if hooks := vendor_hooks(folder):
            enter_mount_namespace(folder)
        times = {what: [] for what in [*commands, *hooks]}
        for _ in range(runs):
            for what, command in commands.items():
                times[what].append(milliseconds(command))
            for what, command in hooks.items():
                times[what].append(milliseconds(command, folder / "state.json"))
        if hooks:
            subprocess.run(["umount", folder / "bundle/rootfs"], check=True)
        first = min(next(iter(times.values())))
        for what, all_of in times.items():
            print(f"{what:45} {min(all_of):7.2f} ms  {min(all_of) / first:5.2f}")


if __name__ == "__main__":
    main()
