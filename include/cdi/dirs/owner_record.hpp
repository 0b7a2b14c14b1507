// How a spec file records its owner: in an annotation, or in a comment in its first line.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_OWNER_RECORD_HPP
#define CDI_DIRS_OWNER_RECORD_HPP

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/dirs/publication.hpp>
#include <cdi/files/find_member.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/rules/annotation_key.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

static_assert(is_annotation_key(owner_annotation));

/// What the first line of a YAML file begins with when its spec has no place for an annotation.
inline constexpr std::string_view owner_comment = "# cdi-publisher/owner: ";
static_assert(owner_comment.substr(2, owner_annotation.size()) == owner_annotation);

/// The first line of files that cdi-prepare wrote before it used `owner_comment`. Such files still
/// belong to it, so that it can replace and remove them.
inline constexpr std::string_view former_comment =
    "# Written by cdi-prepare, which will replace or remove it.";
inline constexpr std::string_view former_owner = "cdi-prepare";

/// The owner that the first line of a text records; empty when it records none. A carriage return
/// at the end of the line is ignored.
inline std::string_view owner_in_comment(std::string_view text) {
  auto line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line == former_comment) return former_owner;
  if (!line.starts_with(owner_comment)) return {};
  return line.substr(owner_comment.size());
}

/// The owner that the annotations of a spec record; empty when they record none.
inline std::string owner_in_annotations(Document::Value spec) {
  const auto annotations = detail::find_member(spec, "annotations");
  if (!annotations) return {};
  for (const auto [key, value] : annotations->members()) {
    if (key.text() == owner_annotation) return std::string{value.text()};
  }
  return {};
}

/// The most characters of an owner.
inline constexpr std::size_t longest_owner = 253;

/// An owner as it is written in JSON and YAML: without quotes, and in both kinds of quotes.
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

  /// Whether a value begins here that is the owner, or that the end of the text cuts off.
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

/// What begins with the value of a key, whose quote may come first, in a text that may be neither
/// JSON nor YAML. Nothing if the key has no colon, or no value in its line.
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

/// The value at the beginning of a text, for messages: without quotes, and at most a line.
inline std::string_view shown_value(std::string_view rest, std::string_view owner) {
  if (rest.starts_with('"') || rest.starts_with('\'')) {
    return rest.substr(1, rest.find_first_of(std::string{rest.front()} + "\r\n", 1) - 1);
  }
  auto value = rest.substr(0, rest.find_first_of(",}\r\n"));
  value = value.substr(0, value.find_last_not_of(" \t") + 1);
  return value == owner ? rest.substr(0, rest.find_first_of("\r\n")) : value;
}

/// The owners that a text records, as far as it can be seen without parsing it.
struct NamedOwners {
  bool any = false;
  std::string_view other{};  // the first that is not the asked one; empty when there is none
};

inline NamedOwners owners_named_in(std::string_view text, std::string_view owner) {
  constexpr std::size_t most = 3 * longest_owner;  // with quotes, escapes and blanks
  const OwnerSpellings spellings{owner};
  NamedOwners named;
  for (auto at = text.find(owner_annotation); at != text.npos && named.other.empty();
       at = text.find(owner_annotation, at + 1)) {
    const auto rest = detail::value_behind_key(text.substr(at + owner_annotation.size(), most));
    if (rest.empty()) continue;
    named.any = true;
    if (!spellings.may_begin(rest)) named.other = detail::shown_value(rest, owner);
  }
  return named;
}

/// The text of a spec that records its owner. An empty `version` becomes the oldest release that
/// holds the spec and its owner. JSON has no comments, so a JSON file of a release without
/// annotations cannot record an owner: a second file beside it could not be replaced in the same
/// step, and might name another one.
inline Result<std::string> write_owned_spec(Spec spec, Format format, const std::string& owner) {
  constexpr Release first_with_annotations{0, 6, 0};
  spec.annotations.erase(std::string{owner_annotation});
  if (spec.version.empty()) {
    const auto oldest = minimum_version(spec);
    spec.version =
        to_string(format == Format::json ? std::max(oldest, first_with_annotations) : oldest);
  }
  const auto declared = parse_release(spec.version);
  const bool has_annotations = !declared || *declared >= first_with_annotations;
  if (!has_annotations && format == Format::json) {
    return Error{.code = Errc::unsupported,
                 .message = "a JSON file of version " + cdi::quoted(spec.version) +
                            " cannot record its owner: choose a name that ends in .yaml, or "
                            "write version \"" +
                            to_string(first_with_annotations) + "\"",
                 .where = "cdiVersion"};
  }
  if (has_annotations) spec.annotations.emplace(owner_annotation, owner);
  auto text = cdi::write_spec(spec, format);
  if (text && !has_annotations) {
    text->insert(0, std::string{owner_comment}.append(owner).append("\n"));
  }
  return text;
}

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_DIRS_OWNER_RECORD_HPP
