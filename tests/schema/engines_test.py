#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The tables of engines are those of schema/engines.json, and `cdi why --for` answers by them.

usage: engines_test.py CDI PROJECT
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CDI = sys.argv.pop(1)
PROJECT = pathlib.Path(sys.argv.pop(1))
DATA = json.loads((PROJECT / "schema/engines.json").read_text())
# A spec needs 0.3.0 at least.
RELEASES = ["0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0"]
SPEC = """cdiVersion: {0}
kind: release{1}.com/gpu
devices:
- name: gpu0
  containerEdits: {{env: [A=0]}}
"""


def numbers(text):
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def versions_of(row):
    """The versions of a row: each patch, or only both ends if minor versions lie between."""
    first, last = numbers(row["since"]), numbers(row["last_checked"])
    if first[:2] != last[:2]:
        return [row["since"], row["last_checked"]]
    return [f"{first[0]}.{first[1]}.{patch}" for patch in range(first[2], last[2] + 1)]


class Tables(unittest.TestCase):
    def generate(self, *args):
        return subprocess.run([sys.executable, PROJECT / "schema/engines.py", *args],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def test_the_headers_have_what_the_data_give(self):
        done = self.generate()
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_a_change_of_the_data_or_of_a_table_is_seen_and_written(self):
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder, "engines.json")
            copy = pathlib.Path(folder, "project")
            for part in ("include/cdi/files", "tools/kit/versions"):
                shutil.copytree(PROJECT / part, copy / part)
            changed = json.loads(json.dumps(DATA))
            changed["rows"][0]["last_checked"] = "99.0.0"
            data.write_text(json.dumps(changed))
            args = ("--data", str(data), "--project", str(copy))
            self.assertEqual(self.generate(*args).returncode, 1)
            self.assertEqual(self.generate("--write", *args).returncode, 0)
            self.assertIn("{99, 0, 0}", (copy / "tools/kit/versions/engine_versions.hpp").read_text())
            self.assertEqual(self.generate(*args).returncode, 0)
            table = copy / "tools/kit/versions/engine_support.hpp"
            table.write_text(table.read_text().replace("{1, 28, 0}", "{1, 27, 0}"))
            done = self.generate(*args)
            self.assertEqual(done.returncode, 1)
            self.assertIn("engine_support.hpp is not what schema/engines.json gives", done.stdout)


class Data(unittest.TestCase):
    def test_the_library_of_a_row_reads_the_release_of_the_row(self):
        """From 1.0.0 on, the list of known versions is in the module specs-go."""
        reads = {each["library"]: each["reads"] for each in DATA["libraries"]}
        for row in DATA["rows"]:
            library, specs_go = row["library"], row["specs_go"]
            decides = specs_go if specs_go and not library.startswith("0.") else library
            with self.subTest(engine=row["engine"], since=row["since"]):
                self.assertEqual(row["reads"], reads.get(decides, row["reads"]))
                self.assertIn(row["reads"], ["0.2.0", *RELEASES])

    def test_rows_of_a_series_follow_one_another(self):
        last = {}
        first = {(row["engine"], row["since"]) for row in DATA["rows"]}
        for row in DATA["rows"]:
            key = row["engine"], row["series"]
            if key in last:
                self.assertEqual(last[key], row["since"], row)
            last[key] = row["until"]
            self.assertLessEqual(numbers(row["since"]), numbers(row["last_checked"]))
            for name in ("source", "checked"):
                self.assertTrue(row[name], row)
        for (engine, _), until in last.items():
            self.assertTrue(until is None or (engine, until) in first, (engine, until))


