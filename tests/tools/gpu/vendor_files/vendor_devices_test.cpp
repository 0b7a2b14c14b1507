// What it costs to find the devices of a vendor file.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/vendor_files/vendor_devices.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "../../../../tools/gpu/vendor_files/vendor_reader.hpp"
#include "../../../../tools/kit/host/read_log.hpp"
#include "../../../support/made_up_host.hpp"

using namespace prepare;

namespace {

/// A host with devices that have a node of another driver each.
class HostWithSiblings : public MadeUpHost {
 public:
  explicit HostWithSiblings(std::size_t devices) {
    std::string table;
    for (std::size_t i = 0; i < devices; ++i) {
      const auto parent = "sys/devices/npu" + std::to_string(i);
      make(parent);
      for (const auto& [name, major] : {std::pair{"npu", "240"}, std::pair{"dma", "241"}}) {
        const auto number = std::string{major} + ":" + std::to_string(i);
        const auto node = "dev/" + std::string{name} + std::to_string(i);
        put(node, "");
        table += "/" + node + " c " + major + " " + std::to_string(i) + " 0666 0 0\n";
        make("sys/dev/char/" + number);
        link(("../../../devices/npu" + std::to_string(i)).c_str(),
             "sys/dev/char/" + number + "/device");
      }
    }
    put("dev.tab", table);
  }
};

/// The look-ups to find so many devices, of which each gets its sibling.
std::size_t look_ups(std::size_t devices) {
  const HostWithSiblings host{devices};
  const auto file = parse_vendor_file(
      "kind = \"acme.com/npu\"\ndevices = \"/dev/npu{index}\"\nsiblings = \"/dev/dma*\"\n", "f");
  REQUIRE(file);
  const auto log = std::make_shared<tools::ReadLog>();
  const auto tree = tools::HostTree::open(host.path(), log);
  REQUIRE(tree);
  const auto found = VendorSearch{*tree, *file}.run();
  REQUIRE(found.gpus.size() == devices);
  for (const auto& gpu : found.gpus) {
    REQUIRE(gpu.whole.nodes.size() == 2);
    CHECK(gpu.whole.nodes[1].path == "/dev/dma" + std::to_string(*gpu.index));
  }
  return log->count();
}

}  // namespace

TEST_CASE("twice as many devices with siblings take twice as many look-ups") {
  const auto few = look_ups(10);
  const auto twice = look_ups(20);
  const auto more = look_ups(30);
  CHECK(twice > few);
  CHECK(more - twice == twice - few);
}
