#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A container gets the same from a device, whichever engine starts it and however it is injected.

usage: ways_test.py CDI CDI_POD CDI_RUNTIME

The ways: podman by itself; podman with cdi-runtime, and with a precreate hook and a wrapper of five
lines, as docs/engines.md shows them; containerd by itself and with cdi-runtime; Docker with
cdi-runtime; runc and crun with `cdi inject` and with cdi-runtime. By each way, two containers are started: one with a device that
has only a hook, and one with another device, too. What the second has more, in its environment, its
/dev, its mounts, its groups and its device cgroup, must be the same by all ways.

Needs root, runc and a static busybox. The tests of an engine that is missing are skipped, with the
reason. CDI_CONTAINERD may name a folder with another containerd, containerd-shim-runc-v2 and ctr.
"""
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import bundle  # noqa: E402

CDI, CDI_POD, CDI_RUNTIME = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
PROJECT = pathlib.Path(__file__).resolve().parents[3]
CGROUP = f"cdi-ways-test-{os.getpid()}"
KIND = "test.example.com/gpu"
VARIABLE = "TEST_VISIBLE_DEVICES"
BASE, DEVICE = f"{KIND}=base", f"{KIND}=0"
NODES = ("/dev/fuse", "/dev/loop-control")  # of the host

# What differs from runc with `cdi inject`, although the engine is right: the way, the part, what is
# not compared, and why.
KNOWN = [
    ("podman itself", "dev", r"(?<=^/dev/cdi/fuse character special file )(.*) \d+ ",
     "Where a spec has no mode, old releases of the Go library do not take that of the host."),
]

# Runs in a new mount namespace, and in a PID namespace, so that no process outlives a test. Engines
# read /var/run/cdi, and old ones nothing else. crun does not start beside a second cgroup hierarchy
# with controllers (hybrid), which it would not use.
START = """
set -e
spec=$1; shift
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /dev/shm
[ ! -d /etc/cdi ] || mount -t tmpfs tmpfs /etc/cdi
[ ! -d /etc/cdi-runtime ] || mount -t tmpfs tmpfs /etc/cdi-runtime
[ "$(readlink -f /var/run)" = /run ] || { echo "/var/run is not /run" >&2; exit 77; }
[ ! -d /sys/fs/cgroup/unified ] || umount /sys/fs/cgroup/unified 2>/dev/null || true
mkdir /run/cdi
cp "$spec" /run/cdi/
exec "$@"
"""

# Prints what a container sees, in parts.
LOOK = """
b=/bin/busybox
$b env
echo "== dev"
for node in $($b find /dev -type c -o -type b); do $b stat -c '%n %F %t:%T %a %u:%g' $node; done
echo "== mounts"
$b cat /proc/self/mountinfo
echo "== groups"
$b id -G
"""

# The hook records the rules of the cgroup for devices; cgroup v2 has a program in their place.
HOOK = """#!/bin/sh
pid=$(sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p')
path=$(sed -n 's/^[0-9]*:devices://p' /proc/$pid/cgroup)
{ echo run; [ -z "$path" ] || cat "/sys/fs/cgroup/devices$path/devices.list"; } >>PLACE/hook-ran
"""

# A container in the steps that engines take; prints the environment of a second process in it.
STEPS = """
set -e
id=$1; shift
"$@" create --bundle . "$id" </dev/null >/dev/null
"$@" start "$id"
"$@" exec "$id" /bin/busybox env
"$@" delete --force "$id"
"""

# containerd, and a container of ctr with the arguments of the script.
CONTAINERD = """
place=$1 bin=$2; shift 2
PATH=$bin:$PATH
export PATH
containerd -c "$place/containerd.toml" >"$place/containerd.log" 2>&1 &
daemon=$!
tries=0
until ctr -a "$place/c.sock" version >/dev/null 2>&1; do
  tries=$((tries + 1))
  [ $tries -lt 300 ] && kill -0 $daemon || { tail -n 3 "$place/containerd.log" >&2; exit 1; }
  sleep 0.1  # for a daemon that is starting
done
code=0
ctr -a "$place/c.sock" run --rm "$@" || code=$?
kill $daemon
wait $daemon
exit $code
"""


# dockerd without a network, and a container of the same root. Docker of any age passes on variables;
# `docker run --annotation` needs a new one.
DOCKER = """
place=$1 runtime=$2; shift 2
export CDI_RUNTIME_CONFIG="$place/settings.toml" DOCKER_HOST="unix://$place/d.sock"
printf '{"runtimes": {"cdi": {"path": "%s"}}}' "$runtime" >"$place/daemon.json"
dockerd --config-file "$place/daemon.json" --data-root "$place/docker" --exec-root /run/docker \\
  --pidfile /run/docker.pid --host "$DOCKER_HOST" --bridge none --iptables=false \\
  --ip6tables=false --storage-driver vfs >"$place/docker.log" 2>&1 &
daemon=$!
tries=0
until docker version >/dev/null 2>&1; do
  tries=$((tries + 1))
  [ $tries -lt 300 ] && kill -0 $daemon || { tail -n 3 "$place/docker.log" >&2; exit 1; }
  sleep 0.1  # for a daemon that is starting
done
code=0
tar -C "$place/rootfs" -c . | docker import - test >/dev/null
docker run --rm --network none --hostname test "$@" || code=$?
kill $daemon
wait $daemon || true
exit $code
"""


def spec(version, groups):
    """Two devices: one with only the hook, and one with edits of many kinds."""
    def node(path, host, **more):
        return {"path": path, "hostPath": host, **more}
    edits = {"env": ["GPU=zero", "LIST=a,b c"],
             "deviceNodes": [node("/dev/cdi/fuse", NODES[0]),
                             node("/dev/cdi-loop", NODES[1], permissions="r", fileMode=0o640,
                                  uid=5, gid=8)],
             "mounts": [{"hostPath": "PLACE/shared", "containerPath": "/mnt/shared",
                         "options": ["ro", "rbind", "rprivate"]}]}
    if groups:
        edits["additionalGids"] = [44, 1234]
    hook = {"hookName": "createRuntime", "path": "PLACE/hook", "args": ["hook"]}
    return {"cdiVersion": version, "kind": KIND, "containerEdits": {"env": ["EVERY=container"]},
            "devices": [{"name": "base", "containerEdits": {"hooks": [hook]}},
                        {"name": "0", "containerEdits": edits}]}


OLD, NEW = spec("0.5.0", groups=False), spec("0.7.0", groups=True)


class Seen:
    """What a container had, as sets of texts."""
    PARTS = ("env", "dev", "mounts", "groups", "rules")

    def __init__(self, printed, rules):
        env, dev, mounts, groups = re.split(r"^== .*\n", printed, flags=re.M)
        self.env = {line for line in env.splitlines() if not line.startswith(f"{VARIABLE}=")}
        self.dev = set(dev.splitlines())
        self.mounts = {self.mount(line) for line in mounts.splitlines()}
        self.groups, self.rules = set(groups.split()), set(rules)

    @staticmethod
    def mount(line):
        """Root, mount point, options and type, without numbers of this run."""
        fields = line.split()
        end = fields.index("-")
        shared = [field.partition(":")[0] for field in fields[6:end]]
        return re.sub(r"[0-9a-f]{64}", "ID", " ".join([*fields[3:6], *shared, fields[end + 1]]))

    def more_than(self, other):
        """What each part has more, and what it lacks."""
        return {part: (sorted(getattr(self, part) - getattr(other, part)),
                       sorted(getattr(other, part) - getattr(self, part)))
                for part in self.PARTS}


def annotations(names):
    """Options for the names. podman and ctr split the value of an annotation at commas."""
    return [word for number, name in enumerate(names)
            for word in ("--annotation", f"cdi.k8s.io/x{number}={name}")]


def devices(names):
    """Options of engines that have CDI."""
    return [word for name in names for word in ("--device", name)]


class Place:
    """A folder with a root for containers, a spec, and what the engines write."""

    def __init__(self, folder, edits):
        self.folder = pathlib.Path(folder)
        (self.folder / "rootfs/bin").mkdir(parents=True)
        (self.folder / "shared").mkdir()
        shutil.copy(shutil.which("busybox"), self.folder / "rootfs/bin/busybox")
        self.spec = self.write("spec.json", json.dumps(edits).replace("PLACE", folder))
        self.write("hook", HOOK.replace("PLACE", folder), 0o755)
        self.number = 0

    def write(self, name, text, mode=0o644):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return str(path)

    def start(self, *command):
        """Runs a command in a mount namespace with the spec."""
        (self.folder / "hook-ran").unlink(missing_ok=True)
        return subprocess.run(["unshare", "--mount", "--propagation", "private", "--pid",
                               "--fork", "--kill-child", "--mount-proc", "sh", "-c", START,
                               "start", self.spec, *command], text=True, timeout=90, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, cwd=self.folder)

    # The ways. Each returns a finished process.

    def podman(self, script, *options):
        # Without --ulimit, podman would raise limits, which root may not be allowed to do.
        before = options.index("run")
        return self.start(
            "podman", "--root", f"{self.folder}/storage", "--runroot", "/run/podman", "--tmpdir",
            "/run/libpod", "--cgroup-manager", "cgroupfs", "--storage-driver", "vfs",
            "--events-backend", "none", *options[:before], "run", "--rm", "--network", "none",
            "--hostname", "test",
            "--log-driver", "none", "--cgroup-parent", CGROUP, "--ulimit", "nofile=256:256",
            "--ulimit", "nproc=256:256", *options[before + 1:], "--rootfs",
            f"{self.folder}/rootfs", "/bin/busybox", "sh", "-ec", script)

    def podman_itself(self, names, script=LOOK):
        return self.podman(script, "--runtime", "runc", "run", *devices(names))

    def podman_with(self, options, names, script):
        return self.podman(script, *options, "run", *annotations(names))

    def podman_runtime(self, names, script=LOOK):
        return self.podman_with(["--runtime", CDI_RUNTIME], names, script)

    def podman_hook(self, names, script=LOOK):
        (self.folder / "hooks.d").mkdir(exist_ok=True)
        self.write("hooks.d/cdi.json", of_page("engines.md", "json"))
        return self.podman_with(["--hooks-dir", "hooks.d", "--runtime", "runc"], names, script)

    def podman_wrapper(self, names, script=LOOK):
        wrapper = self.write("wrapper", of_page("engines.md", "sh"), 0o755)
        return self.podman_with(["--runtime", wrapper], names, script)

    def containerd(self, folder, script, options):
        self.number += 1
        self.write("containerd.toml", f"""
version = 2
root = '{self.folder}/root'
state = '{self.folder}/state'
disabled_plugins = ['io.containerd.grpc.v1.cri']
[grpc]
  address = '{self.folder}/c.sock'
""")
        return self.start("sh", "-c", CONTAINERD, "ctr", str(self.folder), folder, *options,
                          "--rootfs", f"{self.folder}/rootfs", f"c{self.number}", "/bin/busybox",
                          "sh", "-ec", script)

    def containerd_runtime(self, names, script=LOOK, folder="", more=()):
        return self.containerd(folder, script, [
            "--runc-binary", CDI_RUNTIME, *annotations(names), *devices(more)])

    def containerd_itself(self, names, script=LOOK, folder=""):
        return self.containerd(folder, script, devices(names))

    def docker_runtime(self, names, script=LOOK, runtime="cdi"):
        self.write("settings.toml", f'[variables]\n{VARIABLE} = "{KIND}"\n')
        value = ",".join(name.partition("=")[2] for name in names)
        return self.start("sh", "-c", DOCKER, "docker", str(self.folder), CDI_RUNTIME, "--runtime",
                          runtime, "--env", f"{VARIABLE}={value}", "test", "/bin/busybox", "sh",
                          "-ec", script)

    def make_bundle(self, script, names=()):
        """Writes the config of a container, with a request for devices."""
        (self.folder / "config.json").unlink(missing_ok=True)
        subprocess.run(["runc", "spec"], cwd=self.folder, check=True)
        path = self.folder / "config.json"
        config = json.loads(path.read_text(encoding="utf-8"))
        config["process"] |= {"terminal": False, "args": ["/bin/busybox", "sh", "-ec", script]}
        config["annotations"] = {"cdi.k8s.io/x": ",".join(names)}
        config["linux"]["cgroupsPath"] = f"/{CGROUP}/bundle"
        path.write_text(json.dumps(config), encoding="utf-8")

    def inject(self, names):
        return subprocess.run([CDI, "inject", "--in-place", "--spec-dir", self.folder,
                               self.folder / "config.json", *names], text=True, check=False,
                              capture_output=True, timeout=60)

    def name(self):
        """A new name of a container."""
        self.number += 1
        return f"{CGROUP}-{self.number}"

    def injected(self, runtime, names, script=LOOK):
        self.make_bundle(script, names)
        done = self.inject(names)
        if done.returncode != 0:
            return done
        return self.start(runtime, "run", "--bundle", str(self.folder), self.name())

    def with_cdi_runtime(self, runtime):
        """The command that stands for the runtime."""
        settings = self.write("settings.toml", f'runtime = "{runtime}"\n')
        return ["env", f"CDI_RUNTIME_CONFIG={settings}", CDI_RUNTIME]

    def runtime(self, runtime, names, script=LOOK):
        self.make_bundle(script, names)
        return self.start(*self.with_cdi_runtime(runtime), "run", "--bundle", str(self.folder),
                          self.name())

    def in_steps(self, *command):
        return self.start("sh", "-c", STEPS, "steps", self.name(), *command)


def compared(way, part, difference):
    """What is compared of a part: all but known differences."""
    for known_way, known_part, pattern, _ in KNOWN:
        if (known_way, known_part) == (way, part):
            difference = [[re.sub(pattern, r"\1 ", line) for line in lines]
                          for lines in difference]
    return [list(lines) for lines in difference]


def of_page(page, language):
    """The block of a page, with the programs of this build and the directory of the test."""
    text = (PROJECT / "docs" / page).read_text(encoding="utf-8")
    block = re.search(r"```" + language + r"\n(.*?)```", text, re.S)[1]
    for path, program in (("/usr/bin/cdi-pod", CDI_POD), ("/usr/bin/cdi ", f"{CDI} "),
                          ("/etc/cdi", "/var/run/cdi")):
        block = block.replace(path, program)
    return block


def remove_cgroups():
    """Removes the cgroups that podman leaves below --cgroup-parent."""
    for parent in pathlib.Path("/sys/fs/cgroup").glob(f"**/{CGROUP}"):
        for folder, _, _ in os.walk(parent, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                pass


def last_line(done):
    return (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]


def why_not(start, *programs):
    """Why a way without a device does not start; empty if it does."""
    for program in programs:
        if not shutil.which(program):
            return f"needs {program}"
    with tempfile.TemporaryDirectory(prefix="cdi-ways-") as folder:
        try:
            done = start(Place(folder, OLD))
        except subprocess.SubprocessError as why:
            return f"{programs[0]} cannot start containers on this machine: {why}"
        finally:
            remove_cgroups()
    return "" if done.returncode == 0 else (
        f"{programs[0]} cannot start containers on this machine: {last_line(done)}")


def missing():
    why = bundle.missing()
    if not why and not shutil.which("unshare"):
        why = "needs unshare"
    for node in NODES:
        if not why and not (os.path.exists(node) and stat.S_ISCHR(os.stat(node).st_mode)):
            why = f"the host does not have {node}"
    return why


MISSING = missing()


@unittest.skipIf(MISSING, MISSING)
class Engines(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.addCleanup(remove_cgroups)

    def place(self, edits):
        folder = tempfile.TemporaryDirectory(prefix="cdi-ways-")
        self.addCleanup(folder.cleanup)
        return Place(folder.name, edits)

    def look(self, place, way, names):
        done = way(place, names)
        self.assertEqual(done.returncode, 0, done.stderr)
        ran = (place.folder / "hook-ran").read_text(encoding="utf-8").splitlines()
        self.assertEqual(ran.count("run"), 1, "the hook must run once")
        return Seen(done.stdout, set(ran) - {"run"})

    def difference(self, place, way):
        """What a container has more with the device."""
        return self.look(place, way, [BASE, DEVICE]).more_than(self.look(place, way, [BASE]))

    def check(self, name, way, edits=NEW):
        place = self.place(edits)
        expected = self.difference(place, lambda one, names: one.injected("runc", names))
        self.check_expected(expected, edits)
        found = self.difference(place, way)
        for part in Seen.PARTS:
            with self.subTest(part):
                self.assertEqual(compared(name, part, found[part]),
                                 compared(name, part, expected[part]), f"{name}: {part}")
        place.make_bundle("true", [f"{KIND}=9"])
        done = way(place, [BASE, f"{KIND}=9"])
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def check_expected(self, expected, edits):
        """Otherwise, ways that give nothing would be the same."""
        self.assertEqual(expected["env"], (["GPU=zero", "LIST=a,b c"], []))
        self.assertEqual([line.split()[0] for line in expected["dev"][0]],
                         ["/dev/cdi-loop", "/dev/cdi/fuse"])
        self.assertIn("640 5:8", expected["dev"][0][0])
        self.assertEqual(len(expected["mounts"][0]), 1)
        groups = ["1234", "44"] if edits is NEW else []
        self.assertEqual(expected["groups"], (groups, []))
        if os.path.exists("/sys/fs/cgroup/devices"):
            self.assertEqual(len(expected["rules"][0]), 2)

    def check_message(self, errors):
        self.assertIn(f'cannot resolve "{KIND}=9": kind "{KIND}" has no device "9"', errors)

    def need(self, start, *programs):
        why = why_not(start, *programs)
        if why:
            self.skipTest(why)

    def need_podman(self):
        self.need(lambda place: place.podman("true", "--runtime", "runc", "run"), "podman")

    def need_containerd(self, folder=""):
        self.need(lambda place: place.containerd(folder, "true", []), "containerd", "ctr")

    def test_runc_with_cdi_runtime(self):
        self.check_message(self.check("runc", lambda place, names: place.runtime("runc", names)))

    def test_the_config_is_the_same_with_cdi_inject_and_with_cdi_runtime(self):
        place = self.place(NEW)
        texts = []
        for way in (place.injected, place.runtime):
            self.assertEqual(way("runc", [BASE, DEVICE]).returncode, 0)
            texts.append((place.folder / "config.json").read_bytes())
        self.assertEqual(*texts)

    def test_crun(self):
        self.need(lambda place: place.injected("crun", [BASE], "true"), "crun")
        for way in (Place.injected, Place.runtime):
            with self.subTest(way.__name__):
                self.check_message(
                    self.check("crun", lambda place, names, way=way: way(place, "crun", names)))

    def check_steps(self, runtime):
        """What a runtime reads again after `create`, for `exec` and for the hooks of `delete`."""
        self.need(lambda place: place.injected(runtime, [BASE], "true"), runtime)
        edits = spec("0.5.0", groups=False)
        edits["devices"][1]["containerEdits"]["hooks"] = [
            {"hookName": name, "path": "PLACE/note", "args": ["note", name]}
            for name in ("poststart", "poststop")]
        for way in ("cdi inject", "cdi-runtime"):
            with self.subTest(way):
                place = self.place(edits)
                ran = place.folder / "ran"
                place.write("note", f'#!/bin/sh\ncat >/dev/null\necho "$1" >>{ran}\n', 0o755)
                place.make_bundle("exec /bin/busybox sleep 60", [BASE, DEVICE])
                command = [runtime]
                if way == "cdi inject":
                    self.assertEqual(place.inject([BASE, DEVICE]).returncode, 0)
                else:
                    command = place.with_cdi_runtime(runtime)
                done = place.in_steps(*command)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("GPU=zero", done.stdout.splitlines())
                self.assertEqual(ran.read_text(encoding="utf-8"), "poststart\npoststop\n")

    def test_runc_in_steps(self):
        self.check_steps("runc")

    def test_crun_in_steps(self):
        self.check_steps("crun")

    def test_podman_itself(self):
        self.need_podman()
        self.assertIn("unresolvable CDI devices", self.check("podman itself", Place.podman_itself, OLD))

    def test_podman_with_cdi_runtime(self):
        self.need_podman()
        self.check_message(self.check("podman", Place.podman_runtime))
        self.check("podman", Place.podman_runtime, OLD)

    def test_old_podman_needs_cdi_runtime(self):
        """Otherwise the test before would prove less. A new podman reads all versions."""
        self.need_podman()
        done = self.place(NEW).podman_itself([DEVICE])
        if done.returncode == 0:
            self.skipTest("this podman reads CDI 0.7.0")
        self.assertIn(f"unresolvable CDI devices {DEVICE}", done.stderr)

    def test_podman_with_a_precreate_hook(self):
        self.need_podman()
        self.assertIn("exit status 1", self.check("podman", Place.podman_hook))

    def test_podman_with_a_wrapper(self):
        self.need_podman()
        self.check_message(self.check("podman", Place.podman_wrapper))

    def test_containerd_with_cdi_runtime(self):
        for folder in filter(None, ["/usr/bin", os.environ.get("CDI_CONTAINERD")]):
            with self.subTest(folder):
                self.need_containerd(folder)
                self.check_message(
                    self.check("containerd", lambda place, names, folder=folder:
                               place.containerd_runtime(names, folder=folder)))

    def test_docker_with_cdi_runtime_and_a_variable(self):
        self.need(lambda place: place.docker_runtime([], "true", "runc"), "docker", "dockerd")
        self.check_message(self.check("docker", Place.docker_runtime))

    def test_a_device_that_the_engine_and_cdi_runtime_inject_is_there_once(self):
        self.need_podman()

        def both(place, names, script=LOOK):
            return place.podman(script, "--runtime", CDI_RUNTIME, "run", *devices(names),
                                *annotations(names))
        self.check("podman itself", both, OLD)

    def test_containerd_itself(self):
        folder = os.environ.get("CDI_CONTAINERD", "")
        self.need_containerd(folder)
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        version = subprocess.run(["containerd", "--version"], text=True, check=True, timeout=60,
                                 env=environment, capture_output=True).stdout.split()[2]
        if int(version.lstrip("v").split(".")[0]) < 2:
            self.skipTest(f"containerd {version} has no CDI for ctr: set CDI_CONTAINERD")
        self.check("containerd itself", lambda place, names:
                   place.containerd_itself(names, folder=folder))
        self.check("containerd itself", lambda place, names:
                   place.containerd_runtime(names, folder=folder, more=names))


if __name__ == "__main__":
    unittest.main(verbosity=2)
