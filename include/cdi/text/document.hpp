// `Document`: parsed text as a flat tree of values with their positions.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_DOCUMENT_HPP
#define CDI_TEXT_DOCUMENT_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/text/line_index.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {
class MergeKeys;
}  // namespace detail

/// The limits of a text. A text over a limit is refused with `Errc::limit`, as soon as it goes
/// over. Parsing takes at most ten times the bytes of the text, `expansion`, and 128 KiB of memory;
/// a text whose values need more is refused, too. So is a text of which `read` would make a model
/// that takes, with the document, more than ten times the bytes of the text and 4 MiB.
struct Limits {
  std::size_t bytes = std::size_t{16} << 20;  ///< of the text; greater values mean 512 MiB - 1
  /// Of nested lists and maps. A CDI spec needs 6; each level takes stack.
  std::uint32_t depth = 64;
  /// Of all kinds, with the keys, and with the values that YAML aliases repeat.
  std::uint32_t values = 2'000'000;
  /// Bytes that YAML aliases and merge keys may add: the texts that they repeat, and 32 for each
  /// value. Ten times the size of the text is always allowed, as far as the memory is.
  std::size_t expansion = std::size_t{4} << 20;

  friend bool operator==(const Limits&, const Limits&) = default;
};

/// A parsed JSON or YAML text: a flat, immutable tree with the line and column of every value.
///
/// The document has the values in order, 12 bytes each, and the text. Scalars keep the
/// text that was written; the reader of a value decides whether `0644` is a number or a name.
/// Movable; views from `text()` live as long as the document, also after a move. Any number of
/// threads may read one. `parse_json`, `parse_yaml` and `DocumentBuilder` make documents.
class Document {
 public:
  /// The kinds of values, by how they are written.
  enum class Kind : std::uint8_t {
    null,    ///< null, ~, or nothing
    plain,   ///< a scalar without quotes: a number, true, or in YAML any text
    quoted,  ///< a scalar that can only be text
    list,    ///< items in order
    map,     ///< keys, which are scalars, and their values, in order
  };

  class Value;
  struct Member;
  template <class Item>
  class Range;

  /// Takes the tree of another, which then has no root, and may only be assigned to.
  Document(Document&&) noexcept = default;
  /// Replaces the tree by that of another. Views of the old one become invalid.
  Document& operator=(Document&&) noexcept = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  ~Document() = default;

  /// The outermost value.
  Value root() const;

  /// The name of the text, for messages; often a path.
  const std::string& file() const { return file_; }

  /// The text, without its byte order mark. Valid as long as the document, also after a move.
  std::string_view source() const { return {source_.data(), source_.size()}; }

  /// The place after this document where the text continues, if it does: with further YAML
  /// documents, or with other text. It is not read. Blank lines and comments do not count.
  std::optional<Position> rest() const {
    return rest_ == 0 ? std::nullopt : std::optional{position(rest_)};
  }

  /// Whether `---` or `...` is before `rest()`. Without it, a bracket may be closed too early, or a
  /// line indented less than those before it.
  bool has_marker_before_rest() const { return has_marker_; }

  /// A place where the Go reference, and so most engines, refuses the text or reads it differently.
  struct Unportable {
    Position position;   ///< of the text that it does not take
    std::string reason;  ///< what it is, and how it is read
    std::string advice;  ///< what to write instead
  };

  /// The first such place that the parsers know.
  std::optional<Unportable> unportable() const;

  /// Whether a text in it may have a NUL character, which only escapes can write.
  bool may_have_nul() const;

  /// The place of the member with a path such as `devices[0].name`; when there is none, that of the
  /// innermost enclosing value. Keys match in any case. Costs one step for each sibling on the
  /// path.
  Position locate(std::string_view path) const;

  /// The line where each item of one of its lists begins, from 1. Costs one pass over the text of
  /// the list.
  std::vector<std::uint32_t> lines_of(const Value& list) const;

