// The edits of a plan as the structs of the C library.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../src/c/edits.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace {

using c_library::EditsBox;

/// The box with the structs of a plan.
std::unique_ptr<EditsBox> filled(cdi::Plan plan) {
  auto box = std::make_unique<EditsBox>();
  box->storage.plan = std::move(plan);
  c_library::fill(*box);
  return box;
}

cdi::Plan example() {
  cdi::Plan plan;
  plan.env = {{"A=old", {}, true}, {"A=b", {}}};
  plan.device_nodes = {{{.path = "/dev/a",
                         .host_path = "/dev/b",
                         .type = "c",
                         .major = 5,
                         .minor = 6,
                         .file_mode = 0640,
                         .permissions = "rw",
                         .gid = 7},
                        {.name = "v/c=d", .file = "/s.yaml", .line = 3}}};
  plan.mounts = {{{.host_path = "/h", .container_path = "/c", .options = {"ro", "bind"}}, {}}};
  plan.hooks = {{{.hook_name = "poststop", .path = "/p", .args = {"p", "-x"}}, {}}};
  plan.additional_gids = {{9, {}}};
  return plan;
}

}  // namespace

TEST_CASE("The structs have what the plan has, except for what is overridden") {
  const auto box = filled(example());
  const auto& edits = box->object.object;
  CHECK(edits.size == sizeof edits);
  REQUIRE(edits.env.count == 1);
  CHECK(edits.env.items[0] == std::string{"A=b"});
  REQUIRE(edits.node_count == 1);
  const auto& node = *edits.nodes[0];
  CHECK(node.path == std::string{"/dev/a"});
  CHECK(node.host_path == std::string{"/dev/b"});
  CHECK(node.type == 'c');
  CHECK(node.major == 5);
  CHECK(node.minor == 6);
  CHECK(node.has_file_mode);
  CHECK(node.file_mode == 0640);
  CHECK_FALSE(node.has_uid);
  CHECK(node.has_gid);
  CHECK(node.gid == 7);
  CHECK(node.access == std::string{"rw"});
  CHECK(node.origin == std::string{"v/c=d (/s.yaml:3)"});
  REQUIRE(edits.mount_count == 1);
  REQUIRE(edits.mounts[0]->options.count == 2);
  CHECK(edits.mounts[0]->options.items[1] == std::string{"bind"});
  REQUIRE(edits.hook_count == 1);
  REQUIRE(edits.hooks[0]->args.count == 2);
  CHECK(edits.hooks[0]->args.items[1] == std::string{"-x"});
  REQUIRE(edits.gid_count == 1);
  CHECK(edits.gids[0] == 9);
}

TEST_CASE("Each node has a cgroup rule, also one that another node replaces, but a FIFO has none") {
  auto plan = example();
  plan.device_nodes.push_back(plan.device_nodes.front());
  plan.device_nodes.front().overridden = true;
  plan.device_nodes.back().edit.permissions = "none";
  plan.device_nodes.push_back({{.path = "/dev/fifo", .type = "p"}, {}});
  const auto box = filled(plan);
  const auto& edits = box->object.object;
  CHECK(edits.node_count == 2);
  REQUIRE(edits.rule_count == 2);
  CHECK(edits.rules[0]->major == 5);
  CHECK(edits.rules[0]->access == std::string{"rw"});
  CHECK(edits.rules[1]->access == std::string{});
}

TEST_CASE("An empty plan has empty lists") {
  const auto box = filled({});
  const auto& edits = box->object.object;
  CHECK(edits.env.count == 0);
  CHECK(edits.node_count == 0);
  CHECK(edits.rule_count == 0);
  CHECK(edits.note_count == 0);
  CHECK(edits.intel_rdt == nullptr);
}

TEST_CASE("A mount is a bind mount and read-only by its options, as runc reads them") {
  struct {
    std::vector<std::string> options;
    bool is_bind, read_only;
  } const rows[] = {
      {{"ro"}, false, true},
      {{"rbind", "ro", "rw"}, true, false},
      {{"bind", "rro"}, true, true},
      {{"bind", "rrw", "ro"}, true, false},
  };
  for (const auto& row : rows) {
    c_library::EditsStorage storage;
    const cdi::Mount mount{
        .host_path = "/h", .container_path = "/c", .options = row.options, .type = "bind"};
    const auto made = c_library::mount_of(mount, "", storage);
    CHECK(made.is_bind == row.is_bind);
    CHECK(made.read_only == row.read_only);
  }
}
