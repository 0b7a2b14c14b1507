# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Small roots of containers, made of the files of this machine, and a driver for them."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

JUDGE = pathlib.Path(__file__).resolve().parent / "judge.c"
LDCONFIG = shutil.which("ldconfig", path="/usr/sbin:/sbin")
GLIBC, MUSL = shutil.which("cc") or shutil.which("gcc"), shutil.which("musl-gcc")
FOLDER = "/opt/driver/lib"
COMPAT = "/usr/local/cuda/compat"


def run(*command, **more):
    """Runs a command, and returns what it prints; fails with an AssertionError."""
    try:
        done = subprocess.run([str(part) for part in command], text=True, timeout=60, check=False,
                              **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                                 "stderr": subprocess.PIPE, **more})
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AssertionError(str(error)) from error
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} exited {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout


def build_library(compiler, folder, stem, version):
    """Compiles a library of a driver, whose SONAME is libSTEM.so.1."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"lib{stem}.so.{version}"
    run(compiler, "-shared", "-fPIC", f"-Wl,-soname,lib{stem}.so.1", "-x", "c", "-", "-o", path,
        stdin=None, input=f"int driver_version(void) {{ return {version.partition('.')[0]}; }}\n")
    return path


def libraries_of(program):
    """The libraries that ldd lists for a program, and its linker."""
    return re.findall(r"(?:=> |^\s*)(/\S+)", run("ldd", program), re.M)


def missing():
    """Why no root can be made; empty if it can."""
    if not LDCONFIG or "GLIBC" not in run(LDCONFIG, "--version").upper():
        return "needs ldconfig of glibc"
    if not GLIBC:
        return "needs a C compiler"
    try:
        with tempfile.TemporaryDirectory() as folder:
            run(GLIBC, "-static", "-x", "c", "-", "-o", f"{folder}/a", stdin=None,
                input="int main(void) { return 0; }\n")
    except AssertionError:
        return "needs a C compiler that links statically (Debian: libc6-dev)"
    return ""


class Roots:
    """Makes roots in a folder: each is the copy of a template."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.static = self.folder / "static"
        run(GLIBC, "-static", "-DSTATIC", JUDGE, "-o", self.static)
        self.templates = {"glibc": self.make_glibc()}
        self.drivers = {"glibc": self.make_driver("glibc", GLIBC)}
        if MUSL:
            self.templates["musl"] = self.make_musl()
            self.drivers["musl"] = self.make_driver("musl", MUSL)

    def make_driver(self, name, compiler):
        folder = self.folder / f"driver-{name}"
        for stem in ("fakecuda", "cuda"):
            build_library(compiler, folder, stem, "570.1")
        return folder

    def start_template(self, name):
        root = self.folder / f"template-{name}"
        for each in ("usr/bin", "usr/lib", "lib64", "etc", "proc", "sys", "dev", "tmp", "opt",
                     "run", "var"):
            (root / each).mkdir(parents=True)
        (root / "bin").symlink_to("usr/bin")
        (root / "etc/os-release").write_text("ID=test\n")
        (root / "etc/passwd").write_text("root:x:0:0:root:/:/judge\n")
        shutil.copy(self.static, root / "usr/bin/env")
        return root

    def make_glibc(self):
        root = self.start_template("glibc")
        (root / "lib").symlink_to("usr/lib")
        run(GLIBC, JUDGE, "-o", root / "judge", "-ldl")
        for path in libraries_of(root / "judge"):
            place = root / path.lstrip("/")
            if path.startswith("/lib/"):
                place = root / "usr" / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(os.path.realpath(path), place)
        run(LDCONFIG, "-r", root)
        return root

    def make_musl(self):
        root = self.start_template("musl")
        (root / "lib").mkdir()
        run(MUSL, JUDGE, "-o", root / "judge")
        linker = re.search(rb"/lib/ld-musl-[^\0]+", (root / "judge").read_bytes())[0].decode()
        shutil.copy(os.path.realpath(linker), root / linker.lstrip("/"))
        return root

    def copy(self, name, place):
        shutil.copytree(self.templates[name], place, symlinks=True)
        return pathlib.Path(place)
