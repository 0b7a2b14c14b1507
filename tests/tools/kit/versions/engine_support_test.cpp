// Tests for tools/kit/versions/engine_support.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/versions/engine_support.hpp"

#include <doctest/doctest.h>

using tools::CdiSwitch;
using tools::find_engine_support;

static_assert(find_engine_support({"podman", {5, 0, 0}}) == nullptr);

TEST_CASE("The table is in order of name and version, so that the last row that fits counts") {
  for (std::size_t i = 1; i < tools::engine_support.size(); ++i) {
    const auto& before = tools::engine_support[i - 1];
    const auto& row = tools::engine_support[i];
    CHECK(
        (before.engine < row.engine || (before.engine == row.engine && before.since < row.since)));
  }
}

TEST_CASE("Each version of an engine has what its releases brought") {
  const struct {
    tools::VersionedEngine engine;
    CdiSwitch cdi_switch;
    bool field;
    bool nri;
  } rows[] = {
      {{"containerd", {1, 7, 0}}, CdiSwitch::off, false, false},
      {{"containerd", {1, 7, 1}}, CdiSwitch::off, false, false},
      {{"containerd", {1, 7, 2}}, CdiSwitch::off, true, false},
      {{"containerd", {1, 7, 29}}, CdiSwitch::off, true, false},
      {{"containerd", {1, 7, 30}}, CdiSwitch::off, true, true},
      {{"containerd", {2, 0, 9}}, CdiSwitch::on, true, false},
      {{"containerd", {2, 1, 0}}, CdiSwitch::on, true, true},
      {{"containerd", {9, 0, 0}}, CdiSwitch::on, true, true},
      {{"cri-o", {1, 24, 0}}, CdiSwitch::always, false, false},
      {{"cri-o", {1, 27, 8}}, CdiSwitch::always, false, false},
      {{"cri-o", {1, 28, 0}}, CdiSwitch::always, true, false},
      {{"cri-o", {1, 33, 9}}, CdiSwitch::always, true, false},
      {{"cri-o", {1, 34, 0}}, CdiSwitch::always, true, true},
  };
  for (const auto& row : rows) {
    CAPTURE(to_string(row.engine));
    const auto* const support = find_engine_support(row.engine);
    REQUIRE(support != nullptr);
    CHECK(support->cdi_switch == row.cdi_switch);
    CHECK(support->field == row.field);
    CHECK(support->nri == row.nri);
  }
  CHECK(find_engine_support({"containerd", {1, 6, 20}}) == nullptr);
  CHECK(find_engine_support({"cri-o", {1, 23, 5}}) == nullptr);
}
