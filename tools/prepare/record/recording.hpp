// Records the files of a node that a program has read.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>
#include <cdi/sandbox/linker_cache.hpp>

#include "../../gpu/vendors/nvidia_libraries.hpp"
#include "../../kit/base/text.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../../kit/host/read_log.hpp"
#include "../../kit/host/rooted_paths.hpp"
#include "recorded_file.hpp"

namespace prepare {

/// The directories whose whole lists of names are recorded. Elsewhere, a list may have private
/// names, such as names of volumes in /dev: only examined files are recorded.
inline constexpr std::string_view listed_directories[] = {"/proc", "/sys", "/usr/lib/wsl"};

/// Records the paths in a log: the directories and links that lead to them, and what was
/// read from files.
class Recording {
 public:
  /// Opens the tree that was read.
  static cdi::Result<Recording> open(const std::string& root) {
    auto paths = tools::RootedPaths::open(root);
    if (!paths) return std::move(paths).error();
    auto tree = tools::HostTree::open(root);
    if (!tree) return std::move(tree).error();
    return Recording{std::move(*paths), std::move(*tree)};
  }

  /// Adds all that was read.
  void add(const tools::ReadLog& log) {
    for (const auto& [place, seen] : log.all()) {
      if (place.path != "/dev.tab") add(place, seen);  // a table of nodes, which are files here
    }
    for (const auto& path : unreadable_) files_.erase(path);
  }

  const RecordedFiles& files() const { return files_; }

  /// Why files that exist are not in the recording: path and reason.
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  Recording(tools::RootedPaths paths, tools::HostTree tree)
      : paths_{std::move(paths)}, tree_{std::move(tree)} {}

  void add(const tools::ReadLog::Place& path, const tools::ReadLog::Seen& seen) {
    const auto top = path.root.empty() ? std::string{} : walk({}, path.root).value_or("");
    const auto real = walk(top, path.path);
    if (!real) return;
    const auto found = files_.find(*real);
    if (found == files_.end()) return;
    const bool is_file = found->second.type == RecordedFile::Type::file;
    if (is_file && seen.text) add_text(path.path, *seen.text, *real);
    if (is_file && !seen.text && seen.failure != 0) leave_out(*real, seen.failure);
    if (is_listed(*real)) {
      for (const auto& name : seen.names) examine(*real + "/" + name);
    }
  }

  static bool is_listed(std::string_view real) {
    return std::any_of(
        std::begin(listed_directories), std::end(listed_directories), [&](std::string_view above) {
          return real == above || (real.starts_with(above) && real.substr(above.size())[0] == '/');
        });
  }

  void add_text(std::string_view path, const std::string& text, const std::string& real) {
    auto& known = files_[real].text;
    auto wanted = text;
    if (path == "/etc/ld.so.cache") {
      const auto entries = nvidia::driver_entries(text);
      wanted = cdi::detail::merged_linker_cache({}, entries).value_or("");
    }
    if (known.size() < wanted.size()) known = std::move(wanted);
  }

  void leave_out(const std::string& real, int number) {
    if (!unreadable_.insert(real).second) return;
    faults_.push_back(fmt::format("{}: {}", real, std::generic_category().message(number)));
  }

  /// Follows a path as `HostTree` does, and examines everything on it. `top` is the real path of
  /// its /. Returns the real path; nullopt if it leads nowhere.
  std::optional<std::string> walk(const std::string& top, std::string_view path) {
    auto at = top;
    auto rest = reversed_parts(path);
    int links = 0;
    while (!rest.empty()) {
      const auto part = std::move(rest.back());
      rest.pop_back();
      if (part == "..") {
        if (at.size() > top.size()) at.erase(at.rfind('/'));
        continue;
      }
      auto next = at + "/" + part;
      const auto* file = examine(next);
      if (file == nullptr) return std::nullopt;
      if (file->type != RecordedFile::Type::link) {
        at = std::move(next);
        continue;
      }
      if (++links > tools::RootedPaths::link_limit) return std::nullopt;
      if (file->target.starts_with('/')) at = top;
      auto parts = reversed_parts(file->target);
      std::move(parts.begin(), parts.end(), std::back_inserter(rest));
    }
    return at;
  }

  static std::vector<std::string> reversed_parts(std::string_view path) {
    auto parts = tools::split(path, "/");
    std::erase(parts, ".");
    std::reverse(parts.begin(), parts.end());
    return parts;
  }

  /// The file at a path without links before its last part; nullptr if there is no such file.
  const RecordedFile* examine(const std::string& path) {
    if (const auto known = files_.find(path); known != files_.end()) return &known->second;
    if (missing_.contains(path)) return nullptr;
    auto file = file_at(path);
    if (file) return &files_.emplace(path, std::move(*file)).first->second;
    missing_.insert(path);
    return nullptr;
  }

  std::optional<RecordedFile> file_at(const std::string& path) {
    const auto place = paths_.find(path, tools::RootedPaths::Last::keep);
    if (auto node = tree_.node(path)) {
      return RecordedFile{.type = RecordedFile::Type::device, .device = std::move(*node)};
    }
    if (!place) {
      const int number = place.error().system;
      if (number != ENOENT && number != ENOTDIR) leave_out(path, number);
      return std::nullopt;
    }
    const auto& status = place->status;
    switch (status.st_mode & S_IFMT) {
      case S_IFREG: return RecordedFile{.mode = status.st_mode & 07777U};
      case S_IFDIR: return RecordedFile{.type = RecordedFile::Type::directory};
      case S_IFSOCK: return RecordedFile{.type = RecordedFile::Type::socket};
      case S_IFLNK: break;
      default: return std::nullopt;
    }
    auto target = tools::read_link(place->directory(), place->name);
    if (!target || target->empty()) return std::nullopt;
    return RecordedFile{.type = RecordedFile::Type::link, .target = std::move(*target)};
  }

  tools::RootedPaths paths_;
  tools::HostTree tree_;
  RecordedFiles files_{};
  std::set<std::string> missing_{};
  std::set<std::string> unreadable_{};
  std::vector<std::string> faults_{};
};

}  // namespace prepare
