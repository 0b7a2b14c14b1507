# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A test case with nri-judge and cdi-nri, for tests with the arguments BUILD CDI_NRI.

Builds nri-judge and nri-demo in the folder BUILD; all tests are skipped without Go or its modules.
"""
import os
import sys

import judges
from nri_cases import COMMON, SPEC
from nri_peers import Judge, NriCase, need_cdi_nri, request

BUILD, CDI_NRI = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
PROGRAMS = {}


def build_programs():
    need_cdi_nri(CDI_NRI)
    folder = judges.build_nri(BUILD)
    PROGRAMS.update({name: str(folder / name) for name in ("nri-judge", "nri-demo")})


def device(name, **edits):
    """A spec with one device of a kind of its own."""
    return {"cdiVersion": "0.7.0", "kind": f"vendor.com/{name}",
            "devices": [{"name": "0", "containerEdits": edits}]}


def asked(value, **more):
    """A request with an annotation for the container `main`."""
    return request({f"{COMMON}/container.main": value}, **more)


def allowed(rules):
    """The letters that the rules of a device cgroup allow for each device, in the end."""
    letters = {}
    for rule in rules:
        key = (rule.get("type"), rule.get("major"), rule.get("minor"))
        have = letters.setdefault(key, set())
        (have.update if rule["allow"] else have.difference_update)(rule["access"])
    return letters


def compared(spec):
    """What a container gets of an OCI spec, without orders that mean nothing."""
    linux = spec["linux"]
    return {"env": spec["process"].get("env", []), "user": spec["process"]["user"],
            "mounts": sorted(spec["mounts"], key=lambda mount: mount["destination"]),
            "hooks": spec.get("hooks", {}), "rules": allowed(linux["resources"]["devices"]),
            "net": linux.get("netDevices", {}), "rdt": linux.get("intelRdt", {}),
            "devices": sorted(linux.get("devices", []), key=lambda node: node["path"])}


class JudgedCase(NriCase):
    """A test with a judge."""

    def setUp(self):
        super().setUp()
        self.place.write("cdi/vendor.json", SPEC)

    def judge(self, *options):
        return self.process(Judge, PROGRAMS["nri-judge"], self.place, *options)

    def judged(self, *plugin_options, judge=()):
        """A judge and cdi-nri, connected."""
        runtime = self.judge(*judge)
        plugin = self.cdi_nri(CDI_NRI, *plugin_options)
        runtime.wait(1)
        return runtime, plugin

    def good(self, answer):
        self.assertTrue(answer["ok"], answer.get("error"))
        return answer

    def refused(self, answer, *texts):
        """One line with each of the texts."""
        self.assertFalse(answer["ok"], answer.get("adjust"))
        reason = answer["error"]
        for text in texts:
            self.assertIn(text, reason)
        self.assertNotIn("\n", reason)
        return reason
