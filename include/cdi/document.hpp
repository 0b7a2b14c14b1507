// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DOCUMENT_HPP
#define CDI_DOCUMENT_HPP

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include <cdi/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// What a text may cost at most. A text over a limit is refused with `Errc::limit`.
struct Limits {
  std::size_t bytes = std::size_t{16} << 20;  ///< of the text: 16 MiB
  /// Of nested lists and maps. A CDI spec needs 6; each level takes some stack.
  std::uint32_t depth = 64;
  /// Of all kinds, with the keys, and with YAML aliases, each expanded.
  std::uint32_t values = 2'000'000;
};

/// A parsed JSON or YAML text: a flat, immutable tree that knows line and column of every value.
///
/// All values stand in one block in document order, all text in a second one. Scalars keep the text
/// that was written; who reads a value decides whether `0644` is a number or a name. Movable; views
/// handed out by `text()` live as long as the document, wherever it is moved. Any number of threads
/// may read one. `parse_json`, `parse_yaml` and `DocumentBuilder` make them.
class Document {
 public:
  /// What a value was written as.
  enum class Kind : std::uint8_t {
    null,    ///< null, ~, or nothing
    plain,   ///< a scalar without quotes: a number, true, or in YAML any bare word
    quoted,  ///< a scalar that can only be text
    list,    ///< items in order
    map,     ///< keys, which are scalars, and their values, in the order written
  };

  class Value;
  struct Member;
  template <class Item>
  class Range;

  /// Takes another's tree; the other has no root then, and may only be assigned to.
  Document(Document&&) noexcept = default;
  /// Takes another's tree in place of this one, whose views go.
  Document& operator=(Document&&) noexcept = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  ~Document() = default;

  /// The outermost value.
  Value root() const;

  /// The name given to the text, for messages; often a path.
  const std::string& file() const { return file_; }

  /// The place of the member that a path such as `devices[0].name` leads to, or of the deepest
  /// value on the way that is there. Keys match in any case. Costs one step for each sibling on the
  /// way.
  Position locate(std::string_view path) const;

  /// A copy without some items of one of its lists: those whose place in `left_out` holds true.
  /// What stays keeps its line and column. Costs a copy of the whole.
  Document without(const Value& list, const std::vector<bool>& left_out) const;

 private:
  friend class DocumentBuilder;

  struct Node {
    Kind kind = Kind::null;
    std::uint32_t begin = 0;   // of its text, for scalars
    std::uint32_t size = 0;    // of its text, or the number of items or members
    std::uint32_t next = 0;    // index of the value after this one and everything in it
    std::uint32_t line = 0;    // from 1
    std::uint32_t column = 0;  // from 1
  };

  Document() = default;

  std::vector<Node> nodes_{};  // in document order; a map holds key, value, key, value, ...
  std::vector<char> text_{};
  std::string file_{};
};

/// One value of a document. A cursor: cheap to copy, valid while the document stays where it is.
class Document::Value {
 public:
  /// What it was written as.
  Kind kind() const { return node().kind; }
  /// Whether it is null, written or not.
  bool is_null() const { return kind() == Kind::null; }
  /// Whether it has a text: `Kind::plain` or `Kind::quoted`.
  bool is_scalar() const { return kind() == Kind::plain || kind() == Kind::quoted; }

  /// The text of a scalar, decoded but otherwise as written; empty for the other kinds.
  std::string_view text() const {
    if (!is_scalar()) return {};
    return {document_->text_.data() + node().begin, node().size};
  }

  /// The number of items of a list or members of a map; 0 for other kinds.
  std::size_t size() const { return is_scalar() ? 0 : node().size; }

  /// The items of a list; nothing for other kinds.
  Range<Value> items() const;
  /// The members of a map, in the order written; nothing for other kinds.
  Range<Member> members() const;

  /// Where it begins, with the name of the text. Copies that name.
  Position position() const { return {document_->file_, node().line, node().column}; }

  /// Whether both stand at the same place of the same document.
  friend bool operator==(const Value&, const Value&) = default;

 private:
  friend class Document;
  template <class Item>
  friend class Range;

