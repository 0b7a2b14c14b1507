// `HookWay` and `HookNote`: how the effect of a hook is made without the hook.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_HOOK_WAY_HPP
#define CDI_SANDBOX_HOOK_WAY_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/nvidia/hook_class.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// How the effect of a hook is made.
enum class HookWay : std::uint8_t {
  mounts,        ///< files are mounted under more names, or nodes are made under more names
  linker_cache,  ///< an `ld.so.cache` of the image's and the devices' libraries is mounted
  linker_path,   ///< a path file of musl's linker is mounted
  variable,      ///< `LD_LIBRARY_PATH` lists the directories
  file,          ///< a generated file is mounted
  nothing,       ///< the container needs nothing, as `reason` says
  lost,          ///< not made; `reason` says what fails
  kept,          ///< the hook stays in the plan
};

/// The names of the ways, in the order of `HookWay`.
inline constexpr std::array<std::string_view, 8> hook_way_names{
    "mounts", "linker-cache", "linker-path", "variable", "file", "nothing", "lost", "kept"};

/// Returns the stable name of a way, such as `linker-cache`.
constexpr std::string_view hook_way_name(HookWay way) {
  return hook_way_names[static_cast<std::size_t>(way)];
}

/// How one effect of a hook is made, and why in this way.
struct HookNote {
  HookClass hook_class{};  ///< the class of the hook
  HookWay way{};           ///< how its effect is made
  std::string subject{};   ///< the file, directory or program that the note is about
  std::string reason{};    ///< why in this way, as a sentence without a final stop
  Origin origin{};         ///< where the hook comes from

  friend bool operator==(const HookNote&, const HookNote&) = default;
};

}  // namespace cdi

#endif  // CDI_SANDBOX_HOOK_WAY_HPP
