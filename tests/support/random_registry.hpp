// Random specs with few keys and values, and OCI specs that may have the same, for property tests.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cdi/oci/spec.hpp>
#include <cdi/registry.hpp>
#include <cdi/spec.hpp>

#include "random_numbers.hpp"

namespace random_registry {

/// Makes a registry, names to inject, and an OCI spec from a seed.
class RandomRegistry {
 public:
  explicit RandomRegistry(std::uint32_t seed) : random_{seed} {}

  cdi::Registry registry() {
    std::vector<std::shared_ptr<const cdi::LoadedSpec>> specs;
    for (const auto* kind : {"a.com/x", "b.com/y"}) {
      auto spec = std::make_shared<cdi::LoadedSpec>();
      spec->spec.kind = kind;
      spec->spec.container_edits = edits();
      for (const auto* name : {"0", "1", "2"}) {
        spec->spec.devices.push_back({.name = name, .container_edits = edits()});
      }
      specs.push_back(std::move(spec));
    }
    return cdi::Registry{std::move(specs)};
  }

  /// Some may be there twice.
  std::vector<std::string> names() {
    std::vector<std::string> out;
    for (auto i = 1 + random_.below(4); i > 0; --i) {
      out.push_back(std::string{random_.below(2) == 0 ? "a.com/x=" : "b.com/y="} +
                    std::to_string(random_.below(3)));
    }
    return out;
  }

  cdi::oci::Spec oci_spec() {
    cdi::oci::Spec out;
    auto& process = out.process.emplace();
    process.user.uid = random_.below(2);
    process.env = some([&] { return variable(); });
    process.user.additional_gids = some([&] { return 1 + random_.below(4); });
    auto& part = out.linux_.emplace();
    if (random_.below(2) == 0) part.namespaces.push_back({.type = "user"});
    if (random_.below(2) == 0) part.uid_mappings.push_back({.host_id = 1000, .size = 9});
    if (random_.below(2) == 0) part.gid_mappings.push_back({.host_id = 2000, .size = 9});
    part.devices = some([&] {
      const auto from = node();
      return cdi::oci::LinuxDevice{.path = from.path,
                                   .type = from.type,
                                   .major = from.major,
                                   .minor = from.minor,
                                   .file_mode = from.file_mode};
    });
    part.resources.emplace().devices = some([&] {
      return cdi::oci::LinuxDeviceCgroup{
          .allow = true, .type = "c", .major = number(), .minor = 0, .access = "rwm"};
    });
    out.mounts = some([&] {
      const auto from = mount();
      return cdi::oci::Mount{
          .destination = from.container_path, .source = from.host_path, .options = from.options};
    });
    out.hooks.emplace().prestart = some([&] {
      const auto from = hook();
      return cdi::oci::Hook{.path = from.path, .args = from.args, .timeout = from.timeout};
    });
    return out;
  }

 private:
  template <class Make>
  auto some(const Make& make) -> std::vector<decltype(make())> {
    std::vector<decltype(make())> out;
    for (auto i = random_.below(4); i > 0; --i) out.push_back(make());
    return out;
  }

  std::int64_t number() { return 1 + random_.below(2); }
  std::string path() {
    static constexpr const char* paths[] = {"/", "/a", "/b", "/a/b", "/a/c/"};
    return paths[random_.below(5)];
  }
  std::string variable() {
    static constexpr const char* names[] = {"A", "B", "C"};
    return std::string{names[random_.below(3)]} + "=" + std::to_string(number());
  }
  cdi::DeviceNode node() {
    return {.path = path(), .type = "c", .major = number(), .file_mode = 0600};
  }
  cdi::Mount mount() {
    return {.host_path = path(), .container_path = path(), .options = {"bind"}};
  }
  cdi::Hook hook() {
    static constexpr const char* points[] = {"prestart", "poststop"};
    cdi::Hook out{.hook_name = points[random_.below(2)], .path = "/h", .args = {"h"}};
    if (random_.below(2) == 0) out.args.push_back(path());
    if (random_.below(2) == 0) out.timeout = number();
    return out;
  }
  cdi::ContainerEdits edits() {
    return {.env = some([&] { return variable(); }),
            .device_nodes = some([&] { return node(); }),
            .hooks = some([&] { return hook(); }),
            .mounts = some([&] { return mount(); }),
            .additional_gids = some([&] { return random_.below(4); })};
  }

  RandomNumbers random_;
};

/// Injects devices once and twice, in random cases, and calls `check(seed, injected, once, twice)`.
/// `target_of` makes an owner of a target from an OCI spec; `*owner` is the target.
template <class TargetOf, class Check>
void inject_twice(const TargetOf& target_of, const Check& check) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    RandomRegistry random{seed};
    const auto registry = random.registry();
    const auto names = random.names();
    const auto before = random.oci_spec();
    auto once = target_of(before);
    auto twice = target_of(before);
    const bool injected = registry.inject(*once, names) && registry.inject(*twice, names) &&
                          registry.inject(*twice, names);
    check(seed, injected, *once, *twice);
  }
}

}  // namespace random_registry
