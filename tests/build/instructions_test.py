#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fails when an operation takes over 5 % more instructions than bench/instructions.json says.

Callgrind counts them, in a program that is compiled with `g++ -O2`: bench/instructions.cpp. The
test runs only if the versions of valgrind, the compiler and the libraries are those in the table.
`instructions_test.py --renew` updates the table.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
PROJECT = pathlib.Path(__file__).resolve().parents[2]
from compile_cost_test import versions  # noqa: E402
from grown import has_grown  # noqa: E402
from toolchain import GXX, INCLUDE  # noqa: E402

TABLE = PROJECT / "bench/instructions.json"
OPERATIONS = """
parse_json_spec parse_yaml_spec read_and_validate look_up replace_spec check_names inject_oci_spec
inject_ordered_json inject_json_text check_unchanged
""".split()
# The C library chooses functions by processor; without these, every x86-64 has the same.
TUNABLES = "glibc.cpu.hwcaps=-AVX2,-AVX512VL,-AVX512F,-BMI2,-ERMS,-LZCNT,-MOVBE,-SSE4_2"


def here():
    """The versions on which the counts depend; empty if valgrind or g++ is not installed."""
    if not shutil.which("valgrind") or not versions("g++"):
        return ""
    version = subprocess.run(["valgrind", "--version"], text=True, check=True,
                             stdout=subprocess.PIPE).stdout.strip()
    return f"{version}, {versions('g++')}"


def run(command, **options):
    """The output of a command, which must succeed."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}")
    return done.stdout


def count(program, operation, folder):
    environment = {"PATH": os.environ["PATH"], "GLIBC_TUNABLES": TUNABLES}
    output = run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                  "--toggle-collect=measured", program, operation, folder], env=environment)
    return int(re.search(r"Collected : (\d+)", output)[1])


def measure():
    """Instructions by operation."""
    with tempfile.TemporaryDirectory(prefix="cdi-count-") as folder:
        program = f"{folder}/instructions"
        run([GXX, "-std=c++20", "-O2", "-DNDEBUG", "-I", INCLUDE,
             f'-DCDI_BENCH_POD="{PROJECT}/bench/data/pod.json"',
             PROJECT / "bench/instructions.cpp", "-pthread", "-o", program])
        run([program, "make", folder])
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            counts = pool.map(lambda operation: count(program, operation, folder), OPERATIONS)
            return dict(zip(OPERATIONS, counts))


def has_become_slower(found, table):
    return has_grown(((operation, count, "instructions", table.get(operation, 0))
                      for operation, count in found.items()), higher="too slow", lower="faster")


def main():
    this = here()
    if sys.argv[1:] == ["--renew"]:
        if not this:
            sys.exit("both valgrind and g++ are needed")
        TABLE.write_text(json.dumps({"versions": this, **measure()}, indent=1) + "\n", "utf-8")
        return
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    if this != table["versions"]:
        print(f"skipped '{this or 'valgrind or g++ is missing'}, not {table['versions']}'")
        sys.exit(77)
    if has_become_slower(measure(), table):
        sys.exit("`valgrind --tool=callgrind` on bench/instructions.cpp shows where they are spent."
                 " If the cost is justified, run tests/build/instructions_test.py --renew")


if __name__ == "__main__":
    main()
