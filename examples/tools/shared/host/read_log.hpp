// What a program reads from a host, to repeat it elsewhere.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_SHARED_HOST_READ_LOG_HPP
#define CDI_TOOLS_SHARED_HOST_READ_LOG_HPP

#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace tools {

/// The paths that a program examines, and what it reads. Paths are as the program spells them, with
/// links in them.
class ReadLog {
 public:
  /// A path, and the directory of the host that is / for the links in it; empty for / itself.
  struct Path {
    std::string root{};
    std::string path{};

    bool operator<(const Path& other) const {
      return std::tie(root, path) < std::tie(other.root, other.path);
    }
  };

  /// What was read from a file.
  struct Seen {
    std::optional<std::string> text{};  // nullopt: only the file's existence, type and mode
    std::vector<std::string> names{};   // of a directory
    int failure = 0;                    // an error number that does not mean a missing file
  };

  const std::map<Path, Seen>& all() const { return seen_; }

  void add(const Path& path) { seen_[path]; }

  /// Adds the first bytes of a file, or all of them.
  void add_text(const Path& path, std::string_view text) {
    auto& known = seen_[path].text;
    if (!known || known->size() < text.size()) known = text;
  }

  void add_names(const Path& path, const std::vector<std::string>& names) {
    seen_[path].names = names;
  }

  void add_failure(const Path& path, int number) {
    const bool is_missing = number == ENOENT || number == ENOTDIR;
    seen_[path].failure = is_missing ? 0 : number;
  }

 private:
  std::map<Path, Seen> seen_{};
};

}  // namespace tools

#endif  // CDI_TOOLS_SHARED_HOST_READ_LOG_HPP
