#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tests the vcpkg port: with vcpkg, if it is installed, and with a stub of the functions that the
port calls."""
import json
import os
import re
import shlex
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
from project import (CONSUMERS, HEADERS, NAME, QUICK, RELEASE, ROOT,  # noqa: E402
                     PackagingTest, copy_project, install_block)

PORT = ROOT / "packaging" / "vcpkg" / NAME
STUB = """
cmake_minimum_required(VERSION 3.16)
function(vcpkg_configure_meson)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  execute_process(COMMAND meson setup ${BUILD} ${arg_SOURCE_PATH} ${arg_OPTIONS}
                  --prefix ${CURRENT_PACKAGES_DIR} --libdir lib -Ddebug=false --unity=on
                  COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_install_meson)
  execute_process(COMMAND meson install -C ${BUILD} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
  file(RENAME ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH} ${CURRENT_PACKAGES_DIR}/share/moved)
  file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/share/cmake)
  file(RENAME ${CURRENT_PACKAGES_DIR}/share/moved ${CURRENT_PACKAGES_DIR}/share/${PORT})
  # vcpkg corrects paths relative to the folder of the config file in the same way.
  file(GLOB configs ${CURRENT_PACKAGES_DIR}/share/${PORT}/*Config.cmake)
  foreach(config IN LISTS configs)
    file(READ ${config} text)
    string(REPLACE "/../../.." "/../.." text "${text}")
    file(WRITE ${config} "${text}")
  endforeach()
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  foreach(licence IN LISTS arg_FILE_LIST)
    file(READ ${licence} text)
    file(APPEND ${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright "${text}")
  endforeach()
endfunction()
include(${PORTFILE})
"""


class Port(PackagingTest):

    def test_manifest(self):
        manifest = json.loads((PORT / "vcpkg.json").read_text(encoding="utf-8"))
        self.assertEqual((manifest["name"], manifest["version"]), (NAME, RELEASE))
        names = [entry if isinstance(entry, str) else entry["name"]
                 for entry in manifest["dependencies"]]
        self.assertEqual(names, sorted(names))
        used = re.findall(r"vcpkg_(\w+)\(", (PORT / "portfile.cmake").read_text(encoding="utf-8"))
        # These functions are in ports of their own.
        self.assertEqual("vcpkg-tool-meson" in names, "configure_meson" in used)
        self.assertEqual("vcpkg-cmake-config" in names, "cmake_config_fixup" in used)
        self.assertEqual(list(manifest["features"]), ["c-library", "compiled"])

    def install(self, *features, linkage="static"):
        """The folder of the package, and its files except those that every package has."""
        tree, package = self.folder / "tree", self.folder / "package"
        if not tree.exists():
            copy_project(tree)
        shutil.rmtree(package, ignore_errors=True)
        (self.folder / "stub.cmake").write_text(STUB, encoding="utf-8")
        self.run_in(self.folder, "cmake", f"-DPORT={NAME}", f"-DCURRENT_PACKAGES_DIR={package}",
                    f"-DBUILD={self.folder}/build", f"-DFEATURES={';'.join(features)}",
                    f"-DVCPKG_LIBRARY_LINKAGE={linkage}",
                    f"-DPORTFILE={tree}/packaging/vcpkg/{NAME}/portfile.cmake", "-P",
                    "stub.cmake", env={**os.environ, "CXX": QUICK})
        found = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()}
        share = f"share/{NAME}"
        all_have = HEADERS | {
            f"{share}/{NAME}Config.cmake", f"{share}/{NAME}ConfigVersion.cmake",
            f"{share}/{NAME}Targets.cmake", f"{share}/copyright", f"{share}/usage",
            f"share/pkgconfig/{NAME}.pc", f"share/pkgconfig/{NAME}-core.pc"}
        self.assertLessEqual(all_have, found)
        return package, found - all_have

    def use(self, package, component):
        """Builds and runs the program of a component with the CMake code that vcpkg prints."""
        usage = (package / "share" / NAME / "usage").read_text(encoding="utf-8")
        self.assertIn(f"cdi::{component}", usage)
        language, source = ("C", "c") if component == "c" else ("CXX", "cpp")
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\n"
            f"project(app {language})\nadd_executable(main app.{source})\n"
            + usage.partition(":\n")[2].replace("cdi::cdi)", f"cdi::{component})"),
            encoding="utf-8")
        shutil.copy(CONSUMERS / f"{component}.{source}", self.folder / f"app.{source}")
        shutil.rmtree(self.folder / "app", ignore_errors=True)
        self.run_in(self.folder, "cmake", "-G", "Ninja", "-B", "app",
                    f"-DCMAKE_PREFIX_PATH={package}")
        self.run_in(self.folder, "cmake", "--build", "app")
        self.run_in(self.folder, "app/main")

    def test_headers_alone(self):
        package, more = self.install()
        self.assertEqual(more, set())
        self.assertFalse((package / "lib").exists())
        self.use(package, "core")

    def test_compiled(self):
        package, more = self.install("core", "compiled")  # vcpkg always adds the feature "core"
        self.assertEqual(more, {f"lib/lib{NAME}.a", f"lib/pkgconfig/{NAME}-compiled.pc"})
        self.use(package, "compiled")

    def test_c_library(self):
        """For programs in C, the library in the form that the triplet asks for."""
        name = f"lib/lib{NAME}-c"
        for linkage, files in (("static", [".a"]), ("dynamic", [".so", ".so.0", ".so.0.1.0"])):
            with self.subTest(linkage):
                package, more = self.install("core", "c-library", linkage=linkage)
                self.assertEqual(more, {"include/cdi/cdi.h", "share/man/man3/cdi.h.3",
                                        f"lib/pkgconfig/{NAME}-c.pc",
                                        *(name + ending for ending in files)})
                self.use(package, "c")

    def test_a_project_in_manifest_mode_finds_the_port(self):
        configuration = json.loads(install_block("vcpkg", "json"))
        in_clone = [path.partition(f"{NAME}/")[2] for path in configuration["overlay-ports"]]
        self.assertEqual(in_clone, ["packaging/vcpkg"])
        self.assertTrue((ROOT / in_clone[0] / NAME / "vcpkg.json").is_file())

    def test_with_vcpkg(self):
        if not shutil.which("vcpkg") or "VCPKG_ROOT" not in os.environ:
            self.skipTest("vcpkg is not installed")
        copy_project(self.folder / "tree")
        self.run_in(self.folder / "tree", *shlex.split(install_block("vcpkg", "sh")),
                    f"--x-install-root={self.folder}/installed")


if __name__ == "__main__":
    unittest.main(verbosity=2)
