// The files of a host under a directory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "host_tree.hpp"

#include <cerrno>
#include <unistd.h>

#include "../base/text.hpp"
#include "trusted_file.hpp"

namespace tools {

cdi::Result<HostTree> HostTree::open(const std::string& root, std::shared_ptr<ReadLog> log,
                                     std::string on_host) {
  auto paths = RootedPaths::open(root);
  if (!paths) return std::move(paths).error();
  HostTree tree{std::move(*paths), root};
  tree.log_ = std::move(log);
  tree.on_host_ = std::move(on_host);
  if (auto loaded = tree.load_device_table(); !loaded) return std::move(loaded).error();
  return tree;
}

cdi::Result<std::string> HostTree::read(std::string_view path, std::size_t limit,
                                        bool reject_writable) const {
  const auto found = status_of(path, Last::follow);
  if (!found) return found.error();
  if (!S_ISREG(found->st_mode)) return path_error(path, EINVAL, "not a regular file");
  auto text = read_file(path, limit, reject_writable);
  if (log_) log_->read(logged(path), text);
  return text;
}

std::string HostTree::line(std::string_view path) const {
  const auto text = read(path);
  return text ? printable(trim(*text)) : std::string{};
}

std::string HostTree::first_bytes(std::string_view path, std::size_t count) const {
  const auto found = status_of(path, Last::follow);
  if (!found || !S_ISREG(found->st_mode)) return {};
  const auto file = open_file(path, O_RDONLY | O_NONBLOCK);
  std::string bytes(count, '\0');
  const auto size = ::read(file.get(), bytes.data(), bytes.size());
  bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  if (log_) log_->read(logged(path), bytes);
  return bytes;
}

cdi::Result<std::vector<std::string>> HostTree::names(std::string_view path) const {
  auto names = names_in(directory_of(open_file(path, O_RDONLY | O_DIRECTORY)));
  if (!names) return path_error(path, errno);
  if (log_) log_->listed(logged(path), *names);
  return std::move(*names);
}

std::vector<std::string> HostTree::list(std::string_view path) const {
  auto found = names(path);
  return found ? std::move(*found) : std::vector<std::string>{};
}

std::optional<std::string> HostTree::link_name(std::string_view path) const {
  const auto place = find(path, Last::keep);
  if (!place || !place->is_link()) return std::nullopt;
  const auto target = read_link(place->directory(), place->name);
  auto parts = split(target.value_or(""), "/");
  if (parts.empty()) return std::nullopt;
  return std::move(parts.back());
}

std::optional<std::string> HostTree::real_path(std::string_view path) const {
  const auto place = find(path, Last::follow);
  if (!place) return std::nullopt;
  return place->path();
}

struct stat HostTree::status(std::string_view path) const {
  const auto found = status_of(path, Last::follow);
  if (!found) return {};
  return *found;
}

cdi::Result<mode_t> HostTree::mode(std::string_view path) const {
  const auto found = status_of(path, Last::follow);
  if (!found) return found.error();
  return found->st_mode;
}

cdi::Result<HostNode> HostTree::node(const std::string& path) const {
  auto place = in_dev_root(path);
  if (log_) log_->asked(logged(path));
  auto found = node_at(path, place);
  if (found && place != path) found->host_path = std::move(place);
  return found;
}

bool HostTree::is_directory(std::string_view path) const {
  const auto found = status_of(path, Last::keep);
  return found && S_ISDIR(found->st_mode);
}

bool HostTree::is_fifo(std::string_view path) const {
  const auto found = status_of(path, Last::keep);
  return found && S_ISFIFO(found->st_mode);
}

bool HostTree::may_open(const HostNode& node) const {
  const bool writable = (node.mode & 0222) != 0;
  if (device_table_) return device_table_->contains(node.place()) && permits(node, writable);
  const auto place = find(node.place(), Last::keep);
  if (!place) return false;
  const cdi::Descriptor opened =
      place->open((writable ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY);
  // A busy node, or a node without a device, is not forbidden.
  return opened || (errno != EACCES && errno != EPERM);
}

std::string HostTree::in_dev_root(std::string_view path) const {
  const bool in_dev = path == "/dev" || path.starts_with("/dev/");
  std::string out{in_dev ? std::string_view{dev_root_} : std::string_view{}};
  return out.append(path);
}

cdi::Result<HostNode> HostTree::node_at(const std::string& path,
                                        const std::string& place_on_host) const {
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

cdi::Result<std::string> HostTree::read_file(std::string_view path, std::size_t limit,
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

cdi::Result<Place> HostTree::find(std::string_view path, Last last) const {
  if (log_) log_->asked(logged(path));
  return find_unasked(path, last);
}

cdi::Result<Place> HostTree::find_unasked(std::string_view path, Last last) const {
  return paths_.find(in_dev_root(path), last);
}

cdi::Result<struct stat> HostTree::status_of(std::string_view path, Last last) const {
  if (log_) log_->asked(logged(path));
  return paths_.status(in_dev_root(path), last);
}

cdi::Descriptor HostTree::open_file(std::string_view path, int flags) const {
  return paths_.open_file(in_dev_root(path), flags);
}

std::string HostTree::join(std::string_view directory, std::string_view name) {
  std::string path{directory == "/" ? std::string_view{} : directory};
  return path.append("/").append(name);
}

Directory HostTree::open_directory(const Place& place) {
  return directory_of(place.open(O_RDONLY | O_DIRECTORY));
}

HostTree::Names HostTree::read_names(std::string_view path) const {
  const auto place = find(path, Last::follow);
  if (!place) return {};
  Names names{.directory = open_directory(*place), .path = place->path()};
  if (!names.directory) return {};
  while (const auto* entry = ::readdir(names.directory.get())) {
    if (!is_dots(entry->d_name)) names.types[entry->d_name] = type_of(names.number(), *entry);
  }
  return names;
}

std::optional<std::string> HostTree::find_file(Names& names, std::string name) const {
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

std::optional<std::string> HostTree::find_file(std::string_view path) const {
  const auto place = find_unasked(path, Last::follow);
  if (!place || !S_ISREG(place->status.st_mode)) return std::nullopt;
  return place->path();
}

const std::string& HostTree::real_directory(Names& names, const std::string& target) const {
  const auto [known, is_new] = names.real_paths.try_emplace(target);
  if (is_new) {
    const auto path = target.starts_with('/') ? target : join(names.path, target);
    const auto place = find_unasked(path, Last::follow);
    if (place) known->second = place->path();
  }
  return known->second;
}

cdi::Result<void> HostTree::load_device_table() {
  if (root_ == "/") return {};
  const auto text = read("/dev.tab");
  if (!text) return text.error().system == ENOENT ? cdi::Result<void>{} : text.error();
  auto table = parse_device_table(*text);
  if (!table) return std::move(table).error();
  device_table_ = std::move(*table);
  return {};
}

}  // namespace tools
