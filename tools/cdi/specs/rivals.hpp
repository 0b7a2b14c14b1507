// Compares a new spec with other specs, and with the file that it replaces.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/base/shell_word.hpp>
#include <cdi/name.hpp>
#include <cdi/registry.hpp>

#include "../base/spec_dirs.hpp"

/// Specs that define some of the devices that a new file defines.
struct Rivals {
  std::vector<cdi::Error> conflicts{};  // in the directory of the new file
  std::vector<cdi::Error> notes{};      // in directories of another priority
};

/// A spec to write, its path, and the priority of its directory.
struct SpecToWrite {
  const cdi::Spec& spec;
  const std::string& path;
  std::set<std::string_view> devices{};
  int priority = 0;
};

namespace detail {

/// Adds the devices that another spec and a new spec both define.
inline void add_rival(Rivals& rivals, const SpecToWrite& ours, const cdi::LoadedSpec& other) {
  if (other.spec.kind != ours.spec.kind || other.path == ours.path) return;
  for (const auto& device : other.spec.devices) {
    if (!ours.devices.contains(device.name)) continue;
    const auto name = cdi::quoted(cdi::qualified_name(other.spec.kind, device.name));
    cdi::Error why{.code = cdi::Errc::conflict,
                   .position = cdi::ResolvedDevice{&other, &device}.position()};
    if (other.priority == ours.priority) {
      why.message = fmt::format("also defines {}, which no engine would then resolve", name);
      const auto file = other.path.substr(other.path.rfind('/') + 1);
      why.advice =
          fmt::format("remove that file, or replace it with --name {}", cdi::shell_word(file));
      rivals.conflicts.push_back(std::move(why));
      continue;
    }
    why.message = name + (other.priority < ours.priority ? " is replaced by the one of "
                                                         : " has priority over the one of ");
    why.message.append(cdi::escaped(ours.path, std::string::npos));
    rivals.notes.push_back(std::move(why));
  }
}

}  // namespace detail

/// Compares a new spec with a registry's specs, except for the file that it replaces.
inline Rivals find_rivals(const cdi::Registry& registry, const cdi::Spec& spec,
                          const std::string& path) {
  SpecToWrite ours{.spec = spec, .path = path};
  for (const auto& device : spec.devices) ours.devices.insert(device.name);
  ours.priority = priority_of(path, registry).value_or(0);
  Rivals rivals;
  for (const auto& other : registry.specs()) detail::add_rival(rivals, ours, *other);
  return rivals;
}

/// The devices that the registry's file at `path` defines and a new spec lacks.
inline std::vector<std::string> dropped_devices(const cdi::Registry& registry,
                                                const cdi::Spec& spec, const std::string& path) {
  std::set<std::string> kept;
  for (const auto& device : spec.devices) {
    kept.insert(cdi::qualified_name(spec.kind, device.name));
  }
  std::vector<std::string> dropped;
  for (const auto& old : registry.specs()) {
    if (old->path != path) continue;
    for (const auto& device : old->spec.devices) {
      auto name = cdi::qualified_name(old->spec.kind, device.name);
      if (!kept.contains(name)) dropped.push_back(std::move(name));
    }
  }
  return dropped;
}
