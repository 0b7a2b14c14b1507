# Conan's test of the package: builds and runs a program with it.
# SPDX-License-Identifier: Apache-2.0 OR MIT
from os.path import join

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class TestPackage(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            options = self.dependencies["container-device-interface"].options
            for name in ("core", "cdi", "compiled", "c"):
                if name == "core" or options.get_safe("c_library" if name == "c" else name):
                    self.run(join(self.cpp.build.bindir, name), env="conanrun")
