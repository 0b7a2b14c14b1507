// The libraries of one version of NVIDIA's driver.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cdi/sandbox/linker_cache.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/cdi_specs/lost_files.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../model/driver_file.hpp"
#include "../model/fault.hpp"
#include "../model/profile.hpp"
#include "nvidia_tables.hpp"

// Distributions install them in different places, and no file lists them. Nearly all library names
// end in the driver's version.

namespace prepare::nvidia {

inline std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// A library's name up to ".so", and the version after it.
struct LibraryName {
  std::string_view stem{};     // "libcuda"
  std::string_view version{};  // "570.195.03"; empty if there is none
};

inline LibraryName parse_library_name(std::string_view name) {
  constexpr std::string_view end = ".so";
  const auto at = name.find(end);
  if (at == std::string_view::npos) return {};
  const auto rest = name.substr(at + end.size());
  return {.stem = name.substr(0, at),
          .version = rest.starts_with('.') ? rest.substr(1) : std::string_view{}};
}

/// Whether `text` consists of numbers separated by dots: "570.195.03", "1".
inline bool is_version(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.back() != '.' &&
         text.find("..") == std::string_view::npos &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// Whether a driver of GPUs on the PCI bus may have this version: interface versions have no dot,
/// and libraries of Tegra's own GPU are 1.1.
inline bool is_driver_version(std::string_view text) {
  return is_version(text) && text.find('.') != std::string_view::npos && text.find('.') > 1;
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

/// Whether a file belongs to this driver version, judging by its name. The only file without a
/// version in its name is the X server module.
inline bool is_driver_library(std::string_view name, std::string_view driver_version) {
  const auto [stem, version] = parse_library_name(name);
  if (version.empty()) return name == "nvidia_drv.so";
  return version == driver_version || (has_own_version(stem) && is_version(version));
}

/// The driver version in the name of a library that every driver has; empty for other files.
inline std::string_view main_library_version(std::string_view name) {
  const auto [stem, version] = parse_library_name(name);
  const bool is_main = stem == "libcuda" || stem == "libnvidia-ml";
  return is_main && is_driver_version(version) ? version : std::string_view{};
}

/// Whether a SONAME in ld.so.cache belongs to a driver library.
inline bool is_driver_soname(std::string_view soname) {
  const auto stem = parse_library_name(soname).stem;
  return stem.starts_with("libnvidia-") || profiles_of(stem) != all_profiles;
}

// Libraries.

/// The kind of this machine's libraries in ld.so.cache: 64-bit ELF for glibc. 0 on other machines,
/// for which no libraries are listed.
inline constexpr std::uint32_t native_library =
#if defined(__x86_64__) && defined(__LP64__)
    0x0303;
#elif defined(__aarch64__) && defined(__LP64__)
    0x0a03;
#else
    0;
#endif

/// The driver's libraries in an ld.so.cache; none if it is damaged.
inline std::vector<cdi::detail::LinkerEntry> driver_entries(std::string_view cache) {
  auto entries = cdi::detail::linker_entries(cache, native_library);
  std::erase_if(entries, [](const auto& entry) {
    return !entry.path.starts_with('/') || !is_driver_soname(entry.soname);
  });
  return entries;
}

/// Finds the libraries of one version of the driver. Distributions split them over several
/// directories, with links between them.
class LibrarySearch {
 public:
  LibrarySearch(const tools::HostTree& tree, std::string_view driver_version)
      : tree_{tree}, driver_version_{driver_version} {}

  /// Searches `first`, and then the usual directories.
  void run(const std::vector<std::string>& first = {}) {
    for (const auto& directory : first) add_with_subdirectories(directory);
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
  static constexpr std::size_t directory_limit = 200;  // a host has about ten

  static std::string_view directory_of(std::string_view path) {
    return path.substr(0, path.rfind('/'));
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
    const auto is_wanted = [&](const tools::HostTree::FileName& file) {
      const auto real_name = file_name(file.real_path);
      return !main_library_version(real_name).empty() ||
             is_driver_library(real_name, driver_version_);
    };
    for (const auto& [name, real_path] : tree_.files(directory, is_wanted)) {
      const auto real_name = file_name(real_path);
      if (const auto version = main_library_version(real_name); !version.empty()) {
        installed_.emplace(version);
      }
      if (!is_driver_library(real_name, driver_version_)) continue;
      const auto stem = parse_library_name(real_name).stem;
      const auto path = fmt::format("{}/{}", directory, name);
      if (!tools::is_plain(path) || !tools::is_plain(real_path)) continue;
      add_at_real_path(found_, DriverFile::Kind::library, real_path, path, profiles_of(stem));
      add_directory(directory_of(real_path));
      places_.emplace(path, real_path);
    }
  }

  /// Adds a SONAME that exists only in ld.so.cache as a link.
  void add_soname(const cdi::detail::LinkerEntry& entry) {
    const auto directory = cache_directories_.find(directory_of(entry.path));
    if (directory == cache_directories_.end()) return;
    const auto in_directory = [&](std::string_view name) {
      return fmt::format("{}/{}", directory->second, name);
    };
    const auto place = places_.find(in_directory(file_name(entry.path)));
    if (place == places_.end() || entry.soname.find('/') != std::string::npos) return;
    const auto link = in_directory(entry.soname);
    if (!tools::is_plain(link) || places_.contains(link) || tree_.exists(link)) return;
    const auto real_path = place->second;
    found_[real_path].links.push_back(link);
    places_.emplace(link, real_path);
  }

  /// Removes 32-bit libraries, which have the same names in another directory.
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

  const tools::HostTree& tree_;
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
  return Problem{
      Fault::other_libraries,
      fmt::format("the loaded driver is {}, but the libraries on the host are version {}: "
                  "containers get none of them: {}",
                  driver_version, fmt::join(installed, ", "), tools::libraries_remedy_clause())};
}

/// The libraries of this version of the driver.
inline FilesByPath libraries(const tools::HostTree& tree, const std::string& driver_version,
                             std::vector<Problem>& warnings,
                             const std::vector<std::string>& first_directories) {
  LibrarySearch search{tree, driver_version};
  search.run(first_directories);
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
  // Libraries without the driver's version in their names belong to the same driver.
  const bool has_any = is_found([](std::string_view) { return true; });
  return has_any ? search.found() : FilesByPath{};
}

}  // namespace prepare::nvidia
