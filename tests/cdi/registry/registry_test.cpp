// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cerrno>
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

#include <cdi/registry/registry.hpp>
#include <cdi/targets/json_editor.hpp>
#include <cdi/targets/oci_editor.hpp>

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

/// As `spec_at`, but what a file held before it turned bad.
std::shared_ptr<const cdi::LoadedSpec> kept_at(std::string path, int priority,
                                               const Names& devices) {
  cdi::LoadedSpec kept = *spec_at(std::move(path), priority, "v/c", devices);
  kept.fault = std::make_shared<const cdi::Error>(
      cdi::Error{.code = cdi::Errc::syntax, .position = {.file = kept.path}});
  return std::make_shared<const cdi::LoadedSpec>(std::move(kept));
}

TEST_CASE("What a bad file held is no rival of a valid file of its priority") {
  struct {
    Specs specs;
    std::string_view origin;  // of device d; empty when it is contested
  } const rows[] = {
      {{kept_at("k", 0, {"d"}), spec_at("v", 0, "v/c", {"d"})}, "v"},
      {{spec_at("v", 0, "v/c", {"d"}), kept_at("k", 0, {"d"})}, "v"},
      {{kept_at("k", 1, {"d"}), spec_at("v", 0, "v/c", {"d"})}, "k"},
      {{kept_at("k", 0, {"d"}), spec_at("v", 0, "v/c", {"e"})}, "k"},
      {{kept_at("k", 0, {"d"}), kept_at("l", 0, {"d"})}, ""},
      {{kept_at("k", 0, {"d"}), spec_at("v", 0, "v/c", {"d"}), kept_at("l", 0, {"d"})}, "v"},
  };
  for (const auto& row : rows) {
    const cdi::Registry registry{row.specs};
    if (row.origin.empty()) {
      CHECK(registry.find("v/c=d").device == nullptr);
    } else {
      CHECK(origin(registry, "v/c=d") == row.origin);
    }
  }
  // Nor is it named where two valid files are.
  const cdi::Registry registry{
      {kept_at("k", 0, {"d"}), spec_at("v", 0, "v/c", {"d"}), spec_at("w", 0, "v/c", {"d"})}};
  const auto reasons = registry.unresolved({"v/c=d"});
  REQUIRE(reasons.size() == 1);
  CHECK(reasons[0].reason == cdi::Reason::conflict);
  REQUIRE(reasons[0].causes.size() == 2);
  CHECK(reasons[0].causes[0].position.file == "v");
  CHECK(reasons[0].causes[1].position.file == "w");
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
                               {std::make_shared<const cdi::RejectedFile>(
                                   cdi::RejectedFile{.why = rejected, .kind = "w/c"})}};
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
  const auto bad = std::make_shared<const cdi::RejectedFile>(
      cdi::RejectedFile{.why = {.code = cdi::Errc::syntax, .message = "bad"}, .kind = "w/c"});
  const cdi::Registry registry{{spec_at("1", 0, "v/c", devices)},
                               std::vector<std::shared_ptr<const cdi::RejectedFile>>(50, bad)};
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

namespace {

std::shared_ptr<const cdi::RejectedFile> rejected(cdi::Error why, std::string kind = {},
                                                  Names devices = {}) {
  return std::make_shared<const cdi::RejectedFile>(cdi::RejectedFile{
      .why = std::move(why), .kind = std::move(kind), .devices = std::move(devices)});
}

cdi::Error error_in(std::string file, cdi::Errc code, int system = 0) {
  return {.code = code,
          .message = "the fault",
          .position = {.file = std::move(file), .line = 3, .column = 5},
          .system = system};
}

cdi::Unresolved reason(const cdi::Registry& registry, std::string_view name) {
  const auto missing = registry.unresolved({name});
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].name == name);
  return missing[0];
}

Names files_of(const std::vector<cdi::Error>& errors) {
  Names files;
  for (const auto& error : errors) files.push_back(error.position.file);
  return files;
}

}  // namespace

TEST_CASE("Names that are none have no causes and no likes") {
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"d"})}};
  for (const std::string_view name : {"", "d", "v/c", "v/c=", "=d", "v/c=d ", "v/c=\n"}) {
    CAPTURE(name);
    const auto one = reason(registry, name);
    CHECK(one.reason == cdi::Reason::invalid_name);
    CHECK(one.why.code == cdi::Errc::invalid_name);
    CHECK(one.nearest.empty());
    CHECK(one.causes.empty());
  }
}

