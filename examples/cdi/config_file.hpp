// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_CONFIG_FILE_HPP
#define CDI_EXAMPLES_CDI_CONFIG_FILE_HPP

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "output.hpp"

/// An OCI config.json: its members, in their order, and how it was laid out.
struct ConfigFile {
  Json document{};
  int indent = -1;  // -1: all on one line
  char fill = ' ';
  bool final_newline = true;
};

namespace detail {

/// How a text is laid out, told by its first lines and its end.
inline void note_layout(std::string_view text, ConfigFile& config) {
  config.final_newline = text.ends_with('\n');
  const auto line = text.find('\n');
  if (line == std::string_view::npos) return;
  const auto begin = text.find_first_not_of("\r\n", line);
  if (begin == std::string_view::npos) return;
  const auto end = text.find_first_not_of(" \t", begin);
  config.indent = end == std::string_view::npos ? 0 : static_cast<int>(end - begin);
  config.fill = text[begin] == '\t' ? '\t' : ' ';
}

/// Whether a JSON number keeps its value in a 64-bit integer or a double.
inline bool is_kept_exactly(std::string_view number) {
  const auto mantissa = number.substr(0, number.find_first_of("eE"));
  std::size_t digits = 0;
  std::size_t significant = 0;  // up to the last digit that is not 0
  for (const char c : mantissa) {
    if (c < '0' || c > '9' || (digits == 0 && c == '0')) continue;
    ++digits;
    if (c != '0') significant = digits;
  }
  if (significant <= 15) return true;
  const auto value = Json::parse(number, nullptr, /*allow_exceptions=*/false);
  return value.is_number_integer();
}

/// The first number of a document that would change its value, or none.
inline std::optional<cdi::Position> find_lossy_number(const cdi::Document::Value& value) {
  if (value.kind() == cdi::Document::Kind::plain && !is_kept_exactly(value.text())) {
    return value.position();
  }
  for (const auto item : value.items()) {
    if (auto found = find_lossy_number(item)) return found;
  }
  for (const auto [key, member] : value.members()) {
    if (auto found = find_lossy_number(member)) return found;
  }
  return std::nullopt;
}

}  // namespace detail

/// Reads a config from text. Refuses what could not be written back with the same meaning: keys
/// written twice, and numbers beyond 64 bits.
inline cdi::Result<ConfigFile> parse_config(std::string_view text, std::string_view path) {
  const auto checked = cdi::parse_json(text, path);
  if (!checked) return checked.error();
  if (const auto lossy = detail::find_lossy_number(checked->root())) {
    return cdi::Error{.code = cdi::Errc::unsupported,
                      .message = "a number with more digits than can be kept",
                      .position = *lossy};
  }
  ConfigFile config{.document = Json::parse(text, nullptr, /*allow_exceptions=*/false)};
  detail::note_layout(text, config);
  return config;
}

/// The config as text, laid out as it was.
inline std::string config_text(const ConfigFile& config) {
  auto text = to_json(config.document, config.indent, config.fill);
  if (!config.final_newline) text.pop_back();
  return text;
}

/// Reads all of standard input.
inline cdi::Result<std::string> read_standard_input() {
  return cdi::read_all(STDIN_FILENO, "standard input", cdi::Limits{}.bytes);
}

/// Replaces a config in one step, crash-safe, keeping mode, owner and group. A link stays a link.
inline cdi::Result<void> rewrite_config(const std::string& path, std::string_view text) {
  char target[PATH_MAX];
  struct stat info = {};
  if (::realpath(path.c_str(), target) == nullptr || ::stat(target, &info) != 0) {
    return cdi::file_error(path, "cannot look at the file");
  }
  return cdi::replace_file(target, text, info.st_mode & 07777, info.st_uid, info.st_gid);
}

#endif  // CDI_EXAMPLES_CDI_CONFIG_FILE_HPP
