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
  bool has_id_mappings() { return false; }

 private:
  cdi::SpecEditor<Model> inner() { return {target.spec}; }
};

/// The parts that an editor may lack. Without comparisons, a repeated injection repeats hooks.
enum class OptionalPart { none, net_devices, intel_rdt, gids, device_rules, comparisons };

/// A type whose editor lacks one of these parts.
template <OptionalPart part>
struct Without {
  Model spec{};
};

/// A list of hooks that cannot be compared.
struct AddedHooks {
  void append(const auto&) {}
};

template <OptionalPart part>
struct cdi::SpecEditor<Without<part>> {
  Without<part>& target;

  auto env() { return inner().env(); }
  auto devices() { return inner().devices(); }
  auto mounts() { return inner().mounts(); }
  auto hooks(cdi::oci::HookPoint point) {
    if constexpr (part == OptionalPart::comparisons) {
      return AddedHooks{};
    } else {
      return inner().hooks(point);
    }
  }
  cdi::ProcessUser process_user() { return inner().process_user(); }
  bool has_id_mappings() { return inner().has_id_mappings(); }
  auto net_devices() requires(part != OptionalPart::net_devices) { return inner().net_devices(); }
  auto additional_gids() requires(part != OptionalPart::gids) { return inner().additional_gids(); }
  auto device_rules() requires(part != OptionalPart::device_rules) {
    return inner().device_rules();
  }
  void set_intel_rdt(const cdi::oci::LinuxIntelRdtView& settings) requires(
      part != OptionalPart::intel_rdt) {
    inner().set_intel_rdt(settings);
  }

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

TEST_CASE("An editor that lacks any one part is not complete") {
  CHECK(cdi::FullyEditable<Without<OptionalPart::none>>);
  CHECK_FALSE(cdi::FullyEditable<Without<OptionalPart::net_devices>>);
  CHECK_FALSE(cdi::FullyEditable<Without<OptionalPart::intel_rdt>>);
  CHECK_FALSE(cdi::FullyEditable<Without<OptionalPart::gids>>);
  CHECK_FALSE(cdi::FullyEditable<Without<OptionalPart::device_rules>>);
  CHECK_FALSE(cdi::FullyEditable<Without<OptionalPart::comparisons>>);
  CHECK(cdi::Editable<Without<OptionalPart::comparisons>>);
}
