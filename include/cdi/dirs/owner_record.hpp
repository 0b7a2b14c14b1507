// How a spec file records its owner: in an annotation, or in a comment in its first line.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_OWNER_RECORD_HPP
#define CDI_DIRS_OWNER_RECORD_HPP

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// The value that follows a key and its quote, in a text that may be neither JSON nor YAML; none if
/// the key is not followed by a colon.
inline std::optional<std::string_view> value_behind_key(std::string_view rest) {
  constexpr std::string_view blanks = " \t\r\n";
  if (rest.starts_with('"') || rest.starts_with('\'')) rest.remove_prefix(1);
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  if (!rest.starts_with(':')) return std::nullopt;
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks, 1), rest.size()));
  if (rest.starts_with('"') || rest.starts_with('\'')) {
    return rest.substr(1, rest.find(rest.front(), 1) - 1);
  }
  const auto value = rest.substr(0, rest.find_first_of(",}\r\n"));
  return value.substr(0, value.find_last_not_of(" \t") + 1);
}

/// The owners that the annotations in a text name, as far as it can be seen without parsing it.
inline std::vector<std::string_view> owners_named_in(std::string_view text) {
  std::vector<std::string_view> owners;
  for (auto at = text.find(owner_annotation); at != text.npos;
       at = text.find(owner_annotation, at + 1)) {
    const auto value = detail::value_behind_key(text.substr(at + owner_annotation.size()));
    if (value) owners.push_back(*value);
  }
  return owners;
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
