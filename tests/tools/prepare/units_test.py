#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The systemd units and udev rules of cdi-prepare: units_test.py CDI_PREPARE [unittest options]"""
import fnmatch
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

PREPARE = ""
UNITS = pathlib.Path(__file__).resolve().parents[3] / "tools/prepare/systemd"
ONCE, WATCH, PATH = "cdi-prepare.service", "cdi-prepare-watch.service", "cdi-prepare.path"
RULES = "90-cdi-prepare.rules"

# What there is in systemd 250; a misspelt key is a warning in the journal and nothing else.
KNOWN = {
    "Unit": {"Description", "After", "StartLimitIntervalSec"},
    "Service": {"Type", "ExecStart", "TimeoutStartSec", "SuccessExitStatus", "Restart",
                "RestartSec", "RestartPreventExitStatus", "ProtectSystem", "ProtectHome",
                "ProtectKernelTunables", "ProtectKernelModules", "ProtectKernelLogs",
                "ProtectControlGroups", "ProtectHostname", "NoNewPrivileges", "LockPersonality",
                "RestrictRealtime", "RestrictNamespaces", "RestrictSUIDSGID",
                "RestrictAddressFamilies", "SystemCallArchitectures", "ReadWritePaths"},
    "Path": {"PathChanged", "TriggerLimitIntervalSec"},
    "Install": {"WantedBy"},
}
# What hides or closes a part of /dev, /proc or /tmp that is looked at, or takes the specs along.
HARMFUL = {"PrivateDevices", "ProtectClock", "ProcSubset", "PrivateTmp", "PrivateNetwork",
           "DevicePolicy", "DeviceAllow", "InaccessiblePaths", "TemporaryFileSystem",
           "RootDirectory", "RuntimeDirectory", "DynamicUser", "User"}


def read_unit(name):
    """The values of each key of each section."""
    sections = {}
    for line in (UNITS / name).read_text(encoding="ascii").splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), {})
        else:
            key, value = line.split("=", 1)
            section.setdefault(key, []).append(value)
    return sections


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


