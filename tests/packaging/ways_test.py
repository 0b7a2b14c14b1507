#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds and runs a program in each way to install or vendor the library, with the code of
docs/install.md: with everything, with the core alone, and with the compiled library."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from project import (CLEAN_GIT, CONSUMERS, HEADERS, NAME, QUICK, RELEASE, ROOT,  # noqa: E402
                     PackagingTest, commit_all, copy_project, install_block)

COMPONENTS = {"cdi": NAME, "core": f"{NAME}-core"}  # with their names in pkg-config and Meson
LICENCES = {f"share/licenses/{NAME}/LICENSE-{name}" for name in ("APACHE", "MIT")}
ABI = "v" + RELEASE.replace(".", "_")
WITHOUT_JSON = ["-DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON"]


def setUpModule():
    """Makes a release, and installs the headers alone."""
    global TREE, RELEASED, PREFIX
    made = tempfile.TemporaryDirectory(prefix="cdi-ways-")
    unittest.addModuleCleanup(made.cleanup)
    TREE = os.path.join(made.name, "tree")
    copy_project(TREE)
    commit_all(TREE)
    RELEASED = os.path.join(made.name, "released")
    release = install_block("One file", "sh").splitlines()[0].replace("../OUT", f"'{RELEASED}'", 1)
    subprocess.run(["sh", "-ec", release], cwd=TREE, check=True, stdout=subprocess.DEVNULL,
                   env=CLEAN_GIT)
    PREFIX = install(made.name, "-Dcompiled=disabled")


