#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What `cdi-dra status` and `cdi-dra check` say about a node.

usage: dra_inspect_test.py CDI_DRA CDI_PREPARE
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CDI_DRA, CDI_PREPARE = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
PROJECT = pathlib.Path(__file__).resolve().parents[2]
DRIVER = "gpu.example.com"


class Inspect(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="cdi-dra-")
        self.addCleanup(temporary.cleanup)
        self.place = pathlib.Path(temporary.name)
        self.root, self.kubelet = self.place / "host", self.place / "k"
        subprocess.run([sys.executable, PROJECT / "examples/tools/prepare/sample-node", self.root],
                       check=True, stdout=subprocess.DEVNULL)
        for name in ("k/plugins", "k/plugins_registry", "claims", "host/etc/containerd"):
            (self.place / name).mkdir(parents=True)
        self.configure("version = 2\n[plugins.'io.containerd.grpc.v1.cri']\nenable_cdi = true\n")
        self.state = self.kubelet / "plugins" / DRIVER / "claims"

    def configure(self, text):
        (self.root / "etc/containerd/config.toml").write_text(text, encoding="utf-8")

    def options(self):
        return ["--driver", DRIVER, "--kubelet-dir", self.kubelet, "--root", self.root]

    def look(self, command, *more):
        """The exit code and the JSON of a command."""
        done = subprocess.run([CDI_DRA, command, *self.options(), "-o", "json", *more], text=True,
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, json.loads(done.stdout)

    def findings(self, *more):
        """The exit code of `check`, and its findings: level and text by subject."""
        code, found = self.look("check", *more)
        return code, {one["about"]: (one["level"], one["what"] + " " + (one["advice"] or ""))
                      for one in found["findings"]}

    def serve(self):
        driver = subprocess.Popen(
            [CDI_DRA, "serve", *self.options(), "--node", "node1", "--claims",
             self.place / "claims"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(driver.communicate)
        self.addCleanup(driver.kill)
        for socket in ("dra.sock", "reg.sock"):
            self.assertIn(socket, driver.stdout.readline())

    def prepare(self, uid):
        """A claim in the journal of the driver."""
        self.state.mkdir(parents=True, exist_ok=True)
        subprocess.run([CDI_PREPARE, "prepare", "--root", self.root, "--state-dir", self.state,
                        "--claim", uid, "--device", "0@gpu", "--namespace", "default", "--name",
                        "one"], check=True, capture_output=True)

    def test_a_good_node(self):
        self.serve()
        code, status = self.look("status")
        self.assertEqual(code, 0, status)
        self.assertEqual([one["fault"] for one in status["sockets"]], [None, None])
        self.assertEqual(status["claims"], {})
        code, found = self.findings()
        self.assertEqual({level for level, _ in found.values()}, {"good"}, found)
        self.assertEqual(code, 0)
        self.assertEqual(list((self.root / "var/run/cdi").iterdir()), [])

    def test_no_driver_serves(self):
        code, status = self.look("status")
        self.assertEqual(code, 1)
        for one in status["sockets"]:
            self.assertIn("no program serves this socket", one["fault"])
        code, found = self.findings()
        self.assertEqual(code, 1)
        self.assertIn("Start cdi-dra serve", found["claims socket"][1])

    def test_claims_and_their_specs(self):
        self.prepare("6a1f0c3e")
        _, status = self.look("status")
        claim = status["claims"]["6a1f0c3e"]
        self.assertEqual((claim["namespace"], claim["name"], claim["fault"]),
                         ("default", "one", None))
        self.assertEqual([one["request"] for one in claim["devices"]], ["gpu"])
        spec = pathlib.Path(claim["spec"])
        self.assertIn(claim["devices"][0]["cdiDevice"].split("=")[1],
                      spec.read_text(encoding="utf-8"))
        spec.unlink()
        self.assertIn("No such file", self.look("status")[1]["claims"]["6a1f0c3e"]["fault"])
        journal = self.state / "6a1f0c3e.json"
        journal.write_bytes(journal.read_bytes()[:100])
        self.assertIn("damaged", self.look("status")[1]["claims"]["6a1f0c3e"]["fault"])
        self.assertIn("damaged", self.findings()[1]["claim 6a1f0c3e"][1])

    def test_the_engine_is_set_up_wrongly(self):
        self.configure("version = 2\n[plugins.'io.containerd.grpc.v1.cri']\nenable_cdi = false\n")
        code, found = self.findings()
        self.assertEqual(code, 1)
        self.assertEqual(found["containerd"][0], "good")  # the last finding: it sees the spec
        _, record = self.look("check")
        self.assertIn(("fault", "CDI is switched off"),
                      [(one["level"], one["what"]) for one in record["findings"]])
        self.configure("version = 2\n[plugins.'io.containerd.grpc.v1.cri']\nenable_cdi = true\n"
                       "cdi_spec_dirs = ['/etc/cdi']\n")
        level, text = self.findings()[1]["containerd"]
        self.assertEqual(level, "fault")
        self.assertIn("does not see a spec that is written to", text)

    def test_the_directory_of_the_kubelet_is_another(self):
        self.kubelet = self.place / "other"
        code, found = self.findings()
        self.assertEqual(code, 1)
        self.assertIn("plugins_registry is missing", found["kubelet"][1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
