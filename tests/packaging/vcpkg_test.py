#!/usr/bin/env python3
# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0
"""The vcpkg port: with vcpkg itself where it is, and everywhere with a stand-in for the functions that
the port calls."""
import json
import os
import re
import shlex
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
from project import (CONSUMERS, HEADERS, NAME, RELEASE, ROOT,  # noqa: E402
                     PackagingTest, copy_project, readme_block)

PORT = ROOT / "packaging" / "vcpkg" / NAME
STAND_IN = """
function(vcpkg_configure_meson)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  execute_process(COMMAND meson setup ${BUILD} ${arg_SOURCE_PATH} ${arg_OPTIONS}
                  --prefix ${CURRENT_PACKAGES_DIR} --libdir lib COMMAND_ERROR_IS_FATAL ANY)
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
  # vcpkg mends what is counted from the folder of the config file in the same way.
  file(GLOB configs ${CURRENT_PACKAGES_DIR}/share/${PORT}/*Config.cmake)
  foreach(config IN LISTS configs)
    file(READ ${config} text)
    string(REPLACE "/../../.." "/../.." text "${text}")
    file(WRITE ${config} "${text}")
  endforeach()
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  file(COPY_FILE ${arg_FILE_LIST} ${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright)
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
        # The functions of these come from ports of their own.
        self.assertEqual("vcpkg-tool-meson" in names, "configure_meson" in used)
        self.assertEqual("vcpkg-cmake-config" in names, "cmake_config_fixup" in used)

    def test_what_it_installs(self):
        tree, package = self.folder / "tree", self.folder / "package"
        copy_project(tree)
        (self.folder / "stand_in.cmake").write_text(STAND_IN, encoding="utf-8")
        self.run_in(self.folder, "cmake", f"-DPORT={NAME}", f"-DCURRENT_PACKAGES_DIR={package}",
                    f"-DBUILD={self.folder}/build",
                    f"-DPORTFILE={tree}/packaging/vcpkg/{NAME}/portfile.cmake", "-P",
                    "stand_in.cmake")
        found = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()}
        share = f"share/{NAME}"
        self.assertEqual(found, HEADERS | {
            f"{share}/{NAME}Config.cmake", f"{share}/{NAME}ConfigVersion.cmake",
            f"{share}/{NAME}Targets.cmake", f"{share}/copyright", f"{share}/usage",
            f"share/pkgconfig/{NAME}.pc", f"share/pkgconfig/{NAME}-core.pc"})
        self.assertFalse((package / "lib").exists())
        # The lines that vcpkg shows the user.
        lines = (package / share / "usage").read_text(encoding="utf-8").partition(":\n")[2]
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(app CXX)\nadd_executable(main app.cpp)\n"
            + lines.replace("cdi::cdi", "cdi::core"), encoding="utf-8")
        shutil.copy(CONSUMERS / "core.cpp", self.folder / "app.cpp")
        self.run_in(self.folder, "cmake", "-G", "Ninja", "-B", "app",
                    f"-DCMAKE_PREFIX_PATH={package}")
        self.run_in(self.folder, "cmake", "--build", "app")
        self.run_in(self.folder, "app/main")

    def test_with_vcpkg(self):
        if not shutil.which("vcpkg") or "VCPKG_ROOT" not in os.environ:
            self.skipTest("no vcpkg on this machine")
        copy_project(self.folder / "tree")
        self.run_in(self.folder / "tree", *shlex.split(readme_block("vcpkg", "sh")),
                    f"--x-install-root={self.folder}/installed")


if __name__ == "__main__":
    unittest.main(verbosity=2)
