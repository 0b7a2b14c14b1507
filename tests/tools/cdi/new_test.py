#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of `cdi new`. usage: new_test.py CDI"""
import unittest

from cdi_case import CdiCase

BY_PATH = "/dev/dri/by-path/pci-0000:03:00.0-render"


class New(CdiCase):
    def spec(self, *words):
        """The spec that cdi prints, which cdi also accepts as a file."""
        text = self.run_cdi("new", "acme.com/npu", *words)[0]
        self.run_cdi("validate", "--strict", self.put("spec.yaml", text))
        return self.json_of("new", "acme.com/npu", *words)

    def edits(self, *words):
        """The edits of a device `d`."""
        return self.spec(*words)["devices"][0]["containerEdits"]

    def refused(self, *words, expect=2):
        return self.run_cdi("new", "acme.com/npu", *words, expect=expect)[1]

    def test_shared_edits_belong_to_the_spec_wherever_they_stand(self):
        shared = ["--mount", "/opt/acme:/opt/acme:ro", "--env", "ACME=1"]
        devices = ["--device", "0=/dev/npu0", "--device", "1=/dev/npu1"]
        expected = {
            "cdiVersion": "0.5.0", "kind": "acme.com/npu",
            "devices": [{"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/npu0"}]}},
                        {"name": "1", "containerEdits": {"deviceNodes": [{"path": "/dev/npu1"}]}}],
            "containerEdits": {"env": ["ACME=1"],
                               "mounts": [{"hostPath": "/opt/acme", "containerPath": "/opt/acme",
                                           "options": ["rbind", "ro"]}]}}
        self.assertEqual(self.spec(*devices, *shared), expected)
        self.assertEqual(self.spec(*shared, *devices), expected)

    def test_the_text_is_yaml_unless_json_is_asked_for(self):
        words = ("new", "acme.com/npu", "--device", "a=/dev/a")
        self.assertEqual(self.run_cdi(*words)[0], """---
cdiVersion: "0.3.0"
kind: acme.com/npu
devices:
  - name: a
    containerEdits:
      deviceNodes:
        - path: /dev/a
""")
        self.assertEqual(self.json_of(*words)["cdiVersion"], "0.3.0")

    def test_nodes_have_paths_and_permissions(self):
        for word, node in (
                ("/dev/a", {"path": "/dev/a"}),
                ("/dev/a:/dev/a", {"path": "/dev/a"}),
                ("/dev/a:rw", {"path": "/dev/a", "permissions": "rw"}),
                ("/dev/a:/dev/b:rwm", {"path": "/dev/b", "hostPath": "/dev/a",
                                       "permissions": "rwm"}),
                ("/dev/a:/dev/b:none", {"path": "/dev/b", "hostPath": "/dev/a",
                                        "permissions": "none"}),
                (BY_PATH, {"path": BY_PATH}),
                (BY_PATH + ":/dev/r:r", {"path": "/dev/r", "hostPath": BY_PATH,
                                             "permissions": "r"})):
            with self.subTest(word):
                self.assertEqual(self.edits("--device", "d=" + word), {"deviceNodes": [node]})

    def test_letters_that_are_no_permissions_are_refused(self):
        for word, wrong in (("/dev/a:/dev/x:rx", "rx"), ("/dev/a:ro", "ro"),
                            (BY_PATH + ":/dev/x:rwx", "rwx"), ("/dev/a:read", "read")):
            with self.subTest(word):
                self.assertIn(f'"{wrong}" are not permissions: use some of r, w and m',
                              self.refused("--device", "d=" + word))
        self.assertEqual(self.edits("--device", f"d={BY_PATH}:{BY_PATH}:rw"), {
            "deviceNodes": [{"path": BY_PATH, "permissions": "rw"}]})
        self.assertEqual(self.edits("--device", "d=/dev/a:x:/dev/a:x:rw"), {
            "deviceNodes": [{"path": "/dev/a:x", "permissions": "rw"}]})
        for path in ("/dev/a:", "/dev/a:reader", "/dev/a:r~"):
            self.assertEqual(self.edits("--device", f"d={path}"), {"deviceNodes": [{"path": path}]})

    def test_a_device_has_all_nodes_that_name_it(self):
        edits = self.edits("--device", "d=/dev/a", "--device", "d=/dev/b")
        self.assertEqual([node["path"] for node in edits["deviceNodes"]], ["/dev/a", "/dev/b"])

    def test_a_node_without_a_name_is_explained(self):
        for word in ("/dev/npu0", "0:/dev/npu0"):
            self.assertIn("write NAME=HOST", self.refused("--device", word))

    def test_an_edit_can_belong_to_one_device(self):
        spec = self.spec("--device", "d=/dev/a", "--device", "e", "--device-env", "d=A=x=y",
                         "--device-mount", "e=/a:/b:bind,ro")
        self.assertEqual([device["containerEdits"] for device in spec["devices"]],
                         [{"env": ["A=x=y"], "deviceNodes": [{"path": "/dev/a"}]},
                          {"mounts": [{"hostPath": "/a", "containerPath": "/b",
                                       "options": ["bind", "ro"]}]}])
        self.assertNotIn("containerEdits", spec)
        edits = self.edits("--device", "d", "--device-mount", "d=/a:/b:ro,rbind")
        self.assertEqual(edits["mounts"][0]["options"], ["ro", "rbind"])
        for edit in (("--device-env", "f=A=1"), ("--device-mount", "f=/b:/c")):
            self.assertIn(edit[0] + ': there is no device "f": add it by --device',
                          self.refused("--device", "d=/dev/a", *edit, expect=1))

    def test_all_has_the_edits_of_all_devices_once(self):
        spec = self.spec("--device", "a=/dev/a", "--device", "a=/dev/ctl", "--device", "b=/dev/b",
                         "--device", "b=/dev/ctl", "--device-env", "a=A=1", "--device-mount",
                         "b=/x:/x", "--all")
        everything = spec["devices"][2]
        self.assertEqual(everything["name"], "all")
        self.assertEqual([node["path"] for node in everything["containerEdits"]["deviceNodes"]],
                         ["/dev/a", "/dev/ctl", "/dev/b"])
        self.assertEqual(everything["containerEdits"]["env"], ["A=1"])
        self.assertEqual(len(everything["containerEdits"]["mounts"]), 1)
        devices = ("--device", "a=/dev/a", "--device", "b=/dev/b", "--all")
        self.assertIn('"all" would set "I" to two values',
                      self.refused(*devices, "--device-env", "a=I=0", "--device-env", "b=I=1",
                                   expect=1))
        self.refused(*devices, "--device", "all=/dev/a", expect=1)

    def test_the_version_is_the_oldest_or_the_given_one(self):
        words = ("--device", "a=/dev/a")
        self.assertEqual(self.spec(*words, "--annotation", "a.b/c=d")["cdiVersion"], "0.6.0")
        self.assertEqual(self.spec(*words, "--version", "1.0.0")["cdiVersion"], "1.0.0")
        self.assertIn("annotations: needs CDI 0.6.0, but --version is 0.5.0",
                      self.refused(*words, "--annotation", "a=b", "--version", "0.5.0", expect=1))

    def test_an_engine_must_read_the_spec(self):
        words = ("--device", "a=/dev/a", "--for", "podman@4.3.1")
        self.assertEqual(self.spec(*words)["cdiVersion"], "0.3.0")
        self.assertIn("annotations: needs CDI 0.6.0, but podman@4.3.1 reads only CDI 0.5.0",
                      self.refused(*words, "--annotation", "a=b", expect=1))
        self.refused(*words, "--version", "0.5.0")
        self.assertIn("one character",
                      self.run_cdi("new", "a/npu", *words, expect=1)[1])

    def test_words_of_another_form_are_wrong_usage(self):
        device = ("--device", "d=/dev/a")
        for words in (
                ("--device", "d=dev/a"), ("--device", "=/dev/a"), ("--device", ""),
                ("--device", "d="), ("--device", "d=/"), ("--device", "d=/dev/a:/"), (),
                (*device, "--mount", "/a"), (*device, "--mount", "a:/b"),
                (*device, "--mount", "/a:b"), (*device, "--env", "A"), (*device, "--env", "=b"),
                (*device, "--device-env", "d=A"), (*device, "--device-env", "A"),
                (*device, "--device-mount", "/a:/b"), (*device, "--device-mount", "d=/a"),
                (*device, "--annotation", "a"), (*device, "--version", "2.0.0"),
                (*device, "--for", "nothing@1")):
            with self.subTest(words):
                self.refused(*words)

    def test_the_rules_of_specs_apply(self):
        self.assertIn("[device-edits]", self.refused("--device", "d", expect=1))
        self.assertIn("[kind-name]",
                      self.run_cdi("new", "acme", "--device", "d=/dev/a", expect=1)[1])
        self.assertIn("[annotation-key]", self.refused("--device", "d=/dev/a", "--annotation",
                                                       "a b=c", expect=1))


if __name__ == "__main__":
    unittest.main()
