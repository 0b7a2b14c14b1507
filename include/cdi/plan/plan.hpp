// `Plan`: the edits of devices as plain data, each with its origin, before they are applied.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PLAN_PLAN_HPP
#define CDI_PLAN_PLAN_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/engine/apply.hpp>
#include <cdi/engine/device_nodes.hpp>
#include <cdi/engine/host.hpp>
#include <cdi/engine/host_options.hpp>
#include <cdi/engine/joined_edits.hpp>
#include <cdi/fwd.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/plan/change.hpp>  // IWYU pragma: export
#include <cdi/plan/recorded.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

struct ConfigJson;

/// Where an edit comes from.
struct Origin {
  /// The qualified name of its device, or the kind of its spec for an edit that the spec makes for
  /// all of its devices.
  std::string name{};
  std::string file{};      ///< the path of the spec
  std::uint32_t line = 0;  ///< of the edit in the file, from 1; else that of its device; 0: unknown
  std::string where{};     ///< its path in the spec, such as `devices[0].containerEdits.env[1]`

  friend bool operator==(const Origin&, const Origin&) = default;
};

/// The origin on one line: `vendor.com/class=device (FILE:LINE)`. Text is escaped.
std::string to_string(const Origin& origin);

/// An edit and its origin.
template <class Edit>
struct Planned {
  Edit edit{};      ///< as in a spec, or text or a number
  Origin origin{};  ///< where it comes from
  /// Whether a later edit of the plan replaces it: a container does not get it.
  bool overridden = false;

  friend bool operator==(const Planned&, const Planned&) = default;
};

/// The edits of devices, joined, in the order to apply them. A plain value, which owns its text:
/// read it, take out what you do not want, and apply it to an OCI spec, or use it without one.
///
/// Members are as in the spec, except that device nodes are complete: `host_path`, `type`, `major`,
/// `minor` and `permissions` are filled in, and `file_mode` if the host has the node. `uid` and
/// `gid` are absent when the node belongs to the user of the container's process.
struct Plan {
  std::vector<Origin> devices{};            ///< as they were named, with the lines where they begin
  std::vector<Planned<std::string>> env{};  ///< `NAME=value`
  std::vector<Planned<DeviceNode>> device_nodes{};        ///< complete
  std::vector<Planned<NetDevice>> net_devices{};          ///< interfaces to move
  std::vector<Planned<Hook>> hooks{};                     ///< none is overridden
  std::vector<Planned<Mount>> mounts{};                   ///< parents before children
  std::vector<Planned<IntelRdt>> intel_rdt{};             ///< all but the last are overridden
  std::vector<Planned<std::uint32_t>> additional_gids{};  ///< without 0, each once

  friend bool operator==(const Plan&, const Plan&) = default;

  /// All edits without their origins.
  ContainerEdits edits() const;

  /// Applies the plan to an OCI spec, all or nothing, as `Registry::inject` does for the devices,
  /// and returns what has changed, list by list. Does not ask the host again. New parents, such as
  /// an empty `process`, are not in the changes. Errors are those of `apply`; `Errc::host` for a
  /// node that was added to the plan and is not complete.
  template <Editable OciSpec>
  Result<std::vector<Change>> apply(OciSpec& target) const;

  /// What `apply` would change. Applies the plan to a copy of the target, so that the copy may
  /// share nothing with it: with a struct of pointers, `apply` the plan to a copy of your own.
  template <class OciSpec>
    requires Editable<OciSpec> && std::copy_constructible<OciSpec> &&
        (!std::is_trivially_copyable_v<OciSpec>)
            Result<std::vector<Change>> diff(const OciSpec& target) const {
      OciSpec copy = target;
      return apply(copy);
    }
};

namespace detail {

/// The host as a plan knows it.
class PlannedHost {
 public:
  explicit PlannedHost(const Plan& plan);
  PlannedHost(const PlannedHost&) = delete;
  PlannedHost& operator=(const PlannedHost&) = delete;
  ~PlannedHost();

  Result<HostNode> operator()(std::string_view path) const;

 private:
  std::vector<const DeviceNode*> nodes_;  // complete, with the major 0
};

/// Finds the places of the members of a spec; null when they are not known.
using FindPlaces = std::shared_ptr<const MemberPlaces> (*)(const LoadedSpec& spec);

/// `options` may be null.
Result<Plan> make_plan(std::span<const ResolvedDevice> devices, const AnyHost& host,
                       const HostOptions* options, FindPlaces find_places);

}  // namespace detail

template <Editable OciSpec>
Result<std::vector<Change>> Plan::apply(OciSpec& target) const {
  static_assert(!KeepsViews<OciSpec>, "a plan makes edits that this type would point into");
  std::vector<Change> changes;
  detail::Recorded<OciSpec> recorded{target, changes};
  auto done = cdi::apply(edits(), recorded, detail::PlannedHost{*this});
  if (!done) return std::move(done).error();
  return changes;
}

#ifdef CDI_COMPILED
namespace detail {
extern template Result<void> edit(Recorded<oci::Spec>& target, JoinedEdits& edits,
                                  const AnyHost& host);
extern template Result<void> edit(Recorded<ConfigJson>& target, JoinedEdits& edits,
                                  const AnyHost& host);
}  // namespace detail
#endif

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/plan/plan.inl>
#endif

#endif  // CDI_PLAN_PLAN_HPP
