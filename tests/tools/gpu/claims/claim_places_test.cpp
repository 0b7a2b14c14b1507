// Places of drivers and devices in the journal of claims.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/claims/claim_places.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/claims.hpp>

#include "../../../support/made_up_host.hpp"

using namespace prepare;

namespace {

using Texts = std::vector<std::string>;

/// The place that a journal gives back.
SurveyOptions recorded(const SurveyOptions& options) {
  Claim claim;
  record_place(claim.options, options);
  SurveyOptions out;
  out.driver_root = "/another";
  out.library_dirs = {"/another"};
  use_place(claim, out);
  return out;
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
}

TEST_CASE("each place is surveyed once, and each that is gone fails") {
  const MadeUpHost host;
  host.make("run/driver");
  const Survey survey{.tree = host.tree()};
  ClaimSurveys surveys{survey, {{.root = host.path()}, {}}, JournalPlace::here};
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

TEST_CASE("a journal under a root names vendor files of that host") {
  const MadeUpHost host;
  const MadeUpHost outside;
  const std::string kind = "devices = \"/dev/npu*\"\nkind = ";
  host.put("etc/npu.toml", kind + "\"acme.com/inside\"\n");
  outside.put("npu.toml", kind + "\"acme.com/outside\"\n");
  const auto given = outside.path() + "/npu.toml";
  const Survey survey{.tree = host.tree(), .place = {"--vendor-file " + given, "--dev-root /x"}};
  const Survey no_options{.tree = host.tree()};
  const auto kinds = [&](const Survey& caller, JournalPlace place, std::string file) {
    SurveyOptions options;
    options.vendor_files = {std::move(file)};
    Claim claim;
    record_place(claim.options, options);
    ClaimSurveys surveys{caller, {{.root = host.path()}, {}}, place};
    const auto found = surveys.of(claim);
    return found ? (*found)->vendor_kinds : Texts{to_string(found.error())};
  };
  const Texts inside{"acme.com/inside"};
  CHECK(kinds(survey, JournalPlace::under_root, host.path() + "/etc/npu.toml") == inside);
  CHECK(kinds(survey, JournalPlace::under_root, "/etc/npu.toml") == inside);
  CHECK(kinds(no_options, JournalPlace::under_root, given) ==
        Texts{given + ": No such file or directory: if it is not under the root, give it as "
                      "--vendor-file"});
  CHECK(kinds(survey, JournalPlace::under_root, given) == Texts{"acme.com/outside"});
  CHECK(kinds(no_options, JournalPlace::here, given) == Texts{"acme.com/outside"});
}