  Value(const Document& document, std::uint32_t index) : document_{&document}, index_{index} {}
  const Node& node() const { return document_->nodes_[index_]; }
  Value after() const { return {*document_, node().next}; }

  const Document* document_;
  std::uint32_t index_;
};

/// A key of a map and its value. Valid while the document stays where it is.
struct Document::Member {
  Value key;    ///< a scalar
  Value value;  ///< of any kind
};

/// The items or members of one value, for range-based `for`. Valid while the document stays where
/// it is. Costs nothing to make.
template <class Item>
class Document::Range {
 public:
  /// Goes from one item or member to the next. Valid while the document stays where it is.
  class Iterator {
   public:
    /// Stands at an item of a list, at a key of a map, or behind the last.
    explicit Iterator(Value at) : at_{at} {}

    /// The item or member, by value. Not at the end.
    Item operator*() const {
      if constexpr (std::is_same_v<Item, Member>) {
        return Member{at_, at_.after()};
      } else {
        return at_;
      }
    }
    /// Goes to the next, over all that is in this one. Not at the end.
    Iterator& operator++() {
      at_ = std::is_same_v<Item, Member> ? at_.after().after() : at_.after();
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    Value at_;
  };

  /// At the first item or member.
  Iterator begin() const { return Iterator{first_}; }
  /// Behind the last.
  Iterator end() const { return Iterator{last_}; }

 private:
  friend class Value;
  Range(Value first, Value last) : first_{first}, last_{last} {}

  Value first_;
  Value last_;
};

inline Document::Value Document::root() const {
  assert(!nodes_.empty());
  return {*this, 0};
}

inline auto Document::Value::items() const -> Range<Value> {
  const bool mine = kind() == Kind::list;
  return {{*document_, mine ? index_ + 1 : node().next}, after()};
}

inline auto Document::Value::members() const -> Range<Member> {
  const bool mine = kind() == Kind::map;
  return {{*document_, mine ? index_ + 1 : node().next}, after()};
}

namespace detail {

/// The byte order mark that a text in UTF-8 may begin with.
inline constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";

struct LineAndColumn {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

/// The place of a byte of a text.
inline LineAndColumn line_and_column(std::string_view text, std::size_t at) {
  const auto before = text.substr(0, at);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const auto line_begin = before.rfind('\n') + 1;  // 0 when there is none
  return {static_cast<std::uint32_t>(lines + 1),
          static_cast<std::uint32_t>(before.size() - line_begin + 1)};
}

constexpr char ascii_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

/// Whether two keys name the same field. The CDI document's own sample writes `additionalGIDs`, and
/// the Go reference reads fields in any case; so do we.
inline bool same_key(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return ascii_lower(x) == ascii_lower(y);
         });
}

/// Goes one step of a path, `[7]` in a list or `key` in a map, and cuts it off the path.
inline bool descend(Document::Value& value, std::string_view& path) {
  if (path.starts_with('.')) path.remove_prefix(1);
  if (value.kind() == Document::Kind::list) {
    const auto close = path.find(']');
    std::size_t index = 0;
    if (!path.starts_with('[') || close == std::string_view::npos) return false;
    const char* const end = path.data() + close;
    const auto [stop, failed] = std::from_chars(path.data() + 1, end, index);
    if (failed != std::errc{} || stop != end || index >= value.size()) return false;
    for (const auto item : value.items()) {
      if (index-- != 0) continue;
      path.remove_prefix(close + 1);
      value = item;
      return true;
    }
  }
  // Keys may hold dots (annotations do): the longest key that the path goes on with is the one. Of
  // keys that differ in case only, the one written the same.
  std::size_t best = 0;
  bool exact = false;
  Document::Value found = value;
  for (const auto [key, member] : value.members()) {
    const auto text = key.text();
    const bool ends =
        path.size() == text.size() ||
        (path.size() > text.size() && (path[text.size()] == '.' || path[text.size()] == '['));
    if (!ends || text.size() < best || !same_key(path.substr(0, text.size()), text)) continue;
    if (text.size() == best && exact) continue;
    best = text.size();
    exact = path.starts_with(text);
    found = member;
  }
  if (best == 0) return false;
  path.remove_prefix(best);
  value = found;
  return true;
}

}  // namespace detail

