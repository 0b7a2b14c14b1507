// A known difference between this library and another one, and why this library is right.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <string_view>

/// A row of a list of known differences.
template <class Difference>
struct Known {
  std::string_view name;
  bool (*explains)(const Difference& difference);
  std::string_view reason;
};

/// The first row that explains a difference; null if there is none.
template <class Difference, std::size_t size>
const Known<Difference>* find_known(const Known<Difference> (&rows)[size],
                                    const Difference& difference) {
  for (const auto& row : rows) {
    if (row.explains(difference)) return &row;
  }
  return nullptr;
}
