// `ModelFiles`: files, directories, locks and a clock in memory, as Linux has them, or worse.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace model {

/// What a power cut leaves of changes that were not synced.
enum class Left : std::uint8_t {
  nothing,
  names,  // new names, with the synced text: a file is empty if its text was never synced
  everything,
};

using Numbers = std::shared_ptr<std::set<ino_t>>;

/// A file or a directory. Its number is free for another one when nothing refers to it any more.
struct Node {
  Node(Numbers used, mode_t its_mode) : numbers{std::move(used)}, mode{its_mode} {
    while (!numbers->insert(number).second) ++number;
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() { numbers->erase(number); }

  bool is_directory() const { return S_ISDIR(mode); }

  using Entries = std::map<std::string, std::shared_ptr<Node>, std::less<>>;

  Numbers numbers;
  ino_t number = 1;
  mode_t mode;
  nlink_t names = 1;
  std::int64_t changed = 0;  // milliseconds
  std::string text{};
  std::string synced_text{};
  Entries entries{};
  Entries synced_entries{};
  std::weak_ptr<void> lock{};  // the open file that has the lock
};

/// An open file: what the descriptors that `dup` makes have in common.
struct OpenFile {
  std::shared_ptr<Node> node;
  std::size_t offset = 0;
};

/// A file system. Functions return a negative error number if they fail.
class ModelFiles {
 public:
  static constexpr int first_descriptor = 1 << 20;  // the real ones are smaller

  std::int64_t clock = 1'700'000'000'000;  ///< milliseconds since 1970

  int open(int process, int directory, std::string_view path, int flags, mode_t mode) {
    auto [above, name] = place_of(directory, path);
    if (!above) return -ENOENT;
    auto node = find(above, name);
    if (!node && (flags & O_CREAT) == 0) return -ENOENT;
    if (node && (flags & O_EXCL) != 0) return -EEXIST;
    if (node && !node->is_directory() && (flags & O_DIRECTORY) != 0) return -ENOTDIR;
    if (!node) node = add(*above, name, S_IFREG | mode);
    if ((flags & O_TRUNC) != 0) set_text(*node, {});
    return add_descriptor(process, std::make_shared<OpenFile>(OpenFile{std::move(node)}));
  }

  int duplicate(int process, int file) {
    const auto found = opened(file);
    return found ? add_descriptor(process, found) : -EBADF;
  }

  int close(int file) { return descriptors_.erase(file) == 1 ? 0 : -EBADF; }

  /// Whether other processes can see that a file is closed.
  bool has_lock(int file) const {
    const auto found = opened(file);
    return found && found.use_count() == 2 && found->node->lock.lock() == found;
  }

  ssize_t read(int file, void* to, std::size_t size) {
    const auto found = opened(file);
    if (!found) return -EBADF;
    const auto part = std::string_view{found->node->text}.substr(found->offset, size);
    std::memcpy(to, part.data(), part.size());
    found->offset += part.size();
    return static_cast<ssize_t>(part.size());
  }

  /// Writes the first half of a text, so that there is a moment at which the file is incomplete.
  ssize_t write(int file, const void* from, std::size_t size) {
    const auto found = opened(file);
    if (!found) return -EBADF;
    if (found->offset == 0 && size > 1) size /= 2;
    auto text = found->node->text;
    text.resize(std::max(text.size(), found->offset + size));
    std::memcpy(text.data() + found->offset, from, size);
    set_text(*found->node, std::move(text));
    found->offset += size;
    return static_cast<ssize_t>(size);
  }

  int stat(int directory, std::string_view path, struct stat* info) const {
    const auto [above, name] = place_of(directory, path);
    const auto node = find(above, name);
    if (!node) return -ENOENT;
    *info = status_of(*node);
    return 0;
  }

  int fstat(int file, struct stat* info) const {
    const auto found = opened(file);
    if (!found) return -EBADF;
    *info = status_of(*found->node);
    return 0;
  }

  /// Locks never wait: the library only tries to lock.
  int lock(int file, int operation) {
    const auto found = opened(file);
    if (!found || operation != (LOCK_EX | LOCK_NB)) return -EINVAL;
    const auto owner = found->node->lock.lock();
    if (owner && owner != found) return -EWOULDBLOCK;
    found->node->lock = found;
    return 0;
  }

  int set_mode(int file, mode_t mode) {
    const auto found = opened(file);
    if (!found) return -EBADF;
    found->node->mode = (found->node->mode & S_IFMT) | mode;
    found->node->changed = file_time();
    return 0;
  }

  /// All files have the owner of this process.
  int set_owner(int file) {
    const auto found = opened(file);
    if (!found) return -EBADF;
    found->node->changed = file_time();
    return 0;
  }

  int sync(int file) {
    const auto found = opened(file);
    if (!found) return -EBADF;
    found->node->synced_text = found->node->text;
    found->node->synced_entries = found->node->entries;
    return 0;
  }

  int rename(int from_dir, std::string_view from, int to_dir, std::string_view to, bool replaces) {
    const auto [source, old_name] = place_of(from_dir, from);
    const auto [target, new_name] = place_of(to_dir, to);
    const auto node = find(source, old_name);
    if (!node || !target) return -ENOENT;
    const auto replaced = find(target, new_name);
    if (replaced && !replaces) return -EEXIST;
    if (replaced) forget_name(*replaced);
    source->entries.erase(source->entries.find(old_name));
    target->entries.insert_or_assign(std::string{new_name}, node);
    for (Node* const changed : {&*source, &*target, &*node}) changed->changed = file_time();
    return 0;
  }