def install(folder, *options):
    """Installs like docs/install.md, but unoptimised, to save time; moves the installation to
    another folder, and returns its prefix."""
    first = os.path.join(folder, "first")
    lines = install_block("Installed, with pkg-config", "sh")
    # -Doptimization=0 would do nothing, because of --buildtype=release.
    options = " ".join([f"--prefix '{first}' --optimization=0", *options])
    lines = lines[:lines.index("c++ ")].replace("setup build-release",
                                               f"setup '{folder}/build' {options}")
    lines = lines.replace("-C build-release", f"-C '{folder}/build'")
    done = subprocess.run(["sh", "-ec", lines], cwd=TREE, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    prefix = os.path.join(folder, "moved", "usr")
    os.makedirs(os.path.dirname(prefix))
    os.rename(first, prefix)
    return prefix


def found_below(folder):
    return {os.path.relpath(os.path.join(inner, name), folder)
            for inner, _, names in os.walk(folder) for name in names}


def searching(folder):
    """The environment in which pkg-config searches a folder first."""
    path = [folder, *os.environ.get("PKG_CONFIG_PATH", "").split(":")]
    return {**os.environ, "PKG_CONFIG_PATH": ":".join(filter(None, path))}


def put_wrap(folder):
    """Gives a Meson project the subproject of the release."""
    files = folder / "subprojects" / "packagefiles"
    files.mkdir(parents=True)
    shutil.copy(os.path.join(RELEASED, f"{NAME}-{RELEASE}.tar.gz"), files)
    shutil.copy(os.path.join(RELEASED, f"{NAME}.wrap"), files.parent)


def program_line(lines):
    """The line that compiles a program."""
    return [line for line in lines.splitlines() if line.startswith("c++ ")][0]


class Installed(PackagingTest):

    def test_exactly_the_expected_files_are_installed(self):
        cmake = f"share/cmake/{NAME}/{NAME}"
        self.assertEqual(found_below(PREFIX), HEADERS | {
            f"{cmake}Config.cmake", f"{cmake}ConfigVersion.cmake", f"{cmake}Targets.cmake",
            f"share/pkgconfig/{NAME}.pc", f"share/pkgconfig/{NAME}-core.pc"} | LICENCES)

    def test_the_library_for_c_alone_needs_no_header_for_cpp(self):
        output = self.run_in(self.folder, "meson", "setup", "build", TREE, "--prefix=/usr",
                             "--libdir=lib", "-Dlibrary_for_c=only", "-Dauto_features=enabled")
        self.assertNotIn("nlohmann", output)
        plan = json.loads(self.run_in(self.folder, "meson", "introspect", "build", "--installed"))
        library = f"lib/lib{NAME}-c"
        self.assertEqual({os.path.relpath(path, "/usr") for path in plan.values()}, LICENCES | {
            "include/cdi/cdi.h", "share/man/man3/cdi.h.3", f"lib/pkgconfig/{NAME}-c.pc",
            f"{library}.a", f"{library}.so", f"{library}.so.0", f"{library}.so.0.1.0"})

    def test_pkg_config(self):
        line = program_line(install_block("Installed, with pkg-config", "sh"))
        search = searching(f"{PREFIX}/share/pkgconfig")
        for component, package in COMPONENTS.items():
            with self.subTest(component):
                shutil.copy(CONSUMERS / f"{component}.cpp", self.folder / "app.cpp")
                self.run_in(self.folder, "sh", "-ec", line.replace(NAME, package), env=search)
                self.run_in(self.folder, "./app")
                flags = self.run_in(self.folder, "pkg-config", "--cflags", package, env=search)
                self.assertIn("-D_FILE_OFFSET_BITS=64", flags)
                self.assertIn(os.path.realpath(f"{PREFIX}/include"),
                              [os.path.realpath(flag[2:]) for flag in flags.split()])
                self.assertEqual(self.run_in(self.folder, "pkg-config", "--modversion", package,
                                             env=search).strip(), RELEASE)

    def test_the_static_library_for_c_names_the_libraries_that_it_needs(self):
        """For libc++, which needs the most. Before glibc 2.34, threads are in a library."""
        libcxx = "clang++ -stdlib=libc++"
        self.compile_or_skip(libcxx)
        usr = self.folder / "usr"
        self.run_in(self.folder, "meson", "setup", "build", TREE, f"--prefix={usr}",
                    "-Dlibrary_for_c=enabled", "-Dcdi=disabled", "-Dtests=disabled",
                    "-Dexamples=disabled", "--optimization=0", env={**os.environ, "CXX": libcxx})
        self.run_in(self.folder, "meson", "install", "-C", "build")
        for shared in usr.rglob("*.so*"):
            shared.unlink()
        shutil.copy(CONSUMERS / "c.c", self.folder / "app.c")
        [libraries] = usr.rglob("pkgconfig/*-c.pc")
        flags = self.run_in(self.folder, "pkg-config", "--cflags", "--libs", "--static",
                            f"{NAME}-c", env=searching(str(libraries.parent))).split()
        self.assertIn("-pthread", flags)
        self.run_in(self.folder, "cc", "app.c", *flags, "-o", "app")
        self.run_in(self.folder, "./app")
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(app C)\nadd_executable(app app.c)\n"
            f"find_package({NAME} REQUIRED COMPONENTS c)\n"
            "target_link_libraries(app cdi::c)\n", encoding="utf-8")
        self.run_in(self.folder, "cmake", "-G", "Ninja", "-B", "b", f"-DCMAKE_PREFIX_PATH={usr}")
        self.assertIn("-lpthread", (self.folder / "b/build.ninja").read_text(encoding="utf-8"))
        self.run_in(self.folder, "cmake", "--build", "b")
        self.run_in(self.folder, "b/app")

    def compile_or_skip(self, compiler):
        (self.folder / "try.cpp").write_text("#include <string>\nint main() {}\n", encoding="utf-8")
        done = subprocess.run(["sh", "-c", f"{compiler} try.cpp -o try"], cwd=self.folder,
                              check=False, stderr=subprocess.DEVNULL)
        if done.returncode:
            self.skipTest(f"{compiler} does not compile")

    def test_no_installed_file_contains_the_build_path(self):
        for path in pathlib.Path(PREFIX).rglob("*.*"):
            self.assertNotIn(os.path.dirname(TREE), path.read_text(encoding="utf-8"), path)


