#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`cdi run`: commands in a sandbox of bwrap. usage: run_test.py CDI

Skips the tests, with the reason, if bwrap is missing or cannot start a sandbox here.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
CDI = os.path.abspath(sys.argv.pop(1))
COMPILER = shutil.which("cc") or shutil.which("gcc")
FINDER = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** names) {
  for (int i = 1; i < count; ++i) puts(dlopen(names[i], RTLD_NOW) ? "found" : dlerror());
}
"""


def obstacle():
    """Why no sandbox can be started; empty if one can."""
    if not shutil.which("bwrap"):
        return "bwrap is not installed"
    done = subprocess.run(["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "true"],
                          stderr=subprocess.PIPE, text=True)
    return "" if done.returncode == 0 else f"bwrap: {done.stderr.strip()}"


class Sandbox(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if why := obstacle():
            raise unittest.SkipTest(why)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/var/tmp")  # the sandbox has another /tmp
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)
        (self.folder / "specs").mkdir()

    def write_spec(self, **edits):
        spec = {"cdiVersion": "0.6.0", "kind": "vendor.com/gpu",
                "devices": [{"name": "0", "containerEdits": edits}]}
        (self.folder / "specs/gpu.json").write_text(json.dumps(spec))

    def run_cdi(self, *words, code=0, **more):
        done = subprocess.run([CDI, "-d", self.folder / "specs", "run", *words], text=True,
                              timeout=60, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_the_command_sees_the_device_and_the_variable(self):
        self.write_spec(env=["GPU=0"],
                        deviceNodes=[{"path": "/dev/gpu0", "hostPath": "/dev/zero"}])
        script = "echo $GPU; stat -c '%t:%T' /dev/gpu0; head -c 2 /dev/gpu0 | od -An -tx1"
        done = self.run_cdi("vendor.com/gpu=0", "--", "sh", "-c", script)
        self.assertEqual((done.stdout, done.stderr), ("0\n1:5\n 00 00\n", ""))

    def test_no_other_device_is_there_and_the_host_is_read_only(self):
        self.write_spec(env=["GPU=0"])
        done = self.run_cdi("vendor.com/gpu=0", "--", "sh", "-c",
                            f"ls /dev/loop* /dev/sd* 2>&-; touch {self.folder}/x; echo $?")
        self.assertEqual(done.stdout, "1\n")
        self.assertIn("Read-only file system", done.stderr)
        self.assertFalse((self.folder / "x").exists())

    def test_mounts_on_files_of_the_host_and_below_tmp(self):
        there, source = self.folder / "there", self.folder / "source"
        there.write_text("old")
        source.write_text("new")
        self.write_spec(mounts=[{"hostPath": str(source), "containerPath": path,
                                 "options": ["ro", "bind"]} for path in (str(there), "/tmp/in")])
        done = self.run_cdi("vendor.com/gpu=0", "--", "cat", there, "/tmp/in")
        self.assertEqual((done.stdout, done.stderr), ("newnew", ""))
        self.assertEqual(there.read_text(), "old")
        there.unlink()
        self.assertIn("the host has no such path",
                      self.run_cdi("vendor.com/gpu=0", "--", "true", code=5).stderr)
        self.write_spec(mounts=[{"hostPath": str(path), "containerPath": str(there),
                                 "options": ["ro", "bind"]} for path in (self.folder, source)])
        said = self.run_cdi("vendor.com/gpu=0", "--", "true", code=5).stderr
        self.assertEqual(said.count("the host has no such path"), 1, said)

    def test_a_library_that_another_replaces_is_lost(self):
        """One that is in the directory for libraries anyway is not."""
        one, other = self.folder / "one", self.folder / "other"
        one.write_text("")
        other.write_text("")
        places = [(one, "/dev/cdi/lib"), (one, self.folder / "missing"), (other, "/dev/cdi/lib")]
        for mounts, code in ((places[:2], 0), (places, 5)):
            self.write_spec(mounts=[{"hostPath": str(path), "containerPath": str(place),
                                     "options": ["ro", "bind"]} for path, place in mounts])
            said = self.run_cdi("vendor.com/gpu=0", "--", "true", code=code).stderr
            self.assertEqual("the host has no such path" in said, code == 5)

    def test_without_a_bwrap_that_starts(self):
        self.write_spec(env=["GPU=0"])
        only = {"env": {"PATH": str(self.folder)}}
        said = self.run_cdi("vendor.com/gpu=0", "--", "true", code=1, **only).stderr
        self.assertIn("cannot run bwrap: No such file or directory: install bubblewrap", said)
        bwrap = self.folder / "bwrap"
        bwrap.write_bytes(b"\x7fELF, but no program")
        bwrap.chmod(0o755)
        said = self.run_cdi("vendor.com/gpu=0", "--", "true", code=1, **only).stderr
        self.assertIn("cannot run bwrap: Exec format error\n", said)

    def test_the_exit_code_is_that_of_the_command(self):
        self.write_spec(env=["GPU=0"])
        self.run_cdi("vendor.com/gpu=0", "--", "sh", "-c", "exit 7", code=7)
        self.run_cdi("vendor.com/gpu=0", "--", "sh", "-c", "kill -TERM $$",
                     code=128 + signal.SIGTERM)

    def test_a_command_that_cannot_start(self):
        """As with sh(1) and env(1): 127 for a missing one, 126 for one that cannot be executed."""
        self.write_spec(env=["GPU=0"])
        text = self.folder / "text"
        text.write_text("no program")
        script = self.folder / "script"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        (self.folder / "a=b").write_text("no program")
        for command, code, words in (("no-such-command", 127, "No such file or directory"),
                                     ("no-such=command", 127, "not found"),
                                     (self.folder / "a=b", 126, "Permission denied"),
                                     ("/no/such", 127, "No such file or directory"),
                                     (script, 127, "No such file or directory"),
                                     (text, 126, "Permission denied"),
                                     (self.folder, 126, "Permission denied"),
                                     ("/dev/null", 126, "Permission denied")):
            with self.subTest(command):
                done = self.run_cdi("vendor.com/gpu=0", "--", command, "--version", code=code)
                self.assertIn(words, done.stderr)
                self.assertIn(str(command), done.stderr)
                self.assertEqual(done.stdout, "")

    def test_words_of_the_command_are_not_options_or_variables(self):
        self.write_spec(env=["GPU=0"])
        program = self.folder / "a=b"
        program.write_text("#!/bin/sh\necho \"$GPU $*\"\n")
        program.chmod(0o755)
        self.assertEqual(self.run_cdi("vendor.com/gpu=0", "--", program, "C=1").stdout, "0 C=1\n")
        self.assertEqual(self.run_cdi("vendor.com/gpu=0", "--", "echo", "-i", "C=1").stdout,
                         "-i C=1\n")

    def test_the_command_gets_signals(self):
        self.write_spec(env=["GPU=0"])
        for number in (signal.SIGTERM, signal.SIGUSR1):
            name = number.name.removeprefix("SIG")
            script = f"trap 'echo got {name}; exit 7' {name}; echo ready; sleep 1000 & wait"
            running = subprocess.Popen([CDI, "-d", self.folder / "specs", "run", "vendor.com/gpu=0",
                                        "--", "sh", "-c", script], text=True,
                                       stdout=subprocess.PIPE)
            self.assertEqual(running.stdout.readline(), "ready\n")
            running.send_signal(number)
            # The end of the output shows that nothing is left in the sandbox.
            self.assertEqual(running.communicate(timeout=60)[0], f"got {name}\n")
            self.assertEqual(running.returncode, 7)

    def test_a_signal_ends_a_command_that_does_not_handle_it(self):
        self.write_spec(env=["GPU=0"])
        running = subprocess.Popen([CDI, "-d", self.folder / "specs", "run", "vendor.com/gpu=0",
                                    "--", "sh", "-c", "echo ready; exec sleep 1000"], text=True,
                                   stdout=subprocess.PIPE)
        running.stdout.readline()
        running.terminate()
        running.communicate(timeout=60)
        self.assertEqual(running.returncode, 128 + signal.SIGTERM)

    def test_the_starter_ignores_ends_of_children(self):
        self.write_spec(env=["GPU=0"])
        done = subprocess.run([CDI, "-d", self.folder / "specs", "run", "vendor.com/gpu=0", "--",
                               "sh", "-c", "exit 7"], timeout=60, check=False,
                              preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(done.returncode, 7)

    def test_the_command_has_no_descriptor_of_bwrap(self):
        self.write_spec(env=["GPU=0"])
        done = self.run_cdi("vendor.com/gpu=0", "--", "sh", "-c", "echo /proc/self/fd/*")
        self.assertLessEqual(set(done.stdout.split()),
                             {f"/proc/self/fd/{number}" for number in (0, 1, 2, 3)}, done.stdout)

    def test_a_policy_decides(self):
        self.write_spec(env=["GPU=0"])
        policy = self.folder / "policy.json"
        policy.write_text(json.dumps({"rules": []}))
        done = self.run_cdi("--policy", policy, "vendor.com/gpu=0", "--", "echo", "started", code=4)
        self.assertEqual(done.stdout, "")
        self.assertIn("the policy denies", done.stderr)

    @unittest.skipUnless(COMPILER, "needs a C compiler")
    def test_libraries_are_found_without_hooks(self):
        library = self.folder / "libfake.so.570"
        subprocess.run([COMPILER, "-shared", "-fPIC", "-Wl,-soname,libfake.so.1", "-x", "c",
                        "/dev/null", "-o", library], check=True)
        finder = self.folder / "finder"
        subprocess.run([COMPILER, "-x", "c", "-", "-ldl", "-o", finder], input=FINDER.encode(),
                       check=True)
        hook = {"hookName": "createContainer", "path": "/usr/bin/nvidia-cdi-hook"}
        self.write_spec(
            mounts=[{"hostPath": str(library), "containerPath": "/opt/none/libfake.so.570",
                     "options": ["ro", "nosuid", "nodev", "bind"]}],
            hooks=[{**hook, "args": ["nvidia-cdi-hook", "update-ldcache", "--folder", "/opt/none"]},
                   {**hook, "args": ["nvidia-cdi-hook", "create-symlinks", "--link",
                                     "libfake.so.1::/opt/none/libfake.so"]}])
        done = self.run_cdi("vendor.com/gpu=0", "--", finder, "libfake.so.1", "libfake.so")
        self.assertEqual(done.stdout, "found\nfound\n")

    def test_what_is_lost_prevents_the_start(self):
        self.write_spec(env=["GPU=0"], mounts=[
            {"hostPath": "/etc", "containerPath": "/none/etc", "options": ["ro", "bind"]}])
        done = self.run_cdi("vendor.com/gpu=0", "--", "echo", "started", code=5)
        self.assertEqual(done.stdout, "")
        self.assertIn("the host has no such path", done.stderr)
        done = self.run_cdi("--partial", "vendor.com/gpu=0", "--", "echo", "started")
        self.assertEqual(done.stdout, "started\n")

    def test_wrong_words(self):
        self.write_spec(env=["GPU=0"])
        self.run_cdi(code=2)
        self.assertIn("a command must follow", self.run_cdi("vendor.com/gpu=0", code=2).stderr)
        self.assertIn("NAME is required", self.run_cdi("--", "true", code=2).stderr)
        self.run_cdi("--bogus", "vendor.com/gpu=0", "--", "true", code=2)
        self.assertIn("cannot resolve", self.run_cdi("true", "--", "--help", code=1).stderr)
        unknown = self.run_cdi("vendor.com/gpu=9", "--", "true", code=1)
        self.assertIn('no device "9"', unknown.stderr)


if __name__ == "__main__":
    unittest.main()
