// A YAML node: a scalar or an alias, with its anchor and tag.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_YAML_NODE_HPP
#define CDI_TEXT_YAML_NODE_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/text/document_builder.hpp>
#include <cdi/text/scalar.hpp>
#include <cdi/text/yaml/block_scalar.hpp>
#include <cdi/text/yaml/cursor.hpp>
#include <cdi/text/yaml/directives.hpp>
#include <cdi/text/yaml/plain_scalar.hpp>
#include <cdi/text/yaml/properties.hpp>
#include <cdi/text/yaml/quoted_scalar.hpp>
#include <cdi/text/yaml11_scalar.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// A scalar or alias that has been read but not yet added.
struct YamlNode {
  YamlScalar scalar{};
  std::string_view alias{};  // the anchor's name; empty for a scalar
  bool is_block_scalar = false;
  bool has_lines = false;  // whether the node spans several lines
};

/// Reads nodes and adds them to the document.
class YamlNodeReader {
 public:
  YamlNodeReader(YamlCursor& cursor, DocumentBuilder& builder, const YamlDirectives& directives)
      : cursor_{cursor}, builder_{builder}, property_reader_{cursor, directives} {}

  /// The anchor and tag of the next node to add.
  YamlProperties properties{};

  /// Reads an anchor or tag into `properties`. Returns false if the text is rejected.
  bool read_property() { return property_reader_.read(properties); }

  /// Whether `properties` are on the current line.
  bool follows_property() const {
    return properties.any() && properties.line_begin == cursor_.line_begin();
  }

  /// Reads a scalar or an alias. Further lines must begin in column `least` or later; `flow` is
  /// true inside brackets or braces. Returns false if the text is rejected.
  bool read(std::size_t least, bool flow, YamlNode& out) {
    const char c = cursor_.peek();
    out.scalar.at = cursor_.at();
    if (c == '*') return property_reader_.read_alias(out.alias);
    out.is_block_scalar = !flow && (c == '|' || c == '>');
    const std::size_t line = cursor_.line_begin();
    if (!read_scalar(least, flow, out)) return false;
    out.has_lines = cursor_.line_begin() != line;
    return true;
  }

  /// The text of a node, which must be the last node read.
  std::string_view text_of(const YamlNode& node) const {
    const YamlScalar& scalar = node.scalar;
    return scalar.is_decoded ? std::string_view{decoded_} : cursor_.text(scalar.begin, scalar.size);
  }

  /// Adds a node, which must be the last node read. Returns false if the text is rejected.
  bool add(const YamlNode& node) {
    if (node.alias.empty()) return add_scalar(node);
    const std::size_t at = node.scalar.at;
    if (properties.any()) return cursor_.reject("an alias cannot have an anchor or a tag", at);
    const auto anchor = anchors_.find(node.alias);
    if (anchor != anchors_.end()) return builder_.copy(anchor->second, at);
    return cursor_.reject("the anchor " + quoted(node.alias) + " is not defined", at);
  }

  /// Adds a plain scalar of one line, without properties. Returns false if the text is rejected.
  bool add_plain(std::size_t at, std::size_t size) {
    return is_null_word(cursor_.text(at, size)) ? builder_.null(at)
                                                : builder_.scalar(at, at, size, /*quoted=*/false);
  }

  /// Adds a null for a missing value. Returns false if the text is rejected.
  bool add_null(std::size_t at) {
    const bool text = properties.is_text;
    note_misfit(properties.type, {}, at);
    if (text ? !builder_.decoded_scalar(at, {}, /*quoted=*/true) : !builder_.null(at)) return false;
    note_anchor(std::exchange(properties, {}));
    return true;
  }

  /// Begins a list or map. Returns false if the text is rejected.
  bool begin(bool list, std::size_t at) {
    if (list ? !builder_.begin_list(at) : !builder_.begin_map(at)) return false;
    if (properties.any()) note_anchor(std::exchange(properties, {}));
    return true;
  }

 private:
  static constexpr std::size_t bytes_per_anchor = 72;  // in a map, including heap overhead

