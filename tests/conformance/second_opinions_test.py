#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Every text of the fuzz corpora and of the vectors has the same value here, in nlohmann_json and
in yaml-cpp: second_opinions_test.py PROGRAM, or --skip.
"""
import pathlib
import subprocess
import sys
import tempfile

FUZZ = pathlib.Path(__file__).resolve().parents[1] / "fuzz"
sys.path.insert(0, str(FUZZ))
sys.dont_write_bytecode = True
import vector_inputs  # noqa: E402  pylint: disable=wrong-import-position

if sys.argv[1] == "--skip":
    print("skipped 'yaml-cpp is not installed'")
    sys.exit(77)
with tempfile.TemporaryDirectory() as vectors:
    vector_inputs.write(vector_inputs.inputs("go_spec"), vectors)
    done = subprocess.run([sys.argv[1], vectors, *sorted((FUZZ / "corpus").iterdir())], check=False)
sys.exit(done.returncode)