inline Position Document::locate(std::string_view path) const {
  Value at = root();
  while (!path.empty() && detail::descend(at, path)) continue;
  return at.position();
}

inline Document Document::without(const Value& list, const std::vector<bool>& left_out) const {
  std::vector<bool> drop(nodes_.size());
  std::uint32_t dropped = 0;
  std::size_t place = 0;
  for (const auto item : list.items()) {
    if (place < left_out.size() && left_out[place]) {
      const auto at = [&](std::uint32_t index) {
        return drop.begin() + static_cast<std::ptrdiff_t>(index);
      };
      std::fill(at(item.index_), at(item.node().next), true);
      ++dropped;
    }
    ++place;
  }
  std::vector<std::uint32_t> moved_to;  // the new index of each value
  moved_to.reserve(nodes_.size() + 1);
  Document out;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    moved_to.push_back(static_cast<std::uint32_t>(out.nodes_.size()));
    if (!drop[i]) out.nodes_.push_back(nodes_[i]);
  }
  moved_to.push_back(static_cast<std::uint32_t>(out.nodes_.size()));
  for (auto& node : out.nodes_) node.next = moved_to[node.next];
  out.nodes_[moved_to[list.index_]].size -= dropped;
  out.text_ = text_;
  out.file_ = file_;
  return out;
}

/// Fills a document, value by value in document order. What the formats are made of.
///
/// Each call answers false when a limit is hit (`Errc::limit`) or the text is refused; `finish`
/// gives the reason, and the front end must stop. Lines and columns count from 1, columns in bytes.
class DocumentBuilder {
 public:
  /// An empty document. `file` is its name in messages; `merge_keys`: whether `<<` merges, as it
  /// does in YAML.
  DocumentBuilder(std::string_view file, const Limits& limits, bool merge_keys)
      : limits_{limits}, merge_keys_{merge_keys} {
    document_.file_ = file;
  }

  /// Adds a null.
  bool null(std::uint32_t line, std::uint32_t column) {
    return add({Kind::null, 0, 0, 0, line, column});
  }

  /// Adds a scalar; a key is one too, just before its value. `text` is decoded, and is copied;
  /// `quoted`: whether it can only be text.
  bool scalar(std::string_view text, bool quoted, std::uint32_t line, std::uint32_t column) {
    auto& all = document_.text_;
    const auto begin = static_cast<std::uint32_t>(all.size());
    if (text.size() > std::numeric_limits<std::uint32_t>::max() - all.size()) {
      return refuse(Errc::limit, "the text is too large", line, column);
    }
    all.insert(all.end(), text.begin(), text.end());
    return add({quoted ? Kind::quoted : Kind::plain, begin, static_cast<std::uint32_t>(text.size()),
                0, line, column});
  }

  /// Begins a list: what is added until its `end_list` are its items.
  bool begin_list(std::uint32_t line, std::uint32_t column) {
    return open({Kind::list, 0, 0, 0, line, column});
  }
  /// Begins a map: what is added until its `end_map` is key, value, key, value.
  bool begin_map(std::uint32_t line, std::uint32_t column) {
    return open({Kind::map, 0, 0, 0, line, column});
  }
  /// Ends the innermost list. Only when one is open.
  bool end_list() { return close(); }
  /// Ends the innermost map. Only when one is open and its last key has a value. Refuses keys
  /// written twice (`Errc::schema`) and those that are no scalars (`Errc::syntax`).
  bool end_map() { return check_keys(open_.back()) && close(); }

  /// The index of the value added last, for `copy`; whole once its `end_` call is made.
  std::uint32_t last() const { return last_; }