class CMakeTest(PackagingTest):

    def configure(self, lines, *options, fails=False):
        """Configures a project of `lines` with a program `app`; returns the output of CMake."""
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16...3.25)\nproject(app CXX)\n"
            "add_executable(app app.cpp)\n" + lines, encoding="utf-8")
        shutil.rmtree(self.folder / "build", ignore_errors=True)
        output = self.run_in(self.folder, "cmake", "-G", "Ninja", "-B", "build",
                             "--no-warn-unused-cli", *options, fails=fails)
        self.assertNotIn("Warning", output)
        return output

    def build_and_run(self, component, lines, *options):
        shutil.copy(CONSUMERS / f"{component}.cpp", self.folder / "app.cpp")
        self.configure(lines, *options)
        self.run_in(self.folder, "cmake", "--build", "build")
        self.run_in(self.folder, "build/app")
        # For Cache, before glibc 2.34; the headers alone need no library.
        self.assertEqual("-lpthread" in (self.folder / "build/build.ninja").read_text("utf-8"),
                         component == "compiled")


class CMake(CMakeTest):

    def test_find_package(self):
        where = f"-DCMAKE_PREFIX_PATH={PREFIX}"
        self.build_and_run("cdi", install_block("Installed, with CMake", "cmake"), where)
        self.build_and_run("core", install_block("Installed, with CMake", "cmake", 1), where,
                           *WITHOUT_JSON)

    def test_find_package_reports_what_is_missing(self):
        (self.folder / "app.cpp").touch()
        find = f"find_package({NAME} {{}})\n"
        where = f"-DCMAKE_PREFIX_PATH={PREFIX}"
        major, minor, _ = map(int, RELEASE.split("."))
        for asked, answer in {
                "REQUIRED COMPONENTS cdi": "COMPONENTS core does not",
                "REQUIRED": "cdi::cdi needs nlohmann_json 3.11",
                "REQUIRED COMPONENTS core wrong": "unknown component wrong",
                "REQUIRED COMPONENTS compiled": "meson setup -Dcompiled=enabled",
                "REQUIRED COMPONENTS c": "meson setup -Dlibrary_for_c=enabled",
                f"{major}.{minor + 1} REQUIRED": "compatible with requested version",
                f"{major + 1} REQUIRED": "compatible with requested version"}.items():
            with self.subTest(asked):
                output = self.configure(find.format(asked), where, *WITHOUT_JSON, fails=True)
                self.assertIn(answer, " ".join(output.split()))
        for asked in (f"{major}.{minor} REQUIRED COMPONENTS core",
                      f"0.0...<{major + 1} REQUIRED COMPONENTS core",
                      "REQUIRED COMPONENTS core OPTIONAL_COMPONENTS cdi"):
            with self.subTest(asked):
                self.configure(find.format(asked) + "target_link_libraries(app cdi::core)\n"
                               "if(TARGET cdi::cdi)\nmessage(FATAL_ERROR cdi)\nendif()\n",
                               where, *WITHOUT_JSON)

    def test_components_may_be_found_one_after_the_other(self):
        (self.folder / "app.cpp").touch()
        self.configure(f"find_package({NAME} REQUIRED COMPONENTS core)\n"
                       + install_block("Installed, with CMake", "cmake"),
                       f"-DCMAKE_PREFIX_PATH={PREFIX}")

    def test_add_subdirectory(self):
        lines = install_block("In your tree, with CMake", "cmake")
        place = re.search(r"add_subdirectory\((\S+)\)", lines)[1]
        (self.folder / place).parent.mkdir(parents=True)
        os.symlink(TREE, self.folder / place)
        self.build_and_run("cdi", lines)
        self.build_and_run("core", lines.replace("cdi::cdi", "cdi::core"), *WITHOUT_JSON)

    def test_two_copies_in_one_tree(self):
        (self.folder / "app.cpp").touch()
        self.configure(f"add_subdirectory({TREE} one)\nadd_subdirectory({TREE} two)\n"
                       "target_link_libraries(app cdi::cdi)\n")

    def test_programs_of_the_library_for_c_in_a_tree_get_threads(self):
        (self.folder / "app.cpp").touch()
        self.configure(f"add_subdirectory({TREE} cdi)\ntarget_link_libraries(app cdi::c)\n",
                       *WITHOUT_JSON)
        self.assertRegex((self.folder / "build/build.ninja").read_text(encoding="utf-8"),
                         r"LINK_LIBRARIES = .*-c\.a +-lpthread\n")

    def test_an_existing_nlohmann_json_target_is_used(self):
        (self.folder / "app.cpp").touch()
        has = "add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED GLOBAL)\n"
        use = f"add_subdirectory({TREE} cdi)\ntarget_link_libraries(app cdi::cdi)\n"
        self.configure(has + use, *WITHOUT_JSON)
        # Without it there is no cdi::cdi, and a message says why.
        self.assertIn("cdi::cdi and cdi::compiled need nlohmann_json 3.11",
                      self.configure(use, *WITHOUT_JSON, fails=True))

    def test_fetch_content(self):
        archive = os.path.join(RELEASED, f"{NAME}-{RELEASE}.tar.gz")
        lines = install_block("Fetched, with CMake", "cmake")
        lines, times = re.subn(r"URL \S+\n", f"URL {archive}\n", lines)
        self.assertEqual(times, 1)
        with open(os.path.join(RELEASED, "SHA256SUMS"), encoding="utf-8") as sums:
            digest = re.search(r"(\w{64})  \S+\.tar\.gz", sums.read())[1]
        lines, times = re.subn(r"SHA256=\S+\)", f"SHA256={digest})", lines)
        self.assertEqual(times, 1)
        self.build_and_run("cdi", lines)
        self.build_and_run("core", lines.replace("cdi::cdi", "cdi::core"), *WITHOUT_JSON)

    def test_fetch_content_by_git(self):
        tree = self.folder / "repository"
        copy_project(tree)
        commit_all(tree)
        lines = install_block("Fetched, with CMake", "cmake", 1)
        lines, times = re.subn(r"GIT_REPOSITORY \S+\n *GIT_TAG \S+\)",
                               f"GIT_REPOSITORY file://{tree} GIT_TAG HEAD)", lines)
        self.assertEqual(times, 1)
        (self.folder / "app.cpp").touch()
        self.configure(lines)


