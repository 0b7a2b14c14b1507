#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The library for programs in C: its symbols, its functions from C99, without leaks, and from Python.

usage: c_library_test.py LIBRARY USE_CDI INJECT RUNTIME BWRAP OUT_OF_MEMORY
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBRARY, USE_CDI, INJECT, RUNTIME, BWRAP, OUT_OF_MEMORY = (
    os.path.abspath(sys.argv.pop(1)) for _ in range(6))
PROJECT = pathlib.Path(__file__).resolve().parents[2]
HEADER = PROJECT / "include/cdi/cdi.h"
SANITIZED = b"__asan_init" in pathlib.Path(LIBRARY).read_bytes()
SPEC = """\
cdiVersion: 0.7.0
kind: v.com/c
devices:
- name: d
  containerEdits:
    env: [A=1]
    deviceNodes: [{path: /dev/gpu0, hostPath: /dev/null}]
    mounts: [{hostPath: /h, containerPath: /c, options: [ro]}]
    hooks: [{hookName: poststop, path: /p, args: [p, -x]}]
"""
HOOK = "{hookName: createContainer, path: /p/nvidia-cdi-hook, args: [n, %s]}"

NAMES_PROGRAM = """\
#include <cdi/cdi.h>
#ifdef __cplusplus
extern "C"
#endif
int use(char** words, size_t count);
int use(char** words, size_t count) {
  const char* const fixed[] = {"a"};
  const char* some[1] = {"b"};
  cdi_error* error;
#ifdef WRONG
  cdi_free(cdi_cache_open(words[0], count, &error));
#endif
  cdi_free(cdi_cache_open(words, count, &error));
  cdi_free(cdi_cache_open(fixed, 1, &error));
  cdi_free(cdi_cache_open(some, 1, &error));
  return cdi_cache_open(words + 1, 1, &error) ? 0 : 1;
}
"""

POLICY_PROGRAM = """\
#include <cdi/cdi.h>
#include <stdio.h>

static int fail(cdi_error* error) {
  fprintf(stderr, "%s\\n", error->text);
  cdi_free(error);
  return 2;
}

static int run(cdi_cache* cache, const char* config, const char* const* names, size_t count) {
  cdi_error* error = NULL;
BLOCK
  int result = injected == NULL ? 1 : 0;
  cdi_free(error);
  cdi_free(injected);
  cdi_free(limited);
  return result;
}

int main(int argc, char** argv) {
  const char* const names[] = {"v.com/c=d"};
  cdi_cache* cache = argc < 2 ? NULL : cdi_cache_open(argv + 1, 1, NULL);
  int result = run(cache, "{}", names, 1);
  cdi_free(cache);
  return result;
}
"""

GO_PROGRAM = '''
import (
\t"fmt"
\t"os"
)

func main() {
\tdirs := []*C.char{C.CString(os.Args[1])}
\tcache := C.cdi_cache_open(&dirs[0], 1, nil)
\tdevices := C.cdi_cache_devices(cache, nil)
\tfmt.Println(C.GoString(*devices.items))
}
'''


def block(language, number=0):
    """A block of a language in docs/c.md."""
    page = (PROJECT / "docs/c.md").read_text(encoding="utf-8")
    return re.findall(f"^```{language}\n((?s:.*?))^```$", page, re.M)[number]


def run(*command):
    return subprocess.run(command, text=True, capture_output=True, check=False)


