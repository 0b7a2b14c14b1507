#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The commands, the claim, the parameters and the log of docs/cdi-dra.md are as the page says.

usage: dra_page_test.py CDI_DRA CDI CDI_PREPARE [ARGUMENTS OF UNITTEST]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
CDI_DRA, CDI, CDI_PREPARE = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
from nri_peers import PATIENCE, Process, wait_until  # noqa: E402

PROJECT = pathlib.Path(__file__).resolve().parents[3]
PAGE = PROJECT / "docs/cdi-dra.md"


def of_page(page, language):
    """The blocks of a language."""
    text = (PROJECT / "docs" / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def setUpModule():
    if not os.access(CDI_DRA, os.X_OK):
        raise unittest.SkipTest("cdi-dra is not built: it needs gRPC and protobuf")


class Page(unittest.TestCase):

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="dra-")
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        (self.place / "tools").symlink_to(PROJECT / "tools")
        folders = {str(pathlib.Path(program).parent) for program in (CDI_DRA, CDI, CDI_PREPARE)}
        self.environment = {**os.environ, "PATH": ":".join([*folders, os.environ["PATH"]])}

    def run_shell(self, commands):
        done = subprocess.run(["sh", "-ec", commands], cwd=self.place, env=self.environment,
                              capture_output=True, text=True, timeout=4 * PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_from_nothing_to_a_prepared_claim(self):
        make, serve, calls = of_page("cdi-dra.md", "sh")
        claim, = of_page("cdi-dra.md", "json")
        results = json.loads(claim)["status"]["allocation"]["devices"]["results"]
        self.assertIn(results[0]["device"], self.run_shell(make))
        (self.place / "claims/training.json").write_text(claim, encoding="utf-8")
        driver = Process(["sh", "-ec", f"exec {serve}"], str(self.place / "log"), cwd=self.place,
                         env=self.environment)
        self.addCleanup(driver.kill)
        wait_until(lambda: driver.printed().count("serving ") == 2, "it serves")
        printed = self.run_shell(calls.replace(
            "sleep 1", "until ls cdi/*.json > /dev/null 2>&1; do sleep 0.01; done"))
        uid = json.loads(claim)["metadata"]["uid"]
        name = f"gpu.cdi.local/claim={uid}-0"
        self.assertEqual(printed.count(name), 4, printed)  # call, two lists, status
        self.assertEqual(os.listdir(self.place / "cdi"), [])
        self.assertEqual(driver.stop(), 0)

    def test_parameters(self):
        block, = of_page("cdi-dra.md", "yaml")
        source = (PROJECT / "tools/dra/claims/gpu_config.hpp").read_text("ascii")
        said = re.findall(r"^      (\w+):", block, re.M)
        self.assertEqual(said, re.findall(r'list\("(\w+)", &GpuConfig::', source))
        self.assertIn("apiVersion: cdi-dra.local/v1\n", block)

    def test_deployment(self):
        """The files are there; tests/tools/kubernetes/dra_deploy_test.py applies them."""
        block, = of_page("cdi-dra.md", "bash")
        folder = PROJECT / re.search(r"^cd (\S+)$", block, re.M)[1]
        files = re.findall(r"-f (\S+)", block)
        self.assertEqual(len(files), 2)
        for name in (*files, "Containerfile"):
            self.assertTrue((folder / name).is_file(), name)
        program, = re.findall(r"^cp (\S+) \.", block, re.M)
        self.assertEqual((folder / program).resolve(),
                         PROJECT / "build/tools/dra/cdi-dra")
        self.assertIn("COPY cdi-dra ", (folder / "Containerfile").read_text("ascii"))

    def test_events_of_the_log(self):
        said = set(re.findall(r"`(\w+)`", " ".join(
            row.split("|")[1] for row in re.findall(r"^\| `.*\|$", PAGE.read_text("utf-8"), re.M)
            if "`--" not in row.split("|")[1])))
        folder = PROJECT / "tools/dra"
        written = set()
        for path in folder.rglob("*.*pp"):
            text = path.read_text("ascii")
            for event in re.findall(r"\.event = ([^,}]*)", text):
                written |= set(re.findall(r'"(\w+)"', event))
        self.assertEqual(said - {"event"}, written)


if __name__ == "__main__":
    unittest.main(verbosity=2)