class Meson(PackagingTest):

    def test_subproject_with_wrap(self):
        put_wrap(self.folder)
        for component, package in COMPONENTS.items():
            with self.subTest(component):
                shutil.copy(CONSUMERS / f"{component}.cpp", self.folder / "app.cpp")
                line = install_block("In your tree, with Meson", "meson").replace(NAME, package)
                # The project may use another standard by default.
                (self.folder / "meson.build").write_text(
                    "project('app', 'cpp', default_options: ['cpp_std=c++17'])\n" + line +
                    "executable('app', 'app.cpp', dependencies: cdi, install: true,\n"
                    "           override_options: ['cpp_std=c++20'])\n", encoding="utf-8")
                # With cdi=disabled, nlohmann_json is not searched for.
                options = [f"-D{NAME}:cdi=disabled"] if component == "core" else []
                shutil.rmtree(self.folder / "build", ignore_errors=True)
                self.run_in(self.folder, "meson", "setup", "build", f"--prefix={self.folder}/usr",
                            *options)
                self.run_in(self.folder, "meson", "install", "-C", "build")
                self.run_in(self.folder, "usr/bin/app")
                self.assertEqual(os.listdir(self.folder / "usr"), ["bin"])  # no headers of ours

    def test_subproject_of_a_project_in_c(self):
        """Which has neither nlohmann_json, nor a use for it."""
        put_wrap(self.folder)
        shutil.copy(CONSUMERS / "c.c", self.folder / "app.c")
        page = (ROOT / "docs/c.md").read_text(encoding="utf-8")
        asked = re.search(r"`(dependency\('[^`]+'\))`", page)[1]
        (self.folder / "meson.build").write_text(
            f"project('app', 'c')\nexecutable('app', 'app.c', install: true, "
            f"dependencies: {asked})\n", encoding="utf-8")
        (self.folder / "none.ini").write_text("[binaries]\ncmake = '/none'\n", encoding="utf-8")
        output = self.run_in(self.folder, "meson", "setup", "build", f"--prefix={self.folder}/usr",
                             "--native-file=none.ini", "-Dauto_features=enabled",
                             env={**os.environ, "CXX": QUICK, "PKG_CONFIG_LIBDIR": "/none"})
        self.assertIn("nlohmann_json found: NO", output)
        self.assertNotIn("fallback subproject for the dependency nlohmann_json", output)
        self.run_in(self.folder, "meson", "install", "-C", "build")
        self.run_in(self.folder, "usr/bin/app")
        self.assertEqual(os.listdir(self.folder / "usr"), ["bin"])


