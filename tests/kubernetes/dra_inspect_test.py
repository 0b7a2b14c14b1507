#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What `cdi-dra status` and `cdi-dra check` say about a node.

usage: dra_inspect_test.py CDI_DRA CDI_PREPARE
"""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CDI_DRA, CDI_PREPARE = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
PROJECT = pathlib.Path(__file__).resolve().parents[2]
DRIVER = "gpu.example.com"


@contextlib.contextmanager
def read_only(path):
    """Makes a directory read-only for the time of a block."""
    if os.geteuid() != 0:
        path.chmod(0o555)
        yield
        return path.chmod(0o755)
    mount = ["mount", "--bind", "-o", "ro", path, path]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        raise unittest.SkipTest("root cannot mount here")
    try:
        yield
    finally:
        subprocess.run(["umount", path], check=True)


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

    def test_a_claim_that_the_driver_refuses(self):
        """What the driver cannot read has a fault, with the path of its file."""
        self.prepare("6a1f0c3e")
        good = self.state / "6a1f0c3e.json"
        (self.state / "other.json").write_bytes(good.read_bytes())
        (self.state / "link.json").symlink_to(good)
        claims = self.look("status")[1]["claims"]
        self.assertIsNone(claims["6a1f0c3e"]["fault"])
        for uid, what in (("other", "not the journal of a claim"), ("link", "cannot open")):
            self.assertIn(f"{self.state}/{uid}.json: ", claims[uid]["fault"])
            self.assertIn(what, claims[uid]["fault"])
            level, text = self.findings()[1]["claim " + uid]
            self.assertEqual(level, "fault")
            self.assertIn("stop the driver and remove the file", text)

    def test_directories_that_cannot_be_written(self):
        specs = self.root / "var/run/cdi"
        for path in (self.state, specs):
            path.mkdir(parents=True, exist_ok=True)
        for engine in ("containerd", "none"):
            if engine == "none":
                shutil.rmtree(self.root / "etc/containerd")
            for option, path in (("--state-dir", self.state), ("--output-dir", specs)):
                with self.subTest(option=option, engine=engine):
                    with read_only(path):
                        _, record = self.look("check")
                    found, = [one for one in record["findings"] if one["about"] == str(path)]
                    self.assertEqual(found["level"], "fault")
                    self.assertRegex(found["what"], "Read-only file system|Permission denied")
                    self.assertIn(option, found["advice"])

    def test_a_socket_that_this_user_cannot_open(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        self.serve()
        self.place.chmod(0o755)
        done = subprocess.run([CDI_DRA, "status", *self.options()], text=True, user=65534, group=65534,
                              extra_groups=[], capture_output=True, timeout=60, check=False)
        self.assertIn("dra.sock: cannot connect to the socket: Permission denied", done.stdout)
        self.assertNotIn("no program serves", done.stdout)

    def test_a_call_without_a_driver(self):
        (self.place / "none.json").write_text('{"kind": "List", "items": []}', encoding="ascii")
        done = subprocess.run([CDI_DRA, "call", "prepare", self.place / "none.json", "--driver",
                               DRIVER, "--kubelet-dir", self.kubelet], text=True,
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("dra.sock: no program serves this socket: start cdi-dra serve", done.stderr)

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