TEST_CASE("For a device that is not there, those like it are told, or the first of its kind") {
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"gpu1", "gpu0", "all"}),
                                spec_at("2", 1, "v/c", {"gpu1", "nic"}),
                                spec_at("3", 0, "w/c", {"gpu3"})}};
  const auto near = reason(registry, "v/c=gpu3");
  CHECK(near.reason == cdi::Reason::unknown_device);
  CHECK(near.why.code == cdi::Errc::not_found);
  CHECK(near.nearest == Names{"v/c=gpu0", "v/c=gpu1"});
  CHECK(near.why.message ==
        "cannot resolve \"v/c=gpu3\": kind \"v/c\" has no device \"gpu3\"; nearest: gpu0, gpu1");
  const auto far = reason(registry, "v/c=something");
  CHECK(far.nearest.empty());
  CHECK(far.why.message ==
        "cannot resolve \"v/c=something\": kind \"v/c\" has no device \"something\"; it has: all, "
        "gpu0, gpu1, nic");
}

TEST_CASE("For a kind that is not there, those like it are told, of rejected files too") {
  const cdi::Registry registry{{spec_at("1", 0, "vendor.com/gpu", {"0"})},
                               {rejected(error_in("2", cdi::Errc::schema), "vendor.org/gpu")}};
  const auto near = reason(registry, "vendor.con/gpu=0");
  CHECK(near.reason == cdi::Reason::unknown_kind);
  CHECK(near.nearest == Names{"vendor.com/gpu", "vendor.org/gpu"});
  CHECK(near.why.message.ends_with("; nearest: vendor.com/gpu, vendor.org/gpu"));
  CHECK(reason(registry, "VENDOR.COM/GPU=0").nearest.front() == "vendor.com/gpu");
  CHECK(reason(registry, "vendor.com/nic=0").nearest == Names{"vendor.com/gpu"});  // its vendor
  CHECK(reason(registry, "other.example/gpu=0").nearest == Names{"vendor.com/gpu"});
  const auto far = reason(registry, "x.example/nic=0");
  CHECK(far.nearest.empty());
  CHECK(
      far.why.message.ends_with("no spec of kind \"x.example/nic\"; kinds known: vendor.com/gpu"));
}

TEST_CASE("Without any spec it is told where none was found") {
  using State = cdi::SpecDir::State;
  const cdi::SpecDir missing{.path = "/a", .state = State::missing};
  const cdi::SpecDir empty{.path = "/b\n", .state = State::read};
  struct {
    std::vector<cdi::SpecDir> dirs;
    cdi::Reason reason;
    std::string_view end;
  } const rows[] = {
      {{}, cdi::Reason::unknown_kind, "; kinds known: none"},
      {{missing}, cdi::Reason::no_directory, "; missing: /a"},
      {{missing, missing}, cdi::Reason::no_directory, "; missing: /a /a"},
      {{missing, empty}, cdi::Reason::unknown_kind, "; no valid specs in: /a /b\\n"},
  };
  for (const auto& row : rows) {
    const cdi::Registry registry{{}, {}, row.dirs};
    const auto one = reason(registry, "v/c=d");
    CAPTURE(one.why.message);
    CHECK(one.reason == row.reason);
    CHECK(one.why.message.ends_with(row.end));
    CHECK(one.causes.empty());
  }
  const cdi::Registry known{{spec_at("1", 0, "w/x", {"d"})}, {}, {missing}};
  CHECK(reason(known, "v/c=d").reason == cdi::Reason::unknown_kind);
}

TEST_CASE("All files of a conflict are told, but none of another priority or kind") {
  const cdi::Registry registry{{spec_at("a", 1, "v/c", {"d", "x"}), spec_at("b", 1, "v/c", {"d"}),
                                spec_at("c", 1, "v/c", {"y", "d"}), spec_at("low", 0, "v/c", {"d"}),
                                spec_at("other", 1, "w/c", {"d"}), spec_at("e", 1, "v/c", {"e"})}};
  const auto one = reason(registry, "v/c=d");
  CHECK(one.reason == cdi::Reason::conflict);
  CHECK(one.why.code == cdi::Errc::conflict);
  CHECK(files_of(one.causes) == Names{"a", "b", "c"});
  CHECK(one.why.message.starts_with("cannot resolve \"v/c=d\": both \"a\" and \"b\" define it"));
  for (const auto& cause : one.causes) CHECK(cause.code == cdi::Errc::conflict);
}