class SingleHeader(PackagingTest):

    def test_single_header(self):
        line = install_block("One file", "sh").splitlines()[-1].partition("  #")[0]
        shutil.copy(os.path.join(RELEASED, "cdi.hpp"), self.folder)
        code = (CONSUMERS / "cdi.cpp").read_text(encoding="utf-8")
        (self.folder / "app.cpp").write_text(
            re.sub(r"#include <cdi/.*>\n", "", '#include "cdi.hpp"\n' + code), encoding="utf-8")
        self.run_in(self.folder, "sh", "-ec", line)
        self.run_in(self.folder, "./app")

    def test_unused_functions_generate_no_code(self):
        shutil.copy(os.path.join(RELEASED, "cdi.hpp"), self.folder)
        (self.folder / "app.cpp").write_text('#include "cdi.hpp"\n', encoding="utf-8")
        self.run_in(self.folder, "c++", "-std=c++20", "-O0", "-c", "app.cpp")
        listed = self.run_in(self.folder, "nm", "-C", "app.o")
        self.assertEqual(re.findall(r".* [TWVu] .*cdi::.*", listed), [])

    def test_together_with_the_separate_headers(self):
        shutil.copy(os.path.join(RELEASED, "cdi.hpp"), self.folder)
        for both in ('#include "cdi.hpp"\n#include <cdi/core.hpp>\n',
                     '#include <cdi/apply.hpp>\n#include "cdi.hpp"\n'):
            (self.folder / "both.cpp").write_text(both, encoding="utf-8")
            self.run_in(self.folder, "c++", "-std=c++20", "-fsyntax-only", f"-I{PREFIX}/include",
                        "both.cpp")


