#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures what cdi-dra asks of the API server of a cluster with many nodes.

usage: dra_scale.py CDI_DRA [--nodes N] [--periods N] [--away SECONDS] [--peers N] [--build FOLDER]

Starts a driver for each of N (500) nodes with eight GPUs, all on this machine, beside etcd and
kube-apiserver, which are built with Go in FOLDER (build/bench/dra). Each driver has the token of a
pod of its node, so that the rights and the policy of the manifests apply. In the place of
kubelets, this program registers the drivers, all at once. The nodes share a tree of GPUs, which
drivers only read; the first has one of its own. The first twenty have a stream of health, as
kubelet opens it, so they look at their hardware once a minute.

Each row has the requests of drivers in the audit log of the API server. Drivers and server share
the cores of the machine. `at rest` lasts N (2) periods of checks, and begins half a period after
the last common action, so that each node has as many checks in it as later. `back` begins when the
API server is started again, after SECONDS (60) without it: first when most checks are due, then
with a device of each node that changed just after it went. `--peers` adds drivers in Go on the
helper of Kubernetes, at rest.

Needs root, since each 100 nodes have a user of their own: the kernel gives a user 128 inotify
instances. Takes half an hour, after a first build of minutes, for which CDI_FULL=1 must be set.
Without kube-apiserver, the tests' API server, in Python, takes its place.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import functools
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
PROJECT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "tests/tools/kubernetes"))
import judges  # noqa: E402
from dra_bench import processor_time  # noqa: E402
from dra_peers import make_gpus  # noqa: E402
from nri_peers import Process  # noqa: E402
from scale_servers import DRIVER, FakeServer, RealServer  # noqa: E402
from scripted_kubelet import HEALTH, Registration, Socket, same  # noqa: E402

PERIOD = 300  # seconds between the checks of a driver
CONFIRMED = 45  # seconds after a registration, the second list was made
WATCHED = 20
SAMPLE_NODE = str(PROJECT / "tools/prepare/sample-node")


class Node:
    """A driver, with the directories of its node."""

    def __init__(self, folder, number, tree, kubeconfig):
        self.name, self.tree, self.folder = f"node{number}", tree, folder / f"n{number}"
        self.user = 61000 + number // 100
        self.folder.mkdir()
        for name in ("k", "cdi", "state"):
            (self.folder / name).mkdir()
        (self.folder / "kubeconfig").write_text(kubeconfig, encoding="ascii")
        for path in (self.folder, *self.folder.iterdir()):
            os.chown(path, self.user, self.user)
        self.process = None

    def start(self, program):
        self.process = Process(
            [program, "serve", "--driver", DRIVER, "--node", self.name, "--root", str(self.tree),
             "--kubelet-dir", str(self.folder / "k"), "--output-dir", str(self.folder / "cdi"),
             "--state-dir", str(self.folder / "state"), "--kubeconfig",
             str(self.folder / "kubeconfig"), "-o", "json"],
            str(self.folder / "log"), user=self.user, group=self.user, extra_groups=[])

    def events(self, event):
        return self.process.printed().count(f'"event":"{event}"')

    def register(self):
        registry = Registration(self.folder / f"k/plugins_registry/{DRIVER}-reg.sock")
        registry.notify(registered=True)
        registry.close()

    def watch_health(self):
        """A stream that stays until the driver ends."""
        socket = Socket(self.folder / f"k/plugins/{DRIVER}/dra.sock")
        return socket, socket.channel.unary_stream(HEALTH["v1"], same, same)(b"")

    def survey(self):
        self.process.process.send_signal(signal.SIGHUP)


def wait_for(nodes, event, counts, limit=900):
    """Waits until each node has logged as many events as in `counts`. Asks the server nothing."""
    until, left = time.time() + limit, list(nodes)
    while left:
        left = [node for node in left if node.events(event) < counts[node.name]]
        if left and time.time() > until:
            raise SystemExit(f"{len(left)} nodes, such as {left[0].name}, log no {event}:\n"
                             + left[0].process.printed()[-2000:])
        time.sleep(0.2)


class Scale:
    """The nodes and their server."""

    def __init__(self, folder, options, server, stack):
        self.server, self.stack, self.options = server, stack, options
        self.trees = (folder / "tree0", folder / "tree")
        for tree in self.trees:
            make_gpus(SAMPLE_NODE, str(tree), 8)
        self.pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(16))
        kubeconfigs = self.pool.map(server.join, (f"node{i}" for i in range(options.nodes)))
        self.nodes = [Node(folder, number, self.trees[number > 0], kubeconfig)
                      for number, kubeconfig in enumerate(kubeconfigs)]

    def start(self):
        """Ten drivers at a time."""
        for first in range(0, len(self.nodes), 10):
            some = self.nodes[first:first + 10]
            for node in some:
                node.start(self.options.program)
                self.stack.callback(node.process.kill)
            wait_for(some, "serving", dict.fromkeys((node.name for node in some), 2))
        self.streams = [node.watch_health() for node in self.nodes[:WATCHED]]

    def on_each(self, act, nodes):
        list(self.pool.map(act, nodes))

    def published(self, nodes):
        return {node.name: node.events("published") for node in nodes}

    def change(self, nodes, broken):
        """The device node of a GPU goes, or comes back, in the trees of some nodes."""
        for tree in {node.tree for node in nodes}:
            path = tree / "dev.tab"
            text = path.read_text(encoding="ascii")
            names = ("/dev/nvidia0 ", "/dev/none0 ")
            path.write_text(text.replace(*(names if broken else names[::-1])), encoding="ascii")
        self.on_each(Node.survey, nodes)

    def until_right(self, act, nodes, after):
        """From an act until all nodes have published, and for some seconds after."""
        wanted = {name: count + 1 for name, count in self.published(nodes).items()}
        window = Window(self.server)
        window = act() or window
        wait_for(nodes, "published", wanted)
        time.sleep(after)
        return window.close(nodes)

    def outage(self, before_return=lambda: None):
        """The API server goes and comes back. A window that begins when it is started again."""
        self.server.stop()
        before_return()
        time.sleep(self.options.away)
        begin = time.time()
        self.server.start()
        window = Window(self.server)
        print(f"the API server is ready after {window.begin - begin:.1f} s")
        window.begin = begin
        return window

    def rest(self):
        """Drivers at rest, and their processor time."""
        before = [processor_time(node.process) for node in self.nodes]
        window = Window(self.server)
        time.sleep(PERIOD * self.options.periods)
        window.close(self.nodes)
        spent = [processor_time(node.process) - old for node, old in zip(self.nodes, before)]
        hours = (window.end - window.begin) / 3600
        for words, some in (("with a stream of health", spent[:WATCHED]),
                            ("without", spent[WATCHED:])):
            if some:
                print(f"  a driver at rest, {words}: {sum(some) / len(some) / hours:.2f} s of "
                      "processor time in an hour")
        return window


