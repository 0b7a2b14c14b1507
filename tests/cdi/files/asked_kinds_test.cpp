// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/asked_kinds.hpp>
#include <cdi/files/spec_text.hpp>

#include "kind_texts.hpp"

namespace {

bool can_be_in(const std::vector<std::string>& names, std::string_view text) {
  return cdi::detail::AskedKinds{names}.can_be_in(text);
}

}  // namespace

TEST_CASE("A spec can be of its kind, however the kind is written") {
  for (const auto& one : kind_texts("v.com/gpu", "a", "A=1")) {
    CAPTURE(one.what);
    const auto name = std::string{"x"} + one.format;
    const auto spec = cdi::parse_spec(one.text, name, *cdi::format_of(name));
    REQUIRE_MESSAGE(spec, (spec ? "" : to_string(spec.error())));
    CHECK(spec->spec.kind == "v.com/gpu");
    CHECK(can_be_in({"w.org/nic=0", "v.com/gpu=a"}, one.text));
  }
}

TEST_CASE("A text without the bytes of a kind, and without other ways to write it, is not of it") {
  constexpr std::string_view text =
      "cdiVersion: 1.0.0\nkind: v.com/gpu\ndevices:\n- name: 'it''s # %41 & > |'\n";
  CHECK_FALSE(can_be_in({}, text));
  CHECK_FALSE(can_be_in({"v.com/nic=a", "v.com/gpus=a"}, text));
  CHECK(can_be_in({"v.com/gp=a"}, text));  // the bytes are there
  for (const char other : {'\\', '!', '\0'}) {
    const std::string with = std::string{text}.append(1, other);
    CHECK(can_be_in({"v.com/nic=a"}, with));
    CHECK_FALSE(can_be_in({}, with));
  }
}

TEST_CASE("For many kinds, no text is searched") {
  std::vector<std::string> names;
  for (char vendor = 'a'; vendor <= 'h'; ++vendor) {
    names.push_back(std::string{vendor} + ".com/c=d");
    names.push_back(std::string{vendor} + ".com/c=e");
  }
  CHECK_FALSE(can_be_in(names, "kind: v.com/gpu"));
  names.emplace_back("i.com/c=d");
  CHECK(can_be_in(names, "kind: v.com/gpu"));
}

TEST_CASE("Any name may be asked for") {
  CHECK(can_be_in({""}, "x"));
  CHECK(can_be_in({"=a"}, "x"));
  CHECK_FALSE(can_be_in({"v.com/gpu"}, "x"));
  CHECK(can_be_in({"v.com/gpu=a=b", "v.com/gpu=a"}, "kind: v.com/gpu"));
}
