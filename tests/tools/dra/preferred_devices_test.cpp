// Which of the free devices a container should get.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/device_plugin/preferred_devices.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using Names = std::vector<std::string>;

/// Three GPUs on node 0, two on node 1, and one on an unknown node.
const dra::PluginDevices gpus{{"a", {{}, 0}}, {"b", {{}, 0}}, {"c", {{}, 0}},
                              {"d", {{}, 1}}, {"e", {{}, 1}}, {"f", {}}};
const std::set<std::string> all{"a", "b", "c", "d", "e", "f"};

Names preferred(std::size_t size, const std::set<std::string>& included = {},
                const std::set<std::string>& available = all) {
  return dra::preferred_devices({available, included, size}, gpus);
}

}  // namespace

TEST_CASE("Devices of one NUMA node come first, on the smallest that has enough") {
  CHECK(preferred(1) == Names{"d"});
  CHECK(preferred(2) == Names{"d", "e"});
  CHECK(preferred(3) == Names{"a", "b", "c"});
}

TEST_CASE("More than one node has comes from as few as possible") {
  CHECK(preferred(4) == Names{"a", "b", "c", "d"});
  CHECK(preferred(5) == Names{"a", "b", "c", "d", "e"});
  CHECK(preferred(6) == Names{"a", "b", "c", "d", "e", "f"});
}

TEST_CASE("Devices that must be included decide the node") {
  CHECK(preferred(2, {"a"}) == Names{"a", "b"});
  CHECK(preferred(3, {"e"}) == Names{"e", "d", "a"});
  CHECK(preferred(2, {"a", "d"}) == Names{"a", "d"});
}

TEST_CASE("Devices that are not free are not chosen") {
  CHECK(preferred(2, {}, {"a", "d", "e"}) == Names{"d", "e"});
  CHECK(preferred(2, {}, {"a", "d"}) == Names{"a", "d"});
}

TEST_CASE("There may be fewer than asked, or unknown ones") {
  CHECK(preferred(3, {}, {"a"}) == Names{"a"});
  CHECK(preferred(0).empty());
  CHECK(preferred(2, {}, {"x", "a"}) == Names{"a", "x"});
}
