// Prints the names of the devices of a spec file.
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <iostream>

#include <cdi/file.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto loaded = cdi::read_spec_file(argv[1]);
  if (!loaded) {
    std::cerr << to_string(loaded.error()) << '\n';
    return 1;
  }
  for (const auto& device : loaded->spec.devices)
    std::cout << loaded->spec.kind << '=' << device.name << '\n';
}
