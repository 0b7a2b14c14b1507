// The files of a host under a directory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_HOST_HOST_TREE_HPP
#define CDI_TOOLS_KIT_HOST_HOST_TREE_HPP

#include <cerrno>
#include <cstddef>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <cdi/file.hpp>
#include <cdi/files/access.hpp>
#include <cdi/result.hpp>

#include "../base/text.hpp"
#include "device_table.hpp"
#include "directory_names.hpp"
#include "read_log.hpp"
#include "rooted_paths.hpp"
#include "trusted_file.hpp"

namespace tools {

/// The files of a host under a directory, read as if that directory were /.
class HostTree {
 public:
  /// Opens the tree under `root`, and its `dev.tab` if there is one. Records what is read in `log`,
  /// which may be null, for the directory `on_host` of the host.
  static cdi::Result<HostTree> open(const std::string& root, std::shared_ptr<ReadLog> log = nullptr,
                                    std::string on_host = {}) {
    auto paths = RootedPaths::open(root);
    if (!paths) return std::move(paths).error();
    HostTree tree{std::move(*paths), root};
    tree.log_ = std::move(log);
    tree.on_host_ = std::move(on_host);
    if (auto loaded = tree.load_device_table(); !loaded) return std::move(loaded).error();
    return tree;
  }

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
                                bool reject_writable = false) const {
    const auto found = status_of(path, Last::follow);
    if (!found) return found.error();
    if (!S_ISREG(found->st_mode)) return path_error(path, EINVAL, "not a regular file");
    auto text = read_file(path, limit, reject_writable);
    if (log_) log_->read(logged(path), text);
    return text;
  }

  /// The content of a one-line file, trimmed and printable; empty if the file cannot be read.
  std::string line(std::string_view path) const {
    const auto text = read(path);
    return text ? printable(trim(*text)) : std::string{};
  }

  /// The first bytes of a regular file, at most `count`; empty if the file cannot be read.
  std::string first_bytes(std::string_view path, std::size_t count) const {
    const auto found = status_of(path, Last::follow);
    if (!found || !S_ISREG(found->st_mode)) return {};
    const auto file = open_file(path, O_RDONLY | O_NONBLOCK);
    std::string bytes(count, '\0');
    const auto size = ::read(file.get(), bytes.data(), bytes.size());
    bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    if (log_) log_->read(logged(path), bytes);
    return bytes;
  }

  /// The sorted names in a directory, without duplicates.
  cdi::Result<std::vector<std::string>> names(std::string_view path) const {
    auto names = names_in(directory_of(open_file(path, O_RDONLY | O_DIRECTORY)));
    if (!names) return path_error(path, errno);
    if (log_) log_->listed(logged(path), *names);
    return std::move(*names);
  }

  /// The same names; empty if the directory cannot be read.
  std::vector<std::string> list(std::string_view path) const {
    auto found = names(path);
    return found ? std::move(*found) : std::vector<std::string>{};
  }

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
  std::optional<std::string> link_name(std::string_view path) const {
    const auto place = find(path, Last::keep);
    if (!place || !place->is_link()) return std::nullopt;
    const auto target = read_link(place->directory(), place->name);
    auto parts = split(target.value_or(""), "/");
    if (parts.empty()) return std::nullopt;
    return std::move(parts.back());
  }

  /// Resolves all links in `path`; nullopt if the file does not exist.
  std::optional<std::string> real_path(std::string_view path) const {
    const auto place = find(path, Last::follow);
    if (!place) return std::nullopt;
    return place->path();
  }

  /// The `stat` of the file that `path` leads to; all zeros if there is none.
  struct stat status(std::string_view path) const {
    const auto found = status_of(path, Last::follow);
    if (!found) return {};
    return *found;
  }

  /// Type and permissions of the file that `path` leads to, as `st_mode`; or why they are unknown.
  cdi::Result<mode_t> mode(std::string_view path) const {
    const auto found = status_of(path, Last::follow);
    if (!found) return found.error();
    return found->st_mode;
  }

  /// Whether a mode belongs to a regular file with an execute bit.
  static bool is_program(mode_t mode) { return S_ISREG(mode) && (mode & 0111) != 0; }

  /// Whether `path` leads to a program.
  bool is_program(std::string_view path) const { return is_program(status(path).st_mode); }

  /// Whether `path` exists, even as a dangling link.
  bool exists(std::string_view path) const { return status_of(path, Last::keep).has_value(); }

  /// The device node at `path`; links are not followed, because runtimes do not follow them.
  cdi::Result<HostNode> node(const std::string& path) const {
    auto place = in_dev_root(path);
    if (log_) log_->asked(logged(path));
    auto found = node_at(path, place);
    if (found && place != path) found->host_path = std::move(place);
    return found;
  }

  /// Whether a directory is at `path`; links are not followed.
  bool is_directory(std::string_view path) const {
    const auto found = status_of(path, Last::keep);
    return found && S_ISDIR(found->st_mode);
  }

  /// Whether a FIFO is at `path`; links are not followed, as for nodes.
  bool is_fifo(std::string_view path) const {
    const auto found = status_of(path, Last::keep);
    return found && S_ISFIFO(found->st_mode);
  }

