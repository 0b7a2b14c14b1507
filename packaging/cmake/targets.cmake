# Defines the targets, for CMakeLists.txt and for the installed package: cdi::core, with the headers
# in _cdi_include; and, if named in _cdi_components, cdi::cdi, when nlohmann_json is found;
# cdi::compiled, the library with the bodies, which is the file _cdi_library or is built from the
# files _cdi_source; and cdi::c, the library for programs in C, the file _cdi_c_library with .so or
# .a; the latter needs the C++ library _cdi_runtime. Before glibc 2.34, libraries with Cache need
# pthread: not as Threads::Threads, which users of a subdirectory would not see.
# SPDX-License-Identifier: Apache-2.0 OR MIT

if(NOT TARGET cdi::core)
  add_library(cdi::core INTERFACE IMPORTED ${_cdi_scope})
  target_include_directories(cdi::core INTERFACE "${_cdi_include}")
  target_compile_features(cdi::core INTERFACE cxx_std_20)
  # Of the libraries and of their users, whose inline functions share struct stat.
  target_compile_definitions(cdi::core INTERFACE _FILE_OFFSET_BITS=64)
endif()

if("cdi" IN_LIST _cdi_components AND NOT TARGET cdi::cdi)
  # The project may have the target already.
  if(NOT TARGET nlohmann_json::nlohmann_json)
    find_package(nlohmann_json 3.11 QUIET CONFIG)
  endif()
  if(TARGET nlohmann_json::nlohmann_json)
    add_library(cdi::cdi INTERFACE IMPORTED ${_cdi_scope})
    target_link_libraries(cdi::cdi INTERFACE cdi::core nlohmann_json::nlohmann_json)
  endif()
endif()

if("compiled" IN_LIST _cdi_components AND NOT TARGET cdi::compiled)
  if(_cdi_library)
    add_library(cdi::compiled STATIC IMPORTED ${_cdi_scope})
    set_target_properties(cdi::compiled PROPERTIES IMPORTED_LOCATION "${_cdi_library}"
                                                   IMPORTED_LINK_INTERFACE_LANGUAGES CXX)
    target_compile_definitions(cdi::compiled INTERFACE CDI_COMPILED)
    target_link_libraries(cdi::compiled INTERFACE cdi::core pthread)
  elseif(_cdi_source AND TARGET nlohmann_json::nlohmann_json)
    # It is built only when a target links it, which may be a shared library. With sections, the
    # linker can drop unused functions.
    add_library(container-device-interface-compiled STATIC EXCLUDE_FROM_ALL ${_cdi_source})
    set_target_properties(container-device-interface-compiled PROPERTIES
      OUTPUT_NAME container-device-interface UNITY_BUILD OFF POSITION_INDEPENDENT_CODE ON)
    target_compile_definitions(container-device-interface-compiled PUBLIC CDI_COMPILED)
    target_compile_options(container-device-interface-compiled
      PRIVATE -ffunction-sections -fdata-sections
              $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
    target_link_libraries(container-device-interface-compiled
      PUBLIC cdi::core PRIVATE nlohmann_json::nlohmann_json pthread)
    add_library(cdi::compiled ALIAS container-device-interface-compiled)
  endif()
endif()

if("c" IN_LIST _cdi_components AND _cdi_c_library AND NOT TARGET cdi::c)
  if(NOT EXISTS "${_cdi_include}/cdi/cdi.h")
    # It is in another package, which is not installed.
  elseif(EXISTS "${_cdi_c_library}.so")
    add_library(cdi::c SHARED IMPORTED ${_cdi_scope})
    set_target_properties(cdi::c PROPERTIES IMPORTED_LOCATION "${_cdi_c_library}.so")
  else()
    # The project may have no C++, so that the runtime of C++ is a library like any other.
    add_library(cdi::c STATIC IMPORTED ${_cdi_scope})
    set_target_properties(cdi::c PROPERTIES IMPORTED_LOCATION "${_cdi_c_library}.a")
    target_link_libraries(cdi::c INTERFACE ${_cdi_runtime} m pthread)
  endif()
  if(TARGET cdi::c)
    target_include_directories(cdi::c INTERFACE "${_cdi_include}")
  endif()
endif()
