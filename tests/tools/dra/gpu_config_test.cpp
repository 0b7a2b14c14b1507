// The opaque parameters of claims for GPUs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/claims/gpu_config.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace dra;

namespace {

DeviceParameters parameters_of(const std::string& json) {
  const auto claim =
      cdi::read_json<kubernetes::OpaqueConfig>(R"({"driver":"d","parameters":)" + json + "}");
  REQUIRE(claim);
  return {.value = claim->parameters, .path = "place"};
}

DeviceParameters gpu_config(const std::string& members, std::vector<std::string> requests = {}) {
  auto out =
      parameters_of(R"({"apiVersion": "cdi-dra.local/v1", "kind": "GpuConfig")" + members + "}");
  out.requests = std::move(requests);
  return out;
}

std::string error_of(const DeviceParameters& parameters) {
  const auto config = parse_gpu_config(parameters);
  return config ? "" : to_string(config.error());
}

}  // namespace

TEST_CASE("dra: parameters are read strictly") {
  CHECK(error_of(gpu_config("")).empty());
  CHECK(error_of(gpu_config(R"(, "profile": "video", "hooks": "nvidia", "ldLibraryPath": true)"))
            .empty());
  CHECK(error_of(gpu_config(R"(, "a": 1)")) ==
        "place.a: unknown field: use one of apiVersion, kind, profile, hooks, ldLibraryPath");
  CHECK(error_of(gpu_config(R"(, "hooks": "all")")) == "place.hooks: must be one of none, nvidia");
  CHECK(error_of(gpu_config(R"(, "profile": 1)")) ==
        "place.profile: must be one of compute, graphics, video, all");
  CHECK(error_of(parameters_of("17")) == "place: expected an object, not 17");
  CHECK(error_of(parameters_of(R"({"apiVersion": "cdi-dra.local/v2", "kind": "GpuConfig"})")) ==
        "place: must be a GpuConfig of cdi-dra.local/v1");
}

TEST_CASE("dra: parameters for a request are also for its choices") {
  const auto covers_request = [](std::vector<std::string> requests, const std::string& request) {
    return covers({.requests = std::move(requests)}, request);
  };
  CHECK(covers_request({}, "gpu"));
  CHECK(covers_request({"gpu"}, "gpu"));
  CHECK(covers_request({"gpu"}, "gpu/large"));
  CHECK(covers_request({"gpu/large"}, "gpu/large"));
  CHECK_FALSE(covers_request({"gpu/large"}, "gpu/small"));
  CHECK_FALSE(covers_request({"gpu"}, "gpu2"));
}

TEST_CASE("dra: later parameters count more, and a claim has one set of options") {
  ResourceClaim claim{.devices = {{.request = "a"}, {.request = "b/c"}},
                      .config = {gpu_config(R"(, "profile": "video", "ldLibraryPath": true)"),
                                 gpu_config(R"(, "profile": "compute")", {"a", "b"})}};
  const ClaimOptions defaults{{"profile", "all"}, {"hooks", "none"}, {"ld_library_path", "no"}};
  const auto options = options_for(claim, defaults);
  REQUIRE(options);
  CHECK(*options ==
        ClaimOptions{{"profile", "compute"}, {"hooks", "none"}, {"ld_library_path", "yes"}});
  for (const auto* const setting :
       {R"("profile": "compute")", R"("hooks": "nvidia")", R"("ldLibraryPath": false)"}) {
    CAPTURE(setting);
    claim.config[1] = gpu_config(std::string{", "} + setting, {"b"});
    const auto differ = options_for(claim, defaults);
    REQUIRE_FALSE(differ);
    CHECK(to_string(differ.error()) ==
          R"(the parameters of the requests "a" and "b/c" differ: use a claim for each)");
  }
  CHECK(*options_for({}, defaults) == defaults);
}
