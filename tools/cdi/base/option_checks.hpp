// What the options of several commands accept: owners, names of spec files, engines, CDI versions.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_BASE_OPTION_CHECKS_HPP
#define CDI_TOOLS_CDI_BASE_OPTION_CHECKS_HPP

#include <string>
#include <vector>

#include <cdi/publish.hpp>

#include "../../kit/versions/engine_versions.hpp"

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

/// Why an engine is not valid; empty if it is valid.
inline std::string engine_error(const std::string& engine) {
  const auto version = tools::written_spec_version_for(engine);
  return version ? std::string{} : to_string(version.error());
}

/// All CDI versions, as text.
inline std::vector<std::string> known_version_names() {
  std::vector<std::string> names;
  for (const auto version : cdi::spec_versions) names.push_back(to_string(version));
  return names;
}

#endif  // CDI_TOOLS_CDI_BASE_OPTION_CHECKS_HPP
