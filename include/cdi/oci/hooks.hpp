// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_HOOKS_HPP
#define CDI_OCI_HOOKS_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <cdi/fields.hpp>
#include <cdi/storage.hpp>
#include <cdi/value.hpp>
#include <cdi/version.hpp>

// OCI runtime spec 1.3.0, config.md, "POSIX-platform Hooks".

namespace cdi::inline CDI_ABI::oci {

/// The six moments of a container's life at which the runtime runs hooks.
enum class HookPoint : std::uint8_t {
  prestart,
  create_runtime,
  create_container,
  start_container,
  poststart,
  poststop,
};

/// The names of the hook points in CDI and OCI documents, in the order of `HookPoint`.
inline constexpr std::array<std::string_view, 6> hook_point_names{
    "prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"};

constexpr std::string_view hook_point_name(HookPoint point) {
  return hook_point_names[static_cast<std::size_t>(point)];
}

/// The hook point of a name such as `createContainer`; case matters.
constexpr std::optional<HookPoint> parse_hook_point(std::string_view name) {
  for (std::size_t i = 0; i < hook_point_names.size(); ++i) {
    if (hook_point_names[i] == name) return static_cast<HookPoint>(i);
  }
  return std::nullopt;
}

/// A program that the runtime runs.
template <class S>
struct BasicHook {
  StringOf<S> path{};             // absolute
  ListOf<S, StringOf<S>> args{};  // with the program's name first, as in execv
  ListOf<S, StringOf<S>> env{};
  std::optional<std::int64_t> timeout{};  // seconds
  ExtraOf<S> extra{};

  friend bool operator==(const BasicHook&, const BasicHook&) = default;

  static constexpr auto fields() {
    using Self = BasicHook;
    return std::tuple{
        Field{"path", &Self::path, required},
        Field{"args", &Self::args},
        Field{"env", &Self::env},
        Field{"timeout", &Self::timeout},
    };
  }
};

/// The hooks of a container, by the moment they run.
template <class S>
struct BasicHooks {
  ListOf<S, BasicHook<S>> prestart{};
  ListOf<S, BasicHook<S>> create_runtime{};
  ListOf<S, BasicHook<S>> create_container{};
  ListOf<S, BasicHook<S>> start_container{};
  ListOf<S, BasicHook<S>> poststart{};
  ListOf<S, BasicHook<S>> poststop{};
  ExtraOf<S> extra{};

  /// The hooks of one moment.
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

  static constexpr auto fields() {
    using Self = BasicHooks;
    return std::tuple{
        Field{"prestart", &Self::prestart},
        Field{"createRuntime", &Self::create_runtime},
        Field{"createContainer", &Self::create_container},
        Field{"startContainer", &Self::start_container},
        Field{"poststart", &Self::poststart},
        Field{"poststop", &Self::poststop},
    };
  }
};

using Hook = BasicHook<Owning>;
using HookView = BasicHook<Borrowed>;
using Hooks = BasicHooks<Owning>;

static_assert(detail::initialisers_used<Hook, HookView, Hooks>);

}  // namespace cdi::inline CDI_ABI::oci

#endif  // CDI_OCI_HOOKS_HPP
