// Tests for include/cdi/registry/registry.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/apply/host_options.hpp>
#include <cdi/nlohmann/editor.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/targets/oci_editor.hpp>

#include "../../support/temp_tree.hpp"
#include "specs.hpp"

namespace {

/// The environment that an injection into an empty OCI spec gives.
Names env_of(const cdi::Registry& registry, const Names& names) {
  cdi::oci::Spec oci;
  const auto done = registry.inject(oci, names);
  REQUIRE_MESSAGE(done, (done ? "" : to_string(done.error())));
  return oci.process ? oci.process->env : Names{};
}

}  // namespace

TEST_CASE("Overriding is per device, and spec-level edits go with the device that was chosen") {
  const cdi::Registry registry{
      {spec_at("low", 0, "v/c", {"d", "e"}), spec_at("high", 1, "v/c", {"d"})}};
  CHECK(env_of(registry, {"v/c=d"}) == Names{"SPEC_high=1", "FROM_d=high"});
  CHECK(env_of(registry, {"v/c=e"}) == Names{"SPEC_low=1", "FROM_e=low"});
}

TEST_CASE("Edits come in the order of the request, each spec's once, before its first") {
  const cdi::Registry registry{{spec_at("A", 0, "v/a", {"1", "2"}), spec_at("B", 0, "v/b", {"3"})}};
  struct {
    Names names;
    Names env;
  } const rows[] = {
      {{}, {}},
      {{"v/a=2", "v/a=1"}, {"SPEC_A=1", "FROM_2=A", "FROM_1=A"}},
      {{"v/a=1", "v/b=3", "v/a=2"}, {"SPEC_A=1", "FROM_1=A", "SPEC_B=1", "FROM_3=B", "FROM_2=A"}},
      {{"v/b=3", "v/a=1"}, {"SPEC_B=1", "FROM_3=B", "SPEC_A=1", "FROM_1=A"}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.names.size());
    CHECK(env_of(registry, row.names) == row.env);
  }
}

TEST_CASE("A device asked for twice is injected twice, its spec once; again, it changes nothing") {
  cdi::LoadedSpec loaded{.path = "p"};
  loaded.spec = {
      .kind = "v/c",
      .devices = {{.name = "d",
                   .container_edits = {.hooks = {{.hook_name = "poststop", .path = "/device"}}}}},
      .container_edits = {.hooks = {{.hook_name = "poststop", .path = "/spec"}}}};
  const cdi::Registry registry{{std::make_shared<const cdi::LoadedSpec>(std::move(loaded)),
                                spec_at("other", 0, "v/o", {"e"})}};
  cdi::oci::Spec oci;
  REQUIRE(registry.inject(oci, {"v/c=d", "v/o=e", "v/c=d"}));
  Names paths;
  for (const auto& hook : oci.hooks->poststop) paths.push_back(hook.path);
  CHECK(paths == Names{"/spec", "/device", "/device"});

  REQUIRE(registry.inject(oci, {"v/c=d"}));
  CHECK(oci.hooks->poststop.size() == 3);
  REQUIRE(registry.inject(oci, {"v/c=d"}, cdi::SystemHost{}, {.duplicates = true}));
  CHECK(oci.hooks->poststop.size() == 5);
}

TEST_CASE("No names change nothing, even in a document that is not an OCI spec") {
  const cdi::Registry registry{{spec_at("A", 0, "v/a", {"1"})}};
  nlohmann::json odd = 5;
  CHECK(registry.inject(odd, {}));
  CHECK(odd == 5);
}

TEST_CASE("Unresolved names are reported in order, each time they are named") {
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"d"})}};
  const Names names{"v/c=y", "v/c=d", "bad", "v/c=x", "bad"};
  Names found;
  for (const auto& one : registry.unresolved(names)) found.push_back(one.name);
  CHECK(found == Names{"v/c=y", "bad", "v/c=x", "bad"});
  CHECK(registry.unresolved(names)[1].why.code == cdi::Errc::invalid_name);

  cdi::oci::Spec oci;
  const auto done = registry.inject(oci, names);
  REQUIRE_FALSE(done);
  CAPTURE(done.error().message);
  std::size_t at = 0;
  for (const auto& name : found) {
    at = done.error().message.find("cannot resolve \"" + name + "\": ", at);
    REQUIRE(at != std::string::npos);
    ++at;
  }
  CHECK(oci == cdi::oci::Spec{});
}

