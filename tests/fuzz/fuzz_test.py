#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs a fuzz target: fuzz_test.py PROGRAM DICTIONARY CORPUS [PEER], or --skip REASON.

Tests the corpus, then inputs made from it: 2000 in all; with CDI_FULL=1, for a minute. PEER is the
folder in which the Go reference is built for a target named go_*. Such a target tests the corpus,
the inputs of the vectors and made-up specs, the same in each run; new inputs only with CDI_FULL=1,
as they find further differences now and then. Each known difference must explain one.
"""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

FULL = os.environ.get("CDI_FULL") == "1"
HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent / "conformance")]
import go_peer  # noqa: E402  pylint: disable=wrong-import-position
import made_up_specs  # noqa: E402  pylint: disable=wrong-import-position
import vector_inputs  # noqa: E402  pylint: disable=wrong-import-position


def skip(reason):
    print(f"skipped '{reason}'")
    sys.exit(77)


def run(program, dictionary, runs, *corpora):
    """Whether the target finds nothing, and what it prints. With 0 runs, it tests the corpora."""
    how_long = ["-max_total_time=60"] if FULL else [f"-runs={runs}", "-seed=1"]
    findings = os.path.join(os.getcwd(), os.path.basename(program) + "-")
    done = subprocess.run([program, *how_long, f"-dict={dictionary}",
                           f"-artifact_prefix={findings}", "-max_len=2048", "-timeout=10",
                           "-verbosity=0", *corpora],
                          stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    print(done.stderr, end="", file=sys.stderr)
    return done.returncode == 0, done.stderr


def compare(program, dictionary, corpus, peer, found):
    """Runs a target that compares with the Go reference."""
    try:
        os.environ["CDI_PEER"] = str(go_peer.build(pathlib.Path(peer).resolve()))
    except unittest.SkipTest as skipped:
        skip(skipped)
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.basename(program).removeprefix("fuzz-")
        seed = random.randrange(1 << 32) if FULL else 1
        vector_inputs.write(vector_inputs.inputs(target), folder)
        vector_inputs.write(made_up_specs.inputs(target, seed, 2000 if FULL else 200), folder)
        good, printed = run(program, dictionary, 0, found, folder, corpus)
    explained = re.findall(r"explained by (\S+): (\d+)", printed)
    unused = [row for row, count in explained if count == "0"]
    for row in unused:
        print(f"{row} in go_differences.hpp explains nothing: remove it, or add an input")
    return good and explained and not unused


def main():
    if sys.argv[1] == "--skip":
        skip(sys.argv[2])
    program, dictionary, corpus, *peer = sys.argv[1:]
    with tempfile.TemporaryDirectory() as found:
        if peer:
            return 0 if compare(program, dictionary, corpus, *peer, found) else 1
        return 0 if run(program, dictionary, 2000, found, corpus)[0] else 1


if __name__ == "__main__":
    sys.exit(main())
