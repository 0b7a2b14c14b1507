// `DocumentBuilder`: builds a `Document` from parser events, within limits.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_DOCUMENT_BUILDER_HPP
#define CDI_TEXT_DOCUMENT_BUILDER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/order.hpp>
#include <cdi/base/result.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/line_index.hpp>
#include <cdi/text/merge_keys.hpp>
#include <cdi/text/repeated_keys.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Builds a document, value by value in document order, for the JSON and YAML parsers.
///
/// Places are offsets into the source. Each call returns false when the value exceeds a limit
/// (`Errc::limit`) or the text is rejected. The parser must then stop, and `finish` returns the
/// reason.
class DocumentBuilder {
 public:
  /// Takes over a text without its byte order mark. `file` is the name for messages; `merge_keys`
  /// enables the key `<<`, as in YAML. A text longer than `Limits::bytes` is rejected.
  DocumentBuilder(std::string source, std::string_view file, const Limits& limits, bool merge_keys)
      : limits_{limits}, merge_keys_{merge_keys} {
    document_.file_ = file;
    auto& text = document_.source_;
    text = std::move(source);
    if (text.size() > max_bytes(limits)) {
      reject_whole(Errc::limit, "more than " + std::to_string(max_bytes(limits)) + " bytes");
      return;
    }
    constexpr std::size_t longest_in_string = 32;  // longer texts are on the heap
    text.reserve(longest_in_string);
    constexpr std::uint64_t unlimited = std::uint64_t{1} << 62;
    max_memory_ = std::uint64_t{6} * text.size() + small +
                  detail::min<std::uint64_t>(limits.expansion, unlimited);
    has_mark_ = text.starts_with(detail::utf8_mark);
    if (has_mark_) text.erase(0, detail::utf8_mark.size());
    document_.lines_ = detail::LineIndex{text};
    note_memory(0);
  }

  /// Copies a text for the constructor. A text over the limit is cut to the limit plus one byte.
  static std::string copy_of(std::string_view text, const Limits& limits) {
    return std::string{text.substr(0, max_bytes(limits) + 1)};
  }

  /// The text for the parser, followed by a NUL. Lives as long as the builder.
  std::string_view source() const { return document_.source_; }

  /// Adds a null.
  bool null(std::size_t at) { return add(node(Kind::null, at, 0, 0)); }

  /// Adds a scalar, or a key before its value. The text begins at `begin` in the source. `quoted`
  /// means that the scalar can only be text.
  bool scalar(std::size_t at, std::size_t begin, std::size_t size, bool quoted) {
    return add(node(quoted ? Kind::quoted : Kind::plain, at, begin, size));
  }

  /// Adds a scalar whose text differs from the source; the text is copied.
  bool decoded_scalar(std::size_t at, std::string_view text, bool quoted) {
    auto& all = document_.decoded_;
    const auto begin = document_.source_.size() + all.size();
    if (text.size() > Document::max_bytes || begin > Document::max_bytes) {
      return reject(Errc::limit, "the text is too large", at);
    }
    if (all.capacity() - all.size() < text.size()) {
      // YAML's escapes `\L` and `\P` grow the most, from two bytes to three.
      const std::size_t max = source().size() + source().size() / 2;
      all.reserve(detail::max(text.size() + all.size(), detail::min(2 * all.size(), max)));
    }
    all.insert(all.end(), text.begin(), text.end());
    return add(node(quoted ? Kind::quoted : Kind::plain, at, begin, text.size()));
  }

  /// Begins a list. Values added before the matching `end_list` become its items.
  bool begin_list(std::size_t at) { return open(Kind::list, at); }
  /// Begins a map. Values added before the matching `end_map` alternate between key and value.
  bool begin_map(std::size_t at) { return open(Kind::map, at); }
  /// Ends the innermost list; a list must be open.
  bool end_list() { return close(); }
  /// Ends the innermost map, which must be complete. Rejects duplicate keys (`Errc::schema`) and
  /// keys that are not scalars (`Errc::syntax`).
  bool end_map() { return check_keys(open_.back()) && close(); }

