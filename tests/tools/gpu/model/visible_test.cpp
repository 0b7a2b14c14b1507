// GPUs that this process may open.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/model/visible.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "../../../support/made_up_host.hpp"

using namespace prepare;

namespace {

Node node_with_mode(std::string path, std::uint32_t mode) {
  Node node;
  node.path = std::move(path);
  node.mode = mode;
  return node;
}

const Node open_node = node_with_mode("/dev/open", 0666);
const Node closed_node = node_with_mode("/dev/closed", 0600);

/// A user who is not root, and a host with an open and a closed node. False if root cannot become
/// another user here.
struct Viewer {
  Viewer() {
    host.put("dev.tab", "/dev/open c 240 0 0666 0 0\n/dev/closed c 240 1 0600 0 0\n");
    tree = host.tree();
    user.emplace();
  }
  explicit operator bool() const { return static_cast<bool>(*user); }

  /// How many GPUs are hidden. Those that are left stay in `found`.
  std::size_t hidden_of(Inventory& found) const {
    std::vector<Inventory> all{std::move(found)};
    const auto hidden = keep_visible(*tree, all);
    found = all.empty() ? Inventory{} : std::move(all.front());
    return hidden;
  }

  MadeUpHost host{};
  std::optional<tools::HostTree> tree{};
  std::optional<UnprivilegedUser> user{};
};

}  // namespace

TEST_CASE("a GPU is hidden if its node is closed") {
  const Viewer viewer;
  if (!viewer) return;
  Inventory found{.gpus = {Gpu{.id = "a"}, Gpu{.id = "b"}}};
  found.gpus[0].whole.nodes = {open_node};
  found.gpus[1].whole.nodes = {open_node, closed_node};
  CHECK(viewer.hidden_of(found) == 1);
  REQUIRE(found.gpus.size() == 1);
  CHECK(found.gpus[0].id == "a");
}

TEST_CASE("a node that runtimes create does not hide a GPU") {
  const Viewer viewer;
  if (!viewer) return;
  Inventory found{.gpus = {Gpu{.id = "a"}}};
  found.gpus[0].whole.nodes = {closed_node};
  found.gpus[0].whole.nodes[0].is_on_host = false;
  CHECK(viewer.hidden_of(found) == 0);
}

TEST_CASE("a closed node that only some profiles get is left out") {
  const Viewer viewer;
  if (!viewer) return;
  Inventory found{.gpus = {Gpu{.id = "a"}}};
  found.gpus[0].whole.nodes = {open_node, closed_node};
  found.gpus[0].whole.nodes[1].profiles = graphics;
  CHECK(viewer.hidden_of(found) == 0);
  CHECK(found.gpus[0].whole.nodes.size() == 1);
}

TEST_CASE("a closed node of iommufd, or of a partition, hides only that") {
  const Viewer viewer;
  if (!viewer) return;
  Inventory found{.gpus = {Gpu{.id = "a", .partitions = {{.suffix = "1"}, {.suffix = "2"}}}}};
  found.gpus[0].partitions[0].nodes = {closed_node};
  found.gpus[0].partitions[1].nodes = {open_node};
  found.gpus[0].iommufd_nodes = {closed_node, open_node};
  CHECK(viewer.hidden_of(found) == 0);
  REQUIRE(found.gpus[0].partitions.size() == 1);
  CHECK(found.gpus[0].partitions[0].suffix == "2");
  CHECK(found.gpus[0].iommufd_nodes.empty());
}

TEST_CASE("a closed control node hides all GPUs of a kind") {
  const Viewer viewer;
  if (!viewer) return;
  Inventory found{.gpus = {Gpu{.id = "a"}}, .control_nodes = {closed_node}};
  found.gpus[0].whole.nodes = {open_node};
  CHECK(viewer.hidden_of(found) == 1);
}
