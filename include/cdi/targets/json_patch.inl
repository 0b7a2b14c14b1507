// The bodies of <cdi/targets/json_patch.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TARGETS_JSON_PATCH_INL
#define CDI_TARGETS_JSON_PATCH_INL

#include <utility>

#include <cdi/base/order.hpp>
#include <cdi/targets/json_patch.hpp>
#include <cdi/text/json.inl>
#include <cdi/text/write.hpp>

namespace cdi::inline CDI_ABI::detail {

CDI_INLINE JsonPatch::JsonPatch(const Document& document) : document_{document}, layout_{document} {
  added_.unit_ = layout_.unit();
  added_.is_spaced_ = layout_.is_spaced();
  parts_.push_back({.old = document.root(), .lead = layout_.lead(document.root(), {})});
}

CDI_INLINE auto JsonPatch::part(Id outer, std::string_view key, bool is_list) -> Id {
  for (const Child& known : parts_[outer].members) {
    if (known.part != none && known.key == key) return known.part;
  }
  Part added{.old = member(outer, key), .is_list = is_list};
  const std::string& lead = parts_[outer].lead;
  added.lead = added.old ? layout_.lead(*added.old, lead) : layout_.lead(lead);
  if (added.old) added.items.reserve(added.old->size());
  if (added.old) {
    for (const auto item : added.old->items()) {
      const std::size_t place = added.items.size();
      added.items.push_back({.old = item, .place = place});
    }
  }
  Child& child = parts_[outer].members.emplace_back();
  child.key = key;
  child.part = parts_.size();
  parts_.push_back(std::move(added));
  return parts_.size() - 1;
}

CDI_INLINE bool JsonPatch::is_empty(Id object) const {
  const Part& part = parts_[object];
  return part.members.empty() && (!part.old || part.old->size() == 0);
}

CDI_INLINE void JsonPatch::add_text(Child& child, std::string_view lead, const JsonRecord& record) {
  SinkOf<JsonTextSink> sink{added_};
  added_.line_ = detail::has_lines(lead) ? lead : std::string_view{};
  child.begin = added_.written().size();
  detail::write_value(record.value, record.type, sink);
  child.size = added_.written().size() - child.begin;
}

CDI_INLINE void JsonPatch::set(Id object, std::string_view key, const JsonRecord& record) {
  Child& child = parts_[object].members.emplace_back();
  child.key = key;
  add_text(child, parts_[object].lead, record);
}

CDI_INLINE std::optional<Document::Value> JsonPatch::member(Id object, std::string_view key) const {
  std::optional<Document::Value> found;
  if (!parts_[object].old) return found;
  for (const auto [name, value] : parts_[object].old->members()) {
    if (!value.is_null() && name.text() == key) found = value;
  }
  return found;
}

CDI_INLINE auto JsonPatch::sorted_members(Id object) const -> std::vector<Member> {
  std::vector<Member> members;
  if (!parts_[object].old) return members;
  for (const auto [name, value] : parts_[object].old->members()) {
    if (!value.is_null()) members.push_back({name.text(), value});
  }
  const auto is_before = [&](std::size_t a, std::size_t b) {
    return members[a].key < members[b].key;
  };
  std::vector<Member> sorted;
  sorted.reserve(members.size());
  for (const std::size_t i : detail::order_of(members.size(), is_before)) {
    sorted.push_back(members[i]);
  }
  return sorted;
}

CDI_INLINE std::string_view JsonPatch::source_of(const Document::Value& value) const {
  return document_.source().substr(value.offset(), layout_.end_of(value) - value.offset());
}

CDI_INLINE void JsonPatch::append(Id list, const JsonRecord& record) {
  add_text(parts_[list].items.emplace_back(), parts_[list].lead, record);
}

CDI_INLINE void JsonPatch::assign(Id list, std::size_t i, const JsonRecord& record) {
  add_text(parts_[list].items[i], parts_[list].lead, record);
}

CDI_INLINE void JsonPatch::rearrange(Id list, std::span<const std::size_t> order) {
  auto& items = parts_[list].items;
  std::vector<Child> kept;
  kept.reserve(order.size());
  for (const std::size_t i : order) kept.push_back(items[i]);
  items = std::move(kept);
}

CDI_INLINE std::string JsonPatch::text() const {
  const auto size = document_.source().size();
  if (parts_[root].members.empty()) return std::string{document_.source()};
  std::string out;
  out.reserve(size + 2 * added_.written().size());
  append_source(out, 0, document_.root().offset());
  write(out, parts_[root], {});
  append_source(out, layout_.end_of(document_.root()), size);
  return out;
}

CDI_INLINE void JsonPatch::append_source(std::string& out, std::size_t begin,
                                         std::size_t end) const {
  out.append(document_.source().substr(begin, end - begin));
}

CDI_INLINE void JsonPatch::write(std::string& out, const Part& part, std::string_view outer) const {
  if (!part.old || part.old->size() == 0) {
    out.append(part.is_list ? "[" : "{").append(part.lead);
    write_children(out, part);
    out.append(outer).append(part.is_list ? "]" : "}");
    return;
  }
  if (part.is_list && part.items.empty()) {
    out.append("[]");
    return;
  }
  const auto [begin, end] = layout_.children_of(*part.old);
  append_source(out, part.old->offset(), begin);
  write_children(out, part);
  append_source(out, end, layout_.end_of(*part.old));
}

CDI_INLINE void JsonPatch::write_children(std::string& out, const Part& part) const {
  part.is_list ? write_items(out, part) : write_members(out, part);
}

CDI_INLINE void JsonPatch::write_items(std::string& out, const Part& part) const {
  const auto& items = part.items;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0 && items[i].follows(items[i - 1])) {
      append_source(out, layout_.end_of(*items[i - 1].old), items[i].old->offset());
    } else if (i > 0) {
      layout_.append_comma(out, part.lead);
    }
    if (!items[i].is_kept()) {
      write_child(out, items[i], part.lead);
      continue;
    }
    const std::size_t begin = items[i].old->offset();  // kept items are copied with their commas
    while (i + 1 < items.size() && items[i + 1].is_kept() && items[i + 1].follows(items[i])) ++i;
    append_source(out, begin, layout_.end_of(*items[i].old));
  }
}

