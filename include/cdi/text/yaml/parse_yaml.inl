// The bodies of <cdi/text/yaml/parse_yaml.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_YAML_PARSE_YAML_INL
#define CDI_TEXT_YAML_PARSE_YAML_INL

#include <utility>

#include <cdi/text/document_builder.hpp>
#include <cdi/text/unicode.hpp>
#include <cdi/text/yaml/block.hpp>
#include <cdi/text/yaml/cursor.hpp>
#include <cdi/text/yaml/directives.hpp>
#include <cdi/text/yaml/node.hpp>
#include <cdi/text/yaml/parse_yaml.hpp>

// The parser follows YAML 1.2 as far as libyaml and its Go port do, since the reference uses that
// port: a key and its colon are on one line, and a key has at most 1024 characters, unless a
// question mark precedes the key; indentation consists of spaces. A text is read in one pass.

namespace cdi::inline CDI_ABI {

namespace detail {

/// Whether the text after a document starts like a document or with an extra closing bracket.
inline bool can_follow(YamlCursor& cursor, YamlNodeReader& nodes) {
  const char c = cursor.peek();
  if (cursor.is_indicator('-') || cursor.is_indicator('?')) {
    return cursor.text_from(cursor.line_begin()).find_first_not_of(' ') == std::string_view::npos;
  }
  if (cursor.is_indicator(':') || std::string_view{"[]{},"}.find(c) != std::string_view::npos) {
    return true;
  }
  if (c == '&' || c == '!') return nodes.read_property();
  YamlNode node;
  return nodes.read(0, /*flow=*/false, node);
}

/// Records where the text continues after the document. YAML requires a marker there; the Go
/// reference does not, but reads the first token. Returns false if the text is rejected.
inline bool note_yaml_rest(YamlCursor& cursor, DocumentBuilder& builder, YamlNodeReader& nodes) {
  bool marker = false;
  while (true) {
    cursor.skip_to_token(YamlCursor::Tabs::on_this_line);
    // After a marker, releases up to 1.1.0 do not read on.
    const auto code = marker ? Errc::unsupported : Errc::syntax;
    if (cursor.peek() == '\t' && cursor.skip_tab_lines(code)) continue;
    if (cursor.at_end()) return true;
    if (cursor.column() != 0 || !cursor.is_any_marker()) break;
    marker = true;
    cursor.move(3);
  }
  const std::size_t at = cursor.at();
  const bool directive =
      cursor.column() == 0 && (cursor.is_marker("%YAML") || cursor.is_marker("%TAG"));
  marker = marker || directive;
  if (marker || can_follow(cursor, nodes)) {
    builder.note_rest(at, marker);
    return true;
  }
  return cursor.reject("unexpected text after the document",
                       "remove it, or the bracket that ends the document too "
                       "early",
                       at);
}

/// Fills the builder with the text's first document. Returns false if the text is rejected.
inline bool read_yaml_document(DocumentBuilder& builder) {
  YamlCursor cursor{builder};
  YamlDirectives directives{cursor, builder};
  if (!cursor.check_characters() || !directives.read()) return false;
  YamlNodeReader nodes{cursor, builder, directives};
  if (!YamlBlockReader{cursor, builder, nodes, directives.end()}.read()) return false;
  if (builder.is_null()) return builder.reject(Errc::syntax, "the text is empty", 0);
  return note_yaml_rest(cursor, builder, nodes);
}

CDI_INLINE Result<Document> parse_yaml_in_place(std::string& text, std::string_view file,
                                                const Limits& limits) {
  const bool convert = detail::is_utf16(text) && text.size() <= limits.bytes;
  std::string converted = convert ? detail::utf8_of_utf16(text) : std::string{};
  std::string& source = convert ? converted : text;
  DocumentBuilder builder{std::move(source), file, limits, /*merge_keys=*/true};
  const auto half = convert ? builder.source().find(detail::half_character) : std::string::npos;
  if (!builder.failed() && half != std::string::npos) {
    builder.reject(Errc::syntax, "not valid YAML: an incomplete UTF-16 character",
                   "save the text as UTF-8", half);
  }
  if (!builder.failed()) detail::read_yaml_document(builder);
  return std::move(builder).finish(source);
}

}  // namespace detail

CDI_INLINE Result<Document> parse_yaml(std::string_view text, std::string_view file,
                                       const Limits& limits) {
  std::string copy = DocumentBuilder::copy_of(text, limits);
  return detail::parse_yaml_in_place(copy, file, limits);
}

}  // namespace cdi

#endif  // CDI_TEXT_YAML_PARSE_YAML_INL
