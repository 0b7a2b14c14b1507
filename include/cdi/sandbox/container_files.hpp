// The files on the host that paths in a container lead to, by its mounts; and its libraries.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_CONTAINER_FILES_HPP
#define CDI_SANDBOX_CONTAINER_FILES_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/directory.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/rules/mount_options.hpp>
#include <cdi/sandbox/elf_library.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// The directory of a clean path; empty for a relative path of one name.
inline std::string_view parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

/// The mounts of a container, by their clean destinations. Each lookup costs a search for each
/// parent directory of the path.
class ContainerFiles {
 public:
  using Mounts = std::map<std::string, Mount, std::less<>>;

  /// A file that a path leads to.
  struct Found {
    std::string host{};            // the path on the host
    const Mount* mount = nullptr;  // the innermost mount over the path
    bool is_mount = false;         // whether the path itself is mounted, and no parent of it
  };

  explicit ContainerFiles(const Plan& plan) {
    for (const auto& [mount, origin, overridden] : plan.mounts) {
      if (!overridden) add(mount);
    }
  }

  void add(const Mount& mount) { mounts_[clean_path(mount.container_path)] = mount; }

  const Mounts& mounts() const { return mounts_; }

  /// Returns the file of a clean path; nullopt if no bind mount is over it.
  std::optional<Found> find(std::string_view path) const {
    for (auto at = path; !at.empty(); at = at == "/" ? std::string_view{} : parent_of(at)) {
      const auto mount = mounts_.find(at);
      if (mount == mounts_.end()) continue;
      if (!is_bind_mount(mount->second)) return std::nullopt;
      Found out{mount->second.host_path, &mount->second, at.size() == path.size()};
      if (!out.is_mount) out.host.append(path.substr(at == "/" ? 0 : at.size()));
      return out;
    }
    return std::nullopt;
  }

 private:
  Mounts mounts_{};
};

/// Returns the type and permissions of a file on the host, whose links are followed; 0 without one.
inline mode_t mode_of(const std::string& host) {
  struct stat info = {};
  return ::stat(host.c_str(), &info) == 0 ? info.st_mode : 0;
}

/// A library that the container's linker should find.
struct DriverLibrary {
  std::string path{};      // in the container
  std::string host{};      // on the host
  std::string link{};      // in the container: the path with the SONAME as its name
  std::uint32_t kind = 0;  // as in ld.so.cache
  const Mount* mount{};    // the mount with the library
  bool is_mount = false;   // whether the library itself is mounted, and no directory of it
};

/// Returns whether the linker's cache lists a file of this name.
inline bool is_library_name(std::string_view name) {
  return (name.starts_with("lib") || name.starts_with("ld-")) &&
         name.find(".so") != std::string_view::npos;
}

/// Finds libraries; of two with the same SONAME in a directory, the one of the newer version.
class DriverLibraries {
 public:
  explicit DriverLibraries(const ContainerFiles& files) : files_{files} {}

  /// Adds the libraries of a directory in the container.
  void add_folder(const std::string& folder) {
    const auto prefix = folder == "/" ? folder : folder + "/";
    const auto& mounts = files_.mounts();
    for (auto at = mounts.lower_bound(prefix); at != mounts.end(); ++at) {
      if (!at->first.starts_with(prefix)) break;
      const auto name = std::string_view{at->first}.substr(prefix.size());
      if (name.find('/') != std::string_view::npos || !is_bind_mount(at->second)) continue;
      if (is_library_name(name)) {
        add({.path = at->first,
             .host = at->second.host_path,
             .mount = &at->second,
             .is_mount = true});
      }
    }
    if (const auto found = files_.find(folder)) add_mounted_folder(prefix, *found);
  }

  /// Returns the libraries, in the order in which their directories were added.
  const std::vector<const DriverLibrary*>& all() const { return order_; }

  /// Returns the library whose SONAME gives it this path; null if there is none.
  const DriverLibrary* find(std::string_view link) const {
    const auto found = by_link_.lower_bound(std::pair{std::string{link}, std::uint32_t{0}});
    return found != by_link_.end() && found->first.first == link ? &found->second : nullptr;
  }

  /// Returns the kind of the library at a path in the container, by its own name or by its SONAME;
  /// 0 if there is none.
  std::uint32_t kind_at(const std::string& path) const {
    if (const auto found = kinds_.find(path); found != kinds_.end()) return found->second;
    const auto* const library = find(path);
    return library == nullptr ? 0 : library->kind;
  }

 private:
  /// Adds the libraries of a directory that is mounted as a whole.
  void add_mounted_folder(const std::string& prefix, const ContainerFiles::Found& folder) {
    constexpr std::size_t max_files = 4096;
    const Descriptor opened{open_at(AT_FDCWD, folder.host, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!opened) return;
    const auto listing = list_directory(opened.get(), folder.host, is_library_name, max_files);
    if (!listing) return;
    for (const auto& entry : listing->entries) {
      if (files_.mounts().contains(prefix + entry.name)) continue;
      add({.path = prefix + entry.name,
           .host = folder.host + "/" + entry.name,
           .mount = folder.mount});
    }
  }

  void add(DriverLibrary library) {
    if (!S_ISREG(mode_of(library.host))) return;  // opening some devices has side effects
    const Descriptor file{
        open_at(AT_FDCWD, library.host, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
    const auto elf = file ? read_elf_library(file.get()) : std::nullopt;
    if (!elf) return;
    library.link = library.path;
    if (!elf->soname.empty()) {
      library.link.erase(library.link.rfind('/') + 1).append(elf->soname);
    }
    library.kind = elf->cache_kind;
    kinds_[library.path] = library.kind;
    auto& kept = by_link_[{library.link, library.kind}];
    const bool is_newer = ::strverscmp(kept.path.c_str(), library.path.c_str()) < 0;
    if (kept.path.empty()) order_.push_back(&kept);
    if (kept.path.empty() || is_newer) kept = std::move(library);
  }

  const ContainerFiles& files_;
  std::map<std::pair<std::string, std::uint32_t>, DriverLibrary> by_link_{};
  std::vector<const DriverLibrary*> order_{};
  std::map<std::string, std::uint32_t> kinds_{};  // by path
};

}  // namespace cdi::detail

#endif  // CDI_SANDBOX_CONTAINER_FILES_HPP
