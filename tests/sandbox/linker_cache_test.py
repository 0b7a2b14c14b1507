#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Merged caches of glibc's dynamic linker, as ldconfig lists them and as the linker uses them.

usage: linker_cache_test.py LINKER_DRIVER

Needs ldconfig and a C compiler; the tests of the linker also need unshare. Skips the tests, with
the reason, if one is missing.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
DRIVER = os.path.abspath(sys.argv.pop(1))
os.environ["PATH"] += ":/usr/sbin:/sbin"
os.environ["LC_ALL"] = "C"
COMPILER = shutil.which("cc") or shutil.which("gcc")
FORMATS = ["new", "compat", "old"]
LINE = re.compile(r"\t(.+) \((.*?)(, hwcap: .+?)?(?:, OS ABI: .+)?\) => (.+)")
# Prints the path of each library, found by the linker, or why it is not found.
FINDER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
int main(int count, char** names) {
  for (int i = 1; i < count; ++i) {
    struct link_map* map = dlopen(names[i], RTLD_LAZY);
    puts(map ? map->l_name : "none");
  }
}
"""


def run(*command, check=True):
    # ldconfig prints wrong bytes for the directories in some caches of its own.
    return subprocess.run([str(part) for part in command], text=True, errors="replace", timeout=60,
                          check=check, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def missing():
    """Why no cache can be compared; empty if it can."""
    if not shutil.which("ldconfig") or "GLIBC" not in run("ldconfig", "--version").stdout.upper():
        return "needs ldconfig of glibc"
    if not COMPILER:
        return "needs a C compiler"
    return ""


def build(path, soname, *options):
    """Compiles a library. False if the compiler cannot."""
    path.parent.mkdir(parents=True, exist_ok=True)
    source = path.parent.parent / "empty.c"
    source.write_text("")
    named = [f"-Wl,-soname,{soname}"] if soname else []
    return run(COMPILER, "-shared", "-nostdlib", *options, *named, "-o", path, source,
               check=False).returncode == 0


def listed(cache):
    """The lines of a cache: SONAME, kind, hardware capabilities, path.

    On i386, ldconfig lists libraries that need no libc as "ELF"; the linker prefers "libc6".
    """
    out = run("ldconfig", "-p", "-C", cache).stdout
    rows = [LINE.fullmatch(line).groups() for line in
            out.replace(" (ELF) ", " (libc6) ").splitlines() if line.startswith("\t")]
    count = re.match(r"(\d+) libs? found", out)
    assert count and int(count[1]) == len(rows), out
    return rows


def lookups(rows):
    """The path that the linker takes for each SONAME and kind, without hardware capabilities."""
    found = {}
    for soname, kind, hwcap, path in rows:
        if not hwcap:
            found.setdefault((soname, kind), path)
    return found


class CacheTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.root = self.folder / "root"
        # In the root, libraries have the same paths as outside.
        self.libraries = self.folder / "lib"
        self.inside = self.root / str(self.libraries)[1:]
        (self.root / "etc").mkdir(parents=True)
        self.configure(self.libraries)

    def configure(self, *folders):
        lines = "".join(f"{folder}\n" for folder in folders)
        (self.root / "etc/ld.so.conf").write_text(lines)

    def build(self, name, soname, *options, folder=None):
        """Compiles a library into the root, and copies it to its place outside."""
        inside = self.root / str(folder or self.libraries)[1:] / name
        if not build(inside, soname, *options):
            self.skipTest(f"{COMPILER} cannot compile a library {options}")
        outside = (folder or self.libraries) / name
        outside.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(inside, outside)
        return outside

    def build_three(self):
        for number in (1, 2, 10):
            self.build(f"libthree.so.{number}", f"libthree.so.{number}")

    def ldconfig(self, form="new"):
        """The cache that ldconfig makes of the root."""
        run("ldconfig", "-X", "-r", self.root, "-c", form, "-C", f"/etc/cache-{form}")
        return self.root / f"etc/cache-{form}"

    def merge(self, old, *libraries):
        new = self.folder / "merged"
        run(DRIVER, "merge", old, new, *[path for one in libraries for path in (one, one)])
        return new


class ListedTest(CacheTest):
    def test_a_cache_without_additions_has_the_bytes_of_ldconfig(self):
        self.build_three()
        self.build("libthree.so.2", "libthree.so.2",
                   folder=self.libraries / "glibc-hwcaps/x86-64-v2")
        made = self.ldconfig()
        self.assertEqual(self.merge(made).read_bytes(), made.read_bytes())
        for form in FORMATS:
            with self.subTest(form=form):
                old = self.ldconfig(form)
                self.assertEqual([one[:2] + one[3:] for one in listed(self.merge(old))],
                                 [one[:2] + one[3:] for one in listed(old)])

    def test_added_libraries_are_where_ldconfig_lists_them(self):
        self.build_three()
        caches = {form: self.ldconfig(form).read_bytes() for form in FORMATS}
        added = [self.build(name, soname, folder=self.folder / "odd")
                 for name, soname in [("libodd.so.5.1", "libodd.so.5"), ("liba.so", "liba.so"),
                                      ("libthree.so.9", "libthree.so.9"), ("no-name.so", None)]]
        expected = {"no-name.so", "libodd.so.5", "libthree.so.10", "libthree.so.9",
                    "libthree.so.2", "libthree.so.1", "liba.so"}
        self.configure(self.libraries, self.folder / "odd")
        theirs = [one for one in listed(self.ldconfig()) if one[0] in expected]
        for form in FORMATS:
            with self.subTest(form=form):
                old = self.folder / "old"
                old.write_bytes(caches[form])
                ours = listed(self.merge(old, *added))
                self.assertEqual({one[0] for one in ours}, expected)
                # ldconfig passes over files whose names do not begin with lib, and lists the others
                # by the links that it makes to them.
                self.assertEqual([(*one[:3], os.path.dirname(one[3])) for one in ours
                                  if one[0] != "no-name.so"],
                                 [(*one[:3], os.path.dirname(one[3])) for one in theirs])

    def test_replaced_libraries_are_found_where_ldconfig_finds_them(self):
        self.build_three()
        hwcaps = self.libraries / "glibc-hwcaps/x86-64-v2"
        self.build("libthree.so.2", "libthree.so.2", folder=hwcaps)
        self.build("libthree.so.10", "libthree.so.10", folder=hwcaps)
        caches = {form: self.ldconfig(form).read_bytes() for form in FORMATS}
        odd = self.folder / "odd"
        added = [self.build(name, name, folder=odd) for name in ("libthree.so.2", "libnew.so")]
        self.configure(odd, self.libraries)
        theirs = lookups(listed(self.ldconfig()))
        for form in ("new", "compat"):
            with self.subTest(form=form):
                old = self.folder / "old"
                old.write_bytes(caches[form])
                ours = listed(self.merge(old, *added))
                self.assertEqual(lookups(ours), theirs)
                self.assertEqual(theirs[("libthree.so.2", ours[0][1])], f"{odd}/libthree.so.2")
                self.assertEqual([(one[0], one[2]) for one in ours if one[2]],
                                 [("libthree.so.10", ', hwcap: "x86-64-v2"')])

    def test_libraries_of_other_kinds_stay(self):
        self.build_three()
        native = self.ldconfig().read_bytes()
        others = [self.build("libthree.so.2", "libthree.so.2", option,
                             folder=self.folder / option[1:]) for option in ("-m32", "-mx32")]
        self.configure(self.libraries, *[one.parent for one in others])
        theirs = listed(self.ldconfig())
        self.assertEqual(len({one[1] for one in theirs}), 3)
        old = self.folder / "old"
        old.write_bytes(native)
        self.assertEqual(listed(self.merge(old, *others)), theirs)

    def test_the_libraries_of_this_system_have_the_names_and_kinds_of_ldconfig(self):
        rows = listed("/etc/ld.so.cache") if os.path.exists("/etc/ld.so.cache") else []
        rows = [one for one in rows if os.path.exists(one[3])]
        if not rows:
            self.skipTest("this system has no cache")
        names = {"0x0303": "libc6,x86-64", "0x0803": "libc6,x32", "0x0a03": "libc6,AArch64",
                 "0x0003": "libc6"}
        out = run(DRIVER, "show", *[one[3] for one in rows]).stdout.splitlines()
        self.assertEqual(len(out), len(rows))
        for (soname, kind, _, path), line in zip(rows, out):
            name, _, number = line.rpartition(" ")
            if not name or (os.path.islink(path) and path.endswith(".so")):
                name = os.path.basename(path)  # such links are listed by their own names
            with self.subTest(path=path):
                self.assertEqual((name, names.get(number)), (soname, kind))


class LinkerTest(CacheTest):
    def setUp(self):
        super().setUp()
        if not shutil.which("unshare"):
            self.skipTest("needs unshare")
        tried = run("unshare", "-rm", "mount", "--bind", "/etc", "/etc", check=False)
        if tried.returncode != 0:
            self.skipTest(f"cannot mount here: {tried.stderr.strip()}")
        source = self.folder / "finder.c"
        source.write_text(FINDER)
        self.finder = self.folder / "finder"
        run(COMPILER, "-o", self.finder, source, "-ldl")

    def find(self, cache, *names):
        """The paths that the linker finds with a cache."""
        script = 'mount --bind "$1" /etc/ld.so.cache && shift && exec "$@"'
        return run("unshare", "-rm", "sh", "-c", script, "sh", cache, self.finder,
                   *names).stdout.splitlines()

    def test_the_linker_finds_an_added_library(self):
        added = self.build("libodd.so.5.1", "libodd.so.5", folder=self.folder / "odd")
        for form in FORMATS:
            with self.subTest(form=form):
                self.build_three()
                old = self.ldconfig(form)
                names = ["libodd.so.5", "libthree.so.2", "libthree.so.3"]
                found = ["none", f"{self.libraries}/libthree.so.2", "none"]
                self.assertEqual(self.find(old, *names), found)
                found[0] = str(added)
                self.assertEqual(self.find(self.merge(old, added), *names), found)

    def test_the_linker_finds_an_added_library_in_the_cache_of_this_system(self):
        if not os.path.exists("/etc/ld.so.cache"):
            self.skipTest("this system has no cache")
        added = self.build("libodd.so.5.1", "libodd.so.5", folder=self.folder / "odd")
        rows = listed("/etc/ld.so.cache")
        merged = self.merge("/etc/ld.so.cache", added)
        self.assertEqual([one for one in listed(merged) if one[0] != "libodd.so.5"], rows)
        self.assertEqual(self.find(merged, "libodd.so.5"), [str(added)])

    def test_the_linker_finds_all_of_many_libraries(self):
        numbers = (1, 2, 9, 10, 11, 99, 100)
        names = [f"lib{stem}{first}.so{end}" for stem in ("a", "B", "a-", "a_", "ab", "~")
                 for first in ("", *numbers) for end in ("", ".1", ".2", ".10", ".2.1")]
        first = self.build(names[0], None)
        for name in names[1:]:  # the linker takes files with one inode for one library
            shutil.copy(first, self.libraries / name)
        empty = self.folder / "empty"
        empty.write_bytes(b"")
        paths = [str(self.libraries / name) for name in names]
        half = self.merge(empty, *paths[::2])
        shutil.copy(half, self.folder / "half")
        merged = self.merge(self.folder / "half", *paths[1::2])
        self.assertEqual(self.find(merged, *names), paths)

    def test_an_added_library_wins_over_hardware_capabilities(self):
        self.build_three()
        hwcaps = self.libraries / "glibc-hwcaps/x86-64-v2"
        names = ["libthree.so.2", "libthree.so.10"]
        for name in names:
            self.build(name, name, folder=hwcaps)
        old = self.ldconfig()
        if self.find(old, *names) != [f"{hwcaps}/{name}" for name in names]:
            self.skipTest("this machine uses no x86-64-v2 libraries")
        added = self.build(names[0], names[0], folder=self.folder / "odd")
        expected = [str(added), f"{hwcaps}/{names[1]}"]
        self.assertEqual(self.find(self.merge(old, added), *names), expected)
        # In this format, glibc ignores the directory; a merged cache has the new format.
        self.assertEqual(self.find(self.merge(self.ldconfig("compat"), added), *names), expected)


if __name__ == "__main__":
    reason = missing()
    if reason:
        print(f"skipped '{reason}'")
        sys.exit(77)
    unittest.main(verbosity=2)
