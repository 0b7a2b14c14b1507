// Tests for include/cdi/plan/plan.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/apply/host.hpp>
#include <cdi/nlohmann/editor.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/targets/config_json.hpp>
#include <cdi/targets/oci_editor.hpp>
#include <cdi/text/json.hpp>

#include "../../support/random_numbers.hpp"
#include "../apply/changed_json.hpp"
#include "../registry/specs.hpp"

namespace {

/// A host with some nodes: /dev/zero has the numbers 0:0, and /dev/gone does not exist.
cdi::Result<cdi::HostNode> ask_host(std::string_view path) {
  if (path == "/dev/gone") return cdi::Error{.code = cdi::Errc::host, .message = "gone"};
  if (path == "/dev/zero") return cdi::HostNode{.type = 'c', .file_mode = 0600};
  if (path == "/dev/fifo") return cdi::HostNode{.type = 'p', .file_mode = 0620};
  return cdi::HostNode{.type = 'c', .major = 10, .minor = 5, .file_mode = 0640};
}

std::size_t host_lookups = 0;

cdi::Result<cdi::HostNode> count_lookups(std::string_view path) {
  ++host_lookups;
  return ask_host(path);
}

cdi::Result<cdi::Plan> plan(const cdi::Registry& registry, const Names& names) {
  const auto devices = registry.resolve_all(names);
  REQUIRE(devices);
  return cdi::detail::make_plan(*devices, cdi::detail::HostRef{count_lookups}, nullptr);
}

cdi::Registry registry_of(std::vector<cdi::Spec> specs) {
  Specs all;
  for (auto& spec : specs) {
    cdi::LoadedSpec loaded{.spec = std::move(spec), .path = "/spec", .edits_position = {2, 1}};
    for (std::uint32_t i = 0; i < loaded.spec.devices.size(); ++i)
      loaded.device_positions.push_back({10 + i, 1});
    all.push_back(std::make_shared<const cdi::LoadedSpec>(std::move(loaded)));
  }
  return cdi::Registry{all};
}

/// Random specs and targets with few keys, so that entries often replace each other.
class RandomSpecs {
 public:
  explicit RandomSpecs(std::uint32_t seed) : random_{seed} {}

  cdi::Registry registry() {
    std::vector<cdi::Spec> specs(2);
    specs[0].kind = "v.com/a";
    specs[1].kind = "v.com/b";
    for (auto& spec : specs) {
      spec.container_edits = edits();
      for (const auto* name : {"0", "1", "all"}) spec.devices.push_back({name, {}, edits()});
    }
    return registry_of(std::move(specs));
  }

  Names names() {
    Names out(random_.below(5));
    for (auto& name : out) name = some({"v.com/a=0", "v.com/a=1", "v.com/a=all", "v.com/b=0"});
    return out;
  }

  nlohmann::ordered_json target() {
    cdi::oci::Spec spec;
    if (random_.below(4) != 0) {
      auto& process = spec.process.emplace();
      process.user = {.uid = random_.below(2), .gid = random_.below(2)};
      process.user.additional_gids = gids();
      process.env = env();
    }
    if (random_.below(4) != 0) {
      auto& part = spec.linux_.emplace();
      for (auto i = random_.below(4); i > 0; --i) {
        part.devices.push_back({.path = path(), .type = "c", .major = number()});
      }
      if (random_.below(2) != 0) part.net_devices["eth0"] = {.name = "net" + digit()};
      if (random_.below(2) != 0) part.intel_rdt.emplace().clos_id = digit();
      if (random_.below(4) == 0) part.namespaces.push_back({.type = "user"});
      if (random_.below(2) == 0) part.uid_mappings.push_back({.host_id = 1000, .size = 9});
      if (random_.below(2) == 0) part.gid_mappings.push_back({.host_id = 2000, .size = 9});
    }
    for (auto i = random_.below(4); i > 0; --i) {
      spec.mounts.push_back({.destination = path(), .source = "/s" + digit()});
    }
    if (random_.below(2) != 0) spec.hooks.emplace().poststop.push_back({.path = "/old"});
    return nlohmann::ordered_json::parse(*cdi::write_json(spec));
  }

