// YAML lists and maps in block style, which are nested by indentation.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_YAML_BLOCK_HPP
#define CDI_TEXT_YAML_BLOCK_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/text/document_builder.hpp>
#include <cdi/text/yaml/cursor.hpp>
#include <cdi/text/yaml/flow.hpp>
#include <cdi/text/yaml/node.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Reads a document's value and everything inside it, without recursion.
class YamlBlockReader {
 public:
  /// `begin` is the place to report if the document has no value. The cursor must be past the head.
  YamlBlockReader(YamlCursor& cursor, DocumentBuilder& builder, YamlNodeReader& nodes,
                  std::size_t begin)
      : cursor_{cursor},
        builder_{builder},
        nodes_{nodes},
        flow_{cursor, builder, nodes},
        slot_begin_{begin},
        key_allowed_{cursor.is_fresh()} {}

  /// Reads the document's value. Returns false if the text is rejected.
  bool read() {
    using Tabs = YamlCursor::Tabs;
    while (true) {
      cursor_.skip_to_token(key_allowed_ ? Tabs::none : Tabs::on_this_line);
      if (cursor_.at_end() || (cursor_.column() == 0 && cursor_.is_any_marker())) break;
      const bool fresh = cursor_.take_fresh();
      if (fresh) key_allowed_ = true;
      if (key_allowed_ && cursor_.peek() == '\t') {
        if (fresh && cursor_.skip_tab_lines()) continue;
        return cursor_.reject_tab(cursor_.at());
      }
      if (fresh && !end_deeper_blocks()) return false;
      if (slot_ == Slot::none && open_.empty()) break;  // after the outermost value
      if (slot_ == Slot::none && !fresh && !nodes_.follows_property()) return after_value();
      if (!read_token()) return false;
    }
    return end_all();
  }

 private:
  /// An open list or map, and the column of its dashes or keys.
  struct Level {
    bool is_list = false;
    std::size_t column = 0;
  };

  /// The role of the next node.
  enum class Slot : std::uint8_t {
    none,   // an item or a key of an open list or map
    root,   // the document
    item,   // the value after a dash
    value,  // the value after a key
  };

  // -- errors ------------------------------------------------------------------------------------

  bool reject(std::string_view message, std::string_view advice, std::size_t at) {
    return cursor_.reject(std::string{message}, std::string{advice}, at);
  }
  bool reject(std::string_view message, std::size_t at) { return reject(message, {}, at); }
  bool bad_key(std::size_t at) { return builder_.reject(Errc::syntax, "a key must be text", at); }

  bool colon_below() { return reject("expected ':' under '?'", cursor_.at()); }

  bool lost_property() {
    return reject("an anchor or tag must be on the same line as its key", nodes_.properties.begin);
  }

  bool after_value() {
    return reject("unexpected text after a value",
                  "put the whole value in quotes, or start a new line", cursor_.at());
  }

  bool misplaced_colon() {
    return reject(
        "unexpected ':'",
        "use the same indentation for all members of an object, and put text with \": \" in "
        "quotes",
        cursor_.at());
  }

  /// Rejects a token that is neither item nor key; `text` is the scalar's text, if one was read.
  bool no_colon(std::size_t at, std::string_view text = {}) {
    if (text.starts_with('-')) return reject("write a space after '-'", at);
    if (open_.back().is_list) return reject("expected '- ' before the next item", at);
    const bool colon = text.find(':') != text.npos;
    return reject(colon ? "write a space after ':'" : "a key that is not followed by ':'", at);
  }

  // -- the end of lists and maps -----------------------------------------------------------------

  /// Ends the lists and maps that are indented deeper than the next token, which begins its line.
  bool end_deeper_blocks() {
    const std::size_t column = cursor_.column();
    if (slot_ == Slot::root) return true;
    if (slot_ != Slot::none) {
      if (belongs_to_slot(column)) {
        return !awaits_colon_ || cursor_.is_indicator(':') || colon_below();
      }
      if (!fill_slot()) return false;
    }
    while (!open_.empty() && ends_innermost(column)) {
      if (!end_innermost()) return false;
    }
    if (open_.empty() || open_.back().column == column) return true;
    return reject("wrong indentation", "align the line with the preceding members or items",
                  cursor_.at());
  }

  /// Whether a token in this column is the slot's value, or a part of the value.
  bool belongs_to_slot(std::size_t column) const {
    const Level& innermost = open_.back();
    if (column != innermost.column) return column > innermost.column;
    if (awaits_colon_) return cursor_.is_indicator(':');
    // The dashes of a list, `|` and `>` may be in the same column as their key.
    return (slot_ == Slot::value && cursor_.is_indicator('-')) || cursor_.peek() == '|' ||
           cursor_.peek() == '>';
  }

