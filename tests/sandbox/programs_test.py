#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Programs in real containers find a driver that was injected with `--hooks replace`.

usage: programs_test.py CDI BWRAP_EXAMPLE

The driver is mounted in a directory that no linker searches, with hooks as nvidia-ctk writes them.
The judge (judge.c) prints what it finds; in each root and each program, that must be the same:
`FOUND`, but for the differences that `differences` lists. What cannot run here is skipped, with the
reason.
"""
import ctypes
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from roots import (COMPAT, FOLDER, GLIBC, LDCONFIG, Roots, build_library,  # noqa: E402
                   missing, run)
from sandboxes import USER, Bwrap, Chroot, Job, Lxc, Nspawn, Oci, Podman, Runsc  # noqa: E402

CDI, BWRAP_EXAMPLE = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
SANDBOXES = [Oci("runc"), Oci("crun"), Runsc(), Bwrap(BWRAP_EXAMPLE), Chroot(), Podman(), Nspawn(),
             Lxc()]
# A node that no runtime makes by itself.
OWN_NODE = next((path for path in ("/dev/kmsg", "/dev/mem", "/dev/fuse", "/dev/loop-control")
                 if os.path.exists(path)), None)
FOUND = {
    "libfakecuda.so.1": f"{FOLDER}/libfakecuda.so.1 570",
    "libfakecuda.so": f"{FOLDER}/libfakecuda.so 570",
    "libcuda.so.1": f"{FOLDER}/libcuda.so.1 570",
    "libcuda.so": f"{FOLDER}/libcuda.so 570",
    "/dev/gpu0": "1:3",
    "/dev/dri/card1": "1:5",
    "/dev/dri/by-path/gpu": "1:5",
    "GPU": "0",
    "LD_LIBRARY_PATH": "none",
    "root": "writable",
}
NODES = [key for key in FOUND if key.startswith("/dev/")]


def hook(*args):
    return {"hookName": "createContainer", "path": "/does/not/exist/nvidia-cdi-hook",
            "args": ["nvidia-cdi-hook", *args], "env": ["NVIDIA_CTK_DEBUG=false"]}


def spec_of(driver):
    """Two devices: gpu=0 has nodes of other names than on the host, gpu=own has not."""
    mounts = [{"hostPath": str(path), "containerPath": f"{FOLDER}/{path.name}",
               "options": ["ro", "nosuid", "nodev", "rbind", "rprivate"]}
              for path in sorted(driver.iterdir())]
    return {
        "cdiVersion": "0.6.0", "kind": "vendor.com/gpu",
        "devices": [
            {"name": "0", "containerEdits": {
                "env": ["GPU=0"],
                "deviceNodes": [{"path": "/dev/gpu0", "hostPath": "/dev/null"},
                                {"path": "/dev/dri/card1", "hostPath": "/dev/zero"}],
                "hooks": [hook("create-symlinks", "--link", "../card1::/dev/dri/by-path/gpu"),
                          hook("chmod", "--mode", "755", "--path", "/dev/dri")]}},
            {"name": "own", "containerEdits": {"env": ["GPU=0"],
                                               "deviceNodes": [{"path": OWN_NODE}]}}],
        "containerEdits": {
            "mounts": mounts,
            "hooks": [hook("create-symlinks",
                           "--link", f"libfakecuda.so.1::{FOLDER}/libfakecuda.so",
                           "--link", f"libcuda.so.1::{FOLDER}/libcuda.so"),
                      hook("enable-cuda-compat", "--host-driver-version=570.1"),
                      hook("update-ldcache", "--folder", FOLDER),
                      hook("disable-device-node-modification")]}}


# --- roots ---

def plain(_root, _roots):
    """The files of the template."""


def without_cache(root, _roots):
    """A "distroless" image: glibc finds its own libraries in its default directories."""
    (root / "etc/ld.so.cache").unlink()


def with_compat(root, _roots):
    """An image with a CUDA compatibility library that is newer than the driver."""
    folder = root / COMPAT.lstrip("/")
    build_library(GLIBC, folder, "cuda", "580.2")
    (folder / "libcuda.so.1").symlink_to("libcuda.so.580.2")
    (folder / "libcuda.so").symlink_to("libcuda.so.1")


def with_old_links(root, _roots):
    """An image that was made with an older driver, parts of which are still there."""
    folder = root / FOLDER.lstrip("/")
    build_library(GLIBC, folder, "cuda", "470.1")
    (folder / "libcuda.so.1").symlink_to("libcuda.so.470.1")
    (folder / "libcuda.so").symlink_to("libcuda.so.1")
    (folder / "libfakecuda.so.1").symlink_to("libfakecuda.so.470.1")  # which is not there
    (root / "etc/ld.so.conf").write_text(FOLDER + "\n")
    run(LDCONFIG, "-r", root)


def make_victim(roots):
    """A directory of the host: a cache and linkers that no container may see."""
    victim = roots.folder / "victim"
    if not victim.exists():
        victim.mkdir()
        bad = roots.folder / "bad"
        shutil.copytree(roots.templates["glibc"], bad, symlinks=True)
        build_library(GLIBC, bad / "usr/lib", "victim", "1.1")
        run(LDCONFIG, "-r", bad)
        shutil.copy(bad / "etc/ld.so.cache", victim)
        assert b"libvictim" in (victim / "ld.so.cache").read_bytes()
        (victim / "ld-musl-victim.so.1").write_text("")
        (victim / "ld-musl-victim.path").write_text("/victim\n")
    return victim


def link(root, path, target):
    """Replaces a path of a root by a link."""
    place = root / path
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink()
    place.symlink_to(target)


def with_cache_outside(root, roots):
    link(root, "etc/ld.so.cache", make_victim(roots) / "ld.so.cache")


def with_etc_outside(root, roots):
    link(root, "etc", "../" * 30 + str(make_victim(roots))[1:])


def with_lib_outside(root, roots):
    link(root, "lib", make_victim(roots))


# The template of each root, what is changed in it, and whether it is read-only.
ROOTS = {
    "glibc": ("glibc", plain, False),
    "glibc_read_only": ("glibc", plain, True),
    "distroless": ("glibc", without_cache, False),
    "distroless_read_only": ("glibc", without_cache, True),
    "musl": ("musl", plain, False),
    "musl_read_only": ("musl", plain, True),
    "compat": ("glibc", with_compat, False),
    "old_links": ("glibc", with_old_links, False),
    "cache_outside": ("glibc", with_cache_outside, False),
    "etc_outside": ("glibc", with_etc_outside, False),
    "lib_outside": ("glibc", with_lib_outside, False),
}


def differences(root, sandbox, job):
    """What a judge finds, other than in `FOUND`."""
    out = {}
    if job.read_only:
        out["root"] = "read-only"
    if sandbox.name == "bwrap":
        # The example knows no image: a variable does what the linker's cache does elsewhere.
        out["LD_LIBRARY_PATH"] = FOLDER
    elif not job.has_files:
        # Its mount point cannot be made in a root that is already read-only.
        out["LD_LIBRARY_PATH"] = FOLDER
    elif root in ("cache_outside", "etc_outside"):
        # A link that leads nowhere in the image: crun and lxc fail to mount there.
        out["LD_LIBRARY_PATH"] = FOLDER
    elif root == "compat":
        out["libcuda.so.1"] = f"{COMPAT}/libcuda.so.580.2 580"  # links do not matter for a cache
        out["libcuda.so"] = f"{COMPAT}/libcuda.so 580"
    if job.device == "own":
        # In a user namespace, runc and crun bind the host's node of the same path; a node of
        # another path is not there.
        out |= {node: None for node in NODES}
        info = os.stat(OWN_NODE)
        out[OWN_NODE] = f"{os.major(info.st_rdev)}:{os.minor(info.st_rdev)}"
    return out


class Watch:
    """Notices each use of a directory of the host and its files."""
    OPENED_OR_CHANGED = 0xfef  # all events of inotify(7) but IN_CLOSE_NOWRITE

    def __init__(self, folder):
        libc = ctypes.CDLL(None)
        self.events = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if libc.inotify_add_watch(self.events, os.fsencode(folder), self.OPENED_OR_CHANGED) < 0:
            raise unittest.SkipTest("inotify cannot be used")

    def close(self):
        """Returns the events since the start."""
        try:
            return os.read(self.events, 4096)
        except BlockingIOError:
            return b""
        finally:
            os.close(self.events)


class Programs(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        why = missing()
        if why:
            raise unittest.SkipTest(why)
        folder = tempfile.TemporaryDirectory(prefix="cdi-programs-")
        cls.addClassCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        cls.roots = Roots(folder.name)
        cls.tried = {}

    def job(self, name, template, change, **more):
        place = self.roots.folder / name
        place.mkdir()
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        root = self.roots.copy(template, place / "rootfs")
        change(root, self.roots)
        for folder in ("specs", "state", "run"):
            (place / folder).mkdir()
        (place / "specs/gpu.json").write_text(json.dumps(spec_of(self.roots.drivers[template])))
        job = Job(place, CDI, **more)
        if job.is_user and os.geteuid() == 0:
            run("chown", "-Rh", f"{USER}:{USER}", place)
        return job

    def need(self, sandbox, template, is_user):
        """Skips a test if its root or program cannot be had here: one is tried without devices."""
        if template not in self.roots.templates:
            self.skipTest("needs musl-gcc (Debian: musl-tools)")
        key = f"{sandbox.name} of a user" if is_user else sandbox.name
        if key not in self.tried:
            self.tried[key] = sandbox.why_not(is_user)
            if not self.tried[key]:
                self.tried[key] = self.why_not(sandbox, is_user)
                print(f"{key}: {self.tried[key] or sandbox.version()}", flush=True)
        if self.tried[key]:
            self.skipTest(self.tried[key])

    def why_not(self, sandbox, is_user):
        job = self.job(f"try-{sandbox.name}-{is_user}", "glibc", plain, is_user=is_user,
                       device=None)
        try:
            job.run("test", "-x", CDI, "-a", "-x", BWRAP_EXAMPLE)
        except AssertionError:
            return f"an ordinary user may not run {CDI}"
        try:
            sandbox.start(job)
        except AssertionError as error:
            return f"{sandbox.name} cannot start containers here: {error}".splitlines()[0]
        return ""

    def check(self, root, sandbox, is_user):
        template, change, read_only = ROOTS[root]
        self.need(sandbox, template, is_user)
        if root.endswith("_outside") and sandbox.name == "chroot":
            self.skipTest("mount(8) itself follows the image's link to the host")
        if root == "old_links" and sandbox.name == "lxc":
            self.skipTest("lxc does not mount at a link")
        if root == "etc_outside" and sandbox.name == "podman":
            self.skipTest("podman itself needs the image's /etc")
        if root == "lib_outside" and not os.path.exists("/lib64/ld-linux-x86-64.so.2"):
            self.skipTest("the linker of this machine is in /lib")
        own = is_user and isinstance(sandbox, Oci)
        if own and OWN_NODE is None:
            self.skipTest("this machine has no node that a runtime could bind")
        job = self.job(f"{root}-{sandbox.name}-{is_user}", template, change, is_user=is_user,
                       read_only=read_only, device="own" if own else "0",
                       nodes=[OWN_NODE] if own else NODES,
                       has_files=not (read_only and sandbox.makes_mount_points_late))
        watch = Watch(make_victim(self.roots))
        found = dict(line.split(" ", 1) for line in sandbox.start(job).splitlines())
        expected = FOUND | differences(root, sandbox, job)
        self.assertEqual(found, {key: value for key, value in expected.items() if value})
        self.assertEqual(job.warnings, "")
        self.assertEqual(watch.close(), b"", "the victim on the host was used")

    def test_a_use_of_the_victim_is_noticed(self):
        victim = make_victim(self.roots)
        watch = Watch(victim)
        (victim / "ld.so.cache").read_bytes()
        self.assertNotEqual(watch.close(), b"")

    def check_read_only_mount(self, root, sandbox, variable):
        """A root in a read-only file system, in which no mount point can be made."""
        template, change, _ = ROOTS[root]
        self.need(sandbox, template, False)
        job = self.job(f"{root}-mount-{sandbox.name}", template, change, nodes=NODES,
                       mounts=[{"destination": "/opt", "type": "tmpfs", "source": "tmpfs"}])
        job.before = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" "$0" && '
                      'mount -o remount,bind,ro "$0" && exec "$@"', job.root]
        found = dict(line.split(" ", 1) for line in sandbox.start(job).splitlines())
        # crun makes its own mount of the root writable again, after it has made mount points.
        mode = "writable" if sandbox.name == "crun" else "read-only"
        self.assertEqual(found, FOUND | {"root": mode, "LD_LIBRARY_PATH": variable})

    def test_a_read_only_file_system(self):
        for sandbox in SANDBOXES[:2]:
            for root, variable in (("glibc", "none"), ("distroless", FOLDER), ("musl", FOLDER)):
                with self.subTest(sandbox=sandbox.name, root=root):
                    self.check_read_only_mount(root, sandbox, variable)


def add_tests():
    for root in ROOTS:
        for sandbox in SANDBOXES:
            for is_user in (False, True):
                def test(self, root=root, sandbox=sandbox, is_user=is_user):
                    self.check(root, sandbox, is_user)
                name = f"test_{root}_in_{sandbox.name}{'_of_a_user' if is_user else ''}"
                setattr(Programs, name.replace("-", "_"), test)


add_tests()

if __name__ == "__main__":
    unittest.main(verbosity=2)
