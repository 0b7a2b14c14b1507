#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests the Conan recipe: with Conan, if it is installed, and with a stub of the parts of Conan
that the recipe uses."""
import collections
import fnmatch
import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import types
import unittest
import unittest.mock

sys.dont_write_bytecode = True
from project import (CONSUMERS, HEADERS, NAME, QUICK, RELEASE, ROOT,  # noqa: E402
                     PackagingTest, copy_project, install_block)

LICENCES = {"licenses/LICENSE-APACHE", "licenses/LICENSE-MIT"}


class InvalidConfiguration(Exception):
    pass


def copy(conanfile, pattern, src, dst, keep_path=True, excludes=""):
    """conan.tools.files.copy: keeps the folders below `src`."""
    for path in sorted(pathlib.Path(src).rglob(pattern)):
        if fnmatch.fnmatch(str(path.relative_to(src)), excludes):
            continue
        to = pathlib.Path(dst) / (path.relative_to(src) if keep_path else path.name)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, to)


def check_min_cppstd(conanfile, least):
    if int(conanfile.settings.cppstd) < least:
        raise InvalidConfiguration(f"C++{least} is needed")


THEIR_RECIPE = """
from conan import ConanFile
from conan.tools.files import copy


class NlohmannJson(ConanFile):
    name = "nlohmann_json"
    version = "3.11.2"
    package_type = "header-library"

    def package(self):
        copy(self, "*.hpp", "{}", self.package_folder + "/include/nlohmann")
"""


class CMake:
    """conan.tools.cmake.CMake, with QUICK and the system's packages."""

    def __init__(self, conanfile):
        self.conanfile = conanfile

    def cmake(self, *arguments):
        subprocess.run(["cmake", *arguments], check=True, stdout=subprocess.DEVNULL)

    def configure(self):
        shared = getattr(self.conanfile.options, "shared", False)
        self.cmake("-G", "Ninja", "-S", self.conanfile.source_folder, "-B",
                   self.conanfile.build_folder, f"-DBUILD_SHARED_LIBS={shared}",
                   f"-DCMAKE_CXX_COMPILER={QUICK}")

    def build(self, target):
        self.cmake("--build", self.conanfile.build_folder, "--target", target)


class CppInfo:
    def __init__(self):
        self.properties = {}
        self.requires, self.libs, self.system_libs, self.defines = [], [], [], []
        self.includedirs, self.libdirs, self.bindirs = ["include"], ["lib"], ["bin"]
        self.components = collections.defaultdict(CppInfo)

    def set_property(self, name, value):
        self.properties[name] = value


def load_recipe():
    """The recipe's class, loaded with the stub."""
    stub = {
        "conan": {"ConanFile": type("ConanFile", (), {})},
        "conan.errors": {"ConanInvalidConfiguration": InvalidConfiguration},
        "conan.tools": {},
        "conan.tools.build": {"check_min_cppstd": check_min_cppstd,
                              "stdcpp_library": lambda conanfile: "stdc++"},
        "conan.tools.cmake": {"CMake": CMake, "CMakeDeps": unittest.mock.Mock(),
                              "CMakeToolchain": unittest.mock.Mock()},
        "conan.tools.files": {"copy": copy},
        "conan.tools.layout": {"basic_layout": lambda conanfile: None},
    }
    modules = {name: types.ModuleType(name) for name in stub}
    for name, members in stub.items():
        vars(modules[name]).update(members)
    with unittest.mock.patch.dict(sys.modules, modules):
        place = importlib.util.spec_from_file_location("conanfile", ROOT / "conanfile.py")
        module = importlib.util.module_from_spec(place)
        place.loader.exec_module(module)
    return module.ContainerDeviceInterface


# The option as docs/c.md gives it.
C_OPTION = shlex.split(re.search(r"`(-o [^`]*c_library[^`]*)`",
                                 (ROOT / "docs/c.md").read_text(encoding="utf-8"))[1])


