#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What cdi-nri finds and reports: containers that exist when it connects, annotations that request
nothing, and devices that containers already have.

usage: nri_reports_test.py CDI_NRI [ARGUMENTS OF UNITTEST]
"""
import os
import sys
import unittest

sys.dont_write_bytecode = True
from nri_cases import COMMON, KIND, ONE, ZERO  # noqa: E402
from nri_peers import names_in, request, wait_until  # noqa: E402
from results_schema import checked  # noqa: E402
from scripted_runtime import Failed  # noqa: E402
from wire_case import WireCase, need_program  # noqa: E402

setUpModule = need_program

RUNNING = 3


def pod(number, devices=ONE):
    return {"id": f"p{number}", "name": f"pod-{number}", "namespace": "default",
            "annotations": {f"{COMMON}/pod": devices}}


def container(number, **more):
    return {"id": f"c{number}", "podSandboxId": f"p{number}", "name": "main", "state": RUNNING,
            **more}


class ReportCase(WireCase):
    def connected(self, *options, **runtime):
        """A connection before the runtime tells what exists."""
        self.runtime.close()
        self.runtime = self.listen()  # without connections of an earlier plugin
        self.start_plugin("-o", "json", *options)
        connection = self.accept()
        _, stream = connection.receive_registration()
        connection.accept_registration(stream)
        connection.configure(**runtime)
        return connection

    def lines(self, connection, event):
        """The lines of the log about an event, once the plugin has answered all."""
        connection.close()
        wait_until(lambda: '"disconnected"' in self.nri.printed(), "the end of the connection")
        lines = [checked("cdi-nri", line) for line in self.nri.printed().splitlines()]
        return [line for line in lines if line["event"] == event]


class Existing(ReportCase):
    def test_parts_in_which_containers_come_before_their_pods(self):
        connection = self.connected("--resolve", "always")
        quiet = {"id": "p9", "name": "quiet"}
        connection.synchronize([pod(1)], [container(2), container(9), container(1)], more=True)
        connection.synchronize([pod(3), quiet], [container(4)], more=True)
        connection.synchronize([pod(4), pod(2)], [container(3), container(8)])
        missing = self.lines(connection, "missing")
        self.assertEqual(sorted(line["id"] for line in missing), ["c1", "c2", "c3", "c4"])
        self.assertEqual(sorted(line["pod"] for line in missing),
                         ["pod-1", "pod-2", "pod-3", "pod-4"])

    def test_without_specs_nothing_is_said(self):
        connection = self.connected("--resolve", "never")
        connection.synchronize([pod(1)], [container(1), container(2)])
        self.assertEqual(self.lines(connection, "missing"), [])
        self.assertEqual(self.lines(connection, "unknown"), [])

    def test_a_device_that_does_not_resolve_now(self):
        """The container may have it from a spec that is gone."""
        os.unlink(self.place.path("cdi/vendor.json"))
        connection = self.connected("--resolve", "always")
        connection.synchronize([pod(1)], [container(1, env=["ONE=1"])])
        line, = self.lines(connection, "unknown")
        self.assertEqual((line["id"], line["devices"]), ("c1", [ONE]))
        self.assertIn(f'cannot resolve "{ONE}"', line["error"])
        self.assertEqual(self.lines(connection, "missing"), [])

    def test_the_line_as_text(self):
        self.start_plugin("--resolve", "always")
        connection = self.accept()
        _, stream = connection.receive_registration()
        connection.accept_registration(stream)
        connection.configure()
        connection.synchronize([pod(1, f"{KIND}=gone")], [container(1)])
        self.assertIn("default/pod-1, container main: runs, with or without vendor.com/dev=gone: "
                      "cannot resolve ", self.nri.printed())


class Ignored(ReportCase):
    def test_cdis_own_prefix_in_forms_of_a_container(self):
        connection = self.connected()
        connection.synchronize()
        keys = ["cdi.k8s.io/containers.main", "cdi.k8s.io/gpu", "nvidia.cdi.k8s.io/containers.main"]
        asked = request({key: ONE for key in keys})
        self.assertEqual(connection.create(asked), {})
        asked["container"]["annotations"] = {"cdi.k8s.io/gpu": ONE}  # which runtimes may read
        connection.create(asked)
        errors = [line["error"] for line in self.lines(connection, "ignored")]
        self.assertEqual([error.split('"')[1] for error in errors], [*keys, keys[0], keys[2]])

    def test_misspelt_keys_are_in_the_log_and_in_the_event_of_a_refusal(self):
        connection = self.connected()
        connection.synchronize()
        wrong = {"cdi.k8s.oi/pod": ONE}
        self.assertEqual(connection.create(request(wrong)), {})
        said = ('annotation "cdi.k8s.oi/pod" requests nothing: did you mean cdi.k8s.io/pod?')
        with self.assertRaises(Failed) as refused:
            connection.create(request({**wrong, "cdi.k8s.io/pod": "vendor.com/none=9"}))
        self.assertIn("; " + said, str(refused.exception))
        self.assertEqual([line["error"] for line in self.lines(connection, "ignored")], [said] * 2)

    def test_of_very_many_ten_are_named(self):
        connection = self.connected()
        connection.synchronize()
        asked = {f"cdi-devices.nri.io/x{number}": "" for number in range(1000, 3000)}
        connection.create(request(asked))
        errors = [line["error"] for line in self.lines(connection, "ignored")]
        self.assertEqual(len(errors), 11)
        self.assertIn('"cdi-devices.nri.io/x1009"', errors[9])
        self.assertEqual(errors[10], "1990 more annotations request nothing")


class Given(ReportCase):
    """A container whose runtime has injected the device."""

    HAS = {"env": ["EVERY=container", "ZERO=0", "LIST=a,b=c d"],
           "mounts": [{"destination": "/mnt/vendor", "source": "/usr",
                       "options": ["ro", "nosuid", "rbind"]}],
           "hooks": {"createRuntime": [{"path": "/usr/bin/vendor-hook",
                                        "args": ["vendor-hook", "--all"], "env": ["A=1"],
                                        "timeout": {"value": 7}}],
                     "poststop": [{"path": "/usr/bin/vendor-clean"}]},
           "linux": {"devices": [{"path": path, "type": "c", "major": 1, "minor": 3}
                                 for path in ("/dev/vendor0", "/dev/second")]}}

    def test_the_annotations_of_a_device_plugin_on_containerd_1_7(self):
        """With enable_cdi = true, of which NRI does not tell."""
        own = {"annotations": {"cdi.k8s.io/plugin": ZERO}}
        for options in (["--resolve", "auto"], ["--resolve", "always"], ["--resolve", "never"],
                        ["--namespace", "gpu-*"]):
            with self.subTest(options):
                connection = self.connected(*options, version="v1.7.30")
                connection.synchronize()
                self.assertEqual(connection.create(request(**own, **self.HAS)), {})
                connection.create(request())
                self.assertEqual(self.lines(connection, "injected"), [])
                self.nri.kill()

    def test_the_annotations_of_a_device_plugin_that_containerd_1_7_does_not_read(self):
        own = {"annotations": {"cdi.k8s.io/plugin": ZERO}}
        connection = self.connected("--resolve", "auto", version="v1.7.30")
        connection.synchronize()
        self.assertIn({"key": "ZERO", "value": "0"}, connection.create(request(**own))["env"])
        connection = self.connected("--namespace", "gpu-*", version="v1.7.30")
        connection.synchronize()
        with self.assertRaises(Failed):
            connection.create(request(**own))

    def test_a_name_in_the_field_of_a_runtime_that_does_not_tell(self):
        """Its hooks would run twice."""
        connection = self.connected("--resolve", "auto", version="v2.1.0")
        connection.synchronize()
        asked = request({f"{COMMON}/pod": f"{ZERO},{ONE}"}, **self.HAS)
        self.assertEqual(names_in(connection.create(asked)), [ONE])


if __name__ == "__main__":
    unittest.main(verbosity=2)
