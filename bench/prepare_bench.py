#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures how long cdi-prepare takes on a node with 8 GPUs: prepare_bench.py CDI_PREPARE [RUNS]

Prints the median of RUNS (200) runs of each command, which take turns, and its difference from the
median of a run that only starts and exits. The node has 3000 libraries besides the driver's.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/tools/prepare"))
import node_trees  # noqa: E402  pylint: disable=wrong-import-position

UIDS = "0123456789abcdef"


def add_gpus(tree, count):
    """Adds GPUs after the two that the tree has."""
    for minor in range(2, count):
        node_trees.nvidia_gpu(tree, f"pci0000:{minor:x}0/0000:{minor:x}0:01.0",
                              f"0000:{minor:x}1:00.0", minor, 100 + minor)


def make_node(root):
    uuids = [f"GPU-{UIDS[i] * 8}-0000-4000-8000-000000000000" for i in range(8)]
    node_trees.NVIDIA_UUIDS = uuids
    tree = node_trees.nvidia_tree(root, mig=False)
    add_gpus(tree, len(uuids))
    for number in range(1000):
        name = f"/usr/lib/x86_64-linux-gnu/libother{number}.so"
        tree.file(f"{name}.1.0")
        tree.raw_link(f"{name}.1", os.path.basename(name) + ".1.0")
        tree.raw_link(name, os.path.basename(name) + ".1.0")
    tree.done(False, node_trees.NVIDIA_MAJORS)


def milliseconds(command, check=(0,)):
    begin = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False)
    elapsed = 1000 * (time.perf_counter() - begin)
    if done.returncode not in check:
        sys.exit(f"{' '.join(command)} exited with {done.returncode}")
    return elapsed


def main():
    program = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    with tempfile.TemporaryDirectory(prefix="cdi-prepare-bench-") as place:
        root, out, state = (f"{place}/{name}" for name in ("node", "out", "state"))
        make_node(root)
        look = ["--root", root]
        write = ["write", *look, "--output-dir", out]
        claim = ["--claim", "1", "--output-dir", out, "--state-dir", state]
        commands = {
            "start only": ["--version"],
            "detect": ["detect", *look],
            "write, nothing changed": write,
            "write, file is new": write,
            "prepare a claim": ["prepare", *look, *claim, "--device", "0"],
            "unprepare it": ["unprepare", *look, *claim],
        }
        times = {name: [] for name in commands}
        milliseconds([program, *write])
        for _ in range(runs):
            for name, arguments in commands.items():
                if name == "write, file is new":
                    os.unlink(f"{out}/nvidia.com-gpu.yaml")
                times[name].append(milliseconds([program, *arguments]))
    start = statistics.median(times["start only"])
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:24} {median:7.2f} ms, {median - start:6.2f} ms without the start")


if __name__ == "__main__":
    main()
