// What a program reads from a host, to repeat it elsewhere.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_HOST_READ_LOG_HPP
#define CDI_TOOLS_KIT_HOST_READ_LOG_HPP

#include <cerrno>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <tuple>
#include <vector>

#include <cdi/result.hpp>

#include "host_observer.hpp"

namespace tools {

/// The paths that a program asks for, and what it reads. Paths are as the program spells them, with
/// links in them. Files in directories that are not of the host do not count.
class ReadLog : public HostObserver {
 public:
  /// A path, and the directory of the host that is / for the links in it; empty for / itself.
  struct Place {
    std::string root{};
    std::string path{};

    bool operator<(const Place& other) const {
      return std::tie(root, path) < std::tie(other.root, other.path);
    }
  };

  /// What was read from a file.
  struct Seen {
    std::optional<std::string> text{};  // nullopt: only the file's existence, type and mode
    std::vector<std::string> names{};   // of a directory
    int failure = 0;                    // an error number that does not mean a missing file
  };

  const std::map<Place, Seen>& all() const { return seen_; }

  std::size_t add_root(const std::string&, const std::optional<std::string>& on_host) override {
    roots_.push_back(on_host);
    return roots_.size() - 1;
  }

  void asked(const Path& path) override { seen(path); }

  void found(const Path&, Last, const cdi::Result<struct stat>&) override {}

  /// Of several texts of a file, the longest counts: others are its first bytes.
  void read(const Path& path, const struct stat&, const cdi::Result<std::string>& text) override {
    auto* const file = seen(path);
    if (file == nullptr) return;
    if (!text) {
      const int number = text.error().system;
      const bool is_missing = number == ENOENT || number == ENOTDIR;
      file->failure = is_missing ? 0 : number;
    } else if (!file->text || file->text->size() < text->size()) {
      file->text = *text;
    }
  }

  void listed(const Path& path, const struct stat&, const cdi::Result<Names>& names) override {
    if (!names) return;
    if (auto* const directory = seen(path)) directory->names = *names;
  }

  void tried_device(const Path&) override {}

 private:
  /// The row of a path; nullptr if the path is not of the host.
  Seen* seen(const Path& path) {
    const auto& on_host = roots_[path.root];
    return on_host ? &seen_[{*on_host, path.path}] : nullptr;
  }

  std::vector<std::optional<std::string>> roots_{};
  std::map<Place, Seen> seen_{};
};

}  // namespace tools

#endif  // CDI_TOOLS_KIT_HOST_READ_LOG_HPP
