// `apply`'s view of the host: types and numbers of device nodes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_HOST_HPP
#define CDI_APPLY_HOST_HPP

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// A device node of the host.
struct HostNode {
  char type = 'c';              ///< 'b' block, 'c' character, 'p' FIFO
  std::int64_t major = 0;       ///< 0 for a FIFO
  std::int64_t minor = 0;       ///< 0 for a FIFO
  std::uint32_t file_mode = 0;  ///< permission bits only, at most 07777

  friend bool operator==(const HostNode&, const HostNode&) = default;
};

/// A function from a host path to its device node: `SystemHost`, or a lambda in tests. By
/// convention, it fails with `Errc::host`; `apply` returns its errors unchanged.
template <class T>
concept HostLookup = requires(const T& host, std::string_view path) {
  { host(path) } -> std::same_as<Result<HostNode>>;
};

namespace detail {

/// Makes an error with the text of `strerror`, which is thread-safe in the C libraries of Linux.
Error system_error(Errc code, std::string message, int number);

}  // namespace detail

/// The host on which the program runs. A lookup costs one `lstat`: it opens no file and follows no
/// link. The object has no state, and any number of threads may use it.
struct SystemHost {
  /// Returns the device node at a path. Fails with `Errc::host` if `lstat` fails, with
  /// `Error::system`; if the file is not a device node or FIFO; or if the path contains a NUL byte.
  Result<HostNode> operator()(std::string_view path) const;
};

}  // namespace cdi

#if CDI_BODIES
#include <cdi/apply/host.inl>
#endif

#endif  // CDI_APPLY_HOST_HPP
