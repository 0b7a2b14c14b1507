// Lists the keys of a described type, for the tests of OCI types.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <vector>

#include <cdi/model/fields.hpp>

using Keys = std::vector<std::string>;

/// Keys; `!` for those that are required, `=` for those that are written even when empty.
template <class T>
Keys keys() {
  Keys keys;
  cdi::every_field<T>([&](const auto& field) {
    keys.emplace_back(field.key).append(field.when == cdi::required               ? "!"
                                        : field.when == cdi::Presence::keep_empty ? "="
                                                                                  : "");
    return true;
  });
  return keys;
}
