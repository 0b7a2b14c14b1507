# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How the cost of a command grows with its input, in instructions that valgrind counts."""
import re
import subprocess


def instructions(test, expect, *command, given=None):
    """The instructions of a command, which reads `given`, and exits with `expect`."""
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
        input=given, capture_output=True, text=True, timeout=300, check=False)
    test.assertEqual(done.returncode, expect, done.stderr)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def check(test, name, costs, most):
    """Fails if doubling an input costs more than `most` times as much as doubling it before."""
    few, twice, four_times = costs
    print(f"{name}: {few:,} {twice:,} {four_times:,}")
    # The difference is without the start of the program.
    test.assertLess(four_times - twice, most * (twice - few))