  /// Adds the value at `from`, an answer of `last`, and all it holds, once more: a YAML alias.
  /// `Errc::syntax` when that value is not ended. Costs as much as what is copied.
  bool copy(std::uint32_t from, std::uint32_t line, std::uint32_t column) {
    if (std::find(open_.begin(), open_.end(), from) != open_.end()) {
      return refuse(Errc::syntax, "an alias stands inside what it names", line, column);
    }
    const std::uint32_t count = nodes()[from].next - from;
    const auto to = static_cast<std::uint32_t>(nodes().size());
    if (count > limits_.values - to) return too_many(line, column);
    count_child();
    last_ = to;
    std::vector<std::uint32_t> inner;  // ends of the lists and maps around the node copied
    for (std::uint32_t i = 0; i < count; ++i) {
      Node node = nodes()[from + i];
      node.next = node.next - from + to;
      while (!inner.empty() && inner.back() <= to + i) inner.pop_back();
      if (node.kind == Kind::list || node.kind == Kind::map) inner.push_back(node.next);
      if (open_.size() + inner.size() > limits_.depth) return too_deep(line, column);
      nodes().push_back(node);
    }
    return true;
  }

  /// Where the key stands whose value comes next; nothing when no value of a map does.
  std::optional<Position> open_key() const {
    if (open_.empty()) return std::nullopt;
    const Node& map = nodes()[open_.back()];
    if (map.kind != Kind::map || map.size % 2 == 0) return std::nullopt;
    return Position{{}, nodes()[last_].line, nodes()[last_].column};
  }

  /// Where the innermost list or map stands that is not ended.
  std::optional<Position> open_value() const {
    if (open_.empty()) return std::nullopt;
    return Position{{}, nodes()[open_.back()].line, nodes()[open_.back()].column};
  }

  /// Refuses the text for a reason of the front end's; answers false. The message may not be empty;
  /// a place not known is 0, 0.
  bool refuse(Errc code, std::string message, std::uint32_t line, std::uint32_t column) {
    error_ = {
        .code = code, .message = std::move(message), .position = {document_.file_, line, column}};
    return false;
  }
  /// Whether a limit was hit or the text refused.
  bool failed() const { return !error_.message.empty(); }

  /// The document, or why there is none. Only once, after the last value, when all lists and maps
  /// are ended. Merges keys, if any: `Errc::syntax` when `<<` names neither a map nor a list of
  /// maps.
  Result<Document> finish() && {
    if (failed() || (has_merge_keys_ && !merge_all())) return std::move(error_);
    return std::move(document_);
  }

 private:
  using Kind = Document::Kind;
  using Node = Document::Node;

  std::vector<Node>& nodes() { return document_.nodes_; }
  const std::vector<Node>& nodes() const { return document_.nodes_; }
  std::string_view text(const Node& node) const {
    return {document_.text_.data() + node.begin, node.size};
  }

  bool too_many(std::uint32_t line, std::uint32_t column) {
    return refuse(Errc::limit, "more than " + std::to_string(limits_.values) + " values", line,
                  column);
  }

  bool too_deep(std::uint32_t line, std::uint32_t column) {
    return refuse(Errc::limit, "nested more than " + std::to_string(limits_.depth) + " deep", line,
                  column);
  }

  /// Counts a child of the innermost open value. A map counts keys and values until it is closed.
  void count_child() {
    if (!open_.empty()) ++nodes()[open_.back()].size;
  }

  bool add(Node node) {
    if (nodes().size() >= limits_.values) return too_many(node.line, node.column);
    count_child();
    last_ = static_cast<std::uint32_t>(nodes().size());
    node.next = last_ + 1;
    nodes().push_back(node);
    return true;
  }

  bool open(Node node) {
    if (open_.size() >= limits_.depth) {
      return too_deep(node.line, node.column);
    }
    if (!add(node)) return false;
    open_.push_back(last_);
    return true;
  }

  bool close() {
    last_ = open_.back();
    open_.pop_back();
    Node& node = nodes()[last_];
    node.next = static_cast<std::uint32_t>(nodes().size());
    if (node.kind == Kind::map) node.size /= 2;
    return true;
  }

  bool is_merge_key(const Node& key) const {
    return merge_keys_ && key.kind == Kind::plain && text(key) == "<<";
  }

