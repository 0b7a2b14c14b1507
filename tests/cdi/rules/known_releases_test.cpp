// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>

#include <doctest/doctest.h>

#include <cdi/rules/known_releases.hpp>

using cdi::Release;

static_assert(cdi::known_releases.back() == cdi::current_release);
static_assert(cdi::spec_releases.front() == Release{0, 3, 0});
static_assert(cdi::spec_releases.size() == cdi::known_releases.size() - 2);

TEST_CASE("Only known releases are parsed, with at most one v before them") {
  for (const Release release : cdi::known_releases) {
    CAPTURE(to_string(release));
    CHECK(cdi::parse_release(to_string(release)) == release);
    CHECK(cdi::parse_release("v" + to_string(release)) == release);
  }
  for (const std::string text :
       {"", "v", "1", "1.1", "1.1.0.0", "0.6.1", "0.9.0", "1.2.0", "2.0.0", "1.1.0-rc.1", "01.1.0",
        "vv0.6.0", "V0.6.0", " 0.6.0", "0.6.0 ", "0.6.0\n", "257.1.0"}) {
    CAPTURE(text);
    CHECK_FALSE(cdi::parse_release(text));
  }
}

TEST_CASE("Releases are listed in order") {
  for (std::size_t i = 1; i < cdi::known_releases.size(); ++i) {
    CHECK(cdi::known_releases[i - 1] < cdi::known_releases[i]);
  }
  CHECK(cdi::detail::spec_release_names() ==
        "0.3.0, 0.4.0, 0.5.0, 0.6.0, 0.7.0, 0.8.0, 1.0.0, 1.1.0");
}