 private:
  cdi::ContainerEdits edits() {
    cdi::ContainerEdits out;
    out.env = env();
    for (auto i = random_.below(3); i > 0; --i) out.device_nodes.push_back(node());
    for (auto i = random_.below(2); i > 0; --i) {
      const std::string host = some({"eth0", "eth1"});
      out.net_devices.push_back({host, host == "eth0" ? "net0" : "net1"});
    }
    for (auto i = random_.below(2); i > 0; --i) {
      out.hooks.push_back({.hook_name = some({"prestart", "createContainer", "poststop"}),
                           .path = "/h" + digit(),
                           .args = {"a", digit()}});
    }
    for (auto i = random_.below(3); i > 0; --i) {
      out.mounts.push_back(
          {.host_path = "/s" + digit(), .container_path = path(), .options = {"ro", "bind"}});
    }
    if (random_.below(4) == 0) out.intel_rdt = cdi::IntelRdt{.clos_id = digit()};
    out.additional_gids = gids();
    return out;
  }

  cdi::DeviceNode node() {
    cdi::DeviceNode out{.path = path()};
    out.host_path = some({"", "/dev/a", "/dev/zero"});
    if (random_.below(3) == 0) {
      out = {.path = path(), .host_path = "/dev/gone", .type = "c", .major = 7, .minor = number()};
    }
    if (random_.below(4) == 0) out.file_mode = 0666;
    if (random_.below(4) == 0) out.uid = number();
    out.permissions = some({"", "r", "none"});
    return out;
  }

  std::string some(std::vector<std::string> texts) {
    return texts[random_.below(static_cast<std::uint32_t>(texts.size()))];
  }
  std::uint32_t number() { return random_.below(4); }
  std::string digit() { return std::to_string(number()); }
  std::string path() { return some({"/", "/a", "/b", "/a/b", "/a/c"}); }
  std::vector<std::string> env() {
    std::vector<std::string> out(random_.below(4));
    for (auto& entry : out) entry = some({"A", "AB", "B"}) + "=" + digit();
    return out;
  }
  std::vector<std::uint32_t> gids() {
    std::vector<std::uint32_t> out(random_.below(3));
    for (auto& gid : out) gid = number();
    return out;
  }

  RandomNumbers random_;
};

template <class OciSpec>
OciSpec from_json(const nlohmann::ordered_json& json) {
  return OciSpec::parse(json.dump());
}
template <>
cdi::oci::Spec from_json(const nlohmann::ordered_json& json) {
  return *cdi::read_json<cdi::oci::Spec>(json.dump());
}
template <>
cdi::ConfigJson from_json(const nlohmann::ordered_json& json) {
  return {.text = json.dump(2)};
}

template <class OciSpec>
nlohmann::json to_json(const OciSpec& spec) {
  return nlohmann::json::parse(spec.dump());
}
nlohmann::json to_json(const cdi::oci::Spec& spec) {
  return nlohmann::json::parse(*cdi::write_json(spec));
}
nlohmann::json to_json(const cdi::ConfigJson& spec) {
  return nlohmann::json::parse(spec.text);
}

}  // namespace

TEST_CASE("A plan has the edits of the specs and devices in order, with their origins") {
  auto registry =
      registry_of({{.kind = "v.com/c",
                    .devices = {{"0", {}, {.env = {"A=1", "B=1"}}}, {"1", {}, {.env = {"A=2"}}}},
                    .container_edits = {.env = {"S=1"}}}});
  const auto made = plan(registry, {"v.com/c=1", "v.com/c=0"});
  REQUIRE(made);
  using Env = std::vector<cdi::Planned<std::string>>;
  CHECK(made->env ==
        Env{{"S=1", {"v.com/c", "/spec", 2, "containerEdits.env[0]"}},
            {"A=2", {"v.com/c=1", "/spec", 11, "devices[1].containerEdits.env[0]"}, true},
            {"A=1", {"v.com/c=0", "/spec", 10, "devices[0].containerEdits.env[0]"}},
            {"B=1", {"v.com/c=0", "/spec", 10, "devices[0].containerEdits.env[1]"}}});
  CHECK(made->devices == std::vector<cdi::Origin>{{"v.com/c=1", "/spec", 11, "devices[1]"},
                                                  {"v.com/c=0", "/spec", 10, "devices[0]"}});
  CHECK(to_string(made->env[0].origin) == "v.com/c (/spec:2)");
}

