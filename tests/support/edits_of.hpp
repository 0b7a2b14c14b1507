// Reads container edits from JSON text.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/model/spec.hpp>
#include <cdi/text/json.hpp>

inline cdi::ContainerEdits edits_of(std::string_view text) {
  auto edits = cdi::read_json<cdi::ContainerEdits>(text);
  REQUIRE_MESSAGE(edits, (edits ? "" : to_string(edits.error())));
  return *std::move(edits);
}
