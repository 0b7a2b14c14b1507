// How the effects of hooks are made without hooks, and what decides about it.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_SANDBOX_HOOK_WAY_HPP
#define CDI_SANDBOX_HOOK_WAY_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// What `without_hooks` knows about a container, and what it may do.
struct HooklessOptions {
  /// The root directory of the container's image, as a path on the host; empty if it is unknown.
  /// Only read; links in it never lead out of it.
  std::string image_root{};
  /// An existing directory on the host for generated files, which must live as long as the
  /// container; empty if no file may be generated. Each file is named after its content, is written
  /// once, and serves all containers with the same devices and image.
  std::string state_dir{};
  /// The variables that the container has without the edits, such as `A=1`.
  std::vector<std::string> environment{};
  /// A directory in the container for libraries, if `LD_LIBRARY_PATH` lists them; empty for their
  /// own directories, which other mounts of a sandbox may hide.
  std::string library_dir{};
  /// Whether hooks that are not understood stay in the plan; otherwise, each is an error.
  bool keep_unknown = false;
};

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

}  // namespace cdi

#endif  // CDI_SANDBOX_HOOK_WAY_HPP
