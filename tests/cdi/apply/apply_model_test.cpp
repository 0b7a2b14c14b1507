// `apply` beside a naive model of the OCI edits of SPEC.md, for random edits with few keys, so that
// variables, nodes and mounts often replace each other.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/apply/apply.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/targets/oci_editor.hpp>

#include "../../support/random_numbers.hpp"

namespace {

struct Node {
  std::string path;
  std::int64_t major = 0;

  friend bool operator==(const Node&, const Node&) = default;
};

struct Mount {
  std::string destination;
  std::string source;

  friend bool operator==(const Mount&, const Mount&) = default;
};

/// The parts of an OCI spec that edits change, as plain lists.
struct NaiveSpec {
  std::vector<std::string> env{};
  std::vector<Node> devices{};
  std::vector<std::int64_t> allowed{};  // the majors of the cgroup rules
  std::vector<Mount> mounts{};
  std::vector<std::string> prestart{};
  std::vector<std::uint32_t> gids{};

  friend bool operator==(const NaiveSpec&, const NaiveSpec&) = default;
};

std::string name_of(const std::string& entry) {
  return entry.substr(0, entry.find('='));
}

void set_env(std::vector<std::string>& env, const std::string& entry) {
  const auto last = std::find_if(env.rbegin(), env.rend(), [&](const std::string& other) {
    return name_of(other) == name_of(entry);
  });
  if (last == env.rend()) {
    env.push_back(entry);
  } else {
    *last = entry;
  }
}

/// Removes the first node of the path, then replaces the next one of that path, or appends.
void add_device(std::vector<Node>& devices, const Node& node) {
  const auto find = [&] {
    return std::find_if(devices.begin(), devices.end(),
                        [&](const Node& other) { return other.path == node.path; });
  };
  if (find() != devices.end()) devices.erase(find());
  if (find() == devices.end()) {
    devices.push_back(node);
  } else {
    *find() = node;
  }
}

void add_mount(std::vector<Mount>& mounts, const Mount& mount) {
  const auto first = std::find_if(mounts.begin(), mounts.end(), [&](const Mount& other) {
    return other.destination == mount.destination;
  });
  if (first != mounts.end()) mounts.erase(first);
  mounts.push_back(mount);
}

std::ptrdiff_t depth_of(const Mount& mount) {
  const auto& path = mount.destination;
  return path == "/" ? 1 : std::count(path.begin(), path.end(), '/');
}

void apply_naively(const cdi::ContainerEdits& edits, NaiveSpec& spec) {
  for (const auto& entry : edits.env) set_env(spec.env, entry);
  for (const auto& node : edits.device_nodes) {
    add_device(spec.devices, {node.path, node.major});
    spec.allowed.push_back(node.major);
  }
  for (const auto& mount : edits.mounts) {
    add_mount(spec.mounts, {mount.container_path, mount.host_path});
  }
  if (!edits.mounts.empty()) {
    std::stable_sort(spec.mounts.begin(), spec.mounts.end(),
                     [](const Mount& a, const Mount& b) { return depth_of(a) < depth_of(b); });
  }
  for (const auto& hook : edits.hooks) spec.prestart.push_back(hook.path);
  for (const auto gid : edits.additional_gids) {
    const bool known = std::find(spec.gids.begin(), spec.gids.end(), gid) != spec.gids.end();
    if (gid != 0 && !known) spec.gids.push_back(gid);
  }
}

cdi::oci::Spec to_oci(const NaiveSpec& spec) {
  cdi::oci::Spec out;
  auto& process = out.process.emplace();
  process.env = spec.env;
  process.user.additional_gids = spec.gids;
  auto& linux_part = out.linux_.emplace();
  for (const auto& node : spec.devices) {
    linux_part.devices.push_back({.path = node.path, .type = "c", .major = node.major});
  }
  for (const auto& mount : spec.mounts) {
    out.mounts.push_back({.destination = mount.destination, .source = mount.source});
  }
  return out;
}

NaiveSpec to_naive(const cdi::oci::Spec& spec) {
  NaiveSpec out{.env = spec.process->env, .gids = spec.process->user.additional_gids};
  for (const auto& node : spec.linux_->devices) out.devices.push_back({node.path, node.major});
  if (spec.linux_->resources) {
    for (const auto& rule : spec.linux_->resources->devices) {
      out.allowed.push_back(rule.major.value_or(-1));
    }
  }
  for (const auto& mount : spec.mounts) out.mounts.push_back({mount.destination, mount.source});
  if (spec.hooks) {
    for (const auto& hook : spec.hooks->prestart) out.prestart.push_back(hook.path);
  }
  return out;
}

class RandomEdits {
 public:
  explicit RandomEdits(std::uint32_t seed) : random_{seed} {}

