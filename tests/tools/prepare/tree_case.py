# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What tests of cdi-prepare on fake nodes share."""
import json
import os
import pathlib
import sys
import unittest

import node_trees

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from tool_case import ToolCase  # noqa: E402  pylint: disable=wrong-import-position


def paths(nodes):
    return [node["path"] for node in nodes]


def dri(card, render):
    return [f"/dev/dri/card{card}", f"/dev/dri/renderD{render}"]


def text_of_record(line):
    """The text that `cdi-prepare` prints for a message that `-o json` prints as a record."""
    record = json.loads(line)
    place = ":".join(str(record[key]) for key in ("file", "line", "column") if key in record)
    text = ": ".join(part for part in (place, record.get("where"), record["message"],
                                       record.get("advice")) if part)
    label = {"error": "error: ", "warning": "warning: ", "note": ""}[record["level"]]
    for begin in ("not ready: ", "left out: "):
        if record["message"].startswith(begin):
            label, text = begin, text.replace(begin, "", 1)
    return f"cdi-prepare: {label}{text}\n"


def with_text(done):
    """What a run prints, with the records on standard error as text: with `-o json`, each message
    is one, and says the same."""
    words = [str(word) for word in done.args]
    if done.returncode != 2 and ("-o", "json") in zip(words, words[1:]):
        done.stderr = "".join(map(text_of_record, done.stderr.splitlines()))
    return done


class NodeTest(ToolCase):
    """A fake node in `self.root`."""

    program = ""

    def setUp(self):
        super().setUp()
        self.place = self.folder
        self.root = self.place / "node"

    # What a test changes on the node.

    def path(self, name):
        return self.root / name.lstrip("/")

    def pci(self, address):
        return self.path(f"sys/bus/pci/devices/{address}")

    def bind(self, address, driver):
        link = self.pci(address) / "driver"
        link.unlink()
        if driver:
            link.symlink_to(f"../../../../bus/pci/drivers/{driver}")

    def edit(self, name, old, new):
        text = self.path(name).read_text()
        self.assertIn(old, text)
        self.path(name).write_text(text.replace(old, new))


class TreeTest(NodeTest):
    """A node of `tree`."""

    tree = ""

    def setUp(self):
        super().setUp()
        if self.tree:
            node_trees.TREES[self.tree](str(self.root), False)

    def add_tree(self, name):
        """Adds the devices of another node."""
        table, majors = (self.path(file).read_text() for file in ("dev.tab", "proc/devices"))
        node_trees.TREES[name](str(self.root), False)
        with open(self.path("dev.tab"), "a", encoding="ascii") as file:
            file.write(table)
        self.edit("proc/devices", "Character devices:\n", majors.partition("\nBlock")[0])

    def remove_node(self, path):
        table = self.path("dev.tab").read_text().splitlines(keepends=True)
        kept = [row for row in table if row.split()[0] != path]
        self.assertNotEqual(table, kept)
        self.path("dev.tab").write_text("".join(kept))

    def install(self, **engines):
        """Puts programs of engines on the node, and their versions, of Debian's packages."""
        database = self.path("var/lib/dpkg/status")
        database.parent.mkdir(parents=True, exist_ok=True)
        self.path("usr/bin").mkdir(parents=True, exist_ok=True)
        for name, version in engines.items():
            self.path("usr/bin").joinpath(name).touch()
            with database.open("a", encoding="ascii") as file:
                file.write(f"Package: {name}\nStatus: install ok installed\n"
                           f"Version: {version}\n\n")

    # Running it.

    def run_prepare(self, command, *arguments):
        return with_text(self.run_tool(self.program, command, "--root", str(self.root), *arguments,
                                       expect=None))

    def detect(self, code=0):
        """The inventories of the node, by kind."""
        done = self.run_prepare("detect", "-o", "json")
        self.assertEqual(done.returncode, code, done.stderr)
        self.errors = done.stderr
        text = self.run_prepare("detect")
        self.assertEqual((text.returncode, text.stderr), (code, done.stderr))
        vendors = json.loads(done.stdout)["vendors"]
        kinds = [vendor["kind"] for vendor in vendors]
        self.assertEqual(len(set(kinds)), len(kinds), kinds)
        for vendor in vendors:
            self.assertIn(vendor["kind"] + ", driver", text.stdout)
            for gpu in vendor["gpus"]:
                self.assertIn(gpu["name"], text.stdout)
        return {vendor["kind"]: vendor for vendor in vendors}

    def specs(self, code=0):
        """The specs written for the node, by kind. No node in them has half of its numbers."""
        out = self.place / "out"
        done = self.run_prepare("write", "--output-dir", str(out))
        self.assertEqual(done.returncode, code, done.stderr)
        done = self.run_prepare("write", "--dry-run", "-o", "json")
        self.assertEqual(done.returncode, code, done.stderr)
        specs, text = {}, done.stdout
        while text:
            spec, end = json.JSONDecoder().raw_decode(text)
            specs[spec["kind"]] = spec
            text = text[end:].lstrip()
        self.assertEqual(sorted(os.listdir(out)),
                         sorted(kind.replace("/", "-") + ".yaml" for kind in specs))
        for spec in specs.values():
            self.check_nodes(spec.get("containerEdits", {}))
            for device in spec["devices"]:
                self.assertTrue(device["containerEdits"]["deviceNodes"])
                self.check_nodes(device["containerEdits"])
        return specs

    def check_nodes(self, edits):
        rows = [row.split() for row in self.path("dev.tab").read_text().splitlines()]
        table = {row[0]: row[1:] for row in rows}
        nodes = edits.get("deviceNodes", [])
        self.assertEqual(len(set(paths(nodes))), len(nodes))
        for node in nodes:
            kind, major, minor, mode, _, gid = table[node["path"]]
            # Like the reference, the library leaves a zero out of the text.
            self.assertEqual((node["type"], node["major"], node.get("minor", 0)),
                             (kind, int(major), int(minor)))
            self.assertEqual((node["fileMode"], node.get("gid", 0)), (int(mode, 8), int(gid)))

    def devices(self, spec):
        """The paths of the nodes of each device of a spec."""
        return {device["name"]: paths(device["containerEdits"]["deviceNodes"])
                for device in spec["devices"]}


def run_tests():
    """Runs the tests of a script: SCRIPT CDI_PREPARE [unittest options]"""
    NodeTest.program = os.path.abspath(sys.argv[1])
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[2:]])
