#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of cdi-runtime, with a program in the place of the real runtime.

usage: runtime_test.py CDI_RUNTIME
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(PROJECT / "tests/support"))
from tool_case import ToolCase  # noqa: E402  pylint: disable=wrong-import-position

RUNTIME = os.path.abspath(sys.argv.pop(1))

UUID, OTHER = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "GPU-8932aaaa-0000-4106-c12f-20bd9faed9f6"
SPECS = {
    "nvidia.com/gpu": ["0", "1", "2", "3", "all", "1:0", UUID, OTHER],
    "amd.com/gpu": ["0", "1", "all", "ef2c1799a1f3e2ed"],
    "vendor.com/nic": ["0"],
}
# Says with which arguments it was started, and what the config was then.
FAKE = """#!/bin/sh
for word; do printf '%s\\n' "$word"; done >"$PLACE/arguments"
cp "$PLACE/bundle/config.json" "$PLACE/seen.json"
exit 7
"""
BOTH = """
[variables]
NVIDIA_VISIBLE_DEVICES = "nvidia.com/gpu"
AMD_VISIBLE_DEVICES = "amd.com/gpu"
"""

# A variable, and the devices that it selects; or words of the error.
NVIDIA, AMD = "NVIDIA_VISIBLE_DEVICES", "AMD_VISIBLE_DEVICES"
VARIABLES = [
    (NVIDIA, "0", ["0"]),
    (NVIDIA, "1,0", ["1", "0"]),
    (NVIDIA, "1-3", ["1", "2", "3"]),
    (NVIDIA, "0,2-3,", ["0", "2", "3"]),
    (NVIDIA, "0,0-1", ["0", "1"]),
    (NVIDIA, " 0 , 1", ["0", "1"]),
    (NVIDIA, "all", ["all"]),
    (NVIDIA, "none", []),
    (NVIDIA, "void", []),
    (NVIDIA, "", []),
    (NVIDIA, "1:0", ["1:0"]),
    (NVIDIA, UUID, [UUID]),
    (NVIDIA, UUID.lower(), [UUID]),
    (NVIDIA, "GPU-8932f", [UUID]),
    (NVIDIA, "nvidia.com/gpu=1", ["1"]),
    (NVIDIA, "GPU-8932", 'has no device "GPU-8932"'),  # of two
    (NVIDIA, "9", 'kind "nvidia.com/gpu" has no device "9"'),
    (NVIDIA, "0-9", 'has no device "4"'),
    (NVIDIA, "3-1", "ends before it begins: write 1-3"),
    (NVIDIA, "0-99999999", "more than 1024 numbers"),
    (NVIDIA, "0-1023,GPU-1a2b,2000-999999999", "more than 1024 numbers"),
    (NVIDIA, "-1", "is neither a number nor a range"),
    (NVIDIA, "vendor.com/nic=0", "vendor.com/nic=0"),
    (NVIDIA, "0," * 2000, "more than 65536 bytes or 1024 entries"),
    (AMD, "0-1", ["0", "1"]),
    (AMD, "0xEF2C1799A1F3E2ED", ["ef2c1799a1f3e2ed"]),
    (AMD, "0xEF2C1799A1F3E2EE", 'has no device "0xEF2C1799A1F3E2EE"'),
]


class Case(ToolCase):
    def setUp(self):
        super().setUp()
        self.place = self.folder
        (self.place / "bundle").mkdir()
        for kind, names in SPECS.items():
            devices = [{"name": name, "containerEdits": {
                "env": [f"D{number}_{kind[:3]}={name}"],
                "hooks": [{"hookName": "createRuntime", "path": "/bin/true", "args": [name]}]}}
                for number, name in enumerate(names)]
            self.put(f"cdi/{kind.replace('/', '-')}.json",
                     {"cdiVersion": "0.6.0", "kind": kind, "devices": devices})
        self.program("fake")
        self.settings()
        self.environment = {"PATH": f"{self.place}/bin:/usr/bin:/bin", "PLACE": str(self.place),
                            "CDI_RUNTIME_CONFIG": str(self.place / "config.toml")}

    def program(self, name):
        self.put(f"bin/{name}", FAKE)
        (self.place / "bin" / name).chmod(0o755)

    def settings(self, more="", runtime="fake"):
        self.put("config.toml", f'runtime = "{runtime}"\nspec-dirs = ["{self.place}/cdi"]\n{more}')

    def config(self, env=(), **annotations):
        self.put("bundle/config.json", {"ociVersion": "1.0.2", "annotations": annotations,
                                        "process": {"env": list(env)}})

    def bundle(self):
        return self.get("bundle/config.json")

    def start(self, *arguments, cwd=None):
        for name in ("arguments", "seen.json"):
            (self.place / name).unlink(missing_ok=True)
        return self.run_tool(RUNTIME, *arguments, expect=None, env=self.environment,
                             cwd=cwd or self.place)

    def create(self, *options):
        return self.start(*options, "create", "--bundle", "bundle", "id")

    def injected(self):
        """The devices in the config, by their hooks; the runtime must have seen it."""
        text = self.get("seen.json")
        self.assertEqual(text, self.bundle())
        hooks = json.loads(text).get("hooks", {}).get("createRuntime", [])
        return [hook["args"][0] for hook in hooks]

    def check_started(self, done):
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "", ""))

    def check_refused(self, done, words):
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(words, done.stderr)
        self.assertFalse((self.place / "arguments").exists())
        self.assertEqual(sorted(os.listdir(self.place / "bundle")), ["config.json"])


