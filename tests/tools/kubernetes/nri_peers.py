# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The processes of the NRI tests: a plugin, the judge, and a folder for both."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

PATIENCE = 30  # seconds
LIMIT_KB = 10_000  # of memory, as docs/cdi-nri.md says
# For cdi-nri, so that a slow machine has time for each answer.
NO_HURRY = ("--answer-limit", "60000")
SANITIZED = os.environ.get("CDI_SANITIZED") == "1"


def need_cdi_nri(program):
    """Skips the tests if cdi-nri is not built."""
    if not os.access(program, os.X_OK):
        raise unittest.SkipTest("cdi-nri is not built: it needs protobuf")


class Process:
    """A process that a test starts, kills and looks at."""

    def __init__(self, command, log, **how):
        self.log = log
        with open(log, "ab") as out:
            self.process = subprocess.Popen(command, stderr=out, **{"stdout": out, **how})

    @property
    def pid(self):
        return self.process.pid

    def is_running(self):
        return self.process.poll() is None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Asks the process to end; returns its exit code."""
        self.process.terminate()
        return self.process.wait(PATIENCE)

    def kilobytes(self, field="RssAnon"):
        """Memory, by default without programs and libraries."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        return int(status.partition(f"{field}:")[2].split()[0])

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def printed(self):
        return pathlib.Path(self.log).read_text(encoding="utf-8", errors="replace")


class LineJudge(Process):
    """A judge that answers each line on its standard input with a line of JSON."""

    def __init__(self, command, log):
        super().__init__(command, log, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, command, value=None):
        """The answer to a command; an error is in its member `error`."""
        line = command if value is None else f"{command} {json.dumps(value)}"
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise AssertionError(f"the judge ended: {self.printed()[-2000:]}")
        return json.loads(answer)

    def end(self):
        """Ends as a runtime or a kubelet does that is stopped."""
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()

    def kill(self):
        super().kill()
        self.process.stdin.close()
        self.process.stdout.close()


class Judge(LineJudge):
    """nri-judge, the side of the runtime."""

    def __init__(self, program, place, *options):
        super().__init__([program, "-socket", place.socket, "-cdi-dirs", place.specs,
                          "-timeout", "60s", *options], place.path("judge.log"))
        self.ask("ready")  # a plugin on the Go stub does not wait for the socket

    def wait(self, count):
        """Waits until so many plugins are there."""
        answer = self.ask(f"wait {count} {PATIENCE}")
        if not answer["ok"]:
            raise AssertionError(answer["error"])
        return answer

    def create(self, request):
        return self.ask("create", request)


class Place:
    """A folder with a socket and specs."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.specs = self.path("cdi")
        self.socket = self.path("nri.sock")
        os.mkdir(self.specs)

    def path(self, name):
        return str(self.folder / name)

    def write(self, name, content):
        """Writes a text, or a value as JSON."""
        text = content if isinstance(content, str) else json.dumps(content)
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.path(name)


def request(pod_annotations=(), name="main", pod=(), **container):
    """The JSON of a CreateContainer request."""
    return {"pod": {"id": "p1", "name": "pod-one", "uid": "u1", "namespace": "default",
                    "annotations": dict(pod_annotations), **dict(pod)},
            "container": {"id": f"c-{name}", "podSandboxId": "p1", "name": name, **container}}


def wait_until(condition, what):
    """Waits for what another process does."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"waited {PATIENCE} s: {what}")
        time.sleep(0.005)  # another process has to run


def names_in(adjustment):
    """The CDI names of an adjustment."""
    return [device["name"] for device in adjustment.get("CDIDevices", [])]


class NriCase(unittest.TestCase):
    """A test with a folder and processes that end with it."""
    maxDiff = None

    def setUp(self):
        folder = tempfile.mkdtemp(prefix="cdi-nri-")
        self.addCleanup(shutil.rmtree, folder)
        self.place = Place(folder)
        self.plugins = 0

    def check_memory(self, plugin, limit=LIMIT_KB):
        if not SANITIZED:
            self.assertLess(plugin.kilobytes(), limit)

    def process(self, kind, *arguments, **how):
        started = kind(*arguments, **how)
        self.addCleanup(started.kill)
        return started

    def plugin(self, program, *options, **how):
        self.plugins += 1
        return self.process(Process, [program, "--socket", self.place.socket, *options],
                            self.place.path(f"plugin{self.plugins}.log"), **how)

    def cdi_nri(self, program, *options, **how):
        return self.plugin(program, "--spec-dir", self.place.specs, *NO_HURRY, *options, **how)
