// Records what a program reads from a host, to repeat it elsewhere.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cerrno>
#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

namespace tools {

/// The paths that a program asks for, and what it reads. Paths are as the program spells them, with
/// links in them.
class ReadLog {
 public:
  /// A path, and the directory of the host that is / for the links in it; empty for / itself.
  struct Place {
    std::string root{};
    std::string path{};

    auto operator<=>(const Place&) const = default;
  };

  /// What was read from a file.
  struct Seen {
    std::optional<std::string> text{};  // nullopt: only the file's existence, type and mode
    std::vector<std::string> names{};   // of a directory
    int failure = 0;                    // an error number that does not mean a missing file
  };

  const std::map<Place, Seen>& all() const { return seen_; }

  /// The number of requests for paths.
  std::size_t count() const { return count_; }

  /// The program requests this path.
  void asked(const Place& path) {
    ++count_;
    seen_[path];
  }

  /// A regular file was read, whole or in part. Of several texts of a file, the longest counts:
  /// others are its first bytes.
  void read(const Place& path, const cdi::Result<std::string>& text) {
    auto& file = seen_[path];
    if (!text) {
      const int number = text.error().system;
      const bool is_missing = number == ENOENT || number == ENOTDIR;
      file.failure = is_missing ? 0 : number;
    } else if (!file.text || file.text->size() < text->size()) {
      file.text = *text;
    }
  }

  /// A directory was listed.
  void listed(const Place& path, std::vector<std::string> names) {
    seen_[path].names = std::move(names);
  }

 private:
  std::map<Place, Seen> seen_{};
  std::size_t count_ = 0;
};

}  // namespace tools
