// ResourceSlices for API servers that do not keep all of their members.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/api_server/reduced_slices.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../../../tools/dra/api_server/api_versions.hpp"

using namespace dra;

namespace {

const std::vector<ApiJson>& specs() {
  static const std::vector<ApiJson> all = {
      parse_object(R"({"sharedCounters": [{"name": "g", "counters": {"whole": {"value": "1"}}}]})"),
      parse_object(R"({"devices": [
        {"name": "group", "consumesCounters": [{"counterSet": "g", "counters": {"whole": {}}}]},
        {"name": "iommufd", "consumesCounters": [{"counterSet": "g", "counters": {"whole": {}}}]},
        {"name": "sick", "taints": [{"key": "k"}]},
        {"name": "well", "attributes": {"index": {"int": 1}}}]})")};
  return all;
}

std::vector<std::string> names(const std::vector<ApiJson>& reduced) {
  std::vector<std::string> out;
  for (const auto& spec : reduced) {
    if (spec.contains("sharedCounters")) out.emplace_back("counters");
    for (const auto& device : spec.value("devices", ApiJson::array())) {
      out.push_back(device["name"]);
    }
  }
  return out;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a server with all features gets everything") {
  CHECK(reduced_slices(specs(), {}) == specs());
}

TEST_CASE("without taints, no device that cannot be handed out") {
  CHECK(names(reduced_slices(specs(), {.taints = false})) ==
        Names{"counters", "group", "iommufd", "well"});
}

TEST_CASE("without counters, one of the devices that exclude each other") {
  const auto reduced = reduced_slices(specs(), {.counters = false});
  CHECK(names(reduced) == Names{"group", "sick", "well"});
  CHECK_FALSE(reduced[0]["devices"][0].contains("consumesCounters"));
  CHECK(names(reduced_slices(specs(), {.taints = false, .counters = false})) ==
        Names{"group", "well"});
}

TEST_CASE("what a server kept shows its features") {
  const auto& [counters, devices] = std::pair{specs()[0], specs()[1]};
  CHECK(kept_features(devices, devices) == SliceFeatures{});
  auto kept = devices;
  kept["devices"][2].erase("taints");
  CHECK(kept_features(devices, kept) == SliceFeatures{.taints = false});
  kept = devices;
  for (auto& device : kept["devices"]) device.erase("consumesCounters");
  CHECK(kept_features(devices, kept) == SliceFeatures{.counters = false});
  CHECK(kept_features(counters, ApiJson::object()) == SliceFeatures{.counters = false});
  CHECK(kept_features(ApiJson::object(), ApiJson::object()) == SliceFeatures{});
  for (const auto* const text : {"null", "[]", R"({"devices": 7})", R"({"devices": [7, {}]})"}) {
    CHECK(kept_features(devices, parse_object(text)) ==
          SliceFeatures{.taints = false, .counters = false});
  }
}

TEST_CASE("v1beta1 has the members of devices in `basic`") {
  const auto old = spec_to_version(specs()[1], "v1beta1");
  CHECK(old["devices"][3] ==
        parse_object(R"({"name": "well", "basic": {"attributes": {"index": {"int": 1}}}})"));
  CHECK(spec_to_v1(old) == specs()[1]);
  CHECK(spec_to_version(specs()[1], "v1beta2") == specs()[1]);
  CHECK(spec_to_version(specs()[0], "v1beta1") == specs()[0]);
  for (const auto* const text : {"7", R"({"devices": 7})", R"({"devices": [7, {"basic": 7}]})"}) {
    CHECK_NOTHROW(spec_to_v1(parse_object(text)));
  }
}
