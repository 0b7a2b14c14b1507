// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIAGNOSE_HPP
#define CDI_DIAGNOSE_HPP

#include <cstdlib>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <cdi/file.hpp>
#include <cdi/registry.hpp>
#include <cdi/result.hpp>
#include <cdi/scan.hpp>
#include <cdi/signature.hpp>
#include <cdi/unresolved.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Directories where specs are put that a runtime may not search: those of the system, of the
/// user's configuration and of the user's session, from `HOME`, `XDG_CONFIG_HOME` and
/// `XDG_RUNTIME_DIR`. Whether they are there is not looked at.
inline std::vector<std::string> usual_spec_dirs() {
  std::vector<std::string> dirs{"/etc/cdi", "/var/run/cdi", "/run/cdi", "/usr/share/cdi",
                                "/usr/local/etc/cdi"};
  const auto add = [&](const char* variable, std::string_view inner) {
    const char* const value = std::getenv(variable);
    if (value != nullptr && *value == '/') dirs.push_back(std::string{value}.append(inner));
  };
  add("HOME", "/.config/cdi");
  add("XDG_CONFIG_HOME", "/cdi");
  add("XDG_RUNTIME_DIR", "/cdi");
  return dirs;
}

namespace detail {

/// The directories of `dirs` that are there, and not among those searched, whatever their paths.
inline std::vector<std::string> not_searched(const std::vector<SpecDir>& searched,
                                             const std::vector<std::string>& dirs) {
  std::vector<Signature> known;  // device and inode only
  struct stat info = {};
  const auto is_new = [&](const std::string& path) {
    if (::stat(path.c_str(), &info) != 0) return false;
    const Signature place{.device = info.st_dev, .inode = info.st_ino};
    for (const auto& other : known) {
      if (other == place) return false;
    }
    known.push_back(place);
    return true;
  };
  for (const auto& dir : searched) is_new(dir.path);
  std::vector<std::string> out;
  for (const auto& dir : dirs) {
    if (is_new(dir)) out.push_back(dir);
  }
  return out;
}

inline bool may_be_elsewhere(const Unresolved& one) {
  return is_unknown(one.reason) || one.reason == Reason::no_directory;
}

/// Blames a file in a directory that is not searched.
inline void found_elsewhere(Unresolved& one, Error cause) {
  one.reason = Reason::not_searched;
  one.why.message.append("; it is in ").append(detail::quoted(cause.position.file));
  one.why.message.append(", whose directory is not searched");
  one.causes.clear();  // those that nobody could look into are not to blame
  one.causes.push_back(std::move(cause));
}

}  // namespace detail

/// Why names are not resolved: those of `Registry::unresolved`, and for what no spec is known of, a
/// look into those of `other_dirs` that the registry did not search: what is found there has
/// `Reason::not_searched`. In the order given; empty when all names are resolved. Costs a read of
/// all files there, when there is such a name.
template <class Names>
std::vector<Unresolved> diagnose(const Registry& registry, const Names& names,
                                 const std::vector<std::string>& other_dirs = usual_spec_dirs(),
                                 const ReadOptions& options = {}) {
  auto missing = registry.unresolved(names);
  bool unknown = false;
  for (const auto& one : missing) unknown = unknown || detail::may_be_elsewhere(one);
  if (!unknown) return missing;
  const auto elsewhere = scan_spec_dirs(detail::not_searched(registry.dirs(), other_dirs), options);
  for (auto& one : missing) {
    if (!detail::may_be_elsewhere(one)) continue;
    const auto found = elsewhere->find(one.name);
    if (found.device != nullptr) {
      detail::found_elsewhere(one, {.code = Errc::not_found,
                                    .message = "the device is here, in a directory that is not "
                                               "searched",
                                    .position = {found.spec->path, found.line(), 1}});
      continue;
    }
    const auto there = elsewhere->unresolved({one.name}).front();
    if (detail::may_be_elsewhere(there) || there.causes.empty()) continue;
    auto cause = there.causes.front();
    cause.message.append("; and the directory is not searched");
    detail::found_elsewhere(one, std::move(cause));
  }
  return missing;
}
/// The same for names in braces.
inline std::vector<Unresolved> diagnose(
    const Registry& registry, std::initializer_list<std::string_view> names,
    const std::vector<std::string>& other_dirs = usual_spec_dirs(),
    const ReadOptions& options = {}) {
  return diagnose(registry, std::span<const std::string_view>{names.begin(), names.size()},
                  other_dirs, options);
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_DIAGNOSE_HPP
