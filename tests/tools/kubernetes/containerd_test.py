#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""cdi-nri in a real containerd with runc: what is inside of containers, with pods made by CRI.

usage: containerd_test.py BUILD CDI_NRI [ARGUMENTS OF UNITTEST]

For CDI_FULL=1, as root, with runc and a static busybox. Builds containerd, its shim, ctr and
cri-judge in the folder BUILD with Go. CDI_PODS is the number of pods of the longest test.
"""
import os
import pathlib
import re
import sys
import time
import unittest

sys.dont_write_bytecode = True
import containerd_peer  # noqa: E402
import judges  # noqa: E402
from containerd_peer import TOOLS, Containerd, remove_cgroups  # noqa: E402
from nri_cases import COMMON, KIND, ONE, TWO, ZERO  # noqa: E402
from nri_peers import NriCase, need_cdi_nri, wait_until  # noqa: E402

BUILD, CDI_NRI = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
PODS = int(os.environ.get("CDI_PODS", "200"))

# What a container sees.
LOOK = """
b=/bin/busybox
$b env | $b sort
for node in /dev/vendor0 /dev/second; do
  [ ! -e $node ] || $b stat -c '%n %F %t:%T %a %u:%g' $node
done
$b mount | $b grep /mnt/vendor || true
$b id -G
"""
HOOK = "#!/bin/sh\ncat >/dev/null\necho run >>PLACE/hook-ran\n"


def spec(place):
    """Device `zero` has everything that NRI can say, `group` the rest."""
    node = {"hostPath": "/dev/null", "type": "c", "major": 1, "minor": 3}
    hook = {"hookName": "createRuntime", "path": place.path("hook"), "args": ["hook"]}
    edits = {"env": ["ZERO=0"], "hooks": [hook],
             "deviceNodes": [{**node, "path": "/dev/vendor0", "fileMode": 0o640, "uid": 5,
                              "gid": 8},
                             {**node, "path": "/dev/second"}],
             "mounts": [{"hostPath": place.path("shared"), "containerPath": "/mnt/vendor",
                         "options": ["ro", "nosuid", "rbind"]}]}
    return {"cdiVersion": "0.7.0", "kind": KIND, "devices": [
        {"name": "zero", "containerEdits": edits},
        {"name": "one", "containerEdits": {"env": ["ONE=1"]}},
        {"name": "two", "containerEdits": {"env": ["TWO=2"]}},
        {"name": "group", "containerEdits": {"additionalGids": [1234]}}]}


def setUpModule():
    containerd_peer.set_up(BUILD)
    need_cdi_nri(CDI_NRI)
    TOOLS["demo"] = str(judges.build_nri(BUILD) / "nri-demo")


def by_pod(value, key=f"{COMMON}/container.main"):
    return ["-pod-annotation", f"{key}={value}"]


class RealContainerd(NriCase):
    def setUp(self):
        super().setUp()
        self.addCleanup(remove_cgroups)
        os.mkdir(self.place.path("shared"))
        os.chmod(self.place.write("hook", HOOK.replace("PLACE", str(self.place.folder))), 0o755)
        self.place.write("cdi/vendor.json", spec(self.place))
        self.containerd = Containerd(self)

    def connected(self, *options, program=CDI_NRI):
        """A plugin that containerd knows."""
        start = self.plugin if program == TOOLS["demo"] else self.cdi_nri
        plugin = start(program, *options)
        self.wait_for_plugins(1)
        return plugin

    def wait_for_plugins(self, count):
        """Waits until containerd has said so many times that a plugin is there."""
        self.seen = getattr(self, "seen", 0) + count
        wait_until(lambda: self.containerd.daemon.printed().count(
            "connected and synchronized") >= self.seen, "containerd knows the plugin")

    def hooks(self):
        """How often the hook ran since the last time."""
        path = pathlib.Path(self.place.path("hook-ran"))
        count = len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0
        path.unlink(missing_ok=True)
        return count

    def ran(self, *options):
        return self.containerd.run(*options, script=LOOK)

    def look(self, *options):
        done = self.ran(*options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.sub(r"judge-\d+", "POD", done.stdout)

    def check_has_device(self, seen):
        self.assertIn("\nZERO=0\n", seen)
        self.assertIn("/dev/vendor0 character special file 1:3 640 5:8", seen)
        self.assertRegex(seen, r"/mnt/vendor .*ro,nosuid")
        self.assertEqual(self.hooks(), 1, "the hook must run once")

    def check_refused(self, done, *texts):
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("CreateContainer", done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)

    def test_a_device_is_the_same_by_each_way(self):
        expected = self.look("-cdi", ZERO)
        self.check_has_device(expected)
        self.assertNotIn("ZERO", self.look(*by_pod(ZERO)), "there is no plugin")
        demo = self.connected(program=TOOLS["demo"])
        self.assertEqual(self.look(*by_pod(ZERO)), expected)
        self.check_has_device(expected)
        demo.kill()
        for options in (["--resolve", "auto"], ["--resolve", "always"], ["--resolve", "never"]):
            plugin = self.connected(*options)
            for way in (by_pod(ZERO), by_pod(f"- {ZERO}\n", f"{COMMON}/pod"),
                        by_pod(ZERO, "nvidia.cdi.k8s.io/container.main"),
                        by_pod(ZERO, "cdi.k8s.io/pod"), ["-cdi", ZERO],
                        ["-cdi", ZERO, *by_pod(ZERO)],
                        ["-annotation", f"cdi.k8s.io/x={ZERO}"],
                        ["-annotation", f"cdi.k8s.io/x={ZERO}", *by_pod(ZERO)]):
                with self.subTest(options=options, way=way):
                    seen = self.look(*way)
                    self.assertEqual(seen, expected)
                    self.check_has_device(seen)
            plugin.kill()

    def test_a_group(self):
        self.connected()
        seen = self.look(*by_pod(f"{KIND}=group"))
        self.assertIn("1234", seen.splitlines()[-1].split())

    def test_wrong_names(self):
        self.connected()
        self.check_refused(self.ran(*by_pod(f"{KIND}=nine")),
                           f'"{KIND}" has no device "nine"')
        self.check_refused(self.ran(*by_pod("nonsense")), f"{COMMON}/container.main")
        self.check_refused(self.ran(*by_pod("- [\n")), f"{COMMON}/container.main")
        self.assertIn("ONE=1", self.look(*by_pod(ONE)))
        self.assertNotIn("ONE=1", self.look(*by_pod(f"{KIND}=nine", f"{COMMON}/container.other")))

    def test_containerd_is_killed(self):
        plugin = self.connected()
        for _ in range(2):
            self.containerd.kill()
            self.containerd.start()
            self.wait_for_plugins(1)
            self.assertIn("ONE=1", self.look(*by_pod(ONE)))
        self.assertTrue(plugin.is_running())

    def test_the_plugin_is_killed(self):
        plugin = self.connected()
        for _ in range(2):
            plugin.kill()
            self.assertNotIn("ONE=1", self.look(*by_pod(ONE)))
            plugin = self.connected()
            self.assertIn("ONE=1", self.look(*by_pod(ONE)))

    def test_two_plugins(self):
        self.connected("--name", "ours", "--index", "20")
        self.connected("--index", "10", program=TOOLS["demo"])
        seen = self.look(*by_pod(TWO, "nvidia.cdi.k8s.io/pod"))
        self.assertIn("TWO=2", seen)
        self.check_refused(self.ran(*by_pod(ONE)), ONE)

    def test_many_pods(self):
        plugin = self.connected("--resolve", "always")
        for _ in range(3):
            self.look(*by_pod(ZERO))
        before = plugin.descriptors(), plugin.kilobytes()
        begin = time.monotonic()
        for _ in range(PODS):
            self.assertIn("ZERO=0", self.look(*by_pod(ZERO)))
        print(f"{PODS} pods: {(time.monotonic() - begin) / PODS:.2f} s each; the plugin had "
              f"{before[1]} kB, then {plugin.kilobytes()} kB")
        self.assertEqual(plugin.descriptors(), before[0])
        self.check_memory(plugin, before[1] + 200)
        self.assertEqual(self.hooks(), PODS + 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
