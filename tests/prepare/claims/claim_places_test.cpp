// Places of drivers and devices in the journal of claims.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../examples/tools/prepare/claims/claim_places.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/claims.hpp>
#include <cdi/spec.hpp>

#include "../../support/made_up_host.hpp"

using namespace prepare;

namespace {

using Texts = std::vector<std::string>;

/// The place that a journal gives back.
SurveyOptions recorded(const SurveyOptions& options) {
  Claim claim;
  record_place(claim.options, options);
  CHECK(has_place(claim));
  SurveyOptions out;
  out.driver_root = "/another";
  out.library_dirs = {"/another"};
  use_place(claim, out);
  return out;
}

/// A spec with a mount of a file of the host for all devices, and one for the only device.
cdi::Spec spec_with(const std::string& path, const std::string& of_device) {
  const auto mount_of = [](const std::string& source) {
    cdi::ContainerEdits edits;
    edits.mounts.push_back({.host_path = source, .container_path = "/x"});
    return edits;
  };
  cdi::Spec spec{.container_edits = mount_of(path)};
  spec.devices.push_back({.name = "a", .container_edits = mount_of(of_device)});
  return spec;
}

}  // namespace

TEST_CASE("a claim records its place") {
  SurveyOptions options;
  options.driver_root = "/run/nvidia/driver";
  options.dev_root = "/";
  options.library_dirs = {"/opt/lib", "/lib"};
  options.vendor_files = {"/etc/my npu.toml", "/etc/a:b.toml"};
  CHECK(place_arguments(recorded(options)) == place_arguments(options));
  CHECK(place_arguments(recorded({})) == Texts{});
  CHECK_FALSE(has_place({}));
}

TEST_CASE("a claim without a place has that of the caller") {
  const MadeUpHost host;
  const Survey survey{.tree = host.tree(), .place = {"--dev-root /x"}};
  ClaimSurveys surveys{survey, {{.root = host.path()}}};
  const auto found = surveys.of({});
  REQUIRE(found);
  CHECK(*found == &survey);
}

TEST_CASE("each place is surveyed once, and each that is gone fails") {
  const MadeUpHost host;
  host.make("run/driver");
  const Survey survey{.tree = host.tree()};
  ClaimSurveys surveys{survey, {{.root = host.path()}}};
  const auto claim_in = [](std::string root) {
    SurveyOptions options;
    options.driver_root = std::move(root);
    Claim claim;
    record_place(claim.options, options);
    return claim;
  };
  CHECK(*surveys.of(claim_in("")) == &survey);
  const auto other = surveys.of(claim_in("/run/driver"));
  REQUIRE(other);
  CHECK((*other)->place == Texts{"--driver-root /run/driver"});
  CHECK(*surveys.of(claim_in("/run/driver")) == *other);
  CHECK_FALSE(surveys.of(claim_in("/gone")));
}

TEST_CASE("a spec of another place has none of the files that are still there") {
  const MadeUpHost host;
  host.put("driver/libcuda.so", "");
  const auto tree = host.tree();
  const auto old = spec_with("/gone", "/driver/libcuda.so");
  CHECK(loses_files(tree, old, {}));
  CHECK(loses_files(tree, old, spec_with("/run/socket", "/run/socket")));
  CHECK_FALSE(loses_files(tree, old, spec_with("/run/socket", "/driver/libcuda.so")));
  CHECK_FALSE(loses_files(tree, spec_with("/gone", "/gone"), {}));
  CHECK_FALSE(loses_files(tree, {}, {}));
}
