// What runtimes can do, by name and version.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/nri/runtime_facts.hpp"

#include <string>

#include <doctest/doctest.h>

namespace {

nri::RuntimeFacts facts(const std::string& name, const std::string& version,
                        const std::string& nri_version = "") {
  nri::ConfigureRequest request;
  request.set_runtime_name(name);
  request.set_runtime_version(version);
  request.set_nri_version(nri_version);
  return nri::facts_of(request);
}

}  // namespace

TEST_CASE("nri: versions are read with and without a v, and with missing or further parts") {
  CHECK(nri::read_version("v2.1.0-rc.1") == nri::Version{2, 1, 0});
  CHECK(nri::read_version("1.7.30+unknown") == nri::Version{1, 7, 30});
  CHECK(nri::read_version("2") == nri::Version{2, 0, 0});
  CHECK(nri::read_version("") == nri::Version{});
  CHECK(nri::read_version("unknown") == nri::Version{});
  CHECK(nri::read_version("99999999999.1") == nri::Version{});
}

TEST_CASE("nri: runtimes with an injector for names") {
  CHECK_FALSE(facts("containerd", "1.7.29").injects_names);
  CHECK_FALSE(facts("containerd", "v1.7.30").injects_names);  // by default, it refuses them
  CHECK_FALSE(facts("containerd", "1.7.99").injects_names);
  CHECK_FALSE(facts("containerd", "2.0.11").injects_names);
  CHECK(facts("containerd", "2.1.0").injects_names);
  CHECK_FALSE(facts("cri-o", "1.33.9").injects_names);
  CHECK(facts("cri-o", "1.34.0").injects_names);
  CHECK_FALSE(facts("other", "9.9.9").injects_names);
}

TEST_CASE("nri: runtimes that inject the devices of a container's own annotations") {
  CHECK_FALSE(facts("containerd", "1.7.30").injects_annotations);
  CHECK(facts("containerd", "2.0.0").injects_annotations);
  CHECK(facts("cri-o", "1.31.0").injects_annotations);
  CHECK_FALSE(facts("other", "9.9.9").injects_annotations);
}

TEST_CASE("nri: what an adjustment may have, by the runtime or by its NRI") {
  CHECK_FALSE(facts("containerd", "2.1.9").has_device_rules);
  CHECK(facts("containerd", "2.2.0").has_device_rules);
  CHECK_FALSE(facts("containerd", "2.2.0").has_net_devices);
  CHECK(facts("containerd", "2.2.1").has_net_devices);
  CHECK_FALSE(facts("cri-o", "1.33.13").has_device_rules);
  CHECK(facts("cri-o", "1.34.0").has_device_rules);
  CHECK_FALSE(facts("cri-o", "1.34.11").has_net_devices);
  CHECK(facts("cri-o", "1.35.0").has_net_devices);
  CHECK(facts("cri-o", "unknown", "v0.12.3").has_device_rules);
  CHECK(facts("other", "1", "0.11.0").has_net_devices);
  CHECK_FALSE(facts("other", "1", "0.10.9").has_net_devices);
}
