#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0
"""What `cdi-prepare doctor` and `cdi why` advise about spec files is true: the command that they
name works, for each version in the table of engines. usage: advice_test.py CDI_PREPARE CDI"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

CDI_PREPARE, CDI = sys.argv[1:3]
del sys.argv[1:3]

# The program and the package of each engine.
ENGINES = {"containerd": ("containerd", "containerd"), "cri-o": ("crio", "cri-o"),
           "docker": ("dockerd", "docker.io"), "podman": ("podman", "podman")}


NAMES = ("aa", "bb", "cc", "dd", "ee", "ff", "gg")


def spec(version, *edits, kind="v.com/gpu", names=NAMES, top=""):
    """A spec with a device for each edits."""
    devices = "".join(f"- name: '{name}'\n  containerEdits: {one}\n"
                      for name, one in zip(names, edits or ("{env: [A=1]}",)))
    return f"cdiVersion: {version}\nkind: {kind}\n{top}devices:\n{devices}"


NODE = "{path: /dev/a, hostPath: /dev/b}"
RDT = "{intelRdt: {closID: c, %s: true}}"
SPECS = {
    "plain.yaml": spec("0.3.0"),
    "newer.yaml": spec("1.1.0"),
    "digit.yaml": spec("0.5.0", "{env: [A=1]}", "{env: [A=2]}", names=("0a", "bb")),
    "digits.yaml": spec("0.5.0", names=("00",)),
    "host.yaml": spec("0.5.0", "{deviceNodes: [%s]}" % NODE),
    "type.yaml": spec("0.4.0", "{mounts: [{hostPath: /a, containerPath: /b, type: tmpfs}]}"),
    "needless.yaml": spec("1.0.0", "{mounts: [{hostPath: /a, containerPath: /b, type: bind, "
                                   "options: [bind]}]}"),
    "annotated.yaml": spec("0.6.0", top="annotations: {a.b/c: d}\n"),
    "odd key.yaml": spec("0.6.0", top="annotations: {a b: d, '': e}\n"),
    "large.yaml": spec("0.6.0", top="annotations: {a: %s}\n" % ("x" * 300000)),
    "dotted.yaml": spec("0.6.0", kind="v.com/c.d"),
    "groups.yaml": spec("0.7.0", "{env: [A=1], additionalGids: [7]}"),
    "only-groups.yaml": spec("0.7.0", "{additionalGids: [7]}"),
    "monitored.yaml": spec("0.7.0", RDT % "enableCMT"),
    "monitoring.yaml": spec("1.1.0", RDT % "enableMonitoring"),
    "net.yaml": spec("1.1.0", "{env: [A=1], netDevices: [{hostInterfaceName: e, name: e}]}"),
    "many.yaml": spec("1.1.0", *["{env: [A=1], additionalGids: [%d]}" % i for i in range(1, 8)]),
    "two.yaml": spec("0.3.0") + "---\nmore: 1\n",
    "two-newer.yaml": spec("1.1.0") + "---\nmore: 1\n",
    "case.yaml": spec("0.7.0", "{ENV: [A=1]}"),
    "it's yaml.json": spec("0.7.0"),
    "escape.json": json.dumps({"cdiVersion": "0.6.0", "kind": "v.com/gpu", "devices": [
        {"name": "aa", "containerEdits": {"env": ["A=/"]}}]}).replace("A=/", "A=\\/"),
    "root.yaml": spec("0.7.0", "{intelRdt: {closID: /}}"),
    "none.yaml": spec("0.3.0", "{deviceNodes: [{path: /dev/a, permissions: none}]}"),
    "class.yaml": spec("0.3.0", kind="v.com/c"),
    "letter.yaml": spec("0.5.0", names=("a",)),
    "digit-none.yaml": spec("0.5.0", "{deviceNodes: [{path: /dev/a, permissions: none}]}",
                            "{env: [A=1]}", names=("0a", "bb")),
    "name.yaml": spec("0.6.0", "{env: ['A B=1']}"),  # its warning is not about the text
}


def run(*command):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True,
                          timeout=30, check=False)


def engines():
    """Each version of the table, and versions between two rows: of all engines if CDI_FULL=1."""
    table = run(CDI, "convert", "--help").stdout
    rows = re.findall(r"^  ([a-z-]+) +(\d+)\.(\d+)\.(\d+) +\d", table, re.M)
    for name, *version in rows:
        major, minor, patch = map(int, version)
        yield name, f"{major}.{minor}.{patch}"
        if name == "podman" or os.environ.get("CDI_FULL"):
            yield name, f"{major}.{minor}.{patch + 1}"


class Host:
    """A host with an engine and spec files."""

    def __init__(self, root, engine, version, specs):
        self.root, self.engine = pathlib.Path(root), f"{engine} {version}"
        program, package = ENGINES[engine]
        self.put(f"usr/bin/{program}", "")
        self.put("var/lib/dpkg/status",
                 f"Package: {package}\nStatus: install ok installed\nVersion: {version}\n")
        self.put("etc/docker/daemon.json", '{"features": {"cdi": true}}')
        self.put("etc/containerd/config.toml",
                 'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\nenable_cdi = true\n')
        for name, text in specs.items():
            self.put(f"etc/cdi/{name}", text)

    def put(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def findings(self):
        """The advice of doctor by spec file, each about this engine."""
        found = {}
        done = run(CDI_PREPARE, "doctor", "--root", self.root, "-o", "json")
        for finding in json.loads(done.stdout)["findings"]:
            words = re.match(r"(refuses|may refuse or read otherwise:) /etc/cdi/(.*?): ",
                             finding["what"])
            if words and finding["about"] == self.engine:
                name = re.sub(r"(:\d+)+$", "", words[2])
                found[name] = (words[1] == "refuses", finding["advice"])
        return found

    def run_advised(self, advice):
        """The result of the advised command on this host; None when none is advised."""
        command = re.search(r"`cdi (convert .*?)`", advice)
        if not command:
            return None
        words = shlex.split(command[1])
        return run(CDI, *words[:-1], self.root / words[-1].lstrip("/"))


class Advice(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="cdi-advice-")
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)

    def why(self, engine, path):
        """`cdi why` about a device of a file that is alone in its directory."""
        folder = self.place / "alone"
        folder.mkdir(exist_ok=True)
        (folder / path.name).write_bytes(path.read_bytes())
        kind = {"dotted.yaml": "v.com/c.d", "class.yaml": "v.com/c"}.get(path.name, "v.com/gpu")
        name = {"digits.yaml": "00", "digit.yaml": "bb", "digit-none.yaml": "bb",
                "letter.yaml": "a"}.get(path.name, "aa")
        done = run(CDI, "-d", folder, "why", "--for", engine, "-o", "json", f"{kind}={name}")
        (folder / path.name).unlink()
        (record,) = json.loads(done.stdout)
        return record

    def check_file(self, host, engine, name, refused, advice):
        path = host.root / "etc/cdi" / name
        record = self.why(engine, path)
        self.assertEqual(record["resolved"], not refused)
        self.assertEqual(record["advice"].split("`")[0].lower(), advice.split("`")[0].lower()
                         if "`" in advice else advice.rstrip(".").lower())
        if newer := re.search(r"pdate ([a-z-]+) to ([\d.]+) or newer", advice):
            self.assertTrue(self.why(f"{newer[1]}@{newer[2]}", path)["resolved"])
        done = host.run_advised(advice)
        if done is None:
            self.assertEqual(run(CDI, "convert", "--lossy", "--for", engine, path).returncode, 1)
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        without = host.run_advised(advice.replace("--lossy ", ""))
        self.assertEqual(without.returncode, 1 if "--lossy" in advice else 0)
        path.write_text(done.stdout, encoding="utf-8")

    def test_the_advised_command_works_for_each_engine(self):
        advised, checked = 0, list(engines())
        self.assertGreater(len(checked), 25)
        for name, version in checked:
            host = Host(self.place / f"{name}-{version}", name, version, SPECS)
            found = host.findings()
            for file in SPECS:
                with self.subTest(engine=f"{name}@{version}", file=file):
                    if file in found:
                        advised += 1
                        self.check_file(host, f"{name}@{version}", file, *found[file])
                    else:
                        record = self.why(f"{name}@{version}", host.root / "etc/cdi" / file)
                        self.assertTrue(record["resolved"])
                        self.assertNotIn("warnings", record)
            left = host.findings()
            self.assertEqual([file for file, (_, advice) in left.items() if "`" in advice], [])
        self.assertGreater(advised, 200)


if __name__ == "__main__":
    unittest.main(verbosity=2)
