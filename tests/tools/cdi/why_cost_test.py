#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Twice as many devices cost `cdi why` twice as much.

valgrind counts the instructions. usage: why_cost_test.py CDI
"""
import shutil
import unittest

import growth
from cdi_case import CDI, CdiCase

FEW = 20
MOST = 2.4  # times as much for twice as many


@unittest.skipUnless(shutil.which("valgrind"), "needs valgrind")
class WhyCost(CdiCase):
    def put_devices(self, count):
        """Writes a spec with many devices, and a config that has all of them."""
        env = [f"S{i}=1" for i in range(count)]
        nodes = [{"path": f"/dev/n{i}", "type": "c", "major": 1, "minor": i}
                 for i in range(count)]
        self.put("specs/v.json", {
            "cdiVersion": "0.7.0", "kind": "v.com/c", "containerEdits": {"env": env},
            "devices": [{"name": str(i), "containerEdits": {
                "deviceNodes": [nodes[i]], "additionalGids": [44]}} for i in range(count)]})
        self.put("config.json", {
            "ociVersion": "1.0.2", "linux": {"devices": nodes},
            "process": {"env": env, "user": {"additionalGids": [44]}}})

    def check(self, expect, *arguments):
        costs = []
        for times in (1, 2, 4):
            self.put_devices(FEW * times)
            costs.append(growth.instructions(self, expect, CDI, "-d", self.path("specs"), "why",
                                             "--no-host", *arguments))
        growth.check(self, arguments[0], costs, MOST)

    def test_devices_of_a_file_that_an_engine_refuses(self):
        self.check(14, "--for", "podman@4.3.1", "v.com/c=*")

    def test_devices_that_a_container_has(self):
        self.check(0, "--bundle", self.path("config.json"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
