// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/cdi/hooks/made_paths.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace {

cdi::RootChanges links(const std::vector<std::string>& paths) {
  cdi::RootChanges changes;
  for (const auto& path : paths) changes.links.push_back({path, "x"});
  return changes;
}

/// Why a path is refused besides others; empty if it is not.
std::string fault(const std::vector<std::string>& known, const std::string& path) {
  detail::MadePaths paths;
  for (const auto& one : known) REQUIRE(paths.add(links({one})));
  const auto added = paths.add(links({path}));
  return added ? std::string{} : added.error().message;
}

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(std::string{folder} + "/");
}

}  // namespace

TEST_CASE("A path above or below a known one is refused, whatever lies between in other orders") {
  CHECK(fault({"/a/b"}, "/a") == R"(hooks make "/a/b" and "/a", and one is inside the other)");
  CHECK(fault({"/a"}, "/a/b/c") == R"(hooks make "/a" and "/a/b/c", and one is inside the other)");
  CHECK_FALSE(fault({"/a", "/a b", "/a-b", "/a.b", "/a!"}, "/a/b").empty());
  CHECK_FALSE(fault({"/a/b", "/a b", "/a-b", "/a.b", "/a!"}, "/a").empty());
  CHECK(fault({"/a", "/a b", "/a-b", "/a!/c"}, "/a").empty());
  CHECK(fault({"/a", "/ab"}, "/a-b").empty());
  CHECK(fault({"/a/b/c"}, "/a/b\xff").empty());
}

TEST_CASE("All pairs and triples of short paths are compared as by their texts") {
  std::vector<std::string> all;
  for (const std::string_view end : {"", "a", "-", "a/b", "-/b", "a-", "a/-", "a/b/c", "\xff"}) {
    all.push_back("/a" + (end.empty() ? std::string{} : "/" + std::string{end}));
    all.push_back("/a" + std::string{end});
  }
  for (const auto& one : all) {
    for (const auto& other : all) {
      if (is_below(one, other) || is_below(other, one)) continue;
      for (const auto& third : all) {
        const bool nested = is_below(third, one) || is_below(one, third) ||
                            is_below(third, other) || is_below(other, third);
        CAPTURE(one);
        CAPTURE(other);
        CAPTURE(third);
        CHECK(fault({one, other}, third).empty() == !nested);
      }
    }
  }
}

TEST_CASE("Of changes with a nested path, none is added") {
  detail::MadePaths paths;
  REQUIRE(paths.add(links({"/a/b"})));
  auto changes = links({"/x", "/y", "/a/b", "/y/z"});
  CHECK_FALSE(paths.add(changes));
  CHECK(paths.add(links({"/x/1", "/y/z", "/a/c", "/a/b"})));
  changes = {.files = {{"/x/1/2", "text"}}};
  CHECK_FALSE(paths.add(changes));
  CHECK(paths.add(links({"/" + std::string(4095, 'a'), "/" + std::string(4095, 'a') + "/b"})));
}
