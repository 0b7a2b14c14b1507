#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The unit, the manifest and the page of cdi-nri: deploy_test.py CDI_NRI [unittest options]"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

NRI = os.path.abspath(sys.argv.pop(1))
DEPLOY = pathlib.Path(__file__).resolve().parents[3] / "tools/nri/deploy"
PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/cdi-nri.md"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def of_page(name, language):
    """The blocks of a page in a language."""
    text = (PAGE.parent / name).read_text("ascii")
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", text)


def lines_of(name):
    lines = (DEPLOY / name).read_text("ascii").splitlines()
    return [line for line in lines if line and not line.lstrip().startswith("#")]


class Unit(unittest.TestCase):

    def setUp(self):
        self.settings = dict(line.split("=", 1) for line in lines_of("cdi-nri.service")
                             if not line.startswith("["))

    def test_systemd_knows_every_setting(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder) / "cdi-nri.service"
            text = (DEPLOY / unit.name).read_text("ascii")
            unit.write_text(text.replace("/usr/bin/cdi-nri", NRI), "ascii")
            done = run("systemd-analyze", "verify", str(unit))
            said = [line for line in done.stderr.splitlines() if "cdi-nri.service" in line]
            self.assertEqual(said, [])

    def test_it_restarts_but_not_after_wrong_usage(self):
        self.assertEqual(self.settings["Restart"], "always")
        self.assertEqual(self.settings["RestartPreventExitStatus"], "2")
        self.assertEqual(run(NRI, "--nonsense").returncode, 2)

    def test_device_nodes_stay_visible_and_nothing_else_is_given(self):
        self.assertFalse({"PrivateDevices", "DevicePolicy", "InaccessiblePaths", "User"} &
                         set(self.settings))
        self.assertEqual(self.settings["CapabilityBoundingSet"], "")
        self.assertEqual(self.settings["RestrictAddressFamilies"], "AF_UNIX")


class Manifest(unittest.TestCase):

    def setUp(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("python3-yaml is not installed")
        manifest = yaml.safe_load((DEPLOY / "cdi-nri.yaml").read_text("ascii"))
        self.template = manifest["spec"]["template"]
        self.assertEqual(manifest["spec"]["selector"]["matchLabels"],
                         self.template["metadata"]["labels"])
        self.pod = self.template["spec"]
        self.container, = self.pod["containers"]

    def test_options_are_those_of_the_program(self):
        text = run(NRI, "--help").stdout
        for word in self.container["args"]:
            if word.startswith("-"):
                self.assertRegex(text, rf"(?m)(^ +|, ){re.escape(word)}[ ,\n]")

    def test_the_container_has_the_least_rights(self):
        rights = self.container["securityContext"]
        self.assertIs(rights["privileged"], False)
        self.assertIs(rights["allowPrivilegeEscalation"], False)
        self.assertIs(rights["readOnlyRootFilesystem"], True)
        self.assertEqual(rights["capabilities"], {"drop": ["ALL"]})
        self.assertIs(self.pod["automountServiceAccountToken"], False)
        self.assertFalse({"hostNetwork", "hostPID", "hostIPC"} & set(self.pod))

    def test_it_sees_the_socket_the_specs_and_the_nodes(self):
        sources = {volume["name"]: volume["hostPath"]["path"] for volume in self.pod["volumes"]}
        mounts = {sources[mount["name"]]: (mount["mountPath"], mount.get("readOnly", False))
                  for mount in self.container["volumeMounts"]}
        self.assertEqual(mounts, {"/var/run/nri": ("/var/run/nri", True),
                                  "/etc/cdi": ("/etc/cdi", True),
                                  "/var/run/cdi": ("/var/run/cdi", True),
                                  "/dev": ("/host/dev", True)})
        root = self.container["args"][self.container["args"].index("--host-root") + 1]
        self.assertEqual(mounts["/dev"][0], root + "/dev")

    def test_it_starts_while_required_plugins_are_missing(self):
        key, = self.template["metadata"]["annotations"]
        self.assertIn(f'tolerate_missing_plugins_annotation = "{key}"', PAGE.read_text("ascii"))


class Page(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def test_settings(self):
        settings, *validators = of_page("cdi-nri.md", "toml")
        self.assertEqual(len(validators), 2)  # of containerd and CRI-O
        for validator in validators:
            self.assertIn('required_plugins = ["cdi-nri"]\n', validator)
        file = self.folder / "settings"
        file.write_text(settings, "ascii")
        words = (NRI, "--config", str(file), "--policy", "/nothing")  # it ends before it connects
        done = run(*words)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nothing: ", done.stderr)
        for key in re.findall(r"(?m)^([a-z-]+) = ", settings):  # each is known, and no other
            file.write_text(re.sub(rf"(?m)^{key} = ", f"{key}x = ", settings), "ascii")
            self.assertIn(f"{key}x: this member does not exist", run(*words).stderr)

    def test_annotation(self):
        annotation, = of_page("cdi-nri.md", "yaml")
        self.assertIn("    cdi-devices.noderesource.dev/container.main: ", annotation)

    def test_own_plugin(self):
        """The commands compile the example plugin outside of the project."""
        compile_it, = of_page("cdi-nri.md", "bash")
        text = (PAGE.parents[1] / "examples/nri_plugin.cpp").read_text("ascii")
        text = text.replace('"tools/nri/protocol/nri.hpp"', "<nri.hpp>")
        (self.folder / "plugin.cpp").write_text(text, "ascii")
        done = subprocess.run(["bash", "-ec", f"CDI='{PAGE.parents[1]}'\n{compile_it}"],
                              cwd=self.folder, capture_output=True, text=True, timeout=300,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = run(str(self.folder / "plugin"), "x" * 200)  # no socket has so long a path
        self.assertIn("107 bytes", done.stderr)


if __name__ == "__main__":
    unittest.main()
