#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The settings file of cdi-prepare, and options that its specs record.

settings_test.py CDI_PREPARE [unittest options]
"""
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from tree_case import TreeTest, run_tests, with_text  # noqa: E402
from vendor_case import VendorTest  # noqa: E402
# pylint: enable=wrong-import-position

FILE = "/etc/cdi-prepare/config.toml"


class SettingsTest(TreeTest):
    tree = "nv2"

    def setUp(self):
        super().setUp()
        self.out = self.path("/var/run/cdi")

    def put(self, text):
        path = super().put(FILE, text)
        path.chmod(0o644)
        return path

    def run_ok(self, *arguments, code=0):
        done = self.run_prepare(*arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def recorded(self, name="nvidia.com-gpu.yaml", out=None):
        text = (out or self.out).joinpath(name).read_text()
        return next(line for line in text.splitlines() if "cdi-prepare/options" in line)


class File(SettingsTest):
    def test_all_commands_read_it(self):
        self.put('profile = "compute"\nexpect = 2\nno-all = true\n')
        self.run_ok("write")
        self.assertIn("profile=compute ", self.recorded())
        self.assertIn("no-all", self.recorded())
        self.run_ok("check")
        self.assertEqual(self.run_ok("diff").stdout, "")
        files = self.run_ok("files").stdout
        self.assertEqual(files, self.run_ok("files", "--no-config", "--profile", "compute").stdout)
        self.assertNotEqual(files, self.run_ok("files", "--no-config").stdout)
        self.put("expect = 3\n")
        for command in ("write", "check", "detect"):
            self.assertIn("2 of 3 expected", self.run_ok(command, code=4).stderr)

    def test_the_command_line_wins(self):
        self.put('profile = "compute"\nno-all = true\nmax-version = "0.5.0"\n')
        self.run_ok("write", "--profile", "video", "--no-all=false", "--for", "podman@5.5.0")
        self.assertNotIn("no-all", self.recorded())
        self.assertIn("profile=video ", self.recorded())
        self.assertNotIn("max-version=0.5.0", self.recorded())
        self.run_ok("write", "--no-config")
        self.assertIn("profile=all ", self.recorded())

    def test_paths_are_those_of_the_host(self):
        self.put('output-dir = "/etc/cdi"\nstate-dir = "/var/lib/claims"\n')
        self.run_ok("write")
        self.assertTrue(self.path("/etc/cdi/nvidia.com-gpu.yaml").exists())
        self.run_ok("prepare", "--claim", "c1", "--device", "0")
        self.assertEqual(sorted(os.listdir(self.path("/var/lib/claims"))),
                         [".lock", "c1.json"])

    def test_kind_and_device_are_not_those_of_a_claim(self):
        self.put('kind = "nvidia.com/gpu"\ndevice = ["0"]\n')
        done = self.run_ok("prepare", "--claim", "c1", "--device", "1")
        self.assertIn("cdi-prepare.local/claim=c1-0", done.stdout)
        self.assertEqual(self.run_ok("detect").stdout.count("\nnvidia"), 0)
        self.assertEqual(self.run_ok("write").returncode, 0)
        self.assertIn("device=0", self.recorded())

    def test_another_file(self):
        self.put('profile = "video"\n')
        other = self.place / "other.toml"
        other.write_text('profile = "graphics"\n')
        self.run_ok("write", "--config", str(other))
        self.assertIn("profile=graphics ", self.recorded())
        self.assertIn("File does not exist",
                      self.run_ok("write", "--config", str(self.place / "x"), code=2).stderr)
        self.assertIn("excludes",
                      self.run_ok("write", "--config", str(other), "--no-config", code=2).stderr)

    def test_faults_have_their_place(self):
        for text, wanted in (
                ('\n profil = "all"\n',
                 ":2:2: profil: this member does not exist: did you mean profile?"),
                ('profile = 1\n', ":1:11: profile: expected text, not 1"),
                ('profile = "al"\n', ':1:1: profile: "al" is none of compute, graphics'),
                ('wait = "60"\n', ":1:8: wait: must be a number"),
                ("wait = -1\n", ':1:1: wait: "-1" is not a number of seconds'),
                ("expect = 1.5\n", ':1:1: expect: "1.5" is not a number'),
                ("nvml = 1\n", ":1:8: nvml: expected true or false, not 1"),
                ('device = [""]\n', ":1:11: device[0]: must not be empty"),
                ('output-dir = "cdi"\n', ":1:14: output-dir: must be an absolute path"),
                ('max-version = "0.5.0"\nfor = "podman@5.5.0"\n', "excludes"),
                ("force = true\n", ":1:1: force: this member does not exist"),
                ("[profile]\n", ":1:1: profile: expected text, not an object"),
                ("profile = \n", "is not valid TOML")):
            with self.subTest(text=text):
                path = self.put(text)
                for command in ("write", "doctor", "list"):
                    done = self.run_ok(command, code=2)
                    self.assertIn("error: " + str(path), done.stderr)
                    self.assertIn(wanted, done.stderr)
                    self.assertNotIn("--", done.stderr)
                    self.assertEqual(done.stdout, "")
        self.assertFalse(self.out.exists())
        record = self.run_ok("write", "-o", "json", code=2)
        self.assertIn("is not valid TOML", record.stderr)

    def test_file_that_others_may_write(self):
        path = self.put('profile = "compute"\n')
        path.chmod(0o666)
        done = self.run_ok("write", code=2)
        self.assertIn(f"chmod go-w {path}", done.stderr)
        self.assertFalse(self.out.exists())
        self.run_ok("write", "--no-config")

    def test_link_stays_under_the_root(self):
        outside = self.place / "outside.toml"
        outside.write_text('profile = "compute"\n')
        path = self.put("")
        path.unlink()
        path.symlink_to(outside)
        self.run_ok("write")
        self.assertIn("profile=all ", self.recorded())

    def test_example_of_the_page(self):
        page = os.path.join(os.path.dirname(__file__), "../../../docs/cdi-prepare.md")
        with open(page, encoding="utf-8") as file:
            text = file.read().split("```toml\n", 1)[1].split("```", 1)[0]
        self.put(text)
        self.run_ok("write", "--wait", "0", "--expect", "2")
        self.assertIn("profile=compute ", self.recorded())


class Kept(SettingsTest):
    """Options that specs record are kept by the service, by `watch`, and by advice."""

    def forget(self, *paths):
        for path in paths:
            self.path(path).unlink()
            self.remove_node(path)

    def watch_once(self, *arguments):
        """Lets `watch` survey the host until it writes a spec."""
        watching = subprocess.Popen([self.program, "watch", "--root", str(self.root),
                                     "--interval", "0.01", *arguments],
                                    stderr=subprocess.PIPE, text=True)
        try:
            for line in watching.stderr:
                if ": replaced: " in line or ": created: " in line or " device, " in line or " devices, " in line:
                    return line
            return ""
        finally:
            watching.terminate()
            watching.communicate(timeout=20)

    def test_write(self):
        self.run_ok("write", "--profile", "compute", "--no-all", "--device", "0")
        before = self.recorded()
        self.run_ok("write", "--keep-options")
        self.assertEqual(self.recorded(), before)
        self.run_ok("check", "--keep-options")
        self.assertEqual(self.run_ok("diff", "--keep-options").stdout, "")
        self.run_ok("check", code=1)
        self.run_ok("write", "--keep-options", "--profile", "video", "--no-all=false")
        self.assertEqual(self.recorded(),
                         before.replace("compute", "video").replace(" no-all", ""))
        self.run_ok("write")
        self.assertIn("profile=all ", self.recorded())

    def test_each_kind_keeps_its_own(self):
        self.add_tree("mi300x-spx")
        self.run_ok("write", "--kind", "nvidia.com/gpu", "--profile", "compute")
        self.run_ok("write", "--kind", "amd.com/gpu", "--profile", "graphics", "--format", "json",
                    "--device", "0")
        texts = [(self.out / name).read_text() for name in
                 ("nvidia.com-gpu.yaml", "amd.com-gpu.json")]
        self.run_ok("write", "--keep-options")
        self.assertEqual(texts, [(self.out / name).read_text() for name in
                                 ("nvidia.com-gpu.yaml", "amd.com-gpu.json")])
        self.run_ok("check", "--keep-options")

    def test_kind_that_was_renamed(self):
        self.run_ok("write", "--kind", "acme.com/gpu", "--profile", "compute")
        before = self.recorded("acme.com-gpu.yaml")
        self.run_ok("write", "--keep-options")
        self.assertEqual(self.recorded("acme.com-gpu.yaml"), before)
        self.assertEqual(os.listdir(self.out), ["acme.com-gpu.yaml"])

    def test_kind_on_request_does_not_take_the_place_of_the_gpus(self):
        kind = "management.nvidia.com/gpu"
        self.run_ok("write", "--kind", kind, "--hooks", "none", "--no-all")
        name = f"{kind.replace('/', '-')}.yaml"
        before = (self.out / name).read_text()
        self.run_ok("write", "--keep-options")
        self.assertNotIn("kind=", self.recorded())
        self.assertNotIn("no-all", self.recorded())
        self.run_ok("write", "--keep-options", "--kind", kind)
        self.assertEqual((self.out / name).read_text(), before)

    def test_version_in_a_comment(self):
        self.run_ok("write", "--max-version", "0.5.0", "--profile", "compute")
        before = self.recorded()
        self.run_ok("write", "--keep-options")
        self.assertEqual(self.recorded(), before)

    def test_driver_elsewhere(self):
        driver = self.path("/run/nvidia/driver")
        driver.mkdir(parents=True)
        for name in ("usr", "lib", "etc"):
            shutil.move(self.path(name), driver / name)
        self.run_ok("write", "--driver-root", "/run/nvidia/driver")
        before = (self.out / "nvidia.com-gpu.yaml").read_text()
        self.run_ok("write", "--keep-options")
        self.assertEqual((self.out / "nvidia.com-gpu.yaml").read_text(), before)
        self.assertIn("libcuda", before)
        driver.rename(driver.parent / "later")  # as before the driver's container has started
        done = self.run_ok("write", "--keep-options", code=4)
        self.assertIn("cannot read --driver-root /run/nvidia/driver", done.stderr)
        self.run_ok("write", "--driver-root", "/run/nvidia/driver", code=1)
        self.assertEqual((self.out / "nvidia.com-gpu.yaml").read_text(), before)
        (driver.parent / "later").rename(driver)
        self.run_ok("write", "--keep-options", "--wait", "5")

    def test_settings_win_over_what_is_recorded(self):
        self.run_ok("write", "--profile", "compute", "--no-all")
        self.put('profile = "video"\n')
        self.run_ok("write", "--keep-options")
        self.assertIn("profile=video ", self.recorded())
        self.assertIn(" no-all", self.recorded())

    def test_nvml_of_this_host_is_not_asked_about_another(self):
        for command in ("write", "check", "detect", "watch", "slices"):
            done = self.run_ok(command, "--nvml", code=2)
            self.assertIn("error: --nvml: the library would report on this host", done.stderr)
        self.assertFalse(self.out.exists())
        self.put("nvml = true\n")
        self.run_ok("write", code=2)
        self.put("")
        self.run_ok("write", "--nvml", "--nvml-library", __file__)
        before = self.recorded()
        self.assertIn(" nvml", before)
        done = self.run_ok("write", "--keep-options")
        self.assertIn("NVML was not called: it would report on this host", done.stderr)
        self.assertEqual(self.recorded(), before)

    def test_watch(self):
        self.run_ok("write", "--profile", "compute", "--device", "0,1")
        before = self.recorded()
        text = (self.out / "nvidia.com-gpu.yaml").read_text()
        (self.out / "nvidia.com-gpu.yaml").write_text(text.replace("NVIDIA_VISIBLE", "X_VISIBLE"))
        self.assertIn("nvidia.com-gpu.yaml", self.watch_once())
        self.assertEqual(self.recorded(), before)
        self.assertEqual((self.out / "nvidia.com-gpu.yaml").read_text(), text)

    def advised(self, text):
        """The commands in a text that write."""
        found = re.findall(r"`(cdi-prepare write [^`]*)`", text)
        self.assertTrue(found, text)
        return found

    def paste(self, command, code=0):
        words = shlex.split(command)
        done = with_text(self.run_tool(self.program, *words[1:], expect=None))
        self.assertEqual(done.returncode, code, command + done.stderr)
        return done

    def test_pasted_advice_on_nodes(self):
        for out in ((), ("--output-dir", str(self.path("/etc/cdi")))):
            self.run_ok("write", "--profile", "compute", "--no-all", *out)
            directory = self.path("/etc/cdi") if out else self.out
            before = self.recorded(out=directory)
            texts = self.path("dev.tab").read_text()
            self.forget("/dev/nvidia0")
            for text in (self.run_ok("detect", code=3).stderr,
                         self.run_ok("doctor", code=1).stdout,
                         self.run_ok("doctor", *out, code=1).stdout):
                for command in self.advised(text):
                    if "--make-nodes" in command and "--keep" in command:
                        self.path("dev.tab").write_text(texts)
                        self.path("/dev/nvidia0").touch()
                        self.paste(command)
                        self.assertEqual(self.recorded(out=directory), before)
                        self.forget("/dev/nvidia0")
                        break
                else:
                    self.fail(text)
            self.path("dev.tab").write_text(texts)
            self.path("/dev/nvidia0").touch()
            shutil.rmtree(directory)

    def test_pasted_advice_on_a_spec_beside_a_settings_file(self):
        self.run_ok("write", "--device", "0")
        before = self.recorded()
        self.edit("proc/sys/kernel/random/boot_id", "", "1")
        for settings, said in (('profile = "compute"\n', True), ("nvml = true\n", True),
                               ('device = "0"\nwait = 1\n', False), ("nvml = false\n", False),
                               ('output-dir = "/etc/cdi"\n', True), ('format = "json"\n', True),
                               ('profile = "all"\nformat = "yaml"\n', False)):
            with self.subTest(settings=settings):
                self.put(settings)
                text = self.run_ok("doctor", "--output-dir", str(self.out), code=1).stdout
                command = self.advised(text)[0]
                self.assertEqual("--no-config" in command, said, command)
                self.paste(command)
                self.assertEqual(self.recorded(), before)
                self.assertFalse(self.path("/etc/cdi").exists())
                self.edit("proc/sys/kernel/random/boot_id", "1", "11", )


class KeptVendorFile(VendorTest):
    def test_path_of_a_vendor_file(self):
        self.two_npus()
        vendor = self.vendor_file('kind = "acme.com/npu"\ndevices = "/dev/npu[0-9]"\n',
                                  "fü ll.toml")
        spec = self.path("/var/run/cdi/acme.com-npu.yaml")
        self.assertEqual(self.run_prepare("write", "--vendor-file", str(vendor)).returncode, 0)
        text = spec.read_text()
        spec.write_text(text.replace("/dev/npu0", "/dev/npu9"))
        done = self.run_prepare("write", "--keep-options")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(spec.read_text(), text)

    def test_vendor_file_in_a_home_directory_that_the_service_does_not_see(self):
        self.two_npus()
        home = self.place / "homes" / "user"
        home.mkdir(parents=True)
        vendor = self.vendor_file('kind = "acme.com/npu"\ndevices = "/dev/npu[0-9]"\n')
        mine = shutil.move(vendor, home / "npu.toml")
        spec = self.path("/var/run/cdi/acme.com-npu.yaml")
        self.assertEqual(self.run_prepare("write", "--vendor-file", str(mine)).returncode, 0)
        text = spec.read_text()
        os.rename(mine, self.place / "npu.toml")
        home.chmod(0)  # as ProtectHome= shows /root
        self.addCleanup(lambda: home.exists() and home.chmod(0o755))
        self.run_prepare("write", "--keep-options")
        self.assertEqual(spec.read_text(), text)
        home.rmdir()  # as it shows those in /home
        self.run_prepare("write", "--keep-options")
        self.assertEqual(spec.read_text(), text)
        home.mkdir()  # the user has removed the file
        self.run_prepare("write", "--keep-options")
        self.assertFalse(spec.exists())


if __name__ == "__main__":
    run_tests()
