// The head of a YAML document: `%YAML`, `%TAG` and `---`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_YAML_DIRECTIVES_HPP
#define CDI_TEXT_YAML_DIRECTIVES_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <cdi/base/order.hpp>
#include <cdi/base/result.hpp>
#include <cdi/text/document_builder.hpp>
#include <cdi/text/yaml/cursor.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Reads a document's head and records the tag handles that it defines.
class YamlDirectives {
 public:
  YamlDirectives(YamlCursor& cursor, DocumentBuilder& builder)
      : cursor_{cursor}, builder_{builder} {}

  /// Skips directives and `---`. Returns false if the text is rejected.
  bool read() {
    bool directives = false;
    while (true) {
      cursor_.skip_to_token(YamlCursor::Tabs::none);
      if (cursor_.peek() == '\t' && cursor_.skip_tab_lines()) continue;
      if (cursor_.column() != 0 || cursor_.peek() != '%') break;
      if (!read_directive()) return false;
      directives = true;
    }
    end_ = cursor_.at();
    if (cursor_.column() == 0 && cursor_.is_marker("---")) {
      cursor_.move(3);
      cursor_.take_fresh();
    } else if (directives && !cursor_.at_end()) {
      return cursor_.reject("expected '---' after the lines that begin with %", cursor_.at());
    }
    return true;
  }

  /// The end of the directives: the place of `---` or of the document.
  std::size_t end() const { return end_; }

  /// Whether a tag may begin with this handle: a `%TAG` handle, `!`, `!!` or nothing.
  bool is_known(std::string_view handle) const {
    return handle.size() < 3 || handles_.count(handle) != 0;
  }

 private:
  static constexpr std::size_t bytes_per_handle = 72;  // in a set, including heap overhead

  /// Removes the next word of a line and returns it; empty before a comment.
  static std::string_view take_word(std::string_view& line) {
    line.remove_prefix(detail::min(line.find_first_not_of(" \t"), line.size()));
    if (line.starts_with('#')) return {};
    const auto word = line.substr(0, line.find_first_of(" \t"));
    line.remove_prefix(word.size());
    return word;
  }

  bool read_directive() {
    const std::size_t begin = cursor_.at();
    auto line = cursor_.take_line();
    const auto name = take_word(line);
    if (name == "%TAG") {
      if (!read_tag(line, begin)) return false;
    } else if (name != "%YAML") {
      return cursor_.reject("unknown directive " + quoted(name), begin);
    } else if (!read_version(line, begin)) {
      return false;
    }
    const auto rest = take_word(line);
    return rest.empty() || cursor_.reject("unexpected " + quoted(rest) + " after " + quoted(name) +
                                              ": only a comment may follow",
                                          begin);
  }

  bool read_tag(std::string_view& line, std::size_t begin) {
    const auto handle = take_word(line);
    const bool is_handle = handle.starts_with('!') && handle.ends_with('!');
    if (!is_handle || take_word(line).empty()) {
      return cursor_.reject("%TAG must have a handle that ends with '!', and a prefix", begin);
    }
    if (!handles_.emplace(handle, 0U).second) {
      return cursor_.reject("%TAG defines the handle " + quoted(handle) + " twice", begin);
    }
    builder_.note_memory(bytes_per_handle);
    return true;
  }

  bool read_version(std::string_view& line, std::size_t begin) {
    const auto version = take_word(line);
    if (!version.starts_with("1.")) {
      return cursor_.reject("only YAML 1.1 and 1.2 are supported", begin);
    }
    if (has_version_) return cursor_.reject("a document has two %YAML lines", begin);
    has_version_ = true;
    if (version != "1.1") {
      cursor_.note_unportable(
          begin, "%YAML other than 1.1 is rejected by the Go reference, and thus by most engines",
          "remove the line");
    }
    return true;
  }

  YamlCursor& cursor_;
  DocumentBuilder& builder_;
  std::map<std::string_view, std::uint32_t> handles_{};  // a set; reuses the map type of anchors
  std::size_t end_ = 0;
  bool has_version_ = false;
};

}  // namespace cdi::detail

#endif  // CDI_TEXT_YAML_DIRECTIVES_HPP
