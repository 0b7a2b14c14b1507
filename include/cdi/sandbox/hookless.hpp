// `without_hooks`: the edits of a plan, with mounts, variables and nodes in place of hooks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_HOOKLESS_HPP
#define CDI_SANDBOX_HOOKLESS_HPP

#include <string>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/sandbox/hook_way.hpp>  // IWYU pragma: export
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
  /// The mounts that the container has without the edits. A file of `state_dir` that is mounted in
  /// place of the linker's cache or path file, by an earlier call, is read and extended; another
  /// file is not read, and `LD_LIBRARY_PATH` is used.
  std::vector<Mount> mounts{};
  /// A directory in the container for libraries, if `LD_LIBRARY_PATH` lists them; empty for their
  /// own directories, which other mounts of a sandbox may hide.
  std::string library_dir{};
  /// Whether hooks that are not understood stay in the plan; otherwise, each is an error.
  bool keep_unknown = false;
};

/// A plan without hooks, and how the effect of each hook is made.
struct HooklessPlan {
  Plan plan{};                    ///< hooks only if `keep_unknown` left them
  std::vector<HookNote> notes{};  ///< in the order of the hooks; at least one for each
};

/// Replaces the hooks of a plan by mounts, variables, nodes and generated files, so that a
/// container needs neither hooks nor the vendor's programs. Reads the image and the library files
/// of the plan, and writes only into `state_dir`.
///
/// Fails with `Errc::unsupported` if hooks are not understood, with `Errc::denied` if other users
/// may write in `state_dir`, and with `Errc::system` if `image_root` or `state_dir` cannot be used.
/// Costs one stat and one open for each library of the plan; with a generated linker cache, one
/// more stat for each library, and one open of the cache.
Result<HooklessPlan> without_hooks(const Plan& plan, const HooklessOptions& options = {});

}  // namespace cdi

#if CDI_BODIES
#include <cdi/sandbox/hookless.inl>
#endif

#endif  // CDI_SANDBOX_HOOKLESS_HPP
