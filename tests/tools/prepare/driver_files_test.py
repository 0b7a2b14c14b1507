#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`cdi-prepare files`: driver_files_test.py CDI_PREPARE [unittest options]"""
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
import node_trees  # noqa: E402  pylint: disable=wrong-import-position
from tree_case import TreeTest, run_tests  # noqa: E402  pylint: disable=C0413

VERSION = node_trees.NVIDIA_DRIVER
LIBRARIES = "/usr/lib/x86_64-linux-gnu"


class Files(TreeTest):
    """A host with the driver's files, and without a GPU, /proc and /sys."""

    tree = "nv2"

    def setUp(self):
        super().setUp()
        for name in ("proc", "sys", "dev"):
            shutil.rmtree(self.path(name))

    def run_files(self, *options, code=0):
        done = self.run_prepare("files", *options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.errors = done.stderr
        return done.stdout

    def test_paths(self):
        paths = self.run_files().splitlines()
        self.assertEqual(paths, sorted(paths))
        for path in paths:
            self.assertTrue(self.path(path).exists(), path)
        for path in (f"{LIBRARIES}/libcuda.so.{VERSION}", f"{LIBRARIES}/libcuda.so.1",
                     "/usr/bin/nvidia-smi", f"/lib/firmware/nvidia/{VERSION}/gsp_ga10x.bin",
                     "/etc/vulkan/icd.d/nvidia_icd.json"):
            self.assertIn(path, paths)
        self.assertNotIn(f"{LIBRARIES}/libnvidia-compiler.so.535.216.03", paths)

    def test_json(self):
        answer = json.loads(self.run_files("-o", "json"))
        self.assertEqual(answer["driverVersion"], VERSION)
        by_path = {file["path"]: file for file in answer["files"]}
        self.assertEqual(by_path["/usr/bin/nvidia-smi"],
                         {"path": "/usr/bin/nvidia-smi", "kind": "program",
                          "containerPath": "/usr/bin/nvidia-smi", "links": []})
        self.assertEqual({file["kind"] for file in answer["files"]},
                         {"library", "program", "firmware", "configuration"})

    def test_link_that_the_host_lacks(self):
        self.path(f"{LIBRARIES}/libcuda.so.1").unlink()
        self.assertNotIn(f"{LIBRARIES}/libcuda.so.1", self.run_files().splitlines())

    def test_version_that_is_not_installed(self):
        self.assertEqual(self.run_files("--driver-version", "1.2.3", code=1), "")
        self.assertIn(f"version 1.2.3 is not installed; installed are: {VERSION}: ", self.errors)

    def test_libraries_that_are_older_than_the_driver(self):
        module = self.path("sys/module/nvidia")
        module.mkdir(parents=True)
        (module / "version").write_text("575.57.08\n")
        self.run_files()
        self.assertRegex(self.errors, rf"575\.57\.08.*{VERSION}")
        for path in ("usr", "lib", "etc"):
            shutil.rmtree(self.path(path))
        for options, which in (((), ""), (("-o", "json", "--profile", "compute"),
                                          " for the profile compute")):
            self.assertEqual(self.run_files(*options, code=1), "")
            self.assertIn(f"no file of driver 575.57.08{which} is installed on this host",
                          self.errors)
            self.assertIn("say where the driver is installed: --root, ", self.errors)

    def test_same_files_as_the_spec(self):
        listed = set(self.run_files().splitlines())
        node = self.place / "whole"
        node_trees.TREES["nv2"](str(node), False)
        self.root = node
        mounts = self.specs()["nvidia.com/gpu"]["containerEdits"]["mounts"]
        self.assertEqual({mount["hostPath"] for mount in mounts} - listed, set())

    def test_profile(self):
        everything = set(self.run_files().splitlines())
        compute = set(self.run_files("--profile", "compute").splitlines())
        self.assertLess(compute, everything)
        self.assertNotIn(f"{LIBRARIES}/libEGL_nvidia.so.0", compute)

    def test_driver_root(self):
        everything = self.run_files().splitlines()
        os.makedirs(self.path("run/nvidia/driver"))
        for name in ("usr", "etc", "lib"):
            self.path(name).rename(self.path(f"run/nvidia/driver/{name}"))
        self.assertEqual(self.run_files("--driver-root", "/run/nvidia/driver").splitlines(),
                         ["/run/nvidia/driver" + path for path in everything])
        answer = json.loads(self.run_files("--driver-root", "/run/nvidia/driver", "-o", "json"))
        self.assertEqual({file["containerPath"] for file in answer["files"]} - set(everything),
                         set())

    def test_several_versions(self):
        self.path(f"{LIBRARIES}/libcuda.so.535.216.03").touch()
        self.assertEqual(self.run_files(code=1), "")
        self.assertIn(f": 535.216.03, {VERSION}: ", self.errors)
        paths = self.run_files("--driver-version", "535.216.03").splitlines()
        self.assertIn(f"{LIBRARIES}/libcuda.so.535.216.03", paths)
        self.assertNotIn(f"{LIBRARIES}/libcuda.so.{VERSION}", paths)

    def test_no_driver(self):
        shutil.rmtree(self.path("usr"))
        self.assertEqual(self.run_files(code=1), "")
        self.assertIn("no libcuda or libnvidia-ml with a version in its name is installed",
                      self.errors)


if __name__ == "__main__":
    run_tests()