  /// The index of the last added value, for `copy`; complete only after its `end_` call.
  std::uint32_t last() const { return last_; }

  /// Adds a copy, for a YAML alias, of the value at `from`, an index from `last`. Fails with
  /// `Errc::syntax` if that value has not ended, or `Errc::limit` if aliases add more than
  /// `Limits::expansion`. Costs one pass over the copy.
  bool copy(std::uint32_t from, std::size_t at) {
    for (const Level& level : open_) {
      if (level.index == from) {
        return reject(Errc::syntax, "an alias refers to an enclosing value", at);
      }
    }
    const std::uint32_t count = nodes().after(from) - from;
    const auto to = static_cast<std::uint32_t>(nodes().size());
    if (count > limits_.values - to) return too_many(at);
    if (!count_expansion(from, count, at)) return false;
    if (std::uint64_t{to} + count > nodes_that_fit()) return too_much(at);
    ++open_.back().children;
    last_ = to;
    std::vector<std::uint32_t> inner;  // ends of the lists and maps around the copied node
    for (std::uint32_t i = 0; i < count; ++i) {
      Node copied = nodes()[from + i];
      const std::uint32_t end = nodes().after(from + i) - from + to;
      while (!inner.empty() && inner.back() <= to + i) inner.pop_back();
      if (Document::has_members(copied)) {
        copied.link = end;
        inner.push_back(end);
      }
      if (depth() + inner.size() > limits_.depth) return too_deep(at);
      nodes().push_back(copied);
    }
    return true;
  }

  /// Counts memory used by the parser itself. If the total is too much, the next value is rejected.
  void note_memory(std::size_t bytes) {
    other_memory_ += bytes;
    max_nodes_ = detail::min<std::uint64_t>(limits_.values, nodes_that_fit());
  }

  /// Whether the document is null. Call this only after the last value.
  bool is_null() const { return Document::kind_of(nodes()[0]) == Kind::null; }

  /// Whether a list or map is still open.
  bool is_open() const { return depth() != 0; }
  /// Whether the innermost open value is a map.
  bool is_in_map() const { return open_.back().is_map; }

  /// Where the innermost open list or map begins, if there is one.
  std::optional<std::size_t> open_value() const {
    if (!is_open()) return std::nullopt;
    return nodes()[open_.back().index].begin;
  }

  /// Sets where the text continues after the document: `Document::rest`. `marker` is true if
  /// `---` or `...` precedes that text.
  void note_rest(std::size_t at, bool marker) {
    document_.rest_ = static_cast<std::uint32_t>(at);
    document_.has_marker_ = marker;
  }

  /// Records a place for `Document::unportable`, which the Go reference rejects or misreads. Only
  /// the first place in the text is kept, of those that every release rejects if there are any.
  void note_unportable(std::size_t at, std::string_view reason, std::string_view advice,
                       Errc code = Errc::syntax) {
    document_.note_unportable(at, reason, advice, code);
  }
  /// Whether a later unportable place would be recorded: the first, or one that is worse.
  bool notes(Errc code) const {
    return document_.unportable_.empty() ||
           (code == Errc::syntax && document_.unportable_code_ != Errc::syntax);
  }

  /// Rejects the text for a fault at a place; returns false. The message must not be empty.
  bool reject(Errc code, std::string message, std::string advice, std::size_t at) {
    error_ = {.code = code,
              .message = std::move(message),
              .advice = std::move(advice),
              .position = document_.position(detail::min(at, document_.source_.size()))};
    return false;
  }
  /// Rejects the text without advice; returns false.
  bool reject(Errc code, std::string message, std::size_t at) {
    return reject(code, std::move(message), {}, at);
  }
  /// Rejects the text as a whole; returns false.
  bool reject_whole(Errc code, std::string message) {
    error_ = {.code = code, .message = std::move(message), .position = {.file = document_.file_}};
    return false;
  }
  /// The line number of a place, for messages.
  std::uint32_t line(std::size_t at) const { return document_.position(at).line; }
  /// Describes a place as in `line 2, column 5`, for messages.
  std::string describe(std::size_t at) const {
    const auto place = document_.position(at);
    return "line " + std::to_string(place.line) + ", column " + std::to_string(place.column);
  }
  /// Whether the text was rejected.
  bool failed() const { return !error_.message.empty(); }

