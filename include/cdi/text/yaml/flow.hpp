// YAML lists in brackets and maps in braces: the flow style.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_YAML_FLOW_HPP
#define CDI_TEXT_YAML_FLOW_HPP

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/text/document_builder.hpp>
#include <cdi/text/yaml/cursor.hpp>
#include <cdi/text/yaml/node.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Reads a list in brackets or a map in braces with all its contents, without recursion.
class YamlFlowReader {
 public:
  YamlFlowReader(YamlCursor& cursor, DocumentBuilder& builder, YamlNodeReader& nodes)
      : cursor_{cursor}, builder_{builder}, nodes_{nodes} {}

  /// Reads the list or map that begins here. Further lines of scalars must begin in column `least`
  /// or later. Returns false if the text is rejected.
  bool read(std::size_t least) {
    least_ = least;
    if (!begin()) return false;
    while (!open_.empty()) {
      cursor_.skip_to_token(YamlCursor::Tabs::anywhere);
      const bool cut_off = cursor_.at_end() || (cursor_.column() == 0 && cursor_.is_any_marker());
      if (cut_off) return not_ended();
      if (!read_token()) return false;
    }
    return true;
  }

 private:
  enum class State : std::uint8_t {
    entry_or_end,  // after `[`, `{` or a comma
    key,           // after a question mark
    colon,         // after a key with a question mark, while its colon is missing
    comma,         // after an item, or after a member and its value
    value,         // after a key and its colon
    no_value,      // after a key without a colon
  };

  /// An open list or map.
  struct Level {
    State state = State::entry_or_end;
    bool is_list = false;
    bool is_pair = false;   // whether this is a list item written as `key: value` without braces
    std::size_t key = 0;    // start of the last key
    std::size_t begin = 0;  // place of the bracket or brace
  };

  bool bad_key(std::size_t at) { return builder_.reject(Errc::syntax, "a key must be text", at); }

  bool not_ended() {
    const Level& open = open_.back();
    return cursor_.reject(open.is_list ? "the list that begins here is not closed"
                                       : "the object that begins here is not closed",
                          open.is_list ? "add ]" : "add }", open.begin);
  }

  bool expected_comma() {
    const Level& level = open_.back();
    if (cursor_.peek() == ':' && level.state == State::no_value) {
      return cursor_.reject("a key and its ':' must be on the same line", cursor_.at());
    }
    return cursor_.reject(level.is_list ? "expected ',' or ']'" : "expected ',' or '}'",
                          cursor_.at());
  }

  bool begin() {
    const bool list = cursor_.peek() == '[';
    const std::size_t begin = cursor_.at();
    if (!nodes_.begin(list, begin)) return false;
    open_.push_back({.is_list = list, .begin = begin});
    cursor_.move(1);
    return true;
  }

  bool read_token() {
    const State state = open_.back().state;
    const char c = cursor_.peek();
    if (c == ']' || c == '}') return end();
    if (c == ',') return read_comma();
    if (c == ':' && state == State::colon) return read_colon();
    const bool node_here =
        state == State::entry_or_end || state == State::key || state == State::value;
    if (!node_here) return expected_comma();
    if (c == '&' || c == '!') return nodes_.read_property();
    if (c == ':') return bad_key(cursor_.at());
    if (cursor_.is_indicator('-')) {
      return cursor_.reject("unexpected '-' in brackets", cursor_.at());
    }
    return cursor_.is_indicator('?') ? read_question_mark() : read_node();
  }

  bool read_question_mark() {
    Level& level = open_.back();
    if (level.state != State::entry_or_end || nodes_.properties.any()) {
      return cursor_.reject("unexpected '?' in brackets", cursor_.at());
    }
    level.state = State::key;
    cursor_.move(1);
    return true;
  }

  /// Reads the colon of a key with a question mark, possibly on a later line.
  bool read_colon() {
    open_.back().state = State::value;
    cursor_.move(1);
    return true;
  }

  bool read_node() {
    Level& level = open_.back();
    const bool key_here = !level.is_list && level.state != State::value;
    if (cursor_.peek() == '[' || cursor_.peek() == '{') {
      if (key_here || level.state == State::key) return bad_key(cursor_.at());
      level.state = State::comma;
      return begin();
    }
    YamlNode node;
    if (!nodes_.read(least_, /*flow=*/true, node)) return false;
    const bool colon = !node.has_lines && cursor_.at_flow_colon();
    if (colon && level.state == State::value) {
      cursor_.skip_blanks();
      return expected_comma();
    }
    if (colon && level.state != State::key) note_property_on_other_line(node);
    const bool pair = level.is_list && (colon || level.state == State::key);
    if (pair) {
      level.is_pair = true;
      if (!builder_.begin_map(node.scalar.at)) return false;
    }
    if (!nodes_.add(node)) return false;
    if (key_here || pair) return end_key(node, colon);
    level.state = State::comma;
    return true;
  }

  void note_property_on_other_line(const YamlNode& key) {
    if (nodes_.follows_property() || !nodes_.properties.any()) return;
    cursor_.note_unportable(key.scalar.at,
                            "a key on a different line from its tag or anchor is rejected by the "
                            "Go reference, and thus by most engines",
                            "put both on one line");
  }

  bool end_key(const YamlNode& node, bool colon) {
    Level& level = open_.back();
    level.key = node.scalar.at;
    if (!colon) {
      level.state = level.state == State::key ? State::colon : State::no_value;
      return true;
    }
    const bool has_mark = std::exchange(level.state, State::value) == State::key;
    cursor_.skip_blanks();
    if (!has_mark && cursor_.is_long_key(level.key)) return cursor_.reject_long_key(level.key);
    cursor_.move(1);
    return true;
  }

  /// Adds a null for a key without a value, and ends a `key: value` item.
  bool end_entry() {
    Level& level = open_.back();
    if (level.state == State::key) return bad_key(cursor_.at());
    const bool no_value = level.state != State::comma && level.state != State::entry_or_end;
    if (no_value && !nodes_.add_null(level.key)) return false;
    if (!no_value && nodes_.properties.any()) {
      if (!nodes_.add_null(cursor_.at())) return false;
      if (!level.is_list) return bad_key(cursor_.at());
    }
    const bool pair = std::exchange(level.is_pair, false);
    return !pair || builder_.end_map();
  }

  bool read_comma() {
    Level& level = open_.back();
    if (level.state == State::entry_or_end && !nodes_.properties.any()) {
      return cursor_.reject("expected a value before ','", cursor_.at());
    }
    if (!end_entry()) return false;
    level.state = State::entry_or_end;
    cursor_.move(1);
    return true;
  }

  bool end() {
    const bool list = open_.back().is_list;
    if (list != (cursor_.peek() == ']')) return expected_comma();
    if (!end_entry()) return false;
    open_.pop_back();
    const std::size_t end = cursor_.at();
    cursor_.move(1);
    if (list ? !builder_.end_list() : !builder_.end_map()) return false;
    const bool inner = !open_.empty();
    return !inner || !cursor_.at_flow_colon() || bad_key(end);
  }

  YamlCursor& cursor_;
  DocumentBuilder& builder_;
  YamlNodeReader& nodes_;
  std::vector<Level> open_{};  // the innermost level last
  std::size_t least_ = 0;
};

}  // namespace cdi::detail

#endif  // CDI_TEXT_YAML_FLOW_HPP
