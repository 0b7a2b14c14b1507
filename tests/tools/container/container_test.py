#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Starts containers with runc from configs that `cdi inject` has edited.

usage: container_test.py CDI

Needs root, runc and a static busybox; skips the tests, with the reason, if one is missing.
"""
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from bundle import Bundle, missing  # noqa: E402

CDI = sys.argv.pop(1)
MISSING = missing()


@unittest.skipIf(MISSING, MISSING)
class Container(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cdi-container-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.bundle = Bundle(self.folder)

    def inject(self, script, *devices):
        self.bundle.configure(script)
        subprocess.run([CDI, "inject", "--in-place", "--spec-dir", self.bundle.specs,
                        self.bundle.config, *devices], check=True)

    def test_container_gets_host_nodes_env_mount_and_hooks(self):
        for path in ("/dev/fuse", "/dev/loop-control"):
            if not os.path.exists(path) or not stat.S_ISCHR(os.stat(path).st_mode):
                self.skipTest(f"the host does not have {path}")
        fuse = os.stat("/dev/fuse")
        loop = os.stat("/dev/loop-control")
        shared = os.path.join(self.folder, "shared")
        os.makedirs(shared)
        with open(os.path.join(shared, "greeting"), "w") as file:
            file.write("hello from the host\n")
        ran = os.path.join(self.folder, "hook-ran")
        hook = os.path.join(self.folder, "hook")
        with open(hook, "w") as file:
            file.write(f'#!/bin/sh\ncat > /dev/null\necho "$1 $MARK" >> {ran}\n')
        os.chmod(hook, 0o755)

        self.bundle.spec("real.yaml", f"""
cdiVersion: 0.5.0
kind: test.example.com/node
devices:
- name: fuse
  containerEdits:
    env: [FUSE=yes, TERM=cdi]
    deviceNodes:
    - {{path: /dev/cdi/fuse, hostPath: /dev/fuse}}
    hooks:
    - {{hookName: createRuntime, path: {hook}, args: [hook, fuse], env: [MARK=one]}}
- name: loop
  containerEdits:
    deviceNodes:
    - {{path: /dev/cdi-loop, hostPath: /dev/loop-control, fileMode: 0640, uid: 0, gid: 8,
       permissions: r}}
    hooks:
    - {{hookName: poststop, path: {hook}, args: [hook, loop], env: [MARK=two]}}
containerEdits:
  env: [EVERY=container]
  mounts:
  - {{hostPath: {shared}, containerPath: /mnt/shared, type: bind, options: [ro, rbind]}}
""")
        self.inject("""
/bin/busybox stat -c '%F %t:%T %a %u:%g' /dev/cdi/fuse /dev/cdi-loop
/bin/busybox cat /mnt/shared/greeting
echo $FUSE $TERM $EVERY
: < /dev/cdi-loop && echo readable
( : > /dev/cdi-loop ) 2> /dev/null || echo not writable
""", "test.example.com/node=fuse", "test.example.com/node=loop")
        lines = self.bundle.run()

        def numbers(info):
            return f"{os.major(info.st_rdev):x}:{os.minor(info.st_rdev):x}"

        mode = stat.S_IMODE(fuse.st_mode) & 0o777
        self.assertEqual(lines, [
            f"character special file {numbers(fuse)} {mode:o} 0:0",
            f"character special file {numbers(loop)} 640 0:8",
            "hello from the host",
            "yes cdi container",
            "readable",
            "not writable",
        ])
        with open(ran) as file:
            self.assertEqual(file.read(), "fuse one\nloop two\n")

    def test_a_node_with_all_numbers_needs_no_host_node(self):
        self.bundle.spec("numbers.json", json.dumps({
            "cdiVersion": "0.3.0", "kind": "test.example.com/gpu",
            "devices": [{"name": "gpu0", "containerEdits": {"deviceNodes": [
                {"path": "/dev/nvidia0", "type": "c", "major": 195, "minor": 7,
                 "fileMode": 0o666}]}}]}))
        self.inject("/bin/busybox stat -c '%F %t:%T %a' /dev/nvidia0",
                    "test.example.com/gpu=gpu0")
        self.assertEqual(self.bundle.run(), ["character special file c3:7 666"])

    def test_a_user_in_another_case_does_not_become_root(self):
        self.bundle.spec("group.yaml", """
cdiVersion: 0.7.0
kind: test.example.com/group
devices:
- {name: "77", containerEdits: {additionalGids: [77]}}
""")
        self.bundle.configure("/bin/busybox id -u")
        with open(self.bundle.config, encoding="utf-8") as file:
            text = file.read()
        text = text.replace('"uid": 0', '"uid": 1000')
        other = text.replace('"user"', '"User"')
        for config, code in ((other, 1), (text, 0)):
            self.assertIn('"uid": 1000', config)
            self.bundle.write_config(config)
            done = subprocess.run([CDI, "inject", "--in-place", "--spec-dir", self.bundle.specs,
                                   self.bundle.config, "test.example.com/group=77"], check=False,
                                  stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(self.bundle.run(), ["1000"])

    def test_two_devices_of_the_dra_example_driver(self):
        """A spec like those that the Kubernetes dra-example-driver writes."""
        uuids = [f"18db0e85-99e9-c746-8531-ffeb86328b3{n}" for n in range(4)]
        self.bundle.spec("k8s.gpu.resource.example.com-gpu.json", json.dumps({
            "cdiVersion": "0.3.0", "kind": "k8s.gpu.resource.example.com/gpu",
            "containerEdits": {},
            "devices": [{"name": f"GPU-{uuid}",
                         "containerEdits": {"env": [f"GPU_DEVICE_{n}=GPU-{uuid}"]}}
                        for n, uuid in enumerate(uuids)]}))
        self.inject("/bin/busybox env | /bin/busybox grep ^GPU_ | /bin/busybox sort",
                    *(f"k8s.gpu.resource.example.com/gpu=GPU-{uuids[n]}" for n in (1, 3)))
        self.assertEqual(self.bundle.run(), [f"GPU_DEVICE_1=GPU-{uuids[1]}",
                                             f"GPU_DEVICE_3=GPU-{uuids[3]}"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
