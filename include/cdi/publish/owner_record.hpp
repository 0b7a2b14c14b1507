// How a spec file records its owner: in an annotation, or in a comment in its first line.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PUBLISH_OWNER_RECORD_HPP
#define CDI_PUBLISH_OWNER_RECORD_HPP

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/owner.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/read.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Returns the owner that the annotations of a spec record; empty when they record no owner.
inline std::string owner_in_annotations(Document::Value spec) {
  const auto annotations = detail::find_member(spec, "annotations");
  if (!annotations) return {};
  for (const auto [key, value] : annotations->members()) {
    if (key.text() == owner_annotation) return std::string{value.text()};
  }
  return {};
}

/// The spellings of an owner in JSON and YAML: without quotes, and in both kinds of quotes.
struct OwnerSpellings {
  explicit OwnerSpellings(std::string_view owner) : plain{owner} {
    for (const char c : owner) {
      if (c == '"' || c == '\\') quoted += '\\';
      if (c == '\'') single += '\'';
      quoted += c;
      single += c;
    }
    quoted += '"';
    single += '\'';
  }

  /// Returns whether a text begins with the owner as a value, or ends within such a value.
  bool may_begin(std::string_view rest) const {
    if (rest.starts_with('"')) return rest.starts_with(quoted) || quoted.starts_with(rest);
    if (rest.starts_with('\'')) return rest.starts_with(single) || single.starts_with(rest);
    if (!rest.starts_with(plain)) return plain.starts_with(rest);
    rest.remove_prefix(plain.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    return rest.empty() || ends_line(rest) || rest.front() == '}';
  }

  static bool ends_line(std::string_view rest) {
    return rest.starts_with('\r') || rest.starts_with('\n');
  }

  std::string plain;
  std::string quoted = "\"";
  std::string single = "'";
};

/// Returns the text from a key's value onwards. `rest` may begin with the key's closing quote, and
/// need not be JSON or YAML. Empty without a colon, or without a value on the same line.
inline std::string_view value_behind_key(std::string_view rest) {
  const auto skip_blanks = [&rest] {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  };
  if (rest.starts_with('"') || rest.starts_with('\'')) rest.remove_prefix(1);
  skip_blanks();
  if (!rest.starts_with(':')) return {};
  rest.remove_prefix(1);
  skip_blanks();
  return OwnerSpellings::ends_line(rest) ? std::string_view{} : rest;
}

/// Returns the value at the start of a text, for messages: without quotes, at most one line.
inline std::string_view shown_value(std::string_view rest, std::string_view owner) {
  if (rest.starts_with('"') || rest.starts_with('\'')) {
    return rest.substr(1, rest.find_first_of(std::string{rest.front()} + "\r\n", 1) - 1);
  }
  auto value = rest.substr(0, rest.find_first_of(",}\r\n"));
  value = value.substr(0, value.find_last_not_of(" \t") + 1);
  return value == owner ? rest.substr(0, rest.find_first_of("\r\n")) : value;
}

/// The owners that a text records, as far as a search can tell without parsing.
struct NamedOwners {
  bool any = false;
  std::string_view other{};  // the first owner other than the requested one; may be empty
};

inline NamedOwners owners_named_in(std::string_view text, std::string_view owner) {
  constexpr std::size_t max = 3 * longest_owner;  // with quotes, escapes and blanks
  const OwnerSpellings spellings{owner};
  NamedOwners named;
  for (auto at = text.find(owner_annotation); at != text.npos && named.other.empty();
       at = text.find(owner_annotation, at + 1)) {
    const auto rest = detail::value_behind_key(text.substr(at + owner_annotation.size(), max));
    if (rest.empty()) continue;
    named.any = true;
    if (!spellings.may_begin(rest)) named.other = detail::shown_value(rest, owner);
  }
  return named;
}

/// Returns the text of a spec that records its owner. An empty `version` becomes the oldest version
/// that can express the spec and record the owner.
inline Result<std::string> write_owned_spec(Spec spec, Format format, const std::string& owner) {
  spec.annotations.erase(std::string{owner_annotation});
  if (spec.version.empty()) {
    const auto oldest = minimum_version(spec);
    spec.version =
        to_string(format == Format::json ? std::max(oldest, first_with_annotations) : oldest);
  }
  return cdi::write_spec(std::move(spec), format, owner);
}

}  // namespace cdi::detail

#endif  // CDI_PUBLISH_OWNER_RECORD_HPP
