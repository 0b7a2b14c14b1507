// Reads and writes a JSON document, like `examples/inject.cpp`, but without cdi.
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <iostream>

#include <nlohmann/json.hpp>

int main() {
  const auto config = nlohmann::ordered_json::parse(std::cin, nullptr, false);
  std::cout << config.dump(2) << '\n';
}
