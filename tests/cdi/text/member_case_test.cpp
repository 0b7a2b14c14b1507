// Tests for include/cdi/text/member_case.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/spec.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/text/json.hpp>
#include <cdi/text/member_case.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/read.hpp>

namespace {

using cdi::detail::is_in_other_case;
using cdi::detail::same_key;

std::string utf8(std::uint32_t c) {
  const auto byte = [](std::uint32_t value) {
    return static_cast<char>(value);
  };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), byte(0x80 | (c & 0x3F))};
  const auto last = byte(0x80 | (c & 0x3F));
  if (c < 0x10000) return {byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 0x3F)), last};
  return {byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 0x3F)), byte(0x80 | (c >> 6 & 0x3F)), last};
}

}  // namespace

TEST_CASE("Letters of a name match in any case") {
  CHECK(same_key("additionalGids", "additionalGIDs"));
  CHECK(same_key("", ""));
  CHECK(same_key("hoo\u212As", "HOOKS"));
  CHECK(same_key("mount\u017F", "mountS"));
  CHECK(same_key("s\u017F", "\u017Fs"));
  CHECK_FALSE(same_key("env", "envs"));
  CHECK_FALSE(same_key("envs", "env"));
  CHECK_FALSE(same_key("env", ""));
  CHECK_FALSE(same_key("user_id", "userid"));
  CHECK_FALSE(same_key("kind", "\xE2\x84"));
  CHECK_FALSE(same_key("user", "u\xC5"));
}

TEST_CASE("Characters match a letter if encoding/json of Go folds them into it") {
  // foldRune of encoding/json/fold.go in Go 1.26.8, called for each character, gives a character of
  // ASCII for all letters in ASCII, and for these two of others.
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    const std::string name(1, letter);
    std::vector<std::uint32_t> same;
    for (std::uint32_t c = 0; c <= 0x10FFFF; ++c) {
      if (same_key(utf8(c), name)) same.push_back(c);
    }
    const auto code = static_cast<std::uint32_t>(letter);
    std::vector<std::uint32_t> expected{code - 32, code};
    if (letter == 's') expected.push_back(0x17F);
    if (letter == 'k') expected.push_back(0x212A);
    CAPTURE(name);
    CHECK(same == expected);
  }
}

TEST_CASE("A name in another case is the same name, but is not written the same") {
  CHECK(is_in_other_case("User", "user"));
  CHECK(is_in_other_case("u\u017Fer", "user"));
  CHECK(is_in_other_case("\u017Folaris", "solaris"));
  CHECK(is_in_other_case("\u212Aind", "kind"));
  CHECK_FALSE(is_in_other_case("user", "user"));
  CHECK_FALSE(is_in_other_case("", "user"));
  CHECK_FALSE(is_in_other_case("users", "user"));
  CHECK_FALSE(is_in_other_case("\x15ser", "user"));
}

TEST_CASE("The error names the member as it is written") {
  CHECK(to_string(cdi::detail::wrong_case("User", "user", "process")) ==
        "process.User: the member name is in a different case: write \"user\", and only once");
  CHECK(cdi::detail::wrong_case("Hooks", "hooks", {}).where == "Hooks");
}

TEST_CASE("The models read a member as Go does, and once") {
  const auto spec = cdi::read_json<cdi::oci::Spec>(
      R"({"ociVersion":"1","mount\u017f":[{"de\u017Ftination":"/c"}],"hoo\u212As":{}})");
  REQUIRE(spec);
  REQUIRE(spec->mounts.size() == 1);
  CHECK(spec->mounts[0].destination == "/c");
  CHECK(spec->hooks);
  CHECK(spec->extra.empty());
  const auto twice = cdi::read_json<cdi::ContainerEdits>(R"({"hooks":[],"hoo\u212as":[]})");
  REQUIRE_FALSE(twice);
  CHECK(twice.error().message == "the field appears twice, in different cases");
  CHECK(twice.error().advice == "remove one");
}