class Answers(unittest.TestCase):
    """What `cdi why --for` says about a file of each release, for each known version."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="cdi-engines-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for i, release in enumerate(RELEASES):
            pathlib.Path(cls.folder, f"{i}.yaml").write_text(SPEC.format(release, i))

    def ask(self, engine, version):
        """The newest release that the engine is said to read, those of files that it reads, and
        what is assumed about the version."""
        names = [f"release{i}.com/gpu=gpu0" for i in range(len(RELEASES))]
        done = subprocess.run([CDI, "-d", self.folder, "why", "--no-host", "-o", "json", "--for",
                               f"{engine}@{version}", *names], stdout=subprocess.PIPE, check=False,
                              timeout=60, env={"HOME": os.path.join(self.folder, "none")})
        records = json.loads(done.stdout)
        read = [release for release, record in zip(RELEASES, records) if record["resolved"]]
        return records[0]["reads"], read, records[0].get("assumed")

    def test_each_known_version(self):
        right = total = 0
        for row in DATA["rows"]:
            readable = [each for each in RELEASES if numbers(each) <= numbers(row["reads"])]
            for version in versions_of(row):
                total += 1
                with self.subTest(engine=row["engine"], version=version):
                    self.assertEqual(self.ask(row["engine"], version),
                                     (row["reads"], readable, None))
                    right += 1
        print(f"{right} of {total} versions are answered as schema/engines.json says",
              file=sys.stderr)

    def test_versions_that_were_not_looked_at(self):
        newest = {}
        for row in DATA["rows"]:
            known = newest.get(row["engine"], row)["last_checked"]
            if numbers(row["last_checked"]) >= numbers(known):
                newest[row["engine"]] = row
        for engine, row in newest.items():
            reads, _, assumed = self.ask(engine, "99.0.0")
            self.assertEqual(reads, row["reads"], engine)
            self.assertEqual(assumed, f"{engine} 99.0.0 is newer than {row['last_checked']}, the "
                             "newest known version, and is assumed to read the same versions")

    def test_versions_before_the_first_read_nothing(self):
        for engine in DATA["engines"]:
            self.assertEqual(self.ask(engine, "0.0.1"), (None, [], None), engine)


class Refresh(unittest.TestCase):
    """schema/refresh_engines.py, which only maintainers need."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cdi-refresh-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.table = pathlib.Path(self.folder, "engines.json")
        shutil.copy(PROJECT / "schema/engines.json", self.table)

    def refresh(self, *args, path=os.environ["PATH"]):
        done = subprocess.run([sys.executable, PROJECT / "schema/refresh_engines.py", "--table",
                               self.table, *args], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=100,
                              env=dict(os.environ, PATH=path, PYTHONDONTWRITEBYTECODE="1"))
        return done.returncode, done.stdout

    def with_go_mod(self, library, *args):
        """As if each version had a go.mod with this library."""
        mod = pathlib.Path(self.folder, "go.mod")
        name = "tags.cncf.io/container-device-interface"
        mod.write_text(f"require (\n {name} v{library}\n {name}/specs-go v1.1.0\n)\n")
        go = pathlib.Path(self.folder, "go")
        go.write_text(f"#!/bin/sh\necho '{{\"GoMod\": \"{mod}\"}}'\n")
        go.chmod(0o755)
        return self.refresh(*args, path=f"{self.folder}:{os.environ['PATH']}")

    def test_an_agreeing_row_is_brought_up_to_date(self):
        code, out = self.with_go_mod("1.1.0", "--write", "github.com/containerd/nerdctl/v2@v2.3.9")
        self.assertEqual((code, out), (0, "nerdctl 2.3.9: library 1.1.0, specs-go 1.1.0, reads "
                                          "1.1.0: as in the table\n"))
        old = (PROJECT / "schema/engines.json").read_text().splitlines()
        changed = [line for line in self.table.read_text().splitlines() if line not in old]
        self.assertTrue(any('"last_checked": "2.3.9"' in line for line in changed), changed)
        self.assertLessEqual(len(changed), 2)  # the row, and the day of the table

    def test_another_library_wants_a_row(self):
        before = self.table.read_text()
        code, out = self.with_go_mod("1.1.1", "github.com/containerd/nerdctl/v2@v2.3.9")
        self.assertEqual(code, 1)
        self.assertIn("DIFFERS: 2.3.0 has 1.1.0; wants a row of its own", out)
        self.assertEqual(self.table.read_text(), before)

    def test_the_module_proxy(self):
        if not shutil.which("go"):
            self.skipTest("go is missing")
        code, out = self.refresh("github.com/containerd/nerdctl/v2@v2.3.5")
        if "not available" in out:
            self.skipTest(out.strip())
        self.assertEqual((code, out), (0, "nerdctl 2.3.5: library 1.1.0, specs-go 1.1.0, reads "
                                          "1.1.0: as in the table\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
