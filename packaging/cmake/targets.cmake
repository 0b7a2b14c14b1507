# cdi::core, for the headers in _cdi_include; and cdi::cdi, if it is one of _cdi_components and
# nlohmann_json is found. For CMakeLists.txt and for the installed package.

if(NOT TARGET cdi::core)
  add_library(cdi::core INTERFACE IMPORTED ${_cdi_scope})
  target_include_directories(cdi::core INTERFACE "${_cdi_include}")
  target_compile_features(cdi::core INTERFACE cxx_std_20)
endif()

if("cdi" IN_LIST _cdi_components AND NOT TARGET cdi::cdi)
  # One that the project has already is taken.
  if(NOT TARGET nlohmann_json::nlohmann_json)
    find_package(nlohmann_json 3.11 QUIET CONFIG)
  endif()
  if(TARGET nlohmann_json::nlohmann_json)
    add_library(cdi::cdi INTERFACE IMPORTED ${_cdi_scope})
    target_link_libraries(cdi::cdi INTERFACE cdi::core nlohmann_json::nlohmann_json)
  endif()
endif()
