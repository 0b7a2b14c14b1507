#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of `cdi args`, and of programs that are started with what it prints.

usage: args_test.py CDI
"""
import http.server
import json
import os
import pathlib
import shutil
import socket
import socketserver
import stat
import subprocess
import tempfile
import threading
import unittest

from cdi_case import CDI, CdiCase

PROGRAMS = ("bwrap", "nspawn", "apptainer", "charliecloud", "lxc", "docker", "podman", "unshare")
BUSYBOX = shutil.which("busybox")
IS_ROOT = os.geteuid() == 0
LOST = 5

# The words for the device "gpu": a node with another path, a file and a variable.
EXPECTED = {
    "bwrap": ["--dev", "/dev", "--ro-bind", "{file}", "/mnt/file", "--dev-bind", "/dev/zero",
              "/dev/gpu0", "--setenv", "A", "1"],
    "nspawn": ["--bind-ro={file}:/mnt/file", "--bind=/dev/zero:/dev/gpu0", "--setenv=A=1"],
    "lxc": ["lxc.mount.entry = {file} mnt/file none bind,ro,nosuid,nodev,create=file 0 0",
            "lxc.cgroup2.devices.allow = c 1:5 rwm",
            "lxc.mount.entry = /dev/zero dev/gpu0 none bind,create=file 0 0",
            "lxc.environment = A=1"],
    "docker": ["--mount", "type=bind,src={file},dst=/mnt/file,readonly", "--device",
               "/dev/zero:/dev/gpu0:rwm", "-e", "A=1"],
    "podman": ["--mount", "type=bind,src={file},dst=/mnt/file,ro", "--device",
               "/dev/zero:/dev/gpu0:rwm", "-e", "A=1"],
}
ODD = 'a:b,c "d\\e\'f `$g'
# A value without an end that is blank: LXC cuts it.
VALUE = 'q\'"`$HOME\\ x,y=z:\t;|&*?#~'


def same_dev(path, **more):
    return {"path": path, "hostPath": "/dev/zero", **more}


class Scratch(CdiCase):
    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)
        (self.folder / "root").mkdir()
        self.file = pathlib.Path(self.put("file", "content"))
        self.device(deviceNodes=[same_dev("/dev/gpu0")], env=["A=1"], mounts=[self.mount()])

    def mount(self, to="/mnt/file", source=None, options=("ro", "nosuid", "nodev", "bind"), **more):
        return {"hostPath": str(source or self.file), "containerPath": to,
                "options": list(options), **more}

    def device(self, name="gpu", **edits):
        """Makes the device vendor.com/NAME=0, the only one of its file."""
        self.put(f"cdi/{name}.json", {"cdiVersion": "1.1.0", "kind": f"vendor.com/{name}",
                                      "devices": [{"name": "0", "containerEdits": edits}]})

    def args(self, program, *options, names=("vendor.com/gpu=0",), expect=0, **more):
        if program == "unshare" and "--root" not in options:
            options = ("--root", self.folder / "root", *options)
        done = self.run_tool(CDI, "-d", self.folder / "cdi", "args", "--for", program, *options,
                             *names, expect=expect, **more)
        return done.stdout, done.stderr

    def words(self, program, *options, **more):
        record = json.loads(self.args(program, "-o", "json", "--partial", *options, **more)[0])
        self.assertEqual((record["version"], record["program"]), (1, program))
        return record["args"]

    def lost(self, program, *options, **more):
        """The losses as (edit, subject, consequence), which each way to run the command tells."""
        record = json.loads(self.args(program, "-o", "json", "--partial", *options, **more)[0])
        found = [(one["edit"], one["subject"], one["consequence"]) for one in record["lost"]]
        out, errors = self.args(program, *options, expect=LOST if found else 0, **more)
        self.assertEqual(bool(out), not found, "nothing is printed if something is lost")
        for edit, _, consequence in found:
            self.assertRegex(errors, f"cdi: error: {program}: {edit} .*")
            self.assertIn(consequence, errors)
        return found


class Words(Scratch):
    def test_each_program_gets_the_node_the_file_and_the_variable(self):
        for program, expected in EXPECTED.items():
            with self.subTest(program):
                self.assertEqual(self.words(program),
                                 [word.format(file=self.file) for word in expected])
                self.assertEqual(self.lost(program), [])

    def test_unshare_mounts_below_the_root(self):
        lines = self.words("unshare")
        root = os.path.realpath(self.folder / "root")
        self.assertEqual(lines[0], "set -e")
        for line in (f"mount --rbind -- {self.file} {root}/mnt/file",
                     f"mount -o remount,bind,ro,nosuid,nodev -- {root}/mnt/file",
                     f"mount --bind -- /dev/zero {root}/dev/gpu0", "export A=1"):
            self.assertIn(line, lines)

    def test_the_root_of_unshare_is_the_image_unless_another_is_given(self):
        other = self.folder / "image"
        other.mkdir()
        self.assertEqual(self.words("unshare", "--image-root", other), self.words("unshare"))
        self.assertIn("mount --bind -- /dev/zero /dev/gpu0", self.words("unshare", "--root", "/"))

    def test_words_are_on_one_line_and_lines_each_on_one(self):
        out, _ = self.args("bwrap")
        self.assertEqual(out.split(), self.words("bwrap"))
        self.assertEqual(out.count("\n"), 1)
        out, _ = self.args("lxc")
        self.assertEqual(out.splitlines(), self.words("lxc"))

    def test_nul_ends_each_word(self):
        for program in ("bwrap", "lxc"):
            out, _ = self.args(program, "-0")
            self.assertEqual(out.split("\0"), [*self.words(program), ""])

    def test_a_shell_reads_the_words_back(self):
        values = [VALUE, "", "a\nb\n", "\n", "-x", "--", "\x1b[31m", " ", "'", "é"]
        self.device(env=[f"V{i}={value}" for i, value in enumerate(values)],
                    mounts=[self.mount(f"/mnt/{ODD}"), self.mount("/mnt/ -x")])
        for program in ("bwrap", "nspawn", "docker"):
            with self.subTest(program):
                out, _ = self.args(program)
                read = self.run_tool("sh", "-c", f"printf '%s\\0' {out}").stdout
                self.assertEqual(read.split("\0")[:-1], self.words(program))
                self.assertNotIn("\x1b", out)
        self.assertIn(" '--setenv=", self.args("nspawn")[0])

    def test_the_last_of_two_edits_counts(self):
        self.device("other", env=["A=2"], deviceNodes=[{"path": "/dev/gpu0",
                                                        "hostPath": "/dev/full"}])
        words = self.words("bwrap", names=("vendor.com/gpu=0", "vendor.com/other=0"))
        self.assertEqual(words[words.index("--setenv"):], ["--setenv", "A", "2"])
        self.assertIn("/dev/full", words)
        self.assertNotIn("/dev/zero", words)

    def test_parents_precede_children_and_mounts_precede_nodes(self):
        self.device(mounts=[self.mount("/a/b/file"), self.mount("/a", self.folder)],
                    deviceNodes=[same_dev("/a/node")])
        words = self.words("bwrap")
        self.assertLess(words.index("/a"), words.index("/a/b/file"))
        self.assertLess(words.index("/a/b/file"), words.index("/a/node"))

    def test_a_writable_mount(self):
        self.device(mounts=[self.mount("/mnt/file", options=["rw", "bind"])])
        self.assertIn("--bind", self.words("bwrap"))
        self.assertIn(f"--bind={self.file}:/mnt/file", self.words("nspawn"))
        self.assertIn(f"{self.file}:/mnt/file", self.words("apptainer"))

    def test_nodes_of_a_directory_can_be_opened_unless_nodev(self):
        self.device(mounts=[self.mount("/dev/net", "/dev/pts", ["rbind"])])
        self.assertIn("--dev-bind", self.words("bwrap"))
        self.device(mounts=[self.mount("/dev/net", "/dev/pts", ["rbind", "nodev"])])
        self.assertNotIn("--dev-bind", self.words("bwrap"))

    def test_a_mounted_node_becomes_a_node_with_all_permissions(self):
        self.device(mounts=[self.mount("/dev/null2", "/dev/null", ["bind"])])
        for program in ("docker", "podman"):
            self.assertEqual(self.words(program), ["--device", "/dev/null:/dev/null2:rwm"])
        self.assertEqual(self.words("bwrap")[2:], ["--dev-bind", "/dev/null", "/dev/null2"])
        self.device(mounts=[self.mount("/dev/a:b", "/dev/null", ["bind"])])
        self.assertEqual(self.words("docker"), [
            "--device-cgroup-rule", "c 1:3 rwm", "--mount",
            "type=bind,src=/dev/null,dst=/dev/a:b"])
        self.device(mounts=[self.mount("/dev/a:b", "/dev/pts", ["rbind"])])
        self.assertEqual([one[:2] for one in self.lost("docker")], [("mount", "/dev/a:b")],
                         "there is no rule for all nodes of a directory")

    def test_what_has_no_node_is_not_a_device(self):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            self.device(mounts=[self.mount("/dev/x", folder, ["rbind"])])
            for program in ("docker", "podman"):
                self.assertEqual(self.words(program),
                                 ["--mount", f"type=bind,src={folder},dst=/dev/x"])
            (pathlib.Path(folder) / "file").write_text("")
            self.device(mounts=[self.mount("/dev/x", f"{folder}/file", ["bind"])])
            self.assertIn("--mount", self.words("docker"))

    def test_no_word_has_a_place_without_a_value(self):
        self.device(deviceNodes=[same_dev("/dev/gpu0")], env=["A=1"], additionalGids=[44], mounts=[
            self.mount(f"/mnt/{len(options)}{options[-1]}", "/dev/null", options) for options in (
                ["bind"], ["bind", "ro"], ["bind", "noexec"], ["bind", "nodev"])])
        for program in PROGRAMS:
            self.assertNotRegex(" ".join(self.words(program)), r"\{[a-z]*\}")

    def test_tmpfs(self):
        self.device(mounts=[{"hostPath": "tmpfs", "containerPath": "/scratch", "type": "tmpfs",
                             "options": ["size=1m"]}])
        self.assertEqual(self.words("bwrap")[2:], ["--tmpfs", "/scratch"])
        self.assertEqual(self.lost("bwrap"), [("mount", "/scratch", "its option size=1m is lost")])
        self.assertEqual(self.words("nspawn"), ["--tmpfs=/scratch:size=1m"])
        self.assertEqual(self.words("docker"), ["--tmpfs", "/scratch:size=1m"])
        self.assertEqual(self.words("lxc"),
                         ["lxc.mount.entry = tmpfs scratch tmpfs size=1m,create=dir 0 0"])
        self.assertEqual(self.lost("apptainer")[0][:2], ("mount", "/scratch"))
        self.device(mounts=[{"hostPath": "tmpfs", "containerPath": "/scratch", "type": "tmpfs",
                             "options": ["rw", "nosuid", "size=1m", "mode=0700"]}])
        self.assertEqual(self.words("docker"), ["--tmpfs", "/scratch:rw,nosuid,size=1m,mode=0700"])
        self.assertEqual([one[2] for one in self.lost("bwrap")],
                         ["its option size=1m is lost", "its option mode=0700 is lost"])
        self.device(mounts=[{"hostPath": "proc", "containerPath": "/p", "type": "proc"}])
        for program in PROGRAMS:
            self.assertEqual(self.lost(program), [
                ("mount", "/p", 'it is not mounted: the program has no mounts of the type "proc"')])

    def test_drivers_of_gpus_get_sys(self):
        self.assertNotIn("/sys", self.words("bwrap"))
        self.device(deviceNodes=[same_dev("/dev/nvidia0")])
        self.assertEqual(self.words("bwrap")[2:5], ["--ro-bind", "/sys", "/sys"])
        self.assertNotIn("/sys", self.words("bwrap", "--no-sys"))
        self.assertIn("/sys", "".join(self.words("unshare")))
        self.assertNotIn("/sys", "".join(self.words("nspawn")), "nspawn mounts it itself")
        for node, expected in ((same_dev("/dev/dri/card0", type="c", major=226, minor=0), True),
                               (same_dev("/dev/accel/accel0", type="c", major=261, minor=0), True),
                               (same_dev("/dev/sdb", type="b", major=226, minor=0), False),
                               (same_dev("/dev/kfd"), True)):
            self.device(deviceNodes=[node])
            self.assertEqual("/sys" in self.words("bwrap"), expected, node)

    def test_a_mount_without_bind_is_one_anyway(self):
        self.device(mounts=[self.mount(options=["ro"])])
        self.assertIn("--ro-bind", self.words("bwrap"))

    def test_the_last_of_ro_and_rw_decides(self):
        for options, read_only in ((["bind", "ro", "rw"], False), (["bind", "rw", "ro"], True),
                                   (["bind", "rro"], True), (["bind", "ro", "rrw"], False)):
            self.device(mounts=[self.mount(options=options)])
            with self.subTest(options):
                self.assertEqual("--ro-bind" in self.words("bwrap"), read_only)
                self.assertEqual("/mnt/file:ro" in " ".join(self.words("apptainer")), read_only)
                self.assertEqual(",readonly" in " ".join(self.words("docker")), read_only)
                self.assertEqual(",ro" in " ".join(self.words("lxc")).replace(",rro", ""),
                                 read_only)
                self.assertEqual("bind,ro" in " ".join(self.words("unshare")), read_only)
        self.device(mounts=[self.mount(options=["bind", "ro", "rw"])])
        self.assertEqual(self.lost("charliecloud"), [])

    def test_options_of_a_writable_mount(self):
        self.device(mounts=[self.mount(options=["bind", "noatime"])])
        root = os.path.realpath(self.folder / "root")
        self.assertIn(f"mount -o remount,bind,noatime -- {root}/mnt/file", self.words("unshare"))

    def test_podman_writes_noexec(self):
        for options, word in ((["noexec"], ",noexec"), (["ro", "noexec"], ",ro,noexec"),
                              (["noexec", "nosuid", "ro", "nodev"], ",ro,noexec"),
                              (["rro"], ",ro"), ([], "")):
            self.device(mounts=[self.mount("/mnt", self.folder, [*options, "rbind", "rprivate"])])
            self.assertEqual(self.words("podman"),
                             ["--mount", f"type=bind,src={self.folder},dst=/mnt{word}"])
            self.assertEqual(self.lost("podman"), [] if word != ",ro" else [
                ("mount", "/mnt", "its option rro is lost: the container may write there, or in "
                                  "the mounts below")])
        self.device(mounts=[self.mount("/mnt/a,b", self.folder, ["noexec", "bind"])])
        self.assertIn("cannot take", self.lost("podman")[0][2])

    def test_kinds_of_nodes(self):
        """A pipe has no number, and `u` is another word for `c`."""
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for node, rule in (({"path": "/dev/pipe", "hostPath": str(pipe), "type": "p"}, "p 0:0"),
                           (same_dev("/dev/gpu0", type="u", major=1, minor=5), "c 1:5")):
            self.device(deviceNodes=[node])
            self.assertEqual(self.lost("lxc"), [])
            self.assertEqual(self.words("lxc")[0], f"lxc.cgroup2.devices.allow = {rule} rwm")
        self.device(deviceNodes=[{"path": str(pipe), "type": "p"}])
        self.assertEqual(self.words("charliecloud"), ["-b", f"{pipe}:{pipe}"])


class Losses(Scratch):
    def test_hooks_interfaces_and_rdt(self):
        self.device(hooks=[{"hookName": "createContainer", "path": "/usr/bin/nvidia-cdi-hook",
                            "args": ["nvidia-cdi-hook", "update-ldcache"]},
                           {"hookName": "poststop", "path": "/opt/acme"}],
                    netDevices=[{"hostInterfaceName": "eth1", "name": "eth0"}],
                    intelRdt={"closID": "x"}, env=["A=1"])
        hooks = [("hook", "/opt/acme at poststop", "it is not run, and its effect is not known")]
        for program in PROGRAMS:
            with self.subTest(program):
                found = self.lost(program)
                self.assertEqual(found[-1:], hooks)
                self.assertEqual([one[0] for one in found[:-1]],
                                 ["intelRdt"] if program == "lxc" else ["netDevice", "intelRdt"])
        self.assertIn("lxc.net.100.link = eth1", self.words("lxc"))
        self.device(netDevices=[{"hostInterfaceName": "eth1", "name": "eth1"}])
        self.assertEqual(self.words("nspawn"), ["--network-interface=eth1"])

    def test_what_a_hook_that_is_not_run_means(self):
        self.device(hooks=[{"hookName": "prestart",
                            "path": "/usr/bin/nvidia-container-runtime-hook",
                            "args": ["nvidia-container-runtime-hook", "prestart"]},
                           {"hookName": "createContainer", "path": "/usr/bin/nvidia-cdi-hook",
                            "args": ["nvidia-cdi-hook", "create-symlinks", "--link",
                                     "none.so::/lib/x/libx.so"]}])
        found = self.lost("bwrap")
        self.assertEqual(found[0],
                         ("hook", "/usr/bin/nvidia-container-runtime-hook prestart at prestart",
                          "it is not run: the GPUs that it injects are missing"))
        self.assertEqual([one[:2] for one in found[1:]],
                         [("hook of class symlinks", "/lib/x/libx.so")])
        self.assertIn('its target "/lib/x/none.so" is not a file of the devices', found[1][2])

    def test_records_of_errors(self):
        self.device(intelRdt={"closID": "x"})
        out, errors = self.args("bwrap", "-o", "json", expect=LOST)
        self.assertEqual(out, "")
        record = json.loads(errors)
        self.assertEqual((record["level"], record["edit"], record["subject"], record["file"]),
                         ("error", "intelRdt", "x", str(self.folder / "cdi/gpu.json")))
        _, errors = self.args("bwrap", "--partial")
        self.assertTrue(errors.startswith("cdi: warning: bwrap: intelRdt x of vendor.com/gpu=0 ("))

    def test_places_of_nodes(self):
        for program in ("apptainer", "charliecloud"):
            self.assertEqual([one[:2] for one in self.lost(program) if one[0] == "deviceNode"],
                             [("deviceNode", "/dev/gpu0")])
        self.device(deviceNodes=[{"path": "/dev/zero"}])
        self.assertEqual(self.words("apptainer"), ["--bind", "/dev/zero:/dev/zero"])
        self.assertEqual(self.words("charliecloud"), [], "its /dev is that of the host")
        self.assertEqual(self.args("charliecloud"), ("", ""))
        self.device(deviceNodes=[same_dev("/opt/gpu0")])
        self.assertEqual(self.words("charliecloud"), ["-b", "/dev/zero:/opt/gpu0"])
        self.assertEqual(len(self.lost("apptainer")), 1, "its other mounts are nodev")

    def test_a_node_that_the_host_does_not_have(self):
        for edits, why in (({"path": "/dev/no-such", "type": "c", "major": 195, "minor": 0},
                            '"/dev/no-such" on the host: No such file or directory'),
                           (same_dev("/dev/gpu0", type="c", major=195, minor=7),
                            "the host has the type and number c 1:5, and the spec c 195:7"),
                           (same_dev("/dev/gpu0", type="c", major=1, minor=6),
                            "the host has the type and number c 1:5, and the spec c 1:6"),
                           (same_dev("/dev/gpu0", type="b", major=1, minor=5),
                            "the host has the type and number c 1:5, and the spec b 1:5")):
            self.device(deviceNodes=[edits])
            for program in PROGRAMS:
                found = [one for one in self.lost(program) if "places" not in one[2]]
                self.assertEqual(len(found), 1)
                if program not in ("apptainer", "charliecloud"):
                    self.assertIn(why, found[0][2])
                self.assertNotIn("/dev/gpu0", "".join(self.words(program)))

    def test_a_missing_node_without_numbers(self):
        """Which the host would have to tell: the other edits are there anyway."""
        link = self.folder / "link"
        link.symlink_to("/dev/null")
        for path, why in (("/dev/no-such", 'no host device "/dev/no-such": No such file'),
                          (str(self.file), "is not a device node but a regular file"),
                          (str(link), "use the path of the node itself")):
            self.device(env=["A=1"], deviceNodes=[same_dev("/dev/gpu0"),
                                                  {"path": "/dev/gpu1", "hostPath": path}])
            for program in PROGRAMS:
                found = [one for one in self.lost(program) if one[1] == "/dev/gpu1"]
                self.assertEqual(len(found), 1)
                self.assertEqual(found[0][0], "deviceNode")
                self.assertIn(why, found[0][2])
                words = " ".join(self.words(program))
                self.assertNotIn("gpu1", words)
                self.assertIn("A", words)

    def test_mode_owner_and_permissions_of_a_node(self):
        self.device(deviceNodes=[same_dev("/dev/gpu0", fileMode=0o600, uid=12345,
                                          permissions="r")])
        texts = [one[2] for one in self.lost("bwrap")]
        self.assertEqual(len(texts), 3)
        self.assertIn("keeps the mode 0666 of the host, and does not get 0600", texts[0])
        self.assertIn("keeps the owner", texts[1])
        self.assertIn("permissions r are not enforced: it can be written", texts[2])
        self.assertEqual(len(self.lost("docker")), 2)
        self.assertIn("/dev/zero:/dev/gpu0:r", self.words("docker"))
        self.assertIn("lxc.cgroup2.devices.allow = c 1:5 r", self.words("lxc"))
        there = os.stat("/dev/zero")
        same = {"fileMode": stat.S_IMODE(there.st_mode), "uid": there.st_uid, "gid": there.st_gid}
        for more, count in (({}, 0), ({"gid": 12345}, 1), ({"uid": 12345}, 1)):
            self.device(deviceNodes=[same_dev("/dev/gpu0", **{**same, **more})])
            self.assertEqual(len(self.lost("bwrap")), count, more)
        self.device(deviceNodes=[same_dev("/dev/gpu0", gid=12345)])
        self.assertEqual(len(self.lost("bwrap")), 1)
        self.device(deviceNodes=[same_dev("/dev/gpu0", permissions="none")])
        for program in ("bwrap", "docker", "lxc"):
            self.assertIn("no user may open", self.lost(program)[0][2])

    def test_options_of_mounts(self):
        self.device(mounts=[self.mount("/mnt/file", options=["ro", "nosuid", "nodev", "noexec",
                                                             "noatime", "bind"])])
        self.assertEqual(self.lost("lxc"), [])
        self.assertEqual(self.lost("bwrap"), [("mount", "/mnt/file", "its option noatime is lost")],
                         "and noexec changes nothing: the file is no program")
        self.file.chmod(0o4755)
        texts = [one[2] for one in self.lost("docker")]
        self.assertEqual(texts, ["its option nosuid is lost: set-user-ID programs there keep their "
                                 "effect",
                                 "its option noexec is lost: programs there can be run",
                                 "its option noatime is lost"])
        self.device(mounts=[self.mount(options=["ro", "bind"])])
        self.assertEqual(self.lost("charliecloud"),
                         [("mount", "/mnt/file",
                           "its option ro is lost: the container may write there")])
        self.device(mounts=[self.mount("/mnt", self.folder, ["ro", "bind"])])
        self.assertEqual(len(self.lost("charliecloud")), 1, "files of a directory can be written")
        self.device(mounts=[self.mount(source="/proc/version", options=["ro", "bind"])])
        if not IS_ROOT:
            self.assertEqual(self.lost("charliecloud"), [], "its user may not write there anyway")

    def test_options_that_change_nothing_for_what_is_no_file(self):
        """As `cdi-prepare write` has them for the socket of nvidia-persistenced."""
        place, fifo = self.folder / "socket", self.folder / "fifo"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(place))
        os.mkfifo(fifo)
        for path in (place, fifo):
            path.chmod(0o777)
        options = ["ro", "rro", "nosuid", "nodev", "noexec", "rbind", "rprivate"]
        for path in (place, fifo):
            self.device(mounts=[self.mount("/run/it", path, options)])
            for program in PROGRAMS:
                self.assertEqual(self.lost(program), [])
        self.device(mounts=[self.mount("/run/it", "/dev/null", [
            one for one in options if one != "nodev"])])
        for program in PROGRAMS:
            self.assertEqual(self.lost(program), [])
        self.device(mounts=[self.mount("/run/it", place, ["noatime", "bind"])])
        self.assertEqual(len(self.lost("bwrap")), 1)

    def test_sources_of_mounts(self):
        for source in (self.folder / "missing", "file"):
            self.device(mounts=[self.mount(source=source)])
            for program in PROGRAMS:
                self.assertIn("its source", self.lost(program)[0][2])

    def test_texts_that_a_program_cannot_take(self):
        source = self.folder / "a:b,c"
        source.write_text("")
        self.device(mounts=[self.mount("/mnt/a:b,c", source, ["bind"])])
        fields = f'type=bind,"{{}}={source}","{{}}=/mnt/a:b,c"'
        self.assertEqual(self.words("docker"), ["--mount", fields.format("src", "dst")])
        self.assertEqual(self.words("apptainer"),
                         ["--mount", fields.format("source", "destination")])
        self.assertEqual(self.words("nspawn"),
                         [f"--bind={source}:/mnt/a:b,c".replace("a:b", "a\\:b")])
        for program, sign in (("podman", ","), ("charliecloud", ":")):
            self.assertEqual(self.lost(program),
                             [("mount", "/mnt/a:b,c",
                               "it is not mounted: the program cannot take a name or value with "
                               f'"{sign}"')])
        self.device(deviceNodes=[same_dev("/dev/a:b")])
        self.assertEqual(self.words("docker"),
                         ["--device-cgroup-rule", "c 1:5 rwm", "--mount",
                          "type=bind,src=/dev/zero,dst=/dev/a:b"])
        self.assertEqual(self.lost("podman")[0][:2], ("deviceNode", "/dev/a:b"))

    def test_variables_that_a_program_cannot_take(self):
        for value, word in (("'x'", "--set-env=A=''x''"), ("'x", "--set-env=A='x"),
                            ("'", "--set-env=A='")):
            self.device(env=[f"A={value}"])
            self.assertEqual(self.words("charliecloud"), [word])
        self.device(env=["1A=1"])
        self.assertEqual([one[1] for one in self.lost("unshare")], ["1A"])
        self.device(env=["A=a\nb", 'B=`"', "C D=1", "E=x,y=z", "F=$HOME"])
        lost = {program: [one[1] for one in self.lost(program)] for program in PROGRAMS}
        self.assertEqual(lost, {"bwrap": [], "nspawn": [], "apptainer": ["B", "F"],
                                "charliecloud": [], "lxc": ["A"], "docker": [], "podman": [],
                                "unshare": ["C D"]})
        self.assertIn('"E=x,y=z"', self.words("apptainer"))
        self.assertEqual(self.words("charliecloud")[-2:], ["--env-no-expand", "--set-env=F=$HOME"])

    def test_blanks_in_lines_of_lxc(self):
        source = self.folder / "a b\n\\#"
        source.write_text("")
        self.device(env=["A= b "], mounts=[self.mount("/mnt/c\td", source, ["bind"])])
        self.assertEqual(self.words("lxc"),
                         [f"lxc.mount.entry = {self.folder}/a\\040b\\012\\134# mnt/c\\011d none "
                          "bind,create=file 0 0", 'lxc.environment = "A= b "'])

    def test_links_in_a_root_do_not_lead_out(self):
        root = pathlib.Path(os.path.realpath(self.folder / "root"))
        (root / "lib").symlink_to("/usr/lib")
        (root / "up").symlink_to("../../..")
        self.device(mounts=[self.mount("/lib/a"), self.mount("/up/b"), self.mount("/x/../../c")])
        script = "\n".join(self.words("unshare"))
        self.assertIn(f" {root}/usr/lib/a\n", script)
        self.assertIn(f" {root}/b\n", script)
        self.assertNotIn("..", script)
        self.assertEqual([one[1] for one in self.lost("unshare")], ["/x/../../c"])

    def test_places_that_a_root_does_not_have(self):
        root = self.folder / "root"
        (root / "sys").symlink_to("sys")
        self.device(mounts=[self.mount("/"), {"hostPath": "tmpfs", "containerPath": "/sys/t",
                                              "type": "tmpfs"}],
                    deviceNodes=[same_dev("/sys/nvidia0", type="c", major=1, minor=5),
                                 same_dev("/dev/nvidia0")])
        loop = "Too many levels of symbolic links"
        found = self.lost("unshare")
        self.assertEqual([one[:2] for one in found], [
            ("mount", "/sys"), ("mount", "/"), ("mount", "/sys/t"), ("deviceNode", "/sys/nvidia0")])
        self.assertIn("it is not a path below the root", found[1][2])
        for one in (found[0], *found[2:]):
            self.assertIn(loop, one[2])
        errors = self.args("unshare", "-o", "json", expect=LOST)[1].splitlines()
        self.assertNotIn("line", json.loads(errors[0]), "no spec asks for /sys")
        self.assertIn("line", json.loads(errors[1]))


class Access(Scratch):
    NOBODY = 65534

    def as_nobody(self, program, *options, expect=0, groups=(), **more):
        return self.args(program, *options, **more, expect=expect, user=self.NOBODY,
                         group=self.NOBODY, extra_groups=groups, cwd="/")

    def make_node(self, mode, gid, **more):
        path = self.folder / "node"
        path.unlink(missing_ok=True)
        try:
            os.mknod(path, mode | stat.S_IFCHR, os.makedev(1, 5))
        except PermissionError as error:
            self.skipTest(f"cannot make a device node: {error}")
        os.chown(path, 0, gid)
        path.chmod(mode)
        self.device(deviceNodes=[{"path": "/dev/gpu0", "hostPath": str(path), **more}])

    def setUp(self):
        super().setUp()
        if not IS_ROOT:
            self.skipTest("only root can run a program as another user")
        if not os.access(CDI, os.X_OK) or subprocess.run(
                ["true"], user=self.NOBODY, check=False).returncode != 0:
            self.skipTest("no other user can run programs")

    def test_a_node_of_a_group(self):
        self.make_node(0o660, 44)
        _, errors = self.as_nobody("bwrap")
        self.assertIn("cdi: warning: this user may not open ", errors)
        self.assertIn("whose mode is 0660, owner root and group video", errors)
        self.assertIn("add the user to group video: `usermod -aG video nobody`", errors)
        self.assertEqual(self.as_nobody("bwrap", groups=[44])[1], "")
        self.assertEqual(self.as_nobody("docker")[1], "", "root starts it")

    def test_a_group_is_lost_only_if_a_node_of_it_cannot_be_opened(self):
        for program in ("bwrap", "charliecloud"):
            for mode, expect in ((0o666, 0), (0o660, LOST)):
                with self.subTest(program=program, mode=mode):
                    self.make_node(mode, 44)
                    self.device(additionalGids=[44, 45], deviceNodes=[
                        {"path": str(self.folder / "node")}])
                    _, errors = self.as_nobody(program, expect=expect)
                    self.assertEqual("additionalGid" in errors, expect == LOST, errors)
                    self.assertNotIn("45", errors)
                    self.args(program, extra_groups=[])
        self.make_node(0o666, 44)
        self.device(additionalGids=[44], deviceNodes=[{"path": str(self.folder / "node")}])
        self.assertNotIn("keep-groups", self.as_nobody("podman")[0])  # the user has no such group

    def test_a_node_of_root(self):
        self.make_node(0o600, 44)
        _, errors = self.as_nobody("bwrap", groups=[44])
        self.assertIn("change its mode or group, by a rule of udev", errors)
        self.make_node(0o600, 44, permissions="r")
        self.assertIn("may not open", self.as_nobody("bwrap", expect=LOST)[1])
        self.make_node(0o600, 44)
        os.chown(self.folder / "node", self.NOBODY, 44)
        (self.folder / "node").chmod(0o060)  # its owner is not a member of the group
        self.assertIn("change its mode", self.as_nobody("bwrap", groups=[44])[1])

    def test_a_user_and_a_group_without_names(self):
        self.device(additionalGids=[54321])
        _, errors = self.args("bwrap", expect=LOST, user=54322, group=54322, extra_groups=[],
                              cwd="/")
        self.assertIn("additionalGid 54321", errors)
        self.assertIn("make a group with the number 54321", errors)
        self.device(additionalGids=[44])
        _, errors = self.args("bwrap", expect=LOST, user=54322, group=54322, extra_groups=[],
                              cwd="/")
        self.assertIn("`usermod -aG video 54322`", errors)
        self.args("bwrap", user=54322, group=44, extra_groups=[], cwd="/")
        self.args("bwrap", extra_groups=[])  # root opens the nodes of each group

    def test_a_member_of_a_group_logs_in_again(self):
        self.device(additionalGids=[44])
        groups = self.folder / "group"
        groups.write_text("video:x:44:other,nobody\n")
        script = 'mount --bind "$1" /etc/group && shift && exec "$@"'
        inside = ["unshare", "--mount", "sh", "-c", script, "sh", groups]
        if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("files cannot be mounted here")
        done = self.run_tool(*inside, "setpriv", "--reuid", str(self.NOBODY), "--regid",
                             str(self.NOBODY), "--clear-groups", CDI, "-d", self.folder / "cdi",
                             "args", "--for", "bwrap", "vendor.com/gpu=0", expect=None)
        self.assertEqual(done.returncode, LOST, done.stderr)
        self.assertIn("log in again to get the group video", done.stderr)

    def test_a_file_that_the_user_may_not_write_needs_no_ro(self):
        self.device(mounts=[self.mount(options=["ro", "nodev", "bind"])])  # and it is not a node
        self.file.chmod(0o644)
        self.assertIn(":/mnt/file", self.as_nobody("charliecloud")[0])
        self.file.chmod(0o666)
        self.as_nobody("charliecloud", expect=LOST)

    def test_additional_groups(self):
        self.device(additionalGids=[44, 0])
        for program in ("bwrap", "unshare", "apptainer", "charliecloud", "podman"):
            out, errors = self.as_nobody(program, expect=LOST)
            self.assertEqual(out, "")
            self.assertIn("additionalGid video", errors)
            self.assertIn("add the user to group video", errors)
        self.as_nobody("bwrap", groups=[44])
        self.assertEqual(self.as_nobody("podman", groups=[44])[0], "--group-add keep-groups\n")
        self.assertEqual(self.args("podman")[0], "--group-add 44\n")
        self.device("r", deviceNodes=[same_dev("/dev/gpu0", permissions="r")])
        self.args("podman", names=("vendor.com/r=0",))
        self.assertIn("are not enforced", self.as_nobody("podman", names=("vendor.com/r=0",),
                                                         expect=LOST)[1])
        self.assertEqual(self.as_nobody("docker")[0], "--group-add 44\n")
        self.assertEqual(self.as_nobody("lxc")[0], "lxc.init.groups = 44\n")
        self.device(additionalGids=[44, 45])
        self.assertEqual(self.as_nobody("lxc")[0], "lxc.init.groups = 44,45\n")
        self.device(additionalGids=[44])
        self.assertIn("only root in the container", self.as_nobody("nspawn", expect=LOST)[1])


class Usage(Scratch):
    def rows(self):
        """The table of programs on the page, row by row."""
        page = pathlib.Path(__file__).resolve().parents[3] / "docs/sandboxes.md"
        if not page.exists():
            self.skipTest("the tests were copied without the pages")
        text = page.read_text(encoding="utf-8").partition("| program |")[2]
        return [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]

    def test_the_page_has_the_options_of_mounts_that_a_program_loses(self):
        for row in self.rows():
            program = row[0].strip("| `")
            for option in ("nosuid", "nodev", "noexec", "rslave"):
                self.device(mounts=[self.mount("/mnt", self.folder, [option, "bind"])])
                lost = [one[2] for one in self.lost(program) if f"option {option} is" in one[2]]
                with self.subTest(program, option=option):
                    said = f"`{option}`" in row[2]
                    if program == "bwrap":  # its row has the options that it does not lose
                        said = not said
                    elif option == "rslave":  # by the sentence below the table
                        said = program != "lxc"
                    self.assertEqual(said, bool(lost))

    def test_the_page_has_each_program(self):
        rows = self.rows()
        self.assertEqual(tuple(row[0].strip("| `") for row in rows), PROGRAMS)
        out = self.run_tool(CDI, "args", "--help").stdout
        for row in rows:
            self.assertRegex(out, rf"  {row[0].strip('| `')} +{row[1]}\n")

    def test_wrong_usage(self):
        for options, why in ((("--for", "runc"), '"runc" is none of'), ((), "--for is required"),
                             (("--for", "unshare"), "--for unshare needs --root DIR"),
                             (("--for", "bwrap", "--root", "/"), "--root is only for unshare"),
                             (("--for", "bwrap", "-0", "-o", "json"), "-0 excludes --output")):
            done = self.run_tool(CDI, "args", *options, "vendor.com/gpu=0", expect=None)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(why, done.stderr)

    def test_a_policy_decides(self):
        policy, log = self.folder / "policy.json", self.folder / "log.json"
        rule = {"name": "null", "allow": True, "devices": ["vendor.com/gpu=0"]}
        allowed = {"deviceNodes": ["/dev/gpu*", "/dev/zero"], "env": ["A"], "mounts": ["/"]}
        for edits, code in ((allowed, 0), ({**allowed, "env": []}, 4)):
            policy.write_text(json.dumps({"rules": [{**rule, "edits": edits}]}))
            out, errors = self.args("bwrap", "--policy", policy, "--decisions", log, expect=code)
            self.assertEqual(bool(out), code == 0, errors)
            self.assertEqual("the policy denies" in errors, code == 4, errors)
            self.assertIn("vendor.com/gpu=0", log.read_text())

    def test_names_that_do_not_resolve(self):
        out, errors = self.args("bwrap", names=("vendor.com/gpu=9",), expect=1)
        self.assertEqual(out, "")
        self.assertIn("vendor.com/gpu=9", errors)
        self.args("unshare", "--root", self.folder / "none", expect=1)

    def test_help(self):
        out = self.run_tool(CDI, "args", "--help").stdout
        for text in ("eval", *PROGRAMS):
            self.assertIn(text, out)
        out = self.run_tool(CDI, "--help").stdout
        self.assertRegex(out, "(?m)^  5 +the program cannot express some edits")


class DockerDaemon(http.server.BaseHTTPRequestHandler):
    """Answers like a daemon, and keeps what the command line asks it to create."""

    def reply(self, body):
        text = json.dumps(body).encode()
        self.send_response(201)
        for name, value in (("Api-Version", "1.45"), ("Ostype", "linux"),
                            ("Content-Type", "application/json"), ("Content-Length", len(text))):
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def do_HEAD(self):  # pylint: disable=invalid-name
        self.reply({"OSType": "linux"})

    do_GET = do_HEAD

    def do_POST(self):  # pylint: disable=invalid-name
        self.server.created = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.reply({"Id": "1" * 64, "Warnings": []})

    def log_message(self, *_):
        pass


class UnixServer(socketserver.UnixStreamServer):
    created = None

    def get_request(self):
        return super().get_request()[0], ("local", 0)


# What runs in each sandbox: the number of the node, the content of the file and the variables.
PROBE = ('[ -c /dev/gpu0 ] && ls -l /dev/gpu0 | tr -s " " | cut -d " " -f 5,6; '
         'cat "/mnt/$F"; printf "<%s>" "$A" "$B" "$C"')


class Runs(Scratch):
    """Starts the programs that are installed with what is printed."""

    FILE = '#a:b c\\"'  # no comma, which Podman cannot take
    VARIABLES = (f"A={VALUE}", "B='b '", 'C="c" ')

    def setUp(self):
        super().setUp()
        source = self.folder / self.FILE
        source.write_text("content")
        self.root = self.folder / "root"
        self.device(deviceNodes=[same_dev("/dev/gpu0")],
                    env=[*self.VARIABLES, f"F={self.FILE}"],
                    mounts=[self.mount(f"/mnt/{self.FILE}", source)])

    def need(self, program):
        found = shutil.which(program)
        if not found:
            self.skipTest(f"{program} is not installed")
        return found

    def fill_root(self):
        if not BUSYBOX or b"/ld-linux" in pathlib.Path(BUSYBOX).read_bytes():
            self.skipTest("needs a static busybox (Debian: busybox-static)")
        for name in ("bin", "dev", "proc", "sys", "etc", "tmp", "run", "mnt", "home", "usr/bin"):
            (self.root / name).mkdir(parents=True)
        shutil.copy(BUSYBOX, self.root / "bin/busybox")
        for name in ("sh", "ls", "tr", "cut", "cat", "printf", "id", "true"):
            (self.root / "bin" / name).symlink_to("busybox")
        for name in ("passwd", "group", "hosts", "resolv.conf"):
            (self.root / "etc" / name).write_text("")

    def words_of(self, program, *options):
        return self.args(program, "-0", *options)[0].split("\0")[:-1]

    def run_probe(self, command, works=None, **more):
        """Runs a command in a sandbox; skips if the sandbox does not start even without words."""
        if works is not None:
            plain = subprocess.run(works, capture_output=True, text=True, timeout=60, check=False,
                                   stdin=subprocess.DEVNULL, **more)
            if plain.returncode != 0:
                self.skipTest(f"{works[0]} does not work here: {plain.stderr.strip()[-200:]}")
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                              stdin=subprocess.DEVNULL, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check(self, found, node="1, 5\n"):
        self.assertEqual(found.replace("\r\n", "\n"), f"{node}content<{VALUE}><'b '><\"c\" >")

    def test_bwrap(self):
        bwrap = self.need("bwrap")
        base = [bwrap, "--ro-bind", "/", "/", "--tmpfs", "/mnt", "--unshare-all"]
        works = [*base, "--dev", "/dev", "true"]
        self.check(self.run_probe([*base, *self.words_of("bwrap"), "sh", "-c", PROBE], works))
        out, _ = self.args("bwrap")
        line = f"{' '.join(base)} {out.strip()} sh -c 'ls /dev'"
        nodes = self.run_probe(["sh", "-c", 'eval "$1"', "sh", line]).split()
        without = self.run_probe([*base, "--dev", "/dev", "ls", "/dev"]).split()
        self.assertEqual(sorted(set(nodes) - set(without)), ["gpu0"])
        opened = [*base, *self.words_of("bwrap"), "head", "-c", "2", "/dev/gpu0"]
        self.assertEqual(self.run_probe(opened), "\0\0")
        writes = self.run_tool(*base, *self.words_of("bwrap"), "sh", "-c",
                               'exec 2>&1; : >>"/mnt/$F"', expect=None)
        self.assertNotEqual(writes.returncode, 0)
        self.assertIn("Read-only file system", writes.stdout)

    def test_bwrap_by_another_user(self):
        if not IS_ROOT:
            self.skipTest("only root can run a program as another user")
        bwrap = self.need("bwrap")
        base = [bwrap, "--ro-bind", "/", "/", "--tmpfs", "/mnt", "--unshare-user"]
        user = {"user": Access.NOBODY, "group": Access.NOBODY, "extra_groups": [], "cwd": "/"}
        works = [*base, "--dev", "/dev", "true"]
        self.check(self.run_probe([*base, *self.words_of("bwrap"), "sh", "-c", PROBE], works,
                                  **user))

    def test_nspawn(self):
        nspawn = self.need("systemd-nspawn")
        self.fill_root()
        base = [nspawn, "-q", "-D", self.root, "--register=no", "--keep-unit", "--pipe"]
        self.check(self.run_probe([*base, *self.words_of("nspawn"), "/bin/sh", "-c", PROBE],
                                  [*base, "/bin/true"]))

    def test_charliecloud(self):
        ch_run = self.need("ch-run")
        self.fill_root()
        file = self.folder / "file"
        (self.root / "mnt/file").write_text("")
        self.device(deviceNodes=[{"path": "/dev/zero"}],
                    env=[*self.VARIABLES, "F=file"],
                    mounts=[self.mount("/mnt/file", file, ["bind"])])
        more = {"env": {**os.environ, "USER": "root"}}
        probe = PROBE.replace("gpu0", "zero")
        self.check(self.run_probe([ch_run, *self.words_of("charliecloud"), self.root, "--",
                                   "/bin/sh", "-c", probe], [ch_run, self.root, "--", "/bin/true"],
                                  **more))

    def test_lxc(self):
        lxc = self.need("lxc-execute")
        self.fill_root()
        self.device("groups", additionalGids=[44, 104])
        names = ("vendor.com/gpu=0", "vendor.com/groups=0")
        config = self.folder / "lxc/c1/config"
        config.parent.mkdir(parents=True)
        plain = f"lxc.rootfs.path = dir:{self.root}\nlxc.net.0.type = empty\n"
        config.write_text(plain)
        command = [lxc, "-P", config.parent.parent, "-n", "c1", "-f", config, "--"]
        works = self.run_tool(*command, "/bin/true", expect=None)
        if works.returncode != 0:
            self.skipTest(f"lxc-execute does not work here: {works.stderr.strip()[-200:]}")
        config.write_text(plain + self.args("lxc", names=names)[0])
        found = self.run_probe([*command, "/bin/sh", "-c", PROBE + "; id"])
        found, _, groups = found.partition("uid=")
        self.check(found)
        self.assertIn("44,104", groups)

    def test_unshare(self):
        unshare = self.need("unshare")
        self.fill_root()
        base = [unshare, "--mount", "--map-root-user", "sh", "-c"]
        script = self.folder / "script"
        script.write_text(self.args("unshare")[0])
        command = f'. "{script}"; exec chroot "{self.root}" /bin/sh -c "$1"'
        self.check(self.run_probe([*base, command, "sh", PROBE],
                                  [*base, f"exec chroot {self.root} /bin/true"]))
        writes = self.run_tool(*base, command, "sh", ': >>"/mnt/$F"', expect=None)
        self.assertIn("Read-only file system", writes.stderr)

    def test_docker_understands_the_words(self):
        docker = self.need("docker")
        self.device("more", additionalGids=[44], deviceNodes=[same_dev("/dev/a:b")],
                    mounts=[{"hostPath": "tmpfs", "containerPath": "/scratch", "type": "tmpfs",
                             "options": ["size=1m"]}])
        words = self.args("docker", "-0", names=("vendor.com/gpu=0", "vendor.com/more=0"))[0]
        path = self.folder / "docker.sock"
        with UnixServer(str(path), DockerDaemon) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.run_probe([docker, "-H", f"unix://{path}", "create", *words.split("\0")[:-1],
                            "image", "true"], [docker, "--version"])
            server.shutdown()
        self.assertEqual(sorted(server.created["Env"]), [*self.VARIABLES, f"F={self.FILE}"],
                         "in any order")
        host = server.created["HostConfig"]
        self.assertEqual(host["Devices"], [{"PathOnHost": "/dev/zero", "CgroupPermissions": "rwm",
                                            "PathInContainer": "/dev/gpu0"}])
        self.assertEqual((host["GroupAdd"], host["DeviceCgroupRules"], host["Tmpfs"]),
                         (["44"], ["c 1:5 rwm"], {"/scratch": "size=1m"}))
        self.assertEqual([(one["Source"], one["Target"], one.get("ReadOnly", False))
                          for one in host["Mounts"]],
                         [(str(self.folder / self.FILE), f"/mnt/{self.FILE}", True),
                          ("/dev/zero", "/dev/a:b", False)])

    def test_podman(self):
        podman = self.need("podman")
        self.fill_root()
        source = self.folder / "a:b c"
        source.write_text("content")
        self.device(deviceNodes=[same_dev("/dev/gpu0")], env=[*self.VARIABLES, "F=a:b c"],
                    mounts=[self.mount("/mnt/a:b c", source)])
        runtime = self.folder / "runtime"  # runc without limits, which need more rights than root's
        runtime.write_text(RUNTIME)
        runtime.chmod(0o755)
        base = [podman, "--runtime", runtime, "--root", self.folder / "storage", "--runroot",
                self.folder / "run", "--storage-driver", "vfs", "run", "--rm", "--network=none"]
        self.check(self.run_probe([*base, *self.words_of("podman"), "--rootfs", self.root,
                                   "/bin/sh", "-c", PROBE],
                                  [*base, "--rootfs", self.root, "/bin/true"]))


RUNTIME = r"""#!/usr/bin/env python3
import json, os, sys
if "--bundle" in sys.argv:
    path = sys.argv[sys.argv.index("--bundle") + 1] + "/config.json"
    config = json.load(open(path))
    config["process"].pop("rlimits", None)
    json.dump(config, open(path, "w"))
os.execvp("runc", ["runc", *sys.argv[1:]])
"""


if __name__ == "__main__":
    unittest.main(verbosity=2)
