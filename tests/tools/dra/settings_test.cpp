// The settings of `cdi-dra serve`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/settings.hpp"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "../../support/temp_tree.hpp"

using namespace dra;

TEST_CASE("dra: names of drivers and nodes are DNS names") {
  for (const auto* name : {"a", "gpu.example.com", "a-b.c0", "z9"}) {
    CHECK(driver_fault(name).empty());
    CHECK(node_fault(name).empty());
  }
  for (const auto* name :
       {"", ".", "a.", ".a", "a..b", "-a", "a-", "a-.b", "a.-b", "A", "a/b", "..", "a{"}) {
    CHECK_FALSE(driver_fault(name).empty());
  }
  CHECK(driver_fault(std::string(63, 'a')).empty());
  CHECK_FALSE(driver_fault(std::string(64, 'a')).empty());
  CHECK(node_fault(std::string(64, 'a')).empty());
}

TEST_CASE("dra: the name of a driver is also a vendor of CDI devices, the name of a node is not") {
  for (const auto* name : {"0", "1gpu.example.com"}) {
    CHECK(driver_fault(name) == "must begin with a letter");
    CHECK(node_fault(name).empty());
  }
}

TEST_CASE("dra: an instance is the UID of a pod") {
  for (const auto* text : {"azAZ09-", "33333333-0000-4000-8000-000000000001"})
    CHECK(instance_fault(text).empty());
  for (const auto* text : {"", "a/b", "a.b", "a@", "a[", "a`", "a{", "a:", "a b"})
    CHECK_FALSE(instance_fault(text).empty());
  CHECK(instance_fault(std::string(64, 'a')).empty());
  CHECK_FALSE(instance_fault(std::string(65, 'a')).empty());
}

TEST_CASE("dra: the resource of a device plugin has a domain other than Kubernetes's") {
  for (const auto* text : {"nvidia.com/gpu", "huawei.com/Ascend910", "intel.com/a_b-c.0",
                           "kubernetes.io.example.com/gpu"}) {
    CHECK(resource_fault(text).empty());
  }
  for (const auto* text :
       {"gpu", "/gpu", "nvidia.com/", "nvidia.com/a/b", "nvidia.com/_a", "nvidia.com/a_",
        "nvidia.com/a b", "Nvidia.com/gpu", "kubernetes.io/gpu", "x.kubernetes.io/gpu",
        "my-kubernetes.io/gpu", "requests.nvidia.com/gpu"}) {
    CHECK_FALSE(resource_fault(text).empty());
  }
  CHECK(resource_fault("a.b/" + std::string(63, 'a')).empty());
  CHECK_FALSE(resource_fault("a.b/" + std::string(64, 'a')).empty());
}

TEST_CASE("dra: paths become absolute, and others have defaults") {
  const TempTree tree;
  Settings settings{
      .driver = "gpu.example.com", .kubelet_dir = tree / "k//", .claims = tree / "a/../claims/"};
  settings.host.root = tree / "";
  settings.host.vendor_files = {tree / "./x.toml"};
  complete(settings);
  CHECK(settings.kubelet_dir == tree / "k");
  CHECK(settings.state_dir == tree / "k/plugins/gpu.example.com/claims");
  CHECK(settings.claims == tree / "claims");
  CHECK(settings.host.output_dir == tree / "var/run/cdi");
  CHECK(settings.host.vendor_files.front() == tree / "x.toml");
}

TEST_CASE("dra: a CDI version that was given is not chosen again") {
  prepare::Options options;
  options.max_version = cdi::parse_spec_version("0.6.0");
  const auto warnings = choose_spec_version(options);
  REQUIRE(warnings);
  CHECK(warnings->empty());
  CHECK(options.max_version == cdi::parse_spec_version("0.6.0"));
}

TEST_CASE("dra: the engines decide the CDI version, also on a node whose devices come later") {
  const TempTree tree;
  std::filesystem::create_directories(tree / "usr/bin");
  std::filesystem::create_directories(tree / "var/lib/dpkg");
  tree.put("usr/bin/podman", "");
  tree.put("var/lib/dpkg/status",
           "Package: podman\nStatus: install ok installed\nVersion: 4.9.3-1\n\n");
  prepare::Options options;
  options.root = tree / "";
  REQUIRE(choose_spec_version(options));
  CHECK(options.max_version == cdi::parse_spec_version("0.6.0"));
}

TEST_CASE("dra: the advice for an engine without a version is an option that the driver has") {
  const TempTree tree;
  std::filesystem::create_directories(tree / "usr/bin");
  tree.put("usr/bin/containerd", "");
  prepare::Options options;
  options.root = tree / "";
  const auto warnings = choose_spec_version(options);
  REQUIRE(warnings);
  REQUIRE(warnings->size() == 1);
  CHECK(warnings->front().ends_with(": give --max-version, the newest that it reads"));
}