TEST_CASE("Device nodes are complete, and owned by the user of the process") {
  auto registry = registry_of(
      {{.kind = "v.com/c",
        .devices = {{"0",
                     {},
                     {.device_nodes = {
                          {.path = "/dev/a"},
                          {.path = "/b", .host_path = "/dev/fifo", .permissions = "r", .uid = 7},
                          {.path = "/dev/gone", .type = "b", .major = 8},
                      }}}}}});
  const auto made = plan(registry, {"v.com/c=0"});
  REQUIRE(made);
  REQUIRE(made->device_nodes.size() == 3);
  CHECK(made->device_nodes[0].edit == cdi::DeviceNode{.path = "/dev/a",
                                                      .host_path = "/dev/a",
                                                      .type = "c",
                                                      .major = 10,
                                                      .minor = 5,
                                                      .file_mode = 0640,
                                                      .permissions = "rwm"});
  CHECK(made->device_nodes[1].edit == cdi::DeviceNode{.path = "/b",
                                                      .host_path = "/dev/fifo",
                                                      .type = "p",
                                                      .file_mode = 0620,
                                                      .permissions = "r",
                                                      .uid = 7});
  CHECK(made->device_nodes[2].edit == cdi::DeviceNode{.path = "/dev/gone",
                                                      .host_path = "/dev/gone",
                                                      .type = "b",
                                                      .major = 8,
                                                      .permissions = "rwm"});
}

TEST_CASE("Mounts are sorted by depth, and group ids are there once, without 0") {
  auto registry =
      registry_of({{.kind = "v.com/c",
                    .devices = {{"0",
                                 {},
                                 {.mounts = {{"/1", "/a/b"}, {"/2", "/c"}, {"/3", "/a/b"}},
                                  .additional_gids = {4, 0, 5, 4}}}}}});
  const auto made = plan(registry, {"v.com/c=0"});
  REQUIRE(made);
  std::vector<std::string> sources;
  for (const auto& mount : made->mounts) {
    sources.push_back(mount.edit.host_path + (mount.overridden ? " overridden" : ""));
  }
  CHECK(sources == std::vector<std::string>{"/2", "/1 overridden", "/3"});
  CHECK(made->edits().additional_gids == std::vector<std::uint32_t>{4, 5});
}

TEST_CASE("The last settings of Intel RDT count") {
  cdi::Spec spec{.kind = "v.com/c", .devices = {{"0", {}, {}}, {"1", {}, {}}}};
  spec.devices[0].container_edits.intel_rdt = cdi::IntelRdt{.clos_id = "0"};
  spec.devices[1].container_edits.intel_rdt = cdi::IntelRdt{.clos_id = "1"};
  const auto made = plan(registry_of({spec}), {"v.com/c=0", "v.com/c=1"});
  REQUIRE(made);
  REQUIRE(made->intel_rdt.size() == 2);
  CHECK(made->intel_rdt[0].overridden);
  CHECK(made->edits().intel_rdt->clos_id == "1");
}

TEST_CASE("A missing host node is an error with its place") {
  const auto made = plan(
      registry_of({{.kind = "v.com/c", .devices = {{"0", {}, {.device_nodes = {{"/dev/gone"}}}}}}}),
      {"v.com/c=0"});
  REQUIRE_FALSE(made);
  CHECK(made.error().code == cdi::Errc::host);
  CHECK(made.error().where == "devices[0].containerEdits.deviceNodes[0]");
  CHECK(made.error().position.line == 10);
}