def annotation(*names, key="x"):
    return {f"cdi.k8s.io/{key}": ",".join(names)}


def of_page(page, language):
    text = (PROJECT / "docs" / page).read_text(encoding="utf-8")
    return re.search(r"```" + language + r"\n(.*?)```", text, re.S)[1]


class CommandLine(Case):
    """Where command and bundle are, among options of runc, crun and others."""

    def check_arguments(self, arguments, devices, cwd=None):
        self.config(**annotation("vendor.com/nic=0"))
        self.check_started(self.start(*arguments, cwd=cwd))
        self.assertEqual((self.place / "arguments").read_text().splitlines(), list(arguments))
        self.assertEqual(self.injected(), devices)

    ARGUMENTS = (
        ["create", "--bundle", "{bundle}", "id"],
        ["run", "-b", "{bundle}", "id"],
        ["create", "--bundle=bundle", "--pid-file", "pid", "id"],
        ["create", "-bbundle", "id"],
        ["create", "-db", "bundle", "id"],
        ["create", "-dbbundle", "id"],
        ["create", "--bun=bundle", "id"],
        ["create", "--bundl", "bundle", "id"],
        ["create", "-bundle", "bundle", "id"],
        ["create", "id", "--bundle", "bundle"],
        ["--root", "/r", "--log", "l", "--log-format", "json", "--systemd-cgroup",
         "create", "--bundle", "{bundle}", "--console-socket", "s", "id"],
        ["--cgroup-manager=cgroupfs", "--root", "run", "create", "-b", "bundle", "id"],
        ["--rootless", "true", "--debug", "run", "--detach", "--bundle", "bundle", "id"],
        ["--unknown", "value", "--other=value", "create", "-b", "bundle", "id"],
        ["--log", "create", "run", "-b", "bundle", "delete"],
        ["create", "--pid-file", "-b", "-b", "bundle", "id"],
        ["create", "--b", "bundle", "id"],
        ["create", "-b", "bin", "--config", "{bundle}/config.json", "id"],
        ["create", "-b", "bin", "-f{bundle}/config.json", "id"],
        ["create", "-b", "bin", "--conf={bundle}/config.json", "id"],
        ["create", "-b", "bin", "--config", "bundle/config.json", "id"],
        ["create", "-b", "bundle", "-f", "config.json", "id"],
        # Values that are commands or, in runsc, options without a value before a command.
        ["--host-uds", "delete", "create", "-b", "bundle", "id"],
        ["-debug-command", "start", "-strace-syscalls", "kill", "create", "-b", "bundle", "id"],
        ["--rootless", "create", "-b", "bundle", "id"])

    def arguments(self):
        """Ways to create a container in the bundle."""
        bundle = f"{self.place}/bundle"
        yield from ([word.format(bundle=bundle) for word in words] for words in self.ARGUMENTS)

    def test_create_and_run_inject(self):
        for arguments in self.arguments():
            with self.subTest(arguments):
                self.check_arguments(arguments, ["0"])
        for more in ([], ["--bundle", ""], ["-b", "."]):
            self.check_arguments(["create", *more, "id"], ["0"], cwd=self.place / "bundle")

    def test_a_command_behind_two_dashes_injects(self):
        for command in ("create", "run"):
            for before in (["--"], ["--log", "file", "--"]):
                with self.subTest(command=command, before=before):
                    self.check_arguments([*before, command, "-b", "bundle", "id"], ["0"])
        self.check_arguments(["create", "-b", "bundle", "--", "id"], ["0"])

    def test_an_error_ends_each_of_them(self):
        self.config(**annotation("vendor.com/nic=7"))
        for arguments in self.arguments():
            with self.subTest(arguments):
                self.check_refused(self.start(*arguments), 'cannot resolve "vendor.com/nic=7"')

    def test_an_option_without_its_value_is_for_the_runtime_to_refuse(self):
        arguments = ["create", "id", "--bundle"]
        self.check_arguments(arguments, ["0"], cwd=self.place / "bundle")

    def test_other_commands_start_the_runtime_at_once(self):
        for arguments in (["delete", "--force", "create"], ["state", "run"], ["--version"], [],
                          ["exec", "--bundle", "bundle", "id", "run"], ["--log", "run", "start", "i"],
                          ["--", "delete", "-b", "bundle", "create"],
                          ["--host-uds", "create", "delete", "-b", "bundle", "id"]):
            with self.subTest(arguments):
                self.check_arguments(arguments, [])
        self.put("bundle/config.json", "no JSON")
        self.check_started(self.start("delete", "--bundle", "bundle", "id"))


    def test_another_name_of_the_config_is_looked_up_from_the_current_directory(self):
        """As crun does: only config.json itself is in the bundle."""
        self.config(**annotation("vendor.com/nic=0"))
        before = self.bundle()
        self.put("bundle/other.json", before)
        self.put("other.json", before)
        self.check_started(self.start("create", "-b", "bundle", "-f", "other.json", "id"))
        self.assertIn("hooks", json.loads((self.place / "other.json").read_text()))
        self.assertEqual((self.place / "bundle/other.json").read_text(), before)
        self.assertEqual(self.bundle(), before)


