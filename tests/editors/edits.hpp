// OCI specs, and edits of every kind, for the tests of editors.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/json.hpp>
#include <cdi/oci.hpp>
#include <cdi/spec.hpp>

namespace editors_test {

template <class T>
T parsed(std::string_view text) {
  auto value = cdi::read_json<T>(text);
  REQUIRE_MESSAGE(value, (value ? "" : to_string(value.error())));
  return *std::move(value);
}

inline constexpr std::string_view full_spec =
    R"({"ociVersion":"1.2.0","process":{"cwd":"","user":{"uid":1,"gid":2,"additionalGids":[7]},
        "env":["A=0","B=2","A=1","C"]},"linux":{"namespaces":[{"type":"pid"},{"type":"user"}],
        "uidMappings":[{"containerID":0,"hostID":1000,"size":9}],
        "gidMappings":[{"containerID":0,"hostID":2000,"size":8}],
        "devices":[{"path":"/d","type":"c","major":9,"minor":0},
                   {"path":"/e","type":"b","major":1,"minor":2,"fileMode":432,"uid":3,"gid":4},
                   {"path":"/d","type":"p","major":0,"minor":0}]},
        "mounts":[{"destination":"/c/d","source":"/x","type":"bind","options":["ro","bind"]},
                  {"destination":"/c"},{"destination":"/"}]})";

// Those in the middle do not map ids: each lacks one of the three parts that are needed.
inline constexpr std::string_view specs[] = {
    R"({"ociVersion":"1.2.0"})",
    R"({"ociVersion":"1.2.0","linux":{"namespaces":[{"type":"user"}],
        "uidMappings":[{"containerID":0,"hostID":1000,"size":9}]}})",
    R"({"ociVersion":"1.2.0","linux":{"namespaces":[{"type":"user"}],
        "gidMappings":[{"containerID":0,"hostID":2000,"size":9}]}})",
    R"({"ociVersion":"1.2.0","linux":{"namespaces":[{"type":"pid"}],
        "uidMappings":[{"containerID":0,"hostID":1000,"size":9}],
        "gidMappings":[{"containerID":0,"hostID":2000,"size":9}]}})",
    full_spec,
};

inline constexpr std::string_view edits[] = {
    R"({"env":["A=5","D=6","A=7"]})",
    R"({"deviceNodes":[{"path":"/d","type":"c","major":5,"fileMode":384,"permissions":"r"},
                       {"path":"/n","type":"b","major":6,"minor":7,"fileMode":0,"uid":8,"gid":9},
                       {"path":"/d","type":"p","fileMode":0}]})",
    R"({"mounts":[{"hostPath":"/h","containerPath":"/c/d","options":["rbind"],"type":"bind"},
                  {"hostPath":"/h","containerPath":"/c"},{"hostPath":"/i","containerPath":"/c"}]})",
    R"({"hooks":[{"hookName":"prestart","path":"/h","args":["h","-x"],"env":["A=1"],"timeout":5},
                 {"hookName":"createRuntime","path":"/1"},{"hookName":"createContainer","path":"/2"},
                 {"hookName":"startContainer","path":"/3"},{"hookName":"poststart","path":"/4"},
                 {"hookName":"poststop","path":"/5"},{"hookName":"poststop","path":"/6"}]})",
    R"({"netDevices":[{"hostInterfaceName":"e","name":"n"},
                      {"hostInterfaceName":"f","name":"m"}]})",
    R"({"netDevices":[{"hostInterfaceName":"e","name":"o"}]})",
    R"({"intelRdt":{"closID":"c","schemata":["L3:0=f","MB:0=1"],"l3CacheSchema":"a",
                    "memBwSchema":"b","enableMonitoring":true}})",
    R"({"additionalGids":[7,8,8]})",
};

}  // namespace editors_test
