#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The way of a GPU into a Kata container, without a VM: two mount namespaces are host and guest.

usage: guest_test.py CDI CDI_POD

On the host, a container runtime injects a VFIO device. Kata's runtime translates it to an
annotation for the guest. There, the spec of the GPU is written late; the agent waits for it,
injects the device with the numbers that it has in the guest, and starts the container.

Needs root, runc and a static busybox; skips the tests, with the reason, if one is missing.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
from bundle import Bundle, missing  # noqa: E402

# nsenter changes the working directory.
CDI, CDI_POD = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))

HOST_SPEC = """
cdiVersion: 0.5.0
kind: nvidia.com/pgpu
devices:
- name: "0"
  containerEdits:
    env: [OUTER=yes]
    deviceNodes:
    - {path: /dev/vfio/12, hostPath: /run/vfio-12}
"""
GUEST_SPEC = """
cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
- name: "0"
  containerEdits:
    env: [GPU=inner]
    deviceNodes:
    - {path: /dev/nvidia0, hostPath: /run/guest-gpu}
"""
PAUSE = 0.01  # between two looks at a process; no result depends on it


class Machine:
    """A mount namespace with a /run of its own, in which commands run."""

    def __init__(self):
        self.holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c",
             "mount -t tmpfs cdi-test /run && mkdir -p /run/cdi && echo ready && exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.holder.stdout.readline() != "ready\n":
            raise unittest.SkipTest("mount namespaces cannot be made: " +
                                    self.holder.communicate()[1].strip())
        self.enter = ["nsenter", "--mount", f"--target={self.holder.pid}"]

    def close(self):
        self.holder.communicate()

    def start(self, *command):
        return subprocess.Popen([*self.enter, *command], stdin=subprocess.PIPE, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *command, text=""):
        child = self.start(*command)
        out, errors = child.communicate(text, timeout=60)
        if child.returncode != 0:
            raise AssertionError(f"{command} exited {child.returncode}: {errors}")
        return out

    def write(self, path, text):
        self.run("sh", "-c", f"cat > {path}.new && mv {path}.new {path}", text=text)


def waits_for_files(child):
    """Whether a process watches a directory with inotify."""
    try:
        return any("inotify wd:" in file.read_text()
                   for file in pathlib.Path(f"/proc/{child.pid}/fdinfo").iterdir())
    except FileNotFoundError:  # a descriptor was closed meanwhile
        return False


MISSING = missing()


@unittest.skipIf(MISSING, MISSING)
class Guest(unittest.TestCase):
    def machine(self, node, minor):
        machine = Machine()
        self.addCleanup(machine.close)
        machine.run("mknod", f"/run/{node}", "c", "10", str(minor))
        return machine

    def setUp(self):
        folder = tempfile.mkdtemp(prefix="cdi-container-")
        self.addCleanup(shutil.rmtree, folder)
        self.bundle = Bundle(folder)
        self.bundle.configure("""
/bin/busybox stat -c '%F %t:%T' /dev/nvidia0
/bin/busybox test -e /dev/vfio || echo no VFIO device
echo $GPU $OUTER
""")
        self.host = self.machine("vfio-12", 196)
        self.guest = self.machine("guest-gpu", 229)

    def request(self):
        """What Kata's runtime sends to the guest: the config of the host, without its devices."""
        self.host.write("/run/cdi/host.yaml", HOST_SPEC)
        config = json.loads(self.host.run(CDI, "inject", self.bundle.config, "nvidia.com/pgpu=0"))
        outer = config["linux"].pop("devices")
        self.assertEqual([(node["path"], node["major"], node["minor"]) for node in outer],
                         [("/dev/vfio/12", 10, 196)])
        asked = {"devices": [{"vendorId": "0x10de", "classId": "0x030200",
                              "options": ["0000:41:00.0=02/00"], "containerPath": node["path"]}
                             for node in outer]}
        inner = json.loads(self.host.run(CDI_POD, "inner", "--runtime", "rs",
                                         text=json.dumps(asked)))
        config["annotations"] = inner["annotations"]
        self.assertEqual(config["annotations"], {"cdi.k8s.io/vfio12": "nvidia.com/gpu=0"})
        return json.dumps(config)

    def agent(self, timeout):
        """Kata's agent, started with a request."""
        self.bundle.write_config(self.request())
        return self.guest.start(CDI_POD, "guest", self.bundle.config, "--spec-dir", "/var/run/cdi",
                                "--timeout", str(timeout))

    def answer_with_late_spec(self, text):
        """The exit status, the output and the errors of an agent that a spec is written for."""
        agent = self.agent(60)
        while agent.poll() is None and not waits_for_files(agent):
            time.sleep(PAUSE)
        self.guest.write("/run/cdi/guest.yaml", text)
        config, errors = agent.communicate(timeout=60)
        return agent.returncode, config, errors

    def test_the_device_of_a_late_spec_is_in_the_container(self):
        status, config, errors = self.answer_with_late_spec(GUEST_SPEC)
        self.assertEqual((status, errors), (0, ""))
        self.bundle.write_config(config)
        self.assertEqual(self.bundle.run(*self.guest.enter),
                         ["character special file a:e5", "no VFIO device", "inner yes"])

    def test_without_a_spec_the_container_does_not_start(self):
        agent = self.agent(1)
        config, errors = agent.communicate(timeout=60)
        self.assertEqual((agent.returncode, config), (1, ""))
        self.assertIn("within the CDI timeout of 1 seconds", errors)

    def test_a_late_spec_without_the_device_fails_at_once(self):
        other = GUEST_SPEC.replace('name: "0"', 'name: "1"')
        status, config, errors = self.answer_with_late_spec(other)
        self.assertEqual((status, config), (1, ""))
        self.assertIn("nvidia.com/gpu=0", errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
