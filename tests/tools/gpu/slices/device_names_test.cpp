// The names of devices in Kubernetes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/slices/device_names.hpp"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "../../../support/made_up_host.hpp"

using namespace prepare;

namespace {

constexpr std::string_view uuid = "18db0e85-99e9-c746-8531-ffeb86328b39";

bool is_dns_label(std::string_view name) {
  return !name.empty() && name.size() <= 63 && name.front() != '-' && name.back() != '-' &&
         name.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos;
}

/// A host with devices of several vendors: whole, in parts, at one place, and with a fault.
struct Machine {
  Machine() : survey{.tree = host.tree()} {
    add("nvidia.com/gpu", {.id = "GPU-" + std::string{uuid},
                           .pci_address = "0000:17:00.0",
                           .mode = "MIG",
                           .partitions = {{.suffix = ":gi1:ci0"}, {.suffix = ":gi2:ci0"}}});
    add("amd.com/gpu", {.id = "a1b2c3d4e5f60718",
                        .pci_address = "0000:83:00.0",
                        .mode = "CPX/NPS4",
                        .partitions = {{.suffix = "-p0"}, {.suffix = "-p1"}}});
    Gpu broken{.pci_address = "0000:03:00.0"};
    broken.whole.left_out = Problem{Fault::no_render_node, "it has no render node"};
    add("intel.com/gpu", std::move(broken));
    add("intel.com/npu", {.pci_address = "0000:00:0b.0"});
    add("vfio.local/gpu",
        {.pci_address = "0000:65:00.0", .iommufd_nodes = {{{.path = "/dev/vfio/devices/vfio0"}}}});
    add("drm.local/gpu", {.id = "all_of-it"});
    add("acme.example/npu", {.id = "SN_1", .pci_address = "0000:03:00.0"});
    add("acme.example/npu2", {.id = std::string(200, 'x')});
  }

  void add(std::string kind, Gpu gpu) {
    Inventory found{.kind = std::move(kind)};
    found.gpus.push_back(std::move(gpu));
    survey.inventories.push_back(std::move(found));
  }

  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& device : all_devices(survey)) out.push_back(dns_name(device));
    return out;
  }

  MadeUpHost host{};
  Survey survey;
};

}  // namespace

TEST_CASE("each device has a DNS label of its own, which finds it again") {
  const Machine machine;
  const auto devices = all_devices(machine.survey);
  CHECK(devices.size() == 11);
  std::set<std::string> seen;
  for (const auto& device : devices) {
    const auto name = dns_name(device);
    CAPTURE(name);
    CHECK(is_dns_label(name));
    CHECK(seen.insert(name).second);
    const auto found = device_named(machine.survey, name);
    REQUIRE(found);
    CHECK(cdi_name(*found) == cdi_name(device));
  }
}

TEST_CASE("the names of detected devices are plain") {
  const auto names = Machine{}.names();
  CHECK(names[0] == "nvidia-gpu-" + std::string{uuid} + "-gi1-ci0");
  CHECK(names[2] == "amd-gpu-a1b2c3d4e5f60718-p0");
  CHECK(names[4] == "intel-gpu-0000-03-00-0");
  CHECK(names[5] == "intel-npu-0000-00-0b-0");
  CHECK(names[6] == "vfio-gpu-0000-65-00-0");
  CHECK(names[7] == "vfio-gpu-0000-65-00-0-iommufd");
}

TEST_CASE("names that lose letters end with a hash, which must never change") {
  const auto names = Machine{}.names();
  CHECK(names[8] == "drm-gpu-all-of-it-00277245bc94");
  CHECK(names[9] == "acme-npu-sn-1-de1a55abb4d8");
  CHECK(names[10].size() == 63);
  CHECK(dns_label("acme.example/npu", "a_b") != dns_label("acme.example/npu", "a-b"));
  CHECK(dns_label("acme.example/npu", "A") != dns_label("acme.example/npu", "a"));
  CHECK(dns_label("acme.example/npu", "a") != dns_label("acme.test/npu", "a"));
  CHECK(dns_label("nvidia.com/gpu", "GPU-A") != dns_label("nvidia.com/gpu", "GPU-a"));
}

TEST_CASE("a name is a label whatever the kind and the name are") {
  for (const std::string_view kind : {"a/b", "a.b/c.d", "A/_", "9.x/9"}) {
    for (const std::string& name : {std::string{"_"}, std::string{"x"}, std::string(63, '.')}) {
      CAPTURE(kind);
      CHECK(is_dns_label(dns_label(kind, name)));
    }
  }
}

TEST_CASE("a GPU has the name of its address until its driver knows the id") {
  Machine machine;
  auto& gpu = machine.survey.inventories[0].gpus[0];
  const auto id = std::exchange(gpu.id, "");
  const auto before = machine.names()[0];
  CHECK(before == "nvidia-gpu-0000-17-00-0-gi1-ci0");
  gpu.id = id;
  const auto found = find_by_dns_name(machine.survey, before);
  REQUIRE(found);
  CHECK(found->name() == id + ":gi1:ci0");
}

TEST_CASE("why a name means no device") {
  Machine machine;
  const auto reason = [&](const std::string& name) {
    const auto found = find_by_dns_name(machine.survey, name);
    return found ? "" : cdi::to_string(found.error());
  };
  CHECK(reason("intel-gpu-0000-03-00-0").find("no render node") != std::string::npos);
  CHECK(reason("amd-gpu-a1b2c3d4e5f60718").find("request amd-gpu-a1b2c3d4e5f60718-p0 or ") !=
        std::string::npos);
  CHECK(reason("gpu-0").find("no device on this host has that name") != std::string::npos);
  CHECK(reason("").find("no device on this host") != std::string::npos);
  machine.survey.unreadable.emplace_back("0000:01:00.0");
  CHECK(reason("gpu-0").find("cannot read class") != std::string::npos);
  CHECK(reason("intel-npu-0000-00-0b-0").empty());
}

TEST_CASE("letters at the ends that labels cannot have are replaced by a hash") {
  for (const std::string& name : {std::string{"-a"}, std::string{"a-"}, std::string{},
                                  std::string{"a{"}, std::string(70, 'a')}) {
    CAPTURE(name);
    CHECK(is_dns_label(dns_label("nvidia.com/gpu", name)));
    CHECK(dns_label("nvidia.com/gpu", name) != dns_label("nvidia.com/gpu", "a"));
  }
}

TEST_CASE("a dot at the end is left out") {
  CHECK(dns_label("nvidia.com/gpu", "a.") == "nvidia-gpu-a");
}

TEST_CASE("both names of an iommufd device end with its way") {
  Machine machine;
  machine.survey.inventories[4].gpus[0].id = "known";
  for (const auto& device : all_devices(machine.survey)) {
    if (!device.by_iommufd) continue;
    for (const auto& name : dns_names(device)) CHECK(name.ends_with("-iommufd"));
    CHECK(dns_names(device).size() == 2);
  }
}
