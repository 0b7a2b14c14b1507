# An overlay port: it installs the source tree that contains it.
# SPDX-License-Identifier: Apache-2.0 OR MIT
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(VCPKG_BUILD_TYPE release) # headers, and libraries for all build types
set(VCPKG_POLICY_MISMATCHED_NUMBER_OF_BINARIES enabled)
set(compiled disabled)
if("compiled" IN_LIST FEATURES)
    set(compiled enabled)
endif()
set(c_library disabled)
if("c-library" IN_LIST FEATURES)
    set(c_library enabled)
endif()

vcpkg_configure_meson(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS -Dcdi=enabled -Dcompiled=${compiled} -Dlibrary_for_c=${c_library} -Dtests=disabled -Dexamples=disabled -Dbench=disabled
)
vcpkg_install_meson()
vcpkg_fixup_pkgconfig()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/${PORT})
if("c-library" IN_LIST FEATURES)
    # Meson installs the library for C in both forms.
    set(other_form "lib${PORT}-c.a")
    if(VCPKG_LIBRARY_LINKAGE STREQUAL "static")
        set(other_form "lib${PORT}-c.so*")
    endif()
    file(GLOB other_form "${CURRENT_PACKAGES_DIR}/lib/${other_form}")
    file(REMOVE ${other_form})
elseif(NOT "compiled" IN_LIST FEATURES)
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib")
endif()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/licenses") # see below
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE-APACHE"
                                  "${SOURCE_PATH}/LICENSE-MIT")
