// OCI runtime spec 1.3.0, config.md, "POSIX-platform Hooks".
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_OCI_HOOKS_HPP
#define CDI_OCI_HOOKS_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::oci {

/// The six points in a container's life at which the runtime runs hooks, in order. config.md,
/// "POSIX-platform Hooks".
enum class HookPoint : std::uint8_t {
  prestart,          ///< during create, just before `create_runtime`; deprecated
  create_runtime,    ///< during create, before the root changes; in the runtime's namespaces
  create_container,  ///< just after `create_runtime`; in the container's namespaces
  start_container,   ///< during start, before the process runs; in the container
  poststart,         ///< during start, after the process starts; in the runtime's namespaces
  poststop,          ///< during delete, after the container is deleted; in the runtime's namespaces
};

/// The hook point names in CDI and OCI documents, in `HookPoint` order.
inline constexpr std::array<std::string_view, 6> hook_point_names{
    "prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"};

/// Returns the name of a hook point, such as `createContainer`: an entry of `hook_point_names`.
constexpr std::string_view hook_point_name(HookPoint point) {
  return hook_point_names[static_cast<std::size_t>(point)];
}

/// Returns the hook point of a name such as `createContainer`, if any. Case matters.
constexpr std::optional<HookPoint> parse_hook_point(std::string_view name) {
  for (std::size_t i = 0; i < hook_point_names.size(); ++i) {
    if (hook_point_names[i] == name) return static_cast<HookPoint>(i);
  }
  return std::nullopt;
}

/// A program that the runtime runs at a hook point, with the container's state as JSON on standard
/// input. config.md, "POSIX-platform Hooks".
template <class S>
struct BasicHook {
  /// Absolute path: in the container for `startContainer`, on the host for all other points.
  StringOf<S> path{};
  /// The program's name and its arguments, as for execv(3).
  ListOf<S, StringOf<S>> args = no_items;
  ListOf<S, StringOf<S>> env = no_items;  ///< the environment, as `NAME=value`
  /// Seconds after which the hook is aborted, at least 1; no limit when absent.
  std::optional<std::int64_t> timeout{};
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicHook&, const BasicHook&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicHook;
    list("path", &Self::path, required);
    list("args", &Self::args);
    list("env", &Self::env);
    list("timeout", &Self::timeout);
  }
};

/// A container's hooks, by hook point; each point's hooks run in list order. config.md,
/// "POSIX-platform Hooks".
template <class S>
struct BasicHooks {
  ListOf<S, BasicHook<S>> prestart = no_items;  ///< deprecated: just before `create_runtime`
  /// On creation, after the namespaces exist; run in the runtime's namespaces.
  ListOf<S, BasicHook<S>> create_runtime = no_items;
  /// After `create_runtime`, before the root changes; run in the container's namespaces.
  ListOf<S, BasicHook<S>> create_container = no_items;
  /// On start, before the process; run in the container, from the container's root.
  ListOf<S, BasicHook<S>> start_container = no_items;
  /// After the process starts, before start returns; run in the runtime's namespaces.
  ListOf<S, BasicHook<S>> poststart = no_items;
  /// After the container is deleted, before delete returns; run in the runtime's namespaces.
  ListOf<S, BasicHook<S>> poststop = no_items;
  ExtraOf<S> extra = no_items;

  /// Returns the hooks of one point: a reference to the member of that name.
  ListOf<S, BasicHook<S>>& at(HookPoint point) {
    switch (point) {
      case HookPoint::prestart: return prestart;
      case HookPoint::create_runtime: return create_runtime;
      case HookPoint::create_container: return create_container;
      case HookPoint::start_container: return start_container;
      case HookPoint::poststart: return poststart;
      case HookPoint::poststop: break;
    }
    return poststop;
  }

  friend bool operator==(const BasicHooks&, const BasicHooks&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicHooks;
    list("prestart", &Self::prestart);
    list("createRuntime", &Self::create_runtime);
    list("createContainer", &Self::create_container);
    list("startContainer", &Self::start_container);
    list("poststart", &Self::poststart);
    list("poststop", &Self::poststop);
  }
};

using Hook = BasicHook<Owning>;
using HookView = BasicHook<Borrowed>;
using Hooks = BasicHooks<Owning>;

}  // namespace cdi::oci

#endif  // CDI_OCI_HOOKS_HPP