TEST_CASE("What resolves can be injected alone, and the rest has its reasons") {
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"d", "e"})}};
  struct {
    Names names;
    Names rest;
    Names env;
  } const rows[] = {
      {{}, {}, {}},
      {{"v/c=d"}, {}, {"SPEC_1=1", "FROM_d=1"}},
      {{"v/c=e", "bad", "v/c=d", "x/y=z", "bad"},
       {"bad", "x/y=z", "bad"},
       {"SPEC_1=1", "FROM_e=1", "FROM_d=1"}},
      {{"v/c=x"}, {"v/c=x"}, {}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.names.size());
    cdi::oci::Spec oci;
    REQUIRE(registry.inject_resolved(oci, registry.resolvable(row.names)));
    Names found;
    for (const auto& one : registry.unresolved(row.names)) found.push_back(one.name);
    CHECK(found == row.rest);
    CHECK((oci.process ? oci.process->env : Names{}) == row.env);
  }
  const auto rest = registry.unresolved({"v/c=d", "v/c=x", "bad"});
  REQUIRE(rest.size() == 2);
  CHECK(rest[0].reason == cdi::Reason::unknown_device);
  CHECK(rest[1].reason == cdi::Reason::invalid_name);
}

TEST_CASE("An error of what resolves changes nothing, whatever the rest is") {
  cdi::LoadedSpec loaded{.path = "p"};
  loaded.spec = {.kind = "v/c",
                 .devices = {{.name = "good", .container_edits = {.env = {"A=1"}}},
                             {.name = "gone",
                              .container_edits = {.device_nodes = {{.path = "/no/such/node"}}}}}};
  const cdi::Registry registry{{std::make_shared<const cdi::LoadedSpec>(std::move(loaded))}};
  cdi::oci::Spec oci;
  const auto devices = registry.resolvable({"v/c=good", "v/c=x", "v/c=gone"});
  const auto done = registry.inject_resolved(oci, devices);
  REQUIRE_FALSE(done);
  CHECK(done.error().code == cdi::Errc::host);
  CHECK(oci == cdi::oci::Spec{});
}

TEST_CASE("The error of one unresolved name keeps its code") {
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"d"}), spec_at("2", 0, "v/c", {"d"})}};
  nlohmann::json oci = nlohmann::json::object();
  struct {
    std::string name;
    cdi::Errc code;
  } const rows[] = {{"v/c=d", cdi::Errc::conflict},
                    {"v/c=e", cdi::Errc::not_found},
                    {"e", cdi::Errc::invalid_name}};
  for (const auto& row : rows) {
    CAPTURE(row.name);
    const auto done = registry.inject(oci, {row.name});
    REQUIRE_FALSE(done);
    CHECK(done.error().code == row.code);
    CHECK(done.error().message.starts_with("cannot resolve \"" + std::string{row.name} + "\": "));
    CHECK(oci.empty());
  }
}

TEST_CASE("A failing device node is reported with file, device and member; nothing changes") {
  const cdi::DeviceNode gone{.path = "/no/such/node"};
  cdi::LoadedSpec low{.path = "/etc/cdi/low.json"};
  low.spec = {
      .kind = "v/c",
      .devices = {{.name = "good", .container_edits = {.env = {"A=1"}}},
                  {.name = "bad",
                   .container_edits = {.env = {"B=1"},
                                       .device_nodes = {{.path = "/p", .type = "p"}, gone}}}}};
  cdi::LoadedSpec other{.path = "/etc/cdi/other.json"};
  other.spec = {.kind = "v/o",
                .devices = {{.name = "d", .container_edits = {.env = {"A=1"}}}},
                .container_edits = {.device_nodes = {gone}}};
  const cdi::Registry registry{{std::make_shared<const cdi::LoadedSpec>(std::move(low)),
                                std::make_shared<const cdi::LoadedSpec>(std::move(other))}};
  struct {
    Names names;
    std::string file;
    std::string where;
  } const rows[] = {
      {{"v/c=good", "v/c=bad"}, "/etc/cdi/low.json", "devices[1].containerEdits.deviceNodes[1]"},
      {{"v/c=good", "v/o=d"}, "/etc/cdi/other.json", "containerEdits.deviceNodes[0]"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.where);
    const auto before = nlohmann::ordered_json::parse(R"({"process":{"env":["A=0"]},"x":1})");
    auto target = before;
    const auto done = registry.inject(target, row.names);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == cdi::Errc::host);
    CHECK(done.error().position.file == row.file);
    CHECK(done.error().edits == 0);  // the caller named devices
    CHECK(done.error().where == row.where);
    CHECK(target == before);
  }

  // What is wrong with the OCI spec is not blamed on the file.
  auto odd = nlohmann::json::parse(R"({"process":{"env":1}})");
  const auto done = registry.inject(odd, {"v/c=good"});
  REQUIRE_FALSE(done);
  CHECK(done.error().where == "process.env");
  CHECK(done.error().position.file.empty());
}

