// The bodies of <cdi/plan/plan.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PLAN_PLAN_INL
#define CDI_PLAN_PLAN_INL

#include <optional>
#include <type_traits>

#include <cdi/base/order.hpp>
#include <cdi/base/path.hpp>
#include <cdi/model/heap_optional.hpp>
#include <cdi/plan/plan.hpp>

#ifdef CDI_SOURCE
#include <cdi/targets/config_json.hpp>
#include <cdi/targets/oci_editor.hpp>
#endif

namespace cdi::inline CDI_ABI {

CDI_INLINE std::string to_string(const Origin& origin) {
  std::string text = cdi::escaped(origin.name, std::string::npos);
  text.append(" (").append(cdi::escaped(origin.file, std::string::npos));
  if (origin.line != 0) text.append(":").append(std::to_string(origin.line));
  return text.append(")");
}

namespace detail {

template <class Edit>
void take_edits(const std::vector<Planned<Edit>>& all, std::vector<Edit>& to) {
  to.reserve(all.size());
  for (const auto& one : all) to.push_back(one.edit);
}
template <class Edit>
void take_edits(const std::vector<Planned<Edit>>& all, HeapOptional<Edit>& to) {
  if (!all.empty()) to = all.back().edit;
}

// `apply` looks up nodes that seem incomplete because they lack a major or a mode. For a complete
// node, the host has already confirmed a major of 0; a node without a mode is not on the host.
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
  return Error{
      .code = Errc::host,
      .message = "the plan lacks the type and numbers of host device " + cdi::quoted(path)};
}

CDI_INLINE void sort_mounts(std::vector<Planned<Mount>>& mounts) {
  std::vector<std::size_t> depths;
  for (const auto& mount : mounts) depths.push_back(path_depth(mount.edit.container_path));
  const auto order = detail::order_of(
      mounts.size(), [&](std::size_t a, std::size_t b) { return depths[a] < depths[b]; });
  std::vector<Planned<Mount>> sorted;
  for (const std::size_t i : order) sorted.push_back(std::move(mounts[i]));
  mounts = std::move(sorted);
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

  void add_edits() {
    if (origin().device != nullptr) {
      plan_.devices.push_back(origin_of({}));
      if (origin().line() != 0) plan_.devices.back().line = origin().line();
      plan_.devices.back().where = item_path("devices", origin().index());
    }
    Plan::each_kind([this](std::string_view key, auto list, auto member) {
      add_kind(key, edits().*member, plan_.*list);
    });
  }

  /// Adds a list of edits.
  template <class Edit>
  void add_kind(std::string_view key, const std::vector<Edit>& list,
                std::vector<Planned<Edit>>& to) {
    if (list.empty()) return;
    const Origin origin = origin_of(key);
    std::vector<LineColumn> found;
    if (const auto* const known = positions()) found = known->positions_of(origin.where);
    for (std::size_t i = 0; i < list.size(); ++i) {
      Planned<Edit> planned{list[i], origin};
      planned.origin.where = item_path(origin.where, i);
      if (i < found.size()) planned.origin.line = found[i].line;
      if (complete(planned.edit, to.size())) to.push_back(std::move(planned));
    }
  }
  /// Adds settings.
  template <class Edit>
  void add_kind(std::string_view key, const HeapOptional<Edit>& settings,
                std::vector<Planned<Edit>>& to) {
    if (settings) to.push_back({*settings, origin_of(key)});
  }

  // Completes an edit with details from the host and its options. The joined edits hold the same
  // entries in the same order. Returns false for an edit without effect.
  template <class Edit>
  bool complete(Edit&, std::size_t) const {
    return true;
  }
  bool complete(DeviceNode& node, std::size_t index) const {
    const NodeView& complete = joined_.nodes[index];
    node.host_path = host_path_of(complete);
    if (node.permissions.empty()) node.permissions = "rwm";
    node.type = complete.type;
    node.major = complete.major;
    node.minor = complete.minor;
    node.file_mode = complete.file_mode;
    return true;
  }
  bool complete(Hook& hook, std::size_t index) const {
    const auto& env = joined_.hooks[index].env;
    const auto first = joined_.texts.begin() + static_cast<std::ptrdiff_t>(env.first);
    hook.env.assign(first, first + static_cast<std::ptrdiff_t>(env.count));
    return true;
  }
  bool complete(Mount& mount, std::size_t index) const {
    mount.host_path = joined_.mounts[index].source;
    return true;
  }
  bool complete(std::uint32_t& gid, std::size_t) const { return gid != 0; }

  void mark_overridden() {
    Plan::each_kind([this](std::string_view, auto list, auto) { mark(plan_.*list); });
    sort_mounts(plan_.mounts);
    keep_each_gid_once();
  }

  // Returns what a later edit of the same kind must share with an edit in order to replace it.
  static std::string_view key_of(const std::string& variable) { return env_name(variable); }
  static std::string_view key_of(const DeviceNode& node) { return node.path; }
  static std::string_view key_of(const NetDevice& device) { return device.host_interface_name; }
  static std::string_view key_of(const Mount& mount) { return mount.container_path; }
  static std::string_view key_of(const IntelRdt&) { return {}; }
  // No later edit replaces a hook or a group.
  static void key_of(const Hook&) {}
  static void key_of(std::uint32_t) {}

  /// Marks all but the last edit of each key.
  template <class Edit>
  static void mark(std::vector<Planned<Edit>>& all) {
    if constexpr (!std::is_void_v<decltype(key_of(all[0].edit))>) {
      const auto order = detail::order_of(all.size(), [&](std::size_t a, std::size_t b) {
        return key_of(all[a].edit) < key_of(all[b].edit);
      });
      for (std::size_t i = 1; i < all.size(); ++i) {
        auto& earlier = all[order[i - 1]];
        earlier.overridden = key_of(earlier.edit) == key_of(all[order[i]].edit);
      }
    }
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
  each_kind([&](std::string_view, auto list, auto member) {
    detail::take_edits(this->*list, out.*member);
  });
  return out;
}

}  // namespace cdi

#endif  // CDI_PLAN_PLAN_INL