  /// The document, or the reason for its absence. Call this once, after the last value, when all
  /// lists and maps have ended. Replaces merge keys: fails with `Errc::syntax` if the value of `<<`
  /// is neither a map nor a list of maps, or `Errc::limit` if merging needs too much memory.
  Result<Document> finish() && {
    std::string unused;
    return std::move(*this).finish(unused);
  }
  /// Finishes as above; a rejected text is returned unchanged in `rejected`.
  Result<Document> finish(std::string& rejected) && {
    const bool good = !failed() && (!has_merge_keys_ || merge_all());
    if (good) return std::move(document_);
    rejected = std::move(document_.source_);
    if (has_mark_) rejected.insert(0, detail::utf8_mark);
    return std::move(error_);
  }

 private:
  using Kind = Document::Kind;
  using Node = Document::Node;
  using Nodes = Document::Nodes;

  static constexpr std::size_t small = std::size_t{64} << 10;  // bytes allowed for every text

  /// An open list or map, or the whole document.
  struct Level {
    std::uint32_t index = static_cast<std::uint32_t>(-1);
    std::uint32_t children = 0;  // two for each member of a map
    bool is_map = false;
  };

  static std::size_t max_bytes(const Limits& limits) {
    return detail::min<std::size_t>(limits.bytes, Document::max_bytes);
  }

  Nodes& nodes() { return document_.nodes_; }
  const Nodes& nodes() const { return document_.nodes_; }
  std::string_view text(const Node& node) const { return document_.text(node); }
  static bool is_scalar(const Node& node) {
    const Kind kind = Document::kind_of(node);
    return kind == Kind::plain || kind == Kind::quoted;
  }

  std::size_t depth() const { return open_.size() - 1; }

  /// The maximum number of nodes that the memory limit allows.
  std::uint64_t nodes_that_fit() const {
    return other_memory_ < max_memory_ ? (max_memory_ - other_memory_) / Document::bytes_per_value
                                       : 0;
  }

  /// Creates a null or scalar node.
  static Node node(Kind kind, std::size_t at, std::size_t begin, std::size_t size) {
    return {.begin = static_cast<std::uint32_t>(begin),
            .link = static_cast<std::uint32_t>(at),
            .size = Document::pack(kind, static_cast<std::uint32_t>(size))};
  }

  bool too_many(std::size_t at) {
    return reject(Errc::limit, "more than " + std::to_string(limits_.values) + " values", at);
  }

  bool too_much(std::size_t at) {
    return reject(Errc::limit,
                  "the values take more than " + std::to_string(max_memory_) + " bytes", at);
  }

  bool too_deep(std::size_t at) {
    return reject(Errc::limit, "more than " + std::to_string(limits_.depth) + " levels deep", at);
  }

  /// Counts the bytes that an alias adds, since reading an alias costs as much as its full text.
  bool count_expansion(std::uint32_t from, std::uint32_t count, std::size_t at) {
    constexpr std::size_t per_value = 32;
    const auto max = detail::max(limits_.expansion, 10 * source().size());
    for (std::uint32_t i = from; i < from + count; ++i) {
      const Node& copied = nodes()[i];
      expansion_ += per_value + (is_scalar(copied) ? Document::size_of(copied) : 0);
    }
    if (expansion_ <= max) return true;
    return reject(Errc::limit, "aliases add more than " + std::to_string(max) + " bytes", at);
  }

  /// Rejects the first value that exceeds the limits or the available memory.
  [[gnu::noinline]] bool one_more(std::size_t at) {
    return nodes().size() >= limits_.values ? too_many(at) : too_much(at);
  }

  [[gnu::always_inline]] bool add(const Node& added) {
    const std::size_t index = nodes().size();
    if (index >= max_nodes_) return one_more(Document::place_of(added));
    ++open_.back().children;
    last_ = static_cast<std::uint32_t>(index);
    nodes().push_back(added);
    return true;
  }

