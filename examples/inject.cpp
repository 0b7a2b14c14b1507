// Injects devices into a config: ./inject vendor.com/gpu=0 < config.json > new.json
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <iostream>
#include <iterator>

#include <cdi/cache.hpp>
#include <cdi/config_json.hpp>

int main(int argc, char** argv) {
  cdi::ConfigJson config{{std::istreambuf_iterator<char>{std::cin}, {}}};  // a config.json

  cdi::Cache cache;  // reads /etc/cdi and /var/run/cdi; up to date at each call
  const std::vector<std::string> names{argv + 1, argv + argc};  // vendor.com/class=device ...
  if (const auto done = cache.inject(config, names); !done) {
    std::cerr << to_string(done.error()) << '\n';  // `config` is unchanged
    return 1;
  }

  const cdi::ContainerEdits more{.env = {"GREETING=hello"},  // your own edits
                                 .device_nodes = {{.path = "/dev/fuse", .permissions = "rw"}}};
  if (const auto done = more.apply(config); !done) {
    std::cerr << to_string(done.error()) << '\n';
    return 1;
  }
  std::cout << config.text;  // all other bytes are unchanged
}