TEST_CASE("A rejected file is to blame for what it names, and for all when it names nothing") {
  const auto good = spec_at("good", 0, "v/c", {"a"});
  const auto names = rejected(error_in("names", cdi::Errc::invalid), "v/c", {"b", "d"});
  const auto silent = rejected(error_in("silent", cdi::Errc::syntax), "v/c");
  const auto other = rejected(error_in("other", cdi::Errc::syntax), "w/c", {"d"});
  const cdi::Registry registry{{good}, {names, other}};
  const auto one = reason(registry, "v/c=d");
  CHECK(one.reason == cdi::Reason::rejected);
  CHECK(files_of(one.causes) == Names{"names"});
  CHECK(one.causes[0].position.line == 3);
  CHECK(one.causes[0].position.column == 5);
  CHECK(one.why.code == cdi::Errc::invalid);
  CHECK(one.why.message ==
        "cannot resolve \"v/c=d\": a file of its kind is not a valid spec: names:3:5: the fault");
  CHECK(reason(registry, "v/c=x").reason == cdi::Reason::unknown_device);
  CHECK(reason(registry, "v/c=x").causes.empty());

  const auto both = reason(cdi::Registry{{good}, {names, silent, other}}, "v/c=d");
  CHECK(files_of(both.causes) == Names{"names", "silent"});
  CHECK(both.why.message.ends_with(": names:3:5: the fault; silent:3:5: the fault"));
  CHECK(files_of(reason(cdi::Registry{{good}, {silent, names}}, "v/c=x").causes) ==
        Names{"silent"});
  // Where no other file is of the kind, one of it may have been cut off before the device.
  CHECK(files_of(reason(cdi::Registry{{}, {names, other}}, "v/c=x").causes) == Names{"names"});
}

TEST_CASE("The release that a file needs is told with it") {
  auto newer = std::make_shared<cdi::RejectedFile>(cdi::RejectedFile{
      .why = error_in("1", cdi::Errc::invalid), .kind = "v/c", .needs_version = "1.2.0"});
  const auto other = rejected(error_in("2", cdi::Errc::invalid), "v/c");
  CHECK(reason(cdi::Registry{{}, {newer}}, "v/c=d").needs_version == "1.2.0");
  CHECK(reason(cdi::Registry{{}, {other, newer}}, "v/c=d").needs_version == "1.2.0");
  CHECK(reason(cdi::Registry{{}, {other, newer}}, "w/c=d").needs_version.empty());
}

TEST_CASE("Files and directories nobody could look into may hold a kind that nobody knows") {
  struct {
    cdi::Errc code;
    int system;
    cdi::Reason reason;
  } const rows[] = {
      {cdi::Errc::system, EACCES, cdi::Reason::unreadable},
      {cdi::Errc::system, EIO, cdi::Reason::unreadable},
      {cdi::Errc::refused, 0, cdi::Reason::refused},
      {cdi::Errc::system, EISDIR, cdi::Reason::unknown_kind},
      {cdi::Errc::system, EINVAL, cdi::Reason::unknown_kind},
      {cdi::Errc::system, ENOTDIR, cdi::Reason::unreadable},  // a spec directory that is a file
      {cdi::Errc::syntax, 0, cdi::Reason::unknown_kind},      // it was looked into
  };
  for (const auto& row : rows) {
    CAPTURE(row.system);
    const cdi::Registry registry{{spec_at("1", 0, "v/c", {"d"})},
                                 {rejected(error_in("x", row.code, row.system))}};
    const auto one = reason(registry, "w/c=d");
    CHECK(one.reason == row.reason);
    CHECK(files_of(one.causes) == Names{"x"});
    if (row.reason != cdi::Reason::unknown_kind) CHECK(one.why.system == row.system);
  }
}

TEST_CASE("A quarantined device, and a file that turned bad, are to blame for their own only") {
  cdi::LoadedSpec loaded = *spec_at("1", 0, "v/c", {"a"});
  loaded.quarantined = {{"b", error_in("1", cdi::Errc::schema)}};
  cdi::LoadedSpec turned = *spec_at("2", 0, "w/c", {"a"});
  turned.fault = std::make_shared<const cdi::Error>(error_in("2", cdi::Errc::syntax));
  const cdi::Registry registry{{std::make_shared<const cdi::LoadedSpec>(loaded),
                                std::make_shared<const cdi::LoadedSpec>(turned)}};
  CHECK(files_of(registry.errors()) == Names{"1", "2"});
  const auto bad = reason(registry, "v/c=b");
  CHECK(bad.reason == cdi::Reason::quarantined);
  CHECK(bad.why.code == cdi::Errc::schema);
  CHECK(files_of(bad.causes) == Names{"1"});
  CHECK(reason(registry, "v/c=x").reason == cdi::Reason::unknown_device);
  CHECK(reason(registry, "w/c=b").reason == cdi::Reason::rejected);
  CHECK(files_of(reason(registry, "w/c=b").causes) == Names{"2"});
  CHECK(registry.find("w/c=a").device != nullptr);
}

