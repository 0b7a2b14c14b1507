#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes a whole release with packaging/release.sh, twice, compares the bytes, and uses each of its
files, with CDI_FULL=1. CDI_RELEASE=FOLDER uses a release made before."""
import hashlib
import html
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.dont_write_bytecode = True
from project import (CLEAN_GIT, CONSUMERS, NAME, RELEASE,  # noqa: E402
                     PackagingTest, commit_all, copy_project, install_block)

TOOLS = f"cdi-tools-{RELEASE}-{platform.machine()}"
PACKAGES = ("container-device-interface-tools", "container-device-interface-dra",
            f"lib{NAME}-c-dev", f"lib{NAME}-c0", f"lib{NAME}-dev")
MOST_BYTES = {"cdi": 3_500_000}  # of a program; the others have at most 3 MB
STATIC = ("cdi", "cdi-nri", "cdi-pod", "cdi-runtime")  # cdi-prepare loads libraries of drivers


def make_release(folder, tree):
    """Makes a release of the commit of a clone."""
    done = subprocess.run([tree / "packaging/release.sh", "--trial", folder], text=True,
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=CLEAN_GIT)
    if " missing; on Debian, run: " in done.stdout:
        raise unittest.SkipTest(done.stdout.strip())
    assert done.returncode == 0, done.stdout


def setUpModule():
    global OUT
    if not os.environ.get("CDI_FULL") and "CDI_RELEASE" not in os.environ:
        raise unittest.SkipTest("builds everything, optimised, for five minutes: CDI_FULL=1")
    made = tempfile.TemporaryDirectory(prefix="cdi-release-")
    unittest.addModuleCleanup(made.cleanup)
    OUT = pathlib.Path(os.environ.get("CDI_RELEASE", f"{made.name}/out"))
    if not OUT.is_dir():
        tree = pathlib.Path(made.name, "tree")
        copy_project(tree)
        commit_all(tree)
        make_release(OUT, tree)


def one_of(pattern):
    """The only file of the release with a pattern."""
    found = list(OUT.glob(pattern))
    assert len(found) == 1, f"{pattern}: {found}"
    return found[0]


class Release(PackagingTest):

    def test_sums_cover_every_file(self):
        sums = dict(reversed(line.split("  ")) for line in
                    (OUT / "SHA256SUMS").read_text(encoding="ascii").splitlines())
        self.assertEqual(sums, {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                                for path in OUT.iterdir() if path.name != "SHA256SUMS"})
        self.assertEqual({name.partition("_")[0] for name in sums if name.endswith(".deb")},
                         set(PACKAGES))
        self.assertLessEqual({"cdi.hpp", f"{NAME}.wrap", f"{TOOLS}.tar.gz",
                              f"{NAME}-{RELEASE}.tar.gz", f"{NAME}-{RELEASE}-docs.tar.gz",
                              f"{NAME}-{RELEASE}.spdx.json"}, set(sums))

    @unittest.skipUnless(os.environ.get("CDI_FULL") and not os.environ.get("CDI_RELEASE"),
                         "a second build, for CDI_FULL=1")
    def test_the_same_bytes_twice(self):
        again, clone = self.folder / "again", self.folder / "another path"
        self.run_in(OUT.parent, "git", "clone", "-q", "tree", str(clone), env=CLEAN_GIT)
        make_release(again, clone)
        self.assertEqual((OUT / "SHA256SUMS").read_text("ascii"),
                         (again / "SHA256SUMS").read_text("ascii"))

    def test_tools_are_static_and_small(self):
        with tarfile.open(OUT / f"{TOOLS}.tar.gz") as archive:
            archive.extractall(self.folder)
        programs = self.folder / TOOLS / "bin"
        self.assertLessEqual({"cdi", "cdi-nri", "cdi-pod", "cdi-prepare"},
                             set(os.listdir(programs)))
        for program in programs.iterdir():
            with self.subTest(program.name):
                self.assertLess(program.stat().st_size, MOST_BYTES.get(program.name, 3_000_000))
                needed = re.findall(r"NEEDED.*\[(.*)\]",
                                    self.run_in(self.folder, "readelf", "-d", str(program)))
                self.assertEqual([name for name in needed if not name.startswith(
                    () if program.name in STATIC else ("libc.so", "ld-linux", "libm.so"))], [])
                if program.name != "cdi-runtime":  # it passes --version to another runtime
                    self.assertIn(RELEASE, self.run_in(self.folder, str(program), "--version"))
                self.assertNotIn(b"/obj-", program.read_bytes())
        self.assertTrue((self.folder / TOOLS / "lib/systemd/system/cdi-prepare.service").is_file())
        licences = self.folder / TOOLS / "share/doc/container-device-interface-tools"
        for name in ("APACHE", "MIT"):
            self.assertTrue(list(licences.glob(f"LICENSE-{name}*")), name)

    def test_bill_of_materials(self):
        path = OUT / f"{NAME}-{RELEASE}.spdx.json"
        bill = json.loads(path.read_text(encoding="utf-8"))
        digests = {one["name"]: one["checksums"][0]["checksumValue"]
                   for one in bill["packages"] if "checksums" in one}
        self.assertEqual(digests, {file.name: hashlib.sha256(file.read_bytes()).hexdigest()
                                   for file in OUT.iterdir()
                                   if file not in (path, OUT / "SHA256SUMS")})
        linked = {one["relatedSpdxElement"] for one in bill["relationships"]
                  if one["relationshipType"] == "STATIC_LINK"}
        versions = {one["name"]: one["versionInfo"] for one in bill["packages"]
                    if one["SPDXID"] in linked}
        self.assertEqual(set(versions),
                         {"fmt", "CLI11", "toml++", "nlohmann_json", "glibc", "libstdc++"})
        self.assertEqual(versions["glibc"], platform.libc_ver()[1])
        if not shutil.which("pyspdxtools"):
            self.skipTest("no judge of SPDX: pip install spdx-tools")
        self.run_in(self.folder, "pyspdxtools", "-i", str(path))

    def test_every_link_of_the_site_leads_somewhere(self):
        with tarfile.open(OUT / f"{NAME}-{RELEASE}-docs.tar.gz") as archive:
            archive.extractall(self.folder)
        site = self.folder / f"{NAME}-{RELEASE}-docs"
        texts = {path: path.read_text(encoding="utf-8")
                 for folder in (site, site / "docs") for path in folder.glob("*.html")}
        self.assertGreater(len(texts), 10)
        for path, text in texts.items():
            for link in map(html.unescape, re.findall(r'<a href="([^"]+)"', text)):
                place, _, fragment = link.partition("#")
                if re.match(r"[a-z]+:", link):
                    continue
                to = pathlib.Path(os.path.normpath(path.parent / place)) if place else path
                self.assertTrue(to.is_file(), f"{path.name}: {link}")
                if fragment and to in texts:
                    self.assertIn(f'id="{fragment}"', texts[to], f"{path.name}: {link}")


class Packages(PackagingTest):

    def test_the_page_has_the_command_that_release_runs(self):
        self.assertEqual(install_block("Debian packages", "sh"), "packaging/deb.sh ../OUT\n")

    def test_lintian(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed")
        self.run_in(self.folder, "lintian", "--fail-on", "error", "--allow-root",
                    *map(str, sorted(OUT.glob("*.deb"))))

    def test_contents(self):
        files = {name: self.run_in(self.folder, "dpkg-deb", "--contents",
                                   str(one_of(f"{name}_*.deb"))) for name in PACKAGES}
        for name, listed in files.items():
            for licence in ("APACHE", "MIT"):
                self.assertIn(f"/doc/{name}/LICENSE-{licence}", listed)
        tools, dra, c_dev, c_library, dev = (files[name] for name in PACKAGES)
        for part in ("/bin/cdi\n", "cdi-prepare.service", "90-cdi-prepare.rules"):
            self.assertIn(part, tools)
        for part in ("/bin/cdi-dra\n", "/man8/cdi-dra.8.gz\n", "/completions/cdi-dra\n"):
            self.assertIn(part, dra)
            self.assertNotIn(part, tools)
        self.assertNotIn(".hpp", c_dev)
        self.assertIn("/include/cdi/cdi.h\n", c_dev)
        self.assertIn("cdi.h.3.gz", c_dev)
        self.assertNotIn("/include/cdi/cdi.h\n", dev)
        self.assertIn("/include/cdi/cdi.hpp\n", dev)
        self.assertIn(".so.0 -> ", c_library)

    def test_a_fresh_root_installs_uses_and_purges_them(self):
        if os.geteuid() != 0 or not shutil.which("debootstrap"):
            self.skipTest("needs root and debootstrap")
        root = self.folder / "root"
        done = subprocess.run(["debootstrap", "--variant=minbase",
                               "--include=libcurl4,man-db,nlohmann-json3-dev", "bookworm", root],
                              check=False, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode:
            self.skipTest(f"debootstrap failed: {done.stdout.splitlines()[-1:]}")
        before = self.files_of(root)
        for package in OUT.glob("*.deb"):
            shutil.copy(package, root / "tmp")
        self.in_root(root, "sh", "-ec", "dpkg -i /tmp/*.deb; rm /tmp/*.deb")
        for program in ("cdi", "cdi-dra", "cdi-nri", "cdi-pod", "cdi-prepare"):
            self.assertIn(RELEASE, self.in_root(root, program, "--version"))
        self.assertIn("cannot find the runtime",
                      self.in_root(root, "cdi-runtime", "--version", fails=True))
        self.in_root(root, "cdi", "dirs")
        self.check_pages_and_completion(root)
        self.use(root, "c.c", "cc", f"{NAME}-c")
        self.use(root, "compiled.cpp", "c++", f"{NAME}-compiled")
        self.use(root, "cdi.cpp", "c++", NAME)
        self.in_root(root, "dpkg", "--purge", *PACKAGES)
        self.assertEqual(self.files_of(root), before)

    def check_pages_and_completion(self, root):
        """`man cdi` opens, and TAB after `cdi show` completes the names of devices."""
        for page in ("cdi(1)", "cdi-pod(1)", "cdi-prepare(8)", "cdi-dra(8)", "cdi-nri(8)"):
            text = self.in_root(root, "sh", "-c", f"MANPAGER=cat man {page.partition('(')[0]}")
            self.assertIn(page.upper(), text)
        (root / "etc/cdi").mkdir()
        (root / "etc/cdi/v.yaml").write_text(
            "cdiVersion: 0.6.0\nkind: v.com/c\ndevices:\n"
            "- {name: d, containerEdits: {env: [A=1]}}\n", encoding="ascii")
        press_tab = ("source /usr/share/bash-completion/completions/cdi; COMP_WORDS=(cdi show ''); "
                     "COMP_CWORD=2 COMP_LINE='cdi show ' COMP_POINT=9; _cdi; echo ${COMPREPLY[@]}")
        # The script reads from /dev/fd, which leads to /proc.
        in_proc = 'mount -t proc proc "$0/proc"; exec chroot "$0" bash -c "$1"'
        self.assertEqual(self.run_in(self.folder, "unshare", "--mount", "sh", "-ec", in_proc,
                                     str(root), press_tab), "v.com/c=d\n")
        shutil.rmtree(root / "etc/cdi")

    def files_of(self, root):
        """The files of a root, except dpkg's and ldconfig's."""
        return {path for path in self.run_in(root, "find", ".", "-mindepth", "1").splitlines()
                if not path.startswith(("./var/lib/dpkg/", "./var/log/", "./var/cache/man/",
                                        "./proc/", "./sys/"))
                and path not in ("./var/cache/ldconfig/aux-cache",)}

    def in_root(self, root, *command, fails=False):
        """The output of a command in the root."""
        return self.run_in(self.folder, "chroot", str(root), *command, fails=fails)

    def use(self, root, source, compiler, package):
        """Compiles a program on the host, with the files of the root, and runs it there."""
        library = next((root / "usr/lib").glob("*-linux-gnu"))
        found = {**os.environ, "PKG_CONFIG_SYSROOT_DIR": str(root),
                 "PKG_CONFIG_LIBDIR": f"{library}/pkgconfig:{root}/usr/share/pkgconfig"}
        flags = self.run_in(self.folder, "pkg-config", "--cflags", "--libs",
                            "--keep-system-libs", package, env=found).split()
        language = ["-std=c++20", "-O0"] if compiler == "c++" else []
        self.run_in(self.folder, compiler, *language, str(CONSUMERS / source), *flags,
                    f"-I{root}/usr/include/cdi/..", "-o", str(root / "tmp/program"))
        self.in_root(root, "/tmp/program")
        (root / "tmp/program").unlink()


if __name__ == "__main__":
    unittest.main(verbosity=2)
