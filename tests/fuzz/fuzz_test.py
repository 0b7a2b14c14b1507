#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs a fuzz target: fuzz_test.py PROGRAM DICTIONARY CORPUS, or --skip REASON.

Tests a few thousand inputs, the same in each run; with CDI_FULL=1, new inputs for a minute.
"""
import os
import subprocess
import sys
import tempfile

if sys.argv[1] == "--skip":
    print(f"skipped '{sys.argv[2]}'")
    sys.exit(77)

program, dictionary, corpus = sys.argv[1:]
how_long = ["-max_total_time=60"] if os.environ.get("CDI_FULL") else ["-runs=2000", "-seed=1"]
findings = os.path.join(os.getcwd(), os.path.basename(program) + "-")
with tempfile.TemporaryDirectory() as found:
    done = subprocess.run([program, *how_long, f"-dict={dictionary}",
                           f"-artifact_prefix={findings}", "-max_len=2048", "-timeout=10",
                           "-verbosity=0", found, corpus],
                          check=False)
sys.exit(done.returncode != 0)
