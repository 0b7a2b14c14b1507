#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A recording of a node is read as the node.

usage: record_test.py CDI_PREPARE FAULTS [unittest options]
FAULTS is the library built from tests/faults/faults.cpp, or "none".
"""
import json
import os
import pathlib
import re
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile

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
MEMORY = "/dev/shm"  # where making and removing many files is fast
UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class RecordTest(TreeTest):
    def setUp(self):
        super().setUp()
        memory = tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None)
        self.addCleanup(memory.cleanup)
        self.copy = pathlib.Path(memory.name) / "copy"
        self.place_options = []

    def run_at(self, root, command, *arguments, **environment):
        return subprocess.run([self.program, command, "--root", root, *arguments],
                              capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, **environment})

    def record(self, *arguments, root=None, copy=None):
        """Records the node, in place of an earlier recording."""
        copy = copy or self.copy
        shutil.rmtree(copy, ignore_errors=True)
        done = self.run_at(root or self.root, "record", copy, *self.place_options, *arguments)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return done.stderr

    def seen(self, root, command, *arguments):
        """What a command says about a node, whose name does not matter."""
        done = self.run_at(root, command, *self.place_options, *arguments)
        return done.returncode, done.stdout, done.stderr.replace(str(root), "ROOT")

    def check_same(self, *commands):
        for command in commands or COMMANDS:
            with self.subTest(command=command):
                self.assertEqual(self.seen(self.copy, *command), self.seen(self.root, *command))

    def content(self, copy=None):
        """All names and texts of a recording."""
        out = {}
        for path in sorted((copy or self.copy).rglob("*")):
            name = str(path.relative_to(copy or self.copy))
            mode = path.lstat().st_mode
            out[name] = (stat.S_IFMT(mode), mode,
                         os.readlink(path) if path.is_symlink() else
                         path.read_bytes() if path.is_file() else b"")
        return out

    def device(self, path):
        """The row of a device node."""
        rows = [row.split() for row in (self.copy / "dev.tab").read_text().splitlines()]
        return {row[0]: row[1:] for row in rows}[path]


class EveryTree(RecordTest):
    """Each of the nodes of the other tests."""

    def each_tree(self):
        for name, make in node_trees.TREES.items():
            with self.subTest(tree=name):
                shutil.rmtree(self.root, ignore_errors=True)
                make(str(self.root), False)
                yield name

    def test_says_the_same(self):
        again = self.copy.with_name("again")
        for _ in self.each_tree():
            self.record()
            self.check_same()
            self.record(root=self.copy, copy=again)
            self.assertEqual(self.content(again), self.content())

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
            old, new = self.ids(self.root), self.ids(self.copy)
            self.assertEqual(len(set(new)), len(old))
            self.assertEqual(len(old), IDS.get(name, 0))
            for command in COMMANDS:
                with self.subTest(command=command):
                    of_tree = self.seen(self.root, *command)
                    of_copy = self.seen(self.copy, *command)
                    self.assertEqual(without(new, of_copy), without(old, of_tree))
            content = str(self.content()).lower()
            for one in (*old, str(node_trees.AMD_UNIQUE_ID), "15188982192727901047"):
                self.assertNotIn(one.lower(), content)


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
        self.assertEqual(self.device("/dev/nvidia-caps/nvidia-cap147"),
                         ["c", "236", "147", "0444", "0", "0"])
        self.assertEqual(self.device("/dev/dri/renderD128")[-1], str(node_trees.RENDER))
        link = "sys/bus/pci/devices/0000:17:00.0"
        self.assertEqual(os.readlink(self.copy / link), os.readlink(self.path(link)))
        self.assertEqual(stat.S_IMODE((self.copy / "usr/bin/nvidia-smi").stat().st_mode), 0o755)
        self.assertTrue((self.copy / "proc/driver/nvidia/capabilities/gpu0/mig").is_dir())
        self.assertEqual(stat.S_IMODE(self.copy.stat().st_mode), 0o700)

    def test_only_what_detection_reads_is_in_it(self):
        secrets = ("proc/1/environ", "proc/self/environ", "etc/shadow", "etc/hostname",
                   "proc/sys/kernel/hostname", "dev/mapper/secret-volume", "home/secret/key",
                   "usr/lib/x86_64-linux-gnu/libsecret.so.1", "usr/bin/secret",
                   "sys/bus/pci/devices/0000:17:00.0/secret", "etc/docker/daemon.json",
                   "var/run/cdi/secret.yaml", "etc/cdi-prepare.d/secret.key",
                   "proc/driver/nvidia/secret")
        for name in secrets:
            self.put(name, "PASSWORD=secret-text\n")
        for name in ("usr/bin/nvidia-smi", "etc/OpenCL/vendors/nvidia.icd",
                     f"usr/lib/x86_64-linux-gnu/libcuda.so.{node_trees.NVIDIA_DRIVER}"):
            with self.path(name).open("a", encoding="ascii") as file:
                file.write("more secret-text")
        self.record()
        self.assertNotIn("secret", str(self.content()))
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
        cache = (self.copy / "etc/ld.so.cache").read_bytes()
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
        self.assertTrue((self.copy / "run/nvidia-persistenced/socket").is_socket())
        _, out, _ = self.seen(self.copy, "write", "--dry-run")
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

    def test_what_cannot_be_read_is_reported(self):
        os.chmod(self.path("proc/driver/nvidia/params"), 0)
        if os.geteuid() == 0:
            self.skipTest("root reads everything")
        self.assertIn("not recorded: /proc/driver/nvidia/params", self.record())

    def test_links_without_end_and_other_types_of_files(self):
        place = self.path("usr/lib/x86_64-linux-gnu")
        for number in range(60):
            (place / f"chain{number}").symlink_to(f"chain{number + 1}")
        (place / "libcuda.so.1").unlink()
        (place / "libcuda.so.1").symlink_to("chain0")
        (place / "libnvidia-ml.so.1").unlink()
        os.mkfifo(place / "libnvidia-ml.so.1")
        with self.path("dev.tab").open("a", encoding="ascii") as table:
            table.write("/dev/nvidia7 b 195 7 0666 3000000 4000000\n")
        self.path("dev/nvidia7").touch()
        self.record()
        self.check_same()
        self.assertEqual(self.device("/dev/nvidia7"),
                         ["b", "195", "7", "0666", "3000000", "4000000"])

    def test_only_a_new_directory_is_written_to(self):
        link = self.place / "link"
        link.symlink_to(self.copy)
        for place in (self.place, link, self.copy / "missing/copy", "/dev/null"):
            with self.subTest(place=place):
                done = self.run_at(self.root, "record", place)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr,  # nothing is said to be recorded
                                 rf"\Acdi-prepare: error: {place}: [^\n]*\n\Z")
        self.assertFalse(self.copy.exists())

    def test_a_driver_that_was_not_recorded(self):
        for name in ("usr", "lib", "etc"):
            shutil.rmtree(self.path(name))
        self.record()
        self.check_same(["files"])

    def test_links_lead_nowhere_outside(self):
        """A recording whose links lead to the files of another node."""
        for target in (self.root, pathlib.Path(".." + "/.." * 20 + str(self.root))):
            shutil.rmtree(self.copy, ignore_errors=True)
            self.copy.mkdir()
            for name in ("sys", "proc", "dev", "usr"):
                (self.copy / name).symlink_to(target / name)
            done = self.run_at(self.copy, "detect")
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


class FailingCalls(RecordTest):
    """Each call of a kind fails, or some."""

    tree = "nv2"

    def setUp(self):
        super().setUp()
        if FAULTS == "none":
            self.skipTest("calls cannot be made to fail with sanitizers or without glibc")

    def run_failing(self, calls, one_in, seed, *arguments):
        shutil.rmtree(self.copy, ignore_errors=True)
        done = self.run_at(self.root, "record", self.copy, *arguments, LD_PRELOAD=FAULTS,
                           FAULT_CALLS=calls, FAULT_ONE_IN=str(one_in), FAULT_SEED=str(seed))
        self.assertIn(done.returncode, range(5), done.stderr)
        return done

    def test_names_are_not_hashed_without_randomness(self):
        done = self.run_failing("random", 1, 1, "--hash-names")
        self.assertEqual(done.returncode, 1)
        self.assertIn("getrandom", done.stderr)
        self.assertFalse(self.copy.exists())

    def test_what_cannot_be_written_is_an_error(self):
        for calls in ("write", "mkdir", "mode"):
            with self.subTest(calls=calls):
                done = self.run_failing(calls, 1, 1)
                self.assertEqual(done.returncode, 1)
                self.assertNotIn("recorded: ", done.stderr)

    def test_what_could_not_be_read_is_not_recorded(self):
        said = ""
        for calls in ("read", "stat", "readlink"):
            for seed in range(5):
                done = self.run_failing(calls, 40, seed)
                said += done.stderr
                if done.returncode == 0:
                    self.assertIn(self.run_at(self.copy, "detect").returncode, range(5))
        self.assertIn("not recorded: /", said)


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
        library = "run/nvidia/driver/moved/x86_64-linux-gnu/libcuda.so.570.195.03"
        self.assertTrue((self.copy / library).exists())
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
        for serial in self.serials:
            self.assertNotIn(serial, str(self.content()))
        out = self.seen(self.copy, "detect")[1]
        names = sorted(set(re.findall("sn-([0-9a-f-]*[0-9a-f]{4}[0-9a-fx]*)", out)))
        self.assertEqual(len(names), 2, out)
        for name in names:
            out = out.replace(name, "SN")
        old = self.seen(self.root, "detect")[1]
        for serial in self.serials:
            old = old.replace(serial, "SN")
        self.assertEqual(out, old)


del TreeTest, VendorTest

if __name__ == "__main__":
    FAULTS = os.path.abspath(sys.argv.pop(2)) if sys.argv[2] != "none" else sys.argv.pop(2)
    run_tests()
