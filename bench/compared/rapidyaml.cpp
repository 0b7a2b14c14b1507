// A floor of run.sh: the tree of rapidyaml, which refers to a text that it may change.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "floor.hpp"
#include <ryml.hpp>
#include <ryml_std.hpp>

int main(int, char** argv) {
  ryml::Tree tree;
  measure_floor(argv[1], "yaml", [&](std::string text) {
    tree.clear();
    ryml::parse_in_place(ryml::to_substr(text), &tree);
    return tree.rootref().is_map();
  });
}
