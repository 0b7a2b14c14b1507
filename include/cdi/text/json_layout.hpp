// The layout of a JSON text: where its values end, and how its lines are broken and indented.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_JSON_LAYOUT_HPP
#define CDI_TEXT_JSON_LAYOUT_HPP

#include <cstddef>
#include <string>
#include <string_view>

#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

/// How a JSON text is laid out. New values get the same layout. Valid as long as the document.
class JsonLayout {
 public:
  /// The layout of a document, from the first member of its root.
  explicit JsonLayout(const Document& document);

  /// Offsets into the text, behind the last byte in the case of `end`.
  struct Extent {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  /// Where a value ends. Costs one step for each of its children, and for those of its last child.
  std::size_t end_of(const Document::Value& value) const;
  /// From the first item or member of a value to the end of its last. Between them when it is
  /// empty.
  Extent children_of(const Document::Value& value) const;

  /// The blanks before each child of an object or list; with a line break if each child has a line
  /// of its own. `outer` are the blanks before the object or list itself.
  std::string lead(const Document::Value& value, std::string_view outer) const;
  /// The same for an object or list that is new.
  std::string lead(std::string_view outer) const;

  /// Appends a comma, and the blanks before the next child.
  void append_comma(std::string& out, std::string_view lead) const;
  /// Appends the colon after a key.
  void append_colon(std::string& out) const { out.append(is_spaced_ ? ": " : ":"); }
  /// Appends a value that was written without blanks; `outer` are the blanks before it.
  void append(std::string& out, std::string_view json, std::string_view outer) const;

 private:
  std::size_t end_of_childless(const Document::Value& value) const;
  std::string_view blanks_in(const Document::Value& value) const;

  const Document& document_;
  std::string unit_{"  "};  // of indentation
  bool is_spaced_ = false;  // a space follows each colon, and each comma within a line
};

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/text/json_layout.inl>
#endif

#endif  // CDI_TEXT_JSON_LAYOUT_HPP
