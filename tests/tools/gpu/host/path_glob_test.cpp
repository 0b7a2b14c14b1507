// Patterns of paths: which are valid, and the paths of literal ones.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/host/path_glob.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "../../../support/made_up_host.hpp"

namespace {

using prepare::PathGlob;

TEST_CASE("patterns that are not valid") {
  for (const auto* const text : {"dev/x", "/dev//x", "/dev/./x", "/dev/../x", "/dev/x/", "",
                                 "/{index}/{index}", "/dev/\n", "/dev/x[", "/dev/[!0-9]"}) {
    CHECK(PathGlob{text}.fault());
  }
}

TEST_CASE("literal patterns") {
  CHECK(PathGlob{"/dev/npu_ctl"}.is_literal());
  CHECK_FALSE(PathGlob{"/dev/npu{index}"}.is_literal());
  CHECK_FALSE(PathGlob{"/d?v/npu"}.is_literal());
}

TEST_CASE("a literal pattern is its path, without the backslashes") {
  const MadeUpHost host;
  const auto paths = [&](std::string_view text) {
    const auto found = PathGlob{text}.find(host.tree());
    REQUIRE(found);
    return found->size() == 1 ? found->front().path : "";
  };
  CHECK(paths("/dev/npu_ctl") == "/dev/npu_ctl");
  CHECK(paths("/dev/npu\\*") == "/dev/npu*");
  CHECK(paths("/dev/npu*").empty());
}

TEST_CASE("the number of a match is from {index}, or else the first one") {
  const MadeUpHost host;
  host.put("dev/a7/npu3", "");
  host.put("dev/b/npu4", "");
  host.put("top1", "");
  const auto numbers = [&](std::string_view text) {
    std::string out;
    const auto found = PathGlob{text}.find(host.tree());
    REQUIRE(found);
    for (const auto& match : *found) out += match.number.value_or("-");
    return out;
  };
  CHECK(numbers("/dev/a*/npu{index}") == "3");
  CHECK(numbers("/dev/a{index}/npu*") == "7");
  CHECK(numbers("/dev/*/npu*") == "74");
  CHECK(numbers("/top*") == "1");
}

TEST_CASE("names that are not plain are not matches") {
  const MadeUpHost host;
  host.put("dev/npu\xff", "");
  CHECK(PathGlob{"/dev/npu*"}.find(host.tree())->empty());
}

TEST_CASE("a search ends when it looks at too many names") {
  const MadeUpHost host;
  host.make("dev");
  for (std::size_t i = 0; i <= PathGlob::max_names; ++i) host.put("dev/" + std::to_string(i), "");
  CHECK_FALSE(PathGlob{"/dev/npu*"}.find(host.tree()));
}

TEST_CASE("a text matches a pattern for a name") {
  CHECK(prepare::matches_glob("0x1ae*", "0x1ae0"));
  CHECK_FALSE(prepare::matches_glob("0x1ae*", "0x1af0"));
  CHECK_FALSE(prepare::matches_glob("[", "["));
}

}  // namespace
