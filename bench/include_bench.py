#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0
"""Seconds of processor time to compile a file that includes one header: include_bench.py [HEADER...]

The least of three runs without optimisation, an empty file taken off; CXX names the compiler.
"""
import os
import pathlib
import resource
import subprocess
import sys

INCLUDE = pathlib.Path(__file__).resolve().parents[1] / "include"
COMPILE = [os.environ.get("CXX", "g++"), "-std=c++20", "-O0", "-c", "-x", "c++", "-o", "/dev/null",
           f"-I{INCLUDE}", "-"]


def seconds(code):
    def spent():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def once():
        before = spent()
        subprocess.run(COMPILE, input=code, text=True, check=True)
        return spent() - before

    return min(once() for _ in range(3))


def main(headers):
    empty = seconds("")
    for header in headers or sorted(str(path.relative_to(INCLUDE))
                                    for path in INCLUDE.rglob("*.hpp")):
        print(f"{seconds(f'#include <{header}>') - empty:6.2f}  {header}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
