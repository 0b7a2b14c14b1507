// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_SECCOMP_HPP
#define CDI_OCI_SECCOMP_HPP

#include <cstdint>
#include <optional>

#include <cdi/fields.hpp>
#include <cdi/storage.hpp>
#include <cdi/value.hpp>
#include <cdi/version.hpp>

// OCI runtime spec 1.3.0, config-linux.md, "Seccomp".

namespace cdi::inline CDI_ABI::oci {

/// What an argument of a system call must be for a rule to hold.
template <class S>
struct BasicLinuxSeccompArg {
  std::uint64_t index = 0;  // from 0
  std::uint64_t value = 0;
  std::uint64_t value_two = 0;  // of SCMP_CMP_MASKED_EQ
  StringOf<S> op{};             // `SCMP_CMP_EQ`, ...
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxSeccompArg&, const BasicLinuxSeccompArg&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxSeccompArg;
    return std::tuple{
        Field{"index", &Self::index, required},
        Field{"value", &Self::value, required},
        Field{"valueTwo", &Self::value_two},
        Field{"op", &Self::op, required},
    };
  }
};

/// A rule for some system calls.
template <class S>
struct BasicLinuxSyscall {
  ListOf<S, StringOf<S>> names{};
  StringOf<S> action{};  // `SCMP_ACT_ALLOW`, ...
  std::optional<std::uint64_t> errno_ret{};
  ListOf<S, BasicLinuxSeccompArg<S>> args{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxSyscall&, const BasicLinuxSyscall&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxSyscall;
    return std::tuple{
        Field{"names", &Self::names, required},
        Field{"action", &Self::action, required},
        Field{"errnoRet", &Self::errno_ret},
        Field{"args", &Self::args},
    };
  }
};

/// Which system calls the container may make.
template <class S>
struct BasicLinuxSeccomp {
  StringOf<S> default_action{};  // `SCMP_ACT_ERRNO`, ...
  std::optional<std::uint64_t> default_errno_ret{};
  ListOf<S, StringOf<S>> architectures{};  // `SCMP_ARCH_X86_64`, ...
  ListOf<S, StringOf<S>> flags{};
  StringOf<S> listener_path{};
  StringOf<S> listener_metadata{};
  ListOf<S, BasicLinuxSyscall<S>> syscalls{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxSeccomp&, const BasicLinuxSeccomp&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxSeccomp;
    return std::tuple{
        Field{"defaultAction", &Self::default_action, required},
        Field{"defaultErrnoRet", &Self::default_errno_ret},
        Field{"architectures", &Self::architectures},
        Field{"flags", &Self::flags},
        Field{"listenerPath", &Self::listener_path},
        Field{"listenerMetadata", &Self::listener_metadata},
        Field{"syscalls", &Self::syscalls},
    };
  }
};

using LinuxSeccompArg = BasicLinuxSeccompArg<Owning>;
using LinuxSyscall = BasicLinuxSyscall<Owning>;
using LinuxSeccomp = BasicLinuxSeccomp<Owning>;

static_assert(detail::initialisers_used<LinuxSeccompArg, LinuxSyscall, LinuxSeccomp>);

}  // namespace cdi::inline CDI_ABI::oci

#endif  // CDI_OCI_SECCOMP_HPP
