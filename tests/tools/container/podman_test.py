#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Starts containers with the installed podman, with the specs that `cdi-prepare write` makes for it.

usage: podman_test.py CDI_PREPARE SAMPLE_NODE

Podman reads /etc/cdi and /var/run/cdi, and old versions have no option to read other directories.
The containers are therefore started in a new mount namespace, where both are empty. Needs root,
podman, runc and a static busybox; skips the tests, with the reason, if one is missing.
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

# Runs in the new mount namespace: puts a spec where podman reads it, and starts a container.
# Without --ulimit, podman would raise limits, which root may not be allowed to do.
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
    """The version that `podman --version` prints, for example 4.3.1."""
    done = subprocess.run(["podman", "--version"], text=True, capture_output=True, timeout=30,
                          check=True)
    return done.stdout.split()[2]


def remove_cgroups():
    """Removes the cgroups that podman leaves below --cgroup-parent."""
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
        """Starts a container, with the device of the spec if `spec` is not empty."""
        return subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", START,
                               "start", str(self.folder), spec, script],
                              text=True, timeout=60, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False)


def missing():
    """Why containers cannot be started; empty if they can."""
    if os.geteuid() != 0:
        return "needs root"
    for tool in ("podman", "runc", "busybox", "unshare"):
        if not shutil.which(tool):
            return f"needs {tool}"
    # A dynamically linked one would not find its libraries in the container.
    if b"/ld-linux" in pathlib.Path(shutil.which("busybox")).read_bytes():
        return "needs a static busybox (Debian: busybox-static)"
    with tempfile.TemporaryDirectory(prefix="cdi-podman-") as folder:
        try:
            done = Place(folder).run("", "true")
        except subprocess.SubprocessError as why:
            return f"podman cannot start containers on this machine: {why}"
        finally:
            remove_cgroups()
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["podman printed nothing"]
        return f"podman cannot start containers on this machine: {lines[-1]}"
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
        """Makes the node look as if it had this machine's podman."""
        for name in ("usr/bin", "var/lib/dpkg"):
            (self.node / name).mkdir(parents=True, exist_ok=True)
        (self.node / "usr/bin/podman").touch()
        (self.node / "var/lib/dpkg/status").write_text(
            f"Package: podman\nStatus: install ok installed\nVersion: {self.version}\n")

    def write(self, *options):
        """Writes the spec of the node, and returns its path and standard error."""
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

    def test_reads_specs_written_for_the_installed_podman(self):
        self.install()
        spec, _ = self.write()
        self.check(spec)

    def test_reads_specs_written_for_its_version(self):
        spec, _ = self.write("--for", f"podman@{self.version}")
        self.check(spec)

    def test_refuses_newer_specs(self):
        """Otherwise the other tests would prove nothing. A new podman reads all versions."""
        spec, _ = self.write()
        self.install()
        _, errors = self.write("--dry-run")
        if "specs are written in CDI" not in errors:
            self.skipTest(f"podman {self.version} reads specs of the newest version")
        done = self.start(spec)
        self.assertIn(f"unresolvable CDI devices {DEVICE}", done.stderr)

    def test_doctor_runs_podman_for_its_version(self):
        done = subprocess.run([PREPARE, "doctor"], text=True, capture_output=True, timeout=60,
                              check=False)
        if not any(os.path.exists(f"/usr/{folder}/podman")
                   for folder in ("local/sbin", "local/bin", "sbin", "bin")):
            self.skipTest("podman is not in a directory that services search")
        self.assertIn(f"podman {self.version}", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[3:]])
