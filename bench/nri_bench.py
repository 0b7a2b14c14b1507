#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures what cdi-nri adds to the creation of a container, beside a plugin on the Go stub.

usage: nri_bench.py CDI_NRI [--build FOLDER] [--runs N] [--rounds N]

The runtime is nri-judge, with the code that containerd and CRI-O have for NRI; no container starts.
It and nri-demo, the plugin on the Go stub, are built with Go in FOLDER (build/bench/nri). All take
turns: in each round, the runtime tells the plugin of 3000 pods with 4 kB each, and creates N (2000)
containers with two devices of a spec like NVIDIA's, 12 kB of YAML. nri-demo gives names, as cdi-nri
does with --resolve auto for a runtime that injects them; `edits` is cdi-nri with --resolve always.
The table has the medians of the rounds.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
PROJECT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "tests/tools/kubernetes"))
import judges  # noqa: E402
from nri_cases import COMMON  # noqa: E402
from nri_peers import Judge, Place, Process, request  # noqa: E402
from runtime_bench import KIND, spec  # noqa: E402

PODS = ["-pods", "3000", "-pod-bytes", "4000", "-runtime", "containerd/v2.4.2"]
ASKED = request({f"{COMMON}/container.main": f"{KIND}=0,{KIND}=1"}, env=["PATH=/bin"])


def measured(judge, command, folder, runs):
    """The figures of one round."""
    place = Place(folder)
    place.write("cdi/nvidia.yaml", spec())
    runtime = Judge(judge, place, *PODS)
    plugin = None
    figures = {}
    if command:
        plugin = Process([*command, "--socket", place.socket], place.path("plugin.log"))
        figures["Synchronize"] = runtime.wait(1)["synchronize_us"]
    runtime.ask(f"creates 20 1 {json.dumps(ASKED)}")
    answer = runtime.ask(f"creates {runs} 1 {json.dumps(ASKED)}")
    if answer["errors"]:
        raise SystemExit(answer["errors"][0])
    took = sorted(answer["us"])
    figures |= {"median": statistics.median(took), "99 %": took[len(took) * 99 // 100],
                "most": took[-1]}
    if plugin:
        figures |= {"memory": plugin.kilobytes("VmRSS"), "most memory": plugin.kilobytes("VmHWM"),
                    "own memory": plugin.kilobytes("RssAnon")}
        plugin.kill()
    runtime.kill()
    return figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--build", default=PROJECT / "build/bench/nri", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    programs = judges.build_nri(options.build)
    with tempfile.TemporaryDirectory(prefix="cdi-nri-bench-") as folder:
        ours = [options.program, "--spec-dir", f"{folder}/cdi"]
        rows = {"no plugin": [], "nri-demo": [programs / "nri-demo"],
                "cdi-nri, names": ours, "cdi-nri, edits": [*ours, "--resolve", "always"]}
        rounds = {row: [] for row in rows}
        for number in range(options.rounds):
            for row, command in rows.items():
                place = f"{folder}/{number}{row[:12]}{row[-5:]}"
                os.mkdir(place)
                command = [str(word).replace(f"{folder}/cdi", f"{place}/cdi") for word in command]
                rounds[row].append(measured(str(programs / "nri-judge"), command, place,
                                            options.runs))
    print_table(rounds)


def print_table(rounds):
    columns = {"median": "us", "99 %": "us", "most": "us", "Synchronize": "ms", "memory": "MB",
               "most memory": "MB", "own memory": "MB"}
    print(f"{'':16}" + "".join(f"{name + ', ' + unit:>17}" for name, unit in columns.items()))
    for row, figures in rounds.items():
        cells = []
        for name, unit in columns.items():
            values = [figure[name] for figure in figures if name in figure]
            value = statistics.median(values) if values else None
            cells.append("-" if value is None else
                         f"{value:.0f}" if unit == "us" else f"{value / 1000:.1f}")
        print(f"{row:16}" + "".join(f"{cell:>17}" for cell in cells))


if __name__ == "__main__":
    main()
