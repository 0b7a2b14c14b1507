// Checks values of common options: owners, names of spec files, engines, CDI versions.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <utility>
#include <vector>

#include <cdi/minimum_version.hpp>
#include <cdi/publish.hpp>
#include <cdi/result.hpp>
#include <cdi/version.hpp>

#include "../../kit/engines/engine_of_host.hpp"
#include "../../kit/engines/installed_versions.hpp"
#include "../../kit/host/host_tree.hpp"
#include "output.hpp"

/// Why the name of an owner is not valid; empty if it is valid.
inline std::string owner_error(const std::string& owner) {
  const auto good = cdi::check_owner(owner);
  return good ? std::string{} : to_string(good.error());
}

/// Why the name of a spec file is not valid; empty if it is valid.
inline std::string file_name_error(const std::string& name) {
  const auto good = cdi::check_spec_file_name(name);
  return good ? std::string{} : to_string(good.error());
}

/// Adds the version on this host to the engine of `--for`, if it has none, and says so.
inline cdi::Result<void> complete_engine(std::string& engine, const Output& output) {
  if (!tools::can_be_asked(engine)) return {};
  const auto tree = tools::HostTree::open("/");
  if (!tree) return tree.error();
  auto found = tools::with_version_of_host(*tree, tools::VersionsFrom::programs, engine);
  if (!found) return std::move(found).error();
  engine = *std::move(found);
  output.note({.message = tools::version_of_host_note(engine)});
  return {};
}

/// All CDI versions, as text.
inline std::vector<std::string> known_version_names() {
  std::vector<std::string> names;
  for (const auto version : cdi::spec_versions) names.push_back(to_string(version));
  return names;
}
