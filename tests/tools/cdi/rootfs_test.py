#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of `cdi inject --hooks` and `cdi rootfs`, on scratch roots.

usage: rootfs_test.py CDI KILL_AT
"""
import itertools
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
KILL_AT = sys.argv.pop(1)
HOOK = "/usr/bin/nvidia-cdi-hook"
LIB = "/usr/lib/x86_64-linux-gnu"
BY_PATH = "/dev/dri/by-path/pci-0000:17:00.0-card"


def hook(*args, point="createContainer", path=HOOK):
    return {"hookName": point, "path": path, "args": [os.path.basename(path), *args],
            "env": ["NVIDIA_CTK_DEBUG=false"]}


def node(path, minor, major=195):
    return {"path": path, "type": "c", "major": major, "minor": minor, "fileMode": 0o666}


SPEC = {
    "cdiVersion": "0.5.0", "kind": "nvidia.com/gpu",
    "devices": [
        {"name": "0", "containerEdits": {
            "deviceNodes": [node("/dev/nvidia0", 0), node("/dev/dri/card1", 1, 226)],
            "hooks": [hook("create-symlinks", "--link", f"../card1::{BY_PATH}"),
                      hook("chmod", "--mode", "755", "--path", "/dev/dri")]}},
        {"name": "plain", "containerEdits": {"env": ["A=1"]}}],
    "containerEdits": {"hooks": [
        hook("create-symlinks", "--link", f"libcuda.so.1::{LIB}/libcuda.so"),
        hook("enable-cuda-compat", "--host-driver-version=570.1"),
        hook("update-ldcache", "--folder", LIB, "--folder", "/opt/lib"),
        hook("disable-device-node-modification"),
        hook("update-application-profile")]}}
OTHER = {"cdiVersion": "0.5.0", "kind": "acme.com/nic", "devices": [
    {"name": "a", "containerEdits": {"hooks": [hook("x", point="poststop", path="/opt/acme"),
                                               hook("chmod", "--mode", "9", "--path", "/x")]}}]}
CONFIG = {
    "ociVersion": "1.0.2", "root": {"path": "rootfs"}, "annotations": {"own": "kept"},
    "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
               {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"}]}
ANNOTATION = "cdi-hooks/root-changes"


def snapshot(folder):
    """The paths below a folder, with their types, modes and contents."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        mode = path.lstat().st_mode
        text = os.readlink(path) if path.is_symlink() else path.read_text() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (mode, text)
    return found


