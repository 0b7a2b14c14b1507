// The release of the tools.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include <fmt/format.h>

#include <cdi/version.hpp>

namespace tools {

/// The version of all tools, as text: the library's.
inline std::string release_version() {
  return fmt::format("{}.{}.{}", CDI_VERSION_MAJOR, CDI_VERSION_MINOR, CDI_VERSION_PATCH);
}

}  // namespace tools
