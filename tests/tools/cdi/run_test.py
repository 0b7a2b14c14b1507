#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`cdi run`: commands in a sandbox of bwrap. usage: run_test.py CDI

Skips the tests, with the reason, if bwrap is missing or cannot start a sandbox here.
"""
import ctypes
import os
import platform
import pty
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

from cdi_case import CDI, CdiCase

os.chdir("/")  # each sandbox has it; a build folder may be below /tmp, which is empty there
COMPILER = shutil.which("cc") or shutil.which("gcc")
FINDER = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** names) {
  for (int i = 1; i < count; ++i) puts(dlopen(names[i], RTLD_NOW) ? "found" : dlerror());
}
"""
# Prints what ioctl says to requests, which are words.
ASKER = r"""
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
for word in sys.argv[1:]:
    done = libc.ioctl(0, ctypes.c_ulong(int(word, 0)), ctypes.create_string_buffer(b"~~~~~~~~"))
    print("allowed" if done == 0 else os.strerror(ctypes.get_errno()))
"""
# The same by a call of a 32-bit program, which a 64-bit one can make, too.
OLD_ASKER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    long done;
    const unsigned request = (unsigned)strtoul(words[i], 0, 0);
    __asm__ volatile("int $0x80"
                     : "=a"(done) : "a"(54), "b"(0), "c"(request), "d"(0)
                     : "memory", "r8", "r9", "r10", "r11");
    puts(strerror((int)-done));
  }
}
"""
TIOCSTI, TIOCLINUX, TIOCGWINSZ = 0x5412, 0x541C, 0x5413


def forbid_filters():
    """Makes this process and those that it starts believe that the kernel has no filters."""
    call = {"x86_64": 157, "aarch64": 167}[platform.machine()]  # prctl
    no_new_privileges, set_filter, invalid = 38, 22, 0x50000 | 22
    steps = [(0x20, 0, 0, 0), (0x15, 0, 3, call), (0x20, 0, 0, 16), (0x15, 0, 1, set_filter),
             (6, 0, 0, invalid), (6, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps),
                                                      ctypes.addressof(code)))
    libc = ctypes.CDLL(None)
    assert libc.prctl(no_new_privileges, 1, 0, 0, 0) == 0
    assert libc.prctl(set_filter, 2, program) == 0


def obstacle():
    """Why no sandbox can be started; empty if one can."""
    if not shutil.which("bwrap"):
        return "bwrap is not installed"
    done = subprocess.run(["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "true"],
                          stderr=subprocess.PIPE, text=True)
    return "" if done.returncode == 0 else f"bwrap: {done.stderr.strip()}"


class Sandbox(CdiCase):
    parent = "/var/tmp"  # the sandbox has another /tmp

    @classmethod
    def setUpClass(cls):
        if why := obstacle():
            raise unittest.SkipTest(why)

    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)

    def write_spec(self, **edits):
        self.put("specs/gpu.json", {"cdiVersion": "0.6.0", "kind": "vendor.com/gpu",
                                    "devices": [{"name": "0", "containerEdits": edits}]})

    def run_cdi(self, *words, code=0, **more):
        return self.run_tool(CDI, "-d", self.folder / "specs", "run", *words, expect=code,
                             stdin=None, **more)

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

    def test_a_working_directory_that_is_not_there_is_a_warning(self):
        self.write_spec(env=["GPU=0"])
        hidden = tempfile.TemporaryDirectory(dir="/tmp")
        self.addCleanup(hidden.cleanup)
        run = ("vendor.com/gpu=0", "--", "pwd")
        done = self.run_cdi(*run, cwd=hidden.name)
        self.assertNotEqual(done.stdout, hidden.name + "\n")
        self.assertIn(f'does not have the working directory "{hidden.name}"', done.stderr)
        for words, where in ((("--bind", "."), hidden.name), ((), self.folder), ((), "/tmp"),
                             (("--hide-home",), self.folder.parent)):
            with self.subTest(words=words, where=where):
                done = self.run_cdi(*words, *run, cwd=where,
                                    env={**os.environ, "HOME": str(self.folder.parent)})
                self.assertEqual((done.stdout, done.stderr), (f"{where}\n", ""))
        done = self.run_cdi("--hide-home", *run, env={**os.environ, "HOME": "/var/tmp"})
        self.assertIn("does not have the working directory", done.stderr)
        self.assertEqual(self.run_cdi("--quiet", *run, cwd=hidden.name).stderr, "")

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
        """A library that is in the directory for libraries anyway is not."""
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
                                     ("no-such=command", 127, "No such file or directory"),
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

    def in_terminal(self, command, keys=(), before=lambda: None):
        """Runs a command with a terminal of its own. Types keys, each after what it answers.

        Returns what the terminal shows, and the exit code.
        """
        keys = list(keys)
        child, terminal = pty.fork()
        if child == 0:
            try:
                before()
                os.execv(command[0], list(map(str, command)))
            finally:
                os._exit(99)
        shown = b""
        try:
            while part := os.read(terminal, 4096):
                shown += part
                if keys and keys[0][0] in shown:
                    os.write(terminal, keys.pop(0)[1])
        except OSError:  # as the end is said
            pass
        os.close(terminal)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return shown.decode().replace("\r\n", "\n"), code

    def sandbox(self, *command):
        return [CDI, "-d", self.folder / "specs", "run", "vendor.com/gpu=0", "--", *command]

    def test_the_command_cannot_type_into_its_terminal(self):
        self.write_spec(env=["GPU=0"])
        asked = [TIOCSTI, TIOCLINUX, TIOCSTI | 1 << 32, TIOCLINUX | 0xFFFFFFFF << 32, TIOCGWINSZ]
        ask = [sys.executable, "-c", ASKER, *map(str, asked)]
        refused = ["Operation not permitted"] * 4
        shown, code = self.in_terminal(self.sandbox(*ask))
        self.assertEqual((shown.split("\n"), code), ([*refused, "allowed", ""], 0))
        shown, _ = self.in_terminal(ask)
        self.assertNotIn(refused[0], shown, "without the sandbox, the kernel itself refused it")
        status = self.in_terminal(self.sandbox("grep", "^Seccomp:", "/proc/self/status"))[0]
        self.assertEqual(status.split(), ["Seccomp:", "2"])

    @unittest.skipUnless(COMPILER and platform.machine() == "x86_64", "needs cc on x86-64")
    def test_calls_of_32_bit_programs_are_no_way_around_the_filter(self):
        self.write_spec(env=["GPU=0"])
        asker = self.folder / "asker"
        subprocess.run([COMPILER, "-x", "c", "-", "-o", asker], input=OLD_ASKER.encode(),
                       check=True)
        asked = [asker, *map(str, (TIOCSTI, TIOCLINUX, TIOCGWINSZ))]
        plain, code = self.in_terminal(asked)
        if code != 0 or "Function not implemented" in plain:
            self.skipTest("this kernel runs no 32-bit programs")
        shown, _ = self.in_terminal(self.sandbox(*asked))
        self.assertEqual(shown.split("\n")[:2], ["Operation not permitted"] * 2)
        self.assertEqual(shown.split("\n")[2], plain.split("\n")[2])

    @unittest.skipUnless(platform.machine() in ("x86_64", "aarch64"), "has a new session anyway")
    def test_without_filters_there_is_a_new_session(self):
        self.write_spec(env=["GPU=0"])
        sessions = [sys.executable, "-c", "import os; print(os.getsid(0))"]
        self.assertEqual(self.in_terminal(self.sandbox(*sessions)), ("0\n", 0),
                         "one of a process outside")
        shown, code = self.in_terminal(self.sandbox(*sessions), before=forbid_filters)
        self.assertEqual((shown == "0\n", code), (False, 0), shown)
        ask = [sys.executable, "-c", ASKER, str(TIOCSTI)]
        self.assertNotIn("allowed", self.in_terminal(self.sandbox(*ask), before=forbid_filters)[0])

    def test_the_keys_that_interrupt_reach_the_command_alone(self):
        """bwrap, which they would end, is not there for them."""
        self.write_spec(env=["GPU=0"])
        code = ("import signal, sys\n"
                "def tell(*_): raise InterruptedError\n"
                "for number in (signal.SIGINT, signal.SIGQUIT): signal.signal(number, tell)\n"
                "for answer in ('once', 'twice'):\n"
                "    try: print('ready', answer, flush=True), signal.pause()\n"
                "    except InterruptedError: print('interrupted', answer, flush=True)\n"
                "sys.exit(7 if input() == 'go on' else 8)\n")
        keys = [(b"ready once", b"\x03"), (b"ready twice", b"\x1c"),
                (b"interrupted twice", b"go on\n")]
        shown, end = self.in_terminal(self.sandbox(sys.executable, "-c", code), keys)
        self.assertEqual(end, 7, shown)

    def test_control_c_ends_a_command_that_does_not_handle_it(self):
        self.write_spec(env=["GPU=0"])
        for before in (lambda: None, forbid_filters):
            command = self.sandbox("sh", "-c", "echo ready; exec sleep 1000")
            self.assertEqual(self.in_terminal(command, [(b"ready", b"\x03")], before)[1],
                             128 + signal.SIGINT)

    def test_the_command_has_the_signals_of_the_starter(self):
        self.write_spec(env=["GPU=0"])
        show = ["sed", "-n", "s/^Sig\\(Blk\\|Ign\\):\t//p", "/proc/self/status"]

        def ignore():
            signal.signal(signal.SIGINT, signal.SIG_IGN)

        def block():
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGQUIT, signal.SIGUSR2})

        def signals(text):  # without those of the C library
            return [int(line, 16) & 0x7FFFFFFF for line in text.split()]

        for before in (None, ignore, block):
            plain = subprocess.run(show, text=True, stdout=subprocess.PIPE, check=True,
                                   preexec_fn=before).stdout
            found = self.run_cdi("vendor.com/gpu=0", "--", *show, preexec_fn=before).stdout
            self.assertEqual(signals(found), signals(plain))
            if before:
                self.assertTrue(any(signals(found)))

    def test_cdi_itself_need_not_be_in_the_sandbox(self):
        self.write_spec(env=["GPU=0"])
        home = self.folder / "home"
        home.mkdir()
        with tempfile.TemporaryDirectory() as below_tmp:
            for place in (home, below_tmp):
                cdi = shutil.copy(CDI, place)
                done = subprocess.run([cdi, "-d", self.folder / "specs", "run",
                                       "--hide-home", "vendor.com/gpu=0", "--", "ls", place], text=True,
                                      env={**os.environ, "HOME": str(home)}, timeout=60,
                                      capture_output=True, check=False)
                self.assertEqual((done.returncode == 0, done.stdout), (place == home, ""))
                self.assertEqual(done.stderr.startswith("ls: "), place != home, done.stderr)

    def test_bound_directories_can_be_written(self):
        self.write_spec(env=["GPU=0"])
        one, other = self.folder / "one", self.folder / "two words"
        one.mkdir()
        other.mkdir()
        (self.folder / "link").symlink_to(other)
        script = f"touch {one}/x '{self.folder}/link/y'; touch {self.folder}/z"
        done = self.run_cdi("--bind", one, "--bind", "link", "vendor.com/gpu=0", "--", "sh", "-c",
                            script, cwd=self.folder, code=1)
        self.assertEqual(done.stderr.count("Read-only file system"), 1, done.stderr)
        self.assertTrue((one / "x").exists() and (other / "y").exists())
        self.assertFalse((self.folder / "z").exists())
        with tempfile.TemporaryDirectory() as below:
            self.run_cdi("--bind", below, "vendor.com/gpu=0", "--", "touch", f"{below}/w")
            self.assertEqual(os.listdir(below), ["w"])

    def test_directories_that_cannot_be_bound(self):
        self.write_spec(env=["GPU=0"])
        file = self.folder / "file"
        file.write_text("")
        for path, why in ((self.folder / "none", "No such file or directory"),
                          (file, "it is not a directory"), ("/", "it is the root"),
                          ("/dev", "the sandbox has a /dev of its own"),
                          ("/proc/self", "the sandbox has a /proc of its own")):
            done = self.run_cdi("--bind", path, "vendor.com/gpu=0", "--", "echo", "on", code=1)
            self.assertIn(why, done.stderr)
            self.assertIn(f'cannot bind "{path}"', done.stderr)
            self.assertEqual(done.stdout, "")
        self.run_cdi("--bind", "", "vendor.com/gpu=0", "--", "true", code=2)

    def test_the_home_directory_is_hidden_but_for_what_is_bound(self):
        self.write_spec(env=["GPU=0"])
        home = self.folder / "home"
        (home / "projects").mkdir(parents=True)
        (home / "key").write_text("secret")
        (self.folder / "link").symlink_to(home)
        for place in (home, self.folder / "link"):
            env = {**os.environ, "HOME": str(place)}
            script = f"ls {home} {place}/projects; touch {home}/a {home}/projects/b"
            done = self.run_cdi("--hide-home", "--bind", home / "projects", "vendor.com/gpu=0", "--",
                                "sh", "-c", script, env=env)
            self.assertNotIn("key", done.stdout)
            self.assertEqual(sorted(os.listdir(home)), ["key", "projects"])
            self.assertEqual(os.listdir(home / "projects"), ["b"])
            self.assertIn("key", self.run_cdi("vendor.com/gpu=0", "--", "ls", home, env=env).stdout)
        env = {**os.environ, "HOME": str(home)}
        done = self.run_cdi("--hide-home", "--bind", home / "projects", "--bind", self.folder,
                            "vendor.com/gpu=0", "--", "sh", "-c",
                            f"ls {home} {home}/projects; touch {home}/c {self.folder}/d", env=env)
        self.assertNotIn("key", done.stdout)
        self.assertIn("b", done.stdout.split())
        self.assertEqual(sorted(os.listdir(home)), ["key", "projects"])
        self.assertTrue((self.folder / "d").exists())
        done = self.run_cdi("--hide-home", "--bind", self.folder / "link", "vendor.com/gpu=0", "--",
                            "true", code=1, env=env)
        self.assertIn("link\": it is the home directory, which --hide-home hides", done.stderr)
        for place, why in ((self.folder / "none", "No such file"), ("/", "it is the root")):
            done = self.run_cdi("--hide-home", "vendor.com/gpu=0", "--", "true", code=1,
                                env={**os.environ, "HOME": str(place)})
            self.assertIn(f'cannot hide the home directory "{place}": {why}', done.stderr)

    def test_no_network(self):
        self.write_spec(env=["GPU=0"])
        show = ["sh", "-c", "tail -n +3 /proc/net/dev | cut -d: -f1"]
        done = self.run_cdi("--no-network", "vendor.com/gpu=0", "--", *show)
        self.assertEqual(done.stdout.split(), ["lo"])
        outside = subprocess.run(show, text=True, stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(self.run_cdi("vendor.com/gpu=0", "--", *show).stdout, outside)

    def test_quiet(self):
        """No warnings: errors are printed."""
        self.write_spec(env=["GPU=0"], mounts=[
            {"hostPath": "/etc", "containerPath": "/none/etc", "options": ["ro", "bind"]}])
        words = ("vendor.com/gpu=0", "--", "echo", "started")
        self.assertIn("warning", self.run_cdi("--partial", *words).stderr)
        done = self.run_cdi("-q", "--partial", *words)
        self.assertEqual((done.stdout, done.stderr), ("started\n", ""))
        self.assertIn("the host has no such path", self.run_cdi("--quiet", *words, code=5).stderr)

    def test_noexec_is_not_lost(self):
        """The command can run what it writes to /tmp anyway."""
        self.write_spec(mounts=[{"hostPath": str(self.folder), "containerPath": "/tmp/mps",
                                 "options": ["nosuid", "nodev", "noexec", "rbind", "rprivate"]}])
        self.assertEqual(self.run_cdi("vendor.com/gpu=0", "--", "true").stderr, "")

    def test_a_policy_decides(self):
        self.write_spec(env=["GPU=0"])
        policy = self.put("policy.json", {"rules": []})
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
        self.assertIn("COMMAND: must follow the names", self.run_cdi("vendor.com/gpu=0", code=2).stderr)
        self.assertIn("NAME is required", self.run_cdi("--", "true", code=2).stderr)
        self.run_cdi("--bogus", "vendor.com/gpu=0", "--", "true", code=2)
        self.assertIn("cannot resolve", self.run_cdi("true", "--", "--help", code=1).stderr)
        unknown = self.run_cdi("vendor.com/gpu=9", "--", "true", code=1)
        self.assertIn('no device "9"', unknown.stderr)


if __name__ == "__main__":
    unittest.main()
