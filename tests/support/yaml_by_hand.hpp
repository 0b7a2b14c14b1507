// Parts of the YAML parser, used alone.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/text/document_builder.hpp>
#include <cdi/text/yaml/cursor.hpp>
#include <cdi/text/yaml/parse_yaml.hpp>

#include "shown_document.hpp"

/// A cursor at the beginning of a text.
struct YamlByHand {
  explicit YamlByHand(std::string_view text)
      : builder{std::string{text}, {}, {}, /*merge_keys=*/true} {}

  /// `LINE:COLUMN MESSAGE` of the error.
  std::string error() {
    const auto why = std::move(builder).finish().error();
    return place(why.position) + " " + cdi::detail::advised_message(why);
  }

  /// The text from the cursor on.
  std::string rest() const { return std::string{builder.source().substr(cursor.at())}; }

  cdi::DocumentBuilder builder;
  cdi::detail::YamlCursor cursor{builder};
};

/// A scalar that `Reader` reads: its text, a bar, and the rest of the input; or the error.
template <class Reader, class... Args>
std::string read_scalar(std::string_view text, Args... args) {
  YamlByHand hand{text};
  cdi::detail::YamlScalar scalar;
  std::string decoded;
  if (!Reader{hand.cursor, decoded, args...}.read(scalar)) return hand.error();
  const auto plain = hand.cursor.text(scalar.begin, scalar.size);
  return (scalar.is_decoded ? decoded : std::string{plain}) + "|" + hand.rest();
}

/// A YAML text, and the expected document or error.
struct ScalarRow {
  std::string text;
  std::string expected;  // the scalar, a bar, and the text after it; or the error
};

struct YamlRow {
  std::string text;
  std::string expected;
};

/// The document, or the error. With `places`, each value and key has its position.
inline std::string parsed(std::string_view text, const cdi::Limits& limits = {},
                          bool places = false) {
  const auto document = cdi::parse_yaml(text, {}, limits);
  if (document) return show(document->root(), places);
  return place(document.error().position) + " " + cdi::detail::advised_message(document.error());
}

inline void check_parsed(const std::vector<YamlRow>& rows) {
  for (const auto& row : rows) {
    CAPTURE(row.text);
    CHECK(parsed(row.text) == row.expected);
  }
}

/// Checks that texts are refused with `Errc::syntax`.
inline void check_rejected(const std::vector<std::string>& texts) {
  for (const auto& text : texts) {
    CAPTURE(text);
    const auto document = cdi::parse_yaml(text);
    CHECK_FALSE(document);
    if (!document) CHECK(document.error().code == cdi::Errc::syntax);
  }
}

/// Checks the place at which texts are refused with `Errc::syntax`.
inline void check_rejected_at(const std::vector<YamlRow>& rows) {
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto document = cdi::parse_yaml(row.text, "f");
    REQUIRE_FALSE(document);
    CHECK(document.error().code == cdi::Errc::syntax);
    CHECK(document.error().position.file == "f");
    CHECK(place(document.error().position) == row.expected);
  }
}

/// `LINE:COLUMN WORD` of the first text that the Go reference refuses, with the first word of the
/// reason; else "none", or the error.
inline std::string unportable(std::string_view text) {
  const auto document = cdi::parse_yaml(text);
  if (!document) return "error: " + cdi::detail::advised_message(document.error());
  const auto found = document->unportable();
  if (!found) return "none";
  return place(found->position) + " " + found->reason.substr(0, found->reason.find(' '));
}
