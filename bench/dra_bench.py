#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures cdi-dra beside a driver in Go: claims by kubelet's own code.

usage: dra_bench.py CDI_DRA CDI_PREPARE [--build FOLDER] [--runs N] [--rounds N] [--folder DIR]
                    [--script]

kubelet is dra-judge, with its plugin watcher and DRA manager. It and demo-driver, a driver on the
helper of Kubernetes, are built with Go in FOLDER (build/bench/dra). Both drivers take turns: in each
round, one starts until it serves, and until kubelet has registered it, which looks once a second. On
a node with eight GPUs, it prepares and unprepares a claim of one device N (300) times, and the
claims of a pod with eight, which kubelet asks for in one call; `processor` is the driver's time for
both calls of a pair. All files are in a folder in memory
(/dev/shm), where fsync costs nothing: demo-driver calls none, and keeps no journal. The row `on
disk` has them in DIR instead, by default the working directory. Times include the work of kubelet.
The table has the median of the rounds for each driver, and the ratio of cdi-dra to demo-driver.
With --script, kubelet is a script that only calls the drivers, in Python: dra-judge, which takes
minutes to build, is not needed, and the times do not include kubelet's own files. The row
`registered` is then `serves`. CDI_JUDGES is the folder of demo-driver.
"""
import argparse
import os
import pathlib
import shutil
import socket
import statistics
import sys
import tempfile
import time

sys.dont_write_bytecode = True
PROJECT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "tests/tools/kubernetes"))
import judges  # noqa: E402
import scripted_kubelet  # noqa: E402
from dra_peers import (  # noqa: E402
    DRIVER, CdiDra, DemoDriver, DraCase, DraJudge, DraPlace, allocated, claim, own_claim, pod,
    uid_of)

GPUS = 8
MANY = [f"c{number}" for number in range(GPUS)]
COLUMNS = {"prepare": "ms", "99 %": "ms", "unprepare": "ms", "processor": "ms", "8 claims": "ms",
           "serves": "ms", "registered": "ms", "memory": "MB", "own memory": "MB", "program": "MB"}


class Peer(DraCase):
    """A test case as the starter of a driver, without unittest."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def setUp(self):
        os.makedirs(self.folder)
        self.addCleanup(shutil.rmtree, self.folder)
        self.place = DraPlace(self.folder)
        self.count = 0


class InGo(DemoDriver, Peer):
    program = "demo-driver"


class Ours(CdiDra, Peer):
    program = "cdi-dra"
    gpus = GPUS


class Script:
    """kubelet as a script, with the commands of dra-judge that this file uses."""

    def __init__(self, case):
        self.case = case
        self.service = None

    def wait(self, word="wait"):
        if word == "wait":
            path = pathlib.Path(self.case.place.kubelet, "plugins", DRIVER, "dra.sock")
            self.service = scripted_kubelet.Service(path)
            self.case.addCleanup(self.service.close)

    def ask(self, line):
        word, pod_name = line.split()
        names = MANY if pod_name == "many" else [pod_name]
        answers = getattr(self.service, word)(*((uid_of(name), name) for name in names))
        errors = [answer["error"] for answer in answers.values() if "error" in answer]
        return {"ok": not errors, "error": errors}


def timed(judge, line):
    """An answer, and how long it took in milliseconds."""
    begin = time.monotonic()
    answer = judge.ask(line)
    if not answer["ok"]:
        raise SystemExit(answer["error"])
    return answer.get("milliseconds", (time.monotonic() - begin) * 1000)


def wait_for_socket(case):
    """Waits until the driver takes connections for its registration."""
    path = os.path.join(case.place.kubelet, "plugins_registry", f"{DRIVER}-reg.sock")
    while True:
        with socket.socket(socket.AF_UNIX) as client:
            if client.connect_ex(path) == 0:
                return
        time.sleep(0.001)


def processor_time(process):
    """In seconds."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(case, runs, script):
    """The figures of one round."""
    case.setUp()
    try:
        case.have(*own_claim("one", case.devices[0]),
                  *(claim(name, [allocated(device)], ["many"])
                    for name, device in zip(MANY, case.devices)), pod("many", MANY))
        judge = Script(case) if script else case.process(
            DraJudge, case.programs["dra-judge"], case.place, "-objects", case.objects)
        judge.wait("gone")
        begin = time.monotonic()
        driver = case.start_driver()
        wait_for_socket(case)
        figures = {"serves": (time.monotonic() - begin) * 1000}
        judge.wait()
        figures |= {"registered": (time.monotonic() - begin) * 1000}
        for _ in range(20):
            timed(judge, "prepare one")
            timed(judge, "unprepare one")
        before = processor_time(driver)
        took = [(timed(judge, "prepare one"), timed(judge, "unprepare one")) for _ in range(runs)]
        figures["processor"] = (processor_time(driver) - before) * 1000 / runs
        prepare, unprepare = sorted(pair[0] for pair in took), [pair[1] for pair in took]
        figures |= {"prepare": statistics.median(prepare),
                    "99 %": prepare[len(prepare) * 99 // 100],
                    "unprepare": statistics.median(unprepare),
                    "memory": driver.kilobytes("VmRSS") / 1000,
                    "own memory": driver.kilobytes() / 1000}
        figures["8 claims"] = timed(judge, "prepare many")
        program = pathlib.Path(case.programs[case.program])
        figures["program"] = program.stat().st_size / 1e6
        return figures
    finally:
        case.doCleanups()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("prepare", type=os.path.abspath)
    parser.add_argument("--build", default=PROJECT / "build/bench/dra", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", default=".", type=pathlib.Path)
    parser.add_argument("--script", action="store_true")
    options = parser.parse_args()
    folder = pathlib.Path(os.environ["CDI_JUDGES"]) if options.script else (
        judges.build_kubelet(options.build))
    DraCase.programs.update({name: str(folder / name) for name in ("dra-judge", "demo-driver")})
    DraCase.programs.update({
        "cdi-dra": options.program, "cdi-prepare": options.prepare,
        "sample-node": str(PROJECT / "tools/prepare/sample-node")})
    with tempfile.TemporaryDirectory(prefix="dra-", dir="/dev/shm") as memory, \
            tempfile.TemporaryDirectory(prefix="dra-", dir=options.folder) as disk:
        rows = {"demo-driver": (InGo, memory), "cdi-dra": (Ours, memory),
                "demo-driver, on disk": (InGo, disk), "cdi-dra, on disk": (Ours, disk)}
        rounds = {row: [] for row in rows}
        for number in range(options.rounds):
            for count, (row, (kind, place)) in enumerate(rows.items()):
                rounds[row].append(measured(
                    kind(os.path.join(os.path.abspath(place), f"{number}{count}")), options.runs,
                    options.script))
    print_table(rounds)


def print_table(rounds):
    medians = {row: {name: statistics.median(figure[name] for figure in figures)
                     for name in COLUMNS} for row, figures in rounds.items()}
    for place in ("", ", on disk"):
        go, ours = medians[f"demo-driver{place}"], medians[f"cdi-dra{place}"]
        medians[f"ratio{place}"] = {name: ours[name] / go[name] for name in COLUMNS}
    print(f"{'':22}" + "".join(f"{name + ', ' + unit:>15}" for name, unit in COLUMNS.items()))
    for row, figures in medians.items():
        print(f"{row:22}" + "".join(f"{figures[name]:>15.2f}" for name in COLUMNS))


if __name__ == "__main__":
    main()
