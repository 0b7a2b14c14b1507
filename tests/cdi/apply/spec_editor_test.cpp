// Tests for include/cdi/apply/spec_editor.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

#include <doctest/doctest.h>

#include <cdi/apply/spec_editor.hpp>

namespace {

/// A list with everything that `apply` needs of one.
struct List {
  std::size_t size() const { return 0; }
  std::string_view key(std::size_t) const { return {}; }
  void append(const auto&) {}
  void assign(std::size_t, const auto&) {}
  void rearrange(std::span<const std::size_t>) {}
};

/// A list to append to only.
struct OpenList {
  void append(const auto&) {}
};

/// Types of OCI specs whose editors lack one part each.
enum class Lacks { nothing, env, mounts_order, hooks, process_user, id_mappings };
template <Lacks part>
struct Target {};

}  // namespace

template <Lacks part>
struct cdi::SpecEditor<Target<part>> {
  List env() requires(part != Lacks::env) { return {}; }
  List devices() { return {}; }
  std::conditional_t<part == Lacks::mounts_order, OpenList, List> mounts() { return {}; }
  OpenList hooks(cdi::oci::HookPoint) requires(part != Lacks::hooks) { return {}; }
  cdi::ProcessUser process_user() requires(part != Lacks::process_user) { return {}; }
  bool has_id_mappings() requires(part != Lacks::id_mappings) { return false; }
};

static_assert(cdi::AppendableList<OpenList, cdi::oci::HookView>);
static_assert(!cdi::KeyedList<OpenList, cdi::oci::MountView>);
static_assert(cdi::KeyedList<List, cdi::oci::MountView>);

static_assert(cdi::Editable<Target<Lacks::nothing>>);
static_assert(!cdi::Editable<Target<Lacks::env>>);
static_assert(!cdi::Editable<Target<Lacks::mounts_order>>, "its mounts cannot be sorted");
static_assert(!cdi::Editable<Target<Lacks::hooks>>);
static_assert(!cdi::Editable<Target<Lacks::process_user>>);
static_assert(!cdi::Editable<Target<Lacks::id_mappings>>);
static_assert(!cdi::Editable<int>, "nothing is known of it");

TEST_CASE("Nothing is touched, and the process is root, unless something says so") {
  constexpr cdi::TouchedParts touched;
  CHECK_FALSE((touched.env || touched.devices || touched.net_devices || touched.mounts ||
               touched.intel_rdt || touched.additional_gids));
  for (const bool point : touched.hooks) CHECK_FALSE(point);
  constexpr cdi::ProcessUser user;
  CHECK(user.uid == 0);
  CHECK(user.gid == 0);
}
