// A floor of run.sh: the tree of yaml-cpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <yaml-cpp/yaml.h>

#include "floor.hpp"

int main(int, char** argv) {
  measure_floor(argv[1], "yaml", [](const auto& text) { return YAML::Load(text); });
}
