// Patterns of paths on a host: wildcards, and the number of a device.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_HOST_PATH_GLOB_HPP
#define CDI_TOOLS_PREPARE_HOST_PATH_GLOB_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/base/path.hpp>
#include <cdi/result.hpp>

#include "../../shared/base/text.hpp"
#include "../../shared/host/host_tree.hpp"

namespace prepare {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The first number in a text, as it is written; nullopt without a digit.
inline std::optional<std::string> first_number(std::string_view text) {
  const auto begin = std::find_if(text.begin(), text.end(), &is_digit);
  const auto end = std::find_if_not(begin, text.end(), &is_digit);
  if (begin == end) return std::nullopt;
  return std::string{begin, end};
}

namespace detail {

/// A part of a pattern for one file name.
struct GlobToken {
  enum class Kind : std::uint8_t { letter, any, many, set, index };

  Kind kind = Kind::letter;
  std::string text{};    // the letter, or the letters of a set
  bool negated = false;  // of a set: all letters but these
};

/// The letters of `[a-c_]`, without the brackets. An error message if a range is reversed.
inline cdi::Result<std::string> letters_of_set(std::string_view text) {
  std::string letters;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_range = i + 2 < text.size() && text[i + 1] == '-';
    if (!is_range) {
      letters += text[i];
      continue;
    }
    if (text[i] > text[i + 2]) {
      return cdi::Error{.code = cdi::Errc::invalid,
                        .message = fmt::format("the range {} is reversed", text.substr(i, 3))};
    }
    for (int letter = text[i]; letter <= text[i + 2]; ++letter)
      letters += static_cast<char>(letter);
    i += 2;
  }
  return letters;
}

/// Takes a set such as `[0-9]` from the front of a text.
inline cdi::Result<GlobToken> take_set(std::string_view& text) {
  const auto end = text.find(']', 2);  // a set has at least one letter
  if (end == std::string_view::npos) {
    return cdi::Error{.code = cdi::Errc::invalid, .message = "[ has no ] after it"};
  }
  auto inner = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  GlobToken token{.kind = GlobToken::Kind::set};
  token.negated = inner.starts_with('!') && inner.size() > 1;
  if (token.negated) inner.remove_prefix(1);
  auto letters = letters_of_set(inner);
  if (!letters) return std::move(letters).error();
  token.text = std::move(*letters);
  return token;
}

}  // namespace detail

/// A pattern for one file name: `*`, `?`, `[0-9]`, and `{index}` for a number.
class NameGlob {
 public:
  static constexpr std::string_view index = "{index}";

  static cdi::Result<NameGlob> parse(std::string_view text) {
    NameGlob glob;
    while (!text.empty()) {
      if (text.front() == '[') {
        auto set = detail::take_set(text);
        if (!set) return std::move(set).error();
        glob.tokens_.push_back(std::move(*set));
        continue;
      }
      const bool is_index = text.starts_with(index);
      glob.tokens_.push_back({is_index              ? Token::Kind::index
                              : text.front() == '*' ? Token::Kind::many
                              : text.front() == '?' ? Token::Kind::any
                                                    : Token::Kind::letter,
                              std::string{text.front()}});
      text.remove_prefix(is_index ? index.size() : 1);
    }
    return glob;
  }

  /// Whether a name matches; then sets `number` to the text that `{index}` stands for. Costs at
  /// most the product of both lengths.
  bool matches(std::string_view name, std::string& number) const {
    std::size_t token = 0;
    std::size_t at = 0;
    std::size_t star = none;   // the last `*`
    std::size_t star_end = 0;  // what it stands for ends here
    while (at < name.size() || token < tokens_.size()) {
      if (token < tokens_.size() && tokens_[token].kind == Token::Kind::many) {
        star = token++;
        star_end = at;
      } else if (const auto size =
                     token < tokens_.size() ? take(token, name.substr(at), number) : 0;
                 size > 0) {
        at += size;
        ++token;
      } else if (star != none && star_end < name.size()) {
        token = star + 1;
        at = ++star_end;
      } else {
        return false;
      }
    }
    return true;
  }

  bool is_literal() const {
    return std::all_of(tokens_.begin(), tokens_.end(),
                       [](const Token& token) { return token.kind == Token::Kind::letter; });
  }

  /// The number of letters before the first wildcard.
  std::size_t literal_size() const {
    const auto first = std::find_if(tokens_.begin(), tokens_.end(), [](const Token& token) {
      return token.kind != Token::Kind::letter;
    });
    return static_cast<std::size_t>(first - tokens_.begin());
  }

