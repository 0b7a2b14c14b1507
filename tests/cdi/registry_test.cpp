// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/oci/editor.hpp>
#include <cdi/oci/json_editor.hpp>
#include <cdi/registry.hpp>

namespace {

std::atomic<std::size_t> allocations{0};

}  // namespace

// The whole program allocates here, so that tests can count. Not inlined: g++ would see half of a
// pair and warn.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace {

using Names = std::vector<std::string>;
using Specs = std::vector<std::shared_ptr<const cdi::LoadedSpec>>;

/// A spec at a path whose devices set `FROM_<name>=<path>`, and which itself sets `SPEC=<path>`.
std::shared_ptr<const cdi::LoadedSpec> spec_at(std::string path, int priority, std::string kind,
                                               const Names& devices) {
  cdi::LoadedSpec loaded{.path = path, .priority = priority};
  loaded.spec.version = "1.0.0";
  loaded.spec.kind = std::move(kind);
  loaded.spec.container_edits.env = {"SPEC_" + path + "=1"};
  for (const auto& name : devices) {
    loaded.spec.devices.push_back(
        {.name = name, .container_edits = {.env = {"FROM_" + name + "=" + path}}});
  }
  return std::make_shared<const cdi::LoadedSpec>(std::move(loaded));
}

/// The path of the spec that a name is resolved to; empty when it is not.
std::string origin(const cdi::Registry& registry, std::string_view name) {
  const auto found = registry.find(name);
  CHECK((found.spec == nullptr) == (found.device == nullptr));
  return found.spec == nullptr ? "" : found.spec->path;
}

/// The environment that an injection into an empty OCI spec gives.
Names env_of(const cdi::Registry& registry, const Names& names) {
  cdi::oci::Spec oci;
  const auto done = registry.inject(oci, names);
  REQUIRE_MESSAGE(done, (done ? "" : to_string(done.error())));
  return oci.process ? oci.process->env : Names{};
}

cdi::Error why(const cdi::Registry& registry, std::string_view name) {
  const auto resolved = registry.resolve(name);
  REQUIRE_FALSE(resolved);
  return resolved.error();
}

}  // namespace

TEST_CASE("The spec of the highest priority counts, in whatever order they are given") {
  Specs specs{spec_at("low", 0, "v/c", {"d"}), spec_at("high", 2, "v/c", {"d"}),
              spec_at("middle", 1, "v/c", {"d"})};
  for (int i = 0; i < 3; ++i) {
    CHECK(origin(cdi::Registry{specs}, "v/c=d") == "high");
    CHECK(cdi::Registry{specs}.errors().empty());
    std::swap(specs[0], specs[1]);
    std::swap(specs[1], specs[2]);
  }
}

TEST_CASE("Conflicts are settled within each priority first") {
  struct {
    Specs specs;
    std::string expected;
    bool conflict;
  } const rows[] = {
      {{spec_at("a", 0, "v/c", {"d"}), spec_at("b", 0, "v/c", {"d"})}, "", true},
      {{spec_at("a", 0, "v/c", {"d"}), spec_at("b", 0, "v/c", {"e"})}, "a", false},
      {{spec_at("a", 0, "v/c", {"d"}), spec_at("b", 0, "v/x", {"d"})}, "a", false},
      // A conflict below does not hide the one above; one above lets nothing through.
      {{spec_at("a", 0, "v/c", {"d"}), spec_at("b", 0, "v/c", {"d"}),
        spec_at("high", 1, "v/c", {"d"})},
       "high",
       false},
      {{spec_at("low", 0, "v/c", {"d"}), spec_at("a", 1, "v/c", {"d"}),
        spec_at("b", 1, "v/c", {"d"})},
       "",
       true},
      {{spec_at("a", 1, "v/c", {"d"}), spec_at("b", 1, "v/c", {"d"}),
        spec_at("low", 0, "v/c", {"d"})},
       "",
       true},
      {{spec_at("a", 1, "v/c", {"d"}), spec_at("low", 0, "v/c", {"d"}),
        spec_at("b", 1, "v/c", {"d"})},
       "",
       true},
  };
  for (const auto& row : rows) {
    Names paths;
    for (const auto& spec : row.specs) paths.push_back(spec->path);
    CAPTURE(paths.size());
    CAPTURE(paths.back());
    const cdi::Registry registry{row.specs};
    CHECK(origin(registry, "v/c=d") == row.expected);
    if (!row.conflict) continue;
    CHECK(why(registry, "v/c=d").code == cdi::Errc::conflict);
    CHECK(registry.errors().size() == 2);
  }
}

