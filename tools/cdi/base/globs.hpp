// Expands patterns in device names: `vendor.com/gpu=*` means all devices of the kind.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../kit/base/glob.hpp"
#include "output.hpp"
#include "reports.hpp"

/// Whether a name is a pattern. No qualified name contains any of these characters.
bool is_glob(std::string_view name);

/// The names that patterns may match.
struct GlobSearch {
  /// Names in byte order. A pattern expands to names of the first list in which it matches any.
  std::vector<std::vector<std::string>> lists{};
  /// Explains a name that does not resolve.
  std::function<cdi::Unresolved(const std::string&)> explain{};
};

/// Names with expanded patterns. A pattern without a match stays in its place.
struct ExpandedNames {
  std::vector<std::string> names{};
  std::vector<cdi::Unresolved> failed{};  // the patterns without a match
};

namespace detail {

/// The names of all devices that files define, in byte order, whether they resolve or not.
std::vector<std::string> defined_names(const cdi::Registry& registry);

cdi::Unresolved invalid_glob(const std::string& pattern, const cdi::Error& fault);

/// The names that a pattern expands to.
std::vector<std::string> matching_names(const tools::Glob& glob, const GlobSearch& search);

}  // namespace detail

/// Replaces each pattern by the names of the devices that it matches, in byte order. With a
/// pattern, each name comes once. Without patterns, the names stay as they are.
ExpandedNames expand_names(const std::vector<std::string>& names, const cdi::Registry& registry,
                           const GlobSearch& search);

/// Replaces each pattern by the names of the devices that it matches and that resolve.
ExpandedNames expand_names(const std::vector<std::string>& names, const cdi::Registry& registry);

/// Improves the errors about names that do not resolve: explains patterns, and gives advice on
/// several devices.
void explain_patterns(std::vector<cdi::Unresolved>& missing, const ExpandedNames& names);

/// Why names and patterns do not resolve, in their order.
std::vector<cdi::Unresolved> unresolved_names(const ExpandedNames& names,
                                              const cdi::Registry& registry);

/// The devices of names or patterns. Prints an error for each that does not resolve, and then
/// returns nothing.
std::optional<std::vector<cdi::ResolvedDevice>> resolve_or_report(
    const std::vector<std::string>& names, const cdi::Registry& registry, const Output& output);