  NaiveSpec spec() {
    NaiveSpec out;
    for (auto i = random_.below(6); i > 0; --i) out.env.push_back(variable());
    for (auto i = random_.below(6); i > 0; --i) out.devices.push_back({path(), number()});
    for (auto i = random_.below(6); i > 0; --i) out.mounts.push_back({path(), text()});
    for (auto i = random_.below(4); i > 0; --i) out.gids.push_back(random_.below(5));
    return out;
  }

  cdi::ContainerEdits edits() {
    cdi::ContainerEdits out;
    for (auto i = random_.below(6); i > 0; --i) out.env.push_back(variable());
    for (auto i = random_.below(6); i > 0; --i) {
      out.device_nodes.push_back(
          {.path = path(), .type = "c", .major = number(), .file_mode = 0600});
    }
    for (auto i = random_.below(6); i > 0; --i) {
      out.mounts.push_back({.host_path = text(), .container_path = path()});
    }
    for (auto i = random_.below(3); i > 0; --i) {
      out.hooks.push_back({.hook_name = "prestart", .path = text()});
    }
    for (auto i = random_.below(4); i > 0; --i) out.additional_gids.push_back(random_.below(5));
    return out;
  }

 private:
  std::string text() { return "/" + std::to_string(++serial_); }
  std::int64_t number() { return ++serial_; }
  std::string variable() {
    static constexpr const char* names[] = {"A", "AB", "B", "C"};
    return std::string{names[random_.below(4)]} + "=" + std::to_string(++serial_);
  }
  std::string path() {
    static constexpr const char* paths[] = {"/", "/a", "/b", "/a/b", "/a/c", "/a/b/c"};
    return paths[random_.below(6)];
  }

  RandomNumbers random_;
  std::int64_t serial_ = 0;
};

}  // namespace

TEST_CASE("Random edits do what the naive model does, one set after the other") {
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    RandomEdits random{seed};
    NaiveSpec expected = random.spec();
    auto target = to_oci(expected);
    for (int i = 0; i < 3; ++i) {
      const auto edits = random.edits();
      apply_naively(edits, expected);
      REQUIRE(cdi::apply(edits, target));
    }
    REQUIRE(to_naive(target) == expected);
  }
}

TEST_CASE("Several sets of edits are one set with joined lists, for random edits") {
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    RandomEdits random{seed};
    NaiveSpec expected = random.spec();
    auto target = to_oci(expected);
    const cdi::ContainerEdits sets[] = {random.edits(), random.edits(), random.edits()};
    cdi::ContainerEdits joined;
    std::vector<const cdi::ContainerEdits*> all;
    for (const auto& edits : sets) {
      all.push_back(&edits);
      const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
      };
      append(joined.env, edits.env);
      append(joined.device_nodes, edits.device_nodes);
      append(joined.mounts, edits.mounts);
      append(joined.hooks, edits.hooks);
      append(joined.additional_gids, edits.additional_gids);
    }
    apply_naively(joined, expected);
    REQUIRE(cdi::apply(std::span<const cdi::ContainerEdits* const>{all}, target));
    REQUIRE(to_naive(target) == expected);
  }
}
