// Paths without `.` and `..`, and the format that the name of a spec file says.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_BASE_PATH_HPP
#define CDI_BASE_PATH_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// The shortest form of a path, by its text alone: links are not followed. It has no repeated or
/// trailing slash, no `.`, and `..` only at the front; the empty path becomes `.`.
std::string clean_path(std::string_view path);

namespace detail {

/// The number of slashes of the cleaned path. Mounts are sorted by it, so that parents come first.
/// `/` and `/proc` both have one, `rel` has none.
std::size_t path_depth(std::string_view path);

/// Whether a part of an absolute path is `..`.
constexpr bool has_parent_part(std::string_view path) noexcept {
  return path.ends_with("/..") || path.find("/../") != std::string_view::npos;
}

/// Whether a part of a path is longer than Linux allows for a name: 255 bytes.
bool has_long_name(std::string_view path);

}  // namespace detail

/// The text formats of spec files, by the end of the name.
enum class Format : std::uint8_t {
  json,  ///< `.json`
  yaml   ///< `.yaml`, but not `.yml`
};

/// The format of a path or file name that ends in `.json` or `.yaml`, in lower case, as in the CDI
/// document; nothing for all others. The file is not read.
std::optional<Format> format_of(std::string_view path);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/base/path.inl>
#endif

#endif  // CDI_BASE_PATH_HPP
