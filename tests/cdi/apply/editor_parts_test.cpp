// Which parts of an OCI spec an editor supports.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/apply/editor_parts.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/targets/oci_editor.hpp>

#include "targets.hpp"

namespace {

using apply_targets::Bare;
using apply_targets::Json;
using apply_targets::Model;
using apply_targets::Ordered;
using apply_targets::Text;

}  // namespace

/// A type whose editor has a misspelt function, and one that returns something else.
struct Unfinished {
  Model spec{};
};

template <>
struct cdi::SpecEditor<Unfinished> {
  Unfinished& target;

  auto enviroment() { return inner().env(); }
  void devices() {}
  auto mounts() { return inner().mounts(); }
  auto hooks(cdi::oci::HookPoint point) { return inner().hooks(point); }
  auto additional_gids() { return inner().additional_gids(); }
  int process_user() { return 0; }
  bool has_user_namespace() { return false; }

 private:
  cdi::SpecEditor<Model> inner() { return {target.spec}; }
};

static_assert(cdi::Editable<Json>);
static_assert(cdi::Editable<Ordered>);
static_assert(cdi::Editable<Model>);
static_assert(cdi::Editable<cdi::oci::SpecView>);
static_assert(cdi::Editable<Bare>);
static_assert(!cdi::Editable<int>);
static_assert(!cdi::Editable<cdi::Spec>);
static_assert(!cdi::Editable<const Model>);
static_assert(cdi::FullyEditable<Json> && cdi::FullyEditable<Ordered>);
static_assert(cdi::FullyEditable<Model> && cdi::FullyEditable<Text>);
static_assert(cdi::Editable<Bare> && !cdi::FullyEditable<Bare>);

TEST_CASE("The parts that an editor lacks are named") {
  using Names = std::vector<std::string_view>;
  CHECK(cdi::missing_parts<Model>() == Names{});
  CHECK(cdi::missing_parts<Json>() == Names{});
  CHECK(cdi::missing_parts<Text>() == Names{});
  const Names optional{"device_rules()", "device_rules().equals()", "net_devices()",
                       "additional_gids()", "set_intel_rdt()"};
  CHECK(cdi::missing_parts<Bare>() == optional);
  CHECK(cdi::missing_parts<Unfinished>() ==
        Names{"env()", "devices()", "devices().equals()", "process_user()", "device_rules()",
              "device_rules().equals()", "net_devices()", "set_intel_rdt()"});
}
