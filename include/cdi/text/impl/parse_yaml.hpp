// The bodies of <cdi/text/parse_yaml.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_IMPL_PARSE_YAML_HPP
#define CDI_TEXT_IMPL_PARSE_YAML_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/document_builder.hpp>
#include <cdi/text/parse_yaml.hpp>
#include <cdi/text/unicode.hpp>
#include <cdi/text/yaml_scanner.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// Reads the first document of a YAML text in one pass and without recursion.
///
/// The rules are those of YAML 1.2 as far as libyaml and its port in Go have them, since the
/// reference reads with that port: a key stands on one line with its colon, and has at most 1024
/// bytes; indentation is made of spaces.
class YamlReader {
 public:
  explicit YamlReader(DocumentBuilder& builder) : scan_{builder}, builder_{builder} {}

  /// Fills the builder; false when the text is refused.
  bool read() {
    if (!scan_.check_characters() || !read_head() || !read_blocks()) return false;
    if (builder_.is_null()) return builder_.refuse(Errc::syntax, "the text is empty", 0);
    note_rest();
    return true;
  }

 private:
  using Scalar = YamlScanner::Scalar;

  /// A list or map in block style that is not ended, and the column of its dashes or keys.
  struct Block {
    bool is_list = false;
    std::size_t column = 0;
  };

  /// A list or map in brackets or braces that is not ended.
  struct Flow {
    enum class Next : std::uint8_t {
      entry_or_end,  // nothing but `[`, `{` or a comma was read
      key,           // a question mark was read
      comma,         // an item, or a member with its value, was read
      value,         // a key and its colon were read
      no_value,      // a key without a colon was read
    } next = Next::entry_or_end;
    bool is_list = false;
    bool is_pair = false;   // a list, in an item that is `key: value` without braces
    std::size_t key = 0;    // where the last key begins
    std::size_t begin = 0;  // where the bracket or brace is
  };

  /// What comes before a node: `&anchor` and `!tag`.
  struct Properties {
    std::optional<std::string_view> anchor{};
    bool tagged = false;
    bool is_text = false;  // `!!str` or `!`
    std::size_t begin = 0;
    std::size_t line_begin = 0;
    bool any() const { return anchor || tagged; }
  };

  /// A scalar or an alias that was read and is not yet added.
  struct Node {
    Scalar scalar{};
    std::string_view alias{};  // the name of the anchor, when it is one
    bool is_block_scalar = false;
    bool lines = false;  // it goes over several lines
  };

  /// What the next node is.
  enum class Slot : std::uint8_t {
    none,   // an item or a key of an open list or map
    root,   // the document
    item,   // what comes after a dash
    value,  // what comes after a key
  };

  static constexpr std::string_view name_bytes =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  static constexpr std::string_view other_uri_bytes = ";/?:@&=+$,.!~*'()[]";
  static constexpr std::size_t longest_key = 1024;
  static constexpr std::size_t bytes_per_name = 72;  // in a map, with what the allocator adds

  bool refuse(std::string message, std::size_t at) {
    return builder_.refuse(Errc::syntax, message.insert(0, "not valid YAML: "), at);
  }

  bool bad_key(std::size_t at) { return builder_.refuse(Errc::syntax, "a key must be text", at); }

  // -- the document ------------------------------------------------------------------------------

  /// Passes over directives and `---`.
  bool read_head() {
    bool directives = false;
    while (true) {
      scan_.skip_to_token(YamlScanner::Tabs::none);
      if (scan_.column() != 0 || scan_.peek() != '%') break;
      if (!read_directive()) return false;
      directives = true;
    }
    begin_ = scan_.at();
    if (scan_.column() == 0 && scan_.is_marker("---")) {
      scan_.move(3);
      scan_.take_fresh();
      key_allowed_ = false;
    } else if (directives && !scan_.at_end()) {
      return refuse("expected '---' after the lines that begin with %", scan_.at());
    }
    return true;
  }

  bool read_directive() {
    const std::size_t begin = scan_.at();
    auto line = scan_.take_line();
    const auto next_word = [&line] {
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      const auto word = line.substr(0, line.find_first_of(" \t"));
      line.remove_prefix(word.size());
      return word;
    };
    const auto name = next_word();
    if (name == "%TAG") {
      if (handles_.insert(next_word()).second) builder_.note_memory(bytes_per_name);
    } else if (name != "%YAML") {
      return refuse("unknown directive " + quoted(name), begin);
    } else if (const auto version = next_word(); !version.starts_with("1.")) {
      return refuse("only YAML 1.1 and 1.2 are known", begin);
    } else if (version != "1.1") {
      builder_.note_unportable(begin,
                               "%YAML other than 1.1 is refused by the Go reference, and so by "
                               "most engines: remove the line");
    }
    return true;
  }