class Hooks(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cdi-rootfs-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("cdi", "rootfs", "outside"):
            (self.folder / name).mkdir()
        self.root = self.folder / "rootfs"
        self.config = self.folder / "config.json"
        self.config.write_text(json.dumps(CONFIG, indent=2))
        (self.folder / "cdi/nvidia.json").write_text(json.dumps(SPEC))
        (self.folder / "cdi/acme.json").write_text(json.dumps(OTHER))

    def cdi(self, *args, expect=0, **options):
        done = subprocess.run([CDI, *map(str, args)], text=True, timeout=60, capture_output=True,
                              check=False, **options)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stdout, done.stderr

    def inject(self, *args, expect=0, config=None, **options):
        return self.cdi("inject", "-d", self.folder / "cdi", *args[:-1], config or self.config,
                        *args[-1], expect=expect, **options)

    def lower(self, *names):
        out, _ = self.inject("--in-place", "--hooks", "lower", names or ["nvidia.com/gpu=0"])
        self.assertEqual(out, "")
        return json.loads(self.config.read_text())

    def apply(self, expect=0):
        return self.cdi("rootfs", "--apply", self.root, self.config, expect=expect)

    # cdi inject --hooks

    def test_keep_is_the_default_and_changes_nothing(self):
        kept, _ = self.inject("--hooks", "keep", ["nvidia.com/gpu=0"])
        self.assertEqual(kept, self.inject(["nvidia.com/gpu=0"])[0])
        self.assertEqual(len(json.loads(kept)["hooks"]["createContainer"]), 7)
        self.assertNotIn(ANNOTATION, json.loads(kept)["annotations"])

    def test_refuse_names_each_hook_its_class_and_its_device(self):
        out, errors = self.inject("--hooks", "refuse", ["nvidia.com/gpu=0"], expect=1)
        self.assertEqual(out, "")
        lines = errors.splitlines()
        self.assertEqual(len(lines), 7)
        file = self.folder / "cdi/nvidia.json"
        for line in lines:
            self.assertTrue(line.startswith(f"cdi: error: {file}:1:"), line)
        self.assertIn("containerEdits.hooks[0]: --hooks refuse: every device of nvidia.com/gpu has "
                      f'the hook "{HOOK}" of class symlinks at createContainer', lines[0])
        self.assertIn("devices[0].containerEdits.hooks[1]: --hooks refuse: nvidia.com/gpu=0 has "
                      f'the hook "{HOOK}" of class chmod at createContainer', lines[6])
        _, errors = self.inject("--hooks", "refuse", ["acme.com/nic=a"], expect=1)
        self.assertIn('"/opt/acme" of class foreign at poststop', errors)
        names = ["nvidia.com/gpu=0", "nvidia.com/gpu=plain", "nvidia.com/gpu=0"]
        _, errors = self.inject("--hooks", "refuse", names, expect=1)
        self.assertEqual(sorted(errors.splitlines()), sorted(lines), "each is named once")

    def test_refuse_names_places_with_partial_too(self):
        _, errors = self.inject("--partial", "--hooks", "refuse",
                                ["nvidia.com/gpu=none", "acme.com/nic=a"], expect=1)
        self.assertIn(f"{self.folder}/cdi/acme.json:1:", errors.splitlines()[-1])

    def test_refuse_accepts_devices_without_hooks(self):
        (self.folder / "cdi/nvidia.json").write_text(json.dumps(SPEC | {"containerEdits": {}}))
        out, _ = self.inject("--hooks", "refuse", ["nvidia.com/gpu=plain"])
        self.assertEqual(json.loads(out)["process"]["env"], ["A=1"])

    def test_lower_needs_no_program_of_the_vendor(self):
        config = self.lower()
        self.assertNotIn("nvidia-c", json.dumps(config["hooks"]))
        hooks = config["hooks"]["createContainer"]
        own = [one["args"] for one in hooks if one["args"][0] == "unshare"]
        self.assertEqual([args[-1] for args in own], [str(self.root.resolve())])
        self.assertIn("umount", own[0][4])  # its links may lead to the host: see container_test
        self.assertTrue(all(one["env"] for one in hooks), "runc would pass the container's")
        self.assertEqual({one["timeout"] for one in hooks}, {60}, "a FIFO of the image would hang")
        # The link in /dev is another node, with the numbers of the node that it led to.
        nodes = {one["path"]: one for one in config["linux"]["devices"]}
        self.assertEqual(nodes[BY_PATH], nodes["/dev/dri/card1"] | {"path": BY_PATH})
        self.assertEqual(config["annotations"]["own"], "kept")
        changes = json.loads(config["annotations"][ANNOTATION])
        self.assertEqual(changes["links"], [{"path": f"{LIB}/libcuda.so",
                                             "target": "libcuda.so.1"}])
        self.assertEqual(changes["libraryFolders"], [LIB, "/opt/lib"])
        self.assertNotIn("modes", changes)  # /dev/dri has mode 0755 anyway

    def test_hooks_that_are_not_understood_stay_and_are_reported(self):
        out, errors = self.inject("--hooks", "lower", ["acme.com/nic=a"])
        config = json.loads(out)
        self.assertEqual(config["hooks"], json.loads(self.inject(["acme.com/nic=a"])[0])["hooks"])
        self.assertNotIn(ANNOTATION, config["annotations"])
        file = self.folder / "cdi/acme.json"
        columns = [found.start() + 1 for found in re.finditer('{"hookName"', file.read_text())]
        for (line, index, reason) in (
                (0, 1, 'the hook "/usr/bin/nvidia-cdi-hook" of class chmod stays: its mode "9" is '
                       "not octal"),
                (1, 0, 'the hook "/opt/acme" of class foreign stays: it is a program whose effect '
                       "is unknown")):
            where = f"devices[0].containerEdits.hooks[{index}]"
            self.assertEqual(errors.splitlines()[line],
                             f"cdi: warning: {file}:1:{columns[index]}: {where}: {reason}")
        self.assertEqual(self.inject("-q", "--hooks", "lower", ["acme.com/nic=a"])[1], "")

    def test_hooks_of_the_config_that_stay_are_reported_at_their_place(self):
        (self.folder / "cdi/acme.json").write_text(json.dumps(
            {"cdiVersion": "0.5.0", "kind": "acme.com/nic", "devices": [{"name": "a",
             "containerEdits": {"env": ["A=1"], "mounts": [
                 {"hostPath": "/usr", "containerPath": "/a", "options": ["bind"]}]}}]}))
        self.config.write_text('{"ociVersion": "1.0.2",\n "process": {},\n "hooks": {"poststop": [\n'
                               '  {"path": "/a"},\n    {"path": "/b"}]}}')
        _, errors = self.inject("--hooks", "lower", ["acme.com/nic=a"])
        self.assertEqual([line.split(": the hook")[0] for line in errors.splitlines()],
                         [f"cdi: warning: {self.config}:4:3: hooks.poststop[0]",
                          f"cdi: warning: {self.config}:5:5: hooks.poststop[1]"])
        _, errors = self.inject("--hooks", "lower", ["acme.com/nic=a"], config="-",
                                input=self.config.read_text())
        self.assertTrue(errors.startswith("cdi: warning: standard input:4:3: "), errors)

    def test_at_most_a_hundred_hooks_are_reported(self):
        (self.folder / "cdi/acme.json").write_text(json.dumps(
            {"cdiVersion": "0.5.0", "kind": "acme.com/nic", "devices": [{"name": "a",
             "containerEdits": {"hooks": [hook(path="/x", point="poststop")] * 103}}]}))
        _, errors = self.inject("--hooks", "lower", ["acme.com/nic=a"])
        self.assertEqual(len(errors.splitlines()), 101)
        self.assertTrue(errors.endswith("\ncdi: warning: 3 more hooks stay\n"), errors[-200:])
        _, errors = self.inject("--hooks", "refuse", ["acme.com/nic=a"], expect=1)
        self.assertEqual(len(errors.splitlines()), 101)
        self.assertTrue(errors.endswith("\ncdi: error: --hooks refuse: the devices have 3 more "
                                        "hooks\n"), errors[-200:])

    def test_a_repeated_injection_adds_nothing(self):
        before = self.lower()
        _, errors = self.inject("--in-place", "--hooks", "lower", ["nvidia.com/gpu=0"])
        self.assertEqual(errors, "")
        after = json.loads(self.config.read_text())
        for config in (before, after):
            config["linux"]["devices"].sort(key=lambda one: one["path"])
        self.assertEqual(after, before)

    def test_a_hook_that_runs_another_ldconfig_is_known_again(self):
        other = self.folder / "ldconfig"
        shutil.copy("/bin/true", other)
        (self.folder / "cdi/more.json").write_text(json.dumps(
            {"cdiVersion": "0.5.0", "kind": "v.com/c", "devices": [{"name": "d", "containerEdits": {
                "hooks": [hook("update-ldcache", "--ldconfig-path", str(other))]}}]}))
        before = self.lower("v.com/c=d")
        self.assertEqual([one["args"][6] for one in before["hooks"]["createContainer"]],
                         [str(other)])
        for name in ("v.com/c=d", "nvidia.com/gpu=0"):
            _, errors = self.inject("--in-place", "--hooks", "lower", [name])
            self.assertEqual(errors, "")
            self.assertEqual(json.loads(self.config.read_text())["hooks"], before["hooks"])

    def test_a_hook_of_a_device_is_not_taken_for_the_own_one(self):
        before = self.config.read_text()
        own = self.lower("nvidia.com/gpu=0")["hooks"]["createContainer"][-1]
        self.config.write_text(before)
        foreign = own | {"hookName": "createContainer",
                         "args": [*own["args"][:6], "/tmp/program", own["args"][7]]}
        without_env = {key: own[key] for key in own if key != "env"}
        for hooks in ([foreign], [without_env | {"hookName": "createContainer"}]):
            (self.folder / "cdi/more.json").write_text(json.dumps(
                {"cdiVersion": "0.5.0", "kind": "v.com/c",
                 "devices": [{"name": "d", "containerEdits": {"hooks": hooks}}]}))
            out, errors = self.inject("--hooks", "lower", ["v.com/c=d", "nvidia.com/gpu=0"])
            self.assertIn("of class foreign stays", errors)
            self.assertEqual(json.loads(out)["hooks"]["createContainer"][-1], own)

    def test_a_real_ldconfig_is_run_by_its_own_name(self):
        for name in ("ldconfig", "ldconfig.real", "ldconfig.real.real"):
            shutil.copy("/bin/true", self.folder / name)
        for name in ("ldconfig", "ldconfig.real"):
            (self.folder / "cdi/more.json").write_text(json.dumps(
                {"cdiVersion": "0.5.0", "kind": "v.com/c", "devices": [
                    {"name": "d", "containerEdits": {"hooks": [
                        hook("update-ldcache", "--ldconfig-path", str(self.folder / name))]}}]}))
            out, _ = self.inject("--hooks", "lower", ["v.com/c=d"])
            self.assertEqual(json.loads(out)["hooks"]["createContainer"][-1]["args"][6],
                             str(self.folder / "ldconfig.real"))

    def test_members_in_another_case_are_refused(self):
        whole = json.loads(self.config.read_text())
        node = {"path": "/dev/dri/card1", "type": "c", "major": 226, "minor": 1}
        link = hook("create-symlinks", "--link", f"../card1::{BY_PATH}")
        del link["hookName"]
        for config in ({key: whole[key] for key in whole if key != "annotations"} |
                       {"Annotations": whole["annotations"],
                        "hooks": {"createContainer": [hook("create-symlinks", "--link", "a::/b")]}},
                       whole | {"Linux": {"devices": [node]},
                                "hooks": {"createContainer": [link]}}):
            self.config.write_text(json.dumps(config))
            _, errors = self.inject("--hooks", "lower", ["nvidia.com/gpu=plain"], expect=1)
            self.assertIn("is in a different case", errors)
        (self.folder / "cdi/more.json").write_text(json.dumps(
            {"cdiVersion": "0.5.0", "kind": "v.com/c", "devices": [
                {"name": "d", "containerEdits": {"env": ["A=1"]}}]}))
        self.config.write_text(json.dumps({"ociVersion": "1.0.2", "hooks": {
            "CreateContainer": [{"path": "/sec"}], "createRuntime": [link]}}))
        _, errors = self.inject("--hooks", "lower", ["v.com/c=d"], expect=1)
        self.assertIn("hooks.CreateContainer: the member name is in a different case", errors)

    def test_a_program_that_is_not_named_ldconfig_is_not_run(self):
        (self.folder / "cdi/more.json").write_text(json.dumps(
            {"cdiVersion": "0.5.0", "kind": "v.com/c", "devices": [{"name": "d", "containerEdits": {
                "hooks": [hook("update-ldcache", "--ldconfig-path", "@/bin/sh")]}}]}))
        out, errors = self.inject("--hooks", "lower", ["v.com/c=d"])
        self.assertIn('stays: its --ldconfig-path "/bin/sh" is not named ldconfig', errors)
        self.assertEqual([one["path"] for one in json.loads(out)["hooks"]["createContainer"]],
                         [HOOK])

    def test_hooks_whose_paths_are_nested_stay(self):
        lowered = [["z::/x/z/z"], ["w::/q"], ["d::/xy", "e::/x/y"]]
        staying = [["q::/q/r", "b::/x/z"], ["c::/x/y/z"], ["f::/r", "f::/r/s"]]
        (self.folder / "cdi/more.json").write_text(json.dumps(
            {"cdiVersion": "0.5.0", "kind": "v.com/c", "devices": [{"name": "d", "containerEdits": {
                "hooks": [hook("create-symlinks", *(f"--link={link}" for link in links))
                          for links in (lowered[0], staying[0], *lowered[1:], *staying[1:])]}}]}))
        _, errors = self.inject("--in-place", "--hooks", "lower", ["v.com/c=d"])
        for one, other in (("/x/z/z", "/x/z"), ("/x/y", "/x/y/z"), ("/r", "/r/s")):
            self.assertIn(f'stays: hooks make "{one}" and "{other}", and one is inside', errors)
        config = json.loads(self.config.read_text())
        self.assertEqual([one["args"][2:] for one in config["hooks"]["createContainer"]],
                         [[f"--link={link}" for link in links] for links in staying])
        self.apply()
        for path, target in (("x/z/z", "z"), ("q", "w"), ("xy", "d"), ("x/y", "e")):
            self.assertEqual(os.readlink(self.root / path), target)

    def test_memory_limits_stay_where_the_container_has_them(self):
        limit = hook("apply-cuda-memory-limits", "--driver-root", "/", "--gpu-id", "GPU-0",
                     point="createRuntime")
        edits = {"a": {"hooks": [limit]},
                 "b": {"hooks": [limit], "env": ["NVIDIA_GPU_MEMORY_REQUEST=1024"]},
                 "c": {"hooks": [limit | {"args": [*limit["args"], "--new", "1"]}]}}
        (self.folder / "cdi/more.json").write_text(json.dumps(
            {"cdiVersion": "0.5.0", "kind": "v.com/c", "devices": [
                {"name": name, "containerEdits": edit} for name, edit in edits.items()]}))
        out, errors = self.inject("--hooks", "lower", ["v.com/c=a"])
        self.assertEqual((json.loads(out).get("hooks", {}).get("createRuntime", []), errors),
                         ([], ""))
        self.assertNotIn(ANNOTATION, json.loads(out)["annotations"])
        stays = f'the hook "{HOOK}" of class memory-limits stays: '
        reason = stays + "it reads the variable NVIDIA_GPU_MEMORY_"
        limited = {"env": ["NVIDIA_GPU_MEMORY_LIMIT="]}
        for process, device, said in (({}, "b", f"{reason}REQUEST"),
                                      (limited, "a", f"{reason}LIMIT"),
                                      ({"env": []}, "c", f'{stays}its argument "--new"')):
            self.config.write_text(json.dumps(CONFIG | {"process": process}))
            out, errors = self.inject("--hooks", "lower", [f"v.com/c={device}"])
            self.assertIn(said, errors)
            self.assertEqual(len(json.loads(out)["hooks"]["createRuntime"]), 1)

    def test_a_bundle_whose_path_is_no_text(self):
        """The config is JSON, and could not hold the path."""
        bundle = os.fsencode(self.folder) + b"/r\xff"
        os.mkdir(bundle)
        os.mkdir(bundle + b"/rootfs")
        config = bundle + b"/config.json"
        (self.folder / "cdi/more.json").write_text(json.dumps(
            {"cdiVersion": "0.5.0", "kind": "v.com/c", "devices": [
                {"name": "d", "containerEdits": {"hooks": [hook("update-ldcache")]}}]}))
        for root, stays in (("rootfs", True), (str(self.root), False)):
            with open(config, "w", encoding="utf-8") as file:
                json.dump(CONFIG | {"root": {"path": root}}, file)
            for _ in range(2):  # the second run reads what the first wrote
                done = subprocess.run(
                    [CDI, "inject", "-d", self.folder / "cdi", "--in-place", "--hooks", "lower",
                     config, "v.com/c=d"], timeout=60, capture_output=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(b'r\\xff/rootfs" is not UTF-8' in done.stderr, stays,
                                 done.stderr)
            with open(config, encoding="utf-8") as file:
                hooks = json.load(file)["hooks"]["createContainer"]
            self.assertEqual([one["args"][0] for one in hooks],
                             ["nvidia-cdi-hook" if stays else "unshare"])

    def test_a_second_device_adds_to_what_is_recorded(self):
        self.lower("nvidia.com/gpu=0")
        more = {"cdiVersion": "0.5.0", "kind": "v.com/c", "devices": [{"name": "d",
                "containerEdits": {"hooks": [hook("create-symlinks", "--link", "a::/opt/b")]}}]}
        (self.folder / "cdi/more.json").write_text(json.dumps(more))
        changes = json.loads(self.lower("v.com/c=d")["annotations"][ANNOTATION])
        self.assertEqual([one["path"] for one in changes["links"]],
                         [f"{LIB}/libcuda.so", "/opt/b"])
        self.assertEqual(changes["libraryFolders"], [LIB, "/opt/lib"])

    def test_without_a_bundle_the_cache_cannot_be_updated(self):
        out, errors = self.inject("--hooks", "lower", ["nvidia.com/gpu=0"], config="-",
                                  input=json.dumps(CONFIG))
        self.assertIn("of class ldcache stays: the root of the container is unknown", errors)
        self.assertEqual([one["args"][1] for one in json.loads(out)["hooks"]["createContainer"]],
                         ["update-ldcache"])

    def test_other_bytes_of_the_config_stay(self):
        text = '\ufeff{"ociVersion": "1.0.2",\n\n "x": 1.50, "hooks": {"poststop": [ ]}}\n'
        (self.folder / "cdi/more.json").write_text(json.dumps(
            {"cdiVersion": "0.5.0", "kind": "v.com/c", "devices": [{"name": "d", "containerEdits": {
                "hooks": [hook("chmod", "--mode", "7", "--path", "/x")]}}]}))
        self.config.write_text(text, encoding="utf-8")
        self.inject("--in-place", "--hooks", "lower", ["v.com/c=d"])
        after = self.config.read_text(encoding="utf-8")
        start = '\ufeff{"ociVersion": "1.0.2",\n\n "x": 1.50, "hooks": {"poststop": [ ]'
        self.assertEqual(after[:len(start)], start)
        self.assertEqual(json.loads(json.loads(after[1:])["annotations"][ANNOTATION]),
                         {"modes": [{"path": "/x", "mode": 7}]})

    def test_a_wrong_record_is_an_error(self):
        self.config.write_text(json.dumps(CONFIG | {"annotations": {ANNOTATION: '{"links": 1}'}}))
        _, errors = self.inject("--hooks", "lower", ["nvidia.com/gpu=0"], expect=1)
        self.assertIn(f"{self.config}:1:", errors)
        self.assertIn(f"annotations: the annotation {ANNOTATION}: ", errors)
        self.assertIn("links: expected a list", errors)
        _, errors = self.cdi("rootfs", self.root, self.config, expect=1)
        self.assertIn(f"the annotation {ANNOTATION}: ", errors)

    # cdi rootfs

    def test_a_root_with_glibc(self):
        self.lower()
        planned, _ = self.cdi("rootfs", self.root, self.config)
        self.assertEqual(snapshot(self.root), {})
        out, _ = self.apply()
        self.assertEqual(out, planned)
        self.assertEqual(os.readlink(f"{self.root}{LIB}/libcuda.so"), "libcuda.so.1")
        self.assertEqual((self.root / "etc/ld.so.conf.d/00-cdi.conf").read_text(),
                         f"{LIB}\n/opt/lib\n")
        profile = self.root / "etc/nvidia/nvidia-application-profiles-rc.d/10-container.conf"
        self.assertIn('["EGLVisibleDGPUDevices",0x1]', profile.read_text())
        self.assertEqual(profile.stat().st_mode & 0o7777, 0o444)
        before = snapshot(self.root)
        self.assertEqual(self.apply(), ("", ""))
        self.assertEqual(snapshot(self.root), before)

    def test_a_root_with_musl_gets_no_cache(self):
        self.lower()
        (self.root / "etc").mkdir()
        (self.root / "etc/alpine-release").write_text("3.20\n")
        self.apply()
        found = snapshot(self.root)
        self.assertEqual(found[f"etc/ld-musl-{os.uname().machine}.path"][1],
                         f"/lib:/usr/local/lib:/usr/lib\n{LIB}\n/opt/lib\n")
        self.assertNotIn("etc/ld.so.conf", found)
        self.assertEqual(self.apply(), ("", ""))

    def test_steps_as_json(self):
        self.lower()
        steps = json.loads(self.cdi("rootfs", "-o", "json", self.root, self.config)[0])
        self.assertEqual(steps[0], {"step": "link", "path": f"{LIB}/libcuda.so",
                                    "target": "libcuda.so.1"})
        self.apply()
        self.assertEqual(json.loads(self.cdi("rootfs", "-o", "json", self.root, self.config)[0]), [])

    def test_an_old_list_is_removed(self):
        changes = {"cudaCompat": [{"folder": "/compat", "hostDriverVersion": "570"}]}
        self.config.write_text(json.dumps(CONFIG | {"annotations": {
            ANNOTATION: json.dumps(changes)}}))
        folder = self.root / "etc/ld.so.conf.d"
        folder.mkdir(parents=True)
        (folder / "00-cdi-compat.conf").write_text("/compat\n")
        steps = json.loads(self.cdi("rootfs", "-o", "json", self.root, self.config)[0])
        self.assertEqual(steps[0], {"step": "remove",
                                    "path": "/etc/ld.so.conf.d/00-cdi-compat.conf"})
        self.apply()
        self.assertEqual(list(folder.iterdir()), [])

    def test_what_is_no_config_or_root_is_refused(self):
        for text, said in (("{", "config.json:1:2"), ('{"hooks": 1}', "hooks")):
            self.config.write_text(text)
            for words in (["rootfs", self.root, self.config],
                          *(["inject", "-d", self.folder / "cdi", "--hooks", hooks, self.config,
                             "nvidia.com/gpu=0"] for hooks in ("lower", "replace"))):
                with self.subTest(words):
                    self.assertIn(said, self.cdi(*words, expect=1)[1])
        self.config.write_text(json.dumps(CONFIG))
        self.assertIn("/none", self.cdi("rootfs", self.folder / "none", self.config, expect=1)[1])
        self.assertIn("none.json", self.cdi("rootfs", self.root, self.folder / "none.json",
                                            expect=1)[1])

    def test_a_config_without_record_changes_nothing(self):
        self.assertEqual(self.apply(), ("", ""))
        self.assertEqual(snapshot(self.root), {})

    def test_nothing_is_changed_if_one_step_is_refused(self):
        self.lower()
        (self.root / "etc").write_text("a file")
        before = snapshot(self.root)
        out, errors = self.apply(expect=1)
        self.assertEqual(out, "")
        self.assertIn("Not a directory", errors)
        self.assertEqual(snapshot(self.root), before)

    def test_a_name_that_is_too_long_is_refused_before_any_change(self):
        changes = {"links": [{"path": "/first", "target": "x"},
                             {"path": "/folder/" + "a" * 256, "target": "x"}]}
        self.config.write_text(json.dumps(CONFIG | {"annotations": {ANNOTATION: json.dumps(changes)}}))
        _, errors = self.apply(expect=1)
        self.assertIn('contains a name longer than 255 bytes', errors)
        self.assertEqual(snapshot(self.root), {})

    def test_links_of_the_image_hide_no_conflict(self):
        (self.root / "usr/lib").mkdir(parents=True)
        (self.root / "usr/lib/f").write_text("")
        (self.root / "lib").symlink_to("usr/lib")
        before = snapshot(self.root)
        for changes in (
                {"links": [{"path": "/lib/y", "target": "a"}, {"path": "/usr/lib/y", "target": "b"}]},
                {"links": [{"path": "/usr/lib/z/w", "target": "a"}, {"path": "/lib/z", "target": "b"}]},
                {"modes": [{"path": "/lib/f", "mode": 0o700}, {"path": "/usr/lib/f", "mode": 0o600}]}):
            self.config.write_text(
                json.dumps(CONFIG | {"annotations": {ANNOTATION: json.dumps(changes)}}))
            self.apply(expect=1)
            self.assertEqual(snapshot(self.root), before)

    def test_links_that_lead_out_stay_inside(self):
        self.lower()
        outside = self.folder / "outside"
        (self.root / "usr").symlink_to(outside)
        (self.root / "etc").symlink_to("../" * 20 + str(outside).lstrip("/"))
        self.apply()
        self.assertEqual(snapshot(outside), {})
        inside = f"{self.root}{outside}"
        self.assertEqual(os.readlink(f"{inside}/lib/x86_64-linux-gnu/libcuda.so"), "libcuda.so.1")
        self.assertTrue(os.path.exists(f"{inside}/ld.so.conf"))
        self.assertEqual(self.apply(), ("", ""))

    def test_a_loop_of_links_is_refused(self):
        self.lower()
        (self.root / "usr").symlink_to("bin")
        (self.root / "bin").symlink_to("usr")
        _, errors = self.apply(expect=1)
        self.assertIn("Too many levels of symbolic links", errors)
        self.assertEqual(set(snapshot(self.root)), {"usr", "bin"})

    def test_a_file_in_the_place_of_a_link_is_replaced(self):
        self.lower()
        os.makedirs(f"{self.root}{LIB}")
        pathlib.Path(f"{self.root}{LIB}/libcuda.so").write_text("a file of the image")
        self.apply()
        self.assertEqual(os.readlink(f"{self.root}{LIB}/libcuda.so"), "libcuda.so.1")

    def record(self, changes):
        annotations = {ANNOTATION: json.dumps(changes)}
        self.config.write_text(json.dumps(CONFIG | {"annotations": annotations}))

    def test_modes_of_files_that_the_same_run_makes_are_set_by_it(self):
        self.record({"modes": [{"path": "/etc/ld.so.conf", "mode": 0o777},
                               {"path": "/x/f", "mode": 0o700}, {"path": "/x", "mode": 0o711}],
                     "files": [{"path": "/x/f", "text": "t"},
                               {"path": "/etc/alpine-release", "text": "3"}],
                     "libraryFolders": ["/lib"]})
        self.apply()
        found = snapshot(self.root)
        self.assertEqual({name: oct(found[name][0] & 0o7777) for name in
                          ("etc/ld.so.conf", "x/f", "x")},
                         {"etc/ld.so.conf": "0o777", "x/f": "0o700", "x": "0o711"})
        self.assertIn(f"etc/ld-musl-{os.uname().machine}.path", found)
        self.assertEqual(self.apply(), ("", ""))
        (self.root / "x/f").unlink()
        self.assertEqual(json.loads(self.cdi("rootfs", "-o", "json", self.root, self.config)[0]),
                         [{"step": "file", "path": "/x/f", "text": "t", "mode": "0700"}])
        self.apply()
        self.assertEqual(snapshot(self.root), found)

    def test_a_link_of_many_dots_does_not_keep_it_busy(self):
        for i in range(39):
            os.symlink("./" * 2000 + (f"l{i + 1}" if i < 38 else "end"), self.root / f"l{i}")
        (self.root / "end").mkdir()
        self.record({"links": [{"path": f"/l0/f{i}", "target": "t"} for i in range(8000)]})
        _, errors = self.apply(expect=1)
        self.assertIn("the paths have more than 1000000 parts, including the links in the root", errors)
        self.assertEqual(len(snapshot(self.root)), 40)

    def kill(self, number):
        """Whether a run was killed just before its change of this number that others can see."""
        killed, permitted = 10, 77
        options = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # which traces, too
        command = [KILL_AT, str(number), CDI, "rootfs", "--apply", self.root, self.config]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "ASAN_OPTIONS": options})
        if done.returncode == permitted:
            self.skipTest("ptrace is not permitted, or too old to tell system calls")
        self.assertIn(done.returncode, (0, killed), done.stderr)
        return done.returncode == killed

    def fill_root(self):
        """A root with something in the place of each change."""
        self.record({"links": [{"path": "/l", "target": "t"}], "files": [
            {"path": "/etc/f", "text": "t"}], "libraryFolders": ["/lib"]})
        shutil.rmtree(self.root)
        (self.root / "etc").mkdir(parents=True)
        (self.root / "etc/f").write_text("of the image")
        (self.root / "l").symlink_to("x")

    def check_filled_root(self):
        self.apply()
        self.assertEqual(set(snapshot(self.root)), {
            "etc", "etc/f", "l", "etc/ld.so.conf", "etc/ld.so.conf.d",
            "etc/ld.so.conf.d/00-cdi.conf"})

    def test_the_next_run_removes_what_a_killed_one_left(self):
        left = set()
        for number in itertools.count(1):
            self.fill_root()
            killed = self.kill(number)
            left |= {name.rsplit(".", 2)[0] for name in snapshot(self.root) if "cdi-tmp" in name}
            self.check_filled_root()
            if not killed:
                break
        self.assertEqual(left, {".l", "etc/.f", "etc/.ld.so.conf", "etc/ld.so.conf.d/.00-cdi.conf"})

    def test_the_last_of_many_killed_runs_removes_what_all_left(self):
        for first in range(1, 12):  # each run makes a part of what is needed
            self.fill_root()
            for number in itertools.count(first):
                if not self.kill(number):
                    break
            self.check_filled_root()

    def test_a_read_only_root(self):
        self.lower()
        script = f"""
mount -t tmpfs tmpfs {self.root} && mkdir {self.root}/etc && mount -o remount,ro {self.root} || exit 77
"$0" rootfs --apply {self.root} {self.config}; echo $?
mount -o remount,rw {self.root} && "$0" rootfs --apply {self.root} {self.config} > /dev/null
mount -o remount,ro {self.root} && "$0" rootfs --apply {self.root} {self.config}; echo $?
"""
        if os.geteuid() != 0 or not shutil.which("unshare"):
            self.skipTest("needs root and unshare")
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, CDI], text=True, timeout=60,
                              capture_output=True, check=False)
        if done.returncode == 77:
            self.skipTest(f"cannot mount here: {done.stderr}")
        self.assertEqual(done.stdout.splitlines(), ["1", "0"], done.stderr)
        self.assertIn("Read-only file system", done.stderr)

    def test_a_full_file_system_ends_between_two_changes(self):
        self.lower()
        if os.geteuid() != 0 or not shutil.which("unshare"):
            self.skipTest("needs root and unshare")
        script = """
mount -t tmpfs -o nr_inodes=6 tmpfs "$1/rootfs" || exit 77
"$0" rootfs --apply "$1/rootfs" "$1/config.json"; echo $?
mount -o remount,nr_inodes=100 "$1/rootfs"
"$0" rootfs --apply "$1/rootfs" "$1/config.json"; echo $?
"""
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, CDI, str(self.folder)],
                              text=True, timeout=60, capture_output=True, check=False)
        if done.returncode == 77:
            self.skipTest(f"cannot mount here: {done.stderr}")
        lines = done.stdout.splitlines()
        self.assertIn("No space left on device", done.stderr)
        self.assertEqual((lines[0], lines[-1]), ("3", "0"))
        self.assertNotIn(f"link {LIB}/libcuda.so -> libcuda.so.1", lines)  # was made before

    def test_the_driver_s_params_are_masked_by_a_mount(self):
        if os.geteuid() != 0 or not shutil.which("unshare"):
            self.skipTest("needs root and unshare")
        script = """
mount -t tmpfs tmpfs /proc/driver && mkdir /proc/driver/nvidia || exit 77
printf 'ModifyDeviceFiles: 1\\nDeviceFileUID: 0\\n' > /proc/driver/nvidia/params
"$0" inject --in-place -d "$1/cdi" --hooks lower "$1/config.json" nvidia.com/gpu=0 || exit 1
mkdir "$1/linked" && ln -s ../config.json "$1/linked/config.json"
"$0" rootfs --apply "$1/rootfs" "$1/linked/config.json" | grep params
"$0" rootfs --apply "$1/rootfs" "$1/config.json"
mkdir -p "$1/rootfs/proc/driver/nvidia" && touch "$1/rootfs/proc/driver/nvidia/params"
"""
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, CDI, str(self.folder)],
                              text=True, timeout=60, capture_output=True, check=False)
        if done.returncode == 77:
            self.skipTest(f"cannot mount here: {done.stderr}")
        self.assertEqual((done.returncode, done.stdout),
                         (0, "file /nvidia-params, 38 bytes, mode 0444\n"), done.stderr)
        params = self.folder.resolve() / "nvidia-params"
        self.assertEqual(params.read_text(), "ModifyDeviceFiles: 0\nDeviceFileUID: 0\n")
        hooks = json.loads(self.config.read_text())["hooks"]["createContainer"]
        mount = next(one for one in hooks if one["args"][0] == "mount")
        self.assertEqual(mount["args"], ["mount", "-o", "bind,ro,nosuid,nodev,noexec", str(params),
                                         f"{self.root.resolve()}/proc/driver/nvidia/params"])
        # The hook works as the runtime would call it.
        script = '"$@" && cat "$0" && ! touch "$0"'
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, mount["args"][-1],
                               mount["path"], *mount["args"][1:]], text=True, timeout=60,
                              capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, params.read_text()), done.stderr)

    def test_ldconfig_does_not_run_with_a_proc_in_a_folder_of_any_name(self):
        if os.geteuid() != 0 or not shutil.which("unshare") or not os.path.exists("/sbin/ldconfig"):
            self.skipTest("needs root, unshare and ldconfig")
        for name in ("plain", "a b", "a 7", "a 0401 2", "a\\040b", "a\\7", "\t1", "é 1"):
            with self.subTest(name):
                bundle, victim = self.folder / name, self.folder / "outside"
                (bundle / "rootfs/proc").mkdir(parents=True)
                (bundle / "rootfs/etc").symlink_to(f"/proc/1/root{victim.resolve()}")
                self.config = bundle / "config.json"
                self.config.write_text(json.dumps(CONFIG))
                hooks = self.lower()["hooks"]["createContainer"]
                self.assertEqual(hooks[0]["args"][0], "unshare")
                script = 'mount -t proc proc "$0" || exit 77; shift; "$@"; exit'
                done = subprocess.run(
                    ["unshare", "-m", "-p", "-f", "sh", "-c", script, bundle / "rootfs/proc", "-",
                     hooks[0]["path"], *hooks[0]["args"][1:]],
                    text=True, timeout=60, capture_output=True, check=False)
                if done.returncode == 77:
                    self.skipTest(f"cannot mount here: {done.stderr}")
                self.assertEqual(list(victim.iterdir()), [], done.stderr)

    def test_ldconfig_does_not_reach_the_host_by_any_proc(self):
        if os.geteuid() != 0 or not shutil.which("unshare") or not os.path.exists("/sbin/ldconfig"):
            self.skipTest("needs root, unshare and ldconfig")
        proc = 'mount -t proc proc "$0/{0}"'
        for mounts, link in (
                (["p"], "/p/1/root{0}"),
                (["p"], "/p/self/root{0}"),
                (["p", "q"], "/q/1/root{0}"),
                (["p", "p"], "/p/1/root{0}"),
                (["p", 'mount -t tmpfs tmpfs "$0/p"'], "/p/1/root{0}"),
                (["a/p", 'mount -t tmpfs tmpfs "$0/a"'], "/a/p/1/root{0}"),
                (["p", 'mount --bind "$0/p/1" "$0/q"'], "/q/root{0}"),
                (["x\n"], "/x\n/1/root{0}"),
                (["%s%n"], "/%s%n/1/root{0}"),
                (["-l"], "/-l/1/root{0}"),
                (["*"], "/*/1/root{0}"),
                ([f"m{i}" for i in range(20)], "/m19/1/root{0}")):
            with self.subTest(mounts):
                bundle = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
                victim = bundle / "outside"
                for path in ("outside", "rootfs/p", "rootfs/q", "rootfs/a/p",
                             *(f"rootfs/{one}" for one in mounts if " " not in one)):
                    (bundle / path).mkdir(parents=True, exist_ok=True)
                (bundle / "rootfs/etc").symlink_to(link.format(victim))
                self.config = bundle / "config.json"
                self.config.write_text(json.dumps(CONFIG))
                added = self.lower()["hooks"]["createContainer"][0]
                script = " && ".join(one if " " in one else proc.format(one) for one in mounts)
                done = subprocess.run(
                    ["unshare", "-m", "-p", "-f", "sh", "-c",
                     f"{{ {script}; }} || exit 77; shift; \"$@\"; exit 0", bundle / "rootfs", "-",
                     added["path"], *added["args"][1:]],
                    text=True, timeout=60, capture_output=True, check=False)
                if done.returncode == 77:
                    self.skipTest(f"cannot mount here: {done.stderr}")
                self.assertEqual(list(victim.iterdir()), [], done.stderr)

    def test_hosts_whose_driver_creates_no_nodes_need_no_mount(self):
        if os.path.exists("/proc/driver/nvidia/params"):
            self.skipTest("this host has the driver")
        hooks = self.lower()["hooks"]["createContainer"]
        self.assertEqual([one["args"][0] for one in hooks], ["unshare"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
