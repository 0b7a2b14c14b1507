#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0
"""Starts containers with the podman that is installed, from what `cdi-prepare write` makes for it.

usage: podman_test.py CDI_PREPARE SAMPLE_NODE

Podman reads /etc/cdi and /var/run/cdi, and old ones cannot be told to read other directories. So
all is done in a mount namespace of its own, where both are empty. Needs root, podman, runc and a
static busybox; skips with the reason where one is missing.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PREPARE, SAMPLE_NODE = sys.argv[1:3]
CGROUP = f"cdi-podman-test-{os.getpid()}"
DEVICE = "nvidia.com/gpu=0"

# Runs below the private mounts: puts a spec where podman reads it, and starts a container.
# --ulimit: podman would raise limits that only the machine's own root may raise.
START = f"""
set -e
place=$1 spec=$2 script=$3
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /dev/shm
[ ! -d /etc/cdi ] || mount -t tmpfs tmpfs /etc/cdi
[ "$(readlink -f /var/run)" = /run ] || {{ echo "/var/run is not /run" >&2; exit 77; }}
mkdir /run/cdi
[ -z "$spec" ] || cp "$spec" /run/cdi/
[ -z "$spec" ] || set -- --device {DEVICE}
[ -n "$spec" ] || set --
exec podman --root "$place/storage" --runroot /run/podman --tmpdir /run/libpod \\
  --cgroup-manager cgroupfs --storage-driver vfs --events-backend none --runtime runc \\
  run --rm --network none --log-driver none --cgroup-parent {CGROUP} \\
  --ulimit nofile=256:256 --ulimit nproc=256:256 "$@" \\
  --rootfs "$place/rootfs" /bin/busybox sh -ec "$script"
"""


def version_of_podman():
    """The last word of `podman version 4.3.1`."""
    done = subprocess.run(["podman", "--version"], text=True, capture_output=True, timeout=30,
                          check=True)
    return done.stdout.split()[2]


def remove_cgroups():
    """Those that podman leaves below the parent it is given."""
    for parent in pathlib.Path("/sys/fs/cgroup").glob(f"**/{CGROUP}"):
        for folder, _, _ in os.walk(parent, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                pass


class Place:
    """A folder with a root for containers and podman's storage."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "rootfs/bin").mkdir(parents=True)
        shutil.copy(shutil.which("busybox"), self.folder / "rootfs/bin/busybox")

    def run(self, spec, script):
        """Starts a container with the device of a spec; without a device when there is no spec."""
        return subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", START,
                               "start", str(self.folder), spec, script],
                              text=True, timeout=60, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False)


def missing():
    """Why no container can be started here; empty when one can."""
    if os.geteuid() != 0:
        return "needs root"
    for tool in ("podman", "runc", "busybox", "unshare"):
        if not shutil.which(tool):
            return f"needs {tool}"
    # Linked dynamically, it would find no libraries in a root of its own.
    if b"/ld-linux" in pathlib.Path(shutil.which("busybox")).read_bytes():
        return "needs a static busybox (Debian: busybox-static)"
    with tempfile.TemporaryDirectory(prefix="cdi-podman-") as folder:
        try:
            done = Place(folder).run("", "true")
        except subprocess.SubprocessError as why:
            return f"podman starts no containers on this machine: {why}"
        finally:
            remove_cgroups()
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["it says nothing"]
        return f"podman starts no containers on this machine: {lines[-1]}"
    return ""


MISSING = missing()


@unittest.skipIf(MISSING, MISSING)
class Podman(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="cdi-podman-")
        self.addCleanup(place.cleanup)
        self.addCleanup(remove_cgroups)
        self.place = Place(place.name)
        self.node = self.place.folder / "node"
        subprocess.run([SAMPLE_NODE, str(self.node)], check=True, timeout=30,
                       stdout=subprocess.DEVNULL)
        self.version = version_of_podman()

    def install(self):
        """Puts the podman of this machine on the node."""
        for name in ("usr/bin", "var/lib/dpkg"):
            (self.node / name).mkdir(parents=True, exist_ok=True)
        (self.node / "usr/bin/podman").touch()
        (self.node / "var/lib/dpkg/status").write_text(
            f"Package: podman\nStatus: install ok installed\nVersion: {self.version}\n")

    def write(self, *options):
        """The spec that is written on the node."""
        folder = self.place.folder / "cdi"
        done = subprocess.run([PREPARE, "write", "--root", str(self.node), "--output-dir",
                               str(folder), *options], text=True, capture_output=True, timeout=30,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return str(folder / "nvidia.com-gpu.yaml"), done.stderr

    def start(self, spec):
        return self.place.run(spec, """
/bin/busybox stat -c '%F %t:%T %a' /dev/nvidia0 /dev/nvidiactl
echo "$NVIDIA_VISIBLE_DEVICES"
""")

    def check(self, spec):
        done = self.start(spec)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(), ["character special file c3:0 666",
                                                    "character special file c3:ff 666", "void"])

    def test_what_is_written_for_it_it_reads(self):
        self.install()
        spec, _ = self.write()
        self.check(spec)

    def test_what_is_written_for_a_version_it_reads(self):
        spec, _ = self.write("--for", f"podman@{self.version}")
        self.check(spec)

    def test_what_is_newer_it_refuses(self):
        """Else the others would prove nothing. Newer ones read all there is."""
        spec, _ = self.write()
        self.install()
        _, said = self.write("--dry-run")
        if "specs are written in CDI" not in said:
            self.skipTest(f"podman {self.version} reads what is written for no engine")
        done = self.start(spec)
        self.assertIn(f"unresolvable CDI devices {DEVICE}", done.stderr)

    def test_its_program_is_asked(self):
        done = subprocess.run([PREPARE, "doctor"], text=True, capture_output=True, timeout=60,
                              check=False)
        if not any(os.path.exists(f"/usr/{folder}/podman")
                   for folder in ("local/sbin", "local/bin", "sbin", "bin")):
            self.skipTest("podman is where services do not look for it")
        self.assertIn(f"podman {self.version}", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[3:]])
