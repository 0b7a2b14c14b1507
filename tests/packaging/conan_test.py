#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0
"""The Conan recipe: with Conan itself where it is, and everywhere with a stand-in for what the recipe
uses of it."""
import collections
import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import sys
import types
import unittest
import unittest.mock

sys.dont_write_bytecode = True
from project import HEADERS, NAME, RELEASE, ROOT, PackagingTest, copy_project, readme_block  # noqa: E402


class InvalidConfiguration(Exception):
    pass


def copy(conanfile, pattern, src, dst):
    """conan.tools.files.copy: keeps the folders below `src`."""
    for path in sorted(pathlib.Path(src).rglob(pattern)):
        to = pathlib.Path(dst) / path.relative_to(src)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, to)


def check_min_cppstd(conanfile, least):
    if int(conanfile.settings.cppstd) < least:
        raise InvalidConfiguration(f"C++{least} is needed")


class CppInfo:
    def __init__(self):
        self.properties = {}
        self.requires, self.libs = [], []
        self.includedirs, self.libdirs, self.bindirs = ["include"], ["lib"], ["bin"]
        self.components = collections.defaultdict(CppInfo)

    def set_property(self, name, value):
        self.properties[name] = value


def load_recipe():
    """The recipe's class, made with the stand-in."""
    stand_in = {
        "conan": {"ConanFile": type("ConanFile", (), {})},
        "conan.errors": {"ConanInvalidConfiguration": InvalidConfiguration},
        "conan.tools": {},
        "conan.tools.build": {"check_min_cppstd": check_min_cppstd},
        "conan.tools.files": {"copy": copy},
        "conan.tools.layout": {"basic_layout": lambda conanfile: None},
    }
    modules = {name: types.ModuleType(name) for name in stand_in}
    for name, members in stand_in.items():
        vars(modules[name]).update(members)
    with unittest.mock.patch.dict(sys.modules, modules):
        place = importlib.util.spec_from_file_location("conanfile", ROOT / "conanfile.py")
        module = importlib.util.module_from_spec(place)
        place.loader.exec_module(module)
    return module.ContainerDeviceInterface


class Recipe(PackagingTest):

    def recipe(self, cdi=True, os_name="Linux", cppstd="20"):
        recipe = load_recipe()()
        recipe.options = types.SimpleNamespace(cdi=cdi)
        recipe.settings = types.SimpleNamespace(os=os_name, cppstd=cppstd)
        recipe.cpp_info = CppInfo()
        recipe.required = {}
        recipe.requires = lambda reference, **traits: recipe.required.update({reference: traits})
        return recipe

    def test_name_version_and_options(self):
        recipe = load_recipe()
        self.assertEqual((recipe.name, recipe.version), (NAME, RELEASE))
        self.assertEqual(set(recipe.options), set(recipe.default_options))
        self.assertTrue((ROOT / recipe.test_package_folder / "conanfile.py").is_file())

    def test_package_has_every_header_and_the_licence(self):
        recipe = self.recipe()
        exported = self.folder / "exported"
        for pattern in recipe.exports_sources:
            base = pathlib.Path(pattern).parent  # as Conan does, `*` goes into folders, too
            copy(recipe, pathlib.Path(pattern).name, ROOT / base, exported / base)
        recipe.source_folder = str(exported)
        recipe.package_folder = str(self.folder / "package")
        recipe.package()
        found = {str(path.relative_to(recipe.package_folder))
                 for path in pathlib.Path(recipe.package_folder).rglob("*") if path.is_file()}
        self.assertEqual(found, HEADERS | {"licenses/LICENSE"})

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
        # What a component names is required, and what is required is named.
        self.assertEqual({name.split("::")[0] for name in cdi.requires[1:]},
                         {reference.split("/")[0] for reference in recipe.required})
        for component in (core, cdi):
            self.assertEqual((component.libs, component.libdirs, component.bindirs), ([], [], []))

    def test_least_versions_are_those_of_meson(self):
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

    def test_what_it_is_not_for_is_refused(self):
        self.recipe().validate()
        for wrong in ({"os_name": "Windows"}, {"cppstd": "17"}):
            with self.subTest(wrong), self.assertRaises(InvalidConfiguration):
                self.recipe(**wrong).validate()

    def test_with_conan(self):
        if not shutil.which("conan"):
            self.skipTest("no conan on this machine")
        copy_project(self.folder / "tree")
        home = {**os.environ, "CONAN_HOME": str(self.folder / "home")}
        self.run_in(self.folder, "conan", "profile", "detect", env=home)
        # The core alone: what else the recipe requires would be fetched.
        self.run_in(self.folder / "tree", *shlex.split(readme_block("Conan 2", "sh")), "-o", "cdi=False",
                    env=home)


if __name__ == "__main__":
    unittest.main(verbosity=2)