TEST_CASE("A conflict costs only the device, and is told for each pair of its files") {
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"d", "one"}), spec_at("2", 0, "v/c", {"d"}),
                                spec_at("3", 0, "v/c", {"d", "three"})}};
  CHECK(registry.devices() == Names{"v/c=one", "v/c=three"});
  CHECK(registry.vendors() == std::vector<std::string_view>{"v"});
  const Names files{"1", "2", "1", "3"};  // pair by pair, each pair from both sides
  REQUIRE(registry.errors().size() == files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& error = registry.errors()[i];
    CHECK(error.code == cdi::Errc::conflict);
    CHECK(error.position.file == files[i]);
    CHECK(error.message.find("\"v/c=d\"") != std::string::npos);
  }
}

TEST_CASE("Devices that the same two files provide make one conflict") {
  const cdi::Registry registry{
      {spec_at("1", 0, "v/c", {"a", "b", "c"}), spec_at("2", 0, "v/c", {"c", "b", "a"})}};
  CHECK(registry.devices().empty());
  REQUIRE(registry.errors().size() == 2);
  CHECK(to_string(registry.errors()[0]) ==
        "1: device \"v/c=c\" and 2 more are also defined by \"2\", which has the same priority: "
        "keep only one");
}

TEST_CASE("Overriding is per device, and spec-level edits go with the device that was chosen") {
  const cdi::Registry registry{
      {spec_at("low", 0, "v/c", {"d", "e"}), spec_at("high", 1, "v/c", {"d"})}};
  CHECK(env_of(registry, {"v/c=d"}) == Names{"SPEC_high=1", "FROM_d=high"});
  CHECK(env_of(registry, {"v/c=e"}) == Names{"SPEC_low=1", "FROM_e=low"});
}

TEST_CASE("Edits come in the order of the request, those of each spec once, before its first") {
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

TEST_CASE("A device asked for twice is injected twice, its spec once") {
  cdi::LoadedSpec loaded{.path = "p"};
  loaded.spec = {
      .kind = "v/c",
      .devices = {{.name = "d",
                   .container_edits = {.hooks = {{.hook_name = "poststop", .path = "/device"}}}}},
      .container_edits = {.hooks = {{.hook_name = "poststop", .path = "/spec"}}}};
  const cdi::Registry registry{{std::make_shared<const cdi::LoadedSpec>(std::move(loaded))}};
  cdi::oci::Spec oci;
  REQUIRE(registry.inject(oci, {"v/c=d", "v/c=d"}));
  Names paths;
  for (const auto& hook : oci.hooks->poststop) paths.push_back(hook.path);
  CHECK(paths == Names{"/spec", "/device", "/device"});
}

TEST_CASE("No names change nothing, not even a document that is no OCI spec") {
  const cdi::Registry registry{{spec_at("A", 0, "v/a", {"1"})}};
  nlohmann::json odd = 5;
  CHECK(registry.inject(odd, {}));
  CHECK(odd == 5);
}

TEST_CASE("Names match exactly") {
  const cdi::Registry registry{{spec_at("A", 0, "v.com/c", {"d", "0:1.x"})}};
  CHECK(origin(registry, "v.com/c=d") == "A");
  CHECK(origin(registry, "v.com/c=0:1.x") == "A");
  for (const std::string_view name :
       {"", "=", "d", "c=d", "v.com/c", "v.com/c=", "v.com/c=D", "V.com/c=d", " v.com/c=d",
        "v.com/c=d ", "v.com/c=d=", "v.com/c==d", "v.com/=d", "/c=d", "v.comc=d"}) {
    CAPTURE(name);
    CHECK(origin(registry, name).empty());
  }
  CHECK(origin(registry, {"v.com/c=d\0", 10}).empty());
}

TEST_CASE("It is explained why a name cannot be resolved") {
  cdi::Error rejected{.code = cdi::Errc::schema,
                      .message = "unknown field",
                      .where = "x",
                      .position = {.file = "/etc/cdi/bad.json", .line = 3, .column = 5}};
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"d", "e"}), spec_at("2", 0, "v/c", {"e"})},
                               {rejected}};
  struct {
    std::string name;
    cdi::Errc code;
    std::vector<std::string> words;
  } const rows[] = {
      {"plain", cdi::Errc::invalid_name, {"\"plain\"", "vendor.com/class=device"}},
      {"v=d", cdi::Errc::invalid_name, {"\"v\"", "slash"}},
      {"v/c=d!", cdi::Errc::invalid_name, {"\"d!\"", "must end with a letter or digit"}},
      {"0/c=d", cdi::Errc::invalid_name, {"vendor \"0\"", "must begin with a letter"}},
      {"v/c=", cdi::Errc::invalid_name, {"empty"}},
      {"v/other=d",
       cdi::Errc::not_found,
       {"no spec of kind \"v/other\"", "v/c", "/etc/cdi/bad.json:3:5: x: unknown field"}},
      {"v/c=f",
       cdi::Errc::not_found,
       {"kind \"v/c\" has no device \"f\"", "d, e", "/etc/cdi/bad.json:3:5"}},
      {"v/c=e", cdi::Errc::conflict, {"\"v/c=e\"", "\"2\"", "same priority"}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    const auto error = why(registry, row.name);
    CAPTURE(error.message);
    CHECK(error.code == row.code);
    for (const auto& word : row.words) {
      CAPTURE(word);
      CHECK(error.message.find(word) != std::string::npos);
    }
  }
  CHECK(why(cdi::Registry{}, "v/c=d").message.find("none") != std::string::npos);
}