class Library(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "v.yaml").write_text(SPEC, encoding="utf-8")

    def test_symbols_are_those_of_the_header(self):
        listed = run("nm", "-D", "--defined-only", LIBRARY).stdout
        symbols = {line.split()[-1] for line in listed.splitlines() if line.split()[-2] != "A"}
        declared = set(re.findall(r"CDI_API [^(]*?\b(cdi_\w+)\(", HEADER.read_text()))
        self.assertEqual(symbols, {f"{name}@@CDI_0.1" for name in declared})

    def test_each_function_from_c(self):
        made = run(USE_CDI, str(self.folder / "new"))
        self.assertEqual((made.returncode, made.stdout, made.stderr), (0, "", ""))

    @unittest.skipIf(SANITIZED or not shutil.which("valgrind"), "valgrind cannot run here")
    def test_nothing_leaks(self):
        made = run("valgrind", "-q", "--leak-check=full", "--error-exitcode=9", USE_CDI,
                   str(self.folder / "new"))
        self.assertEqual((made.returncode, made.stderr), (0, ""))

    @unittest.skipIf(SANITIZED, "the sanitizers replace malloc, too")
    def test_each_allocation_fails_once(self):
        made = run(OUT_OF_MEMORY, str(self.folder / "new"))
        self.assertEqual((made.returncode, made.stderr), (0, ""), made.stdout)
        self.assertGreater(int(made.stdout), 500)

    def origin(self, line):
        return f"v.com/c=d ({self.folder}/v.yaml:{line})"

    def test_runtime(self):
        made = run(RUNTIME, str(self.folder), "v.com/c=d")
        self.assertEqual(made.stdout.splitlines(), [
            "env A=1", f"mknod /dev/gpu0 (/dev/null) c 1 3 mode=666 # {self.origin(7)}", "allow c 1:3 rwm",
            f"mount /h /c  ro # {self.origin(8)}",
            f"poststop /p (foreign) p -x # {self.origin(9)}"])
        made = run(RUNTIME, str(self.folder), "v.com/c=e", "w.com/c=d")
        self.assertEqual(made.returncode, 1)
        self.assertEqual([line.partition(":")[0] for line in made.stderr.splitlines()],
                         ["runtime", "  fix"] * 2)
        self.assertIn('"v.com/c=e"', made.stderr)

    def test_a_rejected_file_has_advice(self):
        (self.folder / "w.yaml").write_text(SPEC.replace("v.com", "w.com").replace("0.7", "0.2"))
        made = run(RUNTIME, str(self.folder), "w.com/c=d")
        self.assertIn(f"{self.folder}/w.yaml:", made.stderr)
        self.assertIn("\n  fix: ", made.stderr)

    SANDBOX = "--ro-bind / / --tmpfs /opt --dev /dev".split()

    def needs_bwrap(self):
        tried = run("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
                    "true") if shutil.which("bwrap") else None
        if tried is None or tried.returncode != 0:
            self.skipTest("bwrap (Debian: bubblewrap) is not there" if tried is None
                          else f"bwrap cannot make a sandbox here: {tried.stderr}")

    def write_sandbox_spec(self, *changes):
        """A device with a mounted file, its link, and a link to its node; no hook is unknown."""
        (self.folder / "file").write_text("text\n")
        text = SPEC.replace("/h, containerPath: /c, options: [ro]",
                            f"{self.folder}/file, containerPath: /opt/host/file, "
                            "options: [bind, ro]").replace(
            "{hookName: poststop, path: /p, args: [p, -x]}",
            HOOK % "create-symlinks, --link, 'file::/opt/host/link', "
                   "--link, '../gpu0::/dev/by/gpu'")
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        (self.folder / "v.yaml").write_text(text)

    def bwrap(self, *command, path=None):
        self.write_sandbox_spec(("/dev/null}", "/dev/zero}"))
        program = [] if path is None else ["env", f"PATH={path}:{os.environ['PATH']}"]
        return run(*program, BWRAP, str(self.folder), "v.com/c=d", *self.SANDBOX, "--", *command)

    def printing_bwrap(self):
        """A folder with a program `bwrap` that prints its arguments."""
        bin_folder = self.folder / "bin"
        bin_folder.mkdir()
        (bin_folder / "bwrap").write_text("#!/bin/sh\nprintf '%s\\n' \"$*\"\n")
        (bin_folder / "bwrap").chmod(0o755)
        return bin_folder

    def run_the_page(self, path, *changes):
        """Runs the commands of the page about sandboxes."""
        library = pathlib.Path(LIBRARY)
        lines = block("sh", 1).replace(
            "$(pkg-config --cflags --libs container-device-interface-c)",
            f"-I{PROJECT}/include {library} -Wl,-rpath,{library.parent}")
        lines = lines.replace("examples/c", f"{PROJECT}/examples/c").replace(
            "/etc/cdi nvidia.com/gpu=0", f"{self.folder} v.com/c=d")
        for old, new in changes:
            self.assertIn(old, lines)
            lines = lines.replace(old, new)
        return subprocess.run(["sh", "-euc", lines], cwd=self.folder, text=True, check=False,
                              env={**os.environ, "PATH": path}, capture_output=True)

    @unittest.skipIf(SANITIZED, "the program is not built with the sanitizers")
    def test_the_sandbox_of_the_page(self):
        path = f"{self.printing_bwrap()}:{os.environ['PATH']}"
        made = self.run_the_page(path)
        self.assertEqual(made.returncode, 1)
        self.assertIn('hooks[0]: the hook "/p" cannot be replaced: ', made.stderr)
        self.write_sandbox_spec()
        made = self.run_the_page(path)
        self.assertEqual(made.stderr, "")
        self.assertIn("--dev-bind /dev/null /dev/gpu0", made.stdout)
        self.assertTrue(made.stdout.endswith(" nvidia-smi\n"))

    @unittest.skipIf(SANITIZED, "the program is not built with the sanitizers")
    def test_the_sandbox_of_the_page_with_bwrap(self):
        self.needs_bwrap()
        self.write_sandbox_spec()
        changes = [(" nvidia-smi", " sh -c 'cat /opt/host/file /opt/host/link'")]
        overlay = ("--overlay-src / --tmp-overlay /", "")
        if overlay[0].split()[-2] not in run("bwrap", "--help").stdout:
            busybox = shutil.which("busybox")
            if busybox is None:
                self.skipTest("busybox is not there, and bwrap has no overlays")
            (self.folder / "copy/bin").mkdir(parents=True)
            shutil.copy(busybox, self.folder / "copy/bin/busybox")
            for name in ("sh", "env", "cat"):
                (self.folder / "copy/bin" / name).symlink_to("busybox")
            changes.append((overlay[0], f"--bind {self.folder}/copy /"))
        made = self.run_the_page(os.environ["PATH"], *changes)
        self.assertEqual((made.returncode, made.stdout, made.stderr), (0, "text\n" * 2, ""))

    def test_bwrap_says_what_it_does_not_make(self):
        hooks = ", ".join(HOOK % each for each in (
            "update-ldcache, --folder, /usr/lib/x, --folder, /usr/lib/y",
            "create-symlinks, --link, 'none::/opt/link'",
            "chmod, --mode, '755', --path, /opt/x",
            "apply-cuda-memory-limits, --gpu-id=0",
            "update-application-profile",
            "enable-cuda-compat, --host-driver-version=570.1"))
        (self.folder / "v.yaml").write_text(SPEC.replace("[A=1]", "[A=1, LD_LIBRARY_PATH=/old]")
            .replace("/dev/gpu0, hostPath: /dev/null}",
                     "/dev/nvidia0, hostPath: /dev/null, type: c, major: 195, minor: 0}")
            .replace("{hookName: poststop, path: /p, args: [p, -x]}", hooks).replace(
                "0.7.0", "1.1.0").replace("    hooks:", "    additionalGids: [44]\n"
                "    netDevices: [{hostInterfaceName: e1, name: e0}]\n"
                "    intelRdt: {closID: low}\n    hooks:"))
        program = ["env", f"PATH={self.printing_bwrap()}:{os.environ['PATH']}"]
        rest = [BWRAP, str(self.folder), "v.com/c=d", "--dev", "/dev", "--", "true"]
        made = run(*program, *rest)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertTrue(made.stdout.endswith(
            " env A=1 LD_LIBRARY_PATH=/usr/lib/x:/usr/lib/y:/old true\n"), made.stdout)
        profile = "/etc/nvidia/nvidia-application-profiles-rc.d/10-container.conf"
        self.assertEqual([": ".join(line.split(": ")[:3]) for line in made.stderr.splitlines()], [
            "bwrap: not mounted: /c", "bwrap: lost: /opt/link", "bwrap: lost: /opt/x",
            f"bwrap: lost: {profile}",
            "bwrap: groups, net devices and Intel RDT are not set"])
        made = run(*program, "NVIDIA_GPU_MEMORY_LIMIT=1", *rest)
        if not SANITIZED:  # the program does not free its memory when it fails
            self.assertEqual((made.returncode, made.stdout), (1, ""))
        self.assertIn('hooks[3]: the hook "/p/nvidia-cdi-hook" cannot be replaced: ', made.stderr)

    def test_texts_without_a_cast(self):
        """char**, const char** and arrays of constants are names, without a warning."""
        program = self.folder / "names.c"
        program.write_text(NAMES_PROGRAM)
        tried = 0
        for compiler, languages, flags in (
                ("gcc", ("c89", "c99", "c11", "c17", "c2x"), ()),
                ("clang", ("c89", "c99", "c11", "c17", "c2x"), ("-Weverything",)),
                ("g++", ("c++98", "c++11", "c++20"), ()),
                ("clang++", ("c++98", "c++11", "c++20"), ("-Weverything", "-Wno-c++98-compat"))):
            for language in languages if shutil.which(compiler) else ():
                kind = "c++" if "++" in language else "c"
                made = run(compiler, "-x", kind, f"-std={language}", "-pedantic", "-Wall",
                           "-Wextra", "-Wconversion", "-Wcast-qual", "-Werror", *flags,
                           f"-I{PROJECT}/include", "-fsyntax-only", str(program))
                self.assertEqual((made.returncode, made.stderr), (0, ""), f"{compiler} {language}")
                plain = run(compiler, "-x", kind, f"-std={language}", "-DCDI_PLAIN_TEXTS",
                            f"-I{PROJECT}/include", "-Werror", "-fsyntax-only", str(program))
                self.assertEqual(plain.returncode == 0, kind == "c++", "C needs a cast then")
                made = run(compiler, "-x", kind, f"-std={language}", "-DWRONG",
                           f"-I{PROJECT}/include", "-fsyntax-only", str(program))
                self.assertNotEqual(made.returncode, 0, "a text is no list of texts")
                tried += 1
        self.assertNotEqual(tried, 0)

    @unittest.skipIf(SANITIZED or not shutil.which("go"), "Go is not there")
    def test_from_go(self):
        library = pathlib.Path(LIBRARY)
        (self.folder / "main.go").write_text("package main\n\n" + block("go").replace(
            "#cgo pkg-config: container-device-interface-c",
            f"#cgo CFLAGS: -I{PROJECT}/include\n"
            f"// #cgo LDFLAGS: {library} -Wl,-rpath,{library.parent}") + GO_PROGRAM)
        made = run("env", f"GOCACHE={self.folder}/cache", "GO111MODULE=off", "CGO_ENABLED=1",
                   "CGO_LDFLAGS_ALLOW=.*", "go", "run", str(self.folder / "main.go"),
                   str(self.folder))
        self.assertEqual((made.returncode, made.stdout), (0, "v.com/c=d\n"), made.stderr)

    def test_arguments_of_bwrap(self):
        bin_folder = self.printing_bwrap()
        made = self.bwrap("true", "x", path=bin_folder)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.assertEqual(made.stdout, " ".join(self.SANDBOX) +
                         " --dev-bind /dev/zero /dev/gpu0 --dev-bind /dev/zero /dev/by/gpu"
                         f" --ro-bind {self.folder}/file /opt/host/file"
                         f" --ro-bind {self.folder}/file /opt/host/link env A=1 true x\n")
        if SANITIZED:  # the program does not free its memory when it fails
            return
        made = run(BWRAP, str(self.folder), "v.com/c=e", "--", "true")
        self.assertEqual(made.returncode, 1)
        self.assertIn('has no device "e"', made.stderr)

    def test_bwrap(self):
        self.needs_bwrap()
        made = self.bwrap("sh", "-c", "echo $A; cat /opt/host/link; ls /opt/host;"
                          " head -c 2 /dev/by/gpu | od -An -tx1")
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.assertEqual(made.stdout, "1\ntext\nfile\nlink\n 00 00\n")

    def test_inject(self):
        config = self.folder / "config.json"
        config.write_text('{"x": 1.50}')
        made = run(INJECT, str(self.folder), str(config), "v.com/c=d")
        self.assertEqual(made.stderr, "")
        self.assertTrue(made.stdout.startswith('{"x": 1.50, "process": '))
        self.assertEqual(json.loads(made.stdout)["process"]["env"], ["A=1"])
        config.write_text("{")
        self.assertIn("line 1:2: the config is invalid: ", run(INJECT, str(self.folder), str(config), "v.com/c=d").stderr)

    @unittest.skipIf(SANITIZED, "the program is not built with the sanitizers")
    def test_the_policy_of_the_page(self):
        (self.folder / "app.c").write_text(POLICY_PROGRAM.replace("BLOCK", block("c")))
        (self.folder / "policy.json").write_text('{"rules": [{"name": "r", "allow": true, '
                                                 '"edits": {"mounts": [], "hooks": []}}]}')
        library = pathlib.Path(LIBRARY)
        made = run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror",
                   f"-I{PROJECT}/include", f"{self.folder}/app.c", str(library),
                   f"-Wl,-rpath,{library.parent}", "-o", f"{self.folder}/app")
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        made = run("env", "-C", str(self.folder), "./app", str(self.folder))
        self.assertEqual(made.returncode, 1)
        self.assertEqual([line.partition(": the policy denies")[0]
                          for line in made.stderr.splitlines()],
                         [f"{self.folder}/v.yaml:9:40: devices[0].containerEdits.hooks[0].path",
                          f"{self.folder}/v.yaml:8:25: devices[0].containerEdits.mounts[0].hostPath"])

    @unittest.skipIf(SANITIZED, "Python is not built with the sanitizers")
    def test_from_python(self):
        cdi = ctypes.CDLL(LIBRARY)
        cdi.cdi_cache_open.restype = ctypes.c_void_p
        cdi.cdi_cache_inject_json.restype = ctypes.c_void_p
        dirs = (ctypes.c_char_p * 1)(str(self.folder).encode())
        names = (ctypes.c_char_p * 1)(b"v.com/c=d")
        cache = ctypes.c_void_p(cdi.cdi_cache_open(dirs, ctypes.c_size_t(1), None))
        text = ctypes.c_void_p(
            cdi.cdi_cache_inject_json(cache, b"{}", names, ctypes.c_size_t(1), None))
        self.assertEqual(json.loads(ctypes.string_at(text.value))["process"]["env"], ["A=1"])
        cdi.cdi_free(text)
        cdi.cdi_free(cache)

    @unittest.skipIf(SANITIZED or not shutil.which("cmake"), "cmake is not there")
    def test_cmake(self):
        (self.folder / "third_party").mkdir()
        (self.folder / "third_party/container-device-interface").symlink_to(PROJECT)
        shutil.copy(PROJECT / "examples/c/runtime.c", self.folder)
        lines = ("cmake_minimum_required(VERSION 3.16)\nproject(app LANGUAGES C CXX)\n"
                 "add_executable(app runtime.c)\n" + block("cmake"))
        (self.folder / "CMakeLists.txt").write_text(lines.replace("C CXX", "C"))
        self.must_run("cmake -S . -B shared -DBUILD_SHARED_LIBS=ON")
        (self.folder / "CMakeLists.txt").write_text(lines)
        self.must_run("cmake -S . -B build -DCMAKE_CXX_FLAGS=-fno-exceptions\n"
                      "cmake --build build")
        made = run(f"{self.folder}/build/app", str(self.folder), "v.com/c=d")
        self.assertTrue(made.stdout.startswith("env A=1\n"), made.stderr)

    @unittest.skipIf(SANITIZED, "installs a build without sanitizers")
    def test_installed(self):
        (self.folder / "source").symlink_to(PROJECT)
        shutil.copy(PROJECT / "examples/c/runtime.c", self.folder / "app.c")
        lines = block("sh").replace("--buildtype=release", f"--prefix={self.folder}/usr")
        lines = lines.replace("meson setup build-c", "meson setup build-c source")
        found = f"$(dirname $(find {self.folder}/usr -name container-device-interface-c.pc))"
        self.must_run(lines.replace("cc app.c", f"export PKG_CONFIG_PATH={found}\ncc app.c"))
        libraries = next((self.folder / "usr").rglob("libcontainer-device-interface-c.so.0")).parent
        made = run("env", f"LD_LIBRARY_PATH={libraries}", f"{self.folder}/app", str(self.folder),
                   "v.com/c=d")
        self.assertTrue(made.stdout.startswith("env A=1\n"), made.stderr)
        self.must_run("meson configure build-c -Dlibrary_for_c=enabled -Dcompiled=disabled "
                      "-Dtests=disabled -Dexamples=disabled\nmeson install -C build-c")
        self.check_find_package()
        for shared in libraries.glob("*.so*"):  # then there is only the static library
            shared.unlink()
        self.check_find_package()

    def check_find_package(self):
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(app LANGUAGES C)\n"
            "add_executable(app app.c)\n" + block("cmake", 1))
        shutil.rmtree(self.folder / "found", ignore_errors=True)
        self.must_run(f"cmake -S . -B found -DCMAKE_PREFIX_PATH={self.folder}/usr\n"
                      "cmake --build found")
        made = run(f"{self.folder}/found/app", str(self.folder), "v.com/c=d")
        self.assertTrue(made.stdout.startswith("env A=1\n"), made.stderr)

    def must_run(self, lines):
        made = subprocess.run(["sh", "-euc", lines], cwd=self.folder, text=True,
                              capture_output=True, check=False)
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