  int unlink(int directory, std::string_view path) {
    const auto [above, name] = place_of(directory, path);
    const auto node = find(above, name);
    if (!node) return -ENOENT;
    if (node->is_directory()) return -EISDIR;
    forget_name(*node);
    above->entries.erase(above->entries.find(name));
    above->changed = file_time();
    return 0;
  }

  int make_directory(int directory, std::string_view path, mode_t mode) {
    const auto [above, name] = place_of(directory, path);
    if (!above) return -ENOENT;
    if (find(above, name)) return -EEXIST;
    add(*above, name, S_IFDIR | mode);
    return 0;
  }

  int access(int directory, std::string_view path) const {
    struct stat info = {};
    return stat(directory, path, &info);
  }

  /// The names in an open directory, sorted, and whether each is a directory.
  std::vector<std::pair<std::string, bool>> list(int file) const {
    std::vector<std::pair<std::string, bool>> names;
    const auto found = opened(file);
    if (!found) return names;
    for (const auto& [name, node] : found->node->entries) {
      names.emplace_back(name, node->is_directory());
    }
    return names;
  }

  /// Closes the files of a process.
  void close_all(int process) {
    std::erase_if(descriptors_, [&](const auto& entry) { return entry.second.first == process; });
  }

  void cut_power(Left left) {
    descriptors_.clear();
    restore(*root_, left);
  }

  /// Makes all that was done until now survive a power cut.
  void sync_all() { sync_all(*root_); }

  /// The text of a file; empty if it is missing.
  std::string text_of(std::string_view path) const {
    const auto [above, name] = place_of(AT_FDCWD, path);
    const auto node = find(above, name);
    return node ? node->text : std::string{};
  }

  /// The names in a directory.
  std::set<std::string> names_in(std::string_view path) const {
    const auto [above, name] = place_of(AT_FDCWD, path);
    const auto node = find(above, name);
    std::set<std::string> names;
    if (node) {
      for (const auto& entry : node->entries) names.insert(entry.first);
    }
    return names;
  }

 private:
  using NodePtr = std::shared_ptr<Node>;

  /// The time of changes, which advances in steps of 10 ms.
  std::int64_t file_time() const { return clock / 10 * 10; }

  NodePtr add(Node& above, std::string_view name, mode_t mode) {
    auto node = std::make_shared<Node>(numbers_, mode);
    node->changed = above.changed = file_time();
    above.entries.insert_or_assign(std::string{name}, node);
    return node;
  }

  void set_text(Node& node, std::string text) const {
    node.text = std::move(text);
    node.changed = file_time();
  }

  void forget_name(Node& node) const {
    --node.names;
    node.changed = file_time();
  }

  int add_descriptor(int process, std::shared_ptr<OpenFile> file) {
    int number = first_descriptor;
    while (descriptors_.contains(number)) ++number;
    descriptors_.emplace(number, std::pair{process, std::move(file)});
    return number;
  }

  std::shared_ptr<OpenFile> opened(int file) const {
    const auto found = descriptors_.find(file);
    return found == descriptors_.end() ? nullptr : found->second.second;
  }

  static NodePtr find(const NodePtr& above, std::string_view name) {
    if (!above || name == ".") return above;
    const auto found = above->entries.find(name);
    return found == above->entries.end() ? nullptr : found->second;
  }

  /// The directory of a path, null if it is missing, and the last name of the path.
  std::pair<NodePtr, std::string_view> place_of(int directory, std::string_view path) const {
    const auto from = opened(directory);
    auto above = path.starts_with('/') || !from ? root_ : from->node;
    while (path.starts_with('/')) path.remove_prefix(1);
    for (auto slash = path.find('/'); slash != path.npos && above; slash = path.find('/')) {
      above = find(above, path.substr(0, slash));
      path.remove_prefix(slash + 1);
    }
    return {above, path.empty() ? "." : path};
  }

  static struct stat status_of(const Node& node) {
    struct stat info = {};
    info.st_dev = 1;
    info.st_ino = node.number;
    info.st_mode = node.mode;
    info.st_nlink = node.names;
    info.st_uid = ::geteuid();
    info.st_gid = ::getegid();
    info.st_size = static_cast<off_t>(node.text.size());
    // Not 0 ns, which would mean a file system with whole seconds.
    info.st_ctim = {.tv_sec = node.changed / 1000, .tv_nsec = node.changed % 1000 * 1'000'000 + 1};
    info.st_mtim = info.st_ctim;
    return info;
  }

  static void restore(Node& node, Left left) {
    if (left != Left::everything) node.text = node.synced_text;
    if (left == Left::nothing) node.entries = node.synced_entries;
    node.names = 1;
    for (const auto& entry : node.entries) restore(*entry.second, left);
  }

  static void sync_all(Node& node) {
    node.synced_text = node.text;
    node.synced_entries = node.entries;
    for (const auto& entry : node.entries) sync_all(*entry.second);
  }

  const Numbers numbers_ = std::make_shared<std::set<ino_t>>();
  const NodePtr root_ = std::make_shared<Node>(numbers_, S_IFDIR | 0755);
  std::map<int, std::pair<int, std::shared_ptr<OpenFile>>> descriptors_{};  // with their process
};

}  // namespace model
