// Tests for include/cdi/model/borrowed.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/borrowed.hpp>
#include <cdi/model/spec.hpp>

namespace {

/// A type that keeps unknown members.
struct Extensible {
  std::string_view known{};
  cdi::ExtraOf<cdi::Borrowed> extra = cdi::no_items;

  static constexpr void fields(auto& list) { list("known", &Extensible::known); }
};

/// A type that holds itself, and one that points into others' text.
struct Node {
  std::string name{};
  std::vector<Node> nodes{};

  static constexpr void fields(auto& list) {
    list("name", &Node::name);
    list("nodes", &Node::nodes);
  }
};
struct Pointing {
  std::vector<Node> nodes{};
  std::map<std::string, std::optional<std::string_view>> texts{};

  static constexpr void fields(auto& list) {
    list("nodes", &Pointing::nodes);
    list("texts", &Pointing::texts);
  }
};

TEST_CASE("A type is borrowed when it, or a member at any depth, points into text of others") {
  using cdi::detail::is_borrowed;
  CHECK(is_borrowed<std::string_view>);
  CHECK_FALSE(is_borrowed<std::string>);
  CHECK_FALSE(is_borrowed<int>);
  CHECK_FALSE(is_borrowed<Node>);
  CHECK(is_borrowed<Pointing>);
  CHECK(is_borrowed<Extensible>);
  CHECK(is_borrowed<cdi::BasicAnyMember<cdi::Borrowed>>);
  CHECK_FALSE(is_borrowed<cdi::AnyMember>);
  CHECK(is_borrowed<cdi::SpecView>);
  CHECK_FALSE(is_borrowed<cdi::Spec>);
}

}  // namespace