  /// The bytes that a model may take beside the document: together, ten times the text and 4 MiB.
  std::size_t most_model_bytes() const;

  /// A copy without some items of one of its lists: those that are true in `left_out`. Lines and
  /// columns of the other values do not change. Costs a copy of the document.
  Document without(const Value& list, const std::vector<char>& left_out) const;

 private:
  friend class DocumentBuilder;
  friend class detail::MergeKeys;

  struct Node {
    std::uint32_t begin = 0;  // where a list or map begins in the source; where the text of a
                              // scalar begins there, or after the end of it, in the decoded text
    std::uint32_t link = 0;   // index of the value after a list or map and all its members; where
                              // another value begins in the source
    std::uint32_t size = 0;   // of its text, or the number of items or members; and the kind
  };

  /// The values, in blocks that do not move: growth copies nothing.
  class Nodes {
   public:
    std::size_t size() const { return size_; }
    [[gnu::always_inline]] Node& operator[](std::size_t i) {
      return blocks_[i / per_block][i % per_block];
    }
    [[gnu::always_inline]] const Node& operator[](std::size_t i) const {
      return blocks_[i / per_block][i % per_block];
    }
    /// The index of the value after one and all its members. That of a scalar is the next one: its
    /// node need not be waited for.
    [[gnu::always_inline]] std::uint32_t after(std::uint32_t i) const {
      const Node& node = (*this)[i];
      return has_members(node) ? node.link : i + 1;
    }
    [[gnu::always_inline]] void push_back(const Node& node) {
      if (size_ % per_block == 0) add_block();
      *free_++ = node;
      ++size_;
    }

   private:
    static constexpr std::size_t per_block = 512;
    void add_block();
    std::vector<std::vector<Node>> blocks_{};
    Node* free_ = nullptr;  // where the next one comes, in the last block
    std::size_t size_ = 0;
  };

  Document() = default;

  Position position(std::size_t at) const;
  [[gnu::always_inline]] std::string_view text(const Node& node) const {
    const bool written = node.begin < source_.size();
    const char* const text =
        written ? source_.data() + node.begin : decoded_.data() + (node.begin - source_.size());
    return {text, size_of(node)};
  }

  static constexpr std::size_t bytes_per_value = 16;  // that limits count: more than a node has
  static constexpr unsigned kind_bits = 3;
  static constexpr std::uint32_t most_bytes = 0xffff'ffffU >> kind_bits;
  static constexpr std::uint32_t pack(Kind kind, std::uint32_t size) {
    return size << kind_bits | static_cast<std::uint32_t>(kind);
  }
  static Kind kind_of(const Node& node) {
    return static_cast<Kind>(node.size & ((1U << kind_bits) - 1));
  }
  static std::uint32_t size_of(const Node& node) { return node.size >> kind_bits; }
  static bool has_members(const Node& node) {
    return kind_of(node) == Kind::list || kind_of(node) == Kind::map;
  }
  /// Where a value begins in the source.
  static std::uint32_t place_of(const Node& node) {
    return has_members(node) ? node.begin : node.link;
  }

  /// See `DocumentBuilder::note_unportable`.
  void note_unportable(std::size_t at, std::string_view reason, std::string_view advice) {
    if (!unportable_.empty() && unportable_at_ <= at) return;
    unportable_at_ = static_cast<std::uint32_t>(at);
    unportable_ = reason;
    portable_ = advice;
  }

  Nodes nodes_{};         // in document order; a map has key, value, key, value, ...
  std::string source_{};  // on the heap, also when it is short: a move leaves it where it is
  std::vector<char>
      decoded_{};  // text of scalars that differs from the source: of escapes and folded lines
  detail::LineIndex lines_{};  // of the source
  std::string file_{};
  std::uint32_t rest_ = 0;  // where the text continues after the document; 0 when it does not
  std::uint32_t unportable_at_ = 0;
  bool has_marker_ = false;   // before `rest_`
  std::string unportable_{};  // why not all readers take it; empty when they do
  std::string portable_{};    // what to write instead
};

