// Tests for include/cdi/model/fields.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/model/fields.hpp>

#include "../../support/described_types.hpp"

namespace {

using cdi::FieldTraits;
using cdi::Presence;
using cdi::SpecVersion;

/// A type without a field list, such as one of another library.
struct Foreign {
  int x = 0;
};

}  // namespace

template <>
struct cdi::Describe<Foreign> {
  static constexpr void fields(auto& list) { list("x", &Foreign::x); }
};

namespace {

static_assert(cdi::SelfDescribed<Outer> && cdi::Described<Outer> && cdi::Described<const Outer&>);
static_assert(!cdi::SelfDescribed<Foreign> && cdi::Described<Foreign>);
static_assert(!cdi::Described<int> && !cdi::Described<std::string>);

static_assert(FieldTraits{}.when == Presence::omit_empty);
static_assert(FieldTraits{}.lifetime.since == SpecVersion{0, 3, 0});
static_assert(FieldTraits{SpecVersion{1, 1, 0}}.lifetime.since == SpecVersion{1, 1, 0});
static_assert(FieldTraits{SpecVersion{1, 1, 0}}.when == Presence::omit_empty);
static_assert(FieldTraits{cdi::required}.when == Presence::required);

static_assert(SpecVersion{} == SpecVersion{0, 3, 0});
static_assert(SpecVersion{0, 8, 0} < SpecVersion{1, 0, 0} &&
              SpecVersion{1, 0, 0} < SpecVersion{1, 1, 0});
static_assert(SpecVersion{0, 9, 9} < SpecVersion{0, 10, 0}, "numbers, not text");
static_assert(SpecVersion{1, 1, 0} < SpecVersion{1, 1, 1});

TEST_CASE("Fields are visited in document order until the visitor returns false") {
  std::string seen;
  const auto note = [&](const auto& field) {
    seen.append(field.key).append(" ");
    return field.key != "items";
  };
  CHECK_FALSE(cdi::every_field<Outer>(note));
  CHECK(seen == "name inner items ");
  CHECK(cdi::every_field<Inner>([](const auto&) { return true; }));
}

}  // namespace
