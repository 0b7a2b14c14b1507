// Paths without `.` and `..`, and the format of a spec file by its name.
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

/// A path in its shortest form, as far as the text alone tells: links are not looked at. It has no
/// repeated or trailing slash, no `.`, and `..` only in front; the empty path becomes `.`.
std::string clean_path(std::string_view path);

namespace detail {

/// The number of slashes of the cleaned path, by which mounts are ordered so that parents come
/// first. `/` and `/proc` both have one, `rel` has none.
std::size_t path_depth(std::string_view path);

}  // namespace detail

/// The text formats of a spec file, told by the end of its name.
enum class Format : std::uint8_t {
  json,  ///< `.json`
  yaml   ///< `.yaml`; `.yml` is none
};

/// The format of a path or file name: `.json` or `.yaml`, in this case only, as in the CDI
/// document; nothing for all others. The file is not looked at.
std::optional<Format> format_of(std::string_view path);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/base/impl/path.hpp>
#endif

#endif  // CDI_BASE_PATH_HPP
