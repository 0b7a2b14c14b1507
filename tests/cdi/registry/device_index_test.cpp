// Tests for include/cdi/registry/device_index.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/registry/device_index.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/rules/name.hpp>

#include "../../support/random_numbers.hpp"
#include "specs.hpp"

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

namespace {

/// As `spec_at`, but what a file held before it turned bad.
std::shared_ptr<const cdi::LoadedSpec> kept_at(std::string path, int priority,
                                               const Names& devices) {
  cdi::LoadedSpec kept = *spec_at(std::move(path), priority, "v/c", devices);
  kept.last_error = std::make_shared<const cdi::Error>(
      cdi::Error{.code = cdi::Errc::syntax, .position = {.file = kept.path}});
  return std::make_shared<const cdi::LoadedSpec>(std::move(kept));
}

}  // namespace

TEST_CASE("The last valid content of a bad file yields to a valid file of its priority") {
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

TEST_CASE("A conflict affects only the device, and is reported for each pair of its files") {
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

TEST_CASE("The same spec given twice is not in conflict with itself") {
  const auto spec = spec_at("1", 0, "v/c", {"d"});
  const cdi::Registry registry{{spec, spec}};
  CHECK(origin(registry, "v/c=d") == "1");
  CHECK(registry.errors().empty());
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

TEST_CASE("A lookup does not allocate, whether it finds the device or not") {
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

namespace {

/// Specs of few kinds, names and priorities, so that they often provide the same devices.
Specs make_specs(RandomNumbers& random) {
  Specs specs;
  const auto count = random.below(8);
  for (std::uint32_t i = 0; i < count; ++i) {
    Names devices;
    for (std::uint32_t device = 0; device < 12; ++device) {
      // Of 1 to 13 bytes: a place of the index has 12.
      if (random.below(3) == 0)
        devices.push_back(std::string(device, '0') + std::to_string(device));
    }
    const int priority = static_cast<int>(random.below(3));
    const std::string kind = random.below(2) == 0 ? "v/c" : "v/d";
    cdi::LoadedSpec spec = *spec_at(std::to_string(i), priority, kind, devices);
    if (random.below(4) == 0) spec.last_error = std::make_shared<const cdi::Error>();
    specs.push_back(std::make_shared<const cdi::LoadedSpec>(std::move(spec)));
  }
  return specs;
}

/// The specs of the highest rank that provide a device, by qualified name: a naive index.
std::map<std::string, Specs> providers_of(const Specs& specs) {
  std::map<std::string, Specs> out;
  const auto rank = [](const cdi::LoadedSpec& spec) {
    return std::pair{spec.priority, spec.last_error == nullptr};
  };
  for (const auto& spec : specs) {
    for (const auto& device : spec->spec.devices) {
      auto& best = out[spec->spec.kind + "=" + device.name];
      if (!best.empty() && rank(*best.front()) < rank(*spec)) best.clear();
      if (best.empty() || rank(*best.front()) == rank(*spec)) best.push_back(spec);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("The index finds what a naive search finds, for random specs") {
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    RandomNumbers random{seed};
    const auto specs = make_specs(random);
    const cdi::detail::DeviceIndex index{specs};
    const auto providers = providers_of(specs);
    std::size_t filled = 0;
    for (const auto& slot : index.slots()) filled += slot.device != nullptr;
    CHECK(filled == providers.size());
    for (const auto& row : providers) {
      const auto& name = row.first;
      const auto& best = row.second;
      CAPTURE(name);
      const auto* slot = index.find(name);
      REQUIRE(slot != nullptr);
      CHECK((slot->contested != 0) == (best.size() > 1));
      const auto found = index.device_of(*slot);
      CHECK(found.device->name == name.substr(name.find('=') + 1));
      if (best.size() == 1) CHECK(found.spec == best.front().get());
    }
    CHECK(index.find("v/c=12") == nullptr);
    CHECK(index.find("v/e=0") == nullptr);
  }
}

namespace {

/// Replaces up to two neighbours among specs by up to two others, which rarely define the same
/// devices as other specs.
Specs with_changes(Specs specs, RandomNumbers& random) {
  const auto size = static_cast<std::uint32_t>(specs.size());
  const auto at = random.below(size + 1);
  const auto removed = std::min(random.below(3), size - at);
  specs.erase(specs.begin() + at, specs.begin() + at + removed);
  for (auto added = random.below(3); added > 0; --added) {
    Names devices;
    for (auto count = random.below(4); count > 0; --count) {
      devices.push_back(std::string(random.below(13), 'd') + std::to_string(random.below(20)));
    }
    const int priority = static_cast<int>(random.below(2));
    const std::string kind = random.below(2) == 0 ? "v/c" : "v/d";
    specs.insert(specs.begin() + at, spec_at("", priority, kind, devices));
  }
  return specs;
}

void check_conflict(const cdi::detail::DeviceIndex::Conflict& a,
                    const cdi::detail::DeviceIndex::Conflict& b) {
  CHECK(a.one.device == b.one.device);
  CHECK(a.other.device == b.other.device);
  CHECK(a.devices == b.devices);
}

/// Checks that an index finds the same as another one, and has the same conflicts.
void check_same(const cdi::detail::DeviceIndex& index, const cdi::detail::DeviceIndex& expected) {
  std::size_t filled = 0;
  for (const auto& slot : index.slots()) filled += slot.device != nullptr;
  for (const auto& slot : expected.slots()) {
    if (slot.device == nullptr) continue;
    --filled;
    const auto device = expected.device_of(slot);
    const auto* found = index.find(cdi::qualified_name(device.spec->spec.kind, slot.device->name));
    REQUIRE(found != nullptr);
    CHECK(found->device == slot.device);
    CHECK(index.device_of(*found).spec == device.spec);
    CHECK(found->contested == slot.contested);
    const auto rivals = index.rivals_of(*slot.device);
    const auto others = expected.rivals_of(*slot.device);
    REQUIRE(rivals.last - rivals.first == others.last - others.first);
    for (auto i = rivals.first; i < rivals.last; ++i) {
      CHECK(index.rival(i).device == expected.rival(i - rivals.first + others.first).device);
    }
  }
  CHECK(filled == 0);
  REQUIRE(index.conflicts().size() == expected.conflicts().size());
  for (std::size_t i = 0; i < index.conflicts().size(); ++i) {
    check_conflict(index.conflicts()[i], expected.conflicts()[i]);
  }
}

}  // namespace

TEST_CASE("An index made from an earlier one finds what a new one finds, for random changes") {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    RandomNumbers random{seed};
    Specs specs;
    cdi::detail::DeviceIndex index;
    for (int i = 0; i < 100; ++i) {
      CAPTURE(i);
      specs = with_changes(specs, random);
      index = cdi::detail::DeviceIndex::updated(index, specs);
      check_same(index, cdi::detail::DeviceIndex{specs});
    }
  }
}

TEST_CASE("A lookup of a short name reads nothing of a spec, which would be far away in memory") {
  const auto spec = std::make_shared<cdi::LoadedSpec>();
  spec->spec.kind = "vendor.com/a-long-class";
  spec->spec.devices = {{.name = "d"}};
  const cdi::detail::DeviceIndex first{{spec}};
  const auto other = spec_at("", 0, "v/c", {"0", "1", "2", "3", "4", "5", "6"});
  const auto index =
      cdi::detail::DeviceIndex::updated(cdi::detail::DeviceIndex{{other}}, {other, spec});
  spec->spec.kind = "another.com/long-class";
  spec->spec.devices[0].name = "e";
  CHECK(first.find("vendor.com/a-long-class=d") != nullptr);
  CHECK(index.find("vendor.com/a-long-class=d") != nullptr);
}

TEST_CASE("Only the devices of new specs are hashed") {
  Specs specs;
  for (int i = 0; i < 20; ++i) {
    specs.push_back(spec_at("", 0, "v/c" + std::to_string(i), {"a", "b", "c"}));
  }
  const cdi::detail::DeviceIndex before{specs};
  specs[7] = spec_at("", 0, "v/c7", {"a", "b", "d"});
  specs.erase(specs.begin() + 8);
  const auto index = cdi::detail::DeviceIndex::updated(before, specs);
  // A new index has other hashes, because it has another seed.
  CHECK(index.find("v/c0=a")->hash == before.find("v/c0=a")->hash);
  CHECK(cdi::detail::DeviceIndex{specs}.find("v/c0=a")->hash != before.find("v/c0=a")->hash);
  CHECK(index.find("v/c7=a")->device == specs[7]->spec.devices.data());
  CHECK(index.find("v/c7=c") == nullptr);
  CHECK(index.find("v/c8=a") == nullptr);
  CHECK(index.find("v/c7=d") != nullptr);
  CHECK(index.device_of(*index.find("v/c19=a")).spec == specs.back().get());
}

TEST_CASE("A device whose name is empty, which no valid spec has, hides no other") {
  const cdi::Registry registry{{spec_at("p", 0, "v/c", {"", "d"})}};
  CHECK(origin(registry, "v/c=d") == "p");
  CHECK(registry.devices() == Names{"v/c=", "v/c=d"});
}
