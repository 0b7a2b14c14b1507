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

/// A device node of the host.
struct HostNode {
  char type = 'c';              ///< 'b' block, 'c' character, 'p' FIFO
  std::int64_t major = 0;       ///< 0 for a FIFO
  std::int64_t minor = 0;       ///< 0 for a FIFO
  std::uint32_t file_mode = 0;  ///< permission bits only: at most 07777

  friend bool operator==(const HostNode&, const HostNode&) = default;
};

/// A function from a path of the host to its device node: `SystemHost`, or a lambda for tests. By
/// convention its errors are `Errc::host`; the engine returns them unchanged.
template <class T>
concept HostLookup = requires(const T& host, std::string_view path) {
  { host(path) } -> std::same_as<Result<HostNode>>;
};

namespace detail {

/// An error with the text of `strerror`, which is thread-safe in the C libraries of Linux.
Error system_error(Errc code, std::string message, int number);

}  // namespace detail

/// The host on which the program runs. Costs one `lstat`: no file is opened, no link is followed.
/// Has no state; any number of threads may use it.
struct SystemHost {
  /// The device node at a path. `Errc::host` when `lstat` fails, with `Error::system`; when the
  /// file is not a device node or FIFO; and when the path contains a NUL.
  Result<HostNode> operator()(std::string_view path) const;
};

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/engine/host.inl>
#endif

#endif  // CDI_ENGINE_HOST_HPP
