// The files of NVIDIA's driver that containers get.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_VENDORS_NVIDIA_FILES_HPP
#define CDI_PREPARE_VENDORS_NVIDIA_FILES_HPP

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../gpu/driver_file.hpp"
#include "../gpu/fault.hpp"
#include "../gpu/profile.hpp"
#include "../host/host_tree.hpp"
#include "../host/ld_cache.hpp"
#include "nvidia_tables.hpp"

// Distributions install them in different places, and no file lists them. Nearly all libraries have
// the driver's version at the end of their names.

namespace prepare::nvidia {

/// Files of a driver by their real path.
using FilesByPath = std::map<std::string, DriverFile>;

inline std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// Whether a path has only characters that every spec can hold.
inline bool is_plain(std::string_view path) {
  return std::all_of(path.begin(), path.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

/// Adds a file, which has its real path in containers too, or `path` as a link to it.
inline void add_at_real_path(FilesByPath& files, DriverFile::Kind kind,
                             const std::string& real_path, const std::string& path,
                             Profiles profiles = all_profiles) {
  auto& file = files[real_path];
  file.kind = kind;
  file.host_path = real_path;
  file.container_path = real_path;
  file.profiles = profiles;
  if (path != real_path) file.links.push_back(path);
}

/// The files of a map, sorted by path.
inline std::vector<DriverFile> sorted_files(FilesByPath found) {
  std::vector<DriverFile> files;
  for (auto& [path, file] : found) {
    std::sort(file.links.begin(), file.links.end());
    files.push_back(std::move(file));
  }
  return files;
}

// Names of libraries.

/// A library's name up to ".so", and the version after it.
struct LibraryName {
  std::string_view stem{};     // "libcuda"
  std::string_view version{};  // "570.195.03"; empty when there is none
};

inline LibraryName parse_library_name(std::string_view name) {
  constexpr std::string_view end = ".so";
  const auto at = name.find(end);
  if (at == std::string_view::npos) return {};
  const auto rest = name.substr(at + end.size());
  return {.stem = name.substr(0, at),
          .version = rest.starts_with('.') ? rest.substr(1) : std::string_view{}};
}

/// Whether `text` is numbers with dots between them: "570.195.03", "1".
inline bool is_version(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.back() != '.' &&
         text.find("..") == std::string_view::npos &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// Whether it can be the version of a driver: versions of interfaces have no dot.
inline bool is_driver_version(std::string_view text) {
  return is_version(text) && text.find('.') != std::string_view::npos;
}

inline Profiles profiles_of(std::string_view stem) {
  for (const auto& [known, profiles] : library_profiles) {
    if (known == stem) return profiles;
  }
  return all_profiles;
}

inline bool has_own_version(std::string_view stem) {
  return std::find(std::begin(own_versions), std::end(own_versions), stem) !=
         std::end(own_versions);
}

/// Whether a file belongs to this version of the driver, by its name. The module for X servers has
/// no version in its name; there is only one.
inline bool is_driver_library(std::string_view name, std::string_view driver_version) {
  const auto [stem, version] = parse_library_name(name);
  if (version.empty()) return name == "nvidia_drv.so";
  return version == driver_version || (has_own_version(stem) && is_version(version));
}

/// Whether a SONAME in ld.so.cache belongs to a library of the driver.
inline bool is_driver_soname(std::string_view soname) {
  const auto stem = parse_library_name(soname).stem;
  return stem.starts_with("libnvidia-") || profiles_of(stem) != all_profiles;
}

// Libraries.

/// Finds the libraries of one version of the driver. Distributions split them over several
/// directories, with links between them.
class LibrarySearch {
 public:
  LibrarySearch(const HostTree& tree, std::string_view driver_version)
      : tree_{tree}, driver_version_{driver_version} {}

  void run() {
    const auto cache = tree_.read("/etc/ld.so.cache", cache_limit);
    const auto entries = driver_entries(cache ? std::string_view{*cache} : std::string_view{});
    for (const auto& entry : entries) add_cache_directory(directory_of(entry.path));
    for (const auto directory : usual_directories) add_with_subdirectories(directory);
    // Each directory may add more.
    for (std::size_t i = 0; i < directories_.size(); ++i) search(std::string{directories_[i]});
    for (const auto& entry : entries) add_soname(entry);
    drop_32_bit();
  }

  const FilesByPath& found() const { return found_; }

  /// The versions whose main libraries are on the host.
  const std::set<std::string>& installed() const { return installed_; }

 private:
  static constexpr std::size_t cache_limit = 16 << 20;
  static constexpr std::size_t directory_limit = 200;  // hosts have about ten

  static std::string_view directory_of(std::string_view path) {
    return path.substr(0, path.rfind('/'));
  }

  static std::vector<LdCacheEntry> driver_entries(std::string_view cache) {
    auto entries = parse_ld_cache(cache);
    std::erase_if(entries, [](const LdCacheEntry& entry) {
      return !entry.path.starts_with('/') || !is_driver_soname(entry.soname);
    });
    return entries;
  }

  void add_cache_directory(std::string_view directory) {
    if (cache_directories_.contains(directory)) return;
    if (cache_directories_.size() >= directory_limit) return;
    cache_directories_.emplace(directory, tree_.real_path(directory).value_or(""));
    add_with_subdirectories(directory);
  }

  void add_with_subdirectories(std::string_view directory) {
    const auto real_path = tree_.real_path(directory);
    if (!real_path || !add_directory(*real_path)) return;
    for (const auto name : subdirectories) {
      if (const auto inner = tree_.real_path(fmt::format("{}/{}", *real_path, name))) {
        add_directory(*inner);
      }
    }
  }

  bool add_directory(std::string_view real_path) {
    if (directories_.size() >= directory_limit) return false;
    const auto known = std::find(directories_.begin(), directories_.end(), real_path);
    if (known != directories_.end()) return false;
    directories_.emplace_back(real_path);
    return true;
  }

  void search(const std::string& directory) {
    for (const auto& [name, real_path] : tree_.files(directory)) {
      const auto real_name = file_name(real_path);
      const auto [stem, version] = parse_library_name(real_name);
      if ((stem == "libcuda" || stem == "libnvidia-ml") && is_driver_version(version)) {
        installed_.emplace(version);
      }
      if (!is_driver_library(real_name, driver_version_)) continue;
      const auto path = fmt::format("{}/{}", directory, name);
      if (!is_plain(path) || !is_plain(real_path)) continue;
      add_at_real_path(found_, DriverFile::Kind::library, real_path, path, profiles_of(stem));
      add_directory(directory_of(real_path));
      places_.emplace(path, real_path);
    }
  }

  /// Adds a SONAME that is only in ld.so.cache as a link.
  void add_soname(const LdCacheEntry& entry) {
    const auto directory = cache_directories_.find(directory_of(entry.path));
    if (directory == cache_directories_.end()) return;
    const auto in_directory = [&](std::string_view name) {
      return fmt::format("{}/{}", directory->second, name);
    };
    const auto place = places_.find(in_directory(file_name(entry.path)));
    if (place == places_.end() || entry.soname.find('/') != std::string_view::npos) return;
    const auto link = in_directory(entry.soname);
    if (!is_plain(link) || places_.contains(link) || tree_.exists(link)) return;
    const auto real_path = place->second;
    found_[real_path].links.push_back(link);
    places_.emplace(link, real_path);
  }

  /// Removes the libraries for 32-bit programs, which have the same names in another directory.
  void drop_32_bit() {
    std::map<std::string, bool, std::less<>> by_directory;
    std::erase_if(found_, [&](const auto& item) {
      const std::string directory{directory_of(item.first)};
      const auto known = by_directory.find(directory);
      if (known != by_directory.end()) return known->second;
      return by_directory[directory] = tree_.first_bytes(item.first, 5) ==
                                       "\x7f"
                                       "ELF\x01";
    });
  }

  const HostTree& tree_;
  std::string driver_version_;
  std::map<std::string, std::string, std::less<>> cache_directories_{};  // and their real paths
  std::vector<std::string> directories_{};                               // real paths
  std::map<std::string, std::string> places_{};  // real paths of libraries, by path
  FilesByPath found_{};
  std::set<std::string> installed_{};
};

/// Why containers cannot use the driver with the libraries of the host.
inline std::optional<Problem> library_fault(const std::string& driver_version,
                                            const std::set<std::string>& installed, bool has_cuda) {
  if (has_cuda) return std::nullopt;
  if (driver_version.empty()) {
    return Problem{
        Fault::unknown_driver_version,
        "the version of the loaded driver is unknown: containers get none of its libraries"};
  }
  if (installed.empty() || installed.contains(driver_version)) {
    return Problem{Fault::no_libcuda,
                   fmt::format("libcuda.so.{} is not on the host: containers cannot use CUDA",
                               driver_version)};
  }
  return Problem{Fault::other_libraries,
                 fmt::format("the loaded driver is {}, but the libraries on the host are of {}: "
                             "containers get none of "
                             "them; restart the host if the driver was upgraded",
                             driver_version, fmt::join(installed, ", "))};
}

/// The libraries of this version of the driver.
inline FilesByPath libraries(const HostTree& tree, const std::string& driver_version,
                             std::vector<Problem>& warnings) {
  LibrarySearch search{tree, driver_version};
  search.run();
  const auto is_found = [&](auto is_meant) {
    return std::any_of(search.found().begin(), search.found().end(), [&](const auto& item) {
      const auto [stem, version] = parse_library_name(file_name(item.first));
      return version == driver_version && is_meant(stem);
    });
  };
  const bool has_cuda = is_found([](std::string_view stem) { return stem == "libcuda"; });
  if (auto fault = library_fault(driver_version, search.installed(), has_cuda)) {
    warnings.push_back(std::move(*fault));
  }
  // Libraries without the driver's version in their names belong to those with it.
  const bool has_any = is_found([](std::string_view) { return true; });
  return has_any ? search.found() : FilesByPath{};
}

// Files with fixed names.

/// Adds the programs of the host; containers have them in /usr/bin.
inline void add_programs(const HostTree& tree, std::vector<DriverFile>& files) {
  for (const auto& [name, profiles] : programs) {
    for (const auto directory : program_directories) {
      const auto path = fmt::format("{}/{}", directory, name);
      if (!tree.is_program(path)) continue;
      files.push_back({.kind = DriverFile::Kind::program,
                       .host_path = tree.real_path(path).value_or(path),
                       .container_path = fmt::format("/usr/bin/{}", name),
                       .profiles = profiles});
      break;
    }
  }
}

/// The directories where the kernel searches for firmware, in its order.
inline std::vector<std::string> firmware_directories(const HostTree& tree) {
  std::vector<std::string> directories;
  const auto custom = tree.line("/sys/module/firmware_class/parameters/path");
  if (auto real_path = tree.real_path(custom); real_path && custom.starts_with('/')) {
    directories.push_back(std::move(*real_path));
  }
  const auto kernel = tree.line("/proc/sys/kernel/osrelease");
  const bool is_name = !kernel.starts_with('.') && kernel.find('/') == std::string::npos;
  for (const std::string directory : {"/lib/firmware/updates", "/lib/firmware"}) {
    if (!kernel.empty() && is_name) directories.push_back(directory + "/" + kernel);
    directories.push_back(directory);
  }
  return directories;
}

/// Adds the firmware of GPUs, each file where the kernel finds it first.
inline void add_firmware(const HostTree& tree, const std::string& driver_version,
                         std::vector<DriverFile>& files) {
  std::set<std::string> known;
  for (const auto& directory : firmware_directories(tree)) {
    const auto place = fmt::format("{}/nvidia/{}", directory, driver_version);
    for (auto& [name, real_path] : tree.files(place)) {
      if (!name.starts_with("gsp") || !name.ends_with(".bin")) continue;
      if (!known.insert(name).second) continue;
      files.push_back({.kind = DriverFile::Kind::firmware,
                       .host_path = std::move(real_path),
                       .container_path = place + "/" + name});
    }
  }
}

/// Adds the sockets of running daemons.
inline void add_sockets(const HostTree& tree, std::vector<DriverFile>& files) {
  for (const auto& [name, profiles] : sockets) {
    std::set<std::string> known;
    for (const std::string_view directory : {"/run", "/var/run"}) {
      const auto path = fmt::format("{}/{}", directory, name);
      if (!S_ISSOCK(tree.status(path).st_mode)) continue;
      auto real_path = tree.real_path(path).value_or(path);
      if (!known.insert(real_path).second) continue;
      files.push_back({.kind = DriverFile::Kind::socket,
                       .host_path = std::move(real_path),
                       .container_path = path,
                       .profiles = profiles});
    }
  }
}

/// Adds the directory with the pipes of the MPS daemon, if root or this user owns it. All users may
/// write in /tmp, and a link there could make containers write elsewhere.
inline void add_mps_directory(const HostTree& tree, std::vector<DriverFile>& files) {
  const std::string path = "/tmp/nvidia-mps";
  const auto status = tree.status(path);
  const bool is_trusted = status.st_uid == 0 || status.st_uid == ::geteuid();
  if (!S_ISDIR(status.st_mode) || !is_trusted || tree.link_name(path)) return;
  files.push_back({.kind = DriverFile::Kind::socket,
                   .host_path = tree.real_path(path).value_or(path),
                   .container_path = path,
                   .profiles = compute});
}

/// Adds the settings with which loaders of OpenCL, Vulkan, EGL and X find the driver, at the paths
/// that most images use.
inline void add_configurations(const HostTree& tree, std::vector<DriverFile>& files) {
  for (const auto& [name, container_directory, profiles] : configurations) {
    for (const auto directory : configuration_directories) {
      const auto path = fmt::format("{}/{}", directory, name);
      if (!S_ISREG(tree.status(path).st_mode)) continue;
      files.push_back({.kind = DriverFile::Kind::configuration,
                       .host_path = tree.real_path(path).value_or(path),
                       .container_path = fmt::format("{}/{}", container_directory, name),
                       .profiles = profiles});
      break;
    }
  }
}

/// The files of the driver that containers get, sorted by container path. `driver_version` is that
/// of the loaded module; libraries of another version do not work with it, and are a warning.
inline std::vector<DriverFile> driver_files(const HostTree& tree, const std::string& driver_version,
                                            std::vector<Problem>& warnings) {
  const auto version = is_driver_version(driver_version) ? driver_version : std::string{};
  auto files = sorted_files(libraries(tree, version, warnings));
  add_programs(tree, files);
  if (!version.empty()) add_firmware(tree, version, files);
  add_sockets(tree, files);
  add_mps_directory(tree, files);
  add_configurations(tree, files);
  std::erase_if(files, [](const DriverFile& file) {
    return !is_plain(file.host_path) || !is_plain(file.container_path);
  });
  std::sort(files.begin(), files.end(), [](const DriverFile& a, const DriverFile& b) {
    return a.container_path < b.container_path;
  });
  return files;
}

}  // namespace prepare::nvidia

#endif  // CDI_PREPARE_VENDORS_NVIDIA_FILES_HPP
