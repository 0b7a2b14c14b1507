// The bodies of <cdi/text/document.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_DOCUMENT_INL
#define CDI_TEXT_DOCUMENT_INL

#include <cassert>

#include <cdi/text/document.hpp>
#include <cdi/text/member_case.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE auto Document::unportable() const -> std::optional<Unportable> {
  if (unportable_.empty()) return std::nullopt;
  return Unportable{position(unportable_at_), unportable_, portable_, unportable_code_};
}

CDI_INLINE bool Document::may_have_nul() const {
  return std::string_view{decoded_.data(), decoded_.size()}.find('\0') != std::string_view::npos;
}

CDI_INLINE std::size_t Document::max_model_bytes() const {
  constexpr std::size_t max_per_byte = 10;
  constexpr std::size_t always = std::size_t{4} << 20;
  const std::size_t max = max_per_byte * source_.size() + always;
  const std::size_t taken = source_.size() + decoded_.size() + nodes_.size() * sizeof(Node);
  return taken < max ? max - taken : 0;
}

CDI_INLINE void Document::Nodes::add_block() {
  blocks_.emplace_back(per_block);
  free_ = blocks_.back().data();
}

CDI_INLINE Document::Value Document::root() const {
  assert(nodes_.size() != 0);
  return {*this, 0};
}

CDI_INLINE auto Document::Value::items() const -> Range<Value> {
  const bool mine = kind() == Kind::list;
  return {mine ? next() : after(), after()};
}

CDI_INLINE auto Document::Value::members() const -> Range<Member> {
  const bool mine = kind() == Kind::map;
  return {mine ? next() : after(), after()};
}

namespace detail {

CDI_INLINE bool descend(Document::Value& value, std::string_view& path) {
  if (path.starts_with('.')) path.remove_prefix(1);
  if (value.kind() == Document::Kind::list) {
    std::uint32_t index = 0;
    std::string_view rest = path;
    if (!rest.starts_with('[')) return false;
    rest.remove_prefix(1);
    if (!take_number(rest, index) || !rest.starts_with(']') || index >= value.size()) return false;
    for (const auto item : value.items()) {
      if (index-- != 0) continue;
      path = rest.substr(1);
      value = item;
      return true;
    }
  }
  // Keys, such as annotation names, may contain dots, so the longest matching key wins. Among keys
  // that differ only in case, the exact match wins.
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

CDI_INLINE Position Document::locate(std::string_view path) const {
  Value at = root();
  while (!path.empty() && detail::descend(at, path)) continue;
  return at.position();
}

CDI_INLINE Position Document::position(std::size_t at) const {
  const auto [line, column] = lines_.find(source_, at);
  return {file_, line, column};
}

CDI_INLINE std::vector<LineColumn> Document::positions_of(const Value& list) const {
  std::vector<std::uint32_t> bytes;
  bytes.reserve(list.size());
  for (const auto item : list.items()) bytes.push_back(place_of(item.node()));
  return lines_.find_all(source_, bytes);
}

CDI_INLINE Document Document::without(const Value& list, const std::vector<char>& left_out) const {
  std::vector<std::uint32_t> moved_to(nodes_.size() + 1);  // the new index of each value
  Document out;
  std::size_t place = 0;
  std::uint32_t dropped = 0;
  std::uint32_t item = list.index_ + 1;  // the next item of the list
  for (std::uint32_t i = 0; i < nodes_.size();) {
    moved_to[i] = static_cast<std::uint32_t>(out.nodes_.size());
    const bool is_item = i == item && i < list.after().index_;
    if (is_item) item = nodes_.after(i);
    if (is_item && place < left_out.size() && left_out[place++]) {
      for (const auto to = moved_to[i]; i < item; ++i) moved_to[i] = to;
      ++dropped;
    } else {
      out.nodes_.push_back(nodes_[i++]);
    }
  }
  moved_to.back() = static_cast<std::uint32_t>(out.nodes_.size());
  for (std::size_t i = 0; i < out.nodes_.size(); ++i) {
    Node& node = out.nodes_[i];
    if (has_members(node)) node.link = moved_to[node.link];
  }
  Node& cut = out.nodes_[moved_to[list.index_]];
  cut.size = pack(kind_of(cut), size_of(cut) - dropped);
  out.source_.reserve(source_.capacity());
  out.source_ = source_;
  out.decoded_ = decoded_;
  out.lines_ = lines_;
  out.file_ = file_;
  out.rest_ = rest_;
  out.has_marker_ = has_marker_;
  out.unportable_at_ = unportable_at_;
  out.unportable_ = unportable_;
  out.portable_ = portable_;
  return out;
}

}  // namespace cdi

#endif  // CDI_TEXT_DOCUMENT_INL
