#!/usr/bin/env python3
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

sys.dont_write_bytecode = True
from nri_peers import wait_until  # noqa: E402
from results_schema import ValidationError, checked, skip_without_schema  # noqa: E402

CDI_DRA, CDI_PREPARE = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
PROJECT = pathlib.Path(__file__).resolve().parents[3]
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
        subprocess.run([sys.executable, PROJECT / "tools/prepare/sample-node", self.root],
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
        return done.returncode, checked(f"cdi-dra {command}", done.stdout)

    def findings(self, *more):
        """The exit code of `check`, and its findings: level and text by subject."""
        code, found = self.look("check", *more)
        return code, {one["about"]: (one["level"], one["what"] + " " + (one["advice"] or ""))
                      for one in found["findings"]}

    def serve(self, *more):
        driver = subprocess.Popen(
            [CDI_DRA, "serve", *self.options(), "--node", "node1", "--claims",
             self.place / "claims", *more], stdout=subprocess.PIPE, text=True)
        self.addCleanup(driver.communicate)
        self.addCleanup(driver.kill)
        while "reg.sock" not in driver.stdout.readline():
            self.assertIsNone(driver.poll())
        return driver

    def run_dra(self, *words):
        """A command, which prints no JSON."""
        return subprocess.run([CDI_DRA, *map(str, words)], text=True, capture_output=True,
                              timeout=60, check=False)

    def prepare(self, uid, device="0@gpu", *more):
        """A claim in the journal of the driver."""
        self.state.mkdir(parents=True, exist_ok=True)
        subprocess.run([CDI_PREPARE, "prepare", "--root", self.root, "--state-dir", self.state,
                        "--claim", uid, "--device", device, "--namespace", "default", "--name",
                        "one", *more], check=True, capture_output=True)

    @skip_without_schema
    def test_a_node_as_its_schema_says(self):
        for command in ("status", "check"):  # which `look` compares
            self.look(command)
        for command, text in (("serve", '{"version": 1, "event": "prepared"}'),
                              ("status", '{"version": 1, "sockets": []}')):
            with self.assertRaises(ValidationError):
                checked(f"cdi-dra {command}", text)

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

    def test_a_driver_without_standard_streams(self):
        """Its log goes into no file, socket or event that it has open."""
        for closed in (">&-", ">&- 2>&-"):
            driver = subprocess.Popen(
                ["/bin/sh", "-c", f'exec "$0" "$@" {closed}', CDI_DRA, "serve", *self.options(),
                 "--node", "node1", "--claims", self.place / "claims"])
            self.addCleanup(driver.kill)
            wait_until(lambda: self.look("status")[0] == 0, "the driver serves")
            streams = [os.readlink(f"/proc/{driver.pid}/fd/{number}") for number in (1, 2)]
            self.assertEqual(streams[:closed.count("&-")], ["/"] * closed.count("&-"))
            driver.terminate()
            self.assertEqual(driver.wait(60), 0, closed)

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
        self.assertIn("not valid JSON", self.look("status")[1]["claims"]["6a1f0c3e"]["fault"])
        self.assertIn("not valid JSON", self.findings()[1]["claim 6a1f0c3e"][1])

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

    def test_status_as_text(self):
        """A line for each socket, claim and device."""
        text = self.run_dra("status", *self.options()).stdout
        self.assertIn("claims socket: no answer: ", text)
        self.assertTrue(text.endswith(f"no claims in {self.state}, which does not exist\n"), text)
        self.prepare("one")
        self.prepare("two", "1@gpu")
        two = self.state / "two.json"
        two.write_text(two.read_text(encoding="utf-8")[:50], encoding="utf-8")
        self.serve()
        lines = self.run_dra("status", *self.options()).stdout.splitlines()
        self.assertEqual(lines[1].split(": ")[0], "claims socket")
        self.assertTrue(lines[1].endswith("/dra.sock answers"), lines)
        self.assertRegex(lines[2], r"^claim one default/one: .*one\.json$")
        self.assertRegex(lines[3], r"^  cdi-prepare.local/claim=one-0 .* for gpu$")
        self.assertRegex(lines[4], r"^claim two: .*not valid JSON")

    def test_a_spec_without_the_device_of_its_claim(self):
        self.prepare("one")
        spec = pathlib.Path(self.look("status")[1]["claims"]["one"]["spec"])
        spec.write_text(spec.read_text(encoding="utf-8").replace('"one-0"', '"other"'),
                        encoding="utf-8")
        self.assertIn("it has no device one-0", self.look("status")[1]["claims"]["one"]["fault"])

    def test_a_claim_whose_device_is_gone(self):
        self.prepare("one")
        self.assertIsNone(self.look("status")[1]["claims"]["one"]["fault"])
        table = self.root / "dev.tab"
        table.write_text("".join(line for line in table.read_text("ascii").splitlines(True)
                                 if "/nvidia0" not in line), encoding="ascii")
        (self.root / "dev/nvidia0").unlink(missing_ok=True)
        code, status = self.look("status")
        self.assertEqual(code, 1)
        self.assertIn("/dev/nvidia0", status["claims"]["one"]["fault"])
        self.assertEqual(self.findings()[1]["claim one"][0], "fault")

    def test_a_claim_of_a_vendor_file(self):
        """The journal has the vendor file: without it, the advice would end the pod."""
        vendor = self.place / "npu.toml"
        vendor.write_text('kind = "acme.com/npu"\ndevices = "/dev/npu*"\n', encoding="ascii")
        (self.root / "dev/npu0").touch()
        with (self.root / "dev.tab").open("a", encoding="ascii") as table:
            table.write("/dev/npu0 c 240 0 0666 0 0\n")
        self.prepare("one", "acme.com/npu=0", "--vendor-file", vendor)
        _, status = self.look("status", "--vendor-file", vendor)
        self.assertIsNone(status["claims"]["one"]["fault"])
        _, status = self.look("status")
        self.assertIsNone(status["claims"]["one"]["fault"])
        self.assertNotIn("claim one", self.findings()[1])
        vendor.unlink()
        self.assertIn("npu.toml", self.look("status")[1]["claims"]["one"]["fault"])

    def test_a_claim_of_a_killed_call(self):
        self.prepare("one")
        journal = self.state / "one.json"
        text = journal.read_text(encoding="utf-8")
        self.assertIn('"prepared"', text)
        journal.write_text(text.replace('"prepared"', '"preparing"'), encoding="utf-8")
        self.assertIn("a call for it was killed",
                      self.look("status")[1]["claims"]["one"]["fault"])
        self.assertIn("The driver tries to repair claims: its log has the reason",
                      self.findings()[1]["claim one"][1])

    def test_a_claim_that_the_kubelet_forgot(self):
        """Its GPU is free again after the command that the page names."""
        self.prepare("one")
        self.serve()
        file = self.place / "claims/two.json"
        device = "nvidia-gpu-5f2a1c0e-3b7d-4c55-9f0a-8e1d2b3c4a51"
        file.write_text(json.dumps({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {"namespace": "default", "name": "two", "uid": "two"},
            "status": {"allocation": {"devices": {"results": [
                {"request": "gpu", "driver": DRIVER, "pool": "node1", "device": device}]}}}}),
                        encoding="ascii")
        call = ["call", "prepare", file, "--driver", DRIVER, "--kubelet-dir", self.kubelet]
        self.assertIn("unprepare claim one first", self.run_dra(*call).stdout)
        subprocess.run([CDI_PREPARE, "unprepare", "--root", self.root, "--claim", "one",
                        "--state-dir", self.state], check=True, capture_output=True)
        self.assertEqual(self.run_dra(*call).returncode, 0)

    def test_claims_keep_the_files_of_a_driver_root(self):
        """A command for another claim has no option for it; the driver's own options count."""
        version = (self.root / "sys/module/nvidia/version").read_text(encoding="ascii").strip()
        library = f"/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libcuda.so.{version}"
        (self.root / library[1:]).parent.mkdir(parents=True)
        (self.root / library[1:]).touch()
        self.prepare("one")
        spec = self.root / "var/run/cdi/cdi-prepare.local-claim_one.json"
        self.assertNotIn("libcuda", spec.read_text(encoding="utf-8"))
        driver = self.serve("--driver-root", "/run/nvidia/driver")
        made = spec.read_text(encoding="utf-8")
        self.assertIn(library, made)
        for words in (["unprepare", "--claim", "other"], ["list"]):
            subprocess.run([CDI_PREPARE, *words, "--root", self.root, "--state-dir", self.state],
                           check=True, capture_output=True)
            self.assertEqual(spec.read_text(encoding="utf-8"), made)
        driver.kill()
        driver.wait()
        self.serve()
        self.assertNotIn(library, spec.read_text(encoding="utf-8"))

    def test_the_driver_is_where_the_spec_of_the_host_has_it(self):
        version = (self.root / "sys/module/nvidia/version").read_text(encoding="ascii").strip()
        library = f"/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libcuda.so.{version}"
        (self.root / library[1:]).parent.mkdir(parents=True)
        (self.root / library[1:]).touch()
        subprocess.run([CDI_PREPARE, "write", "--root", self.root, "--driver-root",
                        "/run/nvidia/driver"], check=True, capture_output=True)
        self.prepare("one")
        spec = self.root / "var/run/cdi/cdi-prepare.local-claim_one.json"
        self.assertNotIn(library, spec.read_text(encoding="utf-8"))
        self.serve()
        self.assertIn(library, spec.read_text(encoding="utf-8"))
        self.assertEqual(self.look("status")[1]["claims"]["one"]["fault"], None)

    def test_nvml_of_this_host_is_not_asked_about_another(self):
        for command in (["status"], ["check"], ["serve", "--node", "n"]):
            done = self.run_dra(*command, *self.options(), "--nvml")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("--nvml: the library would report on this host", done.stderr)

    def test_paths_that_no_driver_can_have(self):
        """All commands refuse them, with a message."""
        (self.place / "none.json").write_text('{"kind": "List", "items": []}', encoding="ascii")
        file = self.place / "none.json"
        serve = ["--node", "n", "--claims", self.place / "claims"]
        for option, path, text, commands in (
                ("--kubelet-dir", "/" + 110 * "k", "at most 107 bytes",
                 (["status"], ["check"], ["call", "prepare", file], ["serve", *serve])),
                ("--state-dir", file, "Not a directory", (["status"], ["check"])),
                ("--kubelet-dir", file, "Not a directory", (["serve", *serve],))):
            for command in commands:
                with self.subTest(option=option, command=command[0]):
                    where = [] if command[0] == "call" else ["--root", self.root]
                    done = self.run_dra(*command, "--driver", DRIVER, *where, option, path)
                    self.assertEqual((done.returncode, done.stdout), (1, ""))
                    self.assertIn(text, done.stderr)

    def test_a_registry_that_is_no_directory(self):
        (self.kubelet / "plugins_registry").rmdir()
        (self.kubelet / "plugins_registry").write_text("", encoding="ascii")
        level, text = self.findings()[1]["kubelet"]
        self.assertEqual(level, "fault")
        self.assertIn("Not a directory", text)

    def test_a_spec_directory_that_is_none(self):
        (self.root / "var/run/cdi").parent.mkdir(parents=True, exist_ok=True)
        specs = self.root / "var/run/cdi"
        if specs.exists():
            shutil.rmtree(specs)
        specs.write_text("", encoding="ascii")
        for engine in ("containerd", "none"):
            with self.subTest(engine):
                if engine == "none":
                    shutil.rmtree(self.root / "etc/containerd")
                self.assertIn("Run this as root", self.findings()[1][str(specs)][1])

    def test_the_engines_that_a_kubelet_calls(self):
        shutil.rmtree(self.root / "etc/containerd")
        (self.root / "etc/docker").mkdir()
        (self.root / "etc/docker/daemon.json").write_text("{}", encoding="ascii")
        self.assertIn("neither containerd nor CRI-O", self.findings()[1]["engine"][1])
        (self.root / "etc/crio").mkdir()
        (self.root / "etc/crio/crio.conf").write_text("", encoding="ascii")
        found = self.findings()[1]
        self.assertNotIn("engine", found)
        self.assertEqual(found["cri-o"][0], "good")

    def test_a_registration_socket_of_another_instance(self):
        self.serve("--instance", "a")
        registry = self.kubelet / "plugins_registry"
        os.link(registry / f"{DRIVER}-a-reg.sock", registry / f"{DRIVER}-reg.sock")
        faults = [one["fault"] for one in self.look("status")[1]["sockets"]]
        self.assertIn("it names the socket ", faults[0])
        self.assertIn("dra-a.sock", faults[0])
        self.assertIn("no program serves", faults[1])

    def test_calls_of_a_driver(self):
        self.serve()
        here = ["--driver", DRIVER, "--kubelet-dir", self.kubelet]
        device = {"request": "gpu", "driver": DRIVER, "pool": "node1", "shareID": "s"}
        good = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                "metadata": {"name": "one", "namespace": "default", "uid": "u-1"},
                "status": {"allocation": {"devices": {"results": [
                    {**device, "device": self.devices()[0]}]}}}}
        path = self.place / "claims/one.json"
        path.write_text(json.dumps(good), encoding="ascii")
        done = self.run_dra("call", "prepare", path, *here)
        self.assertEqual(done.returncode, 0, done.stderr)
        (answer,) = checked("cdi-dra call", done.stdout)["claims"]["u-1"]["devices"]
        self.assertEqual((answer["share_id"], answer["cdi_device_ids"]),
                         ("s", [f"{DRIVER}/claim=u-1-0"]))
        done = self.run_dra("call", "unprepare", path, *here)
        self.assertEqual((done.returncode, checked("cdi-dra call", done.stdout)["claims"]),
                         (0, {"u-1": {}}))
        missing = self.place / "missing.json"
        missing.write_text(json.dumps({**good, "metadata": {"name": "two", "uid": "u-2"}}),
                           encoding="ascii")
        done = self.run_dra("call", "prepare", missing, *here)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no file has the ResourceClaim",
                      checked("cdi-dra call", done.stdout)["claims"]["u-2"]["error"])
        for file, text in ((self.place / "none", "No such file"), (self.place, "not a regular file")):
            done = self.run_dra("call", "prepare", file, *here)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(text, done.stderr)
        missing.write_text("{", encoding="ascii")
        self.assertEqual(self.run_dra("call", "prepare", missing, *here).returncode, 1)
        os.link(self.kubelet / "plugins_registry" / f"{DRIVER}-reg.sock",
                self.kubelet / "plugins" / DRIVER / "dra-a.sock")
        for what in ("prepare", "unprepare"):  # the driver's other socket does not know them
            done = self.run_dra("call", what, path, *here, "--instance", "a")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("unknown method", done.stderr)

    def devices(self):
        """The names of the devices in ResourceSlices."""
        done = subprocess.run([CDI_PREPARE, "slices", "-o", "json", "--root", self.root, "--driver",
                               DRIVER, "--node", "node1"], check=True, capture_output=True, text=True)
        return [device["name"] for one in json.loads(done.stdout)["items"]
                for device in one["spec"].get("devices", ())]

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
        (self.kubelet / "plugins" / DRIVER).mkdir()  # or the driver makes it, for root alone
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
