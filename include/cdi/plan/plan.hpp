// `Plan`: the edits of devices as plain data, each with its origin, before they are applied.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PLAN_PLAN_HPP
#define CDI_PLAN_PLAN_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/apply/apply.hpp>
#include <cdi/apply/device_nodes.hpp>
#include <cdi/apply/host.hpp>
#include <cdi/apply/host_options.hpp>
#include <cdi/apply/joined_edits.hpp>
#include <cdi/base/result.hpp>
#include <cdi/fwd.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/plan/change.hpp>  // IWYU pragma: export
#include <cdi/plan/recording_target.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/rules/names.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

struct ConfigJson;

/// The place in a spec that an edit comes from.
struct Origin {
  /// The qualified name of the device, or the kind of the spec for an edit that applies to all its
  /// devices.
  std::string name{};
  std::string file{};      ///< the path of the spec
  std::uint32_t line = 0;  ///< line of the edit, from 1, or of its device; 0 if both are unknown
  std::string where{};     ///< the path in the spec, such as `devices[0].containerEdits.env[1]`

  friend bool operator==(const Origin&, const Origin&) = default;
};

/// Describes the origin on one line, escaped: `vendor.com/class=device (FILE:LINE)`.
std::string to_string(const Origin& origin);

/// An edit and its origin.
template <class Edit>
struct Planned {
  Edit edit{};      ///< an edit as in a spec, a text or a number
  Origin origin{};  ///< where the edit comes from
  /// Whether a later edit of the plan replaces this edit, so that the container does not get it.
  bool overridden = false;

  friend bool operator==(const Planned&, const Planned&) = default;
};

/// The edits of devices, joined, in the order of application. A plan is a plain value that owns its
/// text: read it, remove what you do not want, and apply it to an OCI spec or use it without one.
///
/// The edits are as in the spec, except that device nodes are complete: `host_path`, `type`,
/// `major`, `minor` and `permissions` are filled in, and so is `file_mode` if the node is on the
/// host. `uid` and `gid` are absent when the node belongs to the user of the container's process.
struct Plan {
  std::vector<Origin> devices{};                    ///< in the requested order, each with its line
  std::vector<Planned<std::string>> env{};          ///< `NAME=value`
  std::vector<Planned<DeviceNode>> device_nodes{};  ///< complete
  std::vector<Planned<NetDevice>> net_devices{};    ///< interfaces to move
  std::vector<Planned<Hook>> hooks{};               ///< none is overridden
  std::vector<Planned<Mount>> mounts{};             ///< parents before children
  std::vector<Planned<IntelRdt>> intel_rdt{};       ///< all but the last are overridden
  std::vector<Planned<std::uint32_t>> additional_gids{};  ///< each group once, without 0

  friend bool operator==(const Plan&, const Plan&) = default;

  /// Calls `visit(key, list, member)` for each kind of edit in the order of a spec: its key in a
  /// spec, its list in a plan, and its member of `ContainerEdits`.
  static constexpr void each_kind(auto&& visit) {
    using Edits = ContainerEdits;
    static_assert(field_count<Edits>() == 7, "cdi: add a list of the new kind of edit");
    visit("env", &Plan::env, &Edits::env);
    visit("deviceNodes", &Plan::device_nodes, &Edits::device_nodes);
    visit("netDevices", &Plan::net_devices, &Edits::net_devices);
    visit("hooks", &Plan::hooks, &Edits::hooks);
    visit("mounts", &Plan::mounts, &Edits::mounts);
    visit("intelRdt", &Plan::intel_rdt, &Edits::intel_rdt);
    visit("additionalGids", &Plan::additional_gids, &Edits::additional_gids);
  }

  /// Returns all edits without their origins.
  ContainerEdits edits() const;

  /// Applies the plan to an OCI spec, all or nothing, as `Registry::inject` does for the devices,
  /// and returns the changes, list by list. New parents, such as an empty `process`, are not
  /// listed. The host is not queried again. Fails with the errors of `apply`; `Errc::host` means
  /// that an incomplete node was added to the plan.
  template <Editable OciSpec>
  Result<std::vector<Change>> apply(OciSpec& target) const;
};

namespace detail {

/// A host that knows only the nodes of a plan.
class PlannedHost {
 public:
  explicit PlannedHost(const Plan& plan);
  PlannedHost(const PlannedHost&) = delete;
  PlannedHost& operator=(const PlannedHost&) = delete;
  ~PlannedHost();

  Result<HostNode> operator()(std::string_view path) const;