  bool open(Kind kind, std::size_t at) {
    if (depth() >= limits_.depth) return too_deep(at);
    if (!add({.begin = static_cast<std::uint32_t>(at), .size = Document::pack(kind, 0)}))
      return false;
    open_.push_back({.index = last_, .is_map = kind == Kind::map});
    return true;
  }

  bool close() {
    const Level level = open_.back();
    open_.pop_back();
    last_ = level.index;
    Node& ended = nodes()[last_];
    ended.link = static_cast<std::uint32_t>(nodes().size());
    ended.size = level.is_map ? Document::pack(Kind::map, level.children / 2)
                              : Document::pack(Kind::list, level.children);
    return true;
  }

  /// Rejects keys that are not text, and duplicate keys.
  bool check_keys(const Level& map) {
    std::uint64_t seen = 0;  // a bit for each key
    bool may_repeat = false;
    for (std::uint32_t i = map.index + 1; i < nodes().size(); i = nodes().after(i + 1)) {
      const Node& key = nodes()[i];
      if (!is_scalar(key))
        return reject(Errc::syntax, "a key must be text", Document::place_of(key));
      if (is_merge_key(key)) has_merge_keys_ = true;
      const std::uint64_t bit = bit_of(text(key));
      may_repeat = may_repeat || (seen & bit) != 0;
      seen |= bit;
    }
    return !may_repeat || check_repeated(map);
  }

  bool is_merge_key(const Node& key) const {
    return merge_keys_ && detail::MergeKeys::is_merge_key(document_, key);
  }

  /// Maps a key to one of 64 bits. The factors are chosen so that hardly any two keys in a CDI or
  /// OCI object share a bit.
  static std::uint64_t bit_of(std::string_view key) {
    if (key.empty()) return 1;
    const auto middle = static_cast<unsigned char>(key[key.size() / 2]);
    const auto last = static_cast<unsigned char>(key.back());
    return std::uint64_t{1} << ((key.size() + middle * 3U + last * 9U) % 64);
  }

  bool check_repeated(const Level& map) {
    keys_.clear();
    keys_.reserve(map.children / 2);
    for (std::uint32_t i = map.index + 1; i < nodes().size(); i = nodes().after(i + 1)) {
      keys_.push_back(i);
    }
    const auto text_of = [this](std::uint32_t key) {
      return text(nodes()[key]);
    };
    const std::uint32_t* const second = detail::find_repeated(keys_, text_of);
    return second == nullptr || key_twice(nodes()[*second]);
  }

  bool key_twice(const Node& second) {
    std::size_t first = 0;
    while (text(nodes()[keys_[first]]) != text(second)) ++first;
    return reject(Errc::schema,
                  "key " + cdi::quoted(text(second)) + " is a duplicate, first used on line " +
                      std::to_string(line(Document::place_of(nodes()[keys_[first]]))),
                  "remove one", Document::place_of(second));
  }

  /// Replaces merge keys if the memory limit allows.
  bool merge_all() {
    note_memory(detail::MergeKeys::bytes_for(nodes().size()));
    if (nodes().size() > max_nodes_) return too_much(0);
    const auto bad = detail::MergeKeys{document_}.merge();
    return !bad || reject(Errc::syntax, "<< must refer to a map or a list of maps", *bad);
  }

  Limits limits_;
  bool merge_keys_;
  bool has_merge_keys_ = false;
  bool has_mark_ = false;  // whether the text began with a byte order mark
  Document document_{};
  std::vector<Level> open_{Level{}};   // the document first, the innermost level last
  std::vector<std::uint32_t> keys_{};  // key indices in the map being closed
  std::size_t expansion_ = 0;          // bytes added by aliases
  std::uint64_t other_memory_ = 0;     // bytes used by the parser, apart from values
  std::uint64_t max_memory_ = 0;
  std::uint64_t max_nodes_ = 0;  // allowed by the limits and the memory
  std::uint32_t last_ = 0;
  Error error_{};
};

}  // namespace cdi

#endif  // CDI_TEXT_DOCUMENT_BUILDER_HPP