  /// Notes where the text goes on after the document.
  void note_rest() {
    while (!scan_.at_end()) {
      scan_.skip_to_token(YamlScanner::Tabs::anywhere);
      if (scan_.at_end()) return;
      const bool marker = scan_.column() == 0 && (scan_.is_marker("...") || scan_.is_marker("---"));
      if (!marker) return builder_.note_rest(scan_.at());
      scan_.move(3);
    }
  }

  // -- blocks ------------------------------------------------------------------------------------

  bool read_blocks() {
    while (true) {
      scan_.skip_to_token(key_allowed_ ? YamlScanner::Tabs::none : YamlScanner::Tabs::on_this_line);
      if (scan_.at_end() || (scan_.column() == 0 && scan_.is_any_marker())) break;
      const bool fresh = scan_.take_fresh();
      if (fresh) key_allowed_ = true;
      if (key_allowed_ && scan_.peek() == '\t') {
        return tab();
      }
      if (fresh && !end_deeper_blocks()) return false;
      if (slot_ == Slot::none && blocks_.empty()) break;  // after the outermost value
      if (slot_ == Slot::none && !fresh && !after_property()) return after_value();
      if (!read_block_token()) return false;
    }
    if (slot_ != Slot::none && !fill_slot()) return false;
    if (properties_.any()) return lost_property();
    while (!blocks_.empty()) {
      if (!end_block()) return false;
    }
    return true;
  }

  bool tab() { return refuse("indent with spaces, not with tabs", scan_.at()); }

  bool after_value() {
    if (scan_.peek() == ':' && scan_.is_blank_or_end(1)) return misplaced_colon();
    return refuse("unexpected text after a value: put the whole value into quotes, or begin a line",
                  scan_.at());
  }

  bool misplaced_colon() {
    return refuse(
        "unexpected ':': indent the members of one object alike, and put text with \": \" into "
        "quotes",
        scan_.at());
  }

  /// Gives what waits for a value a null.
  bool fill_slot() {
    if (outer_.any()) return two_properties(scan_.at());
    const std::size_t at = slot_ == Slot::root ? begin_ : slot_begin_;
    slot_ = Slot::none;
    awaits_colon_ = false;
    return add_null(at);
  }

  bool add_null(std::size_t at) {
    const bool text = properties_.is_text;
    if (text ? !builder_.decoded_scalar(at, {}, /*quoted=*/true) : !builder_.null(at)) return false;
    note_anchor(std::exchange(properties_, {}));
    return true;
  }

  bool end_block() {
    const bool list = blocks_.back().is_list;
    blocks_.pop_back();
    return list ? builder_.end_list() : builder_.end_map();
  }

  bool at_dash() const { return scan_.peek() == '-' && scan_.is_blank_or_end(1); }
  bool at_lone_colon() const { return scan_.peek() == ':' && scan_.is_blank_or_end(1); }

  /// Before the first token of a line: ends the lists and maps that are indented deeper.
  bool end_deeper_blocks() {
    const std::size_t column = scan_.column();
    if (slot_ == Slot::root) return true;
    if (slot_ != Slot::none) {
      if (belongs_to_slot(column)) return true;
      if (!fill_slot()) return false;
    }
    while (!blocks_.empty() && ends_top(column)) {
      if (!end_block()) return false;
    }
    if (blocks_.empty() || blocks_.back().column == column) return true;
    return refuse("wrong indentation: begin the line below the members or items before it",
                  scan_.at());
  }

  /// Whether what begins in this column is the value that is waited for, or a part of it.
  bool belongs_to_slot(std::size_t column) const {
    const Block& top = blocks_.back();
    if (column != top.column) return column > top.column;
    if (awaits_colon_) return at_lone_colon();
    // The dashes of a list may stand below the key that it belongs to; so may | and >.
    return (slot_ == Slot::value && at_dash()) || scan_.peek() == '|' || scan_.peek() == '>';
  }

