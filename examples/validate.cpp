// Validates spec files: validate FILE...
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <iostream>

#include <cdi/file.hpp>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: validate FILE...\n";
    return 2;
  }
  bool good = true;
  for (int i = 1; i < argc; ++i) {
    const auto loaded = cdi::read_spec_file(argv[i]);
    if (!loaded) {
      std::cerr << to_string(loaded.error()) << '\n';  // FILE:LINE:COLUMN: MEMBER: MESSAGE
      good = false;
      continue;
    }
    for (const auto& warning : loaded->warnings) {
      std::cerr << "warning: " << to_string(warning) << '\n';
    }
    std::cout << argv[i] << ": " << loaded->spec.devices.size() << " devices\n";
  }
  return good ? 0 : 1;
}
