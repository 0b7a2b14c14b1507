#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cdi-nri with a runtime that is a script: rows, cut frames, and ends at each step.

usage: nri_wire_test.py CDI_NRI [ARGUMENTS OF UNITTEST]
"""
import hashlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import nri_messages as nri  # noqa: E402
from nri_cases import CASES, COMMON, ONE, ZERO  # noqa: E402
from nri_peers import NO_HURRY, Process, names_in, request, wait_until  # noqa: E402
from results_schema import checked, skip_without_schema  # noqa: E402
from scripted_runtime import (  # noqa: E402
    PLUGIN, REQUEST, Closed, Connection, Failed, call_of, frame, message)
from wire_case import (  # noqa: E402
    CDI_NRI, GOOD, MEBIBYTE, UNIMPLEMENTED, WireCase, need_program)

setUpModule = need_program


class Steps(WireCase):
    """What a plugin says of itself."""

    def test_it_registers_with_its_name(self):
        self.start_plugin("--name", "our-name", "--index", "07")
        registered, _ = self.accept().receive_registration()
        self.assertEqual((registered["pluginName"], registered["pluginIdx"]), ("our-name", "07"))

    def test_its_log_has_no_place(self):
        """The runtime gets none of it, whichever standard streams are closed."""
        self.runtime.close()
        for closed in (">&-", "<&- >&-", "<&- >&- 2>&-"):
            self.runtime = self.listen()
            self.nri = self.process(
                Process, ["/bin/sh", "-c", f'exec "$0" "$@" {closed}', CDI_NRI, "--socket",
                          self.place.socket, "--spec-dir", self.place.specs, *NO_HURRY,
                          *self.options], self.place.path("none.log"))
            connection = self.accept()
            connection.start()
            self.check_good(connection)
            self.check_good(connection)
            self.nri.kill()
            self.runtime.close()

    def test_it_registers_with_a_default_name(self):
        self.start_plugin()
        registered, _ = self.accept().receive_registration()
        self.assertRegex(registered["pluginName"], r"^[\w.-]+$")
        self.assertRegex(registered["pluginIdx"], r"^\d\d$")

    def test_it_asks_for_creations_and_that_they_fail_without_it(self):
        self.start_plugin()
        connection = self.accept()
        configured = connection.start()
        create = 1 << 3
        self.assertTrue(configured["events"] & create)
        others = configured["events"] & ~create
        self.assertEqual(others & ~0x1ff, 0, "an event that only new runtimes know")
        self.assertEqual(configured["failurePolicy"], {"failRequest": True, "keepConnected": True})

    @skip_without_schema
    def test_the_log_is_as_its_schema_says(self):
        connection = self.started("--resolve", "always", "-o", "json")
        self.check_refused(connection)
        connection.create(request({f"{COMMON}/pod": ONE}))
        connection.close()
        wait_until(lambda: "disconnected" in self.nri.printed(), "the end of the connection")
        lines = [checked("cdi-nri", line) for line in self.nri.printed().splitlines()]
        self.assertLessEqual({"connected", "refused", "injected", "disconnected"},
                             {line["event"] for line in lines})
        spec, = next(line["specs"] for line in lines if line["event"] == "injected")
        with open(spec["file"], "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        self.assertEqual(spec["digest"], f"sha256:{digest}")

    def check_refused(self, connection):
        with self.assertRaises(Failed):
            connection.create(request({f"{COMMON}/pod": "junk"}))

    def test_rows(self):
        connection = self.started()
        for case in CASES:
            with self.subTest(case.name):
                asked = request(case.annotations, **case.container)
                if case.error and "no spec has" not in case.name and "bad one" not in case.name:
                    with self.assertRaises(Failed) as failed:
                        connection.create(asked)
                    for text in case.error:
                        self.assertIn(text, str(failed.exception))
                elif not case.error:
                    self.assertEqual(names_in(connection.create(asked)), case.names)
        self.check_good(connection)

    def test_parts_of_synchronize(self):
        """Only the last answer ends it."""
        self.start_plugin()
        connection = self.accept()
        _, stream = connection.receive_registration()
        connection.accept_registration(stream)
        connection.configure()
        pods = [{"id": f"p{number}", "name": "x", "annotations": {"filler": "x" * 4000}}
                for number in range(900)]
        for _ in range(4):
            self.assertEqual(connection.synchronize(pods=pods, more=True), {"more": True})
        self.assertEqual(connection.synchronize(pods=pods), {})
        self.check_good(connection)
        self.check_memory(self.nri)

    def test_a_launched_plugin_takes_the_descriptor_of_its_variable(self):
        ours, theirs = socket.socketpair()
        environment = {**os.environ, "NRI_PLUGIN_SOCKET": str(theirs.fileno()),
                       "NRI_PLUGIN_NAME": "launched", "NRI_PLUGIN_IDX": "42"}
        started = subprocess.Popen(
            [CDI_NRI, "--spec-dir", self.place.specs, *NO_HURRY], env=environment,
            pass_fds=[theirs.fileno()], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(started.wait)
        self.addCleanup(started.kill)
        theirs.close()
        connection = Connection(ours)
        self.addCleanup(connection.close)
        registered, stream = connection.receive_registration()
        self.assertEqual((registered["pluginName"], registered["pluginIdx"]), ("launched", "42"))
        connection.accept_registration(stream)
        connection.configure()
        connection.synchronize()
        self.assertNotEqual(connection.create(GOOD), {})
        connection.close()
        started.wait(20)  # the runtime that started it is gone

    def ended(self, *words, **environment):
        """The exit code of a plugin that ends at once, and what it says."""
        done = subprocess.run([CDI_NRI, "--socket", self.place.socket, *words],
                              env={**os.environ, **environment}, capture_output=True, text=True,
                              timeout=60, check=False)
        return done.returncode, done.stderr

    def test_a_launched_plugin_without_a_descriptor(self):
        for text in ("", "x", "3x", "-1", "99999999999"):
            code, error = self.ended(NRI_PLUGIN_SOCKET=text)
            self.assertEqual(code, 1)
            self.assertIn(f'NRI_PLUGIN_SOCKET is "{text}", which is not a descriptor', error)
        self.assertIn("Bad file descriptor", self.ended(NRI_PLUGIN_SOCKET="999")[1])

    def test_a_launched_plugin_that_the_runtime_drops(self):
        ours, theirs = socket.socketpair()
        started = subprocess.Popen([CDI_NRI], pass_fds=[theirs.fileno()], stderr=subprocess.PIPE,
                                   env={**os.environ, "NRI_PLUGIN_SOCKET": str(theirs.fileno())})
        self.addCleanup(started.communicate)
        self.addCleanup(started.kill)
        theirs.close()
        connection = Connection(ours)
        connection.receive_registration()
        connection.close()
        self.assertIn(started.wait(20), (0, 1))

    def test_command_lines_that_are_wrong(self):
        file = self.place.write("settings", "spec-dirs = 7\n")
        for words, text in ((["--index", "x1"], "two digits"), (["--index", "123"], "two digits"),
                            (["--name", ""], "letters, digits"),
                            (["--name", "a/b"], "letters, digits"),
                            (["--config", file], ": spec-dirs[0]: expected text, not 7"),
                            (["--config"], "--config"), (["--socket"], "--socket"),
                            ([f"--config={file}x"], "No such file"),
                            (["--policy", file, "--resolve", "never"], "a policy has no effect")):
            with self.subTest(words):
                code, error = self.ended(*words)
                self.assertEqual(code, 2, error)
                self.assertIn(text, error)
        self.assertEqual(self.ended("--policy", file)[0], 1)
        os.chmod(file, 0o646)
        for option in ("--config", "--policy"):
            self.assertIn(f"check the file, then: `chmod go-w {file}`", self.ended(option, file)[1])
        self.place.socket = "/" + 107 * "a"
        self.assertIn("from 1 to 107 bytes", self.ended()[1])

    def test_answers_to_questions(self):
        for words in (["--help"], ["--version"], ["completion", "bash"], ["man-page"]):
            self.assertEqual(self.ended(*words), (0, ""))
            self.assertEqual(self.ended("--config", self.place.path("none.toml"), *words), (0, ""))

    def test_settings_of_the_runtime(self):
        """Those that the plugin cannot follow are an error for the runtime, and the plugin goes on
        with its own."""
        self.start_plugin("--resolve", "auto")
        connection = self.accept()
        _, stream = connection.receive_registration()
        connection.accept_registration(stream)
        for config, text in (("resolve = 7", ": resolve: expected text"),
                             ("resolve = 'most'", ": resolve: must be auto"),
                             ("namespaces = []", ": namespaces: must not be empty"),
                             ("prefixes = ['']", ": prefixes[0]: must not be empty"),
                             ("policy = ''", ": policy: must not be empty"),
                             ("[x]\ny = 1", ": x: this member does not exist"), ("x", "cdi-nri.conf"),
                             ("policy = '/p'\nresolve = 'never'", "a policy has no effect")):
            with self.subTest(config), self.assertRaises(Failed) as failed:
                connection.configure(config=config)
            self.assertIn(text, str(failed.exception))
        connection.configure(config="namespaces = ['other']")
        connection.synchronize()
        with self.assertRaises(Failed) as failed:
            connection.create(GOOD)
        self.assertIn("may not request devices by annotation", str(failed.exception))
        connection.configure(config="resolve = 'never'\nhost-root = '/'\nprefixes = ['a.io']")
        self.check_good(connection)

    def test_a_runtime_without_a_limit_for_requests(self):
        connection = self.started()
        connection.call("Configure", nri.CONFIGURE, {"runtimeName": "crio",
                                                     "runtimeVersion": "1.36.0"}, nri.CONFIGURED)
        self.check_good(connection)

    def test_the_log_as_text(self):
        """A line for each thing that happens."""
        connection = self.started("--resolve", "always")
        connection.create(GOOD)
        self.check_refused(connection)
        connection.close()
        wait_until(lambda: "disconnected" in self.nri.printed(), "the end of the connection")
        lines = self.nri.printed().splitlines()
        self.assertRegex(lines[0], r"^connected to containerd v2\.4\.2$")
        pod = "default/pod-one, container main"
        self.assertRegex(lines[1], rf"^{pod}: injected {ZERO}, {ONE} as edits, .*/vendor\.json$")
        self.assertRegex(lines[2], rf"^{pod}: refused: ")
        self.assertRegex(lines[3], r"^disconnected: ")

    def test_shutdown_is_no_end_for_a_plugin_of_a_socket(self):
        connection = self.started()
        connection.call_raw("Shutdown", b"")
        connection.close()
        again = self.accept()
        again.start()
        self.check_good(again)

    def test_events_that_it_did_not_ask_for_are_answered(self):
        """Older runtimes send StateChange."""
        connection = self.started()
        for method in ("StateChange", "RemoveContainer", "StopContainer", "RunPodSandbox",
                       "PostCreateContainer", "UpdateContainer"):
            try:
                connection.call_raw(method, b"")
            except Failed as failed:
                self.assertEqual(failed.code, UNIMPLEMENTED, method)
        self.check_good(connection)


class Cuts(WireCase):
    """Frames and messages have no common ends."""

    def test_frames_of_any_size(self):
        self.start_plugin()
        for cut in [*range(1, 45), 1000, 4096, 4 * MEBIBYTE]:
            with self.subTest(cut):
                connection = self.accept(cut=cut)
                connection.start()
                self.check_good(connection)
                connection.close()

    def test_bytes_arrive_one_by_one(self):
        connection = self.started(drip=True)
        self.check_good(connection)

    def test_frames_of_one_byte_arrive_byte_by_byte(self):
        self.check_good(self.started(drip=True, cut=1))

    def test_each_cut_of_a_request(self):
        """The plugin reads the bytes before the cut, and waits for the others."""
        connection = self.started()
        for cut in range(1, 400):
            connection.stream += 2
            data = message(connection.stream, REQUEST,
                           call_of("CreateContainer", nri.encode(nri.CREATE, GOOD)))
            data = frame(PLUGIN, data)
            if cut >= len(data):
                break
            connection.send_bytes(data[:cut])
            connection.wait_until_read()
            connection.send_bytes(data[cut:])
            answer = nri.decode(nri.CREATED, connection.answer(connection.stream))
            self.assertEqual(names_in(answer["adjust"]), [ZERO, ONE], cut)
        self.assertGreater(cut, 200)

    def test_many_requests_in_one_piece(self):
        connection = self.started()
        connection.create(GOOD)  # the specs are read from now on
        data = b""
        streams = range(101, 301, 2)
        for stream in streams:
            data += message(stream, REQUEST,
                            call_of("CreateContainer", nri.encode(nri.CREATE, GOOD)))
        connection.cut = MEBIBYTE
        connection.send(PLUGIN, data)
        for stream in streams:
            answer = nri.decode(nri.CREATED, connection.answer(stream))
            self.assertEqual(names_in(answer["adjust"]), [ZERO, ONE])

    def test_a_long_answer_is_read_by_the_go_library(self):
        """Its reader has a buffer of 4096 bytes, takes a frame in one piece, and queues 256."""
        variables = [f"VARIABLE_{number}={'x' * 80}" for number in range(20_000)]
        self.place.write("cdi/long.json", {
            "cdiVersion": "0.5.0", "kind": "vendor.com/long",
            "devices": [{"name": "0", "containerEdits": {"env": variables}}]})
        connection = self.started("--resolve", "always")
        connection.frames.clear()
        adjustment = connection.create(request({f"{COMMON}/container.main": "vendor.com/long=0"}))
        self.assertEqual(len(adjustment["env"]), len(variables))
        self.assertLessEqual(connection.frames[0], 4096)
        self.assertLessEqual(len(connection.frames), 256)


class Limits(WireCase):
    def test_a_spec_directory_that_hangs(self):
        """From the start: the plugin connects, and refuses containers that ask, in time."""
        for options, theirs, limit in (
                ((), 60_000, 90), ((), 50, 45), (("--answer-limit", "7"), 60_000, 7),
                (NO_HURRY, 150, 135)):
            with self.subTest(options=options, theirs=theirs):
                plugin = self.start_that_hangs(*options)
                connection = self.accept()
                connection.start(limit=theirs)
                for _ in range(3):
                    with self.assertRaises(Failed) as failed:
                        connection.create(GOOD)
                    self.assertIn(f"done within {limit} ms: wait", str(failed.exception))
                    self.assertEqual(connection.create(request({})), {})
                self.kill(plugin)

    def start_that_hangs(self, *options):
        if not shutil.which("strace"):
            self.skipTest("strace, which makes a directory hang, is not installed")
        folder = self.place.specs
        plugin = self.process(Process, [
            "strace", "-f", "-qq", "-o", "/dev/null", "-P", folder,
            "-e", "inject=openat:delay_enter=600s", CDI_NRI, "--resolve", "always", "--spec-dir",
            folder, "--socket", self.place.socket, *options], self.place.path("plugin.log"))
        self.addCleanup(self.kill, plugin)
        return plugin

    @staticmethod
    def kill(tracer):
        """Also the plugin, which outlives its tracer."""
        children = pathlib.Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children")
        if tracer.is_running():
            for child in children.read_text(encoding="utf-8").split():
                os.kill(int(child), signal.SIGKILL)
        tracer.kill()


class Ends(WireCase):
    """The runtime or the plugin ends at each step."""

    STEPS = ("connected", "registering", "registered", "configured", "synchronizing",
             "synchronized", "creating")

    def go_to(self, step, connection):
        """Does the steps until the one named; with `ing`, without its answer."""
        if step == "connected":
            return
        _, stream = connection.receive_registration()
        if step == "registering":
            return
        connection.accept_registration(stream)
        if step == "registered":
            return
        connection.configure()
        if step == "configured":
            return
        if step == "synchronizing":
            connection.synchronize(more=True)
            connection.send(PLUGIN, message(99, REQUEST, call_of("Synchronize", b""))[:20])
            return
        connection.synchronize()
        if step == "creating":
            connection.send(PLUGIN, message(99, REQUEST, call_of(
                "CreateContainer", nri.encode(nri.CREATE, GOOD)))[:-3])

    def test_the_runtime_ends(self):
        self.start_plugin()
        for step in self.STEPS:
            with self.subTest(step):
                connection = self.accept()
                self.go_to(step, connection)
                connection.close()
                again = self.accept()
                again.start()
                self.check_good(again)
                again.close()

    def test_the_plugin_is_killed(self):
        for step in self.STEPS:
            with self.subTest(step):
                killed = self.start_plugin()
                connection = self.accept()
                self.go_to(step, connection)
                killed.kill()
                with self.assertRaises((Closed, ConnectionError)):
                    while True:
                        connection.receive(PLUGIN)
                self.start_plugin()
                again = self.accept()
                again.start()
                self.check_good(again)
                self.nri.kill()

    def test_the_runtime_starts_after_the_plugin(self):
        self.runtime.close()
        self.start_plugin()
        wait_until(self.nri.printed, "it says that it waits")
        self.runtime = self.listen()
        connection = self.accept()
        connection.start()
        self.check_good(connection)

    def test_many_ends_leave_no_descriptors(self):
        self.start_plugin()

        def turn():
            connection = self.accept()
            connection.start()
            self.check_good(connection)
            connection.close()
        turn()
        connection = self.accept()
        connection.start()
        before = self.nri.descriptors()
        connection.close()
        for _ in range(10):
            turn()
        connection = self.accept()
        connection.start()
        self.assertEqual(self.nri.descriptors(), before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