TEST_CASE("Explanations are cut after a few names and files") {
  Names devices;
  for (int i = 1000; i < 2000; ++i) devices.push_back("d" + std::to_string(i));
  std::vector<cdi::Error> errors(50, {.code = cdi::Errc::syntax, .message = "bad"});
  const cdi::Registry registry{{spec_at("1", 0, "v/c", devices)}, errors};
  const auto message = why(registry, "v/c=x").message;
  CAPTURE(message);
  CHECK(message.find("d1007, ...;") != std::string::npos);
  CHECK(message.find("d1008") == std::string::npos);
  CHECK(message.find("and 47 more") != std::string::npos);
  CHECK(message.size() < 500);
}

TEST_CASE("Names not resolved are told in order, each time they are named") {
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

TEST_CASE("A device node that fails is told with file, device and member; nothing is changed") {
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

TEST_CASE("Looking a name up does not allocate, found or not") {
  const cdi::Registry registry{
      {spec_at("1", 0, "vendor.example.com/class", {"a-device-with-a-long-name", "e"}),
       spec_at("2", 0, "vendor.example.com/class", {"e"})}};
  const std::size_t before = allocations;
  std::size_t found = 0;
  for (const std::string_view name :
       {"vendor.example.com/class=a-device-with-a-long-name", "vendor.example.com/class=e",
        "vendor.example.com/class=another-device-that-is-not-there", "not a name at all, really"}) {
    if (registry.find(name).device != nullptr) ++found;
  }
  const std::size_t after = allocations;
  CHECK(found == 1);
  CHECK(after == before);
  CHECK(after > 0);  // the counter is in use
}

TEST_CASE("Copies and what is moved stay valid without the original") {
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

TEST_CASE("Devices, vendors and classes are sorted, each once") {
  const cdi::Registry registry{{spec_at("1", 0, "b/y", {"2", "10"}), spec_at("2", 1, "a/x", {"1"}),
                                spec_at("3", 1, "b/x", {"Z"}), spec_at("4", 2, "b/y", {"2"})}};
  CHECK(registry.devices() == Names{"a/x=1", "b/x=Z", "b/y=10", "b/y=2"});
  CHECK(registry.vendors() == std::vector<std::string_view>{"a", "b"});
  CHECK(registry.classes() == std::vector<std::string_view>{"x", "y"});
  CHECK(registry.specs().size() == 4);
  CHECK(cdi::Registry{}.devices().empty());
}
