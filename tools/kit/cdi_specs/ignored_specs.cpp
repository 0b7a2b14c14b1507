// `ignored_specs`: finds files that look like specs but that no program reads.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "ignored_specs.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/files/directory.hpp>

namespace tools {

using namespace cdi;
using cdi::detail::ascii_lower;
using cdi::detail::open_directory;

std::string readable_name(std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  std::string ending;
  for (const char c : name.substr(dot)) ending.push_back(ascii_lower(c));
  if (ending == ".yml") ending = ".yaml";
  if ((ending != ".yaml" && ending != ".json") || ending == name.substr(dot)) return {};
  return std::string{name.substr(0, dot)}.append(ending);
}

bool is_like_spec(std::string_view name) {
  return format_of(name) || !readable_name(name).empty();
}

IgnoredSpec ignored_file(std::string path, std::string_view readable_name, bool taken) {
  IgnoredSpec out{.path = std::move(path), .why = "its name ends neither in .json nor in .yaml"};
  if (taken) {
    out.remedy = "rename it to an unused name that ends in ";
    out.remedy.append(readable_name.substr(readable_name.rfind('.'))).append(", or remove it");
  } else {
    out.remedy = "rename it to " + cdi::quoted(readable_name);
  }
  return out;
}

std::string name_to_read(std::string_view name) {
  auto readable = readable_name(name);
  return readable.empty() ? std::string{name} : readable;
}

IgnoredSpec ignored_directory(std::string path, std::string_view spec_dir,
                              const std::vector<std::string>& names, bool taken) {
  IgnoredSpec out{.path = std::move(path),
                  .directory = true,
                  .why = "subdirectories of a spec directory are not searched",
                  .remedy = "move " + cdi::quoted(names.front())};
  const auto others = names.size() - 1;
  if (others > 0) out.remedy.append(" and ").append(std::to_string(others)).append(" more");
  out.remedy.append(" to ").append(cdi::quoted(spec_dir));
  bool readable = true;
  for (const auto& name : names) readable = readable && readable_name(name).empty();
  if (readable && !taken) return out;
  if (others > 0) {
    out.remedy.append(" with unused names that end in .json or .yaml");
  } else if (taken) {
    out.remedy.append(" with an unused name that ends in .json or .yaml");
  } else {
    out.remedy.append(" as ").append(cdi::quoted(readable_name(names.front())));
  }
  return out;
}

namespace {

/// Returns the type of the file that a path leads to; 0 if there is no file.
mode_t type_at(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & S_IFMT : 0;
}

/// Returns the sorted names in a directory that `wanted` accepts; empty if listing fails.
template <class Wanted>
std::vector<std::string> names_in(const std::string& path, const Wanted& wanted) {
  std::vector<std::string> names;
  const auto stream = open_directory(path);
  if (!stream) return names;
  auto listing = stream.list(path, wanted, static_cast<std::size_t>(-1));
  if (!listing) return names;
  for (auto& entry : listing->entries) names.push_back(std::move(entry.name));
  return names;
}

/// Returns whether a path leads to one of the directories.
bool is_one_of(const std::vector<std::string>& dirs, const std::string& path) {
  struct stat info = {};
  struct stat other = {};
  if (::stat(path.c_str(), &info) != 0) return false;
  for (const auto& dir : dirs) {
    const bool same = ::stat(dir.c_str(), &other) == 0 && info.st_dev == other.st_dev &&
                      info.st_ino == other.st_ino;
    if (same) return true;
  }
  return false;
}

/// Adds a directory inside a spec directory if it contains files that look like specs.
void add_nested(const std::string& dir, const std::string& path,
                const std::vector<std::string>& dirs, std::vector<IgnoredSpec>& out) {
  const auto names = names_in(path, is_like_spec);
  if (names.empty() || is_one_of(dirs, path)) return;
  bool taken = false;
  for (const auto& name : names) taken = taken || type_at(dir + "/" + name_to_read(name)) != 0;
  out.push_back(ignored_directory(path, dir, names, taken));
}

}  // namespace

std::vector<IgnoredSpec> ignored_specs(const std::vector<std::string>& dirs) {
  std::vector<IgnoredSpec> out;
  for (const auto& given : dirs) {
    const auto dir = clean_path(given);
    const auto is_candidate = [](std::string_view name) {
      return !format_of(name) && !name.starts_with('.');
    };
    for (const auto& name : names_in(dir, is_candidate)) {
      const auto path = dir + "/" + name;
      const auto readable = readable_name(name);
      const auto type = type_at(path);
      if (type == S_IFDIR) {
        add_nested(dir, path, dirs, out);
      } else if (type == S_IFREG && !readable.empty()) {
        const bool taken = type_at(dir + "/" + readable) != 0;
        out.push_back(ignored_file(path, readable, taken));
      }
    }
  }
  return out;
}

Error error_of(const IgnoredSpec& ignored) {
  return {.code = Errc::not_found,
          .message = std::string{"ignored: "}.append(ignored.why),
          .advice = ignored.remedy,
          .position = {.file = ignored.path}};
}

}  // namespace tools
