# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A sample node with claims, for the tests of cdi-prepare with faults."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools/prepare"))
import node_trees  # noqa: E402  pylint: disable=wrong-import-position


def files(directory):
    """The names in a directory, sorted; empty if it does not exist."""
    return sorted(os.listdir(directory)) if directory.exists() else []


class ClaimNode:
    """A node below `self.root`, with directories for its specs and its journal."""

    def make_node(self, place, program):
        self.program = program
        self.root, self.out, self.state = (place / name for name in ("node", "out", "state"))
        node_trees.TREES["other"](str(self.root), False)

    def command(self, name, *more):
        place = ["--root", str(self.root), "--output-dir", str(self.out)]
        if name != "write":
            place += ["--state-dir", str(self.state)]
        return [self.program, name, *place, *more]
