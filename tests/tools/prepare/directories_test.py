#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The directories that cdi-prepare writes to: below the root, where others may write, on a disk that
fails.

directories_test.py CDI_PREPARE FAILING_READDIR [unittest options]
"""
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from tree_case import TreeTest  # noqa: E402  pylint: disable=wrong-import-position

FAILING_READDIR = ""
SPEC = "nvidia.com-gpu.yaml"
CLAIM = "cdi-prepare.local-claim_a.json"


def files_in(directory):
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*")
                  if not path.is_dir())


class BelowTheRoot(TreeTest):
    """/var/run and /var/lib are links that lead out of the tree for everybody else."""

    tree = "nv2"

    def setUp(self):
        super().setUp()
        self.outside = self.place / "outside"
        self.outside.mkdir()
        self.path("var").mkdir()
        self.path("var/run").symlink_to(self.outside)
        self.path("var/lib").symlink_to("../../outside/lib")
        # Where these links lead on the host of that tree.
        self.specs = self.path(str(self.outside)) / "cdi"
        self.state = self.path("outside/lib/cdi-prepare")

    def run_well(self, command, *arguments, code=0):
        done = self.run_prepare(command, *arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def check_outside(self):
        self.assertEqual(list(self.outside.iterdir()), [])
        self.assertEqual([path.name for path in self.place.iterdir() if path.name != "node"],
                         ["outside"])

    def test_write(self):
        for more in ((), ("--output-dir", str(self.path("var/run/cdi"))),
                     ("--max-version", "0.5.0")):
            with self.subTest(more=more):
                lines = self.run_well("write", *more).stdout.splitlines()
                self.assertEqual(lines[0], str(self.specs / SPEC))
                self.assertEqual(files_in(self.specs), [SPEC])
                self.run_well("check", *more)
                self.check_outside()
                shutil.rmtree(self.specs)

    def test_another_name_of_the_root(self):
        link = self.place / "link"
        link.symlink_to(self.root)
        for root, place in ((link, self.root), (self.root, link)):
            with self.subTest(root=root):
                done = self.run_tool(self.program, "write", "--root", str(root), "--output-dir",
                                     f"{place}/var/run/cdi")
                self.assertEqual(files_in(self.specs), [SPEC])
                self.assertEqual(list(self.outside.iterdir()), [])
                shutil.rmtree(self.specs)

    def test_dots_after_a_link(self):
        """Above a link is what is above its target: below the root as its host has it, elsewhere as
        the kernel does."""
        (self.outside / "deep").mkdir()
        (self.place / "link").symlink_to("outside/deep")
        self.path(str(self.outside)).mkdir(parents=True)
        here = self.place.resolve()
        for given, place in ((self.place / "link/../out", here / "outside/out"),
                             (f"{self.place}/link/./..//out/", here / "outside/out"),
                             (self.place / "link/../../out", here / "out"),
                             (self.place / "node/../out", self.place / "out"),
                             (self.place / "none/../out", self.place / "out"),
                             (self.path("var/run/../specs"), self.specs.parent.parent / "specs"),
                             (self.path("sys/../specs"), self.path("specs"))):
            with self.subTest(given=given):
                lines = self.run_well("write", "--output-dir", str(given)).stdout.splitlines()
                self.assertEqual(lines[0], str(place / SPEC))
                self.assertEqual(files_in(place), [SPEC])
                shutil.rmtree(place)
        self.assertEqual(files_in(self.outside), [])

    def test_dots_after_a_link_that_leads_nowhere(self):
        (self.place / "link").symlink_to("nowhere")
        for end in ("link/../out", "link/.."):
            given = self.place / end
            for command in ("write", "check"):
                error = self.run_well(command, "--output-dir", str(given), code=1).stderr
                self.assertIn(f"error: {given}: cannot open ", error)
                self.assertIn(": No such file or directory\n", error)
        self.assertEqual(sorted(path.name for path in self.place.iterdir()),
                         ["link", "node", "outside"])

    def test_modes(self):
        subprocess.run([self.program, "write", "--root", str(self.root)], umask=0o077, check=True,
                       stdout=subprocess.DEVNULL, timeout=20)
        place = self.specs
        while place != self.root:
            self.assertEqual(stat.S_IMODE(place.stat().st_mode), 0o755, place)
            place = place.parent

    def test_what_is_outside_is_not_removed(self):
        for more in ((), ("--max-version", "0.5.0")):
            self.run_well("write", *more)
            shutil.copytree(self.specs, self.outside / "cdi")
            before = files_in(self.outside)
            for address in ("0000:17:00.0", "0000:ca:00.0"):
                (self.pci(address) / "class").write_text("0x040300\n")
            self.run_well("write", *more)
            self.assertEqual((files_in(self.specs), files_in(self.outside)), ([], before))
            shutil.rmtree(self.outside / "cdi")
            for address in ("0000:17:00.0", "0000:ca:00.0"):
                (self.pci(address) / "class").write_text("0x030200\n")

    def test_specs_outside_are_no_conflict(self):
        (self.outside / "cdi").mkdir()
        self.run_well("write", "--output-dir", str(self.outside / "cdi"))
        (self.outside / "cdi" / SPEC).rename(self.outside / "cdi/other.yaml")
        self.assertEqual(self.run_well("write").stderr, "")

    def test_directory_that_is_a_link_itself(self):
        self.path("var/run").unlink()
        self.path("var/run").mkdir()
        self.path("var/run/cdi").symlink_to(self.outside)
        self.run_well("write")
        self.assertEqual(files_in(self.specs.parent), [SPEC])
        self.check_outside()

    def test_links_without_end(self):
        self.path("var/run").unlink()
        self.path("var/run").symlink_to("run")
        error = self.run_well("write", code=1).stderr
        self.assertIn(f"error: {self.path('var/run/cdi')}: cannot open or create the directory", error)
        self.assertIn("Too many levels of symbolic links", error)

    def test_claims(self):
        done = self.run_well("prepare", "--claim", "a", "--device", "0")
        self.assertIn("devices", json.loads(done.stdout)["claims"]["a"])
        self.assertEqual((files_in(self.specs), files_in(self.state)),
                         ([CLAIM], [".lock", "a.json"]))
        self.check_outside()
        (self.specs / CLAIM).unlink()
        self.assertTrue(self.run_well("list").stdout.startswith("a\n"))
        self.assertEqual(files_in(self.specs), [CLAIM])
        self.run_well("unprepare", "--claim", "a")
        self.assertEqual((files_in(self.specs), files_in(self.state)), ([], [".lock"]))
        self.check_outside()

    def test_claims_outside_are_others(self):
        state, specs = self.outside / "cdi-prepare", self.outside / "cdi"
        self.run_well("prepare", "--claim", "b", "--device", "1", "--state-dir", str(state),
                      "--output-dir", str(specs))
        before = files_in(self.outside)
        self.path("var/lib").unlink()
        self.path("var/lib").symlink_to(self.outside)
        self.assertEqual(self.run_well("list").stdout, "")
        self.run_well("unprepare", "--claim", "b")
        self.assertEqual(files_in(self.outside), before)

    def test_directory_that_a_journal_of_the_tree_names(self):
        self.run_well("prepare", "--claim", "a", "--device", "0")
        shutil.rmtree(self.specs)
        path = self.state / "a.json"
        claim = json.loads(path.read_text())
        claim["spec_dir"] = str(self.outside)
        path.write_text(json.dumps(claim))
        faults = self.run_well("list", code=3).stdout
        self.assertIn(f"fault: a: {self.outside}: the journal records this directory", faults)
        error = self.run_well("unprepare", "--claim", "a", code=1).stderr
        self.assertIn("give it as --output-dir", error)
        self.check_outside()
        self.run_well("unprepare", "--claim", "a", "--output-dir", str(self.outside))
        self.assertEqual(files_in(self.state), [".lock"])

    def test_watch(self):
        with subprocess.Popen([self.program, "watch", "--root", str(self.root), "--interval",
                               "0.05"], stderr=subprocess.PIPE, text=True) as watching:
            line = watching.stderr.readline()
            while line and "created" not in line:
                line = watching.stderr.readline()
            watching.send_signal(signal.SIGTERM)
            watching.communicate(timeout=20)
        self.assertEqual(line.split()[1], str(self.specs / SPEC))
        self.assertEqual((watching.returncode, files_in(self.specs)), (0, [SPEC]))
        self.check_outside()


class WritableByOthers(TreeTest):
    """Whoever may write the journal decides where files are written."""

    tree = "nv2"

    def setUp(self):
        super().setUp()
        self.state = self.place / "state"
        self.state.mkdir(0o755)

    def refuse(self, reason):
        for command, more in (("list", ()), ("unprepare", ("--claim", "a")),
                              ("prepare", ("--claim", "a", "--device", "0"))):
            done = self.run_prepare(command, "--state-dir", str(self.state), "--output-dir",
                                    str(self.place / "out"), *more)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn(f"error: {self.state}: {reason}", done.stderr)
            self.assertIn("use another --state-dir", done.stderr)
        self.assertEqual(list(self.state.iterdir()), [])
        self.assertFalse((self.place / "out").exists())

    def test_modes(self):
        for mode in (0o777, 0o775, 0o1777):
            self.state.chmod(mode)
            self.refuse(f"other users may write to the directory: mode 0{mode:o}")

    @unittest.skipIf(os.geteuid() != 0, "only root can give a directory away")
    def test_owner(self):
        os.chown(self.state, 65534, 0)
        self.refuse("a user other than root and the user of this process owns the directory")


class FailingDisk(TreeTest):
    """The names of a directory cannot all be read."""

    tree = "nv2"

    def setUp(self):
        super().setUp()
        self.out = pathlib.Path(os.path.realpath(self.place)) / "out"
        self.arguments = ["--root", str(self.root), "--output-dir", str(self.out)]
        subprocess.run([self.program, "write", *self.arguments], check=True, timeout=20,
                       stdout=subprocess.DEVNULL)
        self.failing = self.failing_at(self.out)
        self.error = f"error: {self.out}: cannot list the directory: Input/output error\n"

    @staticmethod
    def failing_at(directory):
        """The environment in which a directory cannot be listed."""
        options = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        return {**os.environ, "ASAN_OPTIONS": options, "LD_PRELOAD": FAILING_READDIR,
                "FAILING_READDIR": os.path.realpath(directory)}

    def test_pci_bus(self):
        """The host may have GPUs, so their spec stays."""
        failing = self.failing_at(self.path("sys/bus/pci/devices"))
        for command in ("write", "check"):
            done = self.run_tool(self.program, command, *self.arguments, expect=None, env=failing)
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            self.assertIn("but its PCI bus cannot be read: spec files are not changed", done.stderr)
            self.assertEqual(files_in(self.out), [SPEC])

    def test_write(self):
        done = self.run_tool(self.program, "write", *self.arguments, expect=None, env=self.failing)
        self.assertEqual((done.returncode, done.stderr), (1, f"cdi-prepare: {self.error}"))
        self.assertEqual(files_in(self.out), [SPEC])

    def test_check(self):
        done = self.run_tool(self.program, "check", *self.arguments, expect=None, env=self.failing)
        self.assertEqual((done.returncode, done.stderr), (1, f"cdi-prepare: {self.error}"))

    def test_watch(self):
        with subprocess.Popen([self.program, "watch", *self.arguments, "--interval", "0.05"],
                              env=self.failing, stderr=subprocess.PIPE, text=True) as watching:
            line = watching.stderr.readline()
            while line and not line.endswith(self.error):
                line = watching.stderr.readline()
            self.assertIn(self.error, line)
            watching.send_signal(signal.SIGTERM)
            watching.communicate(timeout=20)
        self.assertEqual(watching.returncode, 0)


if __name__ == "__main__":
    TreeTest.program = os.path.abspath(sys.argv[1])
    FAILING_READDIR = os.path.abspath(sys.argv[2])
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[3:]])
