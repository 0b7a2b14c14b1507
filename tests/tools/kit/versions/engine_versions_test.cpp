// Tests for tools/kit/versions/engine_versions.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/versions/engine_versions.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/rules/minimum_version.hpp>

namespace {

using cdi::SpecVersion;

std::string newest(const std::string& engine) {
  const auto version = tools::newest_spec_version_for(engine);
  return version ? to_string(*version) : "refused: " + to_string(version.error());
}

TEST_CASE("Rows are sorted, each is of known versions, and ends before the next") {
  const auto& rows = tools::engine_versions;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(rows[i].engine);
    CAPTURE(to_string(rows[i].since));
    CHECK_FALSE(rows[i].engine.empty());
    CHECK(rows[i].since <= rows[i].last);
    CHECK(std::count(cdi::known_versions.begin(), cdi::known_versions.end(), rows[i].newest) == 1);
    if (i == 0) continue;
    CHECK(rows[i - 1].engine <= rows[i].engine);
    if (rows[i - 1].engine != rows[i].engine) continue;
    CHECK(rows[i - 1].last < rows[i].since);
  }
}

TEST_CASE("Each row counts from its version on") {
  for (const auto& row : tools::engine_versions) {
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
  CHECK(newest("podman@5.8.6") == "1.0.0");
  CHECK(newest("podman@6.0.0") == "1.1.0");
  CHECK(newest("docker@27.3.1") == "0.7.0");
  CHECK(newest("docker@27.5.1") == "0.8.0");
  CHECK(newest("docker@29.1.5") == "1.0.0");
  CHECK(newest("docker@29.4.0") == "1.1.0");
  CHECK(newest("containerd@1.7.15") == "0.6.0");
  CHECK(newest("containerd@2.0.4") == "0.8.0");
  CHECK(newest("containerd@2.0.5") == "1.0.0");
  CHECK(newest("containerd@2.2.0") == "1.0.0");
  CHECK(newest("containerd@2.2.1") == "1.1.0");
  CHECK(newest("cri-o@1.34.0") == "1.0.0");
  CHECK(newest("cri-o@1.35.0") == "1.1.0");
}

TEST_CASE("A later version may read less") {
  CHECK(newest("docker@25.0.16") == "0.6.0");
  CHECK(newest("docker@25.0.17") == "0.8.0");
  CHECK(newest("docker@26.0.0") == "0.6.0");
  CHECK(newest("talos@1.6.8") == "0.7.0");
  CHECK(newest("talos@1.7.0") == "0.6.0");
}

TEST_CASE("A version that was not looked at is taken to read what the one before it reads") {
  const auto assumed = [](std::string_view engine) {
    return tools::assumption_about(*tools::parse_engine(engine));
  };
  CHECK(newest("podman@7.1.0") == "1.1.0");
  CHECK(assumed("podman@7.1.0") ==
        "podman 7.1.0 is newer than 6.0.0, the newest known version, and is assumed to read the "
        "same versions");
  CHECK(newest("podman@4.10") == "0.6.0");
  CHECK(assumed("podman@4.10") ==
        "podman 4.10.0 is newer than 4.9.5, the newest known before 5.0.0, and is assumed to read "
        "the same versions");
  CHECK(assumed("talos@9.0").find("newer than 1.13.9, the newest known version") !=
        std::string::npos);
  for (const auto* known : {"podman@4.9.5", "docker@25.0.17", "containerd@2.0.1", "podman@3.0"}) {
    CHECK(assumed(known).empty());
  }
}

TEST_CASE("No spec can be written for an engine that reads only versions before 0.3.0") {
  CHECK(newest("podman@4.0.3") == "0.2.0");
  CHECK(tools::written_spec_version_for("podman@4.0.3").error().message ==
        "podman 4.0.3 reads only CDI 0.2.0 and older versions, but specs need at least 0.3.0");
  CHECK(*tools::written_spec_version_for("podman@4.1.0") == SpecVersion{0, 4, 0});
  CHECK(tools::written_spec_version_for("podman@3.4.4").error().code == cdi::Errc::not_found);
  CHECK(tools::written_spec_version_for("podman").error().code == cdi::Errc::invalid);
}

TEST_CASE("A row has the library of its versions, and what it parses with") {
  const auto* row = tools::find_engine_versions({"containerd", {2, 4, 1}});
  REQUIRE(row != nullptr);
  CHECK(row->library == tools::EngineVersion{1, 1, 1});
  CHECK(row->parser == tools::SpecParser::yaml_v3);
  row = tools::find_engine_versions({"containerd", {2, 3, 7}});
  CHECK(row->library == tools::EngineVersion{1, 1, 0});
  CHECK(row->parser == tools::SpecParser::sigs_yaml);
  CHECK(tools::find_engine_versions({"kata-agent", {3, 22, 0}})->parser ==
        tools::SpecParser::serde_yaml);
  CHECK(tools::find_engine_versions({"containerd", {1, 6, 9}}) == nullptr);
  CHECK(tools::find_engine_versions({"lxc", {1, 6, 9}}) == nullptr);
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
}

TEST_CASE("A version older than the first row reads no specs, as far as is known") {
  CHECK(newest("podman@3.4.4") ==
        "refused: podman 3.4.4 is older than 4.0.0, the first version known to read CDI specs");
  CHECK(newest("podman@3").starts_with("refused: podman 3.0.0 is older than"));
  CHECK(newest("docker@24.0.7").starts_with("refused: docker 24.0.7 is older than 25.0.0"));
}

TEST_CASE("An engine is its name and its version") {
  const auto engine = tools::parse_engine("podman@4.3.1+ds1-8");
  REQUIRE(engine);
  CHECK(*engine == tools::VersionedEngine{"podman", {4, 3, 1}});
  CHECK(to_string(*engine) == "podman 4.3.1");
  const auto old = tools::parse_engine("containerd@1.6.20");
  REQUIRE(old);
  const auto version = tools::newest_spec_version_for(*old);
  REQUIRE_FALSE(version);
  CHECK(version.error().code == cdi::Errc::not_found);
  CHECK(version.error().message ==
        "containerd 1.6.20 is older than 1.7.0, the first version known to read CDI specs");
  CHECK(tools::newest_spec_version_for(tools::VersionedEngine{"lxc", {1, 0, 0}}).error().code ==
        cdi::Errc::not_found);
}

TEST_CASE("Unknown engines are told which are known") {
  const std::string known =
      " is not known: use one of apptainer, buildah, buildkit, containerd, cri-o, docker, "
      "kata-agent, kata-shim, nerdctl, nvidia-container-runtime, podman, singularity-ce, talos";
  CHECK(newest("lxc@1.0") == "refused: engine \"lxc\"" + known);
  CHECK(newest("Podman@4.9") == "refused: engine \"Podman\" is not known: did you mean podman?");
  CHECK(newest("") == "refused: engine \"\"" + known);
}

TEST_CASE("What is not a version is refused") {
  for (const std::string text :
       {"podman", "podman@", "podman@v", "podman@vv4.9", "podman@4.", "podman@4..1", "podman@4.9.",
        "podman@4.9.3.", "podman@4.9.3.1", "podman@4.9.3 ", "podman@ 4.9", "podman@-4.9",
        "podman@+4", "podman@four", "podman@4.9.3rc1", "podman@4294967296.0", "podman@4.9@5"}) {
    CAPTURE(text);
    CHECK(newest(text) ==
          "refused: \"" + text +
              "\" is not an engine with a version: write, for example, podman@4.9.3");
  }
}

}  // namespace
