# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Programs that start containers and sandboxes, each given the edits of devices without hooks.

Each class has a `name`, a `version`, a method `why_not`, which says why the program does not run
here, and a method `start`, which returns the output of the judge. A `Job` says what to start.
"""
import json
import os
import pathlib
import shutil
from dataclasses import dataclass, field

from roots import run

USER = 65534  # an ordinary user, who owns nothing but the files of the test
PATH = "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DEVICE = "vendor.com/gpu"
UNIFIED = "/sys/fs/cgroup/unified"  # crun rejects it next to cgroups of version 1
WITHOUT_UNIFIED = ["unshare", "-m", "sh", "-c", f"umount {UNIFIED}; exec \"$@\"", "sh"]


def is_hybrid():
    return os.path.ismount(UNIFIED)


@dataclass
class Job:
    """A root with a judge, the specs of its devices, and who starts it."""
    place: pathlib.Path  # a folder of the job, with the folders rootfs, state and specs
    cdi: str
    device: str = "0"
    nodes: list = field(default_factory=list)
    judge: str = "/judge"
    read_only: bool = False
    is_user: bool = False
    warnings: str = ""
    has_files: bool = True  # whether files may be generated
    mounts: list = field(default_factory=list)  # more mounts of a config
    before: list = field(default_factory=list)  # a command that runs the others

    @property
    def root(self):
        return self.place / "rootfs"

    @property
    def command(self):
        return [self.judge, *self.nodes]

    def run(self, *command, **more):
        """Runs a command as the job's user, with an environment that says little."""
        if self.is_user and os.geteuid() == 0:
            command = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *command]
        env = {"PATH": PATH, "HOME": str(self.place), "TMPDIR": str(self.place),
               "XDG_RUNTIME_DIR": str(self.place / "run")}
        if is_hybrid() and os.geteuid() == 0:
            command = [*WITHOUT_UNIFIED, *command]
        return run(*self.before, *command, cwd=self.place, env=env, **more)

    def call_cdi(self, command, *args):
        """Runs cdi, and keeps its warnings."""
        if self.has_files:
            args = ["--state-dir", self.place / "state", *args]
        errors = self.place / "errors"
        with open(errors, "w", encoding="utf-8") as file:
            out = self.run(self.cdi, command, "--hooks", "replace", "-d", self.place / "specs",
                           *args, f"{DEVICE}={self.device}", stderr=file)
        self.warnings = errors.read_text(encoding="utf-8")
        return out

    def plan(self):
        """What is mounted, made and set, by `cdi resolve`."""
        if not self.device:
            return [], [], []
        plan = json.loads(self.call_cdi("resolve", "-o", "json", "--image-root", self.root))
        assert plan["hooks"] == [], plan["hooks"]

        def edits(kind):
            return [one["edit"] for one in plan[kind] if not one.get("overridden")]

        return edits("mounts"), edits("deviceNodes"), edits("env")


class Sandbox:
    """A program that starts containers."""
    name = ""
    program = ""
    makes_mount_points_late = False  # when the root is read-only: then, no file is generated

    def why_not(self, is_user):
        if not is_user and os.geteuid() != 0:
            return "needs root"
        if not shutil.which(self.program or self.name, path=PATH):
            return f"needs {self.name}"
        return ""

    def version(self):
        return run(self.program or self.name, "--version", env={"PATH": PATH}).splitlines()[0]


