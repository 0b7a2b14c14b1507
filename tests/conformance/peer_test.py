#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The vectors and tables expect the results of the Go reference, of the release in peer/go.mod.

usage: peer_test.py BUILD CONFORMANCE [ARGUMENTS OF UNITTEST]
       peer_test.py BUILD --write VECTOR...    writes the results of the reference to these vectors

Builds peer/ in the folder BUILD, and skips all tests if Go or its modules are missing. CDI_WILD
names a folder of real spec files; its `index.json` has the expected results of the reference and of
CONFORMANCE, the program of this library.
"""
import base64
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import go_peer  # noqa: E402  pylint: disable=wrong-import-position

HERE = pathlib.Path(__file__).resolve().parent
VECTORS = sorted(path for path in HERE.glob("*.json") if path.name != "deviations.json")
TABLES = sorted((HERE / "tables").glob("go-*.json"))
WILD = os.environ.get("CDI_WILD")
BUILD, CONFORMANCE = map(pathlib.Path, sys.argv[1:3])
PEER = BUILD / "peer"


def build():
    go_peer.build(BUILD)


setUpModule = build


def lines(program, *words):
    """The JSON lines that a program prints."""
    done = subprocess.run([program, *words], text=True, capture_output=True, timeout=300)
    if done.returncode:
        raise AssertionError(f"{program} {words[0]}: {done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.removesuffix("\n").split("\n")]


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def compared(answer):
    """The part of an answer that does not depend on the words of messages."""
    if "load_panic" in answer:
        return "a crash"
    inject = answer["inject"]
    return {"devices": answer["devices"], "vendors": answer["vendors"],
            "classes": answer["classes"], "spec_errors": sorted(answer["spec_errors"]),
            "ok": inject["ok"], "unresolved": inject["unresolved"], "oci": inject.get("oci"),
            "oci_after_error": inject.get("oci_after_error")}


def has_error(column, value):
    """Replaces an error by whether there is one, like tables.cpp."""
    return bool(value) if column.endswith("error") else value


class Reference(unittest.TestCase):
    maxDiff = None

    def test_vectors(self):
        for path, answer in zip(VECTORS, lines(PEER, "vectors", *VECTORS), strict=True):
            with self.subTest(path.stem):
                self.assertEqual(compared(answer), compared(load(path)["expected"]))

    def test_tables(self):
        for path in TABLES:
            tables = load(path)
            for line in lines(PEER, "tables", path):
                rows = tables[line["table"]]
                row = rows[line["row"]] if isinstance(rows, list) else {line["table"]: rows}
                with self.subTest(line["table"], row=row):
                    for column, answer in line["answers"].items():
                        self.assertEqual(has_error(column, answer),
                                         has_error(column, row.get(column)), column)


def without_empty(value):
    if isinstance(value, dict):
        pairs = ((key, without_empty(item)) for key, item in value.items())
        return {key: item for key, item in pairs if item not in (None, [], {}, "", False)}
    return [without_empty(item) for item in value] if isinstance(value, list) else value


def digest(oci):
    text = json.dumps(without_empty(oci), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@unittest.skipUnless(WILD, "CDI_WILD is not set to a folder of real spec files")
class Wild(unittest.TestCase):
    """Real spec files, as vectors of one file each."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.wild = pathlib.Path(WILD)
        self.specs = load(self.wild / "index.json")["specs"]
        self.oci = load(self.wild / "base-oci-k8s-pod.json")

    def vector(self, file, devices):
        """Writes a vector with one of the real files, and returns its path."""
        source = self.wild / file
        content = base64.b64encode(source.read_bytes()).decode()
        path = self.folder / f"{len(os.listdir(self.folder))}.json"
        path.write_text(json.dumps({
            "name": file, "oci": self.oci, "devices": devices,
            "files": [{"dir": 0, "name": source.name, "content_b64": content}]}))
        return path

    def check_read(self, column, answers):
        """Compares the devices or the error of each file with the index."""
        for spec, (devices, error) in zip(self.specs, answers, strict=True):
            with self.subTest(spec["file"]):
                self.assertEqual("refused" if error else "accepted", spec[column], error)
                if not error and spec.get("devices"):
                    self.assertEqual(devices, spec["devices"])

    def check_injected(self, program, words):
        wanted = [(spec, item) for spec in self.specs for item in spec.get("inject", [])]
        vectors = []
        for spec, item in wanted:
            names = [item["names"]] if item["names"] != "all" else self.names(spec["pinned"])
            vectors.append(self.vector(spec["pinned"], names))
        for (spec, item), answer in zip(wanted, lines(program, *words, *vectors), strict=True):
            with self.subTest(spec["pinned"], names=item["names"]):
                self.assertEqual(digest(answer["inject"].get("oci")), item["sha256"],
                                 answer["inject"].get("error"))

    def names(self, file):
        spec = load(self.wild / file)
        return [f"{spec['kind']}={device['name']}" for device in spec["devices"]]

    def test_reference_reads(self):
        paths = [self.wild / spec["file"] for spec in self.specs]
        self.check_read("reference", [
            (answer.get("devices"), answer.get("error") or answer.get("load_panic"))
            for answer in lines(PEER, "specs", *paths)])

    def test_reference_injects(self):
        self.check_injected(PEER, ["vectors"])

    def test_library_reads(self):
        vectors = [self.vector(spec["file"], []) for spec in self.specs]
        self.check_read("expected", [(answer["devices"], answer["spec_errors"])
                                     for answer in lines(CONFORMANCE, *vectors)])

    def test_library_injects(self):
        self.check_injected(CONFORMANCE, [])


def ordered(new, old):
    """The value `new`, with the members that `old` also has in the order of `old`."""
    if isinstance(new, dict) and isinstance(old, dict):
        keys = [key for key in old if key in new] + [key for key in new if key not in old]
        return {key: ordered(new[key], old.get(key)) for key in keys}
    if isinstance(new, list) and isinstance(old, list):
        return [ordered(*pair) for pair in zip(new, old)] + new[len(old):]
    return new


def write(paths):
    build()
    for path, answer in zip(paths, lines(PEER, "vectors", *paths), strict=True):
        vector = load(path)
        answer.pop("name")
        vector["expected"] = ordered(answer, vector.get("expected"))
        path.write_text(json.dumps(vector, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if CONFORMANCE.name == "--write":
        write([pathlib.Path(path) for path in sys.argv[3:]])
    else:
        unittest.main(argv=sys.argv[:1] + sys.argv[3:])