  bool read_scalar(std::size_t least, bool flow, YamlNode& out) {
    const char c = cursor_.peek();
    if (c == '"' || c == '\'') return YamlQuotedScalarReader{cursor_, decoded_}.read(out.scalar);
    if (out.is_block_scalar) {
      return YamlBlockScalarReader{cursor_, decoded_, least}.read(out.scalar);
    }
    return YamlPlainScalarReader{cursor_, decoded_, least, flow}.read(out.scalar);
  }

  bool add_scalar(const YamlNode& node) {
    if (!properties.any()) return add_text(node, node.scalar.quoted);
    const auto mine = std::exchange(properties, {});
    const bool good = mine.type == "null" ? add_tagged_null(node) : add_tagged_text(node, mine);
    note_anchor(mine);
    return good;
  }

  bool add_tagged_text(const YamlNode& node, const YamlProperties& mine) {
    note_misfit(mine.type, text_of(node), node.scalar.at);
    const bool as_written = !mine.tagged || mine.is_plain_tag;
    return add_text(node, mine.is_text || (node.scalar.quoted && as_written));
  }

  /// Adds null for a scalar with the tag `!!null`, which may be a quoted word for null. Any other
  /// text is rejected, although some readers treat it as null.
  bool add_tagged_null(const YamlNode& node) {
    const std::size_t at = node.scalar.at;
    return is_null_word(text_of(node)) ? builder_.null(at)
                                       : cursor_.reject("the tag !!null precedes a text",
                                                        "remove "
                                                        "the tag, or write null",
                                                        at);
  }

  bool add_text(const YamlNode& node, bool quoted) {
    const YamlScalar& scalar = node.scalar;
    const auto text = text_of(node);
    if (!quoted && !scalar.quoted && is_null_word(text)) return builder_.null(scalar.at);
    if (scalar.is_decoded) return builder_.decoded_scalar(scalar.at, text, quoted);
    return builder_.scalar(scalar.at, scalar.begin, scalar.size, quoted);
  }

  /// Reports a text that does not match the type named by its tag, if any.
  void note_misfit(std::string_view type, std::string_view text, std::size_t at) {
    if (type.empty() || fits(type, text)) return;
    cursor_.note_unportable(at,
                            "a value that does not match its tag is rejected by the Go reference, "
                            "and thus by most engines",
                            "remove the tag");
  }

  /// Whether a text fits a type in the Go reference.
  static bool fits(std::string_view type, std::string_view text) {
    if (type == "bool") return parse_boolean(text) && is_true_or_false(text);
    if (type == "int") return is_old_number(text) && is_go_integer(text) && !is_fraction(text);
    if (type == "float") return is_old_number(text);
    if (type == "timestamp") return text.size() > 4 && text.find_first_not_of("0123456789") == 4;
    return text.empty() || text == "<<";  // `!!null` without text, or `!!merge`
  }

  /// Whether a number contains a point or an exponent.
  static bool is_fraction(std::string_view text) {
    return text.find('.') != text.npos ||
           (text.find_first_of("eE") != text.npos && text.find_first_of("xX") == text.npos);
  }

  static bool is_null_word(std::string_view text) {
    if (text.size() < 2) return text.empty() || text == "~";
    if (text.size() != 4 || ascii_lower(text[1]) != 'u') return false;
    return text == "null" || text == "Null" || text == "NULL";
  }

  /// Binds an anchor to the last added value.
  void note_anchor(const YamlProperties& mine) {
    if (!mine.anchor) return;
    const auto [at, added] = anchors_.insert_or_assign(*mine.anchor, builder_.last());
    if (added) builder_.note_memory(bytes_per_anchor);
  }

  YamlCursor& cursor_;
  DocumentBuilder& builder_;
  YamlPropertyReader property_reader_;
  std::map<std::string_view, std::uint32_t> anchors_{};
  std::string decoded_{};  // the last scalar's text, if it differs from the source
};

}  // namespace cdi::detail

#endif  // CDI_TEXT_YAML_NODE_HPP
