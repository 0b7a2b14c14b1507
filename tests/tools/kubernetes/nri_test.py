#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cdi-nri against the runtime's own side of NRI, beside a plugin on the Go stub.

usage: nri_test.py BUILD CDI_NRI [ARGUMENTS OF UNITTEST]

Builds nri-judge and nri-demo in the folder BUILD; all tests are skipped without Go or its modules.
nri_wire_test.py tests the protocol itself, without Go.
"""
import os
import sys
import unittest

sys.dont_write_bytecode = True
from judged_case import (  # noqa: E402
    CDI_NRI, PROGRAMS, JudgedCase, asked, build_programs, compared, device)
from nri_cases import CASES, COMMON, KIND, ONE, TWO, ZERO  # noqa: E402
from nri_peers import names_in, request  # noqa: E402

setUpModule = build_programs


class SameAnswers(JudgedCase):
    """The rows of the table, by a plugin on the Go stub and by cdi-nri."""

    def demo_answers(self, requests):
        """What nri-demo answers to requests by name, with the devices of the Go library."""
        runtime = self.judge()
        demo = self.plugin(PROGRAMS["nri-demo"])
        runtime.wait(1)
        answers = {name: runtime.create(value) for name, value in requests.items()}
        demo.kill()
        runtime.end()
        return answers

    def rows(self):
        return self.demo_answers({case.name: request(case.annotations, **case.container)
                                  for case in CASES if case.demo})

    def check_rows(self, *options, gives_names, judge=()):
        demo = self.rows()
        runtime, plugin = self.judged(*options, judge=judge)
        for case in CASES:
            with self.subTest(case.name):
                answer = runtime.create(request(case.annotations, **case.container))
                if case.error:
                    self.refused(answer, *case.error)
                    self.assertFalse(case.demo and demo[case.name]["ok"])
                    continue
                self.good(answer)
                self.assertEqual(names_in(answer["adjust"]), case.names if gives_names else [])
                if case.demo:
                    self.assertEqual(compared(answer["spec"]), compared(demo[case.name]["spec"]))
        self.assertTrue(plugin.is_running())

    def test_the_demo_gives_what_the_rows_say(self):
        """Otherwise, it would be no judge."""
        answers = self.rows()
        for case in CASES:
            if case.demo and not case.error:
                self.assertEqual(names_in(answers[case.name]["adjust"]), case.names, case.name)

    def test_names_are_left_to_the_runtime(self):
        self.check_rows("--resolve", "never", gives_names=True)

    def test_names_for_a_runtime_that_injects_them(self):
        self.check_rows(gives_names=True, judge=("-runtime", "containerd/v2.4.2"))

    def test_edits(self):
        self.check_rows("--resolve", "always", gives_names=False)

    def test_each_kind_of_edit(self):
        specs = [device("env", env=["A=1", "B=x=y", "EMPTY=", "PATH=/other"]),
                 device("node", deviceNodes=[{"path": "/dev/null"}]),
                 device("read", deviceNodes=[{"path": "/dev/zero", "permissions": "r"}]),
                 device("all", deviceNodes=[{"path": "/dev/zero", "permissions": "rwm"}]),
                 device("both", deviceNodes=[{"path": "/dev/c", "hostPath": "/dev/zero"},
                                             {"path": "/dev/d", "hostPath": "/dev/zero",
                                              "permissions": "r"}]),
                 device("renamed", deviceNodes=[{"path": "/dev/a", "hostPath": "/dev/full"}]),
                 device("mode", deviceNodes=[{"path": "/dev/null", "fileMode": 0o600, "uid": 0,
                                              "gid": 0}]),
                 device("block", deviceNodes=[{"path": "/dev/b", "type": "b", "major": 7,
                                               "minor": 0}]),
                 device("mount", mounts=[{"hostPath": "/usr", "containerPath": "/usr"},
                                         {"hostPath": "/etc", "containerPath": "/a/b",
                                          "options": ["ro", "rbind", "rprivate"]},
                                         {"hostPath": "tmpfs", "containerPath": "/a",
                                          "type": "tmpfs", "options": ["size=1m"]}]),
                 device("hooks", hooks=[
                     {"hookName": name, "path": f"/bin/{name}", "args": [name, "x"],
                      "env": ["X=1"], "timeout": 3}
                     for name in ("prestart", "createRuntime", "createContainer", "startContainer",
                                  "poststart", "poststop")]),
                 device("network", netDevices=[{"hostInterfaceName": "eth7", "name": "net0"}])]
        specs[-1]["cdiVersion"] = "1.1.0"
        requests = {}
        for spec in specs:
            kind = spec["kind"]
            self.place.write(f"cdi/{kind.partition('/')[2]}.json", spec)
            requests[kind] = asked(f"{kind}=0", env=["PATH=/bin", "A=old"])
        every = ",".join(f"{kind}=0" for kind in requests if kind != "vendor.com/read")
        requests["all of them"] = asked(every, env=["A=old"])
        requests["a container that has much"] = asked(
            every,
            env=["A=old", "NO_VALUE=", "X=1", "B=2"],
            mounts=[{"destination": "/a/b", "source": "/old", "type": "bind"},
                    {"destination": "/usr", "source": "/old", "options": ["rbind"]},
                    {"destination": "/c", "source": "/old", "options": ["rbind"]}],
            hooks={"createRuntime": [{"path": "/bin/before", "args": ["before"]}]},
            linux={"devices": [{"path": "/dev/null", "type": "c", "major": 9, "minor": 9},
                               {"path": "/dev/c", "type": "c", "major": 9, "minor": 8}]})
        self.check_edits(requests)

    def check_edits(self, requests):
        demo = self.demo_answers(requests)
        runtime, _ = self.judged("--resolve", "always")
        for name, value in requests.items():
            with self.subTest(name):
                answer = self.good(runtime.create(value))
                self.assertEqual(names_in(answer["adjust"]), [])
                self.assertEqual(compared(answer["spec"]),
                                 compared(self.good(demo[name])["spec"]))


class Resolution(JudgedCase):
    """Names for runtimes that inject them, edits for the others."""

    VERSIONS = {"containerd/v2.4.2": True, "containerd/2.1.0": True, "containerd/v2.0.7": False,
                "containerd/v1.7.30": False, "containerd/1.7.29": False, "cri-o/1.34.0": True,
                "cri-o/1.33.5": False, "something/1": False}

    def test_by_the_version_of_the_runtime(self):
        plugin = None
        for version, gives_names in self.VERSIONS.items():
            with self.subTest(version):
                runtime = self.judge("-runtime", version, *([] if gives_names else ["-no-cdi"]))
                plugin = plugin or self.cdi_nri(CDI_NRI)
                runtime.wait(1)
                answer = self.good(runtime.create(asked(ZERO)))
                self.assertEqual(names_in(answer["adjust"]), [ZERO] if gives_names else [])
                spec = answer["spec"]
                self.assertIn("ZERO=0", spec["process"]["env"])
                self.assertIn("/dev/vendor0", [node["path"] for node in spec["linux"]["devices"]])
                self.assertEqual(len(spec["hooks"]["createRuntime"]), 1)
                runtime.kill()

    def test_a_name_in_the_field_is_not_injected_again(self):
        """Also where edits are given: a hook that is there twice runs twice."""
        runtime, _ = self.judged("--resolve", "always")
        field = {"CDIDevices": [{"name": ZERO}]}
        answer = self.good(runtime.create(asked(f"{ZERO},{TWO}", **field)))
        spec = answer["spec"]
        self.assertEqual(len(spec["hooks"]["createRuntime"]), 1)
        self.assertEqual(spec["process"]["env"].count("ZERO=0"), 1)
        self.assertIn("TWO=2", spec["process"]["env"])

    def test_annotations_of_the_container(self):
        """Those with CDI's own prefix: left to a runtime that reads them."""
        own = {"annotations": {"cdi.k8s.io/x": TWO}}
        for version, reads_them in (("containerd/v2.4.2", True), ("containerd/1.7.29", False)):
            with self.subTest(version):
                runtime = self.judge("-runtime", version)
                plugin = self.cdi_nri(CDI_NRI, "--resolve", "always")
                runtime.wait(1)
                for value in (request(**own), asked(f"{ONE},{TWO}", **own)):
                    value["container"]["env"] = ["PATH=/bin"]
                    spec = self.good(runtime.create(value))["spec"]
                    self.assertEqual("TWO=2" in spec["process"]["env"], not reads_them)
                self.assertIn("ONE=1", spec["process"]["env"])
                plugin.kill()
                runtime.kill()

    def test_another_prefix(self):
        runtime, _ = self.judged("--prefix", "example.com/devices", "--resolve", "never")
        for key in ("container.main", "pod"):
            answer = self.good(runtime.create(request({f"example.com/devices/{key}": ONE})))
            self.assertEqual(names_in(answer["adjust"]), [ONE])

    def test_a_settings_file(self):
        """The command line counts more."""
        settings = self.place.write("settings.toml", 'resolve = "never"\nnamespaces = ["gpu"]\n')
        for options, gives_names in (([], True), (["--resolve", "always"], False)):
            runtime, plugin = self.judged("--config", settings, *options)
            self.refused(runtime.create(asked(ONE)), "gpu")
            answer = self.good(runtime.create(asked(ONE, pod={"namespace": "gpu"})))
            self.assertEqual(names_in(answer["adjust"]), [ONE] if gives_names else [])
            plugin.kill()
            runtime.end()

    def test_groups_cannot_be_said(self):
        path = self.place.write("cdi/groups.json", device("groups", additionalGids=[44]))
        runtime, _ = self.judged("--resolve", "always")
        self.refused(runtime.create(asked("vendor.com/groups=0")), path, "additionalGids")
        self.good(runtime.create(asked(ONE)))

    def test_groups_are_left_to_a_runtime_that_injects_names(self):
        self.place.write("cdi/groups.json", device("groups", additionalGids=[44]))
        runtime, _ = self.judged(judge=("-runtime", "containerd/v2.4.2"))
        answer = self.good(runtime.create(asked("vendor.com/groups=0")))
        self.assertEqual(answer["spec"]["process"]["user"]["additionalGids"], [44])

    def test_a_spec_that_appears_and_goes(self):
        runtime, _ = self.judged("--resolve", "always")
        self.refused(runtime.create(asked("vendor.com/late=0")), "vendor.com/late=0")
        path = self.place.write("cdi/late.json", device("late", env=["LATE=1"]))
        answer = self.good(runtime.create(asked("vendor.com/late=0")))
        self.assertIn("LATE=1", answer["spec"]["process"]["env"])
        self.place.write("cdi/late.json", device("late", env=["LATE=2"]))
        answer = self.good(runtime.create(asked("vendor.com/late=0")))
        self.assertIn("LATE=2", answer["spec"]["process"]["env"])
        os.unlink(path)
        self.refused(runtime.create(asked("vendor.com/late=0")), "vendor.com/late=0")

    def test_a_long_answer(self):
        """Longer than the buffer of the runtime, 4096 bytes, and than its queue of frames."""
        for count in (60, 500, 20_000):
            variables = [f"VARIABLE_{number}={'x' * 80}" for number in range(count)]
            self.place.write("cdi/long.json", device("long", env=variables))
            with self.subTest(count):
                runtime, plugin = self.judged("--resolve", "always")
                answer = self.good(runtime.create(asked("vendor.com/long=0")))
                self.assertEqual(answer["spec"]["process"]["env"], variables)
                plugin.kill()
                runtime.end()


