# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A real containerd with runc, for tests as root with CDI_FULL=1."""
import os
import pathlib
import shutil
import subprocess
import unittest

import judges
from nri_peers import Process, wait_until

HERE = pathlib.Path(__file__).resolve().parent
CGROUP = f"cdi-containerd-test-{os.getpid()}"
TOOLS = {}

# The first process of new namespaces, so that nothing outlives a test; it collects what ends.
INIT = """
mount -t tmpfs tmpfs /run
[ ! -d /sys/fs/cgroup/unified ] || umount /sys/fs/cgroup/unified 2>/dev/null || true
echo ready
while :; do sleep 1000 & wait $!; done
"""


def why_not():
    if os.environ.get("CDI_FULL") != "1":
        return "starts a real containerd, for CDI_FULL=1"
    if os.geteuid() != 0:
        return "containerd needs root"
    for program in ("runc", "busybox", "unshare", "nsenter"):
        if not shutil.which(program):
            return f"needs {program}"
    return ""


def set_up(place):
    """Builds containerd, its shim, ctr and cri-judge in a folder, and makes an image; the tests are
    skipped without what they need."""
    why = why_not()
    if why:
        raise unittest.SkipTest(why)
    TOOLS["bin"] = judges.build_containerd(os.path.join(place, "containerd"))
    image = pathlib.Path(place, "busybox.tar")
    subprocess.run([TOOLS["bin"] / "cri-judge", "image", image, shutil.which("busybox")],
                   check=True)
    TOOLS["image"] = image


class Containerd:
    """A containerd in namespaces of its own, which can be killed and started again."""

    def __init__(self, case):
        self.case, self.place = case, case.place
        self.socket = case.place.path("containerd.sock")
        text = (HERE / "containerd/containerd.toml").read_text(encoding="utf-8")
        self.config = self.place.write("config.toml", text.replace("@DIR@", str(self.place.folder)))
        init = case.process(
            Process, ["unshare", "--mount", "--propagation", "private", "--pid", "--fork",
                      "--kill-child", "--mount-proc", "sh", "-c", INIT],
            self.place.path("init.log"), stdout=subprocess.PIPE)
        case.addCleanup(init.process.stdout.close)
        assert init.process.stdout.readline(), init.printed()
        children = f"/proc/{init.pid}/task/{init.pid}/children"
        self.init = pathlib.Path(children).read_text(encoding="utf-8").split()[0]
        self.start()
        self.ctr("-n", "k8s.io", "images", "import", TOOLS["image"])

    def command(self, *words):
        return ["nsenter", "--target", self.init, "--mount", "--pid", "--", "env",
                f"PATH={TOOLS['bin']}:{os.environ['PATH']}", *words]

    def start(self):
        self.daemon = self.case.process(Process, self.command("containerd", "-c", self.config),
                                        self.place.path("containerd.log"))
        wait_until(self.answers, self.daemon.log)

    def answers(self):
        assert self.daemon.is_running(), self.daemon.printed()[-2000:]
        return self.ctr("version", check=False).returncode == 0 and self.judge(
            "status").returncode == 0

    def kill(self):
        """nsenter is the parent of the daemon."""
        children = f"/proc/{self.daemon.pid}/task/{self.daemon.pid}/children"
        for child in pathlib.Path(children).read_text(encoding="utf-8").split():
            os.kill(int(child), 9)
        self.daemon.kill()

    def ctr(self, *words, check=True):
        return subprocess.run(self.command("ctr", "-a", self.socket, *words), check=check,
                              capture_output=True, timeout=60)

    def judge(self, *words):
        command = self.command("cri-judge", "-endpoint", f"unix://{self.socket}", *words)
        return subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)

    def run(self, *options, script):
        """A pod with a container; the finished process."""
        return self.judge("run", "-cgroup-parent", f"/{CGROUP}", *options, "/bin/busybox", "sh",
                          "-ec", script)


def remove_cgroups():
    """Removes the cgroups that containerd leaves."""
    for parent in pathlib.Path("/sys/fs/cgroup").glob(f"**/{CGROUP}"):
        for folder, _, _ in os.walk(parent, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                pass
