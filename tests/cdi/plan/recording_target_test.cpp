// Tests for include/cdi/plan/recording_target.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/model/spec.hpp>
#include <cdi/nlohmann/editor.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/plan/recording_target.hpp>
#include <cdi/targets/config_json.hpp>
#include <cdi/targets/oci_editor.hpp>
#include <cdi/text/json.hpp>

namespace {

/// A target whose editor can only do what every editor must, and does not count its hooks.
struct Smallest {
  std::vector<std::string> env{};
  std::vector<std::string> mounts{};
  std::size_t hooks = 0;
};

struct NamesOnly {
  std::vector<std::string>& names;

  std::size_t size() const { return names.size(); }
  std::string_view key(std::size_t i) const { return names[i]; }
  void append(std::string_view entry) { names.emplace_back(cdi::detail::env_name(entry)); }
  void append(const cdi::oci::MountView& mount) { names.emplace_back(mount.destination); }
  void append(const cdi::oci::LinuxDeviceView&) {}
  void assign(std::size_t, const auto&) {}
  void rearrange(std::span<const std::size_t> order) {
    std::vector<std::string> kept;
    for (const auto i : order) kept.push_back(names[i]);
    names = kept;
  }
};

struct Counter {
  std::size_t& count;
  void append(const auto&) { ++count; }
};

template <class OciSpec>
std::vector<cdi::Change> changes_of(const cdi::ContainerEdits& edits, OciSpec& target) {
  std::vector<cdi::Change> changes;
  cdi::detail::RecordingTarget<OciSpec> recorded{target, changes};
  REQUIRE(cdi::apply(edits, recorded));
  return changes;
}

const char* const config = R"({
  "ociVersion": "1.2.0",
  "process": {"env": ["A=0", "B=0"], "user": {"uid": 0, "gid": 0, "additionalGids": [5]}},
  "mounts": [{"destination": "/a/b"},
             {"options": ["ro"], "source": "/s", "destination": "/c", "type": "bind"}],
  "linux": {"netDevices": {"eth0": {"name": "x"}}, "intelRdt": {"closID": "old", "odd": 1}}
})";

cdi::ContainerEdits edits() {
  cdi::ContainerEdits out;
  out.env = {"B=1", "A=0", "C=1"};
  out.net_devices = {{"eth0", "x"}, {"eth1", "z"}, {"eth1", "z"}};
  out.hooks = {{.hook_name = "prestart", .path = "/h"}};
  out.mounts = {
      {.host_path = "/s", .container_path = "/c", .options = {"ro"}, .type = "bind"},
      {.host_path = "/d", .container_path = "/d"},
  };
  out.intel_rdt = cdi::IntelRdt{.clos_id = "new"};
  out.additional_gids = {5, 6};
  return out;
}

std::vector<std::string> lines_of(const std::vector<cdi::Change>& changes) {
  std::vector<std::string> lines;
  for (const auto& change : changes) lines.push_back(to_string(change));
  return lines;
}

const std::vector<std::string> expected{
    "replaced process.env[1]: B=0 -> B=1",
    "added process.env[2]: C=1",
    R"(moved mounts[1]: {"destination":"/c","type":"bind","source":"/s","options":["ro"]} -> [0])",
    R"(added mounts[1]: {"destination":"/d","source":"/d"})",
    R"(added hooks.prestart[0]: {"path":"/h"})",
    "added process.user.additionalGids[1]: 6",
    R"(added linux.netDevices.eth1: {"name":"z"})",
    R"(replaced linux.intelRdt: {"closID":"old","odd":1} -> {"closID":"new"})",
};

/// A target of each type with the config.
template <class OciSpec>
OciSpec target() {
  return OciSpec::parse(config);
}
template <>
cdi::oci::Spec target() {
  return *cdi::read_json<cdi::oci::Spec>(config);
}
template <>
cdi::ConfigJson target() {
  return {.text = config};
}

}  // namespace

template <>
struct cdi::SpecEditor<Smallest> {
  Smallest& spec;
  NamesOnly env() { return {spec.env}; }
  NamesOnly devices() { return {spec.env}; }
  NamesOnly mounts() { return {spec.mounts}; }
  Counter hooks(cdi::oci::HookPoint) { return {spec.hooks}; }
  cdi::ProcessUser process_user() { return {}; }
  bool has_id_mappings() { return false; }
};

TEST_CASE_TEMPLATE("What changes is noted, and equal entries do not change", OciSpec,
                   cdi::oci::Spec, nlohmann::json, nlohmann::ordered_json, cdi::ConfigJson) {
  auto spec = target<OciSpec>();
  auto same = spec;
  const auto changes = changes_of(edits(), spec);
  for (std::size_t i = 0; i < changes.size() && i < expected.size(); ++i) {
    CHECK(to_string(changes[i]) == expected[i]);
  }
  CHECK(changes.size() == expected.size());
  REQUIRE(cdi::apply(edits(), same));
  CHECK(spec == same);
}

TEST_CASE_TEMPLATE("A target with nothing gets all", OciSpec, cdi::oci::Spec, nlohmann::json,
                   nlohmann::ordered_json) {
  OciSpec spec = {};
  if constexpr (!std::is_same_v<OciSpec, cdi::oci::Spec>) spec = OciSpec::object();
  const auto changes = changes_of(edits(), spec);
  CHECK(changes.size() == 11);
  for (const auto& change : changes) CHECK(change.kind == cdi::ChangeKind::added);
}

TEST_CASE("A target that the edits cannot change stays as it is, and nothing is noted") {
  nlohmann::json spec{{"mounts", 1}};
  std::vector<cdi::Change> changes;
  cdi::detail::RecordingTarget<nlohmann::json> recorded{spec, changes};
  const auto done = cdi::apply(edits(), recorded);
  REQUIRE_FALSE(done);
  CHECK(done.error().where == "mounts");
  CHECK(changes.empty());
  CHECK(spec == nlohmann::json{{"mounts", 1}});
}

TEST_CASE("An editor that has only what it must have gives keys and places") {
  Smallest spec{.env = {"A", "B"}, .mounts = {"/a/b"}};
  cdi::ContainerEdits some;
  some.env = {"B=1", "C=1"};
  some.mounts = {{.host_path = "/a", .container_path = "/a"}};
  some.hooks = {{.hook_name = "prestart", .path = "/h"}};
  CHECK(lines_of(changes_of(some, spec)) ==
        std::vector<std::string>{
            "replaced process.env[1]: (unknown) -> B=1",
            "added process.env[2]: C=1",
            R"(added mounts[0]: {"destination":"/a","source":"/a"})",
            R"(added hooks.prestart: {"path":"/h"})",
        });
  CHECK(spec.hooks == 1);
  some.additional_gids = {1};
  std::vector<cdi::Change> changes;
  cdi::detail::RecordingTarget<Smallest> recorded{spec, changes};
  const auto done = cdi::apply(some, recorded);
  REQUIRE_FALSE(done);
  CHECK(done.error().code == cdi::Errc::unsupported);
}