  /// Whether a line that begins in this column ends the innermost list or map.
  bool ends_innermost(std::size_t column) const {
    const Level& innermost = open_.back();
    if (innermost.column != column) return innermost.column > column;
    const bool below_key =
        innermost.is_list && open_.size() > 1 && open_[open_.size() - 2].column == innermost.column;
    return below_key && !cursor_.is_indicator('-');
  }

  bool end_innermost() {
    const bool list = open_.back().is_list;
    open_.pop_back();
    return list ? builder_.end_list() : builder_.end_map();
  }

  bool end_all() {
    if (slot_ != Slot::none && !fill_slot()) return false;
    if (nodes_.properties.any()) return lost_property();
    while (!open_.empty()) {
      if (!end_innermost()) return false;
    }
    return true;
  }

  /// Fills the slot with null.
  bool fill_slot() {
    slot_ = Slot::none;
    awaits_colon_ = false;
    return join_outer() && nodes_.add_null(slot_begin_);
  }

  // -- tokens ------------------------------------------------------------------------------------

  bool read_token() {
    const char c = cursor_.peek();
    const bool may_be_alone = c == '-' || c == '?' || c == ':';
    if (may_be_alone && cursor_.is_blank_or_end(1)) {
      return c == '-' ? read_dash() : c == '?' ? read_question_mark() : read_lone_colon();
    }
    if (c == '&' || c == '!') return read_property();
    return c == '[' || c == '{' ? read_flow() : read_node();
  }

  bool read_dash() {
    if (!key_allowed_) {
      return reject("a list item must begin on its own line", "start a new line", cursor_.at());
    }
    if (slot_ == Slot::none) {
      if (!open_.back().is_list) return no_colon(cursor_.at());
      if (nodes_.properties.any()) return lost_property();
    } else if (!begin(/*list=*/true, cursor_.at(), cursor_.column())) {
      return false;
    }
    slot_ = Slot::item;
    slot_begin_ = cursor_.at();
    cursor_.move(1);
    key_allowed_ = true;
    return true;
  }

  bool begin(bool list, std::size_t at, std::size_t column) {
    if (!join_outer() || !nodes_.begin(list, at)) return false;
    open_.push_back({list, column});
    return true;
  }

  /// Makes the map that contains the current key the innermost level.
  bool begin_entry(std::size_t at, std::size_t column) {
    if (slot_ != Slot::none) return begin(/*list=*/false, at, column);
    if (open_.back().is_list) return no_colon(at);
    return !nodes_.properties.any() || lost_property();
  }

  /// Reads `? ` and its key, which may be longer than others. Its colon is on a later line.
  bool read_question_mark() {
    if (!key_allowed_) return misplaced_colon();
    const std::size_t column = cursor_.column();
    if (!begin_entry(cursor_.at(), column)) return false;
    cursor_.move(1);
    cursor_.skip_spaces();
    if (cursor_.peek() == '\t') return cursor_.reject_tab(cursor_.at());
    for (; cursor_.peek() == '&' || cursor_.peek() == '!'; cursor_.skip_blanks()) {
      if (!nodes_.read_property()) return false;
    }
    const bool collection =
        cursor_.peek() == '[' || cursor_.peek() == '{' || cursor_.is_indicator('-');
    if (collection) return bad_key(cursor_.at());
    if (cursor_.at_line_end())
      return reject("the key must be on the same line as its '?'", cursor_.at());
    YamlNode key;
    if (!nodes_.read(column + 1, /*flow=*/false, key) || !nodes_.add(key)) return false;
    if (!key.is_block_scalar) {
      if (cursor_.at_colon()) return bad_key(key.scalar.at);
      cursor_.skip_blanks();
      if (!cursor_.at_line_end()) return colon_below();
    }
    slot_ = Slot::value;
    slot_begin_ = key.scalar.at;
    awaits_colon_ = true;
    key_allowed_ = false;
    return true;
  }

  /// Reads `: ` at the start of a later line, after a key with `? `.
  bool read_lone_colon() {
    const bool awaited = awaits_colon_ && cursor_.column() == open_.back().column;
    if (!awaited) {
      const bool has_properties = nodes_.follows_property() && key_after_property_;
      return key_allowed_ || has_properties ? bad_key(cursor_.at()) : misplaced_colon();
    }
    awaits_colon_ = false;
    cursor_.move(1);
    key_allowed_ = true;
    return true;
  }

  /// Not inlined into `read_token`, since few tokens are properties.
  [[gnu::noinline]] bool read_property() {
    if (nodes_.properties.any() && !nodes_.follows_property()) {
      // The properties may belong to a map whose first key has its own properties.
      if (!join_outer()) return false;
      outer_ = std::exchange(nodes_.properties, {});
    }
    if (!nodes_.properties.any()) key_after_property_ = key_allowed_;
    if (!nodes_.read_property()) return false;
    key_allowed_ = false;
    return true;
  }

