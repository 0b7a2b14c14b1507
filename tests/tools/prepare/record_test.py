#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A recording of a node is read as the node.

usage: record_test.py CDI_PREPARE FAULTS [unittest options]
FAULTS is the library built from tests/faults/faults.cpp, or "none".
"""
import io
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
import node_trees  # noqa: E402  pylint: disable=wrong-import-position
from tree_case import TreeTest, run_tests  # noqa: E402  pylint: disable=C0413
from vendor_case import VendorTest  # noqa: E402  pylint: disable=C0413

COMMANDS = (
    ["detect", "-o", "json"], ["write", "--dry-run", "-o", "json"],
    ["slices", "--node", "node1", "-o", "json"], ["files", "-o", "json"])
MORE_COMMANDS = (
    ["detect"], ["detect", "--visible-only"], ["write", "--dry-run"], ["files"],
    ["write", "--dry-run", "--profile", "graphics", "--ld-library-path"],
    ["write", "--dry-run", "--make-nodes"],
    *(["detect", "--kind", kind] for kind in (
        "management.nvidia.com/gpu", "nvidia.com/gds", "nvidia.com/mofed", "nvidia.com/gdrcopy",
        "nvidia.com/imex-channel", "nvidia.com/nvswitch")))
TREES_OF_MORE = list(node_trees.TREES) if os.environ.get("CDI_FULL") else ["nv2mig"]
IDS = {"nv2": 2, "nv2mig": 2, "mi300x-spx": 1, "mi300x-cpx": 1}  # of GPUs, in the trees
# Advice for a node without a driver, and for its archive.
WHERE_IS_IT = ("say where the driver is installed: --root, --driver-root or --library-search-path",
               "an archive has only what `record` found on the node: record it again there, with "
               "--driver-root or --library-search-path if the driver is elsewhere")
MEMORY = "/dev/shm"  # where making and removing many files is fast
UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class RecordTest(TreeTest):
    """Temporary files go to `self.temporary`, which must be empty after each command."""

    def setUp(self):
        super().setUp()
        memory = tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None)
        self.addCleanup(memory.cleanup)
        self.temporary = pathlib.Path(memory.name)
        self.archive = self.place / "node.tar"
        self.place_options = []

    def run_at(self, root, command, *arguments):
        done = subprocess.run(
            [self.program, command, "--root", str(root), *map(str, arguments)],
            capture_output=True, timeout=60, check=False,
            env={**os.environ, "TMPDIR": str(self.temporary)})
        self.assertEqual(os.listdir(self.temporary), [])
        return done

    def record(self, *arguments, root=None, code=0):
        done = self.run_at(root or self.root, "record", "-o", self.archive, *self.place_options,
                           *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr.decode()

    def seen(self, root, command, *arguments):
        """What a command says about a node, whose name it does not matter."""
        done = self.run_at(root, command, *self.place_options, *arguments)
        return (done.returncode, done.stdout.decode(),
                done.stderr.decode().replace(str(root), "ROOT").replace(*reversed(WHERE_IS_IT)))

    def check_same(self, *commands):
        for command in commands or COMMANDS:
            with self.subTest(command=command):
                self.assertEqual(self.seen(self.archive, *command), self.seen(self.root, *command))

    def entries(self):
        with tarfile.open(self.archive) as archive:
            return {entry.name: entry for entry in archive}

    def text(self, name):
        with tarfile.open(self.archive) as archive:
            return archive.extractfile(name).read()


class EveryTree(RecordTest):
    """Each of the nodes of the other tests."""

    def each_tree(self):
        for name, make in node_trees.TREES.items():
            with self.subTest(tree=name):
                shutil.rmtree(self.root, ignore_errors=True)
                make(str(self.root), False)
                yield name

    def test_says_the_same(self):
        for _ in self.each_tree():
            self.record()
            self.check_same()
            once = self.archive.read_bytes()
            self.record(root=self.archive)  # a recording of a recording
            self.assertEqual(self.archive.read_bytes(), once)

    def test_other_commands_say_the_same(self):
        for name in TREES_OF_MORE:
            node_trees.TREES[name](str(self.root), False)
            self.record()
            self.check_same(*MORE_COMMANDS)
            shutil.rmtree(self.root)

    def ids(self, root):
        vendors = json.loads(self.seen(root, "detect", "-o", "json")[1])["vendors"]
        return [gpu["id"] for vendor in vendors for gpu in vendor["gpus"]
                if vendor["kind"] in ("nvidia.com/gpu", "amd.com/gpu") and gpu["id"] != "all"]

    def test_says_the_same_but_for_hashed_names(self):
        for name in self.each_tree():
            self.record("--hash-names")
            old, new = self.ids(self.root), self.ids(self.archive)
            self.assertEqual(len(set(new)), len(old))
            self.assertEqual(len(old), IDS.get(name, 0))
            for command in COMMANDS:
                with self.subTest(command=command):
                    of_tree = self.seen(self.root, *command)
                    of_archive = self.seen(self.archive, *command)
                    self.assertEqual(without(new, of_archive), without(old, of_tree))
            packed = self.archive.read_bytes().lower()
            for one in (*old, str(node_trees.AMD_UNIQUE_ID), "15188982192727901047"):
                self.assertNotIn(one.lower().encode(), packed)


def without(ids, answer):
    """An answer with a number in the place of each id and of the time of boot."""
    code, *texts = answer
    for number, one in enumerate(ids):
        texts = [text.replace(one, f"ID{number}").replace(one.lower(), f"ID{number}")
                 for text in texts]
    return [code, *(UUID.sub("UUID", text) for text in texts)]


class Content(RecordTest):
    tree = "nv2mig"

    def test_nodes_links_and_modes(self):
        self.record()
        entries = self.entries()
        node = entries["dev/nvidia-caps/nvidia-cap147"]
        self.assertTrue(node.ischr())
        self.assertEqual((node.devmajor, node.devminor, node.mode), (236, 147, 0o444))
        self.assertEqual(entries["dev/dri/renderD128"].gid, node_trees.RENDER)
        link = entries["sys/bus/pci/devices/0000:17:00.0"]
        self.assertEqual(link.linkname, os.readlink(self.path(link.name)))
        self.assertEqual(entries["usr/bin/nvidia-smi"].mode, 0o755)
        self.assertTrue(entries["proc/driver/nvidia/capabilities/gpu0/mig"].isdir())
        self.assertTrue(all(entry.mtime == 0 for entry in entries.values()))

    def test_only_what_detection_reads_is_in_it(self):
        secrets = ("proc/1/environ", "proc/self/environ", "etc/shadow", "etc/hostname",
                   "proc/sys/kernel/hostname", "dev/mapper/secret-volume", "home/secret/key",
                   "usr/lib/x86_64-linux-gnu/libsecret.so.1", "usr/bin/secret",
                   "sys/bus/pci/devices/0000:17:00.0/secret", "etc/docker/daemon.json",
                   "var/run/cdi/secret.yaml", "etc/cdi-prepare.d/secret.key",
                   "proc/driver/nvidia/secret")
        for name in secrets:
            self.path(name).parent.mkdir(parents=True, exist_ok=True)
            self.path(name).write_text("PASSWORD=secret-text\n")
        for name in ("usr/bin/nvidia-smi", "etc/OpenCL/vendors/nvidia.icd",
                     f"usr/lib/x86_64-linux-gnu/libcuda.so.{node_trees.NVIDIA_DRIVER}"):
            with self.path(name).open("a", encoding="ascii") as file:
                file.write("more secret-text")
        self.record()
        self.assertNotIn(b"secret", self.archive.read_bytes())
        self.check_same()

    def test_cache_of_the_linker_has_only_libraries_of_the_driver(self):
        place = "/usr/lib/x86_64-linux-gnu"
        strings = b""
        rows = b""
        names = (b"libcuda.so.1", b"libnvidia-ml.so.1", b"libsecret.so.1")
        for name in names:
            path = f"{place}/".encode() + name
            offset = 48 + 24 * len(names) + len(strings)
            rows += struct.pack("=IIIIQ", 0x0303, offset, offset + len(name) + 1, 0, 0)
            strings += name + b"\0" + path + b"\0"
        header = struct.pack("=20sII20x", b"glibc-ld.so.cache1.1", len(names), len(strings))
        self.path("etc/ld.so.cache").write_bytes(header + rows + strings)
        self.path(f"{place}/libcuda.so.1").unlink()  # known from the cache only
        self.record()
        cache = self.text("etc/ld.so.cache")
        self.assertNotIn(b"secret", cache)
        if os.uname().machine == "x86_64":
            self.assertIn(b"libcuda.so.1\0", cache)
        self.check_same()

    def test_sockets_and_the_directory_of_mps(self):
        place = self.path("run/nvidia-persistenced/socket")
        place.parent.mkdir(parents=True)
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        where = os.getcwd()
        os.chdir(place.parent)  # the names of sockets are short
        server.bind("socket")
        os.chdir(where)
        self.path("tmp/nvidia-mps").mkdir(parents=True)
        self.record()
        self.assertTrue(self.entries()["run/nvidia-persistenced/socket"].isfifo())
        _, out, _ = self.seen(self.archive, "write", "--dry-run")
        self.assertIn("/run/nvidia-persistenced/socket", out)
        self.assertIn("/tmp/nvidia-mps", out)
        self.check_same()

    def test_links_out_and_in_circles(self):
        for name, target in (("libcuda.so.1", "../../../../../../../etc/passwd"),
                             ("libnvidia-ml.so.1", "libnvidia-ml.so.1")):
            link = self.path(f"usr/lib/x86_64-linux-gnu/{name}")
            link.unlink()
            link.symlink_to(target)
        self.record()
        self.check_same()

    def test_standard_output(self):
        self.record()
        done = self.run_at(self.root, "record")
        self.assertEqual((done.returncode, done.stdout), (0, self.archive.read_bytes()))

    def test_it_can_be_packed_again(self):
        self.record()
        with tarfile.open(self.archive) as old:
            entries = [(entry, entry.isreg() and old.extractfile(entry).read()) for entry in old]
        for form in (tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT, tarfile.PAX_FORMAT):
            with tarfile.open(self.archive, "w", format=form) as new:
                for entry, data in entries:
                    entry.pax_headers = {}
                    entry.name = "./" + entry.name.removeprefix("./")
                    new.addfile(entry, io.BytesIO(data or b""))
            self.check_same(["detect", "-o", "json"], ["write", "--dry-run"])

    def test_what_cannot_be_read_is_reported(self):
        os.chmod(self.path("proc/driver/nvidia/params"), 0)
        if os.geteuid() == 0:
            self.skipTest("root reads everything")
        self.assertIn("not recorded: /proc/driver/nvidia/params: Permission denied", self.record())


class Odd(RecordTest):
    """Nodes with files that no driver makes."""

    tree = "nv2mig"

    def test_links_without_end_and_other_types_of_files(self):
        place = self.path("usr/lib/x86_64-linux-gnu")
        for number in range(60):
            (place / f"chain{number}").symlink_to(f"chain{number + 1}")
        (place / "libcuda.so.1").unlink()
        (place / "libcuda.so.1").symlink_to("chain0")
        (place / "libnvidia-ml.so.1").unlink()
        os.mkfifo(place / "libnvidia-ml.so.1")
        with self.path("dev.tab").open("a", encoding="ascii") as table:
            table.write("/dev/nvidia7 b 195 7 0666 0 0\n")
        self.path("dev/nvidia7").touch()
        self.record()
        self.check_same()
        self.assertTrue(self.entries()["dev/nvidia7"].isblk())
        self.record(root=self.archive)
        self.check_same()

    def test_large_owners(self):
        with self.path("dev.tab").open("a", encoding="ascii") as table:
            table.write("/dev/nvidia7 c 195 7 0666 3000000 4000000\n")
        self.path("dev/nvidia7").touch()
        self.record()
        entry = self.entries()["dev/nvidia7"]
        self.assertEqual((entry.uid, entry.gid), (3000000, 4000000))
        self.record(root=self.archive)
        self.assertEqual(self.entries()["dev/nvidia7"].uid, 3000000)

    def test_output_that_cannot_be_written(self):
        self.archive.mkdir()
        done = self.run_at(self.root, "record", "-o", self.archive)
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(self.archive).encode(), done.stderr)
        self.archive.rmdir()
        missing = self.run_at(self.root, "record", "-o", self.archive / "node.tar")
        self.assertEqual(missing.returncode, 1)
        with open("/dev/full", "wb") as full:
            output = subprocess.run([self.program, "record", "--root", self.root], stdout=full,
                                    stderr=subprocess.PIPE, timeout=20, check=False)
        self.assertEqual(output.returncode, 1)
        for one in (done, missing, output):  # nothing is said to be recorded
            self.assertRegex(one.stderr.decode(), r"\Acdi-prepare: error: [^\n]*\n\Z")

    def test_only_a_regular_file_is_replaced(self):
        fifo, link = self.place / "fifo", self.place / "link"
        os.mkfifo(fifo)
        link.symlink_to("/dev/stdout")
        places = [fifo, link]
        if os.geteuid() == 0:
            node = self.place / "null"
            try:
                os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
                places.append(node)
            except PermissionError:
                pass  # a container without CAP_MKNOD
        for place in places:
            with self.subTest(place=place):
                before = os.lstat(place)
                done = self.run_at(self.root, "record", "-o", place)
                self.assertEqual((done.returncode, done.stdout), (1, b""))
                self.assertIn(f"{place}: not a regular file: name another file, or - for standard "
                              "output, with -o", done.stderr.decode())
                self.assertEqual((os.lstat(place).st_ino, os.lstat(place).st_mode),
                                 (before.st_ino, before.st_mode))

    def test_it_says_what_is_recorded(self):
        self.assertRegex(self.record(), r"\Acdi-prepare: recorded: devices \d+, files \d+, of ")

    def test_a_driver_that_was_not_recorded(self):
        for name in ("usr", "lib", "etc"):
            shutil.rmtree(self.path(name))
        self.record()
        self.check_same(["files"])
        for root, advice in zip((self.root, self.archive), WHERE_IS_IT):
            done = self.run_at(root, "files")
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertIn(f" is installed on this host: {advice}\n", done.stderr.decode())

    def test_a_terminal_gets_no_archive(self):
        ours, terminal = os.openpty()
        self.addCleanup(os.close, ours)
        done = subprocess.run([self.program, "record", "--root", self.root], stdout=terminal,
                              stderr=subprocess.PIPE, text=True, timeout=20, check=False)
        os.close(terminal)
        self.assertEqual(done.returncode, 2)
        self.assertIn("name a file with -o FILE.tar", done.stderr)


class FailingCalls(RecordTest):
    """Each call of a kind fails, or some."""

    tree = "nv2"

    def setUp(self):
        super().setUp()
        if FAULTS == "none":
            self.skipTest("calls cannot be made to fail with sanitizers or without glibc")

    def run_failing(self, calls, one_in, seed, *command, **more):
        done = subprocess.run(
            [self.program, *command], capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "TMPDIR": str(self.temporary), "LD_PRELOAD": FAULTS,
                 "FAULT_CALLS": calls, "FAULT_ONE_IN": str(one_in), "FAULT_SEED": str(seed), **more})
        self.assertIn(done.returncode, range(5), done.stderr)
        return done

    def test_an_archive_that_cannot_be_unpacked(self):
        self.record()
        for calls in ("process", "descriptor", "mkdir", "mode", "open", "read"):
            with self.subTest(calls=calls):
                done = self.run_failing(calls, 1, 1, "detect", "--root", self.archive)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(f"cannot read --root {self.archive}: ", done.stderr)
                shutil.rmtree(self.temporary)  # what could not be removed either
                self.temporary.mkdir()

    def test_an_empty_place_for_temporary_files_is_the_usual_one(self):
        self.record()
        done = self.run_failing("process", 1, 1, "detect", "--root", self.archive, TMPDIR="")
        self.assertIn(": /tmp/cdi-prepare-", done.stderr)

    def test_names_are_not_hashed_without_randomness(self):
        done = self.run_failing("random", 1, 1, "record", "--root", self.root, "--hash-names")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("getrandom", done.stderr)

    def test_what_could_not_be_read_is_not_recorded(self):
        said = ""
        for calls in ("open", "read", "stat", "readlink"):
            for seed in range(5):
                self.archive.unlink(missing_ok=True)
                done = self.run_failing(calls, 40, seed, "record", "--root", self.root, "-o",
                                        self.archive)
                said += done.stderr
                if done.returncode == 0:
                    self.assertIn(self.run_at(self.archive, "detect").returncode, range(5))
        self.assertIn("not recorded: /", said)


class LongNames(RecordTest):
    """A GPU behind so many bridges that its files have paths of more than 100 bytes."""

    tree = "mi300x-cpx"

    def test_other_programs_read_it(self):
        self.record()
        names = list(self.entries())
        self.assertTrue(any(len(name) > 100 for name in names))
        for program in ("tar", "bsdtar"):
            if not shutil.which(program):
                continue
            done = subprocess.run([program, "-tf", self.archive], capture_output=True, text=True,
                                  check=True)
            self.assertEqual([name.rstrip("/") for name in done.stdout.splitlines()], names)
            self.assertEqual(done.stderr, "")


class DriverRoot(RecordTest):
    tree = "nv2"

    def test_links_are_those_of_the_driver(self):
        driver = self.path("run/nvidia/driver")
        driver.mkdir(parents=True)
        for name in ("usr", "lib", "etc"):
            shutil.move(self.path(name), driver / name)
        shutil.move(driver / "usr/lib", driver / "moved")
        (driver / "usr/lib").symlink_to("/moved")  # of the driver, not of the host
        self.place_options = ["--driver-root", "/run/nvidia/driver"]
        self.record()
        self.assertIn("run/nvidia/driver/moved/x86_64-linux-gnu/libcuda.so.570.195.03",
                      self.entries())
        self.check_same(["detect", "-o", "json"], ["write", "--dry-run"], ["files"])


class Vendors(VendorTest, RecordTest):
    """Devices with a serial number in sysfs, which is one of their names."""

    serials = ("TT-0012A", "0x7f3a0099")

    def setUp(self):
        super().setUp()
        for index, serial in enumerate(self.serials):
            self.add_node(f"/dev/npu{index}", self.pci_device(index + 1), serial_number=serial,
                          status="ok")
        self.finish()
        text = ('kind = "acme.com/npu"\ndevices = "/dev/npu*"\nhealth = {attribute = "status", '
                'good = "ok"}\naliases = "sn-{attribute:serial_number}"\n')
        self.path("usr/share").mkdir(parents=True)
        self.path("usr/share/npu.toml").write_text(text)
        self.path("etc/cdi-prepare.d").mkdir(parents=True)
        self.path("etc/cdi-prepare.d/npu.toml").symlink_to("/usr/share/npu.toml")

    def test_says_the_same(self):
        self.record()
        self.check_same(["detect"], ["detect", "-o", "json"], ["write", "--dry-run"])

    def test_serial_numbers_are_hashed(self):
        self.record("--hash-names")
        packed = self.archive.read_bytes()
        for serial in self.serials:
            self.assertNotIn(serial.encode(), packed)
        out = self.seen(self.archive, "detect")[1]
        names = sorted(set(re.findall("sn-([0-9a-f-]*[0-9a-f]{4}[0-9a-fx]*)", out)))
        self.assertEqual(len(names), 2, out)
        for name in names:
            out = out.replace(name, "SN")
        old = self.seen(self.root, "detect")[1]
        for serial in self.serials:
            old = old.replace(serial, "SN")
        self.assertEqual(out, old)


class Changes(RecordTest):
    """What writes to the node fails; what writes elsewhere does not."""

    tree = "nv2"

    def setUp(self):
        super().setUp()
        self.record()

    def test_needs_directories_elsewhere(self):
        for command in (["write"], ["write", "--make-nodes", "--output-dir", "out"],
                        ["prepare", "--claim", "a", "--device", "0"],
                        ["unprepare", "--claim", "a"]):
            with self.subTest(command=command):
                done = self.run_at(self.archive, *command)
                self.assertEqual(done.returncode, 1, done)
                self.assertIn(b"the files of the archive", done.stderr + done.stdout)
        done = self.run_at(self.archive, "watch", "--output-dir", self.place)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(b"an archive never changes", done.stderr)

    def test_has_neither_specs_nor_engines(self):
        for command in (["configure", "podman"], ["doctor"], ["doctor", "-o", "json"]):
            with self.subTest(command=command):
                done = self.run_at(self.archive, *command)
                self.assertEqual((done.returncode, done.stdout), (2, b""), done)
                self.assertIn(b"an archive has neither specs nor engines", done.stderr)
                self.assertIn(f"`cdi-prepare detect --root {self.archive}`".encode(), done.stderr)

    def test_help_of_commands_that_take_none_names_none(self):
        for command in ("detect", "write", "check", "doctor", "watch", "configure"):
            with self.subTest(command=command):
                done = subprocess.run([self.program, command, "--help"], capture_output=True,
                                      text=True, check=True)
                takes_one = command in ("detect", "write", "check")
                self.assertEqual("or an archive" in " ".join(done.stdout.split()), takes_one)

    def test_specs_to_compare_with_are_elsewhere(self):
        out = self.place / "specs"
        for command in ("check", "diff"):
            done = self.run_at(self.archive, command)
            self.assertEqual((done.returncode, done.stdout), (2, b""), done)
            self.assertEqual(done.stderr.count(b"\n"), 1, done)
            self.assertIn(b"an archive has no specs to compare with: give their directory with "
                          b"--output-dir", done.stderr)
            self.assertIn(f"`cdi-prepare write --dry-run --root {self.archive}`".encode(),
                          done.stderr)
        self.run_at(self.archive, "write", "--output-dir", out)
        self.assertEqual(self.run_at(self.archive, "check", "--output-dir", out).returncode, 0)

    def test_write(self):
        specs = []
        for root, name in ((self.root, "tree"), (self.archive, "archive")):
            out = self.place / name
            done = self.run_at(root, "write", "--output-dir", out)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            specs.append((out / "nvidia.com-gpu.yaml").read_text())
            self.assertEqual(self.run_at(root, "check", "--output-dir", out).returncode, 0)
        self.assertEqual(*specs)

    def test_claims(self):
        places = ["--output-dir", self.place / "out", "--state-dir", self.place / "state"]
        done = self.run_at(self.archive, "prepare", "--claim", "a", "--device", "0", *places)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"nvidia.com/gpu=GPU-", self.run_at(self.archive, "list", *places).stdout)

    def test_advice_names_the_archive(self):
        done = self.run_at(self.archive, "detect", "--device", "7")
        self.assertIn(f"cdi-prepare detect --root {self.archive}".encode(), done.stderr)
        self.assertNotIn(str(self.temporary).encode(), done.stderr)


class Killed(RecordTest):
    tree = "nv2"

    def test_leaves_nothing(self):
        self.record()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signal=number):
                with subprocess.Popen(
                        [self.program, "detect", "--root", self.archive, "--wait", "60",
                         "--expect", "9"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                        env={**os.environ, "TMPDIR": str(self.temporary)}) as running:
                    self.wait_for(lambda: any(self.temporary.glob("*/dev.tab")))
                    running.send_signal(number)
                    self.assertEqual(running.wait(), -number)
                    self.assertEqual(running.stdout.read(), b"")
                self.wait_for(lambda: not os.listdir(self.temporary))

    def wait_for(self, what):
        end = time.monotonic() + 20
        while not what():
            self.assertLess(time.monotonic(), end, "waited in vain")
            time.sleep(0.01)


def header(name, kind=b"0", size=0, target="", size_field=None):
    """A header of ustar, which tarfile would not write."""
    field = size_field or b"%011o\0" % size
    text = name.encode().ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + field
    text += b"%011o\0" % 0 + b" " * 8 + kind + target.encode().ljust(100, b"\0")
    text = (text + b"ustar\00000").ljust(512, b"\0")
    return text[:148] + b"%06o\0 " % sum(text) + text[156:]


END = b"\0" * 1024


def pax(text):
    """A pax header with a record, or with another text."""
    if b"=" in text:
        size = len(text) + 2
        while len(b"%d %s\n" % (size, text)) != size:
            size += 1
        text = b"%d %s\n" % (size, text)
    return header("pax", b"x", len(text)) + text + b"\0" * (-len(text) % 512)


class Hostile(RecordTest):
    """Archives that nobody records. Each is refused with a reason, and leaves no file."""

    cases = {
        "no file": (b"", "neither a directory nor a tar archive"),
        "text": (b"hello" * 300, "neither a directory nor a tar archive"),
        "gzip": (b"\x1f\x8b" + b"a" * 600, "the archive is compressed: first run gunzip"),
        "only an end": (END, "the archive is empty"),
        "no end": (header("a"), "the archive ends too early"),
        "cut header": (header("a") + header("b")[:300], "the archive ends too early"),
        "cut file": (header("a", size=600) + b"x" * 512, "the archive ends too early"),
        "damaged": (header("a") + header("b")[:-1] + b"x" + END, "a header is damaged"),
        "large": (header("a", size=(8 << 30) - 1) + END, '"a" is larger than the archive can be'),
        "binary size": (header("a", size_field=b"\x80" + b"\x7f" * 11) + END, "is larger than"),
        "negative size": (header("a", size_field=b"\xff" * 12) + END, "is larger than"),
        "large pax": (header("a", b"x", size=(8 << 30) - 1) + END, "is larger than"),
        "size in pax": (pax(b"size=99") + header("a") + END, 'the pax record "size"'),
        "way out": (header("a/../../b") + END, "is not a path that a node can have"),
        "way out at once": (header("../b") + END, "is not a path that a node can have"),
        "way out in pax": (pax(b"path=../b") + header("a") + END, "is not a path"),
        "below a link": (header("a", b"2", target="/tmp") + header("a/b") + END,
                         '"/a/b" is below "/a", which is not a directory'),
        "below a later link": (header("a/b/c") + header("a", b"2", target="/") + END,
                               '"/a/b/c" is below "/a"'),
        "below a file": (header("a") + header("a/b") + END, 'is below "/a"'),
        "twice": (header("a") + header("./a") + END, '"/a" is in the archive twice'),
        "directory twice": (header("a/", b"5") + header("a", b"5") + END, "twice"),
        "hard link": (header("a") + header("b", b"1", target="a") + END, '"/b" has the type "1"'),
        "sparse": (header("a", b"S") + END, '"/a" has the type "S"'),
        "sparse in pax": (pax(b"GNU.sparse.major=1") + header("a") + END,
                          '"GNU.sparse.major"'),
        "damaged pax": (pax(b"99 path:a\n") + header("a") + END, "a pax header is damaged"),
        "empty record": (pax(b"0 ") + header("a") + END, "a pax header is damaged"),
        "link to nothing": (header("a", b"2") + END, "has no target"),
        "file for /": (header("/") + END, "a file in the place of /"),
        "no equals": (pax(b"9 path:a\n") + header("a") + END, "a pax header is damaged"),
        "zero in a name": (pax(b"path=a\0") + header("a") + END, "is not a path"),
        "long name": (pax(b"path=" + b"n" * 256) + header("a") + END,
                      "a name has more than 255 bytes"),
        "long path": (pax(b"path=" + b"n/" * 1000 + b"n") + header("a") + END,
                      "a path has more than 2000 bytes"),
        "long target": (pax(b"linkpath=" + b"n" * 2001) + header("a", b"2") + END, "no target"),
    }

    # Archives of other programs, whose only file is this GPU's class: what `detect` says of them.
    forms = {
        "before POSIX": header("a", b"\0") + END,
        "empty size": header("a", b"5", size_field=b"\0" * 12) + END,
        "top directory": header("./", b"5") + header("a") + END,
        "block device": header("dev/x", b"4") + END,
        "long names of GNU": header("@", b"L", 2) + b"a\0".ljust(512, b"\0") +
                             header("@", b"K", 3) + b"/b\0".ljust(512, b"\0") +
                             header("x", b"2", target="y") + END,
        "owner in pax": pax(b"uid=12") + pax(b"gid=3000000000") + header("a") + END,
        "table of a test": header("dev.tab", size=10) + b"/dev/x c 1".ljust(512, b"\0") + END,
    }

    def test_other_forms_are_read(self):
        for name, text in self.forms.items():
            with self.subTest(form=name):
                self.archive.write_bytes(text)
                done = self.run_at(self.archive, "detect")
                if "table" in name:
                    self.assertIn(b"not a row of a device table", done.stderr)
                    continue
                self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)
                self.assertIn(b"no GPU", done.stderr)

    def test_name_in_two_parts(self):
        """The prefix of ustar is the directory."""
        whole = bytearray(header("b"))
        whole[345:351] = b"proc/x"
        whole[148:156] = b" " * 8
        whole[148:156] = b"%06o\0 " % sum(whole)
        self.archive.write_bytes(bytes(whole) + header("proc/x/b") + END)
        self.refused('"/proc/x/b" is in the archive twice')

    def test_no_place_for_temporary_files(self):
        self.archive.write_bytes(header("a") + END)
        for place in (self.place / "nothing", "/proc"):
            done = subprocess.run([self.program, "detect", "--root", self.archive],
                                  capture_output=True, text=True, timeout=20, check=False,
                                  env={**os.environ, "TMPDIR": str(place)})
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(str(place), done.stderr)

    def refused(self, reason):
        done = self.run_at(self.archive, "detect")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertTrue(done.stderr.startswith(
            f"cdi-prepare: error: cannot read --root {self.archive}: ".encode()), done.stderr)
        self.assertIn(reason, done.stderr.decode())
        self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_are_refused(self):
        for name, (text, reason) in self.cases.items():
            with self.subTest(case=name):
                self.archive.write_bytes(text)
                self.refused(reason)

    def test_too_large(self):
        self.archive.touch()
        os.truncate(self.archive, (64 << 20) + 1)
        self.refused("the archive has more than 64 MiB")

    def test_too_many_files(self):
        headers = b"".join(header(str(number)) for number in range(100001))
        self.archive.write_bytes(headers + END)
        self.refused("the archive has more than 100000 files")

    def test_too_many_directories(self):
        """A file can be below hundreds that the archive does not name."""
        self.archive.write_bytes(b"".join(
            pax(f"path={number}{'/n' * 990}".encode()) + header("a") for number in range(102)
        ) + END)
        self.refused("the archive has more than 100000 directories")

    def test_not_a_file(self):
        os.mkfifo(self.archive)
        self.refused("neither a directory nor a tar archive")

    def test_device_with_a_space(self):
        self.archive.write_bytes(header("dev/a b", b"3") + END)
        self.refused("white space")

    def test_links_lead_nowhere_outside(self):
        """The files of a node of this machine are not read through links in the archive."""
        node_trees.TREES["nv2"](str(self.root), False)
        links = b"".join(header(name, b"2", target=str(self.root / name))
                         for name in ("sys", "proc", "dev", "usr"))
        up = b"".join(header(name, b"2", target=".." + "/.." * 20 + str(self.root / name))
                      for name in ("sys", "proc", "dev", "usr"))
        for archive in (links, up):
            self.archive.write_bytes(archive + END)
            done = self.run_at(self.archive, "detect")
            self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)
            self.assertIn(b"no GPU found", done.stderr)


del TreeTest, VendorTest

if __name__ == "__main__":
    FAULTS = os.path.abspath(sys.argv.pop(2)) if sys.argv[2] != "none" else sys.argv.pop(2)
    run_tests()
