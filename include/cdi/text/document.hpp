// `Document`: parsed text as a flat tree of values with positions.
// SPDX-License-Identifier: Apache-2.0 OR MIT

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
#include <cdi/text/limits.hpp>
#include <cdi/text/line_index.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {
class MergeKeys;
}  // namespace detail

/// A parsed JSON or YAML text: a flat, immutable tree with the line and column of every value.
///
/// The document stores the text, and 12 bytes per value. Scalars keep their original text; the
/// reader of a value decides whether `0644` is a number or a name. Documents are movable; views
/// from `text()` live as long as the document, even after a move. Any number of threads may read a
/// document. `parse_json`, `parse_yaml` and `DocumentBuilder` create documents.
class Document {
 public:
  /// The kinds of values, as they were written.
  enum class Kind : std::uint8_t {
    null,    ///< `null`, `~`, or a missing value
    plain,   ///< a scalar without quotes: a number, `true`, or any text in YAML
    quoted,  ///< a scalar that can only be text
    list,    ///< items in order
    map,     ///< keys, which are scalars, and their values, in order
  };

  class Value;
  struct Member;
  template <class Item>
  class Range;

  /// Takes the tree of another document, which then has no root and may only be assigned to.
  Document(Document&&) noexcept = default;
  /// Replaces the tree with another document's tree. Views of the old tree become invalid.
  Document& operator=(Document&&) noexcept = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  ~Document() = default;

  /// The outermost value.
  Value root() const;

  /// The text's name for messages, often a path.
  const std::string& file() const { return file_; }

  /// The text, without its byte order mark. Valid as long as the document, even after a move.
  std::string_view source() const { return {source_.data(), source_.size()}; }

  /// The position after this document where another YAML document or other text begins, if any.
  /// That text is not read. Blank lines and comments are ignored.
  std::optional<Position> rest() const {
    return rest_ == 0 ? std::nullopt : std::optional{position(rest_)};
  }

  /// Whether `---` or `...` precedes `rest()`. If there is no marker, a bracket was probably
  /// closed too early, or a line has too little indentation.
  bool has_marker_before_rest() const { return has_marker_; }

  /// A place where the Go reference, and so most engines, rejects or misreads the text.
  struct Unportable {
    Position position;   ///< where the problematic text begins
    std::string reason;  ///< the problem, and how the text is read
    std::string advice;  ///< what to write instead
    /// `Errc::syntax`: every release of the Go library rejects the text. `Errc::schema` or
    /// `Errc::invalid`: only 1.1.0 and older reject or misread it. `Errc::unsupported`: some
    /// releases misread it, or reject it because of the text around it.
    Errc code = Errc::syntax;
  };

  /// The first place that every release rejects; without one, the first unportable place that the
  /// parsers found.
  std::optional<Unportable> unportable() const;

  /// Whether the document may contain a NUL character, which only an escape can produce.
  bool may_have_nul() const;

  /// The position of the member with a path such as `devices[0].name`, or of the innermost
  /// enclosing value if the member is missing. The case of keys is ignored. Costs one step per
  /// sibling of each value on the path.
  Position locate(std::string_view path) const;

  /// Returns the places where the items of a list begin. Costs one pass over the list's text.
  std::vector<LineColumn> positions_of(const Value& list) const;

  /// The maximum size of a model in bytes; with the document, ten times the text's size plus 4 MiB.
  std::size_t max_model_bytes() const;

  /// Returns a copy without the list items for which `left_out` is true. Lines and columns of all
  /// other values stay the same. Costs a copy of the document.
  Document without(const Value& list, const std::vector<char>& left_out) const;

 private:
  friend class DocumentBuilder;
  friend class detail::MergeKeys;

  struct Node {
    std::uint32_t begin = 0;  // start of a list or map in the source; start of a scalar's text in
                              // the source or, if past the source's end, in the decoded text
    std::uint32_t link = 0;   // index just past a list or map and its members; start of any
                              // other value in the source
    std::uint32_t size = 0;   // length of the text or number of children, and the kind
  };

  /// The values, in blocks that never move: growth copies nothing.
  class Nodes {
   public:
    std::size_t size() const { return size_; }
    [[gnu::always_inline]] Node& operator[](std::size_t i) {
      return blocks_[i / per_block][i % per_block];
    }
    [[gnu::always_inline]] const Node& operator[](std::size_t i) const {
      return blocks_[i / per_block][i % per_block];
    }
    /// The index just past a value and its members. For a scalar, the processor need not wait
    /// until the node is loaded.
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
    Node* free_ = nullptr;  // the next free node, in the last block
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

