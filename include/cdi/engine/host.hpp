// What the engine asks the host: type and numbers of a device node.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_ENGINE_HOST_HPP
#define CDI_ENGINE_HOST_HPP

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// What the host says of one of its device nodes.
struct HostNode {
  char type = 'c';              ///< 'b' block, 'c' character, 'p' FIFO
  std::int64_t major = 0;       ///< 0 for a FIFO
  std::int64_t minor = 0;       ///< 0 for a FIFO
  std::uint32_t file_mode = 0;  ///< permission bits only: at most 0777

  friend bool operator==(const HostNode&, const HostNode&) = default;
};

/// Whoever can be asked for the device node at a path of the host. Errors are `Errc::host`, by
/// custom: they are passed on as they are. `SystemHost` is one, a lambda for tests another.
template <class T>
concept HostLookup = requires(const T& host, std::string_view path) {
  { host(path) } -> std::same_as<Result<HostNode>>;
};

namespace detail {

/// What the system says in the words of `strerror`, thread-safe for the C libraries of Linux.
Error system_error(Errc code, std::string message, int number);

}  // namespace detail

/// The host the program runs on. Looks with one `lstat`: nothing is opened, links are not followed.
/// Holds nothing; any number of threads may ask.
struct SystemHost {
  /// The device node at a path. `Errc::host` when nothing is there or it cannot be looked at, with
  /// `Error::system` then, and when it is no device node or FIFO, or the path holds NUL.
  Result<HostNode> operator()(std::string_view path) const;
};

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/engine/impl/host.hpp>
#endif

#endif  // CDI_ENGINE_HOST_HPP
