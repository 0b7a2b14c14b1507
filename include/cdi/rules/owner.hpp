// The owner recorded in a spec file, as an annotation or as a comment on the first line.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_OWNER_HPP
#define CDI_RULES_OWNER_HPP

#include <cstddef>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/model/spec_version.hpp>
#include <cdi/rules/annotation_key.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// The annotation of a spec that records the publisher of its file.
inline constexpr std::string_view owner_annotation = "cdi-publisher/owner";

namespace detail {

static_assert(is_annotation_key(owner_annotation));

/// The first version in which specs can contain the annotation.
inline constexpr SpecVersion first_with_annotations{0, 6, 0};

/// The start of a YAML file's first line, for specs that cannot contain annotations.
inline constexpr std::string_view owner_comment = "# cdi-publisher/owner: ";
static_assert(owner_comment.substr(2, owner_annotation.size()) == owner_annotation);

/// The first line of files written by cdi-prepare before `owner_comment` existed. Such files still
/// belong to cdi-prepare, which can replace and remove them.
inline constexpr std::string_view former_comment =
    "# Written by cdi-prepare, which will replace or remove it.";
inline constexpr std::string_view former_owner = "cdi-prepare";

/// Returns the owner recorded on the first line of a text, or an empty text if there is none. A
/// carriage return at the end of the line is ignored.
inline std::string_view owner_in_comment(std::string_view text) {
  auto line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line == former_comment) return former_owner;
  if (!line.starts_with(owner_comment)) return {};
  return line.substr(owner_comment.size());
}

/// The maximum number of characters in an owner's name.
inline constexpr std::size_t longest_owner = 253;

}  // namespace detail

/// Checks an owner's name: 1 to 253 printable ASCII characters, without a space at either end. Any
/// other name is `Errc::invalid`.
Result<void> check_owner(std::string_view owner);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/owner.inl>
#endif

#endif  // CDI_RULES_OWNER_HPP
