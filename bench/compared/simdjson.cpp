// A floor of run.sh: the read-only tree of simdjson, in a parser that is used again.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <simdjson.h>

#include "floor.hpp"

int main(int, char** argv) {
  simdjson::dom::parser parser;
  measure_floor(argv[1], "json",
                [&](const auto& text) { return parser.parse(text).value().is_object(); });
}
