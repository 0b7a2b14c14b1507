// Specs and rejected files made by hand, for the tests of registries.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/registry/registry.hpp>

using Names = std::vector<std::string>;
using Specs = std::vector<std::shared_ptr<const cdi::LoadedSpec>>;

/// A spec at a path whose devices set `FROM_<name>=<path>`, and which itself sets `SPEC=<path>`.
inline std::shared_ptr<const cdi::LoadedSpec> spec_at(std::string path, int priority,
                                                      std::string kind, const Names& devices) {
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
inline std::string origin(const cdi::Registry& registry, std::string_view name) {
  const auto found = registry.find(name);
  CHECK((found.spec == nullptr) == (found.device == nullptr));
  return found.spec == nullptr ? "" : found.spec->path;
}

/// The error of a name that does not resolve.
inline cdi::Error why(const cdi::Registry& registry, std::string_view name) {
  const auto resolved = registry.resolve(name);
  REQUIRE_FALSE(resolved);
  return resolved.error();
}
