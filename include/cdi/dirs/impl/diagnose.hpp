// The bodies of <cdi/dirs/diagnose.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_IMPL_DIAGNOSE_HPP
#define CDI_DIRS_IMPL_DIAGNOSE_HPP

#include <cstdlib>
#include <sys/stat.h>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/dirs/diagnose.hpp>
#include <cdi/dirs/scan.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/registry/registry.hpp>

namespace cdi {
inline namespace CDI_ABI {

CDI_INLINE std::vector<std::string> usual_spec_dirs() {
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

CDI_INLINE std::vector<std::string> not_searched(const std::vector<SpecDir>& searched,
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

/// Changes the reason of a name that is found in a directory that is not searched.
inline void found_elsewhere(Unresolved& one, Error cause) {
  one.reason = Reason::not_searched;
  one.why.message.append("; it is in ").append(cdi::quoted(cause.position.file));
  one.why.message.append(", whose directory is not searched");
  one.causes.clear();  // unreadable files are not the cause
  one.causes.push_back(std::move(cause));
}

CDI_INLINE std::vector<Unresolved> diagnose_any(const Registry& registry, AnyNames names,
                                                const std::vector<std::string>& other_dirs,
                                                const ReadOptions& options) {
  auto missing = registry.unresolved(names);
  bool unknown = false;
  for (const auto& one : missing) unknown = unknown || may_be_elsewhere(one);
  if (!unknown) return missing;
  const auto elsewhere = scan_spec_dirs(not_searched(registry.dirs(), other_dirs), options);
  for (auto& one : missing) {
    if (!may_be_elsewhere(one)) continue;
    const auto found = elsewhere->find(one.name);
    if (found.device != nullptr) {
      found_elsewhere(one, {.code = Errc::not_found,
                            .message = "the device is here, in a directory that is not searched",
                            .position = {found.spec->path, found.line(), 1}});
      continue;
    }
    const auto there = elsewhere->unresolved({one.name}).front();
    if (may_be_elsewhere(there) || there.causes.empty()) continue;
    auto cause = there.causes.front();
    cause.message.append("; and the directory is not searched");
    found_elsewhere(one, std::move(cause));
  }
  return missing;
}

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_DIRS_IMPL_DIAGNOSE_HPP