class Requests(Case):
    def test_annotations(self):
        self.config(**annotation("vendor.com/nic=0", "amd.com/gpu=1"),
                    **annotation("amd.com/gpu=1", key="y"), other="vendor.com/nic=1")
        self.check_started(self.create())
        self.assertEqual(self.injected(), ["0", "1"])

    def test_only_prefixes_of_the_settings_count(self):
        given = {**annotation("vendor.com/nic=0"), "my.io/a": "amd.com/gpu=1",
                 "my.io/b": "amd.com/gpu=1", "your.io/a": "nvidia.com/gpu=3",
                 "your.io/b": "amd.com/gpu=1"}
        for prefixes, devices in ((["my.io/"], ["1"]), ([], []),
                                  (["my.io/", "cdi.k8s.io/", "your.io/"], ["1", "0", "3"])):
            with self.subTest(prefixes):
                self.settings(f"annotation-prefixes = {json.dumps(prefixes)}")
                self.config(**given)
                self.check_started(self.create())
                self.assertEqual(self.injected(), devices)

    def test_variables(self):
        self.settings(BOTH)
        for variable, value, devices in VARIABLES:
            with self.subTest(f"{variable}={value[:40]}"):
                self.config(["A=1", f"{variable}={value}"])
                before = self.bundle()
                done = self.create()
                if isinstance(devices, str):
                    self.check_refused(done, devices)
                    self.assertEqual(self.bundle(), before)
                else:
                    self.check_started(done)
                    self.assertEqual(self.injected(), devices)

    def test_variables_do_not_count_by_themselves(self):
        for more in ("", '[variables]\nAMD_VISIBLE_DEVICES = "amd.com/gpu"'):
            self.settings(more)
            self.config([f"{NVIDIA}=all"])
            before = self.bundle()
            self.check_started(self.create())
            self.assertEqual(self.bundle(), before)

    def test_an_annotation_comes_before_the_variable_of_an_image(self):
        self.settings(BOTH)
        self.config([f"{NVIDIA}=all", f"{AMD}=0"], **annotation("nvidia.com/gpu=1"))
        self.check_started(self.create())
        self.assertEqual(self.injected(), ["1", "0"])

    def test_a_second_injection_changes_nothing(self):
        self.settings(BOTH)
        self.config([f"{NVIDIA}=0-1"], **annotation("vendor.com/nic=0"))
        self.check_started(self.create())
        path = self.place / "bundle/config.json"
        first, before = self.bundle(), path.stat()
        self.check_started(self.create())
        self.assertEqual(self.bundle(), first)
        self.assertEqual((path.stat().st_ino, path.stat().st_mtime_ns),
                         (before.st_ino, before.st_mtime_ns))

    def test_mode_and_owner_are_kept_and_other_names_of_the_file_keep_the_old_text(self):
        self.config(**annotation("vendor.com/nic=0"))
        path = self.place / "bundle/config.json"
        path.chmod(0o640)
        if os.geteuid() == 0:
            os.chown(path, 1234, 5678)
        os.link(path, self.place / "old")
        before, text = path.stat(), self.bundle()
        self.check_started(self.create())
        after = path.stat()
        self.assertEqual((after.st_mode, after.st_uid, after.st_gid),
                         (before.st_mode, before.st_uid, before.st_gid))
        self.assertEqual((self.place / "old").read_text(), text)
        self.assertEqual(os.listdir(self.place / "bundle"), ["config.json"])


