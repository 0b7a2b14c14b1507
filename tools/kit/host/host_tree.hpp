// The files of a host under a directory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "device_table.hpp"
#include "directory_names.hpp"
#include "read_log.hpp"
#include "rooted_paths.hpp"

namespace tools {

/// The files of a host under a directory, read as if that directory were /.
class HostTree {
 public:
  /// Opens the tree under `root`, and its `dev.tab` if there is one. Records what is read in `log`,
  /// which may be null, for the directory `on_host` of the host.
  static cdi::Result<HostTree> open(const std::string& root, std::shared_ptr<ReadLog> log = nullptr,
                                    std::string on_host = {});

  /// Looks for everything in /dev below `directory` instead, because some drivers have a /dev of
  /// their own.
  void set_dev_root(std::string directory) { dev_root_ = std::move(directory); }

  /// The directory that is read as /, as passed by the caller.
  const std::string& root() const { return root_; }

  /// The log of what is read; may be null.
  const std::shared_ptr<ReadLog>& log() const { return log_; }

  /// The content of a regular file of at most `limit` bytes. Any other kind of file is an error,
  /// and never blocks. With `reject_writable`, so is a file that other users may write to.
  cdi::Result<std::string> read(std::string_view path, std::size_t limit = size_limit,
                                bool reject_writable = false) const;

  /// The content of a one-line file, trimmed and printable; empty if the file cannot be read.
  std::string line(std::string_view path) const;

  /// The first bytes of a regular file, at most `count`; empty if the file cannot be read.
  std::string first_bytes(std::string_view path, std::size_t count) const;

  /// The sorted names in a directory, without duplicates.
  cdi::Result<std::vector<std::string>> names(std::string_view path) const;

  /// The same names; empty if the directory cannot be read.
  std::vector<std::string> list(std::string_view path) const;

  /// A file that `files` finds in a directory.
  struct FileName {
    std::string name{};
    std::string real_path{};  // of the file; differs from the name of a link
  };

  /// The sorted names of regular files in a directory, and of links to such files, if `is_wanted`.
  /// Much faster than `real_path` for each name.
  template <class IsWanted>
  std::vector<FileName> files(std::string_view path, IsWanted is_wanted) const {
    auto names = read_names(path);
    std::vector<FileName> found;
    for (const auto& [name, type] : names.types) {
      if (type != DT_REG && type != DT_LNK) continue;
      auto real_path = find_file(names, name);
      if (!real_path) continue;
      FileName file{name, std::move(*real_path)};
      if (!is_wanted(file)) continue;
      if (log_) log_->asked(logged(join(path, name)));
      found.push_back(std::move(file));
    }
    return found;
  }

  /// The last part of a link's target: the `driver` link of a device leads to its driver.
  std::optional<std::string> link_name(std::string_view path) const;

  /// Resolves all links in `path`; nullopt if the file does not exist.
  std::optional<std::string> real_path(std::string_view path) const;

  /// The `stat` of the file that `path` leads to; all zeros if there is none.
  struct stat status(std::string_view path) const;

  /// Type and permissions of the file that `path` leads to, as `st_mode`; or why they are unknown.
  cdi::Result<mode_t> mode(std::string_view path) const;

  /// Whether a mode belongs to a regular file with an execute bit.
  static bool is_program(mode_t mode) { return S_ISREG(mode) && (mode & 0111) != 0; }

  /// Whether `path` leads to a program.
  bool is_program(std::string_view path) const { return is_program(status(path).st_mode); }

  /// Whether `path` exists, even as a dangling link.
  bool exists(std::string_view path) const { return status_of(path, Last::keep).has_value(); }

  /// The device node at `path`; links are not followed, because runtimes do not follow them.
  cdi::Result<HostNode> node(const std::string& path) const;

  /// Whether a directory is at `path`; links are not followed.
  bool is_directory(std::string_view path) const;

  /// Whether a FIFO is at `path`; links are not followed, as for nodes.
  bool is_fifo(std::string_view path) const;

  /// Whether this process can open a node. Opens the node, because only that shows what the cgroup
  /// forbids.
  bool may_open(const HostNode& node) const;

 private:
  /// The path at which a path is looked up.
  std::string in_dev_root(std::string_view path) const;

  cdi::Result<HostNode> node_at(const std::string& path, const std::string& place_on_host) const;

  using Last = RootedPaths::Last;

  static constexpr std::size_t size_limit = 1 << 20;  // of a file; files in /proc are far smaller

  HostTree(RootedPaths paths, std::string root)
      : paths_{std::move(paths)}, root_{std::move(root)} {}

  cdi::Result<std::string> read_file(std::string_view path, std::size_t limit,
                                     bool reject_writable) const;

  /// The path for the log.
  ReadLog::Place logged(std::string_view path) const { return {on_host_, in_dev_root(path)}; }

  cdi::Result<Place> find(std::string_view path, Last last) const;

  /// Finds a path that is reached only through a link.
  cdi::Result<Place> find_unasked(std::string_view path, Last last) const;

  cdi::Result<struct stat> status_of(std::string_view path, Last last) const;

  cdi::Descriptor open_file(std::string_view path, int flags) const;

  static std::string join(std::string_view directory, std::string_view name);

  static Directory open_directory(const Place& place);

  /// The names in a directory, and the other directories to which its links lead.
  struct Names {
    Directory directory{};
    std::string path{};                            // no part of it is a link
    std::map<std::string, unsigned char> types{};  // from `readdir`
    std::map<std::string, std::string>
        real_paths{};  // of directories, by link target; empty if there is none

    int number() const { return ::dirfd(directory.get()); }
  };

  Names read_names(std::string_view path) const;

  /// The real path of the regular file that a name in a directory leads to. Links within the
  /// directory, the usual case, cost one `readlink` each.
  std::optional<std::string> find_file(Names& names, std::string name) const;

  std::optional<std::string> find_file(std::string_view path) const;

  /// The real path of the directory in a link's target, looked up once.
  const std::string& real_directory(Names& names, const std::string& target) const;

  /// Trees of other hosts may have a table: in a copy, nodes are empty files.
  cdi::Result<void> load_device_table();

  RootedPaths paths_;
  std::string root_;
  std::string dev_root_{};
  std::optional<DeviceTable> device_table_{};  // used instead of `stat` for device nodes
  std::shared_ptr<ReadLog> log_{};
  std::string on_host_{};
};

}  // namespace tools
