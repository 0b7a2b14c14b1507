// `find_overlaps`: the edits of a plan that affect the same thing, each pair with a code.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "overlaps.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/apply/apply.hpp>
#include <cdi/base/order.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/text/json.hpp>

namespace tools {

using namespace cdi;
using cdi::detail::env_name;

std::string to_string(const Overlap& overlap) {
  const auto& row = row_of(overlap.kind);
  std::string text{row.code};
  if (!overlap.key.empty()) text.append(" ").append(cdi::escaped(overlap.key));
  text.append(": ").append(to_string(overlap.first)).append(", ");
  text.append(to_string(overlap.second)).append(": ").append(row.meaning);
  if (overlap.equal) text.append("; they are equal");
  return text;
}

namespace {

/// An edit that may overlap with other edits that share the key.
struct Overlapping {
  std::string key{};
  const Origin* origin = nullptr;
  std::string value{};  // equal edits have equal values
};

/// Whether equal edits overlap.
enum class Equal : bool { overlap, none };

/// Adds the overlaps of edits. `value_of` is only called for edits that share a key.
template <class ValueOf>
void add_overlaps(OverlapKind kind, Equal equal, const std::vector<Overlapping>& all,
                  const ValueOf& value_of, std::vector<Overlap>& to) {
  const auto order = cdi::detail::order_of(
      all.size(), [&](std::size_t a, std::size_t b) { return all[a].key < all[b].key; });
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto& first = all[order[i - 1]];
    const auto& second = all[order[i]];
    if (first.key != second.key || *first.origin == *second.origin) continue;
    const bool same = value_of(order[i - 1]) == value_of(order[i]);
    if (same && equal == Equal::none) continue;
    to.push_back({kind, second.key, *first.origin, *second.origin, same});
  }
}

/// Adds the overlaps of a list's edits, which are equal if their JSON texts are.
template <class Edit, class Key>
void add_edits(OverlapKind kind, const std::vector<Planned<Edit>>& edits, const Key& key,
               std::vector<Overlap>& to) {
  std::vector<Overlapping> all;
  for (const auto& one : edits) all.push_back({std::string{key(one.edit)}, &one.origin});
  const auto json_of = [&](std::size_t i) {
    auto json = cdi::write_json(edits[i].edit, /*indent=*/-1);
    return json ? *std::move(json) : std::string{};
  };
  add_overlaps(kind, Equal::overlap, all, json_of, to);
}

/// Adds the overlaps of edits with different values.
void add_different(OverlapKind kind, const std::vector<Overlapping>& all,
                   std::vector<Overlap>& to) {
  const auto value_of = [&](std::size_t i) {
    return std::string_view{all[i].value};
  };
  add_overlaps(kind, Equal::none, all, value_of, to);
}

void add_repeated_devices(const Plan& plan, std::vector<Overlap>& to) {
  const auto& all = plan.devices;
  const auto first = cdi::detail::first_of_equals(
      all.size(), [&](std::size_t a, std::size_t b) { return all[a].name < all[b].name; });
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (first[i] == i) continue;
    to.push_back({.kind = OverlapKind::device,
                  .key = all[i].name,
                  .first = all[first[i]],
                  .second = all[i]});
  }
}

/// Adds an overlap of each device `all` with every other device of its kind.
void add_all_with_others(const Plan& plan, std::vector<Overlap>& to) {
  std::vector<std::string_view> kinds;
  for (const auto& device : plan.devices) {
    kinds.push_back(std::string_view{device.name}.substr(0, device.name.find('=')));
  }
  const auto is_all = [&](std::size_t i) {
    return std::string_view{plan.devices[i].name}.substr(kinds[i].size()) == "=all";
  };
  const auto order = cdi::detail::order_of(kinds.size(), [&](std::size_t a, std::size_t b) {
    return kinds[a] != kinds[b] ? kinds[a] < kinds[b] : is_all(a) && !is_all(b);
  });
  std::size_t all = 0;  // the first device of this kind
  for (const std::size_t i : order) {
    if (kinds[i] != kinds[all] || i == order.front()) all = i;
    if (!is_all(all) || is_all(i)) continue;
    to.push_back({.kind = OverlapKind::all,
                  .key = plan.devices[i].name,
                  .first = plan.devices[all < i ? all : i],
                  .second = plan.devices[all < i ? i : all]});
  }
}

std::vector<Overlapping> variables_of(const Plan& plan) {
  std::vector<Overlapping> out;
  for (const auto& one : plan.env) {
    out.push_back({std::string{env_name(one.edit)}, &one.origin, one.edit});
  }
  return out;
}

/// Returns the container's nodes by type and numbers, with their paths, except FIFOs.
std::vector<Overlapping> host_nodes_of(const Plan& plan) {
  std::vector<Overlapping> out;
  for (const auto& [node, origin, overridden] : plan.device_nodes) {
    if (overridden || node.type == "p") continue;
    std::string key = node.type == "b" ? "b " : "c ";  // the type "u" means "c"
    key.append(std::to_string(node.major)).append(":").append(std::to_string(node.minor));
    out.push_back({std::move(key), &origin, node.path});
  }
  return out;
}

}  // namespace

std::vector<Overlap> find_overlaps(const Plan& plan) {
  std::vector<Overlap> out;
  add_repeated_devices(plan, out);
  add_all_with_others(plan, out);
  add_different(OverlapKind::variable, variables_of(plan), out);
  const auto add = [&](OverlapKind kind, const auto& edits, const auto& key) {
    add_edits(kind, edits, key, out);
  };
  add(OverlapKind::node, plan.device_nodes, [](const DeviceNode& node) { return node.path; });
  add_different(OverlapKind::host_node, host_nodes_of(plan), out);
  add(OverlapKind::mount, plan.mounts, [](const Mount& mount) { return mount.container_path; });
  add(OverlapKind::host_interface, plan.net_devices,
      [](const NetDevice& device) { return device.host_interface_name; });
  add(OverlapKind::intel_rdt, plan.intel_rdt, [](const IntelRdt&) { return ""; });
  return out;
}

}  // namespace tools