class Refusals(JudgedCase):
    """A container that cannot have its devices is not created; others are."""

    def test_no_other_container_is_stopped(self):
        runtime, _ = self.judged("--resolve", "always")
        annotations = {f"{COMMON}/container.bad": f"{KIND}=nine", f"{COMMON}/container.main": ONE}
        self.refused(runtime.create(request(annotations, name="bad")), f"{KIND}=nine")
        answer = self.good(runtime.create(request(annotations)))
        self.assertIn("ONE=1", answer["spec"]["process"]["env"])
        self.good(runtime.create(request({"other": "annotation"}, name="third")))

    def test_the_reason_names_the_nearest_device(self):
        runtime, _ = self.judged("--resolve", "always")
        self.refused(runtime.create(asked(f"{KIND}=zeroo")), f"{KIND}=zeroo", "zero")

    def test_the_reason_names_the_file_that_is_wrong(self):
        path = self.place.write("cdi/broken.json", '{"cdiVersion": "0.6.0", "kind": "a.com/b", }')
        runtime, _ = self.judged("--resolve", "always")
        self.refused(runtime.create(asked("a.com/b=0")), path)

    def test_the_reason_names_a_missing_node(self):
        path = self.place.write("cdi/gone.json",
                                device("gone", deviceNodes=[{"path": "/dev/no-x"}]))
        runtime, _ = self.judged("--resolve", "always")
        self.refused(runtime.create(asked("vendor.com/gone=0")), path, "/dev/no-x")

    def test_values_that_are_no_list(self):
        runtime, _ = self.judged("--resolve", "always")
        for value in ("- a\n- [b]", "[", "{a: b}", "- x\n y", f"{ONE} {TWO}", f"{ONE};{TWO}"):
            with self.subTest(value):
                self.refused(runtime.create(asked(value)), f"{COMMON}/container.main")

    def test_a_policy(self):
        policy = self.place.write("policy.json", {"rules": [
            {"name": "no two", "allow": False, "devices": [TWO], "sources": ["annotation"]},
            {"name": "others", "allow": True, "devices": [f"{KIND}=*"]}]})
        for way in ("always", "auto"):
            with self.subTest(way):
                runtime, plugin = self.judged("--policy", policy, "--resolve", way)
                self.refused(runtime.create(asked(TWO)), TWO, "no two")
                self.good(runtime.create(asked(ONE)))
                plugin.kill()
                runtime.end()

    def test_namespaces(self):
        runtime, _ = self.judged("--namespace", "team-*", "--namespace", "gpu")
        for namespace in ("team-a", "gpu"):
            self.good(runtime.create(asked(ONE, pod={"namespace": namespace})))
        for namespace in ("default", "my-team-a", ""):
            self.refused(runtime.create(asked(ONE, pod={"namespace": namespace})), namespace)
        self.good(runtime.create(request({"other": "x"}, pod={"namespace": "default"})))

    def test_command_lines(self):
        for options in (["--resolve", "sometimes"], ["--index", "7"], ["--index", "abc"],
                        ["--name", "a/b"], ["--config", self.place.path("none.toml")],
                        [f"--config={self.place.path('none.toml')}"],
                        ["--nonsense"], ["--name", ""]):
            with self.subTest(options):
                plugin = self.cdi_nri(CDI_NRI, *options)
                code = plugin.process.wait(20)
                self.assertIn(code, (1, 2), plugin.printed())
                self.assertTrue(plugin.printed())


if __name__ == "__main__":
    unittest.main(verbosity=2)
