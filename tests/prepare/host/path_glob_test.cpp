// Patterns of paths: which are valid, and the paths of literal ones.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../examples/tools/prepare/host/path_glob.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "../../support/made_up_host.hpp"

namespace {

using prepare::PathGlob;

TEST_CASE("patterns that are not valid") {
  for (const auto* const text : {"dev/x", "/dev//x", "/dev/./x", "/dev/../x", "/dev/x/", "",
                                 "/{index}/{index}", "/dev/\n", "/dev/x[", "/dev/[!0-9]"}) {
    CHECK_FALSE(PathGlob::parse(text));
  }
}

TEST_CASE("literal patterns") {
  CHECK(PathGlob::parse("/dev/npu_ctl")->is_literal());
  CHECK_FALSE(PathGlob::parse("/dev/npu{index}")->is_literal());
  CHECK_FALSE(PathGlob::parse("/d?v/npu")->is_literal());
}

TEST_CASE("a literal pattern is its path, without the backslashes") {
  const MadeUpHost host;
  const auto paths = [&](std::string_view text) {
    const auto found = PathGlob::parse(text)->find(host.tree());
    REQUIRE(found);
    return found->size() == 1 ? found->front().path : "";
  };
  CHECK(paths("/dev/npu_ctl") == "/dev/npu_ctl");
  CHECK(paths("/dev/npu\\*") == "/dev/npu*");
  CHECK(paths("/dev/npu*").empty());
}

}  // namespace
