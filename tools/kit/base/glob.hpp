// Patterns for names and paths, in the dialect of Go's `filepath.Match`, as in the reference.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

namespace tools {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A pattern: `*` is any text without a slash, `?` any character but a slash, `[0-3]`, `[abc]` and
/// `[^abc]` a character of a class, and a backslash escapes a character. Some patterns also have
/// `{index}`, a number.
class Glob {
 public:
  static constexpr std::string_view index = "{index}";

  enum class Index : std::uint8_t { no, yes };

  /// Parses a pattern; with `Index::yes`, one that may have `{index}`. The message of an error says
  /// which part is wrong.
  static cdi::Result<Glob> parse(std::string_view text, Index with_index = Index::no);

  /// Whether the whole of a text matches. Then sets `number`, unless it is null, to the text that
  /// `{index}` stands for, if the pattern has it. Costs at most the product of both lengths.
  bool matches(std::string_view text, std::string* number = nullptr) const;

  bool is_literal() const { return literal_size() == tokens_.size(); }

  /// The text that a literal pattern matches.
  std::string literal() const {
    std::string text;
    for (const auto& token : tokens_) text += token.ranges.front().first;
    return text;
  }

  /// The number of characters before the first one that is not literal.
  std::size_t literal_size() const {
    const auto first = std::find_if(tokens_.begin(), tokens_.end(), [](const Token& token) {
      return token.kind != Token::Kind::letter;
    });
    return static_cast<std::size_t>(first - tokens_.begin());
  }

 private:
  using Range = std::pair<char, char>;  // of characters, with both ends

  struct Token {
    enum class Kind : std::uint8_t { letter, any, many, set, index };

    Kind kind = Kind::letter;
    std::vector<Range> ranges{};  // of a set; a letter is a set of itself
    bool negated = false;         // of a set: all characters but these
  };

  static std::optional<char> take_class_char(std::string_view& text);
  static std::optional<Token> take_class(std::string_view& text);
  std::size_t take(std::size_t token, std::string_view text, std::string* number) const;

  std::vector<Token> tokens_{};
};

/// Takes a character of a class such as [0-9], which a backslash may precede; nothing if the class
/// is empty or not closed.
inline std::optional<char> Glob::take_class_char(std::string_view& text) {
  if (text.starts_with('-') || text.starts_with(']')) return std::nullopt;
  if (text.starts_with('\\')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  const char taken = text.front();
  text.remove_prefix(1);
  return taken;
}

/// Takes a class, without its first bracket. Nothing if it is empty, is not closed, or has a
/// reversed range.
inline std::optional<Glob::Token> Glob::take_class(std::string_view& text) {
  Token token{.kind = Token::Kind::set, .negated = text.starts_with('^')};
  if (token.negated) text.remove_prefix(1);
  do {
    const auto low = take_class_char(text);
    auto high = low;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      high = take_class_char(text);
    }
    if (!low || !high || *high < *low) return std::nullopt;
    token.ranges.emplace_back(*low, *high);
  } while (!text.starts_with(']'));
  text.remove_prefix(1);
  return token;
}

/// The error about a pattern.
inline cdi::Error bad_glob(std::string message, std::string advice) {
  return {.code = cdi::Errc::invalid, .message = std::move(message), .advice = std::move(advice)};
}

inline cdi::Result<Glob> Glob::parse(std::string_view text, Index with_index) {
  using Kind = Token::Kind;
  Glob glob;
  while (!text.empty()) {
    const auto rest = text;
    const char c = text.front();
    if (with_index == Index::yes && text.starts_with(index)) {
      glob.tokens_.push_back({Kind::index});
      text.remove_prefix(index.size());
      continue;
    }
    text.remove_prefix(1);
    if (c == '[' && text.starts_with('!')) {  // negates in shells, but not in Go
      return bad_glob(fmt::format("{} has [!", cdi::quoted(rest)),
                      "write [^01] for a character that is neither 0 nor 1");
    }
    if (c == '[') {
      auto set = take_class(text);
      if (!set) {
        return bad_glob(
            fmt::format("{} is not closed, is empty, or has a reversed range", cdi::quoted(rest)),
            "write [0-3] or [abc] for one character");
      }
      glob.tokens_.push_back(*std::move(set));
      continue;
    }
    if (c == '\\' && text.empty()) {
      return bad_glob("a backslash at the end has nothing to escape", "remove it");
    }
    const char letter = c == '\\' ? text.front() : c;
    if (c == '\\') text.remove_prefix(1);
    glob.tokens_.push_back({c == '*'   ? Kind::many
                            : c == '?' ? Kind::any
                                       : Kind::letter,
                            {{letter, letter}}});
  }
  return glob;
}

inline bool Glob::matches(std::string_view text, std::string* number) const {
  constexpr auto none = static_cast<std::size_t>(-1);
  std::size_t token = 0;
  std::size_t at = 0;
  std::size_t star = none;   // the last `*`
  std::size_t star_end = 0;  // what it stands for ends here
  while (at < text.size() || token < tokens_.size()) {
    if (token < tokens_.size() && tokens_[token].kind == Token::Kind::many) {
      star = token++;
      star_end = at;
      continue;
    }
    const auto size = token < tokens_.size() ? take(token, text.substr(at), number) : 0;
    if (size > 0) {
      at += size;
      ++token;
    } else if (star != none && star_end < text.size() && text[star_end] != '/') {
      token = star + 1;
      at = ++star_end;
    } else {
      return false;
    }
  }
  return true;
}

/// The number of characters at the front of a text that a token stands for; 0 if it does not match.
inline std::size_t Glob::take(std::size_t token, std::string_view text, std::string* number) const {
  if (text.empty()) return 0;
  const auto& [kind, ranges, negated] = tokens_[token];
  const char c = text.front();
  if (kind == Token::Kind::any) return c != '/' ? 1 : 0;
  if (kind != Token::Kind::index) {
    const bool is_in = std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
      return range.first <= c && c <= range.second;
    });
    return is_in != negated ? 1 : 0;
  }
  const auto end = std::find_if_not(text.begin(), text.end(), &is_digit);
  const auto size = static_cast<std::size_t>(end - text.begin());
  if (size > 0 && number != nullptr) *number = text.substr(0, size);
  return size;
}

}  // namespace tools
