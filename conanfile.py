# cdi - Container Device Interface for C++20
# SPDX-License-Identifier: Apache-2.0
from os.path import join

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy
from conan.tools.layout import basic_layout

required_conan_version = ">=2.0"


class ContainerDeviceInterface(ConanFile):
    name = "container-device-interface"
    version = "0.1.0"
    description = "Container Device Interface for C++20"
    license = "Apache-2.0"
    topics = ("cdi", "oci", "containers", "devices", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"cdi": [True, False],  # cdi/cdi.hpp; cdi/core.hpp needs no other package
               "compiled": [True, False]}  # a static library with the bodies, for CDI_COMPILED
    default_options = {"cdi": True, "compiled": False}
    exports_sources = ("include/*.hpp", "packaging/library.cpp", "packaging/c_library.cpp",
                       "packaging/cmake/targets.cmake", "CMakeLists.txt", "LICENSE")
    no_copy_source = True
    test_package_folder = join("packaging", "test_package")

    def configure(self):
        if self.options.compiled:
            self.package_type = "static-library"

    def layout(self):
        basic_layout(self)

    def requirements(self):
        if self.options.cdi:
            self.requires("nlohmann_json/[>=3.11 <4]", transitive_headers=True)

    def package_id(self):
        if not self.info.options.compiled:
            self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration(f"{self.name} supports only Linux")
        if self.options.compiled and not self.options.cdi:
            raise ConanInvalidConfiguration("compiled=True needs cdi=True")

    def generate(self):
        if self.options.compiled:
            CMakeToolchain(self).generate()
            CMakeDeps(self).generate()

    def build(self):
        if self.options.compiled:
            cmake = CMake(self)
            cmake.configure()
            cmake.build(target=f"{self.name}-compiled")

    def package(self):
        copy(self, "LICENSE", self.source_folder, join(self.package_folder, "licenses"))
        copy(self, "*.hpp", join(self.source_folder, "include"),
             join(self.package_folder, "include"))
        if self.options.compiled:
            copy(self, "*.a", self.build_folder, join(self.package_folder, "lib"),
                 keep_path=False)

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", self.name)
        core = self.cpp_info.components["core"]
        core.set_property("cmake_target_name", "cdi::core")
        core.set_property("pkg_config_name", f"{self.name}-core")
        core.bindirs = core.libdirs = []
        if not self.options.cdi:
            return
        cdi = self.cpp_info.components["cdi"]
        cdi.set_property("cmake_target_name", "cdi::cdi")
        cdi.set_property("pkg_config_name", self.name)
        cdi.requires = ["core", "nlohmann_json::nlohmann_json"]
        cdi.bindirs = cdi.libdirs = cdi.includedirs = []
        if not self.options.compiled:
            return
        compiled = self.cpp_info.components["compiled"]
        compiled.set_property("cmake_target_name", "cdi::compiled")
        compiled.set_property("pkg_config_name", f"{self.name}-compiled")
        compiled.requires = ["core"]
        compiled.libs = [self.name]
        compiled.defines = ["CDI_COMPILED"]
        compiled.bindirs = compiled.includedirs = []
