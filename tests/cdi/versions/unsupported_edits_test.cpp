// Tests for include/cdi/versions/unsupported_edits.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/versions/unsupported_edits.hpp>

namespace {

using Texts = std::vector<std::string>;
using cdi::oci::Features;

/// A device with every edit that a runtime may lack.
cdi::ContainerEdits all_edits() {
  cdi::ContainerEdits edits{
      .net_devices = {{"eth0", "eth0"}},
      .hooks = {{.hook_name = "createContainer", .path = "/a"},
                {.hook_name = "poststop", .path = "/a"}},
      .mounts = {
          {.host_path = "/a", .container_path = "/a", .options = {"ro", "rbind", "rro"}},
          {.host_path = "tmpfs", .container_path = "/b", .options = {"size=1k"}, .type = "tmpfs"}}};
  edits.intel_rdt = cdi::IntelRdt{.schemata = {{"L3:0=f"}}, .enable_monitoring = true};
  return edits;
}

/// The members that a runtime lacks, seen from the edits.
Texts lacking(const Features& features, cdi::ContainerEdits edits = all_edits()) {
  cdi::LoadedSpec spec{.path = "/etc/cdi/a.yaml"};
  spec.spec.devices = {{.name = "d", .container_edits = std::move(edits)}};
  const cdi::ResolvedDevice device{&spec, &spec.spec.devices[0]};
  Texts members;
  for (const auto& error : cdi::unsupported_edits({&device, 1}, features)) {
    CHECK(error.code == cdi::Errc::unsupported);
    CHECK(error.position.file == "/etc/cdi/a.yaml");
    CHECK(error.where.starts_with("devices[0].containerEdits."));
    members.push_back(error.where.substr(26));
  }
  return members;
}

}  // namespace

TEST_CASE("A runtime that lacks everything") {
  const Features none{
      .oci_version_max = "1.3.0",
      .hooks = Texts{},
      .mount_options = Texts{},
      .linux_ = cdi::oci::LinuxFeatures{.intel_rdt = cdi::oci::IntelRdtFeatures{.enabled = false},
                                        .net_devices = cdi::oci::FeatureSwitch{.enabled = false}}};
  CHECK(lacking(none) == Texts{"hooks[0].hookName", "hooks[1].hookName", "mounts[0].options[0]",
                               "mounts[0].options[1]", "mounts[0].options[2]", "netDevices",
                               "intelRdt"});
  CHECK(lacking(none, {.env = {"A=1"}, .additional_gids = {4}}).empty());
}

TEST_CASE("Options that a runtime lacks are found in bind mounts of any type") {
  const Features none{.mount_options = Texts{}};
  for (const std::string type : {"", "none", "bind", "rbind"}) {
    CAPTURE(type);
    CHECK(lacking(none, {.mounts = {{.host_path = "/a", .options = {"ro"}, .type = type}}}) ==
          Texts{"mounts[0].options[0]"});
  }
}

TEST_CASE("A runtime that has some") {
  const Features some{
      .oci_version_max = "1.3.0",
      .hooks = Texts{"poststop"},
      .mount_options = Texts{"ro", "rbind"},
      .linux_ = cdi::oci::LinuxFeatures{
          .intel_rdt = cdi::oci::IntelRdtFeatures{.schemata = false, .monitoring = true},
          .net_devices = cdi::oci::FeatureSwitch{.enabled = true}}};
  CHECK(lacking(some) == Texts{"hooks[0].hookName", "mounts[0].options[2]", "intelRdt.schemata"});
}

TEST_CASE("What is not known is reported only when the runtime is older than the member") {
  CHECK(lacking({.oci_version_max = "1.3.0"}).empty());
  CHECK(lacking({.oci_version_max = "2.0"}).empty());
  CHECK(lacking({.oci_version_max = "odd"}).empty());
  const Texts newer{"netDevices", "intelRdt.schemata", "intelRdt.enableMonitoring"};
  CHECK(lacking({.oci_version_max = "1.0.2-dev"}) == newer);
  CHECK(lacking({.oci_version_max = "1.2.1"}) == newer);
  // An old runtime may have a feature early, and say so.
  CHECK(
      lacking({.oci_version_max = "1.2.1",
               .linux_ = cdi::oci::LinuxFeatures{.net_devices =
                                                     cdi::oci::FeatureSwitch{.enabled = true}}}) ==
      Texts{"intelRdt.schemata", "intelRdt.enableMonitoring"});
}

TEST_CASE("Monitoring by the members of older CDI versions is monitoring") {
  const auto lacks = [](cdi::IntelRdt settings) {
    cdi::ContainerEdits edits;
    edits.intel_rdt = std::move(settings);
    return lacking({.oci_version_max = "1.2.1"}, std::move(edits));
  };
  CHECK(lacks({.enable_cmt = true, .enable_mbm = true}) == Texts{"intelRdt.enableCMT"});
  CHECK(lacks({.enable_cmt = false, .enable_mbm = true}) == Texts{"intelRdt.enableMBM"});
  CHECK(lacks({.enable_cmt = false, .enable_mbm = false}).empty());
}

TEST_CASE("Messages name the runtime and what it lacks") {
  cdi::LoadedSpec spec{.path = "/a.yaml", .device_positions = {{4, 1}}};
  spec.spec.devices = {
      {.name = "d", .container_edits = {.hooks = {{.hook_name = "poststop", .path = "/a"}}}}};
  const cdi::ResolvedDevice device{&spec, &spec.spec.devices[0]};
  const auto errors =
      cdi::unsupported_edits({&device, 1}, {.oci_version_max = "1.0.0", .hooks = Texts{}});
  REQUIRE(errors.size() == 1);
  CHECK(to_string(errors[0]) ==
        "/a.yaml:4:1: devices[0].containerEdits.hooks[0].hookName: the runtime runs no hooks at "
        "\"poststop\"");
}
