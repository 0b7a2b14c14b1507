// Edits that are applied again change nothing, on every target.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/apply/apply.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/nlohmann/editor.hpp>
#include <cdi/nlohmann/models.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/targets/config_json.hpp>
#include <cdi/targets/oci_editor.hpp>

#include "../../support/random_registry.hpp"
#include "targets.hpp"

namespace {

using apply_targets::content;
using apply_targets::Json;
using apply_targets::Model;
using apply_targets::Ordered;
using apply_targets::parsed;
using apply_targets::Text;

/// A target of any type.
template <class Target>
Target target_of(const Model& spec) {
  if constexpr (std::is_same_v<Target, Model>) {
    return spec;
  } else if constexpr (std::is_same_v<Target, Text>) {
    return {*cdi::write_json(spec, 1)};
  } else {
    return cdi::to_json_value<Target>(spec);
  }
}

/// A type of a runtime that keeps only some members of each record.
struct Few {
  struct Entry {
    std::string key{};
    std::string rest{};
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> env{}, nodes{}, rules{}, binds{};
  std::array<std::vector<Entry>, cdi::oci::hook_point_names.size()> hooks{};
  std::vector<std::uint32_t> gids{};
  friend bool operator==(const Few&, const Few&) = default;
};

Few::Entry entry_of(std::string_view text) {
  const auto end = text.find('=');
  return {std::string{text.substr(0, end)}, std::string{text.substr(end)}};
}
Few::Entry entry_of(const cdi::oci::LinuxDeviceView& node) {
  return {std::string{node.path}, std::to_string(node.major)};
}
Few::Entry entry_of(const cdi::oci::LinuxDeviceCgroupView& rule) {
  return {std::to_string(*rule.major), std::string{rule.access}};
}
Few::Entry entry_of(const cdi::oci::MountView& mount) {
  return {std::string{mount.destination}, std::string{mount.source}};
}
Few::Entry entry_of(const cdi::oci::HookView& hook) {
  return {std::string{hook.path}, std::to_string(hook.args.size())};
}

struct FewList {
  std::vector<Few::Entry>& items;

  std::size_t size() const { return items.size(); }
  std::string_view key(std::size_t i) const { return items[i].key; }
  bool equals(std::size_t i, const auto& record) const { return entry_of(record) == items[i]; }
  void append(const auto& record) { items.push_back(entry_of(record)); }
  void assign(std::size_t i, const auto& record) { items[i] = entry_of(record); }
  void rearrange(std::span<const std::size_t> order) {
    std::vector<Few::Entry> kept;
    for (const std::size_t i : order) kept.push_back(items[i]);
    items = std::move(kept);
  }
};

struct FewGids {
  std::vector<std::uint32_t>& items;

  std::size_t size() const { return items.size(); }
  std::uint32_t id(std::size_t i) const { return items[i]; }
  void append(std::uint32_t gid) { items.push_back(gid); }
};

}  // namespace

template <>
struct cdi::SpecEditor<Few> {
  Few& few;

  auto env() { return FewList{few.env}; }
  auto devices() { return FewList{few.nodes}; }
  auto device_rules() { return FewList{few.rules}; }
  auto mounts() { return FewList{few.binds}; }
  auto hooks(oci::HookPoint point) {
    return FewList{few.hooks.at(static_cast<std::size_t>(point))};
  }
  auto additional_gids() { return FewGids{few.gids}; }
  ProcessUser process_user() const { return {}; }
  bool has_id_mappings() const { return false; }
};

TEST_CASE_TEMPLATE("A second injection of the same devices changes nothing", Target, Json, Ordered,
                   Model, Text, Few) {
  random_registry::inject_twice(
      [](const Model& spec) {
        if constexpr (std::is_same_v<Target, Few>) {
          return std::make_unique<Few>();
        } else {
          return std::make_unique<Target>(target_of<Target>(spec));
        }
      },
      [&](std::uint32_t seed, bool injected, const Target& once, const Target& twice) {
        CAPTURE(seed);
        REQUIRE(injected);
        REQUIRE(once == twice);
      });
}

TEST_CASE_TEMPLATE("Entries that the target has stay as they are, and the others are added", Target,
                   Json, Ordered, Model, Text) {
  const auto edits = edits_of(R"({
      "deviceNodes":[{"path":"/d","type":"c","major":5,"fileMode":384},
                     {"path":"/n","type":"c","major":6,"fileMode":384}],
      "mounts":[{"hostPath":"/h","containerPath":"/a","options":["ro"]},
                {"hostPath":"/h","containerPath":"/n"}],
      "hooks":[{"hookName":"prestart","path":"/h","args":["h"],"timeout":1},
               {"hookName":"prestart","path":"/h","args":["n"]},
               {"hookName":"prestart","path":"/h","args":["n"]}]})");
  auto target = parsed<Target>(R"({"ociVersion":"1.2.0",
      "mounts":[{"source":"/h","options":["ro"],"destination":"/a"},{"destination":"/b"}],
      "hooks":{"prestart":[{"timeout":1,"args":["h"],"path":"/h"},{"path":"/h"}]},
      "linux":{"devices":[{"path":"/d","major":5,"minor":0,"fileMode":384,"type":"c"},
                          {"path":"/e","type":"c","major":9,"minor":0}],
               "resources":{"devices":[{"allow":true,"type":"c","major":5,"minor":0,
                                        "access":"rwm"}]}}})");
  REQUIRE(edits.apply(target));
  const auto expected = parsed<Target>(R"({"ociVersion":"1.2.0",
      "mounts":[{"source":"/h","options":["ro"],"destination":"/a"},{"destination":"/b"},
                {"destination":"/n","source":"/h"}],
      "hooks":{"prestart":[{"timeout":1,"args":["h"],"path":"/h"},{"path":"/h"},
                           {"path":"/h","args":["n"]},{"path":"/h","args":["n"]}]},
      "linux":{"devices":[{"path":"/d","major":5,"minor":0,"fileMode":384,"type":"c"},
                          {"path":"/e","type":"c","major":9,"minor":0},
                          {"path":"/n","type":"c","major":6,"minor":0,"fileMode":384}],
               "resources":{"devices":[{"allow":true,"type":"c","major":5,"minor":0,"access":"rwm"},
                          {"allow":true,"type":"c","major":6,"minor":0,"access":"rwm"}]}}})");
  CHECK(content(target) == content(expected));
}