  /// Whether the innermost block ends before a line that begins in this column.
  bool ends_top(std::size_t column) const {
    const Block& top = blocks_.back();
    if (top.column != column) return top.column > column;
    const bool below_key =
        top.is_list && blocks_.size() > 1 && blocks_[blocks_.size() - 2].column == top.column;
    return below_key && !at_dash();
  }

  bool read_block_token() {
    const char c = scan_.peek();
    if (at_dash()) return read_dash();
    if (c == '?' && scan_.is_blank_or_end(1)) return read_question_mark();
    if (at_lone_colon()) return read_lone_colon();
    if (c == '&' || c == '!') return read_property();
    return read_block_node();
  }

  bool read_dash() {
    if (!key_allowed_) {
      return refuse("a list item cannot begin here: begin a line", scan_.at());
    }
    if (slot_ == Slot::none) {
      if (!blocks_.back().is_list) return no_colon(scan_.at());
      if (properties_.any()) return lost_property();
    } else if (!begin_block(/*list=*/true, scan_.at(), scan_.column())) {
      return false;
    }
    slot_ = Slot::item;
    slot_begin_ = scan_.at();
    scan_.move(1);
    key_allowed_ = true;
    return true;
  }

  bool begin_block(bool list, std::size_t at, std::size_t column) {
    if (list ? !builder_.begin_list(at) : !builder_.begin_map(at)) return false;
    note_anchor(std::exchange(properties_, {}));
    blocks_.push_back({list, column});
    return true;
  }

  /// Makes the innermost block the map that the key here belongs to.
  bool begin_entry(std::size_t at, std::size_t column) {
    if (slot_ != Slot::none) return begin_block(/*list=*/false, at, column);
    if (blocks_.back().is_list) return no_colon(at);
    return !properties_.any() || lost_property();
  }

  bool lost_property() {
    return refuse("an anchor or tag must stand on the line of its key", properties_.begin);
  }

  bool two_properties(std::size_t at) { return refuse("a value has two anchors or tags", at); }

  /// `? ` before a key that may be longer than others, or stand on a line of its own.
  bool read_question_mark() {
    if (!key_allowed_) return misplaced_colon();
    const std::size_t column = scan_.column();
    if (!begin_entry(scan_.at(), column)) return false;
    scan_.move(1);
    scan_.skip_spaces();
    if (scan_.peek() == '\t') return tab();
    Scalar key;
    const char c = scan_.peek();
    const bool scalar = c != '[' && c != '{' && c != '&' && c != '!' && c != '*' && !at_dash();
    if (!scalar || scan_.at_line_end()) return bad_key(scan_.at());
    if (!scan_.read_scalar(column + 1, /*flow=*/false, key) || !add_scalar(key)) return false;
    const bool block = c == '|' || c == '>';  // it ends with its line
    if (!block && scan_.at_colon()) return bad_key(key.at);
    slot_ = Slot::value;
    slot_begin_ = key.at;
    awaits_colon_ = true;
    return true;
  }

  /// `: ` on a line of its own, after a key with `? `.
  bool read_lone_colon() {
    const bool awaited = awaits_colon_ && key_allowed_ && scan_.column() == blocks_.back().column;
    if (!awaited) {
      return key_allowed_ ? bad_key(scan_.at()) : misplaced_colon();
    }
    awaits_colon_ = false;
    scan_.move(1);
    key_allowed_ = true;
    return true;
  }

  /// Whether an anchor or tag stands before this on the line.
  bool after_property() const {
    return properties_.any() && properties_.line_begin == scan_.line_begin();
  }

  bool read_property() {
    Properties& mine = properties_;
    const bool other_line = mine.any() && mine.line_begin != scan_.line_begin();
    if (other_line) {
      // What was said on a line before belongs to the map whose first key has one of its own.
      if (outer_.any()) return two_properties(scan_.at());
      outer_ = std::exchange(mine, {});
    }
    if (!mine.any()) {
      mine.begin = scan_.at();
      mine.line_begin = scan_.line_begin();
      key_after_property_ = key_allowed_;
    }
    if (!take_property(mine)) return false;
    key_allowed_ = false;
    return true;
  }

