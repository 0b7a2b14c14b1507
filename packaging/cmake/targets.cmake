# cdi::core, for the headers in _cdi_include; and cdi::cdi, if it is one of _cdi_components and
# nlohmann_json and yaml-cpp are found. For CMakeLists.txt and for the installed package.

if(NOT TARGET cdi::core)
  add_library(cdi::core INTERFACE IMPORTED ${_cdi_scope})
  target_include_directories(cdi::core INTERFACE "${_cdi_include}")
  target_compile_features(cdi::core INTERFACE cxx_std_20)
endif()

if("cdi" IN_LIST _cdi_components AND NOT TARGET cdi::cdi)
  # Those that the project has already are taken.
  if(NOT TARGET nlohmann_json::nlohmann_json)
    find_package(nlohmann_json 3.11 QUIET CONFIG)
  endif()
  if(NOT TARGET yaml-cpp::yaml-cpp AND NOT TARGET yaml-cpp)
    find_package(yaml-cpp 0.7 QUIET CONFIG)
  endif()
  set(_cdi_yaml yaml-cpp::yaml-cpp)
  if(NOT TARGET yaml-cpp::yaml-cpp)
    set(_cdi_yaml yaml-cpp) # before yaml-cpp 0.8
  endif()
  if(TARGET nlohmann_json::nlohmann_json AND TARGET ${_cdi_yaml})
    add_library(cdi::cdi INTERFACE IMPORTED ${_cdi_scope})
    target_link_libraries(cdi::cdi INTERFACE cdi::core nlohmann_json::nlohmann_json ${_cdi_yaml})
  endif()
endif()
