// The properties of a YAML node: anchor and tag.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_YAML_PROPERTIES_HPP
#define CDI_TEXT_YAML_PROPERTIES_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <cdi/base/order.hpp>
#include <cdi/base/result.hpp>
#include <cdi/text/unicode.hpp>
#include <cdi/text/yaml/cursor.hpp>
#include <cdi/text/yaml/directives.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// An `&anchor` and a `!tag` before a node.
struct YamlProperties {
  std::optional<std::string_view> anchor{};
  bool tagged = false;
  std::string_view type{};     // the scalar type that the tag sets: `int` for `!!int`
  bool is_text = false;        // whether the tag turns scalars into text, as `!!str` does
  bool is_plain_tag = false;   // whether the tag is `!`, which the Go reference ignores
  std::size_t begin = 0;       // start of the first property
  std::size_t line_begin = 0;  // start of that line
  bool any() const { return anchor || tagged; }

  /// Adds an earlier line's properties. Returns false if both have an anchor, or both have a tag.
  bool join(const YamlProperties& earlier) {
    if ((anchor && earlier.anchor) || (tagged && earlier.tagged)) return false;
    const YamlProperties later = *this;
    if (earlier.tagged) *this = earlier;
    anchor = later.anchor ? later.anchor : earlier.anchor;
    begin = later.begin;
    line_begin = later.line_begin;
    return true;
  }
};

/// Reads the properties of nodes.
class YamlPropertyReader {
 public:
  YamlPropertyReader(YamlCursor& cursor, const YamlDirectives& directives)
      : cursor_{cursor}, directives_{directives} {}

  /// Reads one anchor or tag. Returns false if the text is rejected.
  bool read(YamlProperties& out) {
    if (!out.any()) {
      out.begin = cursor_.at();
      out.line_begin = cursor_.line_begin();
    }
    return cursor_.peek() == '&' ? read_anchor(out) : read_tag(out);
  }

  /// Reads `*name`. Returns false if the text is rejected.
  bool read_alias(std::string_view& name) { return read_name(name, "alias"); }

 private:
  static constexpr std::string_view name_bytes =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  static constexpr std::string_view other_uri_bytes = ";/?:@&=+$,.!~*'()[]";

  bool read_anchor(YamlProperties& out) {
    if (out.anchor) return cursor_.reject("a value has two anchors", cursor_.at());
    out.anchor.emplace();
    return read_name(*out.anchor, "anchor");
  }

  /// Skips `&` or `*` and reads the name that follows.
  bool read_name(std::string_view& name, std::string_view what) {
    const std::size_t begin = cursor_.at();
    cursor_.move(1);
    while (is_name_byte(cursor_.peek())) cursor_.move(1);
    name = cursor_.text_from(begin + 1);
    constexpr std::string_view ends = "?:,]}%@`";
    const bool ended = cursor_.is_blank_or_end() || ends.find(cursor_.peek()) != ends.npos;
    if (!name.empty() && ended) return true;
    return cursor_.reject(
        "the name of an " + std::string{what} + " may contain only letters, digits, _ and -",
        begin);
  }

  static bool is_name_byte(char c) {
    const char lower = ascii_lower(c);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  }

  bool read_tag(YamlProperties& out) {
    const std::size_t at = cursor_.at();
    if (out.tagged) return cursor_.reject("a value has two tags", at);
    const auto tag = take_tag();
    const bool is_verbatim = tag.starts_with("!<") && tag.size() > 3 && tag.ends_with('>');
    if (tag == "!!" || (!is_verbatim && !is_uri(tag))) {
      cursor_.note_unportable(
          at, "a tag that is not a URI is rejected by the Go reference, and thus by most engines",
          "remove it");
    }
    if (!cursor_.is_blank_or_end()) {
      cursor_.note_unportable(cursor_.at(),
                              "a tag that is not followed by a space is misread or rejected by the "
                              "Go reference, and thus by most engines",
                              "add a space", is_verbatim ? Errc::syntax : Errc::unsupported);
    }
    const auto type = type_of(tag);
    if (type == "binary") {
      return cursor_.reject_unsupported("the tag !!binary is not supported",
                                        "write the text itself", at);
    }
    const auto handle = handle_of(tag);
    out.tagged = true;
    if (is_resolved(type)) out.type = type;
    out.is_plain_tag = tag == "!";
    if (out.is_plain_tag) {
      cursor_.note_unportable(
          at,
          "the tag ! turns a value into text in engines with the Go library 1.1.0 "
          "or older, and is ignored by others",
          "remove it", Errc::invalid);
    }
    // Longer handles are defined with %TAG.
    out.is_text = out.type.empty() && handle.size() <= 2 && !out.is_plain_tag;
    return directives_.is_known(handle) ||
           cursor_.reject("the tag handle " + quoted(handle) + " is not defined", at);
  }

  /// Skips a tag and returns it, including `!`.
  std::string_view take_tag() {
    const std::size_t begin = cursor_.at();
    const bool in_brackets = cursor_.peek(1) == '<';
    const std::string_view ends = in_brackets ? ">" : ",[]{}";
    while (!cursor_.is_blank_or_end() && ends.find(cursor_.peek()) == ends.npos) cursor_.move(1);
    if (in_brackets && cursor_.peek() == '>') cursor_.move(1);
    return cursor_.text_from(begin);
  }

  /// The name after `!!` in one of YAML's standard tags; empty for other tags.
  static std::string_view type_of(std::string_view tag) {
    constexpr std::string_view prefix = "!<tag:yaml.org,2002:";
    if (tag.starts_with(prefix)) return tag.substr(prefix.size(), tag.find('>') - prefix.size());
    return tag.starts_with("!!") ? tag.substr(2) : std::string_view{};
  }

  /// Whether the Go reference resolves scalars of a type instead of reading them as text.
  static bool is_resolved(std::string_view type) {
    return type == "null" || type == "bool" || type == "int" || type == "float" ||
           type == "timestamp" || type == "merge";
  }

  /// The handle at the front of a tag: `!`, a name and `!`; empty if there is none.
  static std::string_view handle_of(std::string_view tag) {
    const auto end = detail::min(tag.find_first_not_of(name_bytes, 1), tag.size());
    return end < tag.size() && tag[end] == '!' ? tag.substr(0, end + 1) : std::string_view{};
  }

  static bool is_uri(std::string_view tag) {
    for (std::size_t i = 0; i < tag.size(); ++i) {
      const bool good =
          tag[i] == '%'
              ? i + 2 < tag.size() && hex_digit(tag[i + 1]) >= 0 && hex_digit(tag[i + 2]) >= 0
              : name_bytes.find(tag[i]) != tag.npos || other_uri_bytes.find(tag[i]) != tag.npos;
      if (!good) return false;
    }
    return true;
  }

  YamlCursor& cursor_;
  const YamlDirectives& directives_;
};

}  // namespace cdi::detail

#endif  // CDI_TEXT_YAML_PROPERTIES_HPP