  /// Reads `&anchor` or `!tag`.
  bool take_property(Properties& out) {
    const std::size_t at = scan_.at();
    if (scan_.peek() == '&') {
      if (out.anchor) return refuse("a value has two anchors", at);
      scan_.move(1);
      out.anchor = scan_.take_name();
      if (out.anchor->empty() || !scan_.ends_name()) return bad_name(at, "anchor");
      return true;
    }
    if (out.tagged) return refuse("a value has two tags", at);
    const auto tag = scan_.take_tag();
    if (!tag.starts_with("!<") && !is_uri(tag)) {
      builder_.note_unportable(at,
                               "a tag that is no URI is refused by the Go reference, and so by "
                               "most engines: remove it");
    }
    out.tagged = true;
    out.is_text = tag == "!" || tag == "!!str" || tag == "!<tag:yaml.org,2002:str>";
    if (tag == "!!binary" || tag == "!<tag:yaml.org,2002:binary>") {
      return refuse("the tag !!binary is not supported: write the text itself", at);
    }
    const auto handle = handle_of(tag);
    const bool known = handle.size() < 3 || handles_.count(handle) != 0;
    return known || refuse("the tag handle " + quoted(handle) + " is not defined", at);
  }

  /// `!`, a name and `!` at the front of a tag; empty when it has none.
  static std::string_view handle_of(std::string_view tag) {
    const auto end = std::min(tag.find_first_not_of(name_bytes, 1), tag.size());
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

  bool bad_name(std::size_t at, std::string_view what) {
    return refuse("the name of an " + std::string{what} + " is made of letters, digits, _ and -",
                  at);
  }

  /// A scalar, an alias, or a list or map in brackets or braces; as a key or a value.
  bool read_block_node() {
    const std::size_t begin = scan_.at();
    const bool may_be_key = after_property() ? key_after_property_ : key_allowed_;
    const std::size_t key_begin = after_property() ? properties_.begin : begin;
    const char c = scan_.peek();
    if (c == '[' || c == '{') return read_flow_value();
    Node node;
    if (!read_node(node, /*flow=*/false)) return false;
    const bool key = scan_.at_colon() && !node.is_block_scalar;
    if (key && may_be_key && awaits_colon_) return refuse("expected ':' below '?'", begin);
    if (key && (!may_be_key || node.lines)) {
      scan_.skip_blanks();
      return misplaced_colon();
    }
    if (key && scan_.at() - key_begin > longest_key) {
      return refuse("a key has more than 1024 bytes: write \"? \" before it", begin);
    }
    if (key) return add_key(node, key_begin);
    if (slot_ == Slot::none || awaits_colon_) return no_colon(begin, scan_.text_of(node.scalar));
    return add_value(node);
  }

  /// Refuses what stands where an item or a key must; `text` is what was read, if it is a scalar.
  bool no_colon(std::size_t at, std::string_view text = {}) {
    if (text.starts_with('-')) return refuse("write a blank after '-'", at);
    if (!blocks_.empty() && blocks_.back().is_list) {
      return refuse("expected '- ' before the next item", at);
    }
    const bool colon = text.find(':') != text.npos;
    return refuse(colon ? "write a blank after ':'" : "a key without ':' after it", at);
  }

  bool add_key(const Node& node, std::size_t begin) {
    const Properties mine =
        after_property() ? std::exchange(properties_, std::exchange(outer_, {})) : Properties{};
    if (!begin_entry(begin, scan_.column_of(begin))) return false;
    properties_ = mine;
    if (!add_node(node)) return false;
    slot_ = Slot::value;
    slot_begin_ = node.scalar.at;
    scan_.skip_blanks();
    scan_.move(1);
    key_allowed_ = false;
    return true;
  }

  bool add_value(const Node& node) {
    if (outer_.any()) return two_properties(node.scalar.at);
    slot_ = Slot::none;
    key_allowed_ = false;
    return add_node(node);
  }

  bool read_flow_value() {
    if (slot_ == Slot::none || awaits_colon_) return no_colon(scan_.at());
    if (outer_.any()) return two_properties(scan_.at());
    const std::size_t begin = scan_.at();
    slot_ = Slot::none;
    if (!read_flow()) return false;
    key_allowed_ = false;
    return !scan_.at_colon() || bad_key(begin);
  }

  // -- nodes -------------------------------------------------------------------------------------

  bool read_node(Node& out, bool flow) {
    const char c = scan_.peek();
    out.scalar.at = scan_.at();
    if (c == '*') {
      scan_.move(1);
      out.alias = scan_.take_name();
      return (!out.alias.empty() && scan_.ends_name()) || bad_name(out.scalar.at, "alias");
    }
    out.is_block_scalar = !flow && (c == '|' || c == '>');
    const std::size_t line = scan_.line_begin();
    const std::size_t least = blocks_.empty() ? 0 : blocks_.back().column + 1;
    if (!scan_.read_scalar(least, flow, out.scalar)) return false;
    out.lines = scan_.line_begin() != line;
    return true;
  }

  bool add_node(const Node& node) {
    if (node.alias.empty()) return add_scalar(node.scalar);
    if (properties_.any()) return refuse("an alias has neither anchor nor tag", node.scalar.at);
    const auto anchor = anchors_.find(node.alias);
    if (anchor != anchors_.end()) return builder_.copy(anchor->second, node.scalar.at);
    return refuse("the anchor " + quoted(node.alias) + " is not defined", node.scalar.at);
  }

  bool add_scalar(const Scalar& scalar) {
    const auto mine = std::exchange(properties_, {});
    const bool quoted = mine.is_text || (scalar.quoted && !mine.tagged);
    const auto text = scan_.text_of(scalar);
    bool good = false;
    if (!quoted && !scalar.quoted && is_null_word(text)) {
      good = builder_.null(scalar.at);
    } else if (scalar.is_decoded) {
      good = builder_.decoded_scalar(scalar.at, text, quoted);
    } else {
      good = builder_.scalar(scalar.at, scalar.begin, scalar.size, quoted);
    }
    note_anchor(mine);
    return good;
  }

  static bool is_null_word(std::string_view text) {
    return text == "~" || text == "null" || text == "Null" || text == "NULL" || text.empty();
  }

  /// Names the value added last.
  void note_anchor(const Properties& properties) {
    if (!properties.anchor) return;
    const auto [at, added] = anchors_.insert_or_assign(*properties.anchor, builder_.last());
    if (added) builder_.note_memory(bytes_per_name);
  }

  // -- lists in brackets, maps in braces ---------------------------------------------------------

  bool read_flow() {
    if (!begin_flow()) return false;
    while (!flows_.empty()) {
      scan_.skip_to_token(YamlScanner::Tabs::anywhere);
      if (scan_.at_end() || (scan_.column() == 0 && scan_.is_any_marker())) return not_ended();
      if (!read_flow_token()) return false;
    }
    return true;
  }

  bool not_ended() {
    const Flow& open = flows_.back();
    return refuse(open.is_list ? "the list that begins here is not ended: add ]"
                               : "the object that begins here is not ended: add }",
                  open.begin);
  }

  bool begin_flow() {
    const bool list = scan_.peek() == '[';
    const std::size_t begin = scan_.at();
    if (list ? !builder_.begin_list(begin) : !builder_.begin_map(begin)) return false;
    note_anchor(std::exchange(properties_, {}));
    flows_.push_back({.is_list = list, .begin = begin});
    scan_.move(1);
    return true;
  }

  bool read_flow_token() {
    const char c = scan_.peek();
    switch (c) {
      case ']':
      case '}': return end_flow(c);
      case ',': return read_comma();
      case '&':
      case '!':
        if (flows_.back().next == Flow::Next::comma) return expected_comma();
        if (!properties_.any()) properties_.line_begin = scan_.line_begin();
        return take_property(properties_);
      default: break;
    }
    if (flows_.back().next == Flow::Next::comma || flows_.back().next == Flow::Next::no_value) {
      return expected_comma();
    }
    if (c == ':' || at_dash()) {
      return c == ':' ? bad_key(scan_.at()) : refuse("unexpected '-' in brackets", scan_.at());
    }
    if (c == '?' && scan_.is_blank_or_end(1)) {
      if (flows_.back().next != Flow::Next::entry_or_end || properties_.any()) {
        return refuse("unexpected '?' in brackets", scan_.at());
      }
      flows_.back().next = Flow::Next::key;
      scan_.move(1);
      return true;
    }
    return read_flow_node();
  }

  bool expected_comma() {
    if (scan_.peek() == ':' && flows_.back().next == Flow::Next::no_value) {
      return refuse("a key and its ':' must stand on one line", scan_.at());
    }
    return refuse(flows_.back().is_list ? "expected ',' or ']'" : "expected ',' or '}'",
                  scan_.at());
  }

  bool read_flow_node() {
    Flow& flow = flows_.back();
    const bool key_here = !flow.is_list && flow.next != Flow::Next::value;
    const char c = scan_.peek();
    if (c == '[' || c == '{') {
      if (key_here) return bad_key(scan_.at());
      flow.next = Flow::Next::comma;
      return begin_flow();
    }
    Node node;
    if (!read_node(node, /*flow=*/true)) return false;
    const bool colon = !node.lines && scan_.at_flow_colon();
    if (colon && flow.next == Flow::Next::value) {
      scan_.skip_blanks();
      return expected_comma();
    }
    const bool pair = flow.is_list && (colon || flow.next == Flow::Next::key);
    if (colon && flow.next != Flow::Next::key && !after_property() && properties_.any()) {
      builder_.note_unportable(node.scalar.at,
                               "a key on another line than its tag or anchor is refused by the Go "
                               "reference, and so by most engines: put them on one line");
    }
    if (pair) {
      flow.is_pair = true;
      if (!builder_.begin_map(node.scalar.at)) return false;
    }
    if (!add_node(node)) return false;
    if (key_here || pair) return end_flow_key(node, colon);
    flow.next = Flow::Next::comma;
    return true;
  }

  bool end_flow_key(const Node& node, bool colon) {
    Flow& flow = flows_.back();
    flow.key = node.scalar.at;
    flow.next = colon ? Flow::Next::value : Flow::Next::no_value;
    if (!colon) return true;
    scan_.skip_blanks();
    if (scan_.at() - flow.key > longest_key) {
      return refuse("a key has more than 1024 bytes", flow.key);
    }
    scan_.move(1);
    return true;
  }

  /// Gives a key that has no value a null, and ends an item that is `key: value`.
  bool end_flow_entry() {
    Flow& flow = flows_.back();
    if (flow.next == Flow::Next::key) return bad_key(scan_.at());
    const bool no_value = flow.next == Flow::Next::value || flow.next == Flow::Next::no_value;
    if (no_value && !add_null(flow.key)) return false;
    if (!no_value && properties_.any()) {
      if (!add_null(scan_.at())) return false;
      if (!flow.is_list) return bad_key(scan_.at());
    }
    const bool pair = std::exchange(flow.is_pair, false);
    return !pair || builder_.end_map();
  }

  bool read_comma() {
    Flow& flow = flows_.back();
    if (flow.next == Flow::Next::entry_or_end && !properties_.any()) {
      return refuse("expected a value before ','", scan_.at());
    }
    if (!end_flow_entry()) return false;
    flow.next = Flow::Next::entry_or_end;
    scan_.move(1);
    return true;
  }

  bool end_flow(char bracket) {
    const bool list = flows_.back().is_list;
    if (list != (bracket == ']')) return expected_comma();
    if (!end_flow_entry()) return false;
    flows_.pop_back();
    const std::size_t begin = scan_.at();
    scan_.move(1);
    if (list ? !builder_.end_list() : !builder_.end_map()) return false;
    const bool inner = !flows_.empty();
    return !inner || !scan_.at_flow_colon() || bad_key(begin);
  }

  YamlScanner scan_;
  DocumentBuilder& builder_;
  std::vector<Block> blocks_{};
  std::vector<Flow> flows_{};
  std::map<std::string_view, std::uint32_t> anchors_{};
  std::set<std::string_view> handles_{};  // of %TAG
  Properties properties_{};               // of the node that comes next
  Properties outer_{};                    // of the map whose first key comes next
  Slot slot_ = Slot::root;
  std::size_t slot_begin_ = 0;       // the dash or key that waits for its value
  std::size_t begin_ = 0;            // of the document
  bool key_allowed_ = true;          // a key or dash may begin here
  bool key_after_property_ = false;  // what `key_allowed_` was before `properties_`
  bool awaits_colon_ = false;        // a key with `? ` has no `: ` yet
};

}  // namespace detail

CDI_INLINE Result<Document> parse_yaml(std::string_view text, std::string_view file,
                                       const Limits& limits) {
  std::string converted;
  if (detail::is_utf16(text) && text.size() <= limits.bytes) {
    converted = detail::utf8_of_utf16(text);
    text = converted;
  }
  DocumentBuilder builder{text, file, limits, /*merge_keys=*/true};
  const auto half = converted.find(detail::half_character);
  if (!builder.failed() && half != converted.npos) {
    builder.refuse(Errc::syntax,
                   "not valid YAML: half a character of UTF-16: save the text as UTF-8", half);
  }
  if (!builder.failed()) detail::YamlReader{builder}.read();
  return std::move(builder).finish();
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_TEXT_IMPL_PARSE_YAML_HPP
