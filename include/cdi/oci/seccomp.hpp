// OCI runtime spec 1.3.0, config-linux.md, "Seccomp".
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_OCI_SECCOMP_HPP
#define CDI_OCI_SECCOMP_HPP

#include <cstdint>
#include <optional>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::oci {

/// A condition on a system call argument. config-linux.md, "Seccomp".
template <class S>
struct BasicLinuxSeccompArg {
  std::uint64_t index = 0;      ///< argument number, from 0
  std::uint64_t value = 0;      ///< value to compare with; for `SCMP_CMP_MASKED_EQ`, the mask
  std::uint64_t value_two = 0;  ///< for `SCMP_CMP_MASKED_EQ`, the value after masking
  StringOf<S> op{};  ///< `SCMP_CMP_EQ`, `_NE`, `_LT`, `_LE`, `_GE`, `_GT` or `_MASKED_EQ`
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxSeccompArg&, const BasicLinuxSeccompArg&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxSeccompArg;
    list("index", &Self::index, required);
    list("value", &Self::value, required);
    list("valueTwo", &Self::value_two);
    list("op", &Self::op, required);
  }
};

/// A rule for a set of system calls. config-linux.md, "Seccomp".
template <class S>
struct BasicLinuxSyscall {
  ListOf<S, StringOf<S>> names = no_items;  ///< system call names, at least one
  StringOf<S> action{};                     ///< such as `SCMP_ACT_ALLOW`
  /// The error number for `SCMP_ACT_ERRNO` and `SCMP_ACT_TRACE`; EPERM when absent.
  std::optional<std::uint64_t> errno_ret{};
  /// Conditions on the arguments; all must hold.
  ListOf<S, BasicLinuxSeccompArg<S>> args = no_items;
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxSyscall&, const BasicLinuxSyscall&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxSyscall;
    list("names", &Self::names, required);
    list("action", &Self::action, required);
    list("errnoRet", &Self::errno_ret);
    list("args", &Self::args);
  }
};

/// The system calls that the container may make: seccomp(2). config-linux.md, "Seccomp".
template <class S>
struct BasicLinuxSeccomp {
  StringOf<S> default_action{};  ///< for calls without a rule, such as `SCMP_ACT_ERRNO`
  std::optional<std::uint64_t> default_errno_ret{};  ///< for `default_action`; EPERM when absent
  /// The architectures of the system calls, such as `SCMP_ARCH_X86_64`.
  ListOf<S, StringOf<S>> architectures = no_items;
  /// Flags of seccomp(2), such as `SECCOMP_FILTER_FLAG_LOG`.
  ListOf<S, StringOf<S>> flags = no_items;
  /// The UNIX socket, on the host, of the agent that handles `SCMP_ACT_NOTIFY`.
  StringOf<S> listener_path{};
  StringOf<S> listener_metadata{};  ///< text passed to the agent
  /// The rules; when empty, `default_action` applies to all calls.
  ListOf<S, BasicLinuxSyscall<S>> syscalls = no_items;
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxSeccomp&, const BasicLinuxSeccomp&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxSeccomp;
    list("defaultAction", &Self::default_action, required);
    list("defaultErrnoRet", &Self::default_errno_ret);
    list("architectures", &Self::architectures);
    list("flags", &Self::flags);
    list("listenerPath", &Self::listener_path);
    list("listenerMetadata", &Self::listener_metadata);
    list("syscalls", &Self::syscalls);
  }
};

using LinuxSeccompArg = BasicLinuxSeccompArg<Owning>;
using LinuxSyscall = BasicLinuxSyscall<Owning>;
using LinuxSeccomp = BasicLinuxSeccomp<Owning>;

}  // namespace cdi::oci

#endif  // CDI_OCI_SECCOMP_HPP