class TwoCopies(PackagingTest):
    """A vendored and an installed copy in one program."""

    PART = """
#include <cdi/core.hpp>
#include <cdi/nlohmann.hpp>
#include <cdi/yaml.hpp>
#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)
const char* {name}() {{
  nlohmann::json config = nlohmann::json::object();
  cdi::oci::Spec model;
  cdi::ContainerEdits edits;
  edits.env = {{"A=1"}};
  edits.mounts = {{{{.host_path = "/a", .container_path = "/b"}}}};
  const cdi::Registry registry;
  const bool good = edits.apply(config) && edits.apply(model) && !cdi::parse_json("{{") &&
                    !cdi::parse_yaml("[") && !registry.inject(config, {{"none.com/such=device"}});
  return good ? TEXT(CDI_ABI) : "";
}}
"""
    MAIN = """
#include <cstdio>
const char* one();
const char* two();
int main() { std::printf("%s %s", one(), two()); }
"""

    def compile(self, name, *flags):
        (self.folder / f"{name}.cpp").write_text(self.PART.format(name=name), encoding="utf-8")
        self.run_in(self.folder, QUICK, "-std=c++20", "-O0", "-c", *flags, f"{name}.cpp")

    def our_symbols(self, name):
        """The external symbols of the library that an object defines."""
        listed = self.run_in(self.folder, "nm", "-C", "--defined-only", "--extern-only",
                             f"{name}.o")
        return {line.split(" ", 2)[2] for line in listed.splitlines() if "cdi::" in line}

    def check_program(self, printed):
        shared = self.our_symbols("one") & self.our_symbols("two")
        self.assertEqual(sorted(shared)[:5], [])
        self.assertGreater(len(self.our_symbols("one")), 500)
        (self.folder / "main.cpp").write_text(self.MAIN, encoding="utf-8")
        self.run_in(self.folder, "c++", "main.cpp", "one.o", "two.o", "-o", "both")
        self.assertEqual(self.run_in(self.folder, "./both"), printed)

    def test_another_release(self):
        major, minor, _ = map(int, RELEASE.split("."))
        vendored = self.folder / "vendored"
        shutil.copytree(ROOT / "include", vendored)
        version = vendored / "cdi/version.hpp"
        text = version.read_text(encoding="utf-8")
        newer = text.replace(ABI, f"v{major}_{minor + 1}_0").replace(
            f"VERSION_MINOR {minor}", f"VERSION_MINOR {minor + 1}")
        self.assertNotEqual(newer, text)
        version.write_text(newer, encoding="utf-8")
        # A type with another layout: a program that mixed the two releases would crash.
        spec = vendored / "cdi/model/spec.hpp"
        text = spec.read_text(encoding="utf-8")
        other = text.replace("struct BasicContainerEdits {", "struct BasicContainerEdits {\n"
                             "  long of_the_newer_version = 1;\n", 1)
        self.assertNotEqual(other, text)
        spec.write_text(other, encoding="utf-8")
        self.compile("one", f"-I{PREFIX}/include")
        self.compile("two", f"-I{vendored}")
        self.check_program(f"{ABI} v{major}_{minor + 1}_0")

    def test_the_same_release_under_a_name_of_its_own(self):
        line = install_block("Vendored, with its own namespace", "sh")
        place = re.search(r"-I(\S+)/include", line)[1]
        (self.folder / place).parent.mkdir(parents=True)
        os.symlink(ROOT, self.folder / place)
        shutil.copy(CONSUMERS / "core.cpp", self.folder / "app.cpp")
        self.run_in(self.folder, "sh", "-ec", line)
        self.run_in(self.folder, "./app")
        flag = re.search(r"-DCDI_ABI=(\w+)", line)
        self.compile("one", f"-I{PREFIX}/include")
        self.compile("two", f"-I{ROOT}/include", flag[0])
        self.check_program(f"{ABI} {flag[1]}")