TEST_CASE("The options of the host are in the plan") {
  const auto registry =
      registry_of({{.kind = "v.com/c",
                    .devices = {{"0",
                                 {},
                                 {.device_nodes = {{.path = "/dev/a", .type = "c", .major = 7}},
                                  .hooks = {{.hook_name = "prestart", .path = "/h", .env = {"B=1"}},
                                            {.hook_name = "prestart", .path = "/i"}},
                                  .mounts = {{"/proc/self/root/..", "/m"}}}}}}});
  const cdi::HostOptions options{
      .hook_env = {"A=1"}, .drift = cdi::HostDrift::follow, .resolve_links = true};
  const auto made = cdi::detail::make_plan(*registry.resolve_all({"v.com/c=0"}),
                                           cdi::detail::HostRef{count_lookups}, &options);
  REQUIRE(made);
  CHECK(made->device_nodes.at(0).edit.major == 10);
  CHECK(made->hooks.at(0).edit.env == std::vector<std::string>{"B=1"});
  CHECK(made->hooks.at(1).edit.env == std::vector<std::string>{"A=1"});
  CHECK(made->mounts.at(0).edit.host_path == "/");
  cdi::oci::Spec planned;
  REQUIRE(made->apply(planned));
  cdi::oci::Spec injected;
  const cdi::HostWithOptions<decltype(&ask_host)> host{options, ask_host};
  REQUIRE(registry.inject(injected, {"v.com/c=0"}, host));
  CHECK(planned == injected);
}

TEST_CASE("A plan that the caller changes is applied as it is then") {
  auto made =
      plan(registry_of({{.kind = "v.com/c",
                         .devices = {{"0", {}, {.env = {"A=1"}, .hooks = {{"prestart", "/h"}}}}}}}),
           {"v.com/c=0"});
  REQUIRE(made);
  made->hooks.clear();
  cdi::oci::Spec target;
  const auto changes = made->apply(target);
  REQUIRE(changes);
  CHECK(changes->size() == 1);
  CHECK_FALSE(target.hooks);

  made->device_nodes.push_back({{.path = "/dev/new"}, {}});
  const auto failed = made->apply(target);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == cdi::Errc::host);
  CHECK(failed.error().message ==
        "the plan lacks the type and numbers of host device \"/dev/new\"");

  made->device_nodes.clear();
  made->env.push_back({"B=\xff", {}});
  CHECK_FALSE(made->apply(target));
}

TEST_CASE_TEMPLATE("A plan changes what its diff says, and what an injection changes", OciSpec,
                   cdi::oci::Spec, nlohmann::json, nlohmann::ordered_json, cdi::ConfigJson) {
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    RandomSpecs random{seed};
    const auto registry = random.registry();
    const auto names = random.names();
    const auto before = random.target();
    auto target = from_json<OciSpec>(before);
    CAPTURE(before.dump());

    host_lookups = 0;
    const auto made = plan(registry, names);
    REQUIRE(made);
    const auto lookups = host_lookups;
    const auto done = made->apply(target);
    REQUIRE(done);
    CHECK(host_lookups == lookups);
    REQUIRE(changeable(to_json(target)) == changed(nlohmann::json(before), *done));

    auto injected = from_json<OciSpec>(before);
    REQUIRE(registry.inject(injected, names, ask_host));
    REQUIRE(to_json(injected) == to_json(target));
    CHECK(made->apply(target)->empty());
  }
}

TEST_CASE("The kinds of edits are visited in the order of a spec, each with its key") {
  std::vector<std::string> keys;
  cdi::every_field<cdi::ContainerEdits>([&](const auto& field) {
    keys.emplace_back(field.key);
    return true;
  });
  std::vector<std::string> visited;
  cdi::Plan::each_kind([&](const char* key, auto, auto) { visited.emplace_back(key); });
  CHECK(visited == keys);
}