TEST_CASE("Copies and moved registries stay valid without the original") {
  std::optional<cdi::Registry> original{
      std::in_place, Specs{spec_at("1", 0, "v/c", {"d", "short"}), spec_at("2", 1, "v/c", {"d"})}};
  const cdi::Registry copy = *original;
  cdi::Registry assigned;
  assigned = *original;
  const auto* const device = original->find("v/c=d").device;
  const cdi::Registry moved = *std::move(original);
  original.reset();
  for (const auto* registry : {&copy, &std::as_const(assigned), &moved}) {
    CHECK(origin(*registry, "v/c=d") == "2");
    CHECK(origin(*registry, "v/c=short") == "1");
    CHECK(registry->find("v/c=d").device == device);
    CHECK(registry->devices() == Names{"v/c=d", "v/c=short"});
    CHECK(env_of(*registry, {"v/c=d"}) == Names{"SPEC_2=1", "FROM_d=2"});
  }
}

TEST_CASE("A registry made from an earlier one is like a new one, and stays valid without it") {
  Specs specs{spec_at("1", 0, "v/c", {"a", "b", "c"}), spec_at("2", 0, "v/c", {"d"}),
              spec_at("3", 0, "v/c", {"e", "f", "g"})};
  auto before = std::make_unique<cdi::Registry>(specs);
  specs[1] = spec_at("2", 0, "v/c", {"h"});
  const cdi::Registry changed{specs, {}, {}, before.get()};
  before.reset();
  CHECK(changed.devices() == Names{"v/c=a", "v/c=b", "v/c=c", "v/c=e", "v/c=f", "v/c=g", "v/c=h"});
  CHECK(changed.errors().empty());
  CHECK(origin(changed, "v/c=h") == "2");

  specs[1] = spec_at("2", 0, "v/c", {"a"});
  const cdi::Registry conflicting{specs, {}, {}, &changed};
  CHECK(why(conflicting, "v/c=a").code == cdi::Errc::conflict);
  CHECK(conflicting.errors().size() == 2);

  specs.erase(specs.begin() + 1);
  const cdi::Registry solved{specs, {}, {}, &conflicting};
  CHECK(origin(solved, "v/c=a") == "1");
  CHECK(origin(solved, "v/c=g") == "3");
  CHECK(solved.errors().empty());
}

TEST_CASE("Devices, vendors and classes are sorted, each once") {
  const cdi::Registry registry{{spec_at("1", 0, "b/y", {"2", "10"}), spec_at("2", 1, "a/x", {"1"}),
                                spec_at("3", 1, "b/x", {"Z"}), spec_at("4", 2, "b/y", {"2"})}};
  CHECK(registry.devices() == Names{"a/x=1", "b/x=Z", "b/y=10", "b/y=2"});
  CHECK(registry.vendors() == std::vector<std::string_view>{"a", "b"});
  CHECK(registry.classes() == std::vector<std::string_view>{"x", "y"});
  CHECK(registry.specs().size() == 4);
  CHECK(cdi::Registry{}.devices().empty());
}

TEST_CASE("All names are resolved at once, or all reasons are given") {
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"d", "e"})}};
  const auto found = registry.resolve_all({"v/c=e", "v/c=d", "v/c=e"});
  REQUIRE(found);
  Names names;
  for (const auto& one : *found) names.push_back(one.device->name);
  CHECK(names == Names{"e", "d", "e"});
  CHECK(registry.resolve_all(Names{})->empty());

  const auto none = registry.resolve_all({"v/c=x", "v/c=d", "bad"});
  REQUIRE_FALSE(none);
  CHECK(none.error().code == cdi::Errc::not_found);
  CHECK(none.error().message == registry.require(Names{"v/c=x", "bad"}).error().message);
  CHECK(registry.require(Names{"v/c=d"}));
}

