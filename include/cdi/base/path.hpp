// Path cleaning, the format of a spec file by its name, and file modes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_BASE_PATH_HPP
#define CDI_BASE_PATH_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// The shortest form of a path, from its text alone: links are not followed. The result contains no
/// repeated or trailing slash, no `.`, and `..` only at the front; an empty path becomes `.`.
std::string clean_path(std::string_view path);

namespace detail {

/// The number of slashes in the cleaned path: one for both `/` and `/proc`, none for `rel`. Mounts
/// are sorted by this depth, so that parents come first.
std::size_t path_depth(std::string_view path);

/// Whether any part of an absolute path is `..`.
constexpr bool has_parent_part(std::string_view path) noexcept {
  return path.ends_with("/..") || path.find("/../") != std::string_view::npos;
}

/// Whether any part of a path exceeds Linux's limit for a file name: 255 bytes.
bool has_long_name(std::string_view path);

/// Parses permission bits, up to 07777, from an octal text of at most five digits; returns
/// `nullopt` for any other text.
inline std::optional<std::uint32_t> parse_mode(std::string_view text) {
  if (text.empty() || text.size() > 5) return std::nullopt;
  std::uint32_t mode = 0;
  for (const char c : text) {
    if (c < '0' || c > '7') return std::nullopt;
    mode = mode * 8 + static_cast<std::uint32_t>(c - '0');
  }
  return mode <= 07777 ? std::optional{mode} : std::nullopt;
}

}  // namespace detail

/// The text formats of spec files, by file name extension.
enum class Format : std::uint8_t {
  json,  ///< `.json`
  yaml   ///< `.yaml`, but not `.yml`
};

/// The format of a path or file name that ends in `.json` or `.yaml`, in lower case, as the CDI
/// document requires; `nullopt` for all other names. The file is not read.
std::optional<Format> format_of(std::string_view path);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/base/path.inl>
#endif

#endif  // CDI_BASE_PATH_HPP