class Recipe(PackagingTest):

    def recipe(self, os_name="Linux", cppstd="20", **options):
        recipe = load_recipe()()
        recipe.options = types.SimpleNamespace(**{**recipe.default_options, **options})
        recipe.settings = types.SimpleNamespace(os=os_name, cppstd=cppstd)
        recipe.cpp_info = CppInfo()
        recipe.required = {}
        recipe.requires = lambda reference, **traits: recipe.required.update({reference: traits})
        recipe.configure()
        return recipe

    def test_name_version_and_options(self):
        recipe = load_recipe()
        self.assertEqual((recipe.name, recipe.version), (NAME, RELEASE))
        self.assertEqual(set(recipe.options), set(recipe.default_options))
        self.assertTrue((ROOT / recipe.test_package_folder / "conanfile.py").is_file())

    def make_package(self, recipe):
        """Makes the package from the files that the recipe exports, and returns its files."""
        exported = self.folder / "exported"
        for pattern in recipe.exports_sources:
            base, name = pathlib.Path(pattern).parent, pathlib.Path(pattern).name
            if "*" in name:  # like Conan, this also matches in subfolders
                copy(recipe, name, ROOT / base, exported / base)
            else:
                (exported / base).mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / base / name, exported / base)
        recipe.source_folder = str(exported)
        recipe.build_folder = str(self.folder / "build")
        recipe.package_folder = str(self.folder / "package")
        recipe.generate()
        recipe.build()
        recipe.package()
        return {str(path.relative_to(recipe.package_folder))
                for path in pathlib.Path(recipe.package_folder).rglob("*") if path.is_file()}

    def test_package_has_every_header_and_the_licence(self):
        recipe = self.recipe()
        self.assertEqual(self.make_package(recipe), HEADERS | LICENCES)
        self.assertEqual(recipe.package_type, "header-library")

    def test_compiled(self):
        recipe = self.recipe(compiled=True)
        recipe.package_info()
        self.assertEqual(recipe.package_type, "static-library")
        compiled = recipe.cpp_info.components["compiled"]
        self.assertEqual(compiled.properties, {"cmake_target_name": "cdi::compiled",
                                               "pkg_config_name": f"{NAME}-compiled"})
        self.assertEqual((compiled.requires, compiled.libdirs), (["core"], ["lib"]))
        self.assertEqual(compiled.system_libs, ["pthread"])
        self.assertEqual(self.make_package(recipe),
                         HEADERS | LICENCES | {f"lib/lib{compiled.libs[0]}.a"})
        package = recipe.package_folder
        self.run_in(self.folder, "c++", "-std=c++20", f"-I{package}/include",
                    *(f"-D{name}" for name in compiled.defines), str(CONSUMERS / "compiled.cpp"),
                    f"-L{package}/lib", f"-l{compiled.libs[0]}", "-o", "app")
        self.run_in(self.folder, "./app")

    def test_c_library(self):
        for shared, endings in ((False, [".a"]), (True, [".so", ".so.0"])):
            with self.subTest(shared=shared):
                recipe = self.recipe(cdi=False, c_library=True, shared=shared)
                recipe.package_info()
                self.assertEqual(recipe.package_type, "library")
                c = recipe.cpp_info.components["c"]
                self.assertEqual(c.properties, {"cmake_target_name": "cdi::c",
                                                "pkg_config_name": f"{NAME}-c"})
                self.assertEqual(c.requires, [])
                self.assertEqual(c.system_libs, [] if shared else ["stdc++", "m", "pthread"])
                files = self.make_package(recipe) - HEADERS - LICENCES
                self.assertEqual(files, {"include/cdi/cdi.h",
                                         *(f"lib/lib{c.libs[0]}{end}" for end in endings)})
                package = recipe.package_folder
                self.run_in(self.folder, "cc", "-std=c99", f"-I{package}/include",
                            str(CONSUMERS / "c.c"), f"-L{package}/lib", f"-l{c.libs[0]}",
                            *(f"-l{name}" for name in c.system_libs), "-o", "app")
                self.run_in(self.folder, "./app",
                            env={**os.environ, "LD_LIBRARY_PATH": f"{package}/lib"})
                shutil.rmtree(package)
                shutil.rmtree(recipe.build_folder)

    def test_package_id_depends_on_settings_only_if_there_is_a_library(self):
        for libraries in ({}, {"compiled": True}, {"c_library": True}):
            recipe = self.recipe(**libraries)
            recipe.info = unittest.mock.Mock(options=recipe.options)
            recipe.package_id()
            self.assertEqual(recipe.info.clear.called, not libraries)
            self.assertEqual(hasattr(recipe.options, "shared"), "c_library" in libraries)

    def test_components_are_those_of_the_installed_package(self):
        recipe = self.recipe()
        recipe.requirements()
        recipe.package_info()
        self.assertEqual(recipe.cpp_info.properties["cmake_file_name"], NAME)
        core, cdi = (recipe.cpp_info.components[name] for name in ("core", "cdi"))
        self.assertEqual(core.properties, {"cmake_target_name": "cdi::core",
                                           "pkg_config_name": f"{NAME}-core"})
        self.assertEqual(cdi.properties, {"cmake_target_name": "cdi::cdi", "pkg_config_name": NAME})
        self.assertEqual((core.requires, core.includedirs), ([], ["include"]))
        self.assertEqual(cdi.requires[0], "core")
        # The components name exactly the packages that the recipe requires.
        self.assertEqual({name.split("::")[0] for name in cdi.requires[1:]},
                         {reference.split("/")[0] for reference in recipe.required})
        for component in (core, cdi):
            self.assertEqual((component.libs, component.libdirs, component.bindirs), ([], [], []))

    def test_minimum_versions_are_those_of_meson(self):
        recipe = self.recipe()
        recipe.requirements()
        asked = dict(re.findall(r"dependency\('([^']+)', version: '(>=[^']+)'",
                                (ROOT / "meson.build").read_text(encoding="utf-8")))
        ranges = dict(reference.rstrip("]").split("/[") for reference in recipe.required)
        self.assertEqual({name: text.split()[0] for name, text in ranges.items()}, asked)

    def test_the_core_alone_requires_nothing(self):
        recipe = self.recipe(cdi=False)
        recipe.requirements()
        recipe.package_info()
        self.assertEqual((recipe.required, list(recipe.cpp_info.components)), ({}, ["core"]))

    def test_unsupported_settings_are_refused(self):
        self.recipe().validate()
        for wrong in ({"os_name": "Windows"}, {"cppstd": "17"}, {"cdi": False, "compiled": True}):
            with self.subTest(wrong), self.assertRaises(InvalidConfiguration):
                self.recipe(**wrong).validate()

    def test_with_conan(self):
        if not shutil.which("conan"):
            self.skipTest("conan is not installed")
        copy_project(self.folder / "tree")
        home = {**os.environ, "CONAN_HOME": str(self.folder / "home")}
        self.run_in(self.folder, "conan", "profile", "detect", env=home)
        # A recipe of our own packages the system's nlohmann_json, so nothing is downloaded.
        used = self.run_in(self.folder, "c++", "-std=c++20", "-M", str(CONSUMERS / "cdi.cpp"),
                           f"-I{ROOT}/include")
        theirs = re.search(r"(/\S+/nlohmann)/json\.hpp", used)[1]
        (self.folder / "conanfile.py").write_text(THEIR_RECIPE.format(theirs), encoding="utf-8")
        self.run_in(self.folder, "conan", "create", ".", env=home)
        static, shared = C_OPTION, [*C_OPTION, "-o", "&:shared=True"]
        for options in ([], ["-o", "&:compiled=True"], ["-o", "&:cdi=False"], static, shared):
            with self.subTest(options):
                self.run_in(self.folder / "tree", *shlex.split(install_block("Conan 2", "sh")),
                            "--no-remote", *options, env=home)
        self.use_package(home)

    def use_package(self, home):
        """Builds a program with the project and the commands of docs/install.md."""
        project = self.folder / "project"
        project.mkdir()
        (project / "conanfile.txt").write_text(install_block("Conan 2", "ini"), encoding="utf-8")
        shutil.copy(CONSUMERS / "cdi.cpp", project / "app.cpp")
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(app CXX)\nadd_executable(app app.cpp)\n"
            + install_block("Installed, with CMake", "cmake"), encoding="utf-8")
        for line in install_block("Conan 2", "sh", 1).splitlines():
            more = ["--no-remote"] if line.startswith("conan ") else []
            self.run_in(project, *shlex.split(line), *more, env=home)
        self.run_in(project, "build/app")


if __name__ == "__main__":
    unittest.main(verbosity=2)