class ServiceTest(unittest.TestCase):

    def setUp(self):
        self.once, self.watch = read_unit(ONCE), read_unit(WATCH)
        self.services = {ONCE: self.once["Service"], WATCH: self.watch["Service"]}

    def test_keys_are_known(self):
        for name in (ONCE, WATCH, PATH):
            for section, keys in read_unit(name).items():
                self.assertIn(section, KNOWN, name)
                self.assertLessEqual(set(keys), KNOWN[section], name)
                repeated = [key for key, values in keys.items() if len(values) > 1]
                self.assertLessEqual(set(repeated), {"PathChanged"}, name)

    def test_nothing_is_refused_for_being_asked_often(self):
        for unit in (self.once, self.watch):
            self.assertEqual(unit["Unit"]["StartLimitIntervalSec"], ["0"])
        self.assertEqual(read_unit(PATH)["Path"]["TriggerLimitIntervalSec"], ["0"])

    def test_what_is_looked_at_stays_visible(self):
        for name, service in self.services.items():
            self.assertFalse(HARMFUL & set(service), name)
            # With "strict" the directory of the specs could not be written.
            self.assertEqual(service["ProtectSystem"], ["full"], name)
        self.assertIn("AF_NETLINK", self.watch["Service"]["RestrictAddressFamilies"][0].split())

    def test_both_services_are_hardened_alike(self):
        def hardening(service):
            return {key: value for key, value in service.items()
                    if key.startswith(("Protect", "Restrict", "NoNew", "Lock", "SystemCall"))
                    and key not in ("RestrictAddressFamilies", "RestartPreventExitStatus")}
        self.assertEqual(*map(hardening, self.services.values()))

    def test_the_directory_that_the_settings_offer_is_writable(self):
        text = (UNITS.parents[2] / "docs/cdi-prepare.md").read_text(encoding="utf-8")
        offered = re.search(r'(?m)^# output-dir = "(/etc/.*)"$', text)[1]
        for service in self.services.values():
            self.assertEqual(service["ProtectSystem"], ["full"])  # which protects /etc
            self.assertEqual(service["ReadWritePaths"], [f"-{offered}"])  # if it exists

    def test_no_vendor_tool_and_no_list_of_modules(self):
        for name in (ONCE, WATCH, PATH, RULES):
            lines = (UNITS / name).read_text(encoding="ascii").splitlines()
            code = "\n".join(line for line in lines if not line.startswith("#"))
            self.assertNotRegex(code, r"modules\.dep|nvidia-smi|nvidia-ctk|/bin/sh", name)

    # Against the program.

    def command(self, name):
        words = shlex.split(self.services[name]["ExecStart"][0])
        self.assertEqual(words[0], "/usr/bin/cdi-prepare")
        return words[1:]

    def help_of(self, command):
        done = run(PREPARE, command, "--help")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_options_are_those_of_the_program(self):
        for name, command in ((ONCE, "write"), (WATCH, "watch")):
            words = self.command(name)
            self.assertEqual(words[0], command)
            text = self.help_of(command)
            for option in (word for word in words if word.startswith("-")):
                self.assertRegex(text, rf"(?m)(^ +|, ){re.escape(option)}[ ,\n]", name)

    def test_the_settings_file_chooses_the_directory_and_the_contents(self):
        for name, wait in ((ONCE, ["--keep-options", "--wait", "60"]), (WATCH, [])):
            self.assertEqual(self.command(name)[1:], wait)
            text = self.help_of(self.command(name)[0])
            self.assertRegex(text, r"--output-dir DIR[^-]*var/run/cdi", name)

    def exit_codes(self):
        """What the codes mean, as the help has it."""
        text = self.help_of("write").split("Exit codes:")[1]
        rows = re.findall(r"(?m)^ +(\d+)  (.*(?:\n {4,}\D.*)*)", text)
        return {int(code): meaning for code, meaning in rows}

    def code_of(self, words):
        found = [code for code, meaning in self.exit_codes().items() if meaning.startswith(words)]
        self.assertEqual(len(found), 1, words)
        return found[0]

    def test_exit_codes_agree_with_the_program(self):
        service = self.once["Service"]
        good = {int(code) for code in service["SuccessExitStatus"][0].split()}
        lasting = {int(code) for code in service["RestartPreventExitStatus"][0].split()}
        self.assertEqual(self.code_of("done; or"), 0)
        self.assertEqual(good, {self.code_of("done, but some devices were left out")})
        self.assertEqual(lasting, {self.code_of("error"), self.code_of("wrong usage")})
        self.assertEqual(set(self.exit_codes()) - good - lasting - {0},
                         {self.code_of("not ready")})
        self.assertEqual(service["Type"], ["oneshot"])
        self.assertEqual(service["Restart"], ["on-failure"])

    def test_it_is_given_the_time_to_wait(self):
        words = self.command(ONCE)
        patience = float(words[words.index("--wait") + 1])
        lock = 60
        self.assertGreater(int(self.once["Service"]["TimeoutStartSec"][0]), patience + lock + 30)

    def test_watch_runs_until_it_is_stopped(self):
        service = self.watch["Service"]
        self.assertEqual(service["Restart"], ["always"])
        self.assertEqual(service["Type"], ["exec"])
        self.assertEqual(service["RestartPreventExitStatus"], [str(self.code_of("wrong usage"))])
        self.assertNotIn("SuccessExitStatus", service)

    def test_watch_and_the_rules_do_not_end_each_other(self):
        for unit in (self.once, self.watch):
            self.assertNotIn("Conflicts", unit["Unit"])

    # What starts it.

    def test_units_are_wanted_by_a_target_of_the_boot(self):
        for name, target in ((ONCE, "multi-user.target"), (WATCH, "multi-user.target"),
                             (PATH, "paths.target")):
            self.assertEqual(read_unit(name)["Install"]["WantedBy"], [target])

    def test_paths_change_when_something_has_changed_only(self):
        # PathExists= would start the service again as soon as it is done. A node changes when a
        # program that has it open for writing ends.
        paths = read_unit(PATH)["Path"]["PathChanged"]
        self.assertEqual(paths, ["/etc/ld.so.cache", "/etc/cdi-prepare/config.toml", "/dev/nvidia-caps",
                                 *(f"/usr/{place}/{engine}" for place in ("bin", "local/bin")
                                   for engine in ("containerd", "crio", "dockerd", "podman"))])

    def test_systemd_finds_no_fault(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("no systemd-analyze on this host")
        with tempfile.TemporaryDirectory(prefix="cdi-units-") as place:
            names = (ONCE, WATCH, PATH)
            for name in names:
                text = (UNITS / name).read_text(encoding="ascii")
                text = text.replace("/usr/bin/cdi-prepare", PREPARE)
                pathlib.Path(place, name).write_text(text, encoding="ascii")
            done = run("systemd-analyze", "verify", "--man=no",
                       *(os.path.join(place, name) for name in names))
        # It also reports units of the host that are not ours.
        ours = [line for line in (done.stdout + done.stderr).splitlines() if "cdi-prepare" in line]
        if done.returncode != 0 and not ours:
            self.skipTest("systemd-analyze cannot verify units on this host")
        self.assertEqual((done.returncode, ours), (0, []))


RULE_PART = re.compile(r'(ACTION|SUBSYSTEM|KERNEL|TEST|ENV\{[A-Z_]+\}|GOTO|LABEL|RUN)(==|!=|\+=|=)'
                       r'"([^"\\]*)"(?:, |$)')


def read_rules():
    """The rules, each a list of (key, operator, value)."""
    rules = []
    for line in (UNITS / RULES).read_text(encoding="ascii").splitlines():
        if not line or line.startswith("#"):
            continue
        parts = RULE_PART.findall(line)
        if "".join(match[0] for match in RULE_PART.finditer(line)) != line:
            raise ValueError(f"no rule: {line}")
        rules.append(parts)
    return rules


def programs_for(event):
    """What the rules run for an event, as udev goes through them. TEST is the one file there is."""
    rules, at, programs = read_rules(), 0, []
    while at < len(rules):
        rule, at = rules[at], at + 1
        for key, operator, value in rule:
            matched = any(fnmatch.fnmatchcase(event.get(key, ""), one) for one in value.split("|"))
            if operator in ("==", "!=") and matched != (operator == "=="):
                break
            if key == "GOTO":
                at = next(i for i in range(at, len(rules)) if ("LABEL", "=", value) in rules[i])
            if key == "RUN":
                programs.append(value)
    return programs


class RulesTest(unittest.TestCase):

    RESTART = ["/usr/bin/systemctl --no-block restart " + ONCE]
    ENABLED = "/etc/systemd/system/multi-user.target.wants/" + ONCE

    def starts(self, subsystem, kernel="", action="add", **environment):
        event = {"ACTION": action, "SUBSYSTEM": subsystem, "KERNEL": kernel, "TEST": self.ENABLED}
        event.update({f"ENV{{{key}}}": value for key, value in environment.items()})
        programs = programs_for(event)
        self.assertIn(programs, ([], self.RESTART))
        return bool(programs)

    def test_matches_come_before_what_they_guard(self):
        for rule in read_rules():
            kinds = [operator in ("==", "!=") for _, operator, _ in rule]
            self.assertEqual(kinds, sorted(kinds, reverse=True))
            for key, operator, _ in rule:
                expected = {"GOTO": "=", "LABEL": "=", "RUN": "+="}.get(key)
                self.assertTrue(operator == expected if expected else operator in ("==", "!="))

    def test_nodes_of_gpus(self):
        for action in ("add", "remove"):
            self.assertTrue(self.starts("drm", "card1", action, DEVTYPE="drm_minor"))
            self.assertTrue(self.starts("drm", "renderD128", action, DEVTYPE="drm_minor"))
            self.assertFalse(self.starts("drm", "card1-DP-1", action, DEVTYPE="drm_connector"))
            self.assertTrue(self.starts("accel", "accel0", action))
            self.assertTrue(self.starts("kfd", "kfd", action))
            self.assertTrue(self.starts("vfio", "42", action))
            self.assertTrue(self.starts("vfio-dev", "vfio0", action))
            self.assertTrue(self.starts("misc", "iommu", action))
            self.assertFalse(self.starts("misc", "fuse", action))
            self.assertFalse(self.starts("vfiox", "x", action))

    def test_a_service_that_is_not_enabled_is_not_started(self):
        event = {"ACTION": "add", "SUBSYSTEM": "accel"}
        self.assertEqual(programs_for({**event, "TEST": self.ENABLED}), self.RESTART)
        self.assertEqual(programs_for(event), [])
        self.assertEqual(read_unit(ONCE)["Install"]["WantedBy"], ["multi-user.target"])

    def test_a_monitor_is_not_a_gpu(self):
        self.assertFalse(self.starts("drm", "card1", "change", DEVTYPE="drm_minor"))

    def test_drivers_by_whole_names(self):
        for name in ("nvidia", "nvidia_uvm", "nvidia_current", "amdgpu", "i915", "xe", "nouveau",
                     "vfio_pci"):
            self.assertTrue(self.starts("module", name), name)
            self.assertTrue(self.starts("module", name, "remove"), name)
        for name in ("nvidiafb", "xen_gntdev", "i915x", "ext4", "snd_hda_intel", ""):
            self.assertFalse(self.starts("module", name), name)

    def test_functions_of_pci(self):
        for action in ("add", "remove", "bind", "unbind"):
            for number in ("30000", "30200", "38000", "120000"):
                self.assertTrue(self.starts("pci", "0000:17:00.0", action, PCI_CLASS=number),
                                number)
            for number in ("20000", "40300", "60400", "10802", "C0330", "300", ""):
                self.assertFalse(self.starts("pci", "0000:01:00.0", action, PCI_CLASS=number),
                                 number)
        self.assertTrue(self.starts("pci", "0000:17:00.1", "bind", PCI_CLASS="40300",
                                    DRIVER="vfio-pci"))
        self.assertFalse(self.starts("pci", "0000:17:00.1", "bind", PCI_CLASS="40300",
                                     DRIVER="snd_hda_intel"))

    def test_other_events(self):
        for subsystem in ("block", "net", "usb", "mem", ""):
            self.assertFalse(self.starts(subsystem, "nvidia"), subsystem)

    def test_udev_finds_no_fault(self):
        if not shutil.which("udevadm"):
            self.skipTest("no udevadm on this host")
        if "verify" not in run("udevadm", "--help").stdout:
            self.skipTest("the udevadm of this host cannot verify rules")
        done = run("udevadm", "verify", "--resolve-names=never", str(UNITS / RULES))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    PREPARE = os.path.abspath(sys.argv[1])
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[2:]])
