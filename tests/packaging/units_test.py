#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests what the packages do to running systemd units, by running the scripts of the packages with
stand-ins for systemd's commands, in a folder; and the Debian package, with stand-ins for the tools,
in a booted system: this machine's files below a file system in memory, without a network. Nothing
of this machine is changed."""
import os
import re
import shutil
import subprocess
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
        self.units = sorted(path.name for path in ROOT.glob("tools/*/*/cdi-*")
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
class DebianTest(UnitsTest):

    def setUp(self):
        super().setUp()
        self.tree = tree = self.folder / "tree"
        shutil.copytree(ROOT / "packaging/debian", tree / "debian")
        (tree / "debian/changelog").write_text(
            "container-device-interface (1-1) unstable; urgency=medium\n\n  * Test.\n\n"
            " -- a <a@example.com>  Sat, 01 Jan 2028 00:00:00 +0000\n", encoding="utf-8")
        installed = tree / "debian" / PACKAGE / "lib/systemd/system"
        installed.mkdir(parents=True)
        for unit in self.units:
            path = next(ROOT.glob(f"tools/*/*/{unit}"))
            shutil.copy(path, installed / unit)
        self.run_in(tree, "make", "-f", "debian/rules", "override_dh_installsystemd")
        self.run_in(tree, "dh_installdeb", f"-p{PACKAGE}")


class Debian(DebianTest):

    def setUp(self):
        super().setUp()
        for path in (self.tree / "debian" / PACKAGE / "DEBIAN").glob("p*"):
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


# Starts a system from this machine's files, which it cannot change: it writes to memory.
BOOT = """
set -e
mount --bind / root
umount /sys/fs/cgroup/unified 2>/dev/null || true  # a hybrid hierarchy, which nspawn cannot use
exec timeout 100 systemd-nspawn --quiet --register=no --keep-unit --private-network \\
  --directory="$PWD/root" --volatile=overlay --tmpfs=/usr/local --bind="$PWD/shared:/shared" \\
  --bind-ro="$PWD/steps.service:/etc/systemd/system/steps.service" \\
  /lib/systemd/systemd systemd.unit=steps.service
"""
STEPS_SERVICE = """
[Unit]
DefaultDependencies=no
Requires=dbus.socket
After=dbus.socket

[Service]
Type=oneshot
ExecStart=/bin/sh /shared/steps
StandardOutput=file:/shared/states
StandardError=file:/shared/errors
ExecStopPost=/bin/systemctl exit 0 --force
"""
# The tools of a version: what runs tells the version by its arguments.
TOOL = """#!/bin/sh
[ "$1" = write ] || exec sleep 100000VERSION
"""
STEPS = """
state() {
  for unit in UNITS; do
    pid=$(systemctl show --property=MainPID --value $unit)
    version=
    [ "${pid:-0}" = 0 ] || version=$(tr '\\0' ' ' <"/proc/$pid/cmdline" | sed -n 's/^sleep 100000//p')
    active=$(systemctl is-active $unit)
    [ "$active" = inactive ] || echo "$1: $unit $active" $version >&3
  done
}
run_units() { systemctl start cdi-nri.service cdi-prepare.path; }
files() { find /etc /lib/systemd /usr/bin /var/lib/systemd /run/systemd -name 'cdi-*' | sort; }
exec 3>&1 >&2
rm -f /usr/sbin/policy-rc.d  # in memory; an image of a container forbids all services
files >/shared/before
dpkg --install /shared/1.deb; state install
run_units; state start
dpkg --install /shared/2.deb; state upgrade
dpkg --install /shared/1.deb; state downgrade
systemctl enable --quiet cdi-nri.service
dpkg --remove PACKAGE; state remove; files >/shared/removed
dpkg --install /shared/2.deb; state again
systemctl start cdi-prepare-watch.service; state watch
dpkg --purge PACKAGE; state purge
files >/shared/after
"""


@unittest.skipIf(os.geteuid() != 0, "needs root, to boot a system")
@unittest.skipUnless(shutil.which("systemd-nspawn"), "systemd-nspawn is missing")
@unittest.skipUnless(shutil.which("dpkg-deb"), "dpkg-deb is missing")
class Booted(DebianTest):

    def make_package(self, version):
        package = self.tree / "debian" / PACKAGE
        (package / "DEBIAN/control").write_text(
            f"Package: {PACKAGE}\nVersion: {version}\nArchitecture: all\n"
            "Maintainer: a <a@example.com>\nDescription: stand-ins\n", encoding="utf-8")
        (package / "usr/bin").mkdir(parents=True, exist_ok=True)
        for name in ("cdi-nri", "cdi-prepare"):
            tool = package / "usr/bin" / name
            tool.write_text(TOOL.replace("VERSION", str(version)), encoding="utf-8")
            tool.chmod(0o755)
        self.run_in(self.folder, "dpkg-deb", "--root-owner-group", "-Znone", "--build",
                    str(package), f"shared/{version}.deb")

    def boot(self):
        for name in ("root", "shared"):
            (self.folder / name).mkdir()
        for version in (1, 2):
            self.make_package(version)
        steps = STEPS.replace("UNITS", " ".join(self.units)).replace("PACKAGE", PACKAGE)
        (self.folder / "shared/steps").write_text(steps, encoding="utf-8")
        (self.folder / "steps.service").write_text(STEPS_SERVICE, encoding="utf-8")
        done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", BOOT],
                              cwd=self.folder, text=True, stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        if not (self.folder / "shared/states").exists():
            last = (done.stdout.strip().splitlines() or ["it printed nothing"])[-1]
            self.skipTest(f"systemd-nspawn boots no system on this machine: {last}")

    def lines(self, name):
        return (self.folder / "shared" / name).read_text(encoding="utf-8").splitlines()

    def test_install_upgrade_downgrade_remove_and_purge(self):
        self.boot()
        errors = "\n".join(self.lines("errors"))
        run = ["cdi-nri.service active {}", "cdi-prepare.path active"]
        self.assertEqual(self.lines("states"), [
            f"{step}: {unit.format(version)}"
            for step, version in (("start", 1), ("upgrade", 2), ("downgrade", 1))
            for unit in run] + ["watch: cdi-prepare-watch.service active 2"], errors)
        enabled = "/etc/systemd/system/multi-user.target.wants/cdi-nri.service"
        records = "/var/lib/systemd/deb-systemd-helper-enabled/"
        # docs/cdi-prepare.md names both.
        self.assertEqual([path for path in self.lines("removed") if not path.startswith(records)],
                         [enabled], errors)
        self.assertEqual(self.lines("after"), self.lines("before"), errors)


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
