// Tests for tools/kit/versions/engine_defaults.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/versions/engine_defaults.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace {

using tools::CdiSwitch;
using tools::find_engine_defaults;

/// The directories of an engine, separated by spaces; in brackets, the directories without root.
std::string dirs(std::string_view engine) {
  const auto* const row = find_engine_defaults(*tools::parse_engine(engine));
  if (row == nullptr) return "no row";
  std::string out;
  for (const auto dir : row->dirs) {
    if (!dir.empty()) out.append(out.empty() ? "" : " ").append(dir);
  }
  return row->rootless_dirs ? out + " [rootless]" : out;
}

CdiSwitch cdi_switch(std::string_view engine) {
  return find_engine_defaults(*tools::parse_engine(engine))->cdi_switch;
}

}  // namespace

TEST_CASE("Each engine that reads specs has defaults from the same version on") {
  for (const auto& row : tools::engine_versions) {
    CAPTURE(to_string(tools::VersionedEngine{row.engine, row.since}));
    CHECK(find_engine_defaults({row.engine, row.since}) != nullptr);
  }
  for (std::size_t i = 0; i < tools::engine_defaults.size(); ++i) {
    const auto& row = tools::engine_defaults[i];
    CAPTURE(to_string(tools::VersionedEngine{row.engine, row.since}));
    CHECK(tools::find_engine_versions({row.engine, row.since}) != nullptr);
    CHECK(row.dirs[0].starts_with('/'));
    CHECK((row.cdi_switch == CdiSwitch::always) == row.to_switch_on.empty());
    if (i == 0) continue;
    const auto& before = tools::engine_defaults[i - 1];
    CHECK(
        (before.engine < row.engine || (before.engine == row.engine && before.since < row.since)));
  }
}

TEST_CASE("The directories of each version") {
  const std::string both = "/etc/cdi /var/run/cdi";
  CHECK(dirs("podman@5.4.2") == both);
  CHECK(dirs("podman@5.5.0") == "/etc/cdi");
  CHECK(dirs("podman@5.5.2") == "/etc/cdi");
  CHECK(dirs("podman@5.6.0") == both);
  CHECK(dirs("buildah@1.40.1") == "/etc/cdi");
  CHECK(dirs("buildah@1.41.0") == both);
  CHECK(dirs("buildkit@0.34") == both + " /etc/buildkit/cdi");
  CHECK(dirs("docker@29.1") == both);
  CHECK(dirs("docker@29.2") == both + " [rootless]");
  CHECK(dirs("nerdctl@2.1") == both + " [rootless]");
  CHECK(dirs("talos@1.12") == both);
  CHECK(dirs("talos@1.13") == "/run/cdi");
  CHECK(dirs("kata-agent@4.0") == "/var/run/cdi");
  CHECK(dirs("podman@3.4.4") == "no row");
}

TEST_CASE("A setting for directories is named only to versions that obey it") {
  CHECK(find_engine_defaults({"podman", {5, 4, 2}})->to_set_dirs.empty());
  CHECK(find_engine_defaults({"podman", {5, 5, 0}})->to_set_dirs ==
        "cdi_spec_dirs in [engine] of containers.conf");
  CHECK(find_engine_defaults({"buildah", {1, 36, 0}})->to_set_dirs ==
        "cdi_spec_dirs in [engine] of containers.conf");
  CHECK(find_engine_defaults({"kata-agent", {4, 0, 0}})->to_set_dirs.empty());
}

TEST_CASE("The version that switches CDI on by default") {
  CHECK(cdi_switch("docker@28.1.1") == CdiSwitch::off);
  CHECK(cdi_switch("docker@28.2.0") == CdiSwitch::on);
  CHECK(cdi_switch("containerd@1.7.35") == CdiSwitch::off);
  CHECK(cdi_switch("containerd@2.0.0") == CdiSwitch::on);
  CHECK(cdi_switch("talos@1.7.7") == CdiSwitch::off);
  CHECK(cdi_switch("talos@1.8.0") == CdiSwitch::on);
  CHECK(cdi_switch("nvidia-container-runtime@1.20.1") == CdiSwitch::off);
  CHECK(cdi_switch("podman@4.1") == CdiSwitch::always);
}
