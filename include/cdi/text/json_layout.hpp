// JSON layout: where values end, and how lines are broken and indented.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_JSON_LAYOUT_HPP
#define CDI_TEXT_JSON_LAYOUT_HPP

#include <cstddef>
#include <string>
#include <string_view>

#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Returns whether blanks contain a line break.
inline bool has_lines(std::string_view blanks) {
  return blanks.find('\n') != blanks.npos;
}

/// The layout of a JSON text, for new values in the same style. Valid as long as the document.
class JsonLayout {
 public:
  /// Derives the layout from the first member of the document's root.
  explicit JsonLayout(const Document& document);

  /// Offsets into the text; `end` is just past the last byte.
  struct Extent {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  /// The end of a value. Costs one step per child, and the same again inside the last child.
  std::size_t end_of(const Document::Value& value) const;
  /// The range from a value's first item or member to the end of the last. If there is none,
  /// the empty range between the brackets.
  Extent children_of(const Document::Value& value) const;

  /// The blanks before each child of an object or list, including a line break if each child is on
  /// a separate line. `outer` holds the blanks before the object or list itself.
  std::string lead(const Document::Value& value, std::string_view outer) const;
  /// The blanks before each child of a new object or list.
  std::string lead(std::string_view outer) const;

  /// Appends a comma and the blanks before the next child.
  void append_comma(std::string& out, std::string_view lead) const;
  /// Appends the colon after a key.
  void append_colon(std::string& out) const { out.append(is_spaced_ ? ": " : ":"); }
  /// Returns the indentation that an object or list adds for its children.
  const std::string& unit() const { return unit_; }
  /// Returns whether a space follows each colon, and each comma within a line.
  bool is_spaced() const { return is_spaced_; }

 private:
  std::size_t end_of_childless(const Document::Value& value) const;
  std::string_view blanks_in(const Document::Value& value) const;

  const Document& document_;
  std::string unit_{"  "};  // one level of indentation
  bool is_spaced_ = false;  // a space follows each colon, and each comma within a line
};

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/text/json_layout.inl>
#endif

#endif  // CDI_TEXT_JSON_LAYOUT_HPP