  static constexpr std::size_t bytes_per_value = 16;  // counted per value; more than a node's size
  static constexpr unsigned kind_bits = 3;
  static constexpr std::uint32_t max_bytes = 0xffff'ffffU >> kind_bits;
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
  /// The offset in the source where a value begins.
  static std::uint32_t place_of(const Node& node) {
    return has_members(node) ? node.begin : node.link;
  }

  /// Implements `DocumentBuilder::note_unportable`.
  void note_unportable(std::size_t at, std::string_view reason, std::string_view advice,
                       Errc code) {
    const bool as_bad = (unportable_code_ == Errc::syntax) == (code == Errc::syntax);
    const bool keeps = as_bad ? unportable_at_ <= at : unportable_code_ == Errc::syntax;
    if (!unportable_.empty() && keeps) return;
    unportable_at_ = static_cast<std::uint32_t>(at);
    unportable_code_ = code;
    unportable_ = reason;
    portable_ = advice;
  }

  Nodes nodes_{};         // in document order; a map is stored as key, value, key, value, ...
  std::string source_{};  // on the heap, even when short: a move does not change its address
  std::vector<char> decoded_{};  // texts of scalars with escapes or folded lines
  detail::LineIndex lines_{};    // for the source
  std::string file_{};
  std::uint32_t rest_ = 0;  // offset where the text continues after the document, or 0
  std::uint32_t unportable_at_ = 0;
  bool has_marker_ = false;  // whether a marker precedes `rest_`
  Errc unportable_code_ = Errc::syntax;
  std::string unportable_{};  // why some readers reject the text; empty if none do
  std::string portable_{};    // what to write instead
};

/// A value in a document. Cheap to copy; valid until the document is moved or destroyed.
class Document::Value {
 public:
  /// The kind, as the value was written.
  [[gnu::always_inline]] Kind kind() const { return kind_of(node()); }
  /// Whether the value is null, either explicitly or because it is missing.
  bool is_null() const { return kind() == Kind::null; }
  /// Whether the value has text: `Kind::plain` or `Kind::quoted`.
  [[gnu::always_inline]] bool is_scalar() const {
    return kind() == Kind::plain || kind() == Kind::quoted;
  }

  /// The text of a scalar, with escapes decoded; empty for other kinds.
  [[gnu::always_inline]] std::string_view text() const {
    return is_scalar() ? document_->text(node()) : std::string_view{};
  }

  /// The number of list items or map members; 0 for other kinds.
  std::size_t size() const { return is_scalar() ? 0 : size_of(node()); }

  /// The number of values inside this value, including keys, plus one for the value itself.
  std::size_t count_all() const { return after().index_ - index_; }

  /// The document that contains the value.
  const Document& document() const { return *document_; }

  /// The items of a list; an empty range for other kinds.
  Range<Value> items() const;
  /// The members of a map, in document order; an empty range for other kinds.
  Range<Member> members() const;

  /// The offset in `Document::source` where the value begins.
  std::size_t offset() const { return place_of(node()); }

  /// The position where the value begins. Copies the text's name, and reads at most 1024 bytes of
  /// the text.
  Position position() const { return document_->position(place_of(node())); }

  /// Whether both refer to the same value in the same document.
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

/// A map key and its value. Valid until the document is moved or destroyed.
struct Document::Member {
  Value key;    ///< a scalar
  Value value;  ///< a value of any kind
};

/// The items or members of a value, for range-based `for`. Valid until the document is moved or
/// destroyed.
template <class Item>
class Document::Range {
 public:
  /// Steps through items or members. Valid until the document is moved or destroyed.
  class Iterator {
   public:
    /// Starts at a list item, at a map key, or past the end.
    explicit Iterator(Value at) : at_{at} {}

    /// Returns the item or member by value. Not allowed at the end.
    [[gnu::always_inline]] Item operator*() const {
      if constexpr (std::is_same_v<Item, Member>) {
        return Member{at_, at_.next()};  // a key is a scalar
      } else {
        return at_;
      }
    }
    /// Moves to the next item or member. Not allowed at the end.
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
  /// The end, past the last item or member.
  Iterator end() const { return Iterator{last_}; }

 private:
  friend class Value;
  Range(Value first, Value last) : first_{first}, last_{last} {}

  Value first_;
  Value last_;
};

namespace detail {

/// The byte order mark with which a UTF-8 text may begin.
inline constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";

/// Follows one step of a path, `[7]` in a list or `key` in a map, and removes it from the path.
bool descend(Document::Value& value, std::string_view& path);

}  // namespace detail

}  // namespace cdi

#if CDI_BODIES
#include <cdi/text/document.inl>
#endif

#endif  // CDI_TEXT_DOCUMENT_HPP
