// Tests for include/cdi/oci/features.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/json.hpp>
#include <cdi/oci/features.hpp>

TEST_CASE("A features document is read, with all other members kept") {
  const std::string text =
      R"({"ociVersionMin":"1.0.0","ociVersionMax":"1.3.0","hooks":["poststop"],)"
      R"("mountOptions":["ro"],"linux":{"intelRdt":{"enabled":true,"schemata":false,)"
      R"("monitoring":true,"future":1},"netDevices":{"enabled":false},"cgroup":{"v1":true}},)"
      R"("annotations":{"a":"b"}})";
  const auto features = cdi::read_json<cdi::oci::Features>(text);
  REQUIRE(features);
  CHECK(features->oci_version_max == "1.3.0");
  CHECK(features->hooks == std::vector<std::string>{"poststop"});
  CHECK(features->linux_->intel_rdt->schemata == false);
  CHECK(features->linux_->net_devices->enabled == false);
  CHECK(cdi::write_json(*features, -1).has_value());
  CHECK(*cdi::write_json(*features, -1) == text);
}

TEST_CASE("Absent and null members are not known, an empty list is") {
  const auto features =
      cdi::read_json<cdi::oci::Features>(R"({"ociVersionMax":"1.0.2","hooks":null,)"
                                         R"("mountOptions":[],"linux":{"intelRdt":null}})");
  REQUIRE(features);
  CHECK_FALSE(features->hooks);
  CHECK(features->mount_options);
  CHECK_FALSE(features->linux_->intel_rdt);
}

TEST_CASE("What is not a features document is refused") {
  const auto features = cdi::read_json<cdi::oci::Features>(R"({"ociVersion":"1.0.2"})", "f");
  REQUIRE_FALSE(features);
  CHECK(to_string(features.error()) ==
        "f:1:1: ociVersionMax: the required field is missing: add it");
}
