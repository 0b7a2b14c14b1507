// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <doctest/doctest.h>

#include <cdi/json.hpp>
#include <cdi/spec.hpp>

#include "../every_spec_field.hpp"

namespace {

TEST_CASE("a model as a JSON value equals the text parsed by nlohmann") {
  const cdi::Spec spec = every_field_said();
  const auto value = cdi::to_json_value<nlohmann::json>(spec);
  CHECK(value == nlohmann::json::parse(*cdi::write_json(spec)));
  const auto& node = value["devices"][0]["containerEdits"]["deviceNodes"][0];
  CHECK(node["uid"].is_number_unsigned());
  CHECK(node["minor"].is_number_integer());
  CHECK_FALSE(node["minor"].is_number_unsigned());
}

}  // namespace