CDI_INLINE auto JsonPatch::changed_members(const Part& part) const -> std::vector<Child> {
  std::vector<Document::Value> old;
  std::vector<std::string_view> keys;
  if (part.old) {
    for (const auto [key, value] : part.old->members()) {
      old.push_back(value);
      keys.push_back(key.text());
    }
  }
  for (const Child& member : part.members) keys.push_back(member.key);
  const auto first = detail::first_of_equals(keys);
  std::vector<std::size_t> place(keys.size(), none);  // position in `out`
  std::vector<Child> out;
  for (std::size_t i = 0; i < part.members.size(); ++i) {
    const auto same = first[old.size() + i];
    if (place[same] == none) {
      place[same] = out.size();
      out.push_back(part.members[i]);
      if (same < old.size()) out.back().old = old[same];
    } else {
      out[place[same]].begin = part.members[i].begin;
      out[place[same]].size = part.members[i].size;
    }
  }
  return out;
}

CDI_INLINE void JsonPatch::write_members(std::string& out, const Part& part) const {
  const auto members = changed_members(part);
  const auto is_before = [&](std::size_t a, std::size_t b) {
    if (!members[a].old || !members[b].old) return members[a].old.has_value();
    return members[a].old->offset() < members[b].old->offset();
  };
  const bool is_empty = !part.old || part.old->size() == 0;
  const auto [begin, end] = is_empty ? JsonLayout::Extent{} : layout_.children_of(*part.old);
  std::size_t at = begin;
  bool needs_comma = !is_empty;
  for (const std::size_t i : detail::order_of(members.size(), is_before)) {
    const Child& member = members[i];
    if (member.old) {
      append_source(out, at, member.old->offset());
      at = layout_.end_of(*member.old);
    } else {
      append_source(out, std::exchange(at, end), end);
      if (std::exchange(needs_comma, true)) layout_.append_comma(out, part.lead);
      detail::append_json_string(out, member.key);
      layout_.append_colon(out);
    }
    write_child(out, member, part.lead);
  }
  append_source(out, at, end);
}

CDI_INLINE void JsonPatch::write_child(std::string& out, const Child& child,
                                       std::string_view lead) const {
  if (child.size != 0) {
    out.append(added_.written().substr(child.begin, child.size));
  } else {
    write(out, parts_[child.part], lead);
  }
}

}  // namespace cdi::detail

#endif  // CDI_TARGETS_JSON_PATCH_INL
