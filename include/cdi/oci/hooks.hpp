// OCI runtime spec 1.3.0, config.md, "POSIX-platform Hooks".
// SPDX-License-Identifier: Apache-2.0

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

namespace cdi {
inline namespace CDI_ABI {
namespace oci {

/// The six points in the life of a container where the runtime runs hooks, in order.
/// config.md, "POSIX-platform Hooks".
enum class HookPoint : std::uint8_t {
  prestart,          ///< in create, just before `create_runtime`; deprecated
  create_runtime,    ///< in create, before the root is changed; in the runtime's namespaces
  create_container,  ///< just after `create_runtime`; in the container's namespaces
  start_container,   ///< in start, before the process; in the container
  poststart,         ///< in start, after the process; in the runtime's namespaces
  poststop,          ///< in delete, after the container; in the runtime's namespaces
};

/// The names of the hook points in CDI and OCI documents, in the order of `HookPoint`.
inline constexpr std::array<std::string_view, 6> hook_point_names{
    "prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"};

/// The name of a hook point, such as `createContainer`: an entry of `hook_point_names`.
constexpr std::string_view hook_point_name(HookPoint point) {
  return hook_point_names[static_cast<std::size_t>(point)];
}

/// The hook point with a name such as `createContainer`, if there is one. Case matters.
constexpr std::optional<HookPoint> parse_hook_point(std::string_view name) {
  for (std::size_t i = 0; i < hook_point_names.size(); ++i) {
    if (hook_point_names[i] == name) return static_cast<HookPoint>(i);
  }
  return std::nullopt;
}

/// A program that the runtime runs at a hook point; it gets the state of the container as JSON on
/// its standard input. config.md, "POSIX-platform Hooks".
template <class S>
struct BasicHook {
  /// Absolute path: in the container for `startContainer`, on the host for the others.
  StringOf<S> path{};
  /// The program's name, then its arguments, as in execv(3).
  ListOf<S, StringOf<S>> args = no_items;
  ListOf<S, StringOf<S>> env = no_items;  ///< its variables, `NAME=value`
  /// Seconds until the hook is aborted, at least 1; no limit when absent.
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

/// The hooks of a container, by hook point; hooks of one point run in the order of the list.
/// config.md, "POSIX-platform Hooks".
template <class S>
struct BasicHooks {
  ListOf<S, BasicHook<S>> prestart = no_items;  ///< deprecated: just before `create_runtime`
  /// On creation, after the namespaces; run in the runtime's namespaces.
  ListOf<S, BasicHook<S>> create_runtime = no_items;
  /// After `create_runtime`, before the root is changed; run in the container's namespaces.
  ListOf<S, BasicHook<S>> create_container = no_items;
  /// On start, before the process; run in the container, from its root.
  ListOf<S, BasicHook<S>> start_container = no_items;
  /// After the process starts, before start returns; run in the runtime's namespaces.
  ListOf<S, BasicHook<S>> poststart = no_items;
  /// After the container is deleted, before delete returns; run in the runtime's namespaces.
  ListOf<S, BasicHook<S>> poststop = no_items;
  ExtraOf<S> extra = no_items;

  /// The hooks of one point: a reference to the member with its name.
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

}  // namespace oci
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_OCI_HOOKS_HPP