TEST_CASE("Resolved devices are injected as their names are") {
  const cdi::Registry registry{{spec_at("A", 0, "v/a", {"1", "2"}), spec_at("B", 0, "v/b", {"3"})}};
  const Names names{"v/a=1", "v/b=3", "v/a=2"};
  cdi::oci::Spec oci;
  REQUIRE(cdi::Registry::inject_resolved(oci, *registry.resolve_all(names)));
  CHECK(oci.process->env == env_of(registry, names));
  nlohmann::json odd = 5;
  CHECK(cdi::Registry::inject_resolved(odd, {}));
  CHECK(odd == 5);
}

TEST_CASE("A failing device node is reported with the line of its device") {
  cdi::LoadedSpec loaded{
      .path = "/etc/cdi/a.yaml", .device_positions = {{4, 1}}, .edits_position = {9, 1}};
  const cdi::DeviceNode gone{.path = "/no/such/node"};
  loaded.spec = {.kind = "v/c",
                 .devices = {{.name = "d", .container_edits = {.device_nodes = {gone}}}}};
  cdi::oci::Spec oci;
  const cdi::Registry of_device{{std::make_shared<const cdi::LoadedSpec>(loaded)}};
  CHECK(of_device.inject(oci, {"v/c=d"}).error().position.line == 4);
  loaded.spec.container_edits.device_nodes = {gone};
  const cdi::Registry of_spec{{std::make_shared<const cdi::LoadedSpec>(loaded)}};
  CHECK(of_spec.inject(oci, {"v/c=d"}).error().position.line == 9);
}

TEST_CASE("Texts of specs made by hand are checked, but not of specs as they were read") {
  auto loaded = *spec_at("f", 0, "v/c", {"d"});
  loaded.spec.devices[0].container_edits.env = {"A=\xff"};
  const auto injected = [&] {
    cdi::oci::Spec oci;
    return cdi::Registry{{std::make_shared<const cdi::LoadedSpec>(loaded)}}.inject(oci, {"v/c=d"});
  };
  const auto done = injected();
  REQUIRE_FALSE(done);
  CHECK(done.error().code == cdi::Errc::invalid);
  CHECK(done.error().where == "devices[0].containerEdits");
  loaded.as_read = true;
  CHECK(injected());
  // One spec made by hand is enough for all to be checked.
  const cdi::Registry both{
      {std::make_shared<const cdi::LoadedSpec>(loaded), spec_at("g", 0, "v/x", {"d"})}};
  cdi::oci::Spec oci;
  CHECK_FALSE(both.inject(oci, {"v/c=d", "v/x=d"}));
}

TEST_CASE("A link that cannot be followed is reported for the device that has it") {
  const TempTree dir;
  dir.link("loop", "loop");
  cdi::LoadedSpec loaded{.path = "/etc/cdi/v.json"};
  loaded.spec = {.version = "0.5.0", .kind = "v.com/c"};
  const cdi::Mount good{.host_path = "/usr", .container_path = "/a"};
  const cdi::Mount loop{.host_path = "/loop", .container_path = "/b"};
  loaded.spec.devices = {{.name = "a", .container_edits = {.mounts = {good, good}}},
                         {.name = "b", .container_edits = {.mounts = {good, loop}}}};
  const cdi::Registry registry{{std::make_shared<const cdi::LoadedSpec>(std::move(loaded))}};
  cdi::oci::Spec spec;
  const cdi::HostWithOptions<> host{{.resolve_links = true, .root = dir.path()}};
  const auto done = registry.inject(spec, {"v.com/c=a", "v.com/c=b"}, host);
  REQUIRE_FALSE(done);
  CHECK(done.error().where == "devices[1].containerEdits.mounts[1].hostPath");
  CHECK(done.error().position.file == "/etc/cdi/v.json");
}

TEST_CASE("A name that resolves is resolved to its device") {
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"d", "e"})}};
  const auto found = registry.resolve("v/c=e");
  REQUIRE(found);
  CHECK(found->device->name == "e");
  CHECK(found->spec->path == "1");
}