  /// Whether this process can open a node. Opens the node, because only that shows what the cgroup
  /// forbids.
  bool may_open(const HostNode& node) const {
    const bool writable = (node.mode & 0222) != 0;
    if (device_table_) return device_table_->contains(node.place()) && permits(node, writable);
    const auto place = find(node.place(), Last::keep);
    if (!place) return false;
    const cdi::Descriptor opened =
        place->open((writable ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY);
    // A busy node, or a node without a device, is not forbidden.
    return opened || (errno != EACCES && errno != EPERM);
  }

 private:
  /// The path at which a path is looked up.
  std::string in_dev_root(std::string_view path) const {
    const bool in_dev = path == "/dev" || path.starts_with("/dev/");
    std::string out{in_dev ? std::string_view{dev_root_} : std::string_view{}};
    return out.append(path);
  }

  cdi::Result<HostNode> node_at(const std::string& path, const std::string& place_on_host) const {
    if (device_table_) {
      auto row = device_table_->find(place_on_host);
      if (row == device_table_->end()) return path_error(place_on_host, ENOENT);
      auto node = row->second;
      node.path = path;
      return node;
    }
    const auto found = status_of(path, Last::keep);
    if (!found) return found.error();
    if (!S_ISCHR(found->st_mode) && !S_ISBLK(found->st_mode)) {
      return path_error(path, ENODEV, "not a device node");
    }
    return node_of(path, *found);
  }

  using Last = RootedPaths::Last;

  static constexpr std::size_t size_limit = 1 << 20;  // of a file; files in /proc are far smaller

  HostTree(RootedPaths paths, std::string root)
      : paths_{std::move(paths)}, root_{std::move(root)} {}

  cdi::Result<std::string> read_file(std::string_view path, std::size_t limit,
                                     bool reject_writable) const {
    const auto file = open_file(path, O_RDONLY | O_NONBLOCK);
    struct stat status = {};
    if (!file || ::fstat(file.get(), &status) != 0) return path_error(path, errno);
    if (!S_ISREG(status.st_mode)) return path_error(path, EINVAL, "not a regular file");
    if (reject_writable) {
      if (auto good = check_trusted(std::string{path}, status); !good) {
        return std::move(good).error();
      }
    }
    return cdi::read_all(file.get(), path, limit);
  }

  /// The path for the log.
  ReadLog::Place logged(std::string_view path) const { return {on_host_, in_dev_root(path)}; }

  cdi::Result<Place> find(std::string_view path, Last last) const {
    if (log_) log_->asked(logged(path));
    return find_unasked(path, last);
  }

  /// Finds a path that is reached only through a link.
  cdi::Result<Place> find_unasked(std::string_view path, Last last) const {
    return paths_.find(in_dev_root(path), last);
  }

  cdi::Result<struct stat> status_of(std::string_view path, Last last) const {
    if (log_) log_->asked(logged(path));
    return paths_.status(in_dev_root(path), last);
  }

  cdi::Descriptor open_file(std::string_view path, int flags) const {
    return paths_.open_file(in_dev_root(path), flags);
  }

  static std::string join(std::string_view directory, std::string_view name) {
    std::string path{directory == "/" ? std::string_view{} : directory};
    return path.append("/").append(name);
  }

  static Directory open_directory(const Place& place) {
    return directory_of(place.open(O_RDONLY | O_DIRECTORY));
  }

  /// The names in a directory, and the other directories to which its links lead.
  struct Names {
    Directory directory{};
    std::string path{};                            // no part of it is a link
    std::map<std::string, unsigned char> types{};  // from `readdir`
    std::map<std::string, std::string>
        real_paths{};  // of directories, by link target; empty if there is none

    int number() const { return ::dirfd(directory.get()); }
  };

  Names read_names(std::string_view path) const {
    const auto place = find(path, Last::follow);
    if (!place) return {};
    Names names{.directory = open_directory(*place), .path = place->path()};
    if (!names.directory) return {};
    while (const auto* entry = ::readdir(names.directory.get())) {
      if (!is_dots(entry->d_name)) names.types[entry->d_name] = type_of(names.number(), *entry);
    }
    return names;
  }

  /// The real path of the regular file that a name in a directory leads to. Links within the
  /// directory, the usual case, cost one `readlink` each.
  std::optional<std::string> find_file(Names& names, std::string name) const {
    for (int links = 0; links <= RootedPaths::link_limit; ++links) {
      const auto entry = names.types.find(name);
      if (entry == names.types.end()) break;
      if (entry->second == DT_REG) return join(names.path, name);
      auto target = read_link(names.number(), name);
      if (!target) break;  // not a link
      const auto slash = target->rfind('/');
      if (slash == std::string::npos) {
        name = std::move(*target);
      } else if (real_directory(names, target->substr(0, slash + 1)) == names.path) {
        name = target->substr(slash + 1);
      } else {
        return find_file(target->starts_with('/') ? *target : join(names.path, *target));
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> find_file(std::string_view path) const {
    const auto place = find_unasked(path, Last::follow);
    if (!place || !S_ISREG(place->status.st_mode)) return std::nullopt;
    return place->path();
  }

  /// The real path of the directory in a link's target, looked up once.
  const std::string& real_directory(Names& names, const std::string& target) const {
    const auto [known, is_new] = names.real_paths.try_emplace(target);
    if (is_new) {
      const auto path = target.starts_with('/') ? target : join(names.path, target);
      const auto place = find_unasked(path, Last::follow);
      if (place) known->second = place->path();
    }
    return known->second;
  }

  /// Trees of other hosts may have a table: in a copy, nodes are empty files.
  cdi::Result<void> load_device_table() {
    if (root_ == "/") return {};
    const auto text = read("/dev.tab");
    if (!text) return text.error().system == ENOENT ? cdi::Result<void>{} : text.error();
    auto table = parse_device_table(*text);
    if (!table) return std::move(table).error();
    device_table_ = std::move(*table);
    return {};
  }

  RootedPaths paths_;
  std::string root_;
  std::string dev_root_{};
  std::optional<DeviceTable> device_table_{};  // used instead of `stat` for device nodes
  std::shared_ptr<ReadLog> log_{};
  std::string on_host_{};
};

}  // namespace tools

#endif  // CDI_TOOLS_KIT_HOST_HOST_TREE_HPP