  /// Refuses keys that are no text, and keys written twice. Costs a sort of the keys.
  bool check_keys(std::uint32_t map) {
    std::vector<std::uint32_t> keys;
    for (std::uint32_t i = map + 1; i < nodes().size(); i = nodes()[nodes()[i].next].next) {
      const Node& key = nodes()[i];
      if (key.kind != Kind::plain && key.kind != Kind::quoted) {
        return refuse(Errc::syntax, "a key must be text", key.line, key.column);
      }
      if (is_merge_key(key)) {
        has_merge_keys_ = true;
      } else {
        keys.push_back(i);
      }
    }
    std::sort(keys.begin(), keys.end(), [&](std::uint32_t a, std::uint32_t b) {
      const int order = text(nodes()[a]).compare(text(nodes()[b]));
      return order == 0 ? a < b : order < 0;
    });
    const auto twice = std::adjacent_find(keys.begin(), keys.end(), [&](auto a, auto b) {
      return text(nodes()[a]) == text(nodes()[b]);
    });
    if (twice == keys.end()) return true;
    const Node& second = nodes()[twice[1]];
    const auto first_line = std::to_string(nodes()[twice[0]].line);
    return refuse(Errc::schema,
                  "key " + detail::quoted(text(second)) + " is written twice, first in line " +
                      first_line + ": remove one",
                  second.line, second.column);
  }

  // YAML merge keys: `<<` brings the members of another map, or of a list of maps; what the map
  // says itself counts more, and earlier maps of the list count more than later ones. Done when all
  // is read: aliases name values by index until then. Every value is looked at once.

  bool merge_all() {
    std::vector<Node> merged;
    merged.reserve(nodes().size());
    if (!merge_value(0, merged)) return false;
    nodes() = std::move(merged);
    return true;
  }

  /// Appends the value at `from` to `out`, without merge keys. As deep as `Limits::depth`.
  bool merge_value(std::uint32_t from, std::vector<Node>& out) {
    const auto at = out.size();
    const Node& node = nodes()[from];
    out.push_back(node);
    if (node.kind == Kind::list) {
      for (auto item = from + 1; item < node.next; item = nodes()[item].next) {
        if (!merge_value(item, out)) return false;
      }
    } else if (node.kind == Kind::map) {
      std::vector<std::uint32_t> keys;
      std::unordered_set<std::string_view> said;
      if (!collect_keys(from, keys, said)) return false;
      for (const auto key : keys) {
        if (!merge_value(key, out) || !merge_value(nodes()[key].next, out)) return false;
      }
      out[at].size = static_cast<std::uint32_t>(keys.size());
    }
    out[at].next = static_cast<std::uint32_t>(out.size());
    return true;
  }

  /// The keys of a map and of those it merges, each text once.
  bool collect_keys(std::uint32_t map, std::vector<std::uint32_t>& keys,
                    std::unordered_set<std::string_view>& said) {
    const auto end = nodes()[map].next;
    for (auto key = map + 1; key < end; key = nodes()[nodes()[key].next].next) {
      if (!is_merge_key(nodes()[key]) && said.insert(text(nodes()[key])).second)
        keys.push_back(key);
    }
    for (auto key = map + 1; key < end; key = nodes()[nodes()[key].next].next) {
      if (is_merge_key(nodes()[key]) && !collect_merged(nodes()[key].next, keys, said))
        return false;
    }
    return true;
  }

  bool collect_merged(std::uint32_t source, std::vector<std::uint32_t>& keys,
                      std::unordered_set<std::string_view>& said) {
    const Node& node = nodes()[source];
    if (node.kind == Kind::map) return collect_keys(source, keys, said);
    if (node.kind != Kind::list) return bad_merge(node);
    for (auto item = source + 1; item < node.next; item = nodes()[item].next) {
      if (nodes()[item].kind != Kind::map) return bad_merge(nodes()[item]);
      if (!collect_keys(item, keys, said)) return false;
    }
    return true;
  }

  bool bad_merge(const Node& node) {
    return refuse(Errc::syntax, "<< must name a map or a list of maps", node.line, node.column);
  }

  Limits limits_;
  bool merge_keys_;
  bool has_merge_keys_ = false;
  Document document_{};
  std::vector<std::uint32_t> open_{};  // indices of the lists and maps not yet ended
  std::uint32_t last_ = 0;
  Error error_{};
};

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_DOCUMENT_HPP
