#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests of `cdi transform root`. usage: transform_test.py CDI"""
import os
import unittest

from cdi_case import CdiCase

SPEC = """cdiVersion: 0.3.0
kind: vendor.com/gpu
devices:
- name: "a"
  containerEdits:
    deviceNodes: [{path: /dev/gpu0}, {path: /run/driver/dev/gpu1}]
containerEdits:
  mounts:
  - {hostPath: /run/driver/usr/lib/libgpu.so, containerPath: /usr/lib/libgpu.so, options: [bind]}
  - {hostPath: /run/drivers, containerPath: /run/driver/x, options: [bind]}
  hooks:
  - hookName: createContainer
    path: /run/driver/bin/hook
    args: [hook, --link, "/run/driver/a::/b"]
"""


class Transform(CdiCase):
    def setUp(self):
        super().setUp()
        self.put("a.yaml", SPEC)

    def root(self, *words, **options):
        return self.run_cdi("transform", "root", *words, **options)

    def moved(self, *words, **options):
        return self.json_of("transform", "root", *words, **options)

    def test_host_paths_move(self):
        spec = self.moved("/run/driver", "/", "a.yaml")
        self.assertEqual(spec["cdiVersion"], "0.5.0")
        self.assertEqual(spec["devices"][0]["containerEdits"]["deviceNodes"],
                         [{"path": "/dev/gpu0"},
                          {"path": "/run/driver/dev/gpu1", "hostPath": "/dev/gpu1"}])
        edits = spec["containerEdits"]
        self.assertEqual([(mount["hostPath"], mount["containerPath"]) for mount in edits["mounts"]],
                         [("/usr/lib/libgpu.so", "/usr/lib/libgpu.so"),
                          ("/run/drivers", "/run/driver/x")])
        self.assertEqual(edits["hooks"][0]["path"], "/bin/hook")
        self.assertEqual(edits["hooks"][0]["args"], ["hook", "--link", "/run/driver/a::/b"])

    def test_container_paths_move(self):
        spec = self.moved("/run/driver", "/", "a.yaml", "--relative-to", "container")
        self.assertEqual(spec["devices"][0]["containerEdits"]["deviceNodes"][1],
                         {"path": "/dev/gpu1", "hostPath": "/run/driver/dev/gpu1"})
        edits = spec["containerEdits"]
        self.assertEqual(edits["mounts"][1]["containerPath"], "/x")
        self.assertEqual(edits["hooks"][0]["path"], "/run/driver/bin/hook")
        self.assertEqual(edits["hooks"][0]["args"], ["hook", "--link", "/a::/b"])

    def test_the_spec_is_read_from_a_file_or_from_standard_input(self):
        expected = self.root("/run/driver", "/", "a.yaml")[0]
        self.assertTrue(expected.startswith("---\n"))
        for words in ((), ("-",)):
            self.assertEqual(self.root("/run/driver", "/", *words, given=SPEC)[0], expected)
        self.assertEqual(self.get("a.yaml"), SPEC)

    def test_specs_that_cannot_be_rewritten_are_refused(self):
        self.assertIn("none.yaml", self.root("/a", "/b", "none.yaml", expect=1)[1])
        owned = "# cdi-publisher/owner: me\n" + SPEC
        self.assertIn("owner", self.root("/run/driver", "/", "-", "-o", "json", given=owned,
                                         expect=1)[1])
        self.put("owned.yaml", owned)
        self.assertIn("owner", self.root("/run/driver", "/", "owned.yaml", "-o", "json",
                                         expect=1)[1])

    def test_warnings_and_another_format(self):
        self.put("a.json", '{"cdiVersion": "0.3.0", "kind": "a.b/c", "devices": [{"name": "d", '
                 '"containerEdits": {"hooks": [{"hookName": "prestart", "path": "bin/hook"}]}}]}')
        out, error = self.root("/a", "/b", "a.json", "-o", "yaml")
        self.assertTrue(out.startswith("---\ncdiVersion: "), out)
        self.assertIn("hook-path-absolute", error)

    def test_files_are_rewritten_in_place(self):
        self.put("b.json", '{"cdiVersion": "0.3.0", "kind": "a.b/c", "devices": [{"name": "d", '
                           '"containerEdits": {"deviceNodes": [{"path": "/run/driver/d"}]}}]}')
        os.chmod(self.path("a.yaml"), 0o600)
        expected = self.root("/run/driver", "/", "a.yaml")[0]
        out = self.root("/run/driver", "/", "a.yaml", "b.json", "--in-place", "--backup")[0]
        backup = os.path.realpath(self.path(""))
        self.assertEqual(out, f"a.yaml: rewritten\nbackup: {backup}/a.yaml.bak\n"
                              f"b.json: rewritten\nbackup: {backup}/b.json.bak\n")
        self.assertEqual(self.get("a.yaml"), expected)
        self.assertEqual(self.get("a.yaml.bak"), SPEC)
        self.assertIn('"hostPath": "/d"', self.get("b.json"))
        self.assertEqual(os.stat(self.path("a.yaml")).st_mode & 0o777, 0o600)

    def test_the_result_in_place_is_also_json(self):
        self.assertEqual(self.moved("/run/driver", "/", "a.yaml", "--in-place"),
                         {"version": 1, "files": [{"file": "a.yaml", "changed": 3}]})
        self.assertEqual(self.files(""), ["a.yaml"])

    def test_the_owner_is_kept(self):
        self.put("a.yaml", "# cdi-publisher/owner: driver\n" + SPEC)
        self.root("/run/driver", "/", "a.yaml", "--in-place")
        self.assertTrue(self.get("a.yaml").startswith("# cdi-publisher/owner: driver\n"))

    def test_a_file_without_such_a_path_stays(self):
        out, error = self.root("/opt", "/", "a.yaml", "--in-place", "--backup")
        self.assertEqual((out, self.get("a.yaml"), self.files("")), ("", SPEC, ["a.yaml"]))
        self.assertIn("cdi: warning: a.yaml: ", error)

    def test_the_same_root_is_named_as_the_reason_that_nothing_changes(self):
        for old, new in (("/", "/"), ("/run/driver", "/run//driver/")):
            error = self.root(old, new, "a.yaml", "--in-place")[1]
            self.assertIn("cdi: warning: a.yaml: ", error)
        self.assertEqual(self.get("a.yaml"), SPEC)

    def test_after_an_error_no_file_is_changed(self):
        self.put("bad.yaml", SPEC.replace("mounts", "colours"))
        self.put("two.yaml", SPEC + "---\n" + SPEC)
        os.symlink("a.yaml", self.path("link.json"))
        os.symlink("a.yaml", self.path("link.yaml"))
        os.link(self.path("a.yaml"), self.path("hard.yaml"))
        for name in ("bad.yaml", "two.yaml", "none.yaml", "a.txt", "link.json", "a.yaml",
                     "link.yaml", "hard.yaml"):
            with self.subTest(name):
                self.root("/run/driver", "/", "a.yaml", name, "--in-place", expect=1)
                self.assertEqual(self.get("a.yaml"), SPEC)

    def test_wrong_usage(self):
        for words in ((), ("/a",), ("a", "/b"), ("/a", "b"), ("/a", ""),
                      ("/a", "/b", "a.yaml", "a.yaml"), ("/a", "/b", "--in-place"),
                      ("/a", "/b", "-", "--in-place"), ("/a", "/b", "a.yaml", "--backup"),
                      ("/a", "/b", "a.yaml", "--relative-to", "x"),
                      ("/a", "/b", "a.yaml", "--quarantine")):
            with self.subTest(words):
                self.root(*words, expect=2)
        self.run_cdi("transform", expect=2)


if __name__ == "__main__":
    unittest.main()
