// Devices and edits of its own, into a JSON document of nlohmann.
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <iostream>

#include <cdi/cache.hpp>
#include <cdi/nlohmann.hpp>

int main(int argc, char** argv) {
  auto config = nlohmann::ordered_json::parse(std::cin, nullptr, false);  // an OCI config.json

  cdi::Cache cache;  // of /etc/cdi and /var/run/cdi; up to date at each call
  const std::vector<std::string> names{argv + 1, argv + argc};  // vendor.com/class=device ...
  if (const auto done = cache.inject(config, names); !done) {
    std::cerr << to_string(done.error()) << '\n';  // `config` is unchanged
    return 1;
  }

  const cdi::ContainerEdits more{.env = {"GREETING=hello"},
                                 .device_nodes = {{.path = "/dev/fuse", .permissions = "rw"}}};
  if (const auto done = more.apply(config); !done) {
    std::cerr << to_string(done.error()) << '\n';
    return 1;
  }
  std::cout << config.dump(2) << '\n';
}