class Oci(Sandbox):
    """runc or crun, with a config that `cdi inject` edits.

    An ordinary user's crun 1.8 cannot make both a user namespace and device nodes. As in rootless
    podman, it runs in a user namespace, while runc makes one.
    """

    def __init__(self, name):
        self.name = name

    def config(self, job):
        linux = {"namespaces": [{"type": each} for each in ("pid", "ipc", "uts", "mount")]}
        if job.is_user and self.name == "runc":
            linux["namespaces"].append({"type": "user"})
            owner = USER if os.geteuid() == 0 else os.geteuid()
            linux["uidMappings"] = linux["gidMappings"] = [
                {"containerID": 0, "hostID": owner, "size": 1}]
        return {"ociVersion": "1.0.2", "root": {"path": "rootfs", "readonly": job.read_only},
                "process": {"terminal": False, "user": {"uid": 0, "gid": 0}, "cwd": "/",
                            "args": job.command, "env": ["PATH=/usr/bin"]},
                "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
                           {"destination": "/dev", "type": "tmpfs", "source": "tmpfs",
                            "options": ["nosuid", "strictatime", "mode=755"]}, *job.mounts],
                "linux": linux}

    def injected(self, job, path):
        config = json.loads(job.call_cdi("inject", path))
        assert not any(config.get("hooks", {}).values()), config["hooks"]
        return config

    def start(self, job):
        path = job.place / "config.json"
        path.write_text(json.dumps(self.config(job)))
        if job.device:
            path.write_text(json.dumps(self.injected(job, path)))
        name = f"cdi-{os.getpid()}-{job.place.name}"
        return job.run(*self.words(job), "run", "--bundle", job.place, name)

    def words(self, job):
        """The program and its options."""
        words = [self.name]
        if job.is_user:
            words += ["--root", job.place / "run"]
        if job.is_user and self.name == "crun":
            words = ["unshare", "-rm", *words, "--cgroup-manager=disabled"]
        return words


class Runsc(Oci):
    """gVisor's runsc with a config that `cdi inject` edits.

    Debian does not have it; `CGO_ENABLED=0 go install gvisor.dev/gvisor/runsc@latest` makes a static
    program, which it must be, to be copied to /usr/local/bin.
    """

    def __init__(self):
        super().__init__("runsc")

    def why_not(self, is_user):
        return "runsc needs root for a network namespace" if is_user else super().why_not(is_user)

    def words(self, job):
        return [self.name, "--root", job.place / "run", "--network=none", "--ignore-cgroups",
                "--overlay2=none"]


class Bwrap(Sandbox):
    """bwrap, started by examples/c/bwrap.c."""
    name = "bwrap"
    makes_mount_points_late = True

    def __init__(self, example):
        self.example = example

    def start(self, job):
        own = ["--ro-bind" if job.read_only else "--bind", job.root, "/"]
        if job.read_only:
            own += ["--tmpfs", "/opt"]
        errors = job.place / "errors"
        with open(errors, "w", encoding="utf-8") as file:
            names = [f"{DEVICE}={job.device}"] if job.device else []
            out = job.run(self.example, job.place / "specs", *names, "--unshare-user", *own,
                          "--dev", "/dev", "--proc", "/proc", "--", *job.command, stderr=file)
        job.warnings = errors.read_text(encoding="utf-8")
        return out


MOUNT = """
set -e
root=$1
mount --rbind "$root" "$root"
mount -t tmpfs tmpfs "$root/dev"
shift
while [ "$1" != -- ]; do
  mkdir -p "$root${2%/*}"
  [ -e "$root$2" ] || : > "$root$2"
  mount --rbind "$1" "$root$2"
  [ "$3" != ro ] || mount -o remount,bind,ro,nosuid,nodev "$root$2"
  shift 3
done
shift
[ "$1" != ro ] || mount -o remount,bind,ro "$root"
shift
exec chroot "$root" /usr/bin/env "$@"
"""


class Chroot(Sandbox):
    """unshare(1), mount(8) and chroot(1), with the edits that `cdi resolve` prints."""
    name = "chroot"
    program = "unshare"

    def start(self, job):
        mounts, nodes, variables = job.plan()
        words = []
        for mount in mounts:
            words += [mount["hostPath"], mount["containerPath"], "ro"]
        for node in nodes:
            words += [node.get("hostPath") or node["path"], node["path"], "rw"]
        return job.run("unshare", "-rm" if job.is_user else "-m", "sh", "-c", MOUNT, "sh", job.root,
                       *words, "--", "ro" if job.read_only else "rw", *variables, *job.command)


