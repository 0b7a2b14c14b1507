#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests what the packages do to running systemd units, by running the scripts of the packages with
stand-ins for systemd's commands. They run in a folder; nothing of this machine is changed."""
import re
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
from project import ROOT, PackagingTest  # noqa: E402

PACKAGE = "container-device-interface-tools"
# systemctl and deb-systemd-invoke: the folder `running` has a file for each unit that runs.
SYSTEMD = """#!/bin/sh
action=
for word; do
  case $word in
    -*) ;;
    start | stop | restart | try-restart | disable | daemon-reload) action=$word ;;
    *)
      case $action in
        stop | disable) rm -f "running/$word" ;;
        start | restart) echo new >"running/$word" ;;
        try-restart) [ ! -e "running/$word" ] || echo new >"running/$word" ;;
      esac ;;
  esac
done
echo "$action" >>actions
"""
# The order of the scripts in Debian Policy, chapter 6.5 to 6.8.
UPGRADE = ("prerm upgrade 2", "preinst upgrade 1 2", "postrm upgrade 2", "postinst configure 1")
REMOVAL = ("prerm remove", "postrm remove")


class UnitsTest(PackagingTest):

    def setUp(self):
        super().setUp()
        self.units = sorted(path.name for path in ROOT.glob("examples/tools/*/*/cdi-*")
                            if path.suffix in (".service", ".path"))
        for name in ("bin", "running", "systemd"):
            (self.folder / name).mkdir()
        for name in ("systemctl", "deb-systemd-invoke"):
            self.script(f"bin/{name}", SYSTEMD)
        self.script("bin/deb-systemd-helper", "#!/bin/sh\nexit 1\n")

    def script(self, name, text):
        path = self.folder / name
        path.write_text(text.replace("/run/systemd/system", str(self.folder / "systemd")),
                        encoding="utf-8")
        path.chmod(0o755)

    def start(self, *units):
        for unit in units:
            (self.folder / "running" / unit).write_text("old\n", encoding="utf-8")

    def running(self):
        return {path.name: path.read_text(encoding="utf-8").strip()
                for path in (self.folder / "running").iterdir()}

    def call(self, *command):
        environment = {"PATH": f"{self.folder / 'bin'}:/usr/bin:/bin"}
        self.run_in(self.folder, *command, env=environment)

    def some_run(self):
        self.assertGreaterEqual(set(self.units), {"cdi-nri.service", "cdi-prepare.path"})
        self.start("cdi-nri.service", "cdi-prepare.path")


@unittest.skipUnless(shutil.which("dh_installsystemd"), "debhelper is missing")
class Debian(UnitsTest):

    def setUp(self):
        super().setUp()
        tree = self.folder / "tree"
        shutil.copytree(ROOT / "packaging/debian", tree / "debian")
        (tree / "debian/changelog").write_text(
            "container-device-interface (1-1) unstable; urgency=medium\n\n  * Test.\n\n"
            " -- a <a@example.com>  Sat, 01 Jan 2028 00:00:00 +0000\n", encoding="utf-8")
        installed = tree / "debian" / PACKAGE / "lib/systemd/system"
        installed.mkdir(parents=True)
        for unit in self.units:
            path = next(ROOT.glob(f"examples/tools/*/*/{unit}"))
            shutil.copy(path, installed / unit)
        self.run_in(tree, "make", "-f", "debian/rules", "override_dh_installsystemd")
        self.run_in(tree, "dh_installdeb", f"-p{PACKAGE}")
        for path in (tree / "debian" / PACKAGE / "DEBIAN").glob("p*"):
            self.script(path.name, path.read_text(encoding="utf-8"))

    def run_scripts(self, calls):
        for name, *arguments in map(str.split, calls):
            if (self.folder / name).exists():
                self.call(str(self.folder / name), *arguments)

    def test_an_upgrade_restarts_the_units_that_run_and_no_others(self):
        self.some_run()
        self.run_scripts(UPGRADE[:3])
        self.assertEqual(self.running(), {"cdi-nri.service": "old", "cdi-prepare.path": "old"})
        self.run_scripts(UPGRADE[3:])
        self.assertEqual(self.running(), {"cdi-nri.service": "new", "cdi-prepare.path": "new"})
        actions = (self.folder / "actions").read_text(encoding="utf-8").split()
        self.assertEqual(actions, ["daemon-reload", "try-restart"])

    def test_a_first_installation_starts_nothing(self):
        self.run_scripts(("preinst install", "postinst configure"))
        self.assertEqual(self.running(), {})

    def test_a_removal_stops_every_unit(self):
        self.start(*self.units)
        self.run_scripts(REMOVAL)
        self.assertEqual(self.running(), {})


class Rpm(UnitsTest):
    """The scriptlets of the RPM spec, with the number of packages that are left as argument."""

    def scriptlets(self, left):
        spec = (ROOT / "packaging/container-device-interface.spec").read_text(encoding="utf-8")
        units = re.search(r"^%global units (.*)$", spec, re.M)[1]
        self.assertEqual(sorted(units.split()), self.units)
        for name in ("preun", "postun"):
            text = re.search(rf"^%{name} tools\n(.*?)^%", spec, re.M | re.S)[1]
            self.script(name, "#!/bin/sh\n" + text.replace("%{units}", units) + "\nexit 0\n")
            self.call(str(self.folder / name), str(left))

    def test_an_upgrade_restarts_the_units_that_run_and_no_others(self):
        self.some_run()
        self.scriptlets(1)
        self.assertEqual(self.running(), {"cdi-nri.service": "new", "cdi-prepare.path": "new"})

    def test_a_removal_stops_every_unit(self):
        self.start(*self.units)
        self.scriptlets(0)
        self.assertEqual(self.running(), {})


if __name__ == "__main__":
    unittest.main(verbosity=2)
