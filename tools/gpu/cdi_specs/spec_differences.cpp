// The differences between two CDI specs, as text for people.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "spec_differences.hpp"

#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../base/one_line.hpp"

namespace prepare {

namespace {

/// A value as text: the items of a list; empty for objects and null.
std::string text_of(const detail::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null() || value.is_object()) return {};
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const auto& item : value) text.append(text.empty() ? "" : " ").append(text_of(item));
  return text;
}

/// A member as text; empty if it is missing.
std::string text_of(const detail::json& value, const char* member) {
  const auto found = value.find(member);
  return found == value.end() ? std::string{} : text_of(*found);
}

detail::json by_name(const detail::json& value);

/// The name and content of a list item; no name if the list is compared as one value.
std::pair<std::string, detail::json> named(std::string_view list, const detail::json& item) {
  if (list == "devices") {
    return {fmt::format("device \"{}\"", text_of(item, "name")), by_name(item)};
  }
  if (list == "deviceNodes") return {"node " + text_of(item, "path"), by_name(item)};
  if (list == "netDevices") {
    return {"network device " + text_of(item, "hostInterfaceName"), by_name(item)};
  }
  if (list == "mounts") return {"mount " + text_of(item, "containerPath"), by_name(item)};
  if (list == "hooks") {
    std::string name = "hook";
    for (const auto* const member : {"hookName", "path", "args"}) {
      if (item.contains(member)) name.append(" ").append(text_of(item[member]));
    }
    return {std::move(name), by_name(item)};
  }
  if (list == "additionalGids") return {"gid " + text_of(item), {}};
  if (list != "env") return {};
  const auto text = text_of(item);
  const auto equals = text.find('=');
  if (equals == std::string::npos) return {"env " + text, {}};
  return {"env " + text.substr(0, equals), text.substr(equals + 1)};
}

/// Adds the items of a list to `out`; later items with the same name get a number. Returns whether
/// the items have names.
bool add_items(detail::json& out, std::string_view list, const detail::json& items) {
  std::map<std::string, int> uses;
  for (const auto& item : items) {
    auto [name, content] = named(list, item);
    if (name.empty()) return false;
    if (const int use = ++uses[name]; use > 1) name.append(fmt::format(" ({})", use));
    out[name] = std::move(content);
  }
  return true;
}

/// A CDI object in which list items, and the parts of edits, are named members.
detail::json by_name(const detail::json& value) {
  detail::json out = detail::json::object();
  for (const auto& [member, content] : value.items()) {
    if (member == "containerEdits") {
      out.update(by_name(content));
    } else if (member == "annotations") {
      for (const auto& [key, text] : content.items()) out["annotation " + key] = text;
    } else if (member == "fileMode") {
      out[member] = fmt::format("0{:o}", content.get<std::uint32_t>());
    } else if (!content.is_array() || !add_items(out, member, content)) {
      out[member] = content;
    }
  }
  return out;
}

/// `outer: name`
std::string inner_place(const std::string& outer, const std::string& name) {
  return outer.empty() ? name : fmt::format("{}: {}", outer, name);
}

/// Records a difference between two values; null is a missing value.
Difference difference_of(const std::string& outer, const std::string& name,
                         const detail::json* before, const detail::json* after) {
  Difference change;
  if (before == nullptr) change.what = Difference::What::added;
  if (after == nullptr) change.what = Difference::What::removed;
  if (before != nullptr) change.before = text_of(*before);
  if (after != nullptr) change.after = text_of(*after);
  const bool is_member =
      name.find(' ') == std::string::npos;  // names of items have a space: `env NAME`
  change.where = is_member ? outer : inner_place(outer, name);
  if (is_member) change.member = name;
  return change;
}

}  // namespace

std::vector<Difference> changes(const cdi::Spec& before, const cdi::Spec& after) {
  std::vector<Difference> found;
  const auto json = [](const cdi::Spec& spec) {
    return by_name(cdi::to_json_value<nlohmann::json>(spec));
  };
  detail::compare(json(before), json(after), "", found);
  return found;
}

std::string to_text(const Difference& change) {
  using What = Difference::What;
  const auto shown = [](const std::string& text) {
    return text.empty() ? "\"\"" : text;
  };
  std::string value = change.what == What::added ? change.after : change.before;
  if (change.what == What::changed) {
    value = fmt::format("{} -> {}", shown(change.before), shown(change.after));
  }
  const auto place =
      change.member.empty() ? change.where : inner_place(change.where, change.member);
  const auto sign = change.what == What::added ? '+' : change.what == What::removed ? '-' : '~';
  const auto between = value.empty() ? "" : change.member.empty() ? ": " : " ";
  return one_line(fmt::format("{} {}{}{}", sign, place, between, value));
}

}  // namespace prepare

namespace prepare::detail {

void compare(const json& before, const json& after, const std::string& where,
             std::vector<Difference>& out) {
  std::map<std::string, std::pair<const json*, const json*>> sides;
  for (const auto& [name, value] : before.items()) sides[name].first = &value;
  for (const auto& [name, value] : after.items()) sides[name].second = &value;
  for (const auto& [name, side] : sides) {
    const auto [old, now] = side;
    if (old != nullptr && now != nullptr && old->is_object() && now->is_object()) {
      compare(*old, *now, inner_place(where, name), out);
    } else if (old == nullptr || now == nullptr || *old != *now) {
      out.push_back(difference_of(where, name, old, now));
    }
  }
}

}  // namespace prepare::detail