class Window:
    """A time in which requests are counted."""

    def __init__(self, server):
        self.server, self.begin, self.end, self.found = server, time.time(), 0.0, []
        self.load = server.load()

    def close(self, nodes):
        """Keeps the requests of nodes since the beginning, and what the server did since."""
        self.end, names = time.time(), {node.name for node in nodes}
        self.load = {name: value - self.load.get(name, 0)
                     for name, value in self.server.load().items()}
        self.found = [one for one in self.server.requests()
                      if self.begin <= one.at < self.end and one.who in names]
        return self


def show(title, count, window):
    """Prints what was asked in a window, and how it is spread."""
    kinds, seconds = collections.Counter(), collections.Counter()
    writes = [0]
    for one in window.found:
        kinds[f"{one.verb} {one.resource} {one.status}"] += 1
        seconds[int(one.at - window.begin)] += 1
        if one.verb != "get" and one.status == 201 or one.verb == "update" and one.status == 200:
            writes.append(one.at - window.begin)
    print(f"{title}: {len(window.found) / count:.2f} requests per node in "
          f"{window.end - window.begin:.0f} s, at most {max(seconds.values(), default=0)} per "
          f"second, the last write after {max(writes):.1f} s")
    for kind, many in sorted(kinds.items()):
        print(f"  {kind}: {many / count:.2f} per node")
    for name, value in window.load.items():
        print(f"  {name}: {value:.1f}")
    bins = [sum(seconds[first + i] for i in range(5))
            for first in range(0, max(seconds, default=0) + 1, 5)]
    print("  in each 5 s: " + " ".join(map(str, bins)), flush=True)


def sizes(scale):
    scale.server.show_sizes()
    for field, words in (("VmRSS", "resident"), ("RssAnon", "of its own")):
        each = [node.process.kilobytes(field) / 1000 for node in scale.nodes]
        print(f"  a driver: {sum(each) / len(each):.1f} MB {words}")


def measure(scale):
    nodes, count = scale.nodes, len(scale.nodes)
    scale.server.show_sizes()
    window = Window(scale.server)
    time.sleep(CONFIRMED)
    show("no driver", count, window.close(nodes))
    scale.start()
    scale.server.start_peers(scale.options.peers, scale.stack)
    show("first publishing", count, scale.until_right(
        lambda: scale.on_each(Node.register, nodes), nodes, CONFIRMED))
    sizes(scale)
    time.sleep(PERIOD / 2)
    window = scale.rest()
    show("at rest", count, window)
    hours = (window.end - window.begin) / 3600
    print(f"  {len(window.found) / count / hours:.2f} per node in an hour")
    scale.server.show_peers(scale.options.peers, window.begin, window.end)
    time.sleep((PERIOD - scale.options.away) / 2)  # the next checks fall into the outage
    window = scale.outage()
    time.sleep(2 * scale.options.away)
    show("back, nothing changed", count, window.close(nodes))
    window = Window(scale.server)
    scale.on_each(Node.register, nodes)
    time.sleep(CONFIRMED)
    show("registered again", count, window.close(nodes))
    for some, whose in ((nodes[:1], "one node"), (nodes, "each node")):
        for broken in (True, False):
            show(f"a device of {whose} {'has a fault' if broken else 'is ready again'}", len(some),
                 scale.until_right(functools.partial(scale.change, some, broken), some, 3))
    show("back, each node changed", count, scale.until_right(
        lambda: scale.outage(lambda: scale.change(nodes, True)), nodes, 3))
    scale.server.check(count, "nvidia-node")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--periods", type=float, default=2)
    parser.add_argument("--away", type=float, default=60)
    parser.add_argument("--peers", type=int, default=0)
    parser.add_argument("--build", default=PROJECT / "build/bench/dra", type=pathlib.Path)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the drivers too
    if os.geteuid() or not shutil.which("openssl"):
        raise SystemExit("dra_scale.py: needs root, and openssl")
    with tempfile.TemporaryDirectory(prefix="dra-scale-") as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        try:
            programs = judges.build_cluster(options.build)
            if options.peers:
                judges.build("kubernetes", options.build, ["./demo-driver"], cached=True)
            server = RealServer(programs, folder)
        except unittest.SkipTest as skipped:
            print(f"the tests' API server takes the place of kube-apiserver: {skipped}")
            server = FakeServer(folder)
        stack.callback(server.end)
        load = " ".join(f"{one:.1f}" for one in os.getloadavg())
        print(f"{options.nodes} nodes, {os.cpu_count()} cores, load {load}", flush=True)
        measure(Scale(folder, options, server, stack))


if __name__ == "__main__":
    main()
