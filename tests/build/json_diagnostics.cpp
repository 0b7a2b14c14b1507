// Injection into documents of a program that defines JSON_DIAGNOSTICS, where nlohmann checks which
// value holds which.
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <string>

#include <nlohmann/json.hpp>

#include <cdi/apply.hpp>
#include <cdi/nlohmann.hpp>
#include <cdi/spec.hpp>

#undef NDEBUG
#include <cassert>

namespace {

cdi::ContainerEdits edits() {
  return {.env = {"GPU=0", "KEPT=new"},
          .device_nodes = {{.path = "/dev/gpu0", .type = "c", .major = 195, .minor = 0}},
          .net_devices = {{.host_interface_name = "eth0", .name = "net0"}},
          .hooks = {{.hook_name = "createRuntime", .path = "/bin/hook", .args = {"hook"}}},
          .mounts = {{.host_path = "/lib", .container_path = "/lib/gpu"}},
          .additional_gids = {44}};
}

/// Where nlohmann says that a value is, when it is taken for a number.
template <class Json>
std::string place_of(const Json& value) {
  try {
    static_cast<void>(value.template get<int>());
  } catch (const typename Json::type_error& error) {
    const std::string text = error.what();
    return text.substr(text.find('('), text.find(')') - text.find('(') + 1);
  }
  return {};
}

template <class Json>
void check() {
  auto config = Json::parse(R"({"process": {"env": ["KEPT=old", "PATH=/bin"]},
      "mounts": [{"destination": "/lib/gpu/lower"}, {"destination": "/proc"}]})");
  assert(edits().apply(config));
  const Json copy = config;  // checks all values
  for (const Json& document : {config, copy}) {
    assert(place_of(document["process"]["env"][2]) == "(/process/env/2)");
    assert(place_of(document["mounts"][1]["destination"]) == "(/mounts/1/destination)");
    assert(place_of(document["hooks"]["createRuntime"][0]["args"][0]) ==
           "(/hooks/createRuntime/0/args/0)");
    assert(place_of(document["linux"]["netDevices"]["eth0"]["name"]) ==
           "(/linux/netDevices/eth0/name)");
  }
}

}  // namespace

int main() {
  check<nlohmann::json>();
  check<nlohmann::ordered_json>();
}
