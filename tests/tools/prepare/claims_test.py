#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Claims of cdi-prepare: claims_test.py CDI_PREPARE [unittest options]"""
import itertools
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import node_trees  # noqa: E402  pylint: disable=wrong-import-position
from claim_case import (  # noqa: E402  pylint: disable=wrong-import-position
    FIRST, FIRST_PCI, PARTS, SECOND, SECOND_PCI, ClaimTest, id_of, read_spec)
from tree_case import TreeTest, dri, paths  # noqa: E402  pylint: disable=wrong-import-position


class Prepare(ClaimTest):
    tree = "nv2mig"

    def test_answer_is_what_a_driver_returns(self):
        uid = "5d0c2c9b-3a5e-4b70-9d3c-0123456789ab"
        devices = self.prepare(uid, f"nvidia.com/gpu={FIRST}@gpu", "1:gi1:ci0@part/small",
                               more=("--namespace", "team", "--name", "training"))
        self.assertEqual(devices, [
            {"request_names": ["gpu"], "requested": f"nvidia.com/gpu={FIRST}", "device_name": FIRST,
             "cdi_device_ids": [id_of(uid)]},
            {"request_names": ["part"], "requested": "1:gi1:ci0", "device_name": PARTS[0],
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

    def test_no_standard_stream(self):
        """The answer is in no file of the journal, and the caller learns that it is lost."""
        for closed in (">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"):
            script = f'exec "$0" "$@" {closed}'
            done = subprocess.run(["/bin/sh", "-c", script,
                                   *self.arguments("prepare", *self.asked("a", ["0"]))],
                                  capture_output=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 1 if ">&-" in closed.split() else 0, closed)
            self.assertEqual((self.state / ".lock").read_text(), "", closed)
        self.assertEqual(self.claims(), ["a"])

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
        self.assertIn("requested twice", self.refuse("a", "0@x", "0@x"))

    def test_no_device_twice_in_a_claim(self):
        for twice in (["0", "0"], ["0@x", f"{FIRST}@y"], ["all", "1:gi1:ci0"]):
            self.assertIn("requested twice", self.refuse("a", *twice))
        self.assertEqual(self.claims(), [])

    def test_overlap(self):
        self.prepare("a", "0", "1:gi1:ci0")
        for name in ("0", FIRST, f"nvidia.com/gpu={FIRST}", FIRST_PCI, "nvidia.com/gpu=all",
                     "1:gi1:ci0", PARTS[0], f"{SECOND_PCI}:gi1:ci0"):
            self.assertIn("claim a has", self.refuse("b", name))
        self.assertIn(f"device 0 is {FIRST}, which claim a has", self.refuse("b", "0"))
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
        self.assertIn("partitioned differently", self.list(3)["a"])
        self.unprepare("a")
        self.prepare("b", "1:gi1:ci0")
        self.make_tree("nv2")
        self.assertIn(f"claim b has {PARTS[0]}", self.refuse("a", "1"))
        self.prepare("c", "0")

    def test_names_of_no_device(self):
        for name in ("2", "GPU-none", "amd.com/gpu=0", f"amd.com/gpu={FIRST}",
                     "amd.com/gpu=all"):
            self.assertIn("no device on this host has that name", self.refuse("a", name))
        self.assertIn("it is partitioned: request 1:gi1:ci0 or 1:gi2:ci0", self.refuse("a", "1"))
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
        for name in ("", "@x", "a b", "../a", "0@", "0@a b", "0@a@b", "0@/a", "0@a/",
                     "0@a/b/c", "0@ä",
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
        self.assertIn("claim a: its spec is written in CDI 0.6.0", self.errors)
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
            self.assertIn("the newest version that podman 4.9.3 reads", self.errors)
            self.assertEqual(self.cdi_version("a"), "0.6.0")
            self.install(podman="5.8.0-1")  # is another one than was asked for
            self.list()
            self.assertEqual(self.cdi_version("a"), "0.6.0")
            self.unprepare("a")
        for more in (("--for", "talos"), ("--for", "lxc@1"), ("--for", "podman@4.0"),
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
        """The claim keeps the version that the engine could read."""
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
        self.assertEqual(self.journal("a")["newest_version"], "0.6.0")
        self.path("var/lib/dpkg/status").write_text("")
        self.spec_path("a").unlink()  # as /var/run is empty then
        self.list()
        self.assertEqual(self.cdi_version("a"), "0.6.0")

    def test_a_version_that_was_always_unknown_limits_nothing(self):
        self.path("usr/bin/podman").parent.mkdir(parents=True, exist_ok=True)
        self.path("usr/bin/podman").touch()
        self.prepare("a", "0")
        self.assertEqual(self.journal("a")["newest_version"], "1.1.0")

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


if __name__ == "__main__":
    TreeTest.program = os.path.abspath(sys.argv[1])
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[2:]])
