// The bodies of <cdi/base/path.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_BASE_PATH_INL
#define CDI_BASE_PATH_INL

#include <cdi/base/path.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE std::string clean_path(std::string_view path) {
  const bool rooted = path.starts_with('/');
  std::string out;
  std::size_t fixed = 0;  // length of the prefix that `..` cannot remove
  while (!path.empty()) {
    const auto part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size() < path.size() ? part.size() + 1 : path.size());
    if (part.empty() || part == ".") continue;
    if (part == ".." && out.size() > fixed) {
      const auto slash = out.rfind('/');
      out.erase(slash == std::string::npos ? 0 : slash);
      continue;
    }
    if (part == ".." && rooted) continue;
    if (rooted || !out.empty()) out.append("/");
    out.append(part);
    if (part == "..") fixed = out.size();
  }
  if (out.empty()) out.append(1, rooted ? '/' : '.');
  return out;
}

namespace detail {

/// Whether `clean_path` may change the path at this slash, because it ends the path or precedes
/// another slash or a dot. True can be a false alarm, as for `/.hidden`.
inline bool may_change(std::string_view path, std::size_t slash) {
  return slash + 1 == path.size() || path[slash + 1] == '/' || path[slash + 1] == '.';
}

CDI_INLINE std::size_t path_depth(std::string_view path) {
  std::size_t slashes = 0;
  bool clean = path.starts_with('/');
  for (auto at = path.find('/'); clean && at != std::string_view::npos;
       at = path.find('/', at + 1)) {
    ++slashes;
    clean = !may_change(path, at);
  }
  if (clean) return slashes;
  slashes = 0;
  for (const char c : cdi::clean_path(path)) slashes += c == '/' ? 1 : 0;
  return slashes;
}

CDI_INLINE bool has_long_name(std::string_view path) {
  constexpr std::size_t max_bytes = 255;
  std::size_t begin = 0;  // start of the current part
  for (std::size_t i = 0; i <= path.size(); ++i) {
    if (i < path.size() && path[i] != '/') continue;
    if (i - begin > max_bytes) return true;
    begin = i + 1;
  }
  return false;
}

}  // namespace detail

CDI_INLINE std::optional<Format> format_of(std::string_view path) {
  if (path.ends_with(".json")) return Format::json;
  if (path.ends_with(".yaml")) return Format::yaml;
  return std::nullopt;
}

}  // namespace cdi

#endif  // CDI_BASE_PATH_INL
