# The Conan package.
# SPDX-License-Identifier: Apache-2.0 OR MIT
from os.path import join

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd, stdcpp_library
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy
from conan.tools.layout import basic_layout

required_conan_version = ">=2.0"


class ContainerDeviceInterface(ConanFile):
    name = "container-device-interface"
    version = "0.1.0"
    description = "Container Device Interface for C++20"
    license = "Apache-2.0 OR MIT"
    topics = ("cdi", "oci", "containers", "devices", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"cdi": [True, False],  # with nlohmann_json, for cdi/nlohmann.hpp
               "compiled": [True, False],  # a static library with the bodies, for CDI_COMPILED
               "c_library": [True, False],  # the library for programs in C
               "shared": [True, False]}  # the form of that library
    default_options = {"cdi": True, "compiled": False, "c_library": False, "shared": False}
    exports_sources = ("include/*.hpp", "include/*.inl", "include/*.h", "src/c/*",
                       "src/library.cpp", "src/library/*", "packaging/cmake/targets.cmake", "CMakeLists.txt",
                       "LICENSE-*")
    no_copy_source = True
    test_package_folder = join("packaging", "test_package")

    def configure(self):
        if self.options.c_library:
            self.package_type = "library"  # static or shared, as the option says
            return
        del self.options.shared
        if self.options.compiled:
            self.package_type = "static-library"

    def layout(self):
        basic_layout(self)

    def requirements(self):
        if self.options.cdi:
            self.requires("nlohmann_json/[>=3.11 <4]", transitive_headers=True)

    def package_id(self):
        if not self.info.options.compiled and not self.info.options.c_library:
            self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration(f"{self.name} supports only Linux")
        if self.options.compiled and not self.options.cdi:
            raise ConanInvalidConfiguration("compiled=True needs cdi=True")

    def libraries(self):
        """The CMake targets to build."""
        wanted = {"compiled": self.options.compiled, "c": self.options.c_library}
        return [f"{self.name}-{suffix}" for suffix, is_wanted in wanted.items() if is_wanted]

    def generate(self):
        if self.libraries():
            CMakeToolchain(self).generate()
            CMakeDeps(self).generate()

    def build(self):
        if self.libraries():
            cmake = CMake(self)
            cmake.configure()
            for library in self.libraries():
                cmake.build(target=library)

    def package(self):
        copy(self, "LICENSE-*", self.source_folder, join(self.package_folder, "licenses"))
        for pattern in ("*.hpp", "*.inl"):
            copy(self, pattern, join(self.source_folder, "include"),
                 join(self.package_folder, "include"))
        if self.options.c_library:
            copy(self, "*.h", join(self.source_folder, "include"),
                 join(self.package_folder, "include"))
        for pattern in ("*.a", "*.so*") if self.libraries() else ():
            copy(self, pattern, self.build_folder, join(self.package_folder, "lib"),
                 keep_path=False)

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", self.name)
        core = self.cpp_info.components["core"]
        core.set_property("cmake_target_name", "cdi::core")
        core.set_property("pkg_config_name", f"{self.name}-core")
        core.bindirs = core.libdirs = []
        core.defines = ["_FILE_OFFSET_BITS=64"]
        if self.options.c_library:
            c = self.cpp_info.components["c"]
            c.set_property("cmake_target_name", "cdi::c")
            c.set_property("pkg_config_name", f"{self.name}-c")
            c.libs = [f"{self.name}-c"]
            c.bindirs = []
            if not self.options.shared:
                c.system_libs = [stdcpp_library(self), "m", "pthread"]
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
        compiled.system_libs = ["pthread"]
        compiled.defines = ["CDI_COMPILED"]
        compiled.bindirs = compiled.includedirs = []