TEST_CASE("Causes without end are all there, but few are in the message") {
  const auto bad = rejected(error_in("x", cdi::Errc::syntax), "v/c");
  const cdi::Registry registry{{}, std::vector<std::shared_ptr<const cdi::RejectedFile>>(50, bad)};
  const auto one = reason(registry, "v/c=d");
  CHECK(one.causes.size() == 50);
  CHECK(one.why.message.ends_with("; x:3:5: the fault; x:3:5: the fault; and more"));
  CHECK(one.why.message.size() < 200);
}

TEST_CASE("Messages stay on one line of UTF-8, whatever names and paths hold") {
  const std::string odd = "a\n\"\xff\x1b";
  cdi::LoadedSpec loaded = *spec_at(odd, 0, "v/c", {"d", "e"});
  loaded.quarantined = {{"q", error_in(odd, cdi::Errc::schema)}};
  const auto first = std::make_shared<const cdi::LoadedSpec>(loaded);
  const cdi::Registry registry{{first, spec_at(odd + "2", 0, "v/c", {"d"})},
                               {rejected(error_in(odd, cdi::Errc::syntax), "w/c")},
                               {{.path = odd, .state = cdi::SpecDir::State::read}}};
  const std::string names[] = {odd,
                               "v/c=d",
                               "v/c=x",
                               "v/c=q",
                               "w/c=x",
                               "y/z=x",
                               "v/c=" + odd,
                               odd + "/c=d",
                               "v/c=d\n"
                               "",
                               std::string(100'000, '\n'),
                               {"v/c=d\0", 6}};
  for (const auto& name : names) {
    CAPTURE(name.substr(0, 20));
    const auto one = reason(registry, name);
    Names texts{one.why.message, to_string(one.why), registry.resolve(name).error().message};
    for (const auto& cause : one.causes) texts.push_back(to_string(cause));
    for (const auto& text : texts) {
      CAPTURE(text);
      CHECK(text.find_first_of("\n\x1b") == std::string::npos);
      CHECK(cdi::detail::is_utf8(text));
      CHECK(text.size() < 1000);
    }
  }
}

TEST_CASE("A reason among a hundred thousand devices is found in one pass") {
  Names devices;
  for (int i = 0; i < 100'000; ++i) devices.push_back("d" + std::to_string(i));
  const cdi::Registry registry{{spec_at("1", 0, "v/c", devices), spec_at("2", 0, "v/c", devices)},
                               {rejected(error_in("x", cdi::Errc::syntax), "w/c", devices)}};
  CHECK(registry.errors().size() == 3);  // one conflict, told from both sides
  CHECK(reason(registry, "v/c=d99999").reason == cdi::Reason::conflict);
  CHECK(reason(registry, "v/c=d100000").nearest.size() == 5);
  CHECK(reason(registry, "w/c=d99999").reason == cdi::Reason::rejected);
  CHECK(registry.devices().empty());
}

TEST_CASE("Near names are looked for only for the first few of many names") {
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"d"})}};
  const Names names(20, "v/c=e");
  const auto missing = registry.unresolved(names);
  REQUIRE(missing.size() == 20);
  CHECK(missing[7].nearest == Names{"v/c=d"});
  CHECK(missing[8].nearest.empty());
  CHECK(missing[8].reason == cdi::Reason::unknown_device);
  CHECK(missing[8].why.message.ends_with("kind \"v/c\" has no device \"e\""));
}

TEST_CASE("The same spec given twice is no conflict with itself") {
  const auto spec = spec_at("1", 0, "v/c", {"d"});
  const cdi::Registry registry{{spec, spec}};
  CHECK(origin(registry, "v/c=d") == "1");
  CHECK(registry.errors().empty());
}

TEST_CASE("A name of two letters is near no long name that happens to hold them") {
  const cdi::Registry registry{{spec_at("1", 0, "v/c", {"0", "GPU-5209d77e"})}};
  CHECK(registry.unresolved({"v/c=09"}).at(0).nearest == Names{"v/c=0"});
  CHECK(registry.unresolved({"v/c=52"}).at(0).nearest.empty());
  CHECK(registry.unresolved({"v/c=5209"}).at(0).nearest == Names{"v/c=GPU-5209d77e"});
}