 private:
  std::vector<const DeviceNode*> nodes_;  // complete nodes with the major number 0
};

/// Returns the options of a host, or null.
template <class Host>
const HostOptions* options_of(const Host& host) {
  if constexpr (requires { host.options; }) return &host.options;  // `HostWithOptions`
  return nullptr;
}

/// Whether a plan reads files again for the lines of its edits, or uses the lines of the devices.
enum class PlanLines : bool { of_edits, of_devices };

/// The joined edits of devices, with the text that the host's options add.
struct JoinedDevices {
  explicit JoinedDevices(std::span<const ResolvedDevice> devices) : found{devices} {}

  /// Joins the edits for a target that supports these parts. `options` may be null.
  Result<void> join(OptionalParts parts, const HostRef& host, const HostOptions* options);
  /// Returns the plan of the edits, once their device nodes are complete.
  Plan plan(PlanLines lines) const;

  EditsOfDevices found;
  JoinedEdits joined{};
  std::deque<std::string> texts{};
};

/// Sorts mounts as an injection does: parents before children, equal depths in their order.
void sort_mounts(std::vector<Planned<Mount>>& mounts);

/// Makes a plan of the devices' edits. `options` may be null.
Result<Plan> make_plan(std::span<const ResolvedDevice> devices, const HostRef& host,
                       const HostOptions* options);

}  // namespace detail

/// Returns the plan of devices that were resolved before, as `plan` does for names.
template <HostLookup Host = SystemHost>
Result<Plan> plan_resolved(std::span<const ResolvedDevice> devices, const Host& host = {}) {
  return detail::make_plan(devices, detail::HostRef{host}, detail::options_of(host));
}

/// Returns the edits that an injection of these devices would make, joined and complete, each with
/// its origin: see `Plan`. No OCI spec is needed, and nothing changes.
///
/// Costs one lookup for each name, one host lookup for each incomplete device node, and one more
/// read of each spec file, for the lines of its edits: see `LoadedSpec::positions`. With a
/// `HostWithOptions`, the plan contains what the options change. Fails like `Registry::inject`.
template <HostLookup Host = SystemHost>
Result<Plan> plan(const Registry& registry, Names names, const Host& host = {}) {
  const auto devices = registry.resolve_all(names);
  if (!devices) return devices.error();
  return plan_resolved(*devices, host);
}

/// The edits of an injection, and its changes.
struct RecordedInjection {
  Plan plan{};                    ///< the edits, with the lines of their devices
  std::vector<Change> changes{};  ///< list by list, as `Plan::apply` returns them
};

/// Injects devices, all or none, as `Registry::inject_resolved` does, and returns the edits and the
/// changes. Joins the edits once, looks up each incomplete device node once, and reads no file.
template <Editable OciSpec, HostLookup Host = SystemHost>
Result<RecordedInjection> inject_recorded(OciSpec& target, std::span<const ResolvedDevice> devices,
                                          const Host& host = {}) {
  static_assert(!KeepsViews<OciSpec>,
                "the edits end with this call, but the target would keep views");
  RecordedInjection out;
  const detail::HostRef host_ref{host};
  detail::RecordingTarget<OciSpec> recorded{target, out.changes};
  detail::JoinedDevices edits{devices};
  auto done = edits.join(detail::parts_of<SpecEditor<detail::RecordingTarget<OciSpec>>>, host_ref,
                         detail::options_of(host));
  if (done) done = detail::edit(recorded, edits.joined, host_ref);
  if (!done) return edits.found.trace(std::move(done).error());
  out.plan = edits.plan(detail::PlanLines::of_devices);
  return out;
}

template <Editable OciSpec>
Result<std::vector<Change>> Plan::apply(OciSpec& target) const {
  static_assert(!KeepsViews<OciSpec>, "this type would point into temporary edits of the plan");
  std::vector<Change> changes;
  detail::RecordingTarget<OciSpec> recorded{target, changes};
  auto done = cdi::apply(edits(), recorded, detail::PlannedHost{*this});
  if (!done) return std::move(done).error();
  return changes;
}

#ifdef CDI_COMPILED
namespace detail {
extern template Result<void> edit(RecordingTarget<oci::Spec>& target, JoinedEdits& edits,
                                  const HostRef& host);
extern template Result<void> edit(RecordingTarget<ConfigJson>& target, JoinedEdits& edits,
                                  const HostRef& host);
}  // namespace detail
#endif

}  // namespace cdi

#if CDI_BODIES
#include <cdi/plan/plan.inl>
#endif

#endif  // CDI_PLAN_PLAN_HPP