class Errors(Case):
    def test_the_log_has_the_error_for_the_engine(self):
        self.config(**annotation("vendor.com/nic=7"))
        why = 'cdi-runtime: cannot resolve "vendor.com/nic=7": kind "vendor.com/nic" has no device'
        for log in ("log", f"file:{self.place}/log"):
            self.check_refused(self.create("--log", log, "--log-format", "json"), why)
        lines = (self.place / "log").read_text().splitlines()
        self.assertEqual(len(lines), 2)
        for line in lines:
            entry = json.loads(line)
            self.assertEqual(set(entry), {"level", "msg", "time"})
            self.assertEqual(entry["level"], "error")
            self.assertTrue(entry["msg"].startswith(why), entry)
            self.assertRegex(entry["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.check_refused(self.create("--log", "text"), why)
        self.assertTrue((self.place / "text").read_text().startswith(why))

    def test_a_log_that_is_a_service_of_crun_is_no_file(self):
        self.config(**annotation("vendor.com/nic=7"))
        for log in ("journald:id", "syslog:id", "syslog:"):
            self.check_refused(self.create("--log", log), "vendor.com/nic=7")
            self.assertFalse((self.place / log).exists())

    def test_a_message_is_one_line(self):
        self.config(**annotation("vendor.com/nic=7\n\x1b[2J"))
        done = self.create("--log", "log", "--log-format=json")
        self.check_refused(done, "vendor.com/nic=7")
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertNotIn("\x1b", done.stderr)
        json.loads((self.place / "log").read_text())

    def test_bundles_that_cannot_be_read(self):
        for text, words in (("{", "config.json:1:2: "), ('{"Annotations": {}}', "annotations"),
                            ('{"annotations": 1}', "annotations"), ("", "config.json")):
            with self.subTest(text):
                self.put("bundle/config.json", text)
                self.check_refused(self.create(), words)
        self.config()
        for folder in ("missing", "bin"):
            self.check_refused(self.start("create", "-b", folder, "id"), folder + "/config.json")

    def test_the_policy_decides(self):
        rules = [{"name": "gpus", "allow": True, "devices": ["amd.com/gpu=*"],
                  "sources": ["annotation"], "edits": {"env": ["*"], "hooks": ["/bin/true"]}}]
        self.put("policy.json", json.dumps({"rules": rules}))
        self.settings(f'policy = "{self.place}/policy.json"\n{BOTH}')
        self.config(**annotation("amd.com/gpu=1"))
        self.check_started(self.create())
        self.assertEqual(self.injected(), ["1"])
        hook = json.loads(self.bundle())["hooks"]["createRuntime"][0]
        self.assertTrue(hook["env"][0].startswith("PATH="))
        self.config([f"{AMD}=1"])
        self.check_refused(self.create(), 'policy denies "amd.com/gpu=1"')
        self.config(**annotation("vendor.com/nic=0"))
        self.check_refused(self.create(), 'policy denies "vendor.com/nic=0"')
        (self.place / "policy.json").unlink()
        self.check_refused(self.create(), "policy.json")

    def test_settings_and_policies_that_others_may_write(self):
        """Whoever writes the settings chooses the program that root starts."""
        self.put("policy.json", '{"rules": []}')
        self.settings(f'policy = "{self.place}/policy.json"\n')
        self.config(**annotation("amd.com/gpu=1"))  # or the policy is not read
        for name in ("policy.json", "config.toml"):
            path = self.place / name
            for mode in (0o666, 0o646):
                path.chmod(mode)
                self.check_refused(self.create(), f"check the file, then: `chmod go-w {path}`")
            path.chmod(0o644)
        self.check_refused(self.create(), "policy denies")
        (self.place / "config.toml").chmod(0o666)
        self.check_refused(self.start("delete", "--force", "id"), "chmod go-w")

    @unittest.skipIf(os.geteuid() or not shutil.which("setpriv"), "needs root and setpriv")
    def test_settings_of_another_user(self):
        """Root's, who seems to be nobody in the user namespace of rootless podman."""
        self.place.chmod(0o755)
        self.config()
        (self.place / "bundle").chmod(0o777)
        user = ["setpriv", "--reuid", "1234", "--regid", "1234", "--clear-groups"]
        inside = [*user, "unshare", "--user", "--map-root-user"]
        if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
            self.skipTest("cannot make a user namespace")
        self.environment["PLACE"] = "/nowhere"

        def state(words):
            return self.run_tool(*words, RUNTIME, "state", "id", expect=None, env=self.environment,
                                 cwd=self.place)
        for words in (user, inside):
            self.assertEqual(state(words).returncode, 7)
        (self.place / "config.toml").chmod(0o646)
        self.assertIn("chmod go-w", state(inside).stderr)
        (self.place / "config.toml").chmod(0o644)
        os.chown(self.place / "config.toml", 65534, 65534)
        self.assertIn("chown root", state(user).stderr)

    def test_settings_that_are_wrong(self):
        for text in ("runtim = 'fake'", "runtime = 1", "spec-dirs = 1", "policy = true",
                     "annotation-prefixes = [1]", "variables = 'x'", "variables = ['x']",
                     "[variables]\nA = 'gpu'", "[variables]\nA = 1", "runtime", "[runtime]\na = 1",
                     "policy = ''", "runtime = ''", "spec-dirs = ['/etc/cdi', '']",
                     "annotation-prefixes = ['']"):
            with self.subTest(text):
                self.put("config.toml", text)
                self.config()
                self.check_refused(self.create(), "config.toml")
                self.check_refused(self.start("run", "-b", "bundle", "id"), "config.toml")

    def test_containers_end_whatever_is_wrong_with_the_settings(self):
        self.config()
        for name in ("runc", "other"):
            self.program(name)
            self.put(f"bin/{name}", f"{FAKE}".replace("exit 7", f"echo {name}; exit 7"))
        for text, runtime in (("policy = ''\nruntime = 'other'", "other"),
                              ("runtime = 'other'\n[variables]\nA = 1", "other"),
                              ("runtime = 'other'\npolicy = ", "other"),
                              ("runtime = 'other'\n= '1'\nruntime = 'fake'", "other"),
                              ("runtime = 'other'\r\nx", "other"),
                              ("runtime = 'other'\nx = \"\"\"\n a", "other"),
                              ("# a\n\nruntime = 'other'\nspec-dirs = [\n'a'", "other")):
            for command in (["delete", "--force", "id"], ["kill", "id", "KILL"], ["state", "id"]):
                with self.subTest(text, command=command):
                    self.put("config.toml", text)
                    done = self.start(*command)
                    self.assertEqual((done.returncode, done.stdout, done.stderr),
                                     (7, f"{runtime}\n", ""))
        # The runtime may be another one, which alone knows the containers.
        for text in ("policy\nruntime = 'other'", "x", "runtime = 1", "runtime = ['other']",
                     "policy = ''", "runtim = 'other'", "[runtime]", "runtime = ''",
                     "[x]\nruntime = 'other'\ny"):
            self.put("config.toml", text)
            self.check_refused(self.start("delete", "--force", "id"), "config.toml")
        (self.place / "config.toml").unlink()
        self.check_refused(self.start("delete", "--force", "id"), "config.toml")

    def test_a_wrong_setting_has_its_line_and_column(self):
        for text, place, name in (("# a\n  runtim = 'x'", "2:3", "runtim"),
                                  ("policy = '/p'\nspec-dirs = 1", "2:13", "spec-dirs"),
                                  ("[variables]\nA = 'v.com/a'\n B = 'gpu'", "3:6", "variables.B"),
                                  ("\n[polices]\na = 1", "2:2", "polices"),
                                  ("variables.A = 1", "1:15", "variables.A")):
            with self.subTest(text):
                self.put("config.toml", text)
                self.config()
                self.check_refused(self.create(), f"/config.toml:{place}: {name}")

    def test_the_settings_of_the_page_work(self):
        text = of_page("cdi-runtime.md", "toml")
        self.assertEqual(set(re.findall(r"^([\w-]+) =", text, re.M)), {
            "runtime", "spec-dirs", "annotation-prefixes", "policy", NVIDIA, AMD})
        self.put("config.toml", text)
        self.config()
        self.program("runc")
        self.check_started(self.create())

    def test_runtimes(self):
        self.config()
        for runtime, words in (("missing", "cannot find the runtime missing: install it"),
                               (f"{self.place}/missing", "No such file or directory"),
                               (RUNTIME, "cannot find the runtime")):
            with self.subTest(runtime):
                self.settings(runtime=runtime)
                self.check_refused(self.create(), words)

    def test_it_does_not_start_itself(self):
        (self.place / "own").mkdir()
        shutil.copy(RUNTIME, self.place / "own/runc")
        self.environment["PATH"] = f"{self.place}/own:{self.environment['PATH']}"
        self.settings(runtime="runc")
        self.program("runc")
        self.config()
        done = subprocess.run([self.place / "own/runc", "create", "-b", "bundle", "id"], check=False,
                              env=self.environment, cwd=self.place, timeout=60)
        self.assertEqual(done.returncode, 7)

    def test_copies_that_start_each_other_end(self):
        for name in ("one", "two"):
            (self.place / name).mkdir()
            shutil.copy(RUNTIME, self.place / name / "runc")
        self.environment["PATH"] = f"{self.place}/one:{self.place}/two"
        self.settings(runtime="runc")
        self.config()
        done = self.run_tool(self.place / "one/runc", "--log", "log", "create", "-b", "bundle",
                             "id", expect=None, env=self.environment, cwd=self.place)
        self.check_refused(done, "copies of cdi-runtime start each other")
        self.assertIn("copies of cdi-runtime", (self.place / "log").read_text())
        self.assertRegex(done.stderr, f"the next is {self.place}/(one|two)/runc: set runtime")

    def test_a_few_in_a_row_are_no_error(self):
        """As a copy with settings of its own is the runtime of another, or in a container."""
        self.config()
        self.environment["CDI_RUNTIME_STARTS"] = "3"
        self.check_started(self.create())
        self.environment["CDI_RUNTIME_STARTS"] = "no number"
        self.check_started(self.create())

    def test_a_config_that_is_a_link_becomes_a_file(self):
        """Its target may be the config of other bundles, too."""
        self.config(**annotation("amd.com/gpu=1"))
        shared = self.place / "shared.json"
        (self.place / "bundle/config.json").rename(shared)
        shared.chmod(0o640)
        (self.place / "bundle/config.json").symlink_to("../shared.json")
        before = shared.read_text()
        self.check_started(self.create())
        self.assertEqual(self.injected(), ["1"])
        self.assertEqual(shared.read_text(), before)
        self.assertFalse((self.place / "bundle/config.json").is_symlink())
        self.assertEqual((self.place / "bundle/config.json").stat().st_mode & 0o7777, 0o640)

    def test_a_link_stays_if_nothing_is_requested(self):
        self.config()
        (self.place / "bundle/config.json").rename(self.place / "shared.json")
        (self.place / "bundle/config.json").symlink_to("../shared.json")
        self.check_started(self.create())
        self.assertTrue((self.place / "bundle/config.json").is_symlink())

    def test_settings_that_are_named_must_be_there(self):
        self.environment["CDI_RUNTIME_CONFIG"] = str(self.place / "missing.toml")
        self.config()
        self.check_refused(self.create(), "missing.toml")

    @unittest.skipIf(os.path.exists("/etc/cdi-runtime/config.toml"), "this machine has settings")
    def test_without_settings_runc_or_crun_is_started(self):
        del self.environment["CDI_RUNTIME_CONFIG"]
        self.environment["PATH"] = str(self.place / "bin")
        self.config([f"{NVIDIA}=all"])
        for name in ("runc", "crun"):
            with self.subTest(name):
                self.program(name)
                script = (self.place / "bin" / name).read_text()
                self.put(f"bin/{name}", script.replace("cp ", "/bin/cp "))
                self.check_started(self.create())
                (self.place / "bin" / name).unlink()
        self.check_refused(self.create(), "cannot find the runtime runc or crun")


class Size(unittest.TestCase):
    def test_it_stays_small(self):
        """An engine's administrators should be able to read all that runs as root for each
        container: the lines of code, without blank lines and comments."""
        lines = [line.strip() for path in (PROJECT / "tools/runtime").glob("*.?pp")
                 for line in path.read_text(encoding="utf-8").splitlines()]
        self.assertLess(sum(bool(line) and not line.startswith("//") for line in lines), 300)


if __name__ == "__main__":
    unittest.main()
