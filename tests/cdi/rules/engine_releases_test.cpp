// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include <cdi/rules/engine_releases.hpp>
#include <cdi/rules/minimum_version.hpp>

namespace {

using cdi::Release;

std::string newest(const std::string& engine) {
  const auto release = cdi::newest_release_for(engine);
  return release ? to_string(*release) : "refused: " + to_string(release.error());
}

TEST_CASE("Rows are sorted, releases known, and every row has a source") {
  const auto& rows = cdi::engine_releases;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(rows[i].engine);
    CAPTURE(to_string(rows[i].since));
    CHECK_FALSE(rows[i].engine.empty());
    CHECK_FALSE(rows[i].source.empty());
    CHECK(rows[i].newest >= Release{});
    CHECK(std::count(cdi::known_releases.begin(), cdi::known_releases.end(), rows[i].newest) == 1);
    if (i == 0) continue;
    CHECK(rows[i - 1].engine <= rows[i].engine);
    if (rows[i - 1].engine != rows[i].engine) continue;
    CHECK(rows[i - 1].since < rows[i].since);
    CHECK(rows[i - 1].newest <= rows[i].newest);
  }
}

TEST_CASE("Each row counts from its version on") {
  for (const auto& row : cdi::engine_releases) {
    const auto asked = std::string{row.engine} + "@" + to_string(row.since);
    CAPTURE(asked);
    CHECK(newest(asked) == to_string(row.newest));
    CHECK(newest(asked + "+ds1-1") == to_string(row.newest));
  }
}

TEST_CASE("A version between two rows reads what the older one reads") {
  CHECK(newest("podman@4.9.3") == "0.6.0");
  CHECK(newest("podman@5.0.3") == "0.6.0");
  CHECK(newest("podman@5.1.0") == "0.7.0");
  CHECK(newest("docker@27.5.1") == "0.7.0");
  CHECK(newest("containerd@1.7.15") == "0.5.0");
  CHECK(newest("containerd@2.0.4") == "0.8.0");
  CHECK(newest("containerd@2.0.5") == "1.0.0");
  CHECK(newest("containerd@2.0.11") == "1.0.0");
  CHECK(newest("containerd@2.2.0") == "1.0.0");
  CHECK(newest("containerd@2.2.1") == "1.1.0");
  CHECK(newest("cri-o@1.34.0") == "1.0.0");
  CHECK(newest("cri-o@1.35.0") == "1.1.0");
  CHECK(newest("podman@99") == to_string(cdi::engine_releases.back().newest));
}

TEST_CASE("Versions are written in full or in part, with what a distribution appends") {
  CHECK(newest("podman@4.3.1") == "0.5.0");
  CHECK(newest("podman@v4.3.1") == "0.5.0");
  CHECK(newest("podman@4.3.1+ds1-8+deb12u1") == "0.5.0");
  CHECK(newest("containerd@1.7.29-0ubuntu1~24.04") == "0.8.0");
  CHECK(newest("podman@4.3.1~rc1") == "0.5.0");
  CHECK(newest("podman@4.3") == "0.5.0");
  CHECK(newest("podman@4.2.9") == "0.4.0");
  CHECK(newest("podman@5") == "0.6.0");
  CHECK(newest("podman@4.10") == "0.6.0");
}

TEST_CASE("A version older than the first row reads no specs, as far as is known") {
  CHECK(newest("podman@4.0.3") ==
        "refused: podman 4.0.3 is older than 4.1.0, the first version known to read CDI specs");
  CHECK(newest("podman@4").starts_with("refused: podman 4.0.0 is older than"));
  CHECK(newest("docker@24.0.7").starts_with("refused: docker 24.0.7 is older than 25.0.0"));
}

TEST_CASE("An engine is its name and its version") {
  const auto engine = cdi::parse_engine("podman@4.3.1+ds1-8");
  REQUIRE(engine);
  CHECK(*engine == cdi::VersionedEngine{"podman", {4, 3, 1}});
  CHECK(to_string(*engine) == "podman 4.3.1");
  const auto old = cdi::parse_engine("containerd@1.6.20");
  REQUIRE(old);
  const auto release = cdi::newest_release_for(*old);
  REQUIRE_FALSE(release);
  CHECK(release.error().code == cdi::Errc::not_found);
  CHECK(release.error().message ==
        "containerd 1.6.20 is older than 1.7.0, the first version known to read CDI specs");
  CHECK(cdi::newest_release_for(cdi::VersionedEngine{"lxc", {1, 0, 0}}).error().code ==
        cdi::Errc::not_found);
}

TEST_CASE("Unknown engines are told which are known") {
  const std::string known = " is not known: use one of containerd, cri-o, docker, podman";
  CHECK(newest("lxc@1.0") == "refused: engine \"lxc\"" + known);
  CHECK(newest("Podman@4.9") == "refused: engine \"Podman\"" + known);
  CHECK(newest("") == "refused: engine \"\"" + known);
}

TEST_CASE("What is no version is refused") {
  for (const std::string text :
       {"podman", "podman@", "podman@v", "podman@vv4.9", "podman@4.", "podman@4..1", "podman@4.9.",
        "podman@4.9.3.", "podman@4.9.3.1", "podman@4.9.3 ", "podman@ 4.9", "podman@-4.9",
        "podman@+4", "podman@four", "podman@4.9.3rc1", "podman@4294967296.0", "podman@4.9@5"}) {
    CAPTURE(text);
    CHECK(newest(text) ==
          "refused: \"" + text +
              "\" does not name an engine and its version: write, for example, podman@4.9.3");
  }
}

}  // namespace