 private:
  using Token = detail::GlobToken;
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// The number of letters at the front of a name that a token stands for; 0 if it does not match.
  std::size_t take(std::size_t token, std::string_view name, std::string& number) const {
    if (name.empty()) return 0;
    const auto& [kind, text, negated] = tokens_[token];
    if (kind == Token::Kind::any) return 1;
    if (kind == Token::Kind::letter) return name.front() == text.front() ? 1 : 0;
    if (kind == Token::Kind::set) {
      return (text.find(name.front()) != std::string::npos) != negated ? 1 : 0;
    }
    const auto end = std::find_if_not(name.begin(), name.end(), &is_digit);
    const auto size = static_cast<std::size_t>(end - name.begin());
    if (size > 0) number = std::string{name.substr(0, size)};
    return size;
  }

  std::vector<Token> tokens_{};
};

/// A path that a pattern matches.
struct GlobMatch {
  std::string path{};
  std::optional<std::string> number{};  // what `{index}` stands for, or otherwise the first number
                                        // from the first wildcard on
};

/// A pattern for a path, each part of which is a `NameGlob`.
class PathGlob {
 public:
  static constexpr std::size_t most_names = 20000;  // that one search looks at
  static constexpr std::size_t most_matches = 4096;

  /// Parses a pattern, which must be an absolute path in its shortest form.
  static cdi::Result<PathGlob> parse(std::string_view text) {
    const auto invalid = [&](std::string message) {
      return cdi::Error{.code = cdi::Errc::invalid, .message = std::move(message)};
    };
    if (!text.starts_with('/') || cdi::clean_path(text) != text || !tools::is_plain(text)) {
      return invalid(
          "this is not an absolute path of printable ASCII without empty parts, . or ..");
    }
    const auto first = text.find(NameGlob::index);
    if (first != std::string_view::npos &&
        text.find(NameGlob::index, first + 1) != std::string_view::npos) {
      return invalid("a pattern can contain {index} only once");
    }
    PathGlob glob;
    glob.text_ = text;
    for (const auto& part : tools::split(text, "/")) {
      auto name = NameGlob::parse(part);
      if (!name) return std::move(name).error();
      glob.parts_.push_back({part, std::move(*name)});
    }
    return glob;
  }

  const std::string& text() const { return text_; }

  bool is_literal() const {
    return std::all_of(parts_.begin(), parts_.end(),
                       [](const Part& part) { return part.glob.is_literal(); });
  }

  /// The paths on a host that match, in order; of a literal pattern its path, even if it does not
  /// exist. An error if the search would take too long.
  cdi::Result<std::vector<GlobMatch>> find(const tools::HostTree& tree) const {
    std::vector<GlobMatch> found{{}};
    std::size_t names = 0;
    for (const auto& part : parts_) {
      std::vector<GlobMatch> next;
      for (const auto& directory : found) {
        if (!add_matches(tree, part, directory, names, next)) return too_many();
      }
      found = std::move(next);
    }
    return found;
  }

 private:
  struct Part {
    std::string text{};
    NameGlob glob{};
  };

  /// Adds the paths in a directory that match. Returns false if there are too many.
  static bool add_matches(const tools::HostTree& tree, const Part& part, const GlobMatch& directory,
                          std::size_t& names, std::vector<GlobMatch>& out) {
    if (part.glob.is_literal()) {
      out.push_back({directory.path + "/" + part.text, directory.number});
      return true;
    }
    const auto listed = tree.list(directory.path.empty() ? "/" : directory.path);
    names += listed.size();
    if (names > most_names) return false;
    for (const auto& name : listed) {
      std::string number;
      if (!tools::is_plain(name) || !part.glob.matches(name, number)) continue;
      GlobMatch match{directory.path + "/" + name, directory.number};
      if (!number.empty()) {
        match.number = std::move(number);
      } else if (!match.number) {
        match.number = first_number(std::string_view{name}.substr(part.glob.literal_size()));
      }
      out.push_back(std::move(match));
      if (out.size() > most_matches) return false;
    }
    return true;
  }

  cdi::Error too_many() const {
    return {.code = cdi::Errc::limit,
            .message = fmt::format("{} would look at more than {} names, or match more than {}",
                                   text_, most_names, most_matches),
            .advice = "make the pattern more precise"};
  }

  std::string text_{};
  std::vector<Part> parts_{};
};

/// Whether a text matches a pattern for a file name, such as `0x1ae*`.
inline bool matches_glob(std::string_view pattern, std::string_view text) {
  const auto glob = NameGlob::parse(pattern);
  std::string number;
  return glob && glob->matches(text, number);
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_HOST_PATH_GLOB_HPP
