# SPDX-License-Identifier: Apache-2.0 OR MIT
"""An OCI bundle for tests that start containers, and what they need."""
import json
import os
import shutil
import subprocess
import tempfile


class Bundle:
    """An OCI bundle with busybox in it, and a directory of specs."""

    def __init__(self, folder):
        self.folder = folder
        self.specs = os.path.join(folder, "cdi")
        os.makedirs(self.specs)
        os.makedirs(os.path.join(folder, "rootfs/bin"))
        shutil.copy(shutil.which("busybox"), os.path.join(folder, "rootfs/bin/busybox"))
        subprocess.run(["runc", "spec"], cwd=folder, check=True)
        self.config = os.path.join(folder, "config.json")

    def spec(self, name, text):
        with open(os.path.join(self.specs, name), "w") as file:
            file.write(text)

    def configure(self, script):
        with open(self.config) as file:
            config = json.load(file)
        config["process"]["terminal"] = False
        config["process"]["args"] = ["/bin/busybox", "sh", "-ec", script]
        self.write_config(json.dumps(config))

    def write_config(self, text):
        with open(self.config, "w") as file:
            file.write(text)

    def run(self, *prefix):
        """Starts the container, by a command such as nsenter; returns the lines that it prints."""
        name = f"cdi-test-{os.getpid()}-{os.path.basename(self.folder)}"
        command = [*prefix, "runc", "run", "--bundle", self.folder, name]
        done = subprocess.run(command, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise AssertionError(f"runc exited {done.returncode}: {done.stderr}\n{done.stdout}")
        return done.stdout.splitlines()


def missing():
    """Why containers cannot be started; empty if they can."""
    if os.geteuid() != 0:
        return "needs root"
    for tool in ("runc", "busybox"):
        if not shutil.which(tool):
            return f"needs {tool}"
    # A dynamically linked one would not find its libraries in the container.
    program = open(shutil.which("busybox"), "rb").read()
    if b"/ld-linux" in program:
        return "needs a static busybox (Debian: busybox-static)"
    with tempfile.TemporaryDirectory(prefix="cdi-container-") as folder:
        try:
            bundle = Bundle(folder)
            bundle.configure("true")
            bundle.run()
        except (AssertionError, subprocess.SubprocessError) as why:
            return f"runc cannot start containers on this machine: {str(why).splitlines()[0]}"
    return ""