TEST_CASE_TEMPLATE("An entry that differs in one member is not equal", Target, Json, Ordered, Model,
                   Text) {
  const auto edits = edits_of(R"({
      "deviceNodes":[{"path":"/d","type":"c","major":5,"minor":6,"fileMode":384,"uid":7}],
      "hooks":[{"hookName":"prestart","path":"/h","args":["h"],"env":["A=1"],"timeout":1}]})");
  for (const auto* hook : {
           R"({"path":"/i","args":["h"],"env":["A=1"],"timeout":1})",
           R"({"path":"/h","args":["i"],"env":["A=1"],"timeout":1})",
           R"({"path":"/h","args":["h","h"],"env":["A=1"],"timeout":1})",
           R"({"path":"/h","args":["h"],"env":["A=2"],"timeout":1})",
           R"({"path":"/h","args":["h"],"timeout":1})",
           R"({"path":"/h","args":["h"],"env":["A=1"],"timeout":2})",
           R"({"path":"/h","args":["h"],"env":["A=1"]})",
           R"({"path":"/h","args":["h"],"env":["A=1"],"timeout":1,"unknown":1})",
       }) {
    CAPTURE(hook);
    auto target = parsed<Target>(R"({"ociVersion":"1.2.0","hooks":{"prestart":[)" +
                                 std::string{hook} + "]}}");
    REQUIRE(edits.apply(target));
    CHECK(content(target).at("hooks").at("prestart").size() == 2);
  }
}

TEST_CASE_TEMPLATE("A null member is like none, and the order of members does not count", Target,
                   Json, Ordered, Text) {
  auto target = parsed<Target>(
      R"({"hooks":{"prestart":[{"env":null,"args":["h"],"timeout":null,"path":"/h"}]}})");
  const auto before = target;
  REQUIRE(
      edits_of(R"({"hooks":[{"hookName":"prestart","path":"/h","args":["h"]}]})").apply(target));
  CHECK(target == before);
}

TEST_CASE_TEMPLATE("The option gives the duplicates of the Go reference", Target, Json, Ordered,
                   Model, Text) {
  const auto edits = edits_of(R"({
      "deviceNodes":[{"path":"/d","type":"c","major":5,"fileMode":384}],
      "mounts":[{"hostPath":"/h","containerPath":"/a"}],
      "hooks":[{"hookName":"poststop","path":"/h"}],"additionalGids":[5]})");
  const cdi::ApplyOptions options{.duplicates = true};
  auto target = parsed<Target>(R"({"ociVersion":"1.2.0",
      "mounts":[{"destination":"/a","source":"/h"},{"destination":"/b"}]})");
  REQUIRE(edits.apply(target));
  CHECK(content(target)["mounts"][0]["destination"] == "/a");
  REQUIRE(edits.apply(target, cdi::SystemHost{}, options));
  const auto after = content(target);
  CHECK(after["mounts"].size() == 2);
  CHECK(after["mounts"][1]["destination"] == "/a");
  CHECK(after["hooks"]["poststop"].size() == 2);
  CHECK(after["linux"]["devices"].size() == 1);
  CHECK(after["linux"]["resources"]["devices"].size() == 2);
  CHECK(after["process"]["user"]["additionalGids"].size() == 1);
}

TEST_CASE("A rule is added again when the target has none of the nodes, like in the Go reference") {
  auto target = parsed<Model>(R"({"ociVersion":"1.2.0","linux":{"resources":{"devices":[
      {"allow":true,"type":"c","major":5,"minor":0,"access":"rwm"}]}}})");
  const auto edits =
      edits_of(R"({"deviceNodes":[{"path":"/d","type":"c","major":5,"fileMode":384}]})");
  for (int i = 0; i < 2; ++i) {
    REQUIRE(edits.apply(target));
    CHECK(target.linux_->resources->devices.size() == 2);
  }
}
