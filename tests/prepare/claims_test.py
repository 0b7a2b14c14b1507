#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Claims of cdi-prepare, also when it is killed: claims_test.py CDI_PREPARE KILL_AT [unittest
options]"""
import fcntl
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import stat
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import node_trees  # noqa: E402  pylint: disable=wrong-import-position
from tree_case import TreeTest, dri, paths  # noqa: E402  pylint: disable=wrong-import-position

KILL_AT = ""
KIND = "cdi-prepare.local/claim"
FIRST, SECOND = node_trees.NVIDIA_UUIDS
FIRST_PCI, SECOND_PCI = "0000:17:00.0", "0000:ca:00.0"
AMD_PCI = "0000:05:00.0"
UNKNOWN_UUID = "GPU-????????-????-????-????-????????????"
THIRD = "GPU-00000000-0000-0000-0000-000000000003"
PARTS = tuple(f"{SECOND}:gi{instance}:ci0" for instance in (1, 2))


def read_spec(path):
    return json.loads(path.read_text())


class ClaimTest(TreeTest):
    """Claims on a node of `tree`, with a journal in `self.state` and specs in `self.out`."""

    def setUp(self):
        super().setUp()
        self.state, self.out = self.place / "state", self.place / "out"

    def make_tree(self, name):
        """Makes another node of this one."""
        shutil.rmtree(self.root, ignore_errors=True)
        node_trees.TREES[name](str(self.root), False)

    def reboot(self):
        self.path("proc/sys/kernel/random/boot_id").write_text("another\n")

    def set_uuid(self, old, new, address=FIRST_PCI):
        place = self.path(f"proc/driver/nvidia/gpus/{address}/information")
        place.chmod(0o644)
        self.edit(str(place.relative_to(self.root)), old, new)

    def remove_gpu(self, address):
        """Takes a card out; what this gives puts it back."""
        moved = []
        for place in (self.path(f"sys/bus/pci/devices/{address}"),
                      self.path(f"proc/driver/nvidia/gpus/{address}")):
            place.rename(self.place / f"removed{len(moved)}")
            moved.append(place)

        def put_back():
            for number, place in enumerate(moved):
                (self.place / f"removed{number}").rename(place)
        return put_back

    # Running it.

    def arguments(self, command, *more, state=None, out=None):
        return [TreeTest.program, command, "--root", str(self.root),
                "--state-dir", str(state or self.state), "--output-dir", str(out or self.out),
                *more]

    def run_claims(self, command, *more, code=0, state=None, out=None, **how):
        done = subprocess.run(self.arguments(command, *more, state=state, out=out),
                              capture_output=True, text=True, timeout=60, check=False, **how)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.errors = done.stderr
        return done

    @staticmethod
    def asked(uid, devices):
        return ["--claim", uid, *itertools.chain.from_iterable(("--device", name)
                                                               for name in devices)]

    def prepare(self, uid, *devices, more=(), **how):
        """The devices that a claim is given, as the kubelet wants them."""
        done = self.run_claims("prepare", *self.asked(uid, devices), *more, **how)
        claim = json.loads(done.stdout)["claims"]
        self.assertEqual(list(claim), [uid])
        return claim[uid]["devices"]

    def refuse(self, uid, *devices, code=1, more=(), **how):
        """Why a claim is given nothing. That changes nothing."""
        before = self.snapshot()
        done = self.run_claims("prepare", *self.asked(uid, devices), *more, code=code, **how)
        self.assertEqual(self.snapshot(), before)
        claim = json.loads(done.stdout)["claims"]
        self.assertEqual((list(claim), list(claim[uid])), ([uid], ["error"]))
        self.assertIn(claim[uid]["error"], done.stderr)
        return claim[uid]["error"]

    def unprepare(self, uid, **how):
        done = self.run_claims("unprepare", "--claim", uid, **how)
        self.assertEqual(json.loads(done.stdout), {"claims": {uid: {}}})

    def list(self, code=0, **how):
        """The faults of the claims; both outputs name the same ones."""
        answer = self.run_claims("list", "-o", "json", code=code, **how).stdout
        claims = json.loads(answer)["claims"]
        text = self.run_claims("list", code=code, **how).stdout
        faults = {uid: claim["fault"] for uid, claim in claims.items()}
        for uid, fault in faults.items():
            self.assertIn(uid, text)
            self.assertEqual(f"fault: {uid}: {fault}" in text, fault is not None)
        return faults

    # Looking at what it has made.

    def spec_path(self, uid, out=None, kind=KIND):
        return (out or self.out) / f"{kind.replace('/', '-')}_{uid}.json"

    def journal(self, uid):
        return json.loads((self.state / f"{uid}.json").read_text())

    def claims(self):
        """The UIDs of the claims there are. Journal, specs and hardware agree on each."""
        names = sorted(os.listdir(self.state)) if self.state.exists() else []
        uids = [name.removesuffix(".json") for name in names if name != ".lock"]
        self.assertEqual([f"{uid}.json" for uid in uids] + [".lock"],
                         [name for name in names if name != ".lock"] + [".lock"])
        specs = sorted(os.listdir(self.out)) if self.out.exists() else []
        self.assertEqual(specs, sorted(self.spec_path(uid).name for uid in uids))
        for uid in uids:
            self.assertEqual(self.journal(uid)["phase"], "prepared")
            self.nodes(uid)
        for directory in (self.state, self.out):
            if directory.exists():
                self.assertEqual(stat.S_IMODE(directory.stat().st_mode), 0o755)
        return uids

    def nodes(self, uid):
        """The paths of the nodes of each device of a claim, by CDI device id. The journal
        and what the spec gives is the same, and is right for this node as it is now."""
        path, journal = self.spec_path(uid), self.journal(uid)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o644)
        self.assertTrue(stat.S_ISREG(path.lstat().st_mode))
        spec = read_spec(path)
        self.assertRegex(spec["cdiVersion"], r"^\d+\.\d+\.\d+$")
        names = [f"{uid}-{number}" for number in range(len(journal["devices"]))]
        self.assertEqual([device["name"] for device in spec["devices"]], names)
        self.check_nodes(spec.get("containerEdits", {}))
        for device in spec["devices"]:
            self.assertTrue(device["containerEdits"]["deviceNodes"])
            self.check_nodes(device["containerEdits"])
        return {f"{spec['kind']}={name}": nodes for name, nodes in self.devices(spec).items()}

    def snapshot(self):
        """All files, with values that change when they are written."""
        files = {}
        for directory in (self.state, self.out):
            for path in directory.iterdir() if directory.exists() else ():
                status = path.lstat()
                content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
                if path.name != ".lock":
                    files[path] = (status.st_ino, status.st_mtime_ns, content)
        return files


def id_of(uid, number=0):
    return f"{KIND}={uid}-{number}"


class Prepare(ClaimTest):
    tree = "nv2mig"

    def test_answer_is_what_a_driver_returns(self):
        uid = "5d0c2c9b-3a5e-4b70-9d3c-0123456789ab"
        devices = self.prepare(uid, f"nvidia.com/gpu={FIRST}@gpu", "1:gi1:ci0@part/small",
                               more=("--namespace", "team", "--name", "training"))
        self.assertEqual(devices, [
            {"request_names": ["gpu"], "asked": f"nvidia.com/gpu={FIRST}", "device_name": FIRST,
             "cdi_device_ids": [id_of(uid)]},
            {"request_names": ["part"], "asked": "1:gi1:ci0", "device_name": PARTS[0],
             "cdi_device_ids": [id_of(uid, 1)]}])
        self.assertEqual(self.claims(), [uid])
        self.assertEqual(self.nodes(uid), {
            id_of(uid): ["/dev/nvidia0", *dri(1, 128)],
            id_of(uid, 1): ["/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap147",
                                   "/dev/nvidia-caps/nvidia-cap148"]})
        shared = read_spec(self.spec_path(uid))["containerEdits"]
        self.assertIn("/dev/nvidia-uvm", paths(shared["deviceNodes"]))
        self.assertIn("/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                      [mount["containerPath"] for mount in shared["mounts"]])
        listed = json.loads(self.run_claims("list", "-o", "json").stdout)["claims"]
        self.assertEqual(listed, {uid: {"namespace": "team", "name": "training",
                                        "devices": devices, "fault": None}})

    def test_names_are_not_obeyed_by_a_terminal(self):
        self.prepare("a", "0", more=("--namespace", "\x1b]0;title\a\x7f",
                                     "--name", 'x "y" \\\nfault: b: forged'))
        listed = self.run_claims("list").stdout
        self.assertEqual(listed.splitlines()[0],
                         'a \\x1b]0;title\\x07\\x7f/x "y" \\\\nfault: b: forged')
        self.assertEqual(len(listed.splitlines()), 2)
        self.assertTrue(self.run_claims("list", "-o", "json").stdout.isascii())

    def test_without_request_it_is_for_all(self):
        self.assertEqual(self.prepare("a", "0")[0]["request_names"], [])

    def test_all_of_a_kind(self):
        names = [device["device_name"] for device in self.prepare("a", "nvidia.com/gpu=all@gpu")]
        self.assertEqual(names, [FIRST, *PARTS])

    def test_other_kind(self):
        devices = self.prepare("a", "0", more=("--kind", "example.com/gpu"))
        self.assertEqual(devices[0]["cdi_device_ids"], ["example.com/gpu=a-0"])
        spec = read_spec(self.spec_path("a", kind="example.com/gpu"))
        self.assertEqual(spec["kind"], "example.com/gpu")
        # The ids of a claim stay.
        self.assertEqual(self.prepare("a", "0"), devices)
        self.unprepare("a")
        self.assertEqual(os.listdir(self.out), [])

    def test_again_changes_nothing(self):
        devices = self.prepare("a", "0@x", "1:gi2:ci0@y")
        before = self.snapshot()
        for more in ((), ("--profile", "compute"), ("--kind", "example.com/gpu"),
                     ("--node-numbers", "asked"), ("--name", "other")):
            self.assertEqual(self.prepare("a", "0@x", "1:gi2:ci0@y", more=more), devices)
        names = (f"nvidia.com/gpu={PARTS[1]}@y", f"{FIRST_PCI}@x")  # in another order, too
        self.assertEqual(self.prepare("a", *names), devices)
        self.assertEqual(self.list(), {"a": None})
        self.assertEqual(self.snapshot(), before)

    def test_other_devices_for_the_same_claim(self):
        self.prepare("a", "0@x", "1:gi1:ci0@x")
        for other in (["0@x"], ["0@x", "1:gi2:ci0@x"], ["0@y", "1:gi1:ci0@x"], ["0", "1:gi1:ci0"],
                      ["0@x", "1:gi1:ci0@x", "1:gi2:ci0@x"]):
            self.assertIn("unprepare it first", self.refuse("a", *other))
        self.assertIn("asked for twice", self.refuse("a", "0@x", "0@x"))

    def test_no_device_twice_in_a_claim(self):
        for twice in (["0", "0"], ["0@x", f"{FIRST}@y"], ["all", "1:gi1:ci0"]):
            self.assertIn("asked for twice", self.refuse("a", *twice))
        self.assertEqual(self.claims(), [])

    def test_overlap(self):
        self.prepare("a", "0", "1:gi1:ci0")
        for name in ("0", FIRST, f"nvidia.com/gpu={FIRST}", FIRST_PCI, "nvidia.com/gpu=all",
                     "1:gi1:ci0", PARTS[0], f"{SECOND_PCI}:gi1:ci0"):
            self.assertIn("claim a has", self.refuse("b", name))
        self.assertEqual(self.refuse("b", "0"), f"device 0 is {FIRST}, which claim a has: "
                                                "unprepare claim a first")
        self.assertEqual(self.refuse("b", FIRST),
                         f"claim a has device {FIRST}: unprepare claim a first")
        self.prepare("b", "1:gi2:ci0")
        self.unprepare("a")
        self.prepare("c", FIRST_PCI, PARTS[0])
        self.assertEqual(self.claims(), ["b", "c"])

    def test_overlap_of_whole_and_partition(self):
        self.make_tree("nv2")
        self.prepare("a", "1")
        self.make_tree("nv2mig")
        self.assertIn(f"claim a has {SECOND}", self.refuse("b", "1:gi1:ci0"))
        self.assertIn("partitioned in another way", self.list(3)["a"])
        self.unprepare("a")
        self.prepare("b", "1:gi1:ci0")
        self.make_tree("nv2")
        self.assertIn(f"claim b has {PARTS[0]}", self.refuse("a", "1"))
        self.prepare("c", "0")

    def test_names_of_no_device(self):
        for name in ("2", "GPU-none", "amd.com/gpu=0", f"amd.com/gpu={FIRST}",
                     "amd.com/gpu=all"):
            self.assertIn("no GPU of this host has that name", self.refuse("a", name))
        self.assertIn("it is partitioned: take 1:gi1:ci0 or 1:gi2:ci0", self.refuse("a", "1"))
        self.assertEqual(self.claims(), [])

    def test_too_early(self):
        self.make_tree("mi300x-spx")
        self.remove_node("/dev/kfd")
        self.assertIn("/dev/kfd", self.refuse("a", "0", code=4))
        self.assertEqual(self.claims(), [])

    def test_only_plain_ids(self):
        for uid in ("", ".", "..", "../a", "a/b", "/a", ".a", "-a", "a-", "a b", "a_b", "a.b",
                    "a:b", "a\n", "ä", "a" * 57):
            for command, more in (("prepare", ("--device", "0")), ("unprepare", ())):
                with self.subTest(uid=uid, command=command):
                    self.run_claims(command, f"--claim={uid}", *more, code=2)
        for name in ("", "@x", "a b", "../a", "0@", "0@a b", "0@a@b", "0@/a", "0@ä",
                     "0@" + "a" * 128, "a/b/c=0"):
            with self.subTest(device=name):
                self.run_claims("prepare", "--claim", "a", f"--device={name}", code=2)
        for kind in ("", "a", "a/b/c", "../b"):
            self.run_claims("prepare", "--claim", "a", "--device", "0", f"--kind={kind}", code=2)
        self.assertEqual(sorted(os.listdir(self.place)), ["node"])
        self.prepare("A-" + "a" * 54, "0@" + "a" * 127)

    def test_other_options_later(self):
        """A claim stays what it is: its ids are in use."""
        devices = self.prepare("a", "0", more=("--profile", "compute"))
        before = self.spec_path("a").read_bytes()
        for more in ((), ("--kind", "example.com/claim", "--profile", "compute")):
            done = self.run_claims("prepare", "--claim", "a", "--device", "0", *more)
            self.assertIn("keeps the options that it was prepared with", done.stderr)
            self.assertEqual(json.loads(done.stdout)["claims"]["a"]["devices"], devices)
        self.assertEqual(self.spec_path("a").read_bytes(), before)

    def hooks(self, uid):
        """The hooks of the library cache, by device."""
        spec = read_spec(self.spec_path(uid))
        self.assertNotIn("hooks", spec.get("containerEdits", {}))
        return {device["name"]: [hook["args"][1]
                                 for hook in device["containerEdits"].get("hooks", [])
                                 if hook["args"][1] == "update-ldcache"]
                for device in spec["devices"]}

    def test_hooks_in_a_claim_of_several_kinds(self):
        """A container has the hooks once for each request of a kind."""
        shutil.rmtree(self.root)
        tree = node_trees.nvidia_tree(str(self.root), True)
        virtio = "/sys/devices/pci0000:00/0000:00:03.0"
        tree.pci(virtio, ("0x1af4", "0x1050"), "0x038000", "virtio-pci", numa=-1)
        tree.drm(virtio, 3, 130, "pci-0000:00:03.0")
        tree.done(False, node_trees.NVIDIA_MAJORS)
        self.path("usr/bin/nvidia-cdi-hook").write_text("update-ldcache")
        self.path("usr/bin/nvidia-cdi-hook").chmod(0o755)
        other, first, second, third = ("0000:00:03.0", FIRST, *PARTS)
        cache = ["update-ldcache"]
        for names, expected in [
                ((other, first, second, third), [[], cache, [], []]),
                ((f"{other}@o", f"{first}@a", f"{second}@b", f"{third}@b"),
                 [[], cache, cache, []]),
                ((f"{other}@o", f"{first}@a/x", second, f"{third}@b"), [[], [], cache, []])]:
            self.prepare("a", *names, more=("--hooks", "nvidia"))
            self.assertEqual(list(self.hooks("a").values()), expected)
            self.unprepare("a")

    def test_function_that_cannot_be_read(self):
        """An index never means another GPU."""
        self.make_tree("nv2")
        self.prepare("a", "1")
        (self.pci(FIRST_PCI) / "class").unlink()
        self.assertIn("the indexes of the GPUs after it are unknown", self.refuse("b", "0", code=4))
        self.assertEqual(self.list(), {"a": None})
        self.unprepare("a")
        self.refuse("b", "0", code=4)
        self.prepare("b", SECOND)

    def test_names_that_mean_another_gpu_now(self):
        self.make_tree("nv2")
        devices = self.prepare("a", "1@x")
        (self.pci(FIRST_PCI) / "class").write_text("0x040300\n")  # "1" is "0" now
        self.assertEqual(self.prepare("a", "1@x"), devices)
        self.refuse("a", "1@y")

    def test_limits_of_specs_are_reported(self):
        done = self.run_claims("prepare", "--claim", "a", "--device", "0", "--hooks", "nvidia",
                               "--max-version", "0.6.0")
        self.assertIn("no nvidia-cdi-hook is installed", done.stderr)
        self.assertIn("additionalGids", done.stderr)

    def test_older_engines(self):
        self.prepare("a", "0", more=("--max-version", "0.6.0"))
        self.assertEqual(read_spec(self.spec_path("a"))["cdiVersion"], "0.6.0")
        self.spec_path("a").unlink()
        self.run_claims("list")  # makes it again as it was
        self.assertEqual(read_spec(self.spec_path("a"))["cdiVersion"], "0.6.0")
        self.assertIn("give --max-version 0.6.0 or newer",
                      self.refuse("b", "1:gi1:ci0", more=("--max-version", "0.5.0")))

    def cdi_version(self, uid):
        return read_spec(self.spec_path(uid))["cdiVersion"]

    def test_the_oldest_engine_installed_decides(self):
        self.make_tree("nv2")
        self.install(podman="4.9.3+ds1-1", containerd="1.7.16-1")
        self.prepare("a", "0")
        self.assertIn("claim a: its spec is written in CDI 0.6.0, the newest release that podman "
                      "4.9.3 reads; --for or --max-version chooses another", self.errors)
        self.assertIn("claim a: additionalGids", self.errors)
        self.assertEqual(self.cdi_version("a"), "0.6.0")
        for more in (("--max-version", "1.1.0"), ("--for", "podman@6.0")):
            with self.subTest(more=more):
                self.prepare("b", "1", more=more)
                self.assertEqual((self.cdi_version("b"), self.errors), ("0.7.0", ""))
                self.unprepare("b")
        self.assertEqual(self.cdi_version("a"), "0.6.0")
        before = self.snapshot()
        self.prepare("a", "0")
        self.assertEqual((self.snapshot(), self.errors), (before, ""))

    def test_engines_given(self):
        for engines in (("podman@4.9.3", "docker@28.0"), ("docker@28.0", "podman@4.9.3")):
            more = [word for engine in engines for word in ("--for", engine)]
            self.prepare("a", "0", more=more)
            self.assertIn("the newest release that podman 4.9.3 reads", self.errors)
            self.assertEqual(self.cdi_version("a"), "0.6.0")
            self.install(podman="5.8.0-1")  # is another one than was asked for
            self.list()
            self.assertEqual(self.cdi_version("a"), "0.6.0")
            self.unprepare("a")
        for more in (("--for", "podman"), ("--for", "lxc@1"), ("--for", "podman@4.0"),
                     ("--for", "podman@4.9", "--max-version", "0.6.0")):
            self.run_claims("prepare", *self.asked("a", ["0"]), *more, code=2)

    def test_engines_that_need_nothing_older_change_nothing(self):
        self.prepare("a", "0")
        plain = self.spec_path("a").read_text()
        self.unprepare("a")
        self.install(podman="5.8.1-1")
        self.prepare("a", "0")
        self.assertEqual((self.spec_path("a").read_text(), self.errors), (plain, ""))

    def test_an_engine_too_old_for_claims(self):
        self.install(containerd="1.7.2-1")
        error = self.refuse("a", "0")
        self.assertIn("needs CDI 0.6.0, and containerd 1.7.2 reads only 0.5.0: update that engine", error)
        self.assertIn("podman 4.3.1 reads only 0.5.0",
                      self.refuse("a", "0", more=("--for", "podman@4.3.1")))
        self.assertEqual(self.claims(), [])
        self.prepare("a", "0", more=("--for", "podman@4.9.3"))
        self.assertEqual(self.list(), {"a": None})

    def test_claims_follow_engines(self):
        self.make_tree("nv2")
        self.prepare("a", "0")
        self.prepare("b", "1", more=("--max-version", "0.7.0"))
        self.assertEqual((self.cdi_version("a"), self.cdi_version("b")), ("0.7.0", "0.7.0"))
        self.install(podman="4.9.3-1")
        self.assertEqual(self.list(), {"a": None, "b": None})
        self.assertEqual((self.cdi_version("a"), self.cdi_version("b")), ("0.6.0", "0.7.0"))
        self.edit("var/lib/dpkg/status", "4.9.3", "4.3.1")
        faults = self.list(3)
        self.assertIn("podman 4.3.1 reads only 0.5.0", faults["a"])
        self.assertIsNone(faults["b"])
        self.assertEqual(self.cdi_version("a"), "0.6.0")  # stays for this boot
        self.edit("var/lib/dpkg/status", "4.3.1", "5.8.0")
        self.prepare("a", "0")
        self.assertEqual((self.cdi_version("a"), self.errors), ("0.7.0", ""))
        self.edit("var/lib/dpkg/status", "5.8.0", "4.3.1")
        self.unprepare("a")
        self.unprepare("b")
        self.assertEqual(self.claims(), [])

    def test_engines_of_unknown_version_are_reported_once(self):
        self.install(containerd="1.6.20~ds1-1")
        self.path("usr/bin/podman").touch()
        self.prepare("a", "0")
        self.assertIn("warning: containerd 1.6.20 is older than 1.7.0", self.errors)
        self.assertIn("warning: podman: its version is unknown", self.errors)
        self.prepare("a", "0")
        self.assertEqual(self.errors, "")
        self.list()
        self.assertEqual(self.errors, "")

    def test_a_version_that_is_unknown_for_a_moment(self):
        """The claim keeps the release that the engine could read."""
        self.install(podman="4.9.3-1")
        self.prepare("a", "0")
        before = self.spec_path("a").read_bytes()
        database = self.path("var/lib/dpkg/status")
        text = database.read_text()
        database.write_text("")
        for call in (self.list, lambda: self.prepare("a", "0"),
                     lambda: self.prepare("b", "1:gi1:ci0")):
            call()
            self.assertIn("warning: podman: its version is unknown", self.errors)
            self.assertEqual(self.spec_path("a").read_bytes(), before)
        self.spec_path("b").unlink()
        self.run_claims("list")
        self.assertIn("warning: podman: its version is unknown", self.errors)
        database.write_text(text)
        self.list()
        self.assertEqual((self.cdi_version("a"), self.errors), ("0.6.0", ""))
        self.edit("var/lib/dpkg/status", "4.9.3", "5.8.0")
        self.list()
        self.assertEqual(self.cdi_version("a"), "0.7.0")

    def test_a_version_that_is_unknown_after_a_boot(self):
        self.install(podman="4.9.3-1")
        self.prepare("a", "0")
        self.assertEqual(self.journal("a")["newest_release"], "0.6.0")
        self.path("var/lib/dpkg/status").write_text("")
        self.spec_path("a").unlink()  # as /var/run is empty then
        self.list()
        self.assertEqual(self.cdi_version("a"), "0.6.0")

    def test_a_version_that_was_always_unknown_limits_nothing(self):
        self.path("usr/bin/podman").parent.mkdir(parents=True, exist_ok=True)
        self.path("usr/bin/podman").touch()
        self.prepare("a", "0")
        self.assertEqual(self.journal("a")["newest_release"], "1.1.0")

    def test_what_the_profile_needs_is_missing(self):
        self.edit("proc/devices", "510 nvidia-uvm\n", "")
        done = self.run_claims("prepare", "--claim", "a", "--device", "0", code=4)
        self.assertIn("/dev/nvidia-uvm: its kernel module is not loaded", done.stdout)
        self.assertEqual(self.claims(), [])
        self.prepare("a", "0", more=("--profile", "graphics"))

    def test_an_optional_node_is_missing_where_the_host_is_asked(self):
        self.remove_node("/dev/nvidia-modeset")
        self.prepare("a", "0", more=("--node-numbers", "asked"))
        self.assertIn("warning: claim a: /dev/nvidia-modeset omitted: it does not exist",
                      self.errors)
        shared = read_spec(self.spec_path("a"))["containerEdits"]["deviceNodes"]
        self.assertEqual(paths(shared),
                         ["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"])
        self.assertEqual(self.list(), {"a": None})

    def test_a_kind_too_long_for_a_file(self):
        kind = "a" * 200 + ".b/" + "c" * 60
        self.assertIn("255 bytes", self.refuse("a", "0", more=("--kind", kind)))
        self.assertEqual(self.claims(), [])

    def test_never_empty_edits(self):
        for tree in node_trees.TREES:
            self.make_tree(tree)
            detected = json.loads(self.run_prepare("detect", "-o", "json").stdout)["vendors"]
            kinds = [vendor["kind"] for vendor in detected]
            self.assertTrue(kinds)
            for number, (kind, profile) in enumerate(itertools.product(
                    kinds, ("compute", "graphics", "video"))):
                with self.subTest(tree=tree, kind=kind, profile=profile):
                    done = subprocess.run(
                        self.arguments("prepare", *self.asked(f"a{number}", [f"{kind}=all"]),
                                       "--profile", profile),
                        capture_output=True, text=True, timeout=60, check=False)
                    if done.returncode != 0:
                        self.assertIn("no node for this --profile", done.stderr)
                        self.assertEqual(self.claims(), [])
                        continue
                    self.assertEqual(self.claims(), [f"a{number}"])
                    self.unprepare(f"a{number}")


class OtherVendors(ClaimTest):
    def test_group_and_iommufd_are_ways_to_one_gpu(self):
        self.make_tree("vfio")
        gpu = "0000:81:00.0"
        self.prepare("a", gpu)
        self.assertEqual(self.nodes("a"), {id_of("a"): ["/dev/vfio/42", "/dev/vfio/vfio"]})
        self.assertIn("claim a has", self.refuse("b", f"{gpu}-iommufd"))
        self.unprepare("a")
        self.prepare("b", f"vfio.local/gpu={gpu}-iommufd")
        self.assertEqual(self.nodes("b"), {id_of("b"): [
            "/dev/vfio/devices/vfio0", "/dev/vfio/devices/vfio1", "/dev/iommu"]})
        self.assertIn("claim b has", self.refuse("a", gpu))
        self.assertIn("asked for twice", self.refuse("b", gpu, f"{gpu}-iommufd"))

    def test_reason_why_a_gpu_is_left_out(self):
        self.make_tree("vfio")
        self.assertIn("IOMMU group 43 is not viable", self.refuse("a", "0000:82:00.0"))

    def test_one_iommu_group_is_for_one_claim(self):
        self.make_tree("vfio")
        second = "0000:82:00.0"
        group = self.path("sys/kernel/iommu_groups/42")
        (self.pci(second) / "iommu_group").unlink()
        (self.pci(second) / "iommu_group").symlink_to(group)
        (group / "devices" / second).symlink_to(self.pci(second))
        self.prepare("a", "0000:81:00.0")
        self.assertIn("claim a has", self.refuse("b", second))
        self.unprepare("a")
        self.prepare("b", "0000:81:00.0-iommufd", second)

    def test_a_function_of_a_gpu_that_another_claim_has(self):
        self.make_tree("intel-xe")
        card, function = "0000:03:00.0", "0000:03:00.1"
        away = self.place / "function"
        (self.pci(card) / "virtfn0").unlink()
        (self.pci(card) / "sriov_numvfs").write_text("0\n")
        self.pci(function).rename(away)
        self.prepare("a", card)
        away.rename(self.pci(function))
        (self.pci(card) / "virtfn0").symlink_to(f"../{function}")
        (self.pci(card) / "sriov_numvfs").write_text("1\n")
        self.assertEqual(self.refuse("b", function),
                         f"device {function} cannot be given while claim a has {card}: "
                         "unprepare claim a first")
        self.unprepare("a")
        self.prepare("b", function)

    def make_two_vendors(self, first="mi300x-spx", second="intel-accel"):
        self.make_tree(first)
        table, majors = (self.path(name).read_text() for name in ("dev.tab", "proc/devices"))
        node_trees.TREES[second](str(self.root), False)
        with open(self.path("dev.tab"), "a", encoding="ascii") as file:
            file.write(table)
        self.edit("proc/devices", "Character devices:\n", majors.partition("\nBlock")[0])

    def test_requests_of_two_kinds_have_nothing_of_each_other(self):
        self.make_two_vendors("nv2", "mi300x-spx")
        self.prepare("a", "nvidia.com/gpu=0@n", "nvidia.com/gpu=1@n", "amd.com/gpu=0@a")
        spec = read_spec(self.spec_path("a"))
        self.assertNotIn("containerEdits", spec)
        first, second, amd = (device["containerEdits"] for device in spec["devices"])
        for edits, minor in ((first, 0), (second, 1)):
            self.assertEqual({f"/dev/nvidia{minor}", "/dev/nvidiactl", "/dev/nvidia-uvm",
                              "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset",
                              *dri(1 + minor, 128 + minor)}, set(paths(edits["deviceNodes"])))
        self.assertEqual(first["mounts"], second["mounts"])
        self.assertEqual((paths(amd["deviceNodes"]), amd.get("mounts"), amd.get("env")),
                         (dri(1, 128) + ["/dev/kfd"], None, None))

    def test_too_early_only_when_waiting_helps(self):
        self.make_two_vendors()
        self.remove_node("/dev/kfd")
        self.prepare("a", "intel.com/npu=0")
        self.assertIn("claim a has", self.refuse("b", "intel.com/npu=0", code=1))
        self.assertIn("/dev/kfd", self.refuse("b", "amd.com/gpu=0", code=4))

    def test_too_early_by_the_fault_of_the_device(self):
        self.make_tree("nv2")
        self.remove_node("/dev/nvidia0")
        for name in ("0", FIRST, f"nvidia.com/gpu={FIRST}", "all"):
            with self.subTest(name=name):
                if name == "all":
                    self.remove_node("/dev/nvidia1")
                self.assertIn("/dev/nvidia", self.refuse("a", name, code=4))
        for name in ("2", THIRD, "amd.com/gpu=0"):
            self.assertIn("no GPU of this host has that name", self.refuse("a", name))
            self.refuse("a", FIRST, name, code=1)  # no time helps
        self.bind(FIRST_PCI, "pci-stub")  # by an administrator
        self.refuse("a", FIRST_PCI)

    def test_too_early_for_a_node_that_runtimes_ask_for(self):
        self.make_tree("nv2mig")
        self.remove_node("/dev/nvidia-caps/nvidia-cap148")
        asked = ("--node-numbers", "asked")
        for name in (PARTS[0], "all"):
            reason = self.refuse("a", name, code=4, more=asked)
            self.assertIn(f'device {PARTS[0]}: device node "/dev/nvidia-caps/nvidia-cap148" is '
                          "missing", reason)
        self.prepare("b", PARTS[1], more=asked)
        self.prepare("a", PARTS[0])

    def test_too_early_for_a_name(self):
        """A GPU that the driver does not know yet may have any id."""
        self.make_tree("nv2")
        self.path(f"proc/driver/nvidia/gpus/{FIRST_PCI}/information").unlink()
        self.refuse("a", FIRST, code=4)
        self.refuse("a", f"amd.com/gpu={FIRST}", code=1)

    def test_too_early_for_a_part(self):
        self.make_tree("nv2mig")
        instance = self.path("proc/driver/nvidia/capabilities/gpu1/mig/gi1/ci0")
        shutil.rmtree(instance)
        self.refuse("a", "1:gi1:ci0", code=4)
        for name in ("0:gi1:ci0", "1gi1", "11:gi1:ci0"):
            self.refuse("a", name, code=1)
        self.prepare("a", "1:gi2:ci0")

    def test_one_name_in_two_kinds(self):
        self.make_two_vendors()
        self.assertIn("put the kind and = before it", self.refuse("a", "0"))
        names = [device["device_name"]
                 for device in self.prepare("a", "amd.com/gpu=0", "intel.com/gaudi=0")]
        self.assertEqual(names, [f"{node_trees.AMD_UNIQUE_ID:x}", "0000:19:00.0"])
        self.assertEqual(self.claims(), ["a"])

    def test_partitions_made_again(self):
        self.make_tree("mi300x-cpx")
        part = f"{node_trees.AMD_UNIQUE_ID:x}-p3"
        self.prepare("a", "0-p3")
        self.prepare("b", "0-p4")
        self.make_tree("mi300x-spx")
        faults = self.list(3)
        self.assertEqual(list(faults), ["a", "b"])
        self.assertIn(f"device {part}: its GPU is now partitioned in another way", faults["a"])
        self.assertIn("has", self.refuse("c", "0"))
        self.make_tree("mi300x-cpx")
        self.assertEqual(self.list(), {"a": None, "b": None})

    def set_mode(self, old, new):
        self.edit(f"sys/bus/pci/devices/{AMD_PCI}/current_compute_partition", old, new)

    def test_partition_of_the_same_name_in_another_mode(self):
        self.make_tree("mi300x-cpx")
        devices = self.prepare("a", "0-p1")
        self.set_mode("CPX", "DPX")
        part = f"{node_trees.AMD_UNIQUE_ID:x}-p1"
        reason = (f"device {part}: its GPU is now partitioned in another way: it is DPX/NPS4, not "
                  "CPX/NPS4: undo that, or unprepare the claim")
        self.assertEqual(self.list(3), {"a": reason})
        self.assertEqual(self.refuse("a", "0-p1"), reason)
        self.set_mode("DPX", "CPX")
        self.assertEqual((self.prepare("a", "0-p1"), self.list()), (devices, {"a": None}))
        self.unprepare("a")

    def test_partition_whose_memory_mode_is_not_known_now(self):
        self.make_tree("mi300x-cpx")
        self.prepare("a", "0-p1")
        self.path(f"sys/bus/pci/devices/{AMD_PCI}/current_memory_partition").unlink()
        self.assertEqual(self.list(), {"a": None})
        for other in ("DPX", "CPX2"):
            self.set_mode("CPX", other)
            self.assertIn(f"it is {other}, not CPX/NPS4", self.list(3)["a"])
            self.set_mode(other, "CPX")

    def test_partition_whose_size_is_not_known_now(self):
        self.make_tree("nv2mig")
        self.prepare("a", "1:gi1:ci0")
        claim = self.journal("a")
        claim["devices"][0]["division"] = "2g.20gb"  # as with --nvml
        (self.state / "a.json").write_text(json.dumps(claim))
        self.assertEqual(self.list(), {"a": None})  # its spec is of this boot
        self.spec_path("a").unlink()
        fault = self.list(3)["a"]
        self.assertIn("whether it is still 2g.20gb is not known now", fault)
        self.assertFalse(self.spec_path("a").exists())
        (command,) = re.findall("`cdi-prepare (.*?)`", fault)
        self.assertEqual(command, f"prepare --root {self.root} --claim a --nvml --device "
                                  f"1:gi1:ci0 --state-dir {self.state}")
        done = subprocess.run(f"{TreeTest.program} {command}", shell=True, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)  # the node has no such library

    def test_partition_in_the_journal_of_an_earlier_version(self):
        self.make_tree("mi300x-cpx")
        devices = self.prepare("a", "0-p1")
        claim = self.journal("a")
        self.assertEqual(claim["devices"][0].pop("division"), "CPX/NPS4")
        (self.state / "a.json").write_text(json.dumps(claim))
        self.assertEqual((self.prepare("a", "0-p1"), self.list()), (devices, {"a": None}))
        self.assertEqual(self.journal("a")["devices"][0]["division"], "CPX/NPS4")


class Reconcile(ClaimTest):
    tree = "nv2"

    def change_uvm(self, major):
        """The effects of another boot, or of a reloaded driver."""
        self.edit("proc/devices", "510 nvidia-uvm", f"{major} nvidia-uvm")
        table = self.path("dev.tab").read_text()
        table = re.sub(r"(/dev/nvidia-uvm\S* c) \d+", rf"\1 {major}", table)
        self.path("dev.tab").write_text(table)

    def uvm_major(self, uid):
        nodes = read_spec(self.spec_path(uid))["containerEdits"]["deviceNodes"]
        return [node["major"] for node in nodes if node["path"] == "/dev/nvidia-uvm"]

    def test_spec_that_is_gone_or_damaged_is_made_again(self):
        devices = self.prepare("a", "0")
        path = self.spec_path("a")
        text = path.read_text()

        def edit():
            path.write_text(text.replace("/dev/nvidia0", "/dev/nvidia1"))
        for damage in (path.unlink, lambda: path.write_text(""), edit, lambda: path.chmod(0o600),
                       lambda: shutil.rmtree(self.out)):
            for repair in (lambda: self.assertEqual(self.prepare("a", "0"), devices),
                           lambda: self.assertEqual(self.list(), {"a": None}),
                           lambda: self.prepare("b", "1")):
                damage()
                repair()
                self.assertEqual(path.read_text(), text)
                self.unprepare("b")
                self.assertEqual(self.claims(), ["a"])

    def test_other_boot_has_other_numbers(self):
        devices = self.prepare("a", "0")
        self.assertEqual(self.uvm_major("a"), [510])
        for again in (lambda: self.assertEqual(self.prepare("a", "0"), devices), self.list):
            self.unprepare("a")
            self.make_tree("nv2")
            self.prepare("a", "0")
            self.reboot()
            self.change_uvm(499)
            shutil.rmtree(self.out)  # as /var/run is emptied
            again()
            self.assertEqual(self.uvm_major("a"), [499])
            self.assertEqual(self.claims(), ["a"])
            self.assertEqual(self.journal("a")["boot_id"], "another")
            before = self.snapshot()
            again()
            self.assertEqual(self.snapshot(), before)

    def test_driver_reloaded_in_the_same_boot(self):
        devices = self.prepare("a", "0")
        self.change_uvm(499)
        self.assertEqual(self.prepare("a", "0"), devices)
        self.assertEqual(self.uvm_major("a"), [499])

    def test_gpu_that_is_gone(self):
        devices = self.prepare("a", "0")
        text = self.spec_path("a").read_text()
        put_back = self.remove_gpu(FIRST_PCI)
        for _ in range(2):  # in the same boot the spec stays
            self.assertRegex(self.refuse("a", "0"), f"{FIRST}.*gone.*unprepare the claim")
            self.assertIn("gone from this host", self.list(3)["a"])
            self.assertEqual(self.spec_path("a").read_text(), text)
        self.prepare("b", SECOND)
        self.assertIn("warning: claim a: ", self.errors)
        self.unprepare("b")
        self.reboot()
        self.assertIn("gone from this host", self.list(3)["a"])
        self.assertEqual(os.listdir(self.out), [])
        self.assertIn("gone from this host", self.refuse("a", "0"))
        self.assertEqual(self.journal("a")["phase"], "prepared")
        put_back()
        self.assertEqual(self.prepare("a", FIRST), devices)
        self.assertEqual(self.spec_path("a").read_text(), text)
        self.assertEqual(self.claims(), ["a"])

    def test_gpu_that_is_lost(self):
        self.prepare("a", "0")
        self.remove_node("/dev/nvidia0")
        self.assertIn("/dev/nvidia0", self.list(3)["a"])
        self.assertTrue(self.spec_path("a").exists())
        self.reboot()
        self.assertIn("/dev/nvidia0", self.list(3)["a"])
        self.assertFalse(self.spec_path("a").exists())

    def test_nodes_of_a_lost_gpu_that_another_one_gets(self):
        """The next GPU of the driver has the number 0, which the spec of the claim gives."""
        devices = self.prepare("a", "0")
        text = self.spec_path("a").read_text()
        self.bind(FIRST_PCI, None)
        self.list(3)
        self.assertEqual(self.spec_path("a").read_text(), text)
        self.set_uuid("Device Minor: \t 1", "Device Minor: \t 0", SECOND_PCI)
        self.prepare("b", SECOND)
        self.assertFalse(self.spec_path("a").exists())
        self.assertIn("/dev/nvidia0", str(self.nodes("b")))
        self.set_uuid("Device Minor: \t 0", "Device Minor: \t 1", SECOND_PCI)
        (self.pci(FIRST_PCI) / "driver").symlink_to("../../../../bus/pci/drivers/nvidia")
        self.assertEqual(self.prepare("a", "0"), devices)
        self.assertEqual(self.spec_path("a").read_text(), text)
        self.assertEqual(self.claims(), ["a", "b"])

    def test_numbers_of_a_lost_gpu_that_another_node_gets(self):
        self.prepare("a", "0")
        self.bind(FIRST_PCI, None)
        path = self.spec_path("a")
        for node, kept in (("/dev/dri/by-hand", False), ("/dev/other", True)):
            with self.subTest(kept=kept):
                spec = read_spec(path)
                (device,) = spec["devices"]
                device["containerEdits"]["deviceNodes"] = [
                    {"path": node, "type": "c", "major": 226, "minor": 129 + 100 * kept}]
                path.write_text(json.dumps(spec))
                self.list(3)
                self.assertEqual(path.exists(), kept)
                path.write_text(json.dumps(spec))

    def test_vfio_itself_belongs_to_all_gpus(self):
        self.make_tree("vfio")
        self.prepare("a", "0000:81:00.0")
        self.bind("0000:82:00.1", None)  # now the second GPU can be handed out
        self.prepare("b", "0000:82:00.0")
        self.remove_node("/dev/vfio/42")
        self.remove_node("/dev/iommu")
        self.assertIn("a", self.list(3))
        self.assertTrue(self.spec_path("a").exists())

    def test_partition_of_a_gpu_that_is_lost(self):
        self.make_tree("nv2mig")
        self.prepare("a", "1:gi1:ci0")
        self.remove_node("/dev/nvidia1")
        self.assertIn("/dev/nvidia1", self.list(3)["a"])

    def test_host_that_does_not_say_which_boot_it_is(self):
        self.prepare("a", "0")
        before = self.snapshot()
        self.path("proc/sys/kernel/random/boot_id").unlink()
        self.assertEqual(self.list(), {"a": None})
        self.remove_gpu(FIRST_PCI)
        self.list(3)
        self.assertEqual(self.snapshot(), before)

    def test_another_gpu_at_the_place(self):
        """The numbers of the spec are those of a GPU that was never promised."""
        self.prepare("a", "0")
        self.set_uuid(FIRST, THIRD)
        self.assertRegex(self.refuse_after_list("a", "0"), f"{FIRST}.*gone.*{FIRST_PCI}.*{THIRD}")
        self.assertFalse(self.spec_path("a").exists())
        self.prepare("b", THIRD)
        self.set_uuid(THIRD, FIRST)
        self.assertEqual(list(self.list(3)), ["a", "b"])  # it is b's now that is gone

    def refuse_after_list(self, *asked):
        self.list(3)
        return self.refuse(*asked)

    def test_another_model_at_the_place_of_a_gpu_without_id(self):
        self.make_tree("intel-xe")
        self.prepare("a", "0000:00:02.0")
        (self.pci("0000:00:02.0") / "device").write_text("0x1234\n")
        self.assertIn("now another GPU", self.list(3)["a"])
        self.assertFalse(self.spec_path("a").exists())

    def test_gpus_that_change_places(self):
        devices = self.prepare("a", FIRST)
        self.set_uuid(FIRST, THIRD)
        self.set_uuid(SECOND, FIRST, SECOND_PCI)
        self.set_uuid(THIRD, SECOND)
        self.reboot()
        # Index 0 is another one now.
        self.assertIn("unprepare it first", self.refuse_after_reboot("a", "0"))
        self.assertEqual(self.prepare("a", FIRST), devices)
        self.assertEqual(self.nodes("a"), {id_of("a"): ["/dev/nvidia1",
                                                               *dri(2, 129)]})
        self.assertIn("claim a has", self.refuse("b", SECOND_PCI))
        # Nor is it forgotten while the driver does not tell the ids.
        for address, uuid in ((FIRST_PCI, SECOND), (SECOND_PCI, FIRST)):
            self.set_uuid(uuid, UNKNOWN_UUID, address)
        self.assertEqual(self.prepare("a", FIRST), devices)
        self.assertEqual(list(self.nodes("a").values()), [["/dev/nvidia1",
                                                           *dri(2, 129)]])
        self.prepare("b", FIRST_PCI)

    def refuse_after_reboot(self, *asked):
        self.assertEqual(self.list(), {"a": None})
        return self.refuse(*asked)

    def test_id_that_becomes_known_later(self):
        self.set_uuid(FIRST, UNKNOWN_UUID)
        devices = self.prepare("a", FIRST_PCI)
        self.assertEqual(devices[0]["device_name"], FIRST_PCI)
        self.set_uuid(UNKNOWN_UUID, FIRST)
        self.assertIn("claim a has", self.refuse_after_reboot("b", FIRST))
        for name in (FIRST, FIRST_PCI, "0"):
            self.assertEqual(self.prepare("a", name), devices)
        self.assertEqual(self.claims(), ["a"])
        self.assertEqual(self.journal("a")["devices"][0]["id"], FIRST)
        self.set_uuid(FIRST, THIRD)
        self.assertIn(f"at {FIRST_PCI} is now another GPU", self.list(3)["a"])

    def test_driver_that_was_changed(self):
        self.prepare("a", "0")
        (self.pci(FIRST_PCI) / "iommu_group").unlink(missing_ok=True)
        (self.pci(FIRST_PCI) / "iommu_group").symlink_to("../../../../kernel/iommu_groups/77")
        self.bind(FIRST_PCI, "vfio-pci")
        self.assertIn(f"now has the driver vfio-pci, and is vfio.local/gpu={FIRST_PCI}",
                      self.list(3)["a"])

    def test_orphans(self):
        self.prepare("a", "0")
        self.prepare("b", "1")
        foreign = self.out / "foreign.json"
        foreign.write_text('{"cdiVersion": "0.6.0", "kind": "a.com/b", "annotations": '
                           '{"cdi-publisher/owner": "another"}, "devices": []}')
        unowned = self.out / f"{KIND.replace('/', '-')}_c.json"
        unowned.write_text("cdiVersion: 0.6.0\nkind: a.com/c\ndevices: []\n")
        other = self.place / "other"
        self.prepare("x", "0", state=other)
        (self.state / "a.json").unlink()
        self.assertEqual(self.list(), {"b": None})
        self.assertEqual(sorted(os.listdir(self.out)), sorted(
            ["foreign.json", unowned.name, self.spec_path("b").name, self.spec_path("x").name]))
        # The same UID in two journals: neither takes the other's file.
        self.assertIn("records owner", self.refuse("x", "0"))
        self.unprepare("x")
        self.assertTrue(self.spec_path("x").exists())
        self.assertEqual(self.list(state=other), {"x": None})
        self.assertTrue(self.spec_path("b").exists())

    def test_spec_that_another_owner_has_replaced(self):
        self.prepare("a", "0")
        path = self.spec_path("a")
        path.write_text(path.read_text().replace("cdi-prepare claims", "other claims"))
        text = path.read_text()
        self.assertIn("records owner", self.list(3)["a"])
        self.unprepare("a")
        self.assertEqual(path.read_text(), text)
        self.assertEqual(os.listdir(self.state), [".lock"])

    def test_each_claim_keeps_its_directory_and_options(self):
        elsewhere = self.place / "elsewhere"
        self.prepare("a", "0", out=elsewhere, more=("--profile", "compute", "--ld-library-path",
                                                    "--node-numbers", "asked"))
        text = self.spec_path("a", elsewhere).read_text()
        self.assertIn("LD_LIBRARY_PATH=", text)
        self.spec_path("a", elsewhere).unlink()
        self.list()
        self.assertEqual(self.spec_path("a", elsewhere).read_text(), text)
        self.unprepare("a")
        self.assertEqual(os.listdir(elsewhere), [])

    def unreadable_journals(self):
        good = self.journal("a")

        def special():
            os.mkfifo(self.state / "a.json")
        yield special
        for text in ("", "{", "[]", "1", "{}", '{"version": 1}', '{"version": "1"}', "\xff",
                     json.dumps({**good, "uid": "b"}), json.dumps({**good, "devices": []}),
                     json.dumps({**good, "devices": [1]}), json.dumps({**good, "kind": "x"}),
                     json.dumps({**good, "phase": "x"}), json.dumps({**good, "holds": [""]}),
                     json.dumps({**good, "devices": [{**good["devices"][0], "name": "../x"}]}),
                     json.dumps({**good, "uid": 1}), "[" * 100000,
                     '{"version":' + "[" * 500000 + "]" * 500000 + "}",
                     '{"version": 1, "by_iommufd": ' + "[" * 500 + "]" * 500 + "}",
                     json.dumps({**good, "version": 2, "phase": "removing"})):
            yield lambda text=text: (self.state / "a.json").write_text(text, encoding="latin1")

    def test_journal_that_cannot_be_read(self):
        self.make_tree("other")
        self.prepare("a", "0")
        self.prepare("b", "1")
        for number, damage in enumerate(self.unreadable_journals()):
            with self.subTest(number=number):
                (self.state / "a.json").unlink()
                damage()
                before = self.snapshot()
                newer = b'"version": 2' in before[self.state / "a.json"][2]
                fault = "a newer cdi-prepare wrote it" if newer else "damaged"
                faults = self.list(3)
                self.assertRegex(faults["a"], rf"a\.json(:1:\d+)?: (it is )?{fault}")
                self.assertIn("unprepare the claim", faults["a"])
                self.assertIn(fault, self.refuse("a", "0"))
                self.prepare("b", "1")  # goes on
                # Nobody can tell which GPUs it has.
                self.assertIn("claim a could have it", self.refuse("c", "0"))
                self.assertEqual(self.snapshot(), before)
        (self.out / self.spec_path("b").name).rename(self.spec_path("orphan"))
        self.assertEqual(sorted(self.list(3)), ["a", "b"])
        self.assertFalse(self.spec_path("orphan").exists())
        self.unprepare("a")
        self.assertEqual(self.claims(), ["b"])
        self.prepare("c", "0")

    def test_files_in_the_journal_that_are_no_claims(self):
        self.prepare("a", "0")
        for name in ("notes.txt", ".b.json", "b.json.bak", "b_c.json", ".x.cdi-tmp"):
            (self.state / name).write_text("mine\n")
        abandoned = self.state / ".a.json.1234-0.cdi-tmp"
        abandoned.write_text("")
        self.assertEqual(self.list(), {"a": None})
        self.assertEqual(sorted(os.listdir(self.state)), sorted(
            [".lock", "a.json", "notes.txt", ".b.json", "b.json.bak", "b_c.json", ".x.cdi-tmp"]))


class Unprepare(ClaimTest):
    tree = "nv2"

    def test_the_unknown(self):
        for _ in range(2):
            self.unprepare("a")
        self.assertEqual(self.claims(), [])

    def test_twice(self):
        self.prepare("a", "0")
        self.prepare("b", "1")
        for _ in range(2):
            self.unprepare("a")
            self.assertEqual(self.claims(), ["b"])

    def test_without_any_hardware(self):
        self.prepare("a", "0")
        self.prepare("b", "1")
        before = self.snapshot()
        shutil.rmtree(self.root)
        self.root.mkdir()
        self.unprepare("unknown")
        self.assertEqual(self.snapshot(), before)
        self.unprepare("a")
        self.assertEqual(sorted(os.listdir(self.state)), [".lock", "b.json"])
        self.assertEqual(os.listdir(self.out), [self.spec_path("b").name])

    def test_spec_or_its_directory_gone(self):
        self.prepare("a", "0")
        shutil.rmtree(self.out)
        put_back = self.remove_gpu(FIRST_PCI)
        self.reboot()
        self.unprepare("a")
        put_back()
        self.assertEqual(self.claims(), [])

    def test_spec_that_cannot_be_removed_stays_a_claim(self):
        self.prepare("a", "0")
        self.prepare("b", "1", out=self.place / "elsewhere")
        shutil.rmtree(self.out)
        self.out.write_text("no directory")
        done = self.run_claims("unprepare", "--claim", "a", code=1)
        self.assertIn("Not a directory", done.stdout)
        self.assertIn("claim a has", self.refuse_only("c", "0"))
        self.assertIsNone(self.list(3)["b"])
        self.unprepare("b")  # is not to suffer for it
        self.unprepare("unknown")
        self.out.unlink()
        self.assertEqual(self.list(), {})

    def test_spec_of_a_damaged_journal_that_cannot_be_read(self):
        self.prepare("a", "0")
        path = self.spec_path("a")
        text = path.read_text()
        for lost in (False, True):  # an unreadable journal, or none
            with self.subTest(lost=lost):
                (self.state / "a.json").write_text("")
                path.write_text(text + " " * (16 << 20))
                fault = f"{path}: the file has more than 16777216 bytes"
                if lost:
                    (self.state / "a.json").unlink()
                else:
                    self.list(3)
                    self.assertEqual(self.errors.count(f"warning: {fault}"), 1)
                    self.assertIn("claim a could have it", self.refuse_only("c", "0"))
                for _ in range(2):
                    done = self.run_claims("unprepare", "--claim", "a", code=1)
                    self.assertIn(fault, json.loads(done.stdout)["claims"]["a"]["error"])
                    self.assertTrue(path.exists())
                    self.assertEqual((self.state / "a.json").exists(), not lost)
                path.unlink()
                self.unprepare("a")
                self.assertEqual(self.claims(), [])

    def test_damaged_journal_of_a_claim_with_another_directory(self):
        elsewhere = self.place / "elsewhere"
        path = self.state / "a.json"
        for number, damage in enumerate((lambda text: text.replace('"version": 1', '"version": 9'),
                                         lambda text: text[:text.index('"devices"')],
                                         lambda text: text.replace(" ", "").replace("uid", "x"))):
            with self.subTest(number=number):
                self.prepare("a", "0", out=elsewhere)
                text = path.read_text()
                path.write_text(damage(text))
                self.assertNotEqual(path.read_text(), text)
                self.assertIn("claim a could have it", self.refuse_only("b", "0"))
                self.unprepare("a")
                self.assertEqual((os.listdir(elsewhere), self.claims()), ([], []))

    def test_damaged_journal_that_names_no_directory_of_the_host(self):
        self.prepare("a", "0")
        (self.state / "a.json").write_text('{"output_dir": "/etc/passwd"}')
        self.unprepare("a")
        self.assertFalse(self.spec_path("a").exists())
        self.assertEqual(self.claims(), [])
        self.prepare("b", "0")

    def test_damaged_journal_that_does_not_name_the_directory(self):
        elsewhere = self.place / "elsewhere"
        for text in ("", '"output_dir"', '"output_dir":', '"output_dir": "', '"output_dir": 1, "/"',
                     '"output_dir": "relative"', '"output_dir": "/a/../b"', '"output_dir": "/a',
                     '"output_dir": "/a\\n"'):
            with self.subTest(text=text):
                self.prepare("a", "0", out=elsewhere)
                (self.state / "a.json").write_text(text)
                self.unprepare("a")
                self.assertIn(f"warning: claim a: its spec is not in {self.out}: if another "
                              f"directory has it, `cdi-prepare list --root {self.root} "
                              f"--state-dir {self.state}` with that directory as --output-dir "
                              "removes it", self.errors)
                self.list(out=elsewhere)
                self.assertEqual(os.listdir(elsewhere), [])

    def test_damaged_journal_where_the_specs_cannot_be_listed(self):
        self.prepare("a", "0")
        self.out.rename(self.place / "kept")
        self.out.write_text("no directory")
        (self.state / "a.json").write_text("")
        done = self.run_claims("unprepare", "--claim", "a", code=1)
        self.assertIn("Not a directory", done.stdout)
        self.out.unlink()
        (self.place / "kept").rename(self.out)
        self.unprepare("a")
        self.assertEqual(self.claims(), [])

    def refuse_only(self, *asked):
        return self.run_claims("prepare", *self.asked(asked[0], asked[1:]), code=1).stdout


class Directories(ClaimTest):
    tree = "other"

    def test_one_way_or_another_to_the_same_journal(self):
        devices = self.prepare("a", "0")
        link = self.place / "link"
        link.symlink_to("state")
        for state in (link, f"{self.state}/", f"{self.place}/./x/..//state"):
            self.assertEqual(self.prepare("a", "0", state=state), devices)
        before = self.snapshot()
        done = subprocess.run(
            [TreeTest.program, "list", "--root", "node", "--state-dir", "state", "--output-dir",
             "out", "-o", "json"], cwd=self.place, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(json.loads(done.stdout)["claims"]), ["a"])
        self.assertEqual(self.snapshot(), before)

    def test_not_the_directory_of_the_specs(self):
        for state in (self.out, f"{self.out}/"):
            error = self.refuse("a", "0", state=state)
            self.assertIn("take another --state-dir", error)
        self.assertFalse(self.out.exists())
        self.out.mkdir()
        (self.place / "link").symlink_to("out")
        self.assertIn("take another", self.refuse("a", "0", state=self.place / "link"))
        self.assertEqual(os.listdir(self.out), [])

    def test_state_that_cannot_be(self):
        self.state.write_text("")
        self.assertIn("Not a directory", self.refuse_in("a", self.state))
        self.assertIn("Not a directory", self.refuse_in("a", self.state / "x"))
        self.assertIn("in ASCII", self.refuse_in("a", self.place / "ä"))
        self.assertIn("in ASCII", self.refuse_in("a", self.place / ("a" * 200) / ("b" * 50)))
        loop = self.place / "loop"
        loop.symlink_to("loop")
        self.refuse_in("a", loop)
        busy = self.place / "busy"
        busy.mkdir(0o755)
        (busy / ".lock").symlink_to("x")
        self.assertIn("cannot open the lock", self.refuse_in("a", busy))
        self.assertFalse(self.out.exists())

    def refuse_in(self, uid, state):
        done = self.run_claims("prepare", "--claim", uid, "--device", "0", code=1, state=state)
        error = json.loads(done.stdout)["claims"][uid]["error"]
        self.run_claims("list", code=1, state=state)
        return error

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_directories_that_may_not_be_written(self):
        self.prepare("a", "0")
        for directory in (self.out, self.state):
            directory.chmod(0o555)
            self.refuse("b", "1")
            self.assertEqual(self.claims_of(), ["a"])
            directory.chmod(0o755)
        self.prepare("b", "1")

    def claims_of(self):
        return [name[:-5] for name in sorted(os.listdir(self.state)) if name.endswith(".json")]

    def test_specs_that_cannot_be_written(self):
        self.refuse("a", "0", out=pathlib.Path("/proc/cdi-prepare"))
        self.assertEqual(self.claims(), [])
        self.prepare("a", "0")

    def test_full_disk(self):
        def no_space():
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        # Python ignores SIGXFSZ: a write fails.
        full = {"preexec_fn": no_space, "restore_signals": False}
        self.assertIn("cannot write", self.refuse("a", "0", **full))
        self.assertEqual(self.claims(), [])
        self.prepare("a", "0")
        self.prepare("a", "0", **full)
        self.refuse("b", "1", **full)
        self.unprepare("a", **full)  # is what makes room
        self.assertEqual(self.claims(), [])

    def test_modes_whatever_the_umask(self):
        for umask in (0o000, 0o777):
            deep = self.place / f"{umask:o}"
            self.prepare("a", "0", state=deep / "x/state", out=deep / "y/out", umask=umask)
            for path, mode in (("", 0o755), ("x", 0o755), ("x/state", 0o755), ("y/out", 0o755),
                               ("x/state/a.json", 0o600),
                               ("y/out/" + self.spec_path("a").name, 0o644)):
                self.assertEqual(stat.S_IMODE((deep / path).stat().st_mode), mode, path)


class Doctor(ClaimTest):
    """What doctor says about claims. Each command that it advises is run."""

    tree = "nv2mig"

    def setUp(self):
        super().setUp()
        self.state, self.out = self.path("var/lib/cdi-prepare"), self.path("var/run/cdi")

    def doctor(self, *more):
        """The level, fact and advice of each finding about claims and specs. Changes nothing."""
        before = self.snapshot()
        done = self.run_prepare("doctor", "-o", "json", *more)
        self.assertEqual(done.stderr, "")
        self.assertEqual(self.snapshot(), before)
        return [(finding["level"], finding["what"], finding["advice"])
                for finding in json.loads(done.stdout)["findings"]
                if finding["about"] in ("claims", "specs", "GPUs")
                and "no spec for" not in finding["what"]]

    def obey(self, advice, code=0):
        """Runs the command of an advice, as a shell would."""
        command = advice.split("`")[1]
        self.assertTrue(command.startswith("cdi-prepare "), advice)
        done = subprocess.run(["sh", "-c", command.replace("cdi-prepare", TreeTest.program, 1)],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stderr)

    def only(self, fact, level="fault", *more):
        """The advice of the only finding."""
        found = self.doctor(*more)
        self.assertEqual(len(found), 1, found)
        self.assertEqual(found[0][0], level)
        self.assertIn(fact, found[0][1])
        return found[0][2]

    def test_claims_without_a_fault(self):
        self.prepare("a", "0")
        self.prepare("b", "1:gi1:ci0", more=("--kind", "nvidia.com/gpu"))
        self.prepare("c", "1:gi2:ci0", more=("--node-numbers", "asked"))
        self.assertEqual(self.doctor(), [])
        # A spec of a claim is not the spec of the kind.
        done = self.run_prepare("doctor")
        self.assertIn("no spec for nvidia.com/gpu", done.stdout)

    def test_spec_is_missing(self):
        self.prepare("a", "0")
        spec = self.spec_path("a").read_bytes()
        self.spec_path("a").unlink()
        self.obey(self.only("claim a: its spec /var/run/cdi/cdi-prepare.local-claim_a.json is "
                            "missing"))
        self.assertEqual(self.spec_path("a").read_bytes(), spec)
        self.assertEqual(self.doctor(), [])

    def test_gpu_is_gone(self):
        self.prepare("a", "0")
        self.bind(FIRST_PCI, "nouveau")
        self.obey(self.only("claim a: device " + FIRST + ": bound to nouveau"), code=3)
        put_back = self.remove_gpu(FIRST_PCI)
        self.only("claim a: device " + FIRST + ": it is gone from this host")
        put_back()

    def test_numbers_have_changed(self):
        self.prepare("a", "0")
        self.edit("proc/devices", "510 nvidia-uvm", "511 nvidia-uvm")
        for name, minor in ("uvm", 0), ("uvm-tools", 1):
            self.edit("dev.tab", f"/dev/nvidia-{name} c 510 {minor}",
                      f"/dev/nvidia-{name} c 511 {minor}")
        advice = [advice for level, fact, advice in self.doctor()
                  if "claim a: its spec" in fact and level == "fault"
                  and "/dev/nvidia-uvm is 510:0 there, and 511:0 now" in fact]
        self.assertEqual(len(advice), 1)
        self.obey(advice[0])
        self.assertEqual(self.doctor(), [])

    def test_numbers_have_changed_and_no_node_has_them(self):
        self.prepare("a", "0")
        self.edit("proc/devices", "510 nvidia-uvm", "511 nvidia-uvm")
        self.list(code=3)
        self.assertFalse(self.spec_path("a").exists())

    def test_spec_without_a_claim(self):
        self.prepare("a", "0")
        (self.state / "a.json").unlink()
        advice = self.only("/var/run/cdi/cdi-prepare.local-claim_a.json belongs to no claim of the "
                           "journal in /var/lib/cdi-prepare")
        self.obey(advice)
        self.assertFalse(self.spec_path("a").exists())

    def test_spec_of_another_journal(self):
        self.state, self.out = self.path("srv/its state"), self.path("etc/cdi")
        self.prepare("a", "0", more=("--node-numbers", "given"))
        self.assertEqual(self.doctor(), [])
        self.assertEqual(self.doctor("--state-dir", str(self.state)), [])
        shutil.rmtree(self.state)
        self.obey(self.only("belongs to no claim of the journal in /srv/its state"))
        self.assertFalse(self.spec_path("a").exists())

    def test_claim_that_is_damaged_or_unfinished(self):
        self.prepare("a", "0")
        journal = self.state / "a.json"
        text = journal.read_text()
        journal.write_text(text.replace('"prepared"', '"preparing"'))
        self.obey(self.only("claim a: a call for it was stopped, or is at work", "note"))
        self.prepare("a", "0")
        journal.write_text("{")
        self.obey(self.only("claim a: /var/lib/cdi-prepare/a.json:1:2: it is damaged"))
        self.assertEqual((self.doctor(), list(self.out.iterdir())), ([], []))

    def test_spec_that_this_host_cannot_provide(self):
        self.prepare("a", "0")
        spec = read_spec(self.spec_path("a"))
        spec["containerEdits"]["mounts"].append({"hostPath": "/gone", "containerPath": "/gone"})
        self.spec_path("a").write_text(json.dumps(spec))
        found = [one for one in self.doctor() if '"/gone" is missing' in one[1]]
        self.assertIn("which writes the specs of claims again", found[0][2])
        self.obey(found[0][2])
        self.assertEqual(self.doctor(), [])

    def test_engine_that_is_too_old(self):
        self.prepare("a", "0", more=("--max-version", "0.7.0"))
        self.install(podman="4.9.3+ds1-1")
        done = json.loads(self.run_prepare("doctor", "-o", "json").stdout)["findings"]
        advice = [one["advice"] for one in done if "refuses" in one["what"]]
        self.assertEqual(len(advice), 1)
        self.assertIn("A claim that was given a release keeps it", advice[0])
        self.obey(advice[0])

    def test_function_that_cannot_be_read(self):
        (self.pci(FIRST_PCI) / "class").unlink()
        self.only("cannot read class and vendor of PCI function " + FIRST_PCI)

    def test_journal_is_outside(self):
        done = self.run_prepare("doctor", "--state-dir", str(self.place / "other"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("--state-dir", done.stderr)


class Parallel(ClaimTest):
    tree = "nv2mig"

    def hold_lock(self):
        self.state.mkdir(0o755, exist_ok=True)
        lock = open(self.state / ".lock", "w",  # pylint: disable=consider-using-with
                    encoding="ascii")
        self.addCleanup(lock.close)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lock

    def test_lock_of_another_call(self):
        lock = self.hold_lock()
        error = self.refuse("a", "0", more=("--lock-timeout", "0.1"))
        self.assertIn("another call keeps the lock", error)
        self.assertIn(str(self.state / ".lock"), error)
        self.run_claims("unprepare", "--claim", "a", "--lock-timeout", "0", code=1)
        self.run_claims("list", "--lock-timeout", "0.1", code=1)
        self.run_claims("list", "--lock-timeout", "nan", code=2)
        self.run_claims("list", "--lock-timeout", "-1", code=2)
        fcntl.flock(lock, fcntl.LOCK_UN)
        self.prepare("a", "0", more=("--lock-timeout", "0"))

    def test_a_call_that_waits_surveys_the_host_again(self):
        lock = self.hold_lock()
        with subprocess.Popen(self.arguments("prepare", *self.asked("a", ["0"])),
                              stdout=subprocess.DEVNULL) as waiting:
            while waiting.poll() is None and not self.sleeps_for_lock(waiting.pid):
                continue
            self.assertIsNone(waiting.poll())
            table = self.path("dev.tab").read_text()
            self.path("dev.tab").write_text(table.replace(" c 510 ", " c 499 "))
            self.edit("proc/devices", "510 nvidia-uvm", "499 nvidia-uvm")
            fcntl.flock(lock, fcntl.LOCK_UN)
            self.assertEqual(waiting.wait(60), 0)
        self.assertEqual(self.claims(), ["a"])  # with nodes as they are now

    def sleeps_for_lock(self, pid):
        """Whether a call has found the lock taken: it never sleeps with it open otherwise."""
        process = pathlib.Path(f"/proc/{pid}")
        try:
            opened = [os.readlink(file) for file in (process / "fd").iterdir()]
        except FileNotFoundError:  # a file was closed meanwhile
            return False
        state = (process / "stat").read_text().rpartition(")")[2].split()[0]
        return state == "S" and str(self.state / ".lock") in opened

    def run_at_once(self, calls):
        """The exit codes of calls that all run at the same time, and what they say."""
        running = [subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                   for call in calls]
        said = [process.communicate(timeout=60) for process in running]
        return [process.returncode for process in running], said

    def test_one_claim_many_times(self):
        codes, said = self.run_at_once(
            [self.arguments("prepare", *self.asked("a", ["0@x"]))] * 8)
        self.assertEqual((codes, {out for out, _ in said}), ([0] * 8, {said[0][0]}))
        self.assertEqual(self.claims(), ["a"])
        codes, _ = self.run_at_once([self.arguments("unprepare", "--claim", "a")] * 8)
        self.assertEqual((codes, self.claims()), ([0] * 8, []))

    def test_many_claims(self):
        devices = {"a": "0", "b": "1:gi1:ci0", "c": "1:gi2:ci0"}
        calls = [self.arguments("prepare", *self.asked(uid, [name]))
                 for uid, name in devices.items()] * 3 + [self.arguments("list")] * 2
        codes, said = self.run_at_once(calls)
        self.assertEqual(codes, [0] * 11, said)
        self.assertEqual(self.claims(), ["a", "b", "c"])
        calls = [self.arguments("unprepare", "--claim", uid) for uid in ("a", "b")] * 2
        calls += [self.arguments("prepare", *self.asked("c", [devices["c"]]))] * 2
        codes, said = self.run_at_once(calls)
        self.assertEqual(codes, [0] * 6, said)
        self.assertEqual(self.claims(), ["c"])

    def test_one_device_for_many(self):
        codes, said = self.run_at_once(
            [self.arguments("prepare", *self.asked(f"a{number}", ["0"])) for number in range(8)])
        self.assertEqual(sorted(codes), [0] + [1] * 7)
        winner = f"a{codes.index(0)}"
        self.assertEqual(self.claims(), [winner])
        for code, (_, errors) in zip(codes, said):
            self.assertEqual(f"claim {winner} has" in errors, code == 1)


class Killed(ClaimTest):
    """Killed just before each system call that changes something, a call leaves what the next call
    makes right, whichever that is."""

    tree = "other"
    device = "0000:00:03.0"

    def run_killed(self, number, command, *more, out=None):
        """Whether a call was killed before its change of that number; else it was done before."""
        killed, permitted = 10, 77
        options = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # which traces, too
        done = subprocess.run([KILL_AT, str(number), *self.arguments(command, *more, out=out)],
                              capture_output=True, text=True, timeout=60, check=False, umask=0o077,
                              env={**os.environ, "ASAN_OPTIONS": options})
        if done.returncode == permitted:
            self.skipTest("ptrace is not permitted, or too old to tell system calls")
        self.assertIn(done.returncode, (0, killed), done.stderr)
        return done.returncode == killed

    def save(self):
        """What is in both directories, to be put there again."""
        return {directory: {path.name: (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
                            for path in directory.iterdir()}
                for directory in (self.state, self.out) if directory.exists()}

    def restore(self, saved):
        for directory in (self.state, self.out):
            shutil.rmtree(directory, ignore_errors=True)
        for directory, files in saved.items():
            directory.mkdir()
            directory.chmod(0o755)
            for name, (content, mode) in files.items():
                (directory / name).write_bytes(content)
                (directory / name).chmod(mode)

    def phase(self):
        path = self.state / "a.json"
        return self.journal("a")["phase"] if path.exists() else None

    def kill_everywhere(self, command, *more):
        """Kills a call at each place. There, gives the journal and how to come back. That
        is skipped where the files are the same as at another one: they are all that counts."""
        start = self.save()
        seen = set()
        for number in itertools.count(1):
            self.restore(start)
            killed = self.run_killed(number, command, *more)
            if not killed:
                self.assertGreater(number, 6)
                return
            for directory in (self.state, self.out):  # from the very first moment
                if directory.exists():
                    self.assertEqual(stat.S_IMODE(directory.stat().st_mode), 0o755)
            there = self.save()
            state = re.sub(r"\.\d+-\d+\.cdi-tmp", ".cdi-tmp", repr(there))
            if state in seen:
                continue
            seen.add(state)
            phase = self.phase()
            with self.subTest(command=command, number=number, phase=phase):
                yield phase, lambda there=there: self.restore(there)

    def check_all(self, devices, text, phase):
        """All calls that may be next. `devices` and `text` are those of claim a when it is there,
        and `phase` is that in the journal."""
        taken = phase == "prepared"

        def prepare_again():
            self.assertEqual(self.prepare("a", "0@x"), devices)
            return ["a"]

        def list_all():
            self.assertEqual(self.list(), {"a": None} if taken else {})
            return ["a"] if taken else []

        def take_back():
            self.unprepare("a")
            return []

        def take_the_same():
            if not taken:
                self.assertEqual(self.prepare("b", "0")[0]["device_name"], self.device)
                return ["b"]
            done = self.run_claims("prepare", *self.asked("b", ["0"]), code=1)
            self.assertIn("claim a has", done.stderr)
            return ["a"]

        def take_another():
            self.prepare("b", "1")
            return ["a", "b"] if taken else ["b"]
        for following in (prepare_again, list_all, take_back, take_the_same, take_another):
            with self.subTest(following=following.__name__):
                expected = following()
                self.assertEqual(self.claims(), expected)
                if "a" in expected:
                    self.assertEqual(self.spec_path("a").read_text(), text)
            yield

    def follow(self, kills, devices, text):
        phases = set()
        for phase, come_back in kills:
            phases.add(phase)
            for _ in self.check_all(devices, text, phase):
                come_back()
        return phases

    def test_prepare(self):
        devices = self.prepare("a", "0@x")
        text = self.spec_path("a").read_text()
        self.restore({})
        phases = self.follow(self.kill_everywhere("prepare", *self.asked("a", ["0@x"])),
                             devices, text)
        self.assertEqual(phases, {None, "preparing", "prepared"})

    def test_unprepare(self):
        devices = self.prepare("a", "0@x")
        text = self.spec_path("a").read_text()
        phases = self.follow(self.kill_everywhere("unprepare", "--claim", "a"), devices, text)
        self.assertEqual(phases, {None, "removing", "prepared"})

    def test_next_call_has_another_directory(self):
        elsewhere = self.place / "elsewhere"
        elsewhere.mkdir()
        spec = self.spec_path("a", elsewhere)
        for command, more in (("prepare", self.asked("a", ["0@x"])),
                              ("unprepare", ("--claim", "a"))):
            start = self.save()
            for number in itertools.count(1):
                self.restore(start)
                if not self.run_killed(number, command, *more, out=elsewhere):
                    break
                faults = self.list()
                there = [spec.name] if faults == {"a": None} else []
                self.assertEqual(os.listdir(elsewhere), there, (command, number, faults))
            self.assertGreater(number, 6)
            self.list()
            self.assertEqual(spec.exists(), command == "prepare")
            self.prepare("a", "0@x", out=elsewhere)

    def test_prepare_in_another_boot(self):
        devices = self.prepare("a", "0@x")
        old = self.spec_path("a").read_text()
        self.reboot()
        self.edit("dev.tab", "renderD128 c 226 128", "renderD128 c 226 140")
        self.path("sys/class/drm/renderD128/dev").write_text("226:140\n")
        before = self.save()
        self.assertEqual(self.prepare("a", "0@x"), devices)
        new = self.spec_path("a").read_text()
        self.assertEqual(old.replace('"minor": 128', '"minor": 140'), new)
        for lost in (False, True):  # /var/run may be emptied, or not
            self.restore(before)
            if lost:
                shutil.rmtree(self.out)
            phases = self.follow(self.kill_everywhere("prepare", *self.asked("a", ["0@x"])),
                                 devices, new)
            self.assertEqual(phases, {"prepared"})


if __name__ == "__main__":
    TreeTest.program = os.path.abspath(sys.argv[1])
    KILL_AT = os.path.abspath(sys.argv[2])
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[3:]])
