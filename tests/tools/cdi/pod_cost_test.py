#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Twice as many claims, devices or containers cost `cdi-pod` twice as much.

valgrind counts the instructions. usage: pod_cost_test.py CDI_POD
"""
import json
import shutil
import sys
import unittest

import growth

CDI_POD = sys.argv.pop(1)
FEW = 100
MOST = 2.4  # times as much for twice as many


def pod(**more):
    return {"runtimeClassName": "kata-remote", "containers": [{"name": "c"}], **more}


def claims_from_templates(count):
    made = [{"name": f"g{i}", "resourceClaimName": f"x{i}"} for i in range(count)]
    return {"pod": {"status": {"resourceClaimStatuses": made}, "spec": pod(resourceClaims=[
        {"name": f"g{i}", "resourceClaimTemplateName": "t"} for i in range(count)])}}


def siblings(count):
    ids = {"vendorId": "0x10de", "classId": "0x030200"}
    devices = [{**ids, "containerPath": f"/dev/vfio/{i}", "bdf": f"{i:05}", "bus": f"{i:05}"}
               for i in range(count)]
    return {"devices": devices, "siblings": devices}


def sidecars(count):
    return {"pod": {"spec": pod(initContainers=[
        {"name": f"s{i}", "restartPolicy": "Always",
         "resources": {"requests": {f"example.com/d{i}": 1}}} for i in range(count)])}}


def types(count):
    return {"types": [{"name": "t", "devices": {f"example.com/d{i}": 1 for i in range(count)}}]}


@unittest.skipUnless(shutil.which("valgrind"), "needs valgrind")
class PodCost(unittest.TestCase):
    def check(self, made, *arguments, few=FEW, expect=0):
        costs = [growth.instructions(self, expect, CDI_POD, *arguments,
                                     given=json.dumps(made(few * times))) for times in (1, 2, 4)]
        growth.check(self, " ".join(arguments), costs, MOST)

    def test_claims_that_the_status_names(self):
        self.check(claims_from_templates, "peerpod")

    def test_devices_of_a_sandbox(self):
        self.check(siblings, "inner", "--runtime", "go", few=4 * FEW)

    def test_sidecars_with_resources_of_their_own(self):
        self.check(sidecars, "size", "--formula", "runtime-go")

    def test_a_type_with_too_many_devices(self):
        self.check(types, "slices", expect=1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
