// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_CACHE_HPP
#define CDI_CACHE_HPP

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <dirent.h>
#include <fcntl.h>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <cdi/apply.hpp>
#include <cdi/file.hpp>
#include <cdi/host.hpp>
#include <cdi/path.hpp>
#include <cdi/registry.hpp>
#include <cdi/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// The directories that runtimes read: `/etc/cdi`, and `/var/run/cdi` with the higher priority.
inline std::vector<std::string> default_spec_dirs() {
  return {"/etc/cdi", "/var/run/cdi"};
}

/// A spec directory as the last scan found it.
struct SpecDir {
  enum class State : std::uint8_t {
    read,        // its files were looked at
    missing,     // not there, which is no error
    unreadable,  // not listed; the reason is among the errors of the registry
  };

  std::string path{};
  int priority = 0;  // the place in the list of directories; the higher wins
  State state = State::missing;
  std::size_t specs = 0;  // valid ones
};

/// What one scan of spec directories found.
struct SpecScan {
  std::vector<SpecDir> dirs{};
  std::shared_ptr<const Registry> registry{};
};

namespace detail {

/// The names of a directory that are taken for spec files, sorted by bytes; subdirectories are not.
inline Result<std::vector<std::string>> list_specs(int directory, const std::string& path) {
  const int own = ::fcntl(directory, F_DUPFD_CLOEXEC, 0);  // closedir closes it
  DIR* const stream = own < 0 ? nullptr : ::fdopendir(own);
  if (stream == nullptr) {
    Error error = file_error(path, "cannot list the directory");
    if (own >= 0) ::close(own);
    return error;
  }
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (!format_of(name)) continue;
    struct stat info = {};
    const bool is_dir = entry->d_type == DT_DIR ||
                        (entry->d_type == DT_UNKNOWN &&
                         ::fstatat(directory, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                         S_ISDIR(info.st_mode));
    if (!is_dir) names.emplace_back(name);
    errno = 0;
  }
  const int failed = errno;
  ::closedir(stream);
  if (failed != 0) {
    errno = failed;
    return file_error(path, "cannot list the directory");
  }
  std::sort(names.begin(), names.end());
  return names;
}

struct ScanState {
  std::vector<std::shared_ptr<const LoadedSpec>> specs{};
  std::vector<Error> errors{};
};

inline void scan_dir(SpecDir& dir, const Limits& limits, ScanState& state) {
  const Descriptor directory{
      detail::open_at(AT_FDCWD, dir.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!directory) {
    if (errno == ENOENT) return;
    dir.state = SpecDir::State::unreadable;
    state.errors.push_back(file_error(dir.path, "cannot open the directory"));
    return;
  }
  const auto names = list_specs(directory.get(), dir.path);
  if (!names) {
    dir.state = SpecDir::State::unreadable;
    state.errors.push_back(names.error());
    return;
  }
  dir.state = SpecDir::State::read;
  for (const auto& name : *names) {
    const std::string path = dir.path + (dir.path.ends_with('/') ? "" : "/") + name;
    auto loaded = read_spec_at(directory.get(), name, path, limits);
    if (!loaded) {
      state.errors.push_back(std::move(loaded).error());
      continue;
    }
    loaded->priority = dir.priority;
    state.specs.push_back(std::make_shared<const LoadedSpec>(std::move(*loaded)));
    ++dir.specs;
  }
}

}  // namespace detail

/// Reads the spec files of directories, given from the lowest priority to the highest. What cannot
/// be read costs only itself and is told in the registry's errors. Costs one read of every file.
inline SpecScan scan_spec_dirs(const std::vector<std::string>& paths, const Limits& limits = {}) {
  SpecScan scan;
  detail::ScanState state;
  for (const auto& path : paths) {
    SpecDir dir{.path = clean_path(path), .priority = static_cast<int>(scan.dirs.size())};
    detail::scan_dir(dir, limits, state);
    scan.dirs.push_back(std::move(dir));
  }
  scan.registry = std::make_shared<const Registry>(std::move(state.specs), std::move(state.errors));
  return scan;
}

/// Spec directories, read when first needed and again at `refresh()`, never in between.
///
/// No thread and no descriptor is kept. Any number of threads may use a cache; whoever holds a
/// registry keeps it, whatever is refreshed meanwhile. A snapshot is published whole.
class Cache {
 public:
  /// Directories from the lowest priority to the highest; those that are missing may come later.
  explicit Cache(std::vector<std::string> dirs = default_spec_dirs(), const Limits& limits = {})
      : paths_{std::move(dirs)}, limits_{limits} {}

  /// What the last scan found; scans when there was none yet.
  std::shared_ptr<const Registry> registry() {
    {
      const std::lock_guard lock{mutex_};
      if (last_.registry) return last_.registry;
    }
    return refresh();
  }

  /// The directories, as the last scan found them; scans when there was none yet.
  std::vector<SpecDir> dirs() {
    registry();
    const std::lock_guard lock{mutex_};
    return last_.dirs;
  }

  /// Reads all directories again. Those that ask meanwhile get the old registry and do not wait. Of
  /// several at a time, the one that began last is kept.
  std::shared_ptr<const Registry> refresh() {
    const auto ticket = take_ticket();
    auto scan = scan_spec_dirs(paths_, limits_);
    auto registry = scan.registry;
    const std::lock_guard lock{mutex_};
    if (ticket > published_) {
      published_ = ticket;
      std::swap(last_, scan);  // the old one goes after the lock does
    }
    return registry;
  }

  /// Injects devices into an OCI spec: see `Registry::inject`.
  template <Editable OciSpec, class Names, HostLookup Host = SystemHost>
  Result<void> inject(OciSpec& target, const Names& names, const Host& host = {}) {
    return registry()->inject(target, names, host);
  }
  template <Editable OciSpec, HostLookup Host = SystemHost>
  Result<void> inject(OciSpec& target, std::initializer_list<std::string_view> names,
                      const Host& host = {}) {
    return registry()->inject(target, names, host);
  }

 private:
  std::uint64_t take_ticket() {
    const std::lock_guard lock{mutex_};
    return ++started_;
  }

  const std::vector<std::string> paths_;
  const Limits limits_;
  std::mutex mutex_{};
  SpecScan last_{};
  std::uint64_t started_ = 0;    // scans
  std::uint64_t published_ = 0;  // the scan that `last_` is
};

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_CACHE_HPP
