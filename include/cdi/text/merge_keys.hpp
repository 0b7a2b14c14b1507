// YAML merge keys: `<<` copies the members of other maps.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_MERGE_KEYS_HPP
#define CDI_TEXT_MERGE_KEYS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <cdi/text/document.hpp>
#include <cdi/text/repeated_keys.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Replaces merge keys with the members that they copy. The value of `<<` is a map or a list of
/// maps. The map's own members take precedence, then members of earlier maps in the list.
///
/// Merging must wait until the whole document is read, because aliases refer to values by index.
class MergeKeys {
 public:
  explicit MergeKeys(Document& document) : document_{document} {}

  /// Whether a key is an unquoted `<<`.
  static bool is_merge_key(const Document& document, const Document::Node& key) {
    return Document::kind_of(key) == Kind::plain && document.text(key) == "<<";
  }

  /// The maximum bytes that `merge` uses for a number of values: for a second copy of the values,
  /// and for sorting keys.
  static constexpr std::size_t bytes_for(std::size_t values) {
    return values * (Document::bytes_per_value + Document::bytes_per_value / 2);
  }

  /// Merges all maps in one pass over the values. If the value of `<<` cannot be merged, returns
  /// the place of that value and leaves the document unchanged.
  std::optional<std::size_t> merge() {
    if (!append(0)) return bad_;
    document_.nodes_ = std::move(merged_);
    return std::nullopt;
  }

 private:
  using Kind = Document::Kind;
  using Node = Document::Node;
  using Keys = std::vector<std::uint32_t>;  // indices of keys

  const Node& node(std::uint32_t index) const { return document_.nodes_[index]; }
  std::uint32_t after(std::uint32_t index) const { return document_.nodes_.after(index); }
  bool is_merge_key(std::uint32_t key) const { return is_merge_key(document_, node(key)); }

  /// Rejects a value of `<<` that cannot be merged; returns false.
  bool reject(const Node& named) {
    bad_ = Document::place_of(named);
    return false;
  }

  /// Appends a copy of a value, with merge keys replaced. Recursion is bounded by `Limits::depth`.
  bool append(std::uint32_t from) {
    const auto at = merged_.size();
    const Node value = node(from);
    merged_.push_back(value);
    if (Document::kind_of(value) == Kind::list) {
      for (auto item = from + 1; item < after(from); item = after(item)) {
        if (!append(item)) return false;
      }
    } else if (Document::kind_of(value) == Kind::map) {
      if (!append_members(from, at)) return false;
    }
    if (Document::has_members(value)) merged_[at].link = static_cast<std::uint32_t>(merged_.size());
    return true;
  }

  /// Appends the members of a map that was appended at `at`.
  bool append_members(std::uint32_t map, std::size_t at) {
    Keys keys;
    bool merges = false;
    if (!collect_keys(map, keys, merges)) return false;
    if (merges) keep_first(keys, Document::place_of(node(map)));
    for (const auto key : keys) {
      append(key);  // a scalar, which cannot be rejected
      if (!append(key + 1)) return false;
    }
    merged_[at].size = Document::pack(Kind::map, static_cast<std::uint32_t>(keys.size()));
    return true;
  }

  /// Keeps only the first of each group of equal keys in the map at `place`.
  void keep_first(Keys& keys, std::size_t place) {
    const auto all = keys.size();
    keep_first_of_repeated(keys, [this](std::uint32_t key) { return document_.text(node(key)); });
    if (keys.size() == all) return;
    document_.note_unportable(place,
                              "<< adds a key that already exists, which engines with the Go "
                              "library 1.1.0 or older reject",
                              "write the members without <<", Errc::schema);
  }

  /// Collects the keys of a map, followed by the keys of the maps that it merges.
  bool collect_keys(std::uint32_t map, Keys& keys, bool& merges) {
    const auto end = after(map);
    for (auto key = map + 1; key < end; key = after(key + 1)) {
      if (!is_merge_key(key)) keys.push_back(key);
    }
    for (auto key = map + 1; key < end; key = after(key + 1)) {
      if (!is_merge_key(key)) continue;
      merges = true;
      if (!collect_merged(key + 1, keys)) return false;
    }
    return true;
  }

  /// Collects the keys of the value of `<<`: a map, or a list of maps.
  bool collect_merged(std::uint32_t named, Keys& keys) {
    bool merges = false;
    if (Document::kind_of(node(named)) == Kind::map) return collect_keys(named, keys, merges);
    if (Document::kind_of(node(named)) != Kind::list) return reject(node(named));
    for (auto item = named + 1; item < after(named); item = after(item)) {
      if (Document::kind_of(node(item)) != Kind::map) return reject(node(item));
      if (!collect_keys(item, keys, merges)) return false;
    }
    return true;
  }

  Document& document_;
  Document::Nodes merged_{};
  std::size_t bad_ = 0;
};

}  // namespace cdi::detail

#endif  // CDI_TEXT_MERGE_KEYS_HPP
