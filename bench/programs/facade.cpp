// An OCI config as JSON text with devices injected, by one function.
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <cdi/inject_json.hpp>

int main(int argc, char** argv) {
  std::string config{std::istreambuf_iterator<char>{std::cin}, {}};
  const std::vector<std::string> names{argv + 1, argv + argc};
  if (const auto done = cdi::inject_json(config, names); !done) {
    std::cerr << to_string(done.error()) << '\n';
    return 1;
  }
  std::cout << config;
}
