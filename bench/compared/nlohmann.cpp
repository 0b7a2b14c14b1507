// A floor of run.sh: nlohmann's JSON trees, with sorted members, or in order with `ordered`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <nlohmann/json.hpp>

#include "floor.hpp"

int main(int argc, char** argv) {
  if (argc == 3) {
    measure_floor(argv[1], "json",
                  [](const auto& text) { return nlohmann::ordered_json::parse(text); });
  } else {
    measure_floor(argv[1], "json", [](const auto& text) { return nlohmann::json::parse(text); });
  }
}