/// One value of a document. Cheap to copy; valid until the document is moved or destroyed.
class Document::Value {
 public:
  /// The kind that it was written as.
  [[gnu::always_inline]] Kind kind() const { return kind_of(node()); }
  /// Whether it is null, written or not.
  bool is_null() const { return kind() == Kind::null; }
  /// Whether it has a text: `Kind::plain` or `Kind::quoted`.
  [[gnu::always_inline]] bool is_scalar() const {
    return kind() == Kind::plain || kind() == Kind::quoted;
  }

  /// The text of a scalar: decoded, and otherwise as written; empty for other kinds.
  [[gnu::always_inline]] std::string_view text() const {
    return is_scalar() ? document_->text(node()) : std::string_view{};
  }

  /// The number of items of a list or members of a map; 0 for other kinds.
  std::size_t size() const { return is_scalar() ? 0 : size_of(node()); }

  /// The number of values in it, with keys, and with itself.
  std::size_t count_all() const { return after().index_ - index_; }

  /// The document that it is a value of.
  const Document& document() const { return *document_; }

  /// The items of a list; nothing for other kinds.
  Range<Value> items() const;
  /// The members of a map, in the order written; nothing for other kinds.
  Range<Member> members() const;

  /// Where it begins, as an offset into `Document::source`.
  std::size_t offset() const { return place_of(node()); }

  /// The place where it begins. Copies the name of the text, and reads at most 1024 bytes of the
  /// text.
  Position position() const { return document_->position(place_of(node())); }

  /// Whether both are the same value of the same document.
  friend bool operator==(const Value&, const Value&) = default;

 private:
  friend class Document;
  template <class Item>
  friend class Range;

  Value(const Document& document, std::uint32_t index) : document_{&document}, index_{index} {}
  [[gnu::always_inline]] const Node& node() const { return document_->nodes_[index_]; }
  [[gnu::always_inline]] Value after() const {
    return {*document_, document_->nodes_.after(index_)};
  }
  [[gnu::always_inline]] Value next() const { return {*document_, index_ + 1}; }

  const Document* document_;
  std::uint32_t index_;
};

/// A key of a map and its value. Valid until the document is moved or destroyed.
struct Document::Member {
  Value key;    ///< a scalar
  Value value;  ///< of any kind
};

/// The items or members of one value, for range-based `for`. Valid until the document is moved or
/// destroyed.
template <class Item>
class Document::Range {
 public:
  /// Goes from one item or member to the next. Valid until the document is moved or destroyed.
  class Iterator {
   public:
    /// At an item of a list, at a key of a map, or behind the last.
    explicit Iterator(Value at) : at_{at} {}

    /// The item or member, by value. Not at the end.
    [[gnu::always_inline]] Item operator*() const {
      if constexpr (std::is_same_v<Item, Member>) {
        return Member{at_, at_.next()};  // a key is a scalar
      } else {
        return at_;
      }
    }
    /// Goes to the next. Not at the end.
    [[gnu::always_inline]] Iterator& operator++() {
      at_ = std::is_same_v<Item, Member> ? at_.next().after() : at_.after();
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    Value at_;
  };

  /// The first item or member.
  Iterator begin() const { return Iterator{first_}; }
  /// The end, behind the last.
  Iterator end() const { return Iterator{last_}; }

 private:
  friend class Value;
  Range(Value first, Value last) : first_{first}, last_{last} {}

  Value first_;
  Value last_;
};

namespace detail {

/// The byte order mark that a text in UTF-8 may begin with.
inline constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";

/// Goes one step of a path, `[7]` in a list or `key` in a map, and removes it from the path.
bool descend(Document::Value& value, std::string_view& path);

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/text/document.inl>
#endif

#endif  // CDI_TEXT_DOCUMENT_HPP