class Compiled(CMakeTest):
    """Headers that only declare, and a library with the bodies.

    The installed library is compiled in parts by the default compiler; the others, which have to
    link and run, in one part and by QUICK."""

    PART = """
#include <cdi/cdi.hpp>
#include <cdi/nlohmann.hpp>
#include <cdi/publish.hpp>
bool {name}() {{
  nlohmann::json config = nlohmann::json::object();
  const cdi::ContainerEdits edits{{.env = {{"A=1"}}}};
  cdi::Cache cache{{{{"/nowhere/cdi"}}}};
  const auto ours = cdi::Publisher{{"test.example", "/nowhere/cdi"}}.files();
  return edits.apply(config) && ours && ours->empty() && cache.registry()->devices().empty() &&
         !cdi::parse_spec("[", "v.yaml", cdi::Format::yaml) &&
         cache.registry()->unresolved({{"v.com/c=d"}}).size() == 1;
}}
"""
    MAIN = """
bool one();
bool two();
int main() { return one() && two() ? 0 : 1; }
"""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="cdi-compiled-")
        cls.addClassCleanup(folder.cleanup)
        cls.prefix = install(folder.name)
        [library] = pathlib.Path(cls.prefix).rglob("*.a")
        cls.libdir = library.parent

    def setUp(self):
        super().setUp()
        shutil.copy(CONSUMERS / "compiled.cpp", self.folder / "app.cpp")

    def test_library_is_installed_by_default(self):
        libdir = os.path.relpath(self.libdir, self.prefix)
        self.assertEqual(found_below(self.prefix) - found_below(PREFIX),
                         {f"{libdir}/lib{NAME}.a", f"{libdir}/pkgconfig/{NAME}-compiled.pc"})

    def test_symbols(self):
        """The library defines only our symbols, leaves none of ours undefined, and runs nothing
        before main."""
        listed = self.run_in(self.folder, "nm", "-C", f"{self.libdir}/lib{NAME}.a")
        strong = re.findall(r"^\w+ [TDBRC] (.*)$", listed, re.M)
        self.assertIn(f"cdi::{ABI}::check_owner", [name.partition("(")[0] for name in strong])
        self.assertEqual([name for name in strong if f"cdi::{ABI}::" not in name], [])
        defined = set(re.findall(r"^\w+ [A-Za-z] (.*)$", listed, re.M))  # by any part
        self.assertEqual(set(re.findall(r"^ *U (cdi::.*)$", listed, re.M)) - defined, set())
        self.assertEqual([line for line in listed.splitlines()
                          if "_GLOBAL__sub_I" in line or "__static_init" in line], [])

    def test_pkg_config(self):
        line = program_line(install_block("Compiled", "sh"))
        search = searching(f"{self.libdir}/pkgconfig")
        self.run_in(self.folder, "sh", "-ec", line, env=search)
        self.run_in(self.folder, "./app")
        self.assertIn("-pthread", self.run_in(self.folder, "pkg-config", "--libs",
                                              f"{NAME}-compiled", env=search))
        output = self.run_in(self.folder, "sh", "-ec", line.replace(" --libs", ""), env=search,
                             fails=True)
        self.assertIn("undefined reference", output)
        package = re.search(r"[-\w]+-compiled", line)[0]
        self.assertEqual(self.run_in(self.folder, "pkg-config", "--print-requires",
                                     "--print-requires-private", package, env=search), "")
        self.assertEqual(self.run_in(self.folder, "pkg-config", "--modversion", package,
                                     env=search).strip(), RELEASE)

    def test_find_package(self):
        self.build_and_run("compiled", install_block("Compiled", "cmake"),
                           f"-DCMAKE_PREFIX_PATH={self.prefix}", *WITHOUT_JSON)

    def test_add_subdirectory(self):
        lines = install_block("Compiled", "cmake", 1)
        place = re.search(r"add_subdirectory\((\S+)\)", lines)[1]
        (self.folder / place).parent.mkdir(parents=True)
        os.symlink(TREE, self.folder / place)
        shutil.copy(CONSUMERS / "compiled.cpp", self.folder / "app.cpp")
        self.configure(lines, f"-DCMAKE_CXX_COMPILER={QUICK}", "-DCMAKE_UNITY_BUILD=ON")
        self.assertIn("compiled is not optimised: pass -DCMAKE_BUILD_TYPE=Release",
                      self.run_in(self.folder, "cmake", "--build", "build"))
        self.run_in(self.folder, "build/app")
        self.assertIn("-lpthread", (self.folder / "build/build.ninja").read_text("utf-8"))

    def test_cmake_compiles_a_part_without_a_warning(self):
        """As in a project whose warnings are errors. All parts have the same flags."""
        self.configure(f"add_compile_options(-Wall -Wextra -Werror)\nadd_subdirectory({TREE} cdi)\n"
                       "target_link_libraries(app cdi::compiled)\n",
                       f"-DCMAKE_CXX_COMPILER={QUICK}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        commands = json.loads((self.folder / "build/compile_commands.json").read_text("utf-8"))
        [part] = [one for one in commands if one["file"].endswith("/src/library/rules.cpp")]
        self.run_in(part["directory"], "sh", "-c", part["command"] + " -fsyntax-only")

    def test_only_the_library_sees_nlohmann(self):
        theirs = self.folder / "theirs"
        theirs.mkdir()
        self.configure(
            "add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED GLOBAL)\n"
            f"target_include_directories(nlohmann_json::nlohmann_json INTERFACE {theirs})\n"
            f"add_subdirectory({TREE} cdi)\ntarget_link_libraries(app cdi::compiled)\n",
            "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *WITHOUT_JSON)
        commands = json.loads((self.folder / "build/compile_commands.json").read_text("utf-8"))
        for one in commands:
            self.assertIn("-D_FILE_OFFSET_BITS=64", one["command"])
        self.assertEqual({os.path.basename(one["file"]): str(theirs) in one["command"]
                          for one in commands},
                         {"app.cpp": False, "c_library.cpp": False,
                          **{path.name: True for path in (ROOT / "src/library").glob("*.cpp")}})

    def test_meson(self):
        put_wrap(self.folder)
        (self.folder / "meson.build").write_text(
            "project('app', 'cpp', default_options: ['cpp_std=c++17', 'buildtype=plain'])\n"
            + install_block("Compiled", "meson") +
            "executable('app', 'app.cpp', dependencies: cdi, install: true,\n"
            "           override_options: ['cpp_std=c++20'])\n", encoding="utf-8")
        self.run_in(self.folder, "meson", "setup", "build", f"--prefix={self.folder}/usr",
                    "--unity=on", env={**os.environ, "CXX": QUICK})
        self.run_in(self.folder, "meson", "install", "-C", "build")
        self.run_in(self.folder, "usr/bin/app")
        self.assertEqual(os.listdir(self.folder / "usr"), ["bin"])  # no library of ours
        self.run_in(self.folder, "meson", "setup", "asked", "-Dauto_features=enabled",
                    f"-D{NAME}:tests=enabled")
        output = self.run_in(self.folder, "meson", "setup", "wrong", TREE, "-Dcompiled=enabled",
                             "-Dcdi=disabled", fails=True)
        self.assertIn("compiled need nlohmann_json: remove -Dcdi=disabled", output)

    def test_by_hand(self):
        lines = install_block("Compiled", "sh", 1)
        place = re.search(r"-I(\S+)/include", lines)[1]
        (self.folder / place).parent.mkdir(parents=True)
        os.symlink(ROOT, self.folder / place)
        lines = lines.replace("-O2", "-O0").replace("c++ ", f"{QUICK} ")
        self.run_in(self.folder, "sh", "-ec", lines)
        self.run_in(self.folder, "./app")

    def test_single_header(self):
        shutil.copy(os.path.join(RELEASED, "cdi.hpp"), self.folder)
        code = (CONSUMERS / "cdi.cpp").read_text(encoding="utf-8")
        (self.folder / "app.cpp").write_text(
            re.sub(r"#include <cdi/.*>\n", "", '#include "cdi.hpp"\n' + code), encoding="utf-8")
        (self.folder / "library.cpp").write_text('#define CDI_SOURCE\n#include "cdi.hpp"\n',
                                                 encoding="utf-8")
        for source, flag in (("library", "-O0"), ("app", "-DCDI_COMPILED")):
            self.run_in(self.folder, QUICK, "-std=c++20", flag, "-c", f"{source}.cpp")
        self.run_in(self.folder, "c++", "app.o", "library.o", "-o", "app")
        self.run_in(self.folder, "./app")
        self.assertIn("undefined reference",
                      self.run_in(self.folder, "c++", "app.o", "-o", "app", fails=True))

    def test_objects_of_both_kinds(self):
        (self.folder / "main.cpp").write_text(self.MAIN, encoding="utf-8")
        for name, kind, *flags in (("one", "compiled", "-DCDI_COMPILED"),
                                   ("two", "compiled", "-DCDI_COMPILED"), ("two", "whole")):
            (self.folder / f"{name}.cpp").write_text(self.PART.format(name=name), encoding="utf-8")
            self.run_in(self.folder, "c++", "-std=c++20", f"-I{self.prefix}/include", *flags, "-c",
                        f"{name}.cpp", "-o", f"{name}-{kind}.o")
        library = f"{self.libdir}/lib{NAME}.a"
        for objects in (["one-compiled.o", "two-compiled.o"], ["one-compiled.o", "two-whole.o"],
                        ["two-whole.o", "one-compiled.o"]):
            with self.subTest(objects):
                self.run_in(self.folder, "c++", "main.cpp", *objects, library, "-o", "both")
                self.run_in(self.folder, "./both")
        self.run_in(self.folder, "c++", "main.cpp", "one-compiled.o", "two-compiled.o", "-o",
                    "without", fails=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
