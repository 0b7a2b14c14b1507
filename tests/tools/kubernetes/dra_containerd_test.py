#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From a claim to a container: kubelet's code prepares by cdi-dra, containerd gets what it answers.

usage: dra_containerd_test.py BUILD CDI_DRA CDI_PREPARE SAMPLE_NODE [ARGUMENTS OF UNITTEST]

For CDI_FULL=1, as root, with runc and a static busybox. Builds containerd and dra-judge in BUILD.
"""
import os
import sys
import unittest

sys.dont_write_bytecode = True
import containerd_peer  # noqa: E402
import judges  # noqa: E402
from dra_peers import CdiDra, DraCase, allocated, claim, own_claim, pod  # noqa: E402
from nri_peers import wait_until  # noqa: E402

BUILD, CDI_DRA, CDI_PREPARE, SAMPLE_NODE = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
LOOK = """
b=/bin/busybox
for node in /dev/nvidia?; do $b stat -c '%n %t:%T %a' $node; done
$b env
"""


def setUpModule():
    containerd_peer.set_up(BUILD)
    DraCase.programs.update({"dra-judge": str(judges.build_kubelet(BUILD) / "dra-judge"),
                             "cdi-dra": CDI_DRA, "cdi-prepare": CDI_PREPARE,
                             "sample-node": SAMPLE_NODE})


class FromClaimToContainer(CdiDra, DraCase):
    driver_files = False

    def setUp(self):
        super().setUp()
        self.addCleanup(containerd_peer.remove_cgroups)
        self.containerd = containerd_peer.Containerd(self)

    def ran(self, names):
        """A container with CDI devices in the field of CRI, as kubelet makes it."""
        return self.containerd.run("-cdi", ",".join(names), script=LOOK)

    def look(self, names):
        done = self.ran(names)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_each_container_has_its_devices(self):
        self.have(claim("shared", [allocated(self.devices[0], "gpu/small"),
                                   allocated(self.devices[1], "extra")], ["one", "two"]),
                  pod("one", ["shared"], {"all": [{"name": "shared"}],
                                          "gpu": [{"name": "shared", "request": "gpu"}],
                                          "extra": [{"name": "shared", "request": "extra"}],
                                          "none": []}), pod("two", ["shared"]))
        _, judge = self.both()
        names = self.prepare(judge, "one")
        first, second = "/dev/nvidia0 c3:0 666", "/dev/nvidia1 c3:1 666"
        self.assertIn(f"{first}\n{second}\n", self.look(names["all"]))
        seen = self.look(names["gpu"])
        self.assertIn(first, seen)
        self.assertNotIn("/dev/nvidia1", seen)
        seen = self.look(names["extra"])
        self.assertIn(second, seen)
        self.assertNotIn("/dev/nvidia0", seen)
        self.assertIn(first, self.look(self.prepare(judge, "two")["main"]))
        self.unprepare(judge, "one")
        self.assertIn(first, self.look(names["all"]), "pod two still has the claim")
        self.unprepare(judge, "two")
        done = self.ran(names["all"])
        self.assertIn("unresolvable", done.stderr, done.stdout)

    def test_after_the_specs_were_wiped(self):
        """The container of a pod that kubelet does not prepare again."""
        self.have(*own_claim("one", self.devices[0]))
        driver, judge = self.both()
        names = self.prepare(judge, "one")["main"]
        driver.kill()
        for name in self.place.specs():
            os.unlink(os.path.join(self.place.cdi, name))
        self.assertIn("unresolvable", self.ran(names).stderr)
        self.start_driver()
        wait_until(self.place.specs, "specs are written at start")
        self.assertIn("/dev/nvidia0", self.look(names))


if __name__ == "__main__":
    unittest.main(verbosity=2)
