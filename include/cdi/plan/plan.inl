// The bodies of <cdi/plan/plan.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PLAN_PLAN_INL
#define CDI_PLAN_PLAN_INL

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/apply/device_nodes.hpp>
#include <cdi/apply/host.hpp>
#include <cdi/apply/host_options.hpp>
#include <cdi/apply/joined_edits.hpp>
#include <cdi/base/order.hpp>
#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/version.hpp>

#ifdef CDI_SOURCE
#include <cdi/targets/config_json.hpp>
#include <cdi/targets/oci_editor.hpp>
#endif

namespace cdi {
inline namespace CDI_ABI {

CDI_INLINE std::string to_string(const Origin& origin) {
  std::string text = cdi::escaped(origin.name, std::string::npos);
  text.append(" (").append(cdi::escaped(origin.file, std::string::npos));
  if (origin.line != 0) text.append(":").append(std::to_string(origin.line));
  return text.append(")");
}

namespace detail {

template <class Edit>
std::vector<Edit> edits_of(const std::vector<Planned<Edit>>& all) {
  std::vector<Edit> out;
  out.reserve(all.size());
  for (const auto& one : all) out.push_back(one.edit);
  return out;
}

// `apply` looks up nodes that seem incomplete, without a major or a mode. The host has already
// confirmed a major of 0 for a complete node; a node without a mode is not on the host.
CDI_INLINE PlannedHost::PlannedHost(const Plan& plan) {
  for (const auto& [node, origin, overridden] : plan.device_nodes) {
    const bool complete = !node.type.empty() && node.file_mode.has_value();
    if (complete && node.major == 0 && node.type != "p") nodes_.push_back(&node);
  }
}
CDI_INLINE PlannedHost::~PlannedHost() = default;

CDI_INLINE Result<HostNode> PlannedHost::operator()(std::string_view path) const {
  for (const auto* const node : nodes_) {
    if (node->host_path != path) continue;
    return HostNode{
        .type = node->type.front(), .minor = node->minor, .file_mode = *node->file_mode};
  }
  return Error{.code = Errc::host,
               .message = "the plan has no type and numbers for host device " + cdi::quoted(path)};
}

/// Makes a plan of the edits of devices.
class Planner {
 public:
  Planner(const EditsOfDevices& found, const JoinedEdits& joined, PlanLines lines)
      : found_{found}, joined_{joined}, lines_{lines} {}

  Plan make() && {
    for (index_ = 0; index_ < found_.edits.size(); ++index_) add_edits();
    mark_overridden();
    return std::move(plan_);
  }

 private:
  const ResolvedDevice& origin() const { return found_.origins[index_]; }
  const LoadedSpec& spec() const { return *origin().spec; }
  const ContainerEdits& edits() const { return *found_.edits[index_]; }

  std::string path(std::string_view member = {}) const {
    const auto* const device = origin().device;
    std::string path = device == nullptr ? "" : item_path("devices", origin().index()) + ".";
    path.append("containerEdits");
    if (!member.empty()) path.append(".").append(member);
    return path;
  }

  /// Returns the positions of the spec; null if they are not wanted or not known.
  const MemberPositions* positions() const {
    return lines_ == PlanLines::of_edits ? spec().positions() : nullptr;
  }

  Origin origin_of(std::string_view member) {
    Origin out{.file = spec().path, .where = path(member)};
    out.name = spec().spec.kind;
    if (origin().device != nullptr) out.name.append("=").append(origin().device->name);
    const auto* const known = positions();
    out.line = (known == nullptr ? spec().locate_part(out.where) : known->locate(out.where)).line;
    return out;
  }

  /// Calls `add(i, origin)` for each entry of a list of edits.
  template <class List, class Add>
  void add_list(std::string_view member, const List& list, const Add& add) {
    if (list.empty()) return;
    const Origin origin = origin_of(member);
    std::vector<LineColumn> found;
    if (const auto* const known = positions()) found = known->positions_of(origin.where);
    for (std::size_t i = 0; i < list.size(); ++i) {
      Origin entry = origin;
      entry.where = item_path(origin.where, i);
      if (i < found.size()) entry.line = found[i].line;
      add(i, std::move(entry));
    }
  }
  template <class Edit, class List>
  void copy_list(std::string_view member, const List& list, std::vector<Planned<Edit>>& to) {
    add_list(member, list, [&](std::size_t i, Origin origin) {
      to.push_back({list[i], std::move(origin)});
    });
  }

  void add_edits() {
    const auto& from = edits();
    if (origin().device != nullptr) {
      plan_.devices.push_back(origin_of({}));
      if (origin().line() != 0) plan_.devices.back().line = origin().line();
      plan_.devices.back().where = item_path("devices", origin().index());
    }
    copy_list("env", from.env, plan_.env);
    add_list("deviceNodes", from.device_nodes, [&](std::size_t i, Origin origin) {
      add_node(from.device_nodes[i], std::move(origin));
    });
    copy_list("netDevices", from.net_devices, plan_.net_devices);
    add_list("hooks", from.hooks,
             [&](std::size_t i, Origin origin) { add_hook(from.hooks[i], std::move(origin)); });
    add_list("mounts", from.mounts,
             [&](std::size_t i, Origin origin) { add_mount(from.mounts[i], std::move(origin)); });
    if (from.intel_rdt) plan_.intel_rdt.push_back({*from.intel_rdt, origin_of("intelRdt")});
    add_list("additionalGids", from.additional_gids, [&](std::size_t i, Origin origin) {
      add_gid(from.additional_gids[i], std::move(origin));
    });
  }

  // The joined edits hold the same entries in the same order, with details from the host and its
  // options.
  void add_node(const DeviceNode& from, Origin origin) {
    const NodeView& complete = joined_.nodes[plan_.device_nodes.size()];
    DeviceNode node = from;
    node.host_path = complete.host_path.empty() ? complete.path : complete.host_path;
    if (node.permissions.empty()) node.permissions = "rwm";
    node.type = complete.type;
    node.major = complete.major;
    node.minor = complete.minor;
    node.file_mode = complete.file_mode;
    plan_.device_nodes.push_back({std::move(node), std::move(origin)});
  }

  void add_hook(const Hook& from, Origin origin) {
    const auto& env = joined_.hooks[plan_.hooks.size()].env;
    const auto first = joined_.texts.begin() + static_cast<std::ptrdiff_t>(env.first);
    Hook hook = from;
    hook.env.assign(first, first + static_cast<std::ptrdiff_t>(env.count));
    plan_.hooks.push_back({std::move(hook), std::move(origin)});
  }

  void add_mount(const Mount& from, Origin origin) {
    Mount mount = from;
    mount.host_path = joined_.mounts[plan_.mounts.size()].source;
    plan_.mounts.push_back({std::move(mount), std::move(origin)});
  }

  void add_gid(std::uint32_t gid, Origin origin) {
    if (gid != 0) plan_.additional_gids.push_back({gid, std::move(origin)});
  }

  void mark_overridden() {
    mark(plan_.env, [](const std::string& entry) { return env_name(entry); });
    mark(plan_.device_nodes, [](const DeviceNode& node) -> std::string_view { return node.path; });
    mark(plan_.net_devices,
         [](const NetDevice& device) -> std::string_view { return device.host_interface_name; });
    mark(plan_.mounts, [](const Mount& mount) -> std::string_view { return mount.container_path; });
    mark(plan_.intel_rdt, [](const IntelRdt&) { return std::string_view{}; });
    sort_mounts();
    keep_each_gid_once();
  }

  /// Marks all but the last edit of each key.
  template <class Edit, class Key>
  static void mark(std::vector<Planned<Edit>>& all, const Key& key) {
    const std::size_t count = all.size();
    const auto order = detail::order_of(
        count, [&](std::size_t a, std::size_t b) { return key(all[a].edit) < key(all[b].edit); });
    for (std::size_t i = 1; i < count; ++i) {
      auto& earlier = all[order[i - 1]];
      earlier.overridden = key(earlier.edit) == key(all[order[i]].edit);
    }
  }

  void sort_mounts() {
    auto& mounts = plan_.mounts;
    std::vector<std::size_t> depths;
    for (const auto& mount : mounts) depths.push_back(path_depth(mount.edit.container_path));
    const auto order = detail::order_of(
        mounts.size(), [&](std::size_t a, std::size_t b) { return depths[a] < depths[b]; });
    std::vector<Planned<Mount>> sorted;
    for (const std::size_t i : order) sorted.push_back(std::move(mounts[i]));
    mounts = std::move(sorted);
  }

  void keep_each_gid_once() {
    auto& gids = plan_.additional_gids;
    const auto first = detail::first_of_equals(
        gids.size(), [&](std::size_t a, std::size_t b) { return gids[a].edit < gids[b].edit; });
    std::vector<Planned<std::uint32_t>> kept;
    for (std::size_t i = 0; i < gids.size(); ++i) {
      if (first[i] == i) kept.push_back(std::move(gids[i]));
    }
    gids = std::move(kept);
  }

  const EditsOfDevices& found_;
  const JoinedEdits& joined_;
  PlanLines lines_;
  std::size_t index_ = 0;  // the index of the current edits
  Plan plan_{};
};

CDI_INLINE Result<void> JoinedDevices::join(OptionalParts parts, const HostRef& host,
                                            const HostOptions* options) {
  auto done =
      detail::join(std::span<const ContainerEdits* const>{found.edits}, found.texts, parts, joined);
  if (!done || options == nullptr) return done;
  auto added = detail::use_options(joined, host, *options);
  if (!added) return std::move(added).error();
  texts = *std::move(added);
  return {};
}

CDI_INLINE Plan JoinedDevices::plan(PlanLines lines) const {
  return Planner{found, joined, lines}.make();
}

CDI_INLINE Result<Plan> make_plan(std::span<const ResolvedDevice> devices, const HostRef& host,
                                  const HostOptions* options) {
  constexpr OptionalParts all_parts{true, true, true, true};
  JoinedDevices edits{devices};
  auto done = edits.join(all_parts, host, options);
  if (done) done = detail::complete_devices(edits.joined, host, {});
  if (!done) return edits.found.trace(std::move(done).error());
  return edits.plan(PlanLines::of_edits);
}

#ifdef CDI_SOURCE
template Result<void> edit(RecordingTarget<oci::Spec>& target, JoinedEdits& edits,
                           const HostRef& host);
template Result<void> edit(RecordingTarget<ConfigJson>& target, JoinedEdits& edits,
                           const HostRef& host);
#endif

}  // namespace detail

CDI_INLINE ContainerEdits Plan::edits() const {
  ContainerEdits out;
  out.env = detail::edits_of(env);
  out.device_nodes = detail::edits_of(device_nodes);
  out.net_devices = detail::edits_of(net_devices);
  out.hooks = detail::edits_of(hooks);
  out.mounts = detail::edits_of(mounts);
  if (!intel_rdt.empty()) out.intel_rdt = intel_rdt.back().edit;
  out.additional_gids = detail::edits_of(additional_gids);
  return out;
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_PLAN_PLAN_INL