  /// Adds the properties from earlier lines to the next node.
  bool join_outer() { return !outer_.any() || join_properties(); }
  [[gnu::noinline]] bool join_properties() {
    const std::size_t at = nodes_.properties.begin;
    return nodes_.properties.join(std::exchange(outer_, {})) ||
           reject("a value has two anchors or tags", at);
  }

  /// Reads a list in brackets or a map in braces, which can only be a value.
  bool read_flow() {
    if (slot_ == Slot::none) return no_colon(cursor_.at());
    const std::size_t begin = cursor_.at();
    slot_ = Slot::none;
    if (!join_outer() || !flow_.read(least())) return false;
    cursor_.take_fresh();  // for the line of the closing bracket
    key_allowed_ = false;
    return !cursor_.at_colon() || bad_key(begin);
  }

  /// Reads a scalar or an alias as a key or a value.
  bool read_node() {
    const std::size_t size = nodes_.properties.any() ? 0 : cursor_.word_size();
    if (size == 0) return read_any_node();
    const std::size_t begin = cursor_.at();
    const std::size_t column = cursor_.column();
    cursor_.move(size);
    if (cursor_.peek() == ':' && key_allowed_ && !cursor_.is_long_key(begin)) {
      if (!begin_entry(begin, column) || !nodes_.add_plain(begin, size)) return false;
      end_key(begin);
      return true;
    }
    const bool value = cursor_.peek() == '\n' && slot_ != Slot::none;
    if (value && cursor_.move_to_shallower_line(least())) {
      slot_ = Slot::none;
      key_allowed_ = false;
      return nodes_.add_plain(begin, size);
    }
    cursor_.move_to(begin);
    return read_any_node();
  }

  /// Reads a scalar or an alias of any form as a key or a value.
  bool read_any_node() {
    const bool after_property = nodes_.follows_property();
    const bool may_be_key = after_property ? key_after_property_ : key_allowed_;
    const std::size_t begin = cursor_.at();
    const std::size_t key_begin = after_property ? nodes_.properties.begin : begin;
    YamlNode node;
    if (!nodes_.read(least(), /*flow=*/false, node)) return false;
    const bool key = cursor_.at_colon() && !node.is_block_scalar;
    if (key && (!may_be_key || node.has_lines)) {
      cursor_.skip_blanks();
      return misplaced_colon();
    }
    if (key && cursor_.is_long_key(key_begin)) return cursor_.reject_long_key(begin);
    if (key) return add_key(node, key_begin);
    if (slot_ == Slot::none) return no_colon(begin, nodes_.text_of(node));
    return add_value(node);
  }

  /// The minimum column for a value's further lines.
  std::size_t least() const { return open_.empty() ? 0 : open_.back().column + 1; }

  /// Begins the entry of a key after an anchor or tag, which belongs to the key or to the map.
  bool begin_entry_of_property(std::size_t begin) {
    const YamlProperties mine = nodes_.follows_property()
                                    ? std::exchange(nodes_.properties, std::exchange(outer_, {}))
                                    : YamlProperties{};
    if (!begin_entry(begin, cursor_.column_of(begin))) return false;
    nodes_.properties = mine;
    return true;
  }

  bool add_key(const YamlNode& node, std::size_t begin) {
    const bool plain = !nodes_.properties.any();
    if (plain ? !begin_entry(begin, cursor_.column_of(begin)) : !begin_entry_of_property(begin)) {
      return false;
    }
    if (!nodes_.add(node)) return false;
    cursor_.skip_blanks();
    end_key(node.scalar.at);
    return true;
  }

  /// Moves past the colon after a key.
  void end_key(std::size_t begin) {
    slot_ = Slot::value;
    slot_begin_ = begin;
    cursor_.move(1);
    key_allowed_ = false;
  }

  bool add_value(const YamlNode& node) {
    slot_ = Slot::none;
    key_allowed_ = false;
    return join_outer() && nodes_.add(node);
  }

  YamlCursor& cursor_;
  DocumentBuilder& builder_;
  YamlNodeReader& nodes_;
  YamlFlowReader flow_;
  std::vector<Level> open_{};  // the innermost level last
  // For the map whose first key comes next; `nodes_.properties` then has those of the key.
  YamlProperties outer_{};
  Slot slot_ = Slot::root;
  std::size_t slot_begin_;           // start of the document, dash or key of the slot
  bool key_allowed_;                 // whether a key or dash may begin here
  bool key_after_property_ = false;  // `key_allowed_` before the next node's properties
  bool awaits_colon_ = false;        // a key with `? ` still lacks `: `
};

}  // namespace cdi::detail

#endif  // CDI_TEXT_YAML_BLOCK_HPP