class Podman(Sandbox):
    """podman with options for mounts, nodes and variables.

    An ordinary user's podman would need subordinate ids for a user namespace: it is given one.
    """
    name = "podman"
    ISOLATED = "mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /dev/shm && exec \"$@\""

    def start(self, job):
        mounts, nodes, variables = job.plan()
        words = []
        for mount in mounts:
            words += ["-v", f"{mount['hostPath']}:{mount['containerPath']}:ro"]
        for node in nodes:
            words += ["--device", f"{node.get('hostPath') or node['path']}:{node['path']}"]
        for variable in variables:
            words += ["-e", variable]
        if job.read_only:
            words += ["--read-only", "--read-only-tmpfs=false"]
        own = ["--root", job.place / "storage", "--runroot", "/run/podman", "--tmpdir",
               "/run/libpod", "--cgroup-manager", "cgroupfs", "--storage-driver", "vfs",
               "--events-backend", "none"]
        return job.run(*self.isolated(job), "podman", *own, "run", "--rm", "--network", "none",
                       "--log-driver", "none", "--cgroups", "disabled", "--ulimit",
                       "nofile=256:256", "--ulimit", "nproc=256:256", *words, "--rootfs", job.root,
                       *job.command)

    def isolated(self, job):
        owner = USER if os.geteuid() == 0 else os.geteuid()
        start = ["env", "_CONTAINERS_USERNS_CONFIGURED=done", f"_CONTAINERS_ROOTLESS_UID={owner}",
                 f"_CONTAINERS_ROOTLESS_GID={owner}", "unshare", "-rm"]
        return [*(start if job.is_user else ["unshare", "-m"]), "sh", "-c", self.ISOLATED, "sh"]


class Nspawn(Sandbox):
    """systemd-nspawn with options for mounts, nodes and variables."""
    name = "systemd-nspawn"
    makes_mount_points_late = True

    def why_not(self, is_user):
        if is_user:
            return "systemd-nspawn needs root"
        return super().why_not(is_user)

    def start(self, job):
        mounts, nodes, variables = job.plan()
        words = []
        for mount in mounts:
            words.append(f"--bind-ro={mount['hostPath']}:{mount['containerPath']}")
        for node in nodes:
            words.append(f"--bind={node.get('hostPath') or node['path']}:{node['path']}")
        words += [f"--setenv={variable}" for variable in variables]
        if job.read_only:
            words += ["--read-only", "--tmpfs=/opt"]
        machine = "cdi-" + job.place.name.replace("_", "-")
        return job.run(self.name, "--quiet", "--register=no", "--keep-unit", "--console=pipe",
                       f"--machine={machine}", "--directory", job.root, *words, "--", *job.command)


class Lxc(Sandbox):
    """lxc-start with a config for mounts, nodes and variables."""
    name = "lxc"
    program = "lxc-start"
    makes_mount_points_late = True

    def why_not(self, is_user):
        if is_user:
            return "a user of lxc needs subordinate ids in /etc/subuid"
        return super().why_not(is_user)

    def start(self, job):
        mounts, nodes, variables = job.plan()
        lines = [f"lxc.rootfs.path = dir:{job.root}", "lxc.net.0.type = empty",
                 "lxc.autodev = 1", "lxc.mount.auto = proc", "lxc.uts.name = cdi",
                 f"lxc.init.cmd = {' '.join(job.command)}",
                 f"lxc.console.logfile = {job.place}/console"]
        if job.read_only:
            lines += ["lxc.rootfs.options = ro", "lxc.mount.entry = tmpfs opt tmpfs rw 0 0"]
        for mount in mounts:
            lines.append(f"lxc.mount.entry = {mount['hostPath']} {mount['containerPath'][1:]} none "
                         "bind,ro,create=file 0 0")
        for node in nodes:
            lines.append(f"lxc.mount.entry = {node.get('hostPath') or node['path']} "
                         f"{node['path'][1:]} none bind,create=file 0 0")
        lines += [f"lxc.environment = {variable}" for variable in variables]
        config = job.place / "lxc.config"
        config.write_text("\n".join(lines) + "\n")
        job.run("lxc-start", "-F", "-n", f"cdi-{job.place.name}", "-P", job.place / "run", "-f",
                config)
        return (job.place / "console").read_text(encoding="utf-8")
