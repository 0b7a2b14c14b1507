// The attributes of devices, within the limits of the Kubernetes API.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/slices/attributes.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "../../../support/made_up_host.hpp"

using namespace prepare;

namespace {

/// The only device of a host.
struct OneDevice {
  explicit OneDevice(Gpu gpu) : survey{.tree = host.tree()} {
    survey.inventories.push_back({.kind = "nvidia.com/gpu", .gpus = {std::move(gpu)}});
  }

  kubernetes::SliceAttributes attributes() const {
    const auto devices = devices_of(all_gpus(survey).front());
    REQUIRE(devices.size() == 1);
    return attributes_of(survey.tree, devices.front());
  }

  MadeUpHost host{};
  Survey survey;
};

}  // namespace

TEST_CASE("a text that the API does not allow is left out") {
  Attributes out;
  out.text("empty", "");
  out.text("long", std::string(65, 'x'));
  out.text("bytes", "\xff");
  out.text("good", std::string(64, 'x'));
  out.text("good", "another");
  REQUIRE(out.all().size() == 1);
  CHECK(out.all().at("good").text == std::string(64, 'x'));
}

TEST_CASE("a long text ends between letters") {
  Attributes out;
  out.long_text("ascii", std::string(70, 'a'));
  out.long_text("umlaut", std::string(63, 'a') + "\xc3\xa4");
  out.long_text("no_text", std::string(70, '\x80'));
  CHECK(out.all().at("ascii").text == std::string(64, 'a'));
  CHECK(out.all().at("umlaut").text == std::string(63, 'a'));
  CHECK_FALSE(out.all().contains("no_text"));
}

TEST_CASE("a device has as many attributes as fit beside its memory") {
  Attributes out;
  for (std::uint32_t i = 0; i < 40; ++i) out.number("n" + std::to_string(i), std::optional{i});
  CHECK(out.all().size() == 31);
}

TEST_CASE("a MIG instance has its UUID from NVML, and the UUID of its GPU") {
  const OneDevice one{{.id = "GPU-1",
                       .mode = "MIG",
                       .partitions = {{.suffix = ":gi1:ci0", .aliases = {"x", "MIG-2"}}}}};
  const auto found = one.attributes();
  CHECK(found.at("uuid").text == "MIG-2");
  CHECK(found.at("parentUUID").text == "GPU-1");
  CHECK(found.at("type").text == "mig");
}

TEST_CASE("the PCIe root is the first bridge in the path of the function") {
  const OneDevice one{{.id = "GPU-1", .pci_address = "0000:17:00.0"}};
  const auto root = [&](const std::string& place) {
    one.host.make(place);
    one.host.make("sys/bus/pci/devices");
    one.host.link(("../../../../" + place).c_str(), "sys/bus/pci/devices/0000:17:00.0");
    const auto all = one.attributes();
    one.host.remove("sys/bus/pci/devices");
    const auto found = all.find("resource.kubernetes.io/pcieRoot");
    return found == all.end() ? "none" : found->second.text;
  };
  CHECK(root("sys/devices/pci0000:16/0000:16:01.0/0000:17:00.0") == "pci0000:16");
  CHECK(root("sys/devices/LNXSYSTM:00/pci0000:16/0000:17:00.0") == "pci0000:16");
  CHECK(root("sys/devices/virtual/0000:17:00.0") == "none");
  CHECK(root("sys/elsewhere/0000:17:00.0") == "none");
}
