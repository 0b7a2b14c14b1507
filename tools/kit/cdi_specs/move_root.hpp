// `move_root`: replaces the root of host or container paths in a spec.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>

namespace tools {

/// Which paths of a spec `move_root` moves.
enum class PathsOf : std::uint8_t {
  /// Host paths of device nodes and mounts; programs of hooks, except of `startContainer`; and
  /// arguments of hooks that run outside the container.
  host,
  /// Container paths of device nodes and mounts; programs of `startContainer` hooks; and arguments
  /// of `createContainer` and `startContainer` hooks.
  container,
};

/// Moves the paths that are `from` or below it to `to`, in the whole spec: for example from
/// `/run/nvidia/driver` to `/`, or from `/` to `/host`. Returns the number of members that changed.
///
/// Paths are compared part by part, in their shortest form: `/a/b` is below `/a`, and neither
/// `/ab` nor `/a/../b` is. An argument of a hook is moved if it is such a path, or two of them
/// joined by `::`, as in links of nvidia-cdi-hook; an argument such as `--folder=/a` stays.
///
/// A device node keeps its device: if only one of its two paths moves, `hostPath` is set, or
/// removed if both are then equal. `version` is raised if it does not define `hostPath`.
///
/// Fails with `Errc::invalid`, and changes nothing, if `from` or `to` is not an absolute path.
cdi::Result<std::size_t> move_root(cdi::Spec& spec, std::string_view from, std::string_view to,
                                   PathsOf paths = PathsOf::host);

}  // namespace tools
