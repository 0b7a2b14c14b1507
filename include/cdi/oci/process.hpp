// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_PROCESS_HPP
#define CDI_OCI_PROCESS_HPP

#include <cstdint>
#include <optional>

#include <cdi/fields.hpp>
#include <cdi/storage.hpp>
#include <cdi/value.hpp>
#include <cdi/version.hpp>

// OCI runtime spec 1.3.0, config.md, "Process".

namespace cdi::inline CDI_ABI::oci {

/// The size of a console, in characters.
template <class S>
struct BasicBox {
  std::uint64_t height = 0;
  std::uint64_t width = 0;
  ExtraOf<S> extra{};

  friend bool operator==(const BasicBox&, const BasicBox&) = default;

  static constexpr auto fields() {
    using Self = BasicBox;
    return std::tuple{
        Field{"height", &Self::height, required},
        Field{"width", &Self::width, required},
    };
  }
};

/// Who the process of the container runs as.
template <class S>
struct BasicUser {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::optional<std::uint32_t> umask{};
  ListOf<S, std::uint32_t> additional_gids{};
  StringOf<S> username{};  // Windows only
  ExtraOf<S> extra{};

  friend bool operator==(const BasicUser&, const BasicUser&) = default;

  static constexpr auto fields() {
    using Self = BasicUser;
    return std::tuple{
        Field{"uid", &Self::uid, Presence::keep_empty},
        Field{"gid", &Self::gid, Presence::keep_empty},
        Field{"umask", &Self::umask},
        Field{"additionalGids", &Self::additional_gids},
        Field{"username", &Self::username},
    };
  }
};

/// The Linux capabilities of a process, as names like `CAP_NET_ADMIN`.
template <class S>
struct BasicLinuxCapabilities {
  ListOf<S, StringOf<S>> bounding{};
  ListOf<S, StringOf<S>> effective{};
  ListOf<S, StringOf<S>> inheritable{};
  ListOf<S, StringOf<S>> permitted{};
  ListOf<S, StringOf<S>> ambient{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxCapabilities&, const BasicLinuxCapabilities&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxCapabilities;
    return std::tuple{
        Field{"bounding", &Self::bounding},       Field{"effective", &Self::effective},
        Field{"inheritable", &Self::inheritable}, Field{"permitted", &Self::permitted},
        Field{"ambient", &Self::ambient},
    };
  }
};

/// A resource limit, as of setrlimit(2).
template <class S>
struct BasicPosixRlimit {
  StringOf<S> type{};  // `RLIMIT_NOFILE`, ...
  std::uint64_t hard = 0;
  std::uint64_t soft = 0;
  ExtraOf<S> extra{};

  friend bool operator==(const BasicPosixRlimit&, const BasicPosixRlimit&) = default;

  static constexpr auto fields() {
    using Self = BasicPosixRlimit;
    return std::tuple{
        Field{"type", &Self::type, required},
        Field{"hard", &Self::hard, required},
        Field{"soft", &Self::soft, required},
    };
  }
};

/// How the kernel schedules a process: sched_setattr(2).
template <class S>
struct BasicScheduler {
  StringOf<S> policy{};  // `SCHED_OTHER`, ...
  std::int32_t nice = 0;
  std::int32_t priority = 0;
  ListOf<S, StringOf<S>> flags{};
  std::uint64_t runtime = 0;  // nanoseconds, as the two below
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
  ExtraOf<S> extra{};

  friend bool operator==(const BasicScheduler&, const BasicScheduler&) = default;

  static constexpr auto fields() {
    using Self = BasicScheduler;
    return std::tuple{
        Field{"policy", &Self::policy, required}, Field{"nice", &Self::nice},
        Field{"priority", &Self::priority},       Field{"flags", &Self::flags},
        Field{"runtime", &Self::runtime},         Field{"deadline", &Self::deadline},
        Field{"period", &Self::period},
    };
  }
};

/// The priority of a process for input and output: ioprio_set(2).
template <class S>
struct BasicLinuxIoPriority {
  StringOf<S> class_{};  // `IOPRIO_CLASS_BE`, ...
  std::int64_t priority = 0;
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxIoPriority&, const BasicLinuxIoPriority&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxIoPriority;
    return std::tuple{
        Field{"class", &Self::class_, required},
        Field{"priority", &Self::priority, Presence::keep_empty},
    };
  }
};

/// The processors for programs run later in the container, as lists like `0-3,7`.
template <class S>
struct BasicCpuAffinity {
  StringOf<S> initial{};
  StringOf<S> final_{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicCpuAffinity&, const BasicCpuAffinity&) = default;

  static constexpr auto fields() {
    using Self = BasicCpuAffinity;
    return std::tuple{
        Field{"initial", &Self::initial},
        Field{"final", &Self::final_},
    };
  }
};

/// The process that the container starts.
template <class S>
struct BasicProcess {
  bool terminal = false;
  std::optional<BasicBox<S>> console_size{};
  BasicUser<S> user{};
  ListOf<S, StringOf<S>> args{};
  StringOf<S> command_line{};    // Windows only
  ListOf<S, StringOf<S>> env{};  // "NAME=value"
  StringOf<S> cwd{};             // absolute
  std::optional<BasicLinuxCapabilities<S>> capabilities{};
  ListOf<S, BasicPosixRlimit<S>> rlimits{};
  bool no_new_privileges = false;
  StringOf<S> apparmor_profile{};
  std::optional<std::int64_t> oom_score_adj{};
  std::optional<BasicScheduler<S>> scheduler{};
  StringOf<S> selinux_label{};
  std::optional<BasicLinuxIoPriority<S>> io_priority{};
  std::optional<BasicCpuAffinity<S>> exec_cpu_affinity{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicProcess&, const BasicProcess&) = default;

  static constexpr auto fields() {
    using Self = BasicProcess;
    return std::tuple{
        Field{"terminal", &Self::terminal},
        Field{"consoleSize", &Self::console_size},
        Field{"user", &Self::user, Presence::keep_empty},
        Field{"args", &Self::args},
        Field{"commandLine", &Self::command_line},
        Field{"env", &Self::env},
        Field{"cwd", &Self::cwd, required},
        Field{"capabilities", &Self::capabilities},
        Field{"rlimits", &Self::rlimits},
        Field{"noNewPrivileges", &Self::no_new_privileges},
        Field{"apparmorProfile", &Self::apparmor_profile},
        Field{"oomScoreAdj", &Self::oom_score_adj},
        Field{"scheduler", &Self::scheduler},
        Field{"selinuxLabel", &Self::selinux_label},
        Field{"ioPriority", &Self::io_priority},
        Field{"execCPUAffinity", &Self::exec_cpu_affinity},
    };
  }
};

using Box = BasicBox<Owning>;
using User = BasicUser<Owning>;
using LinuxCapabilities = BasicLinuxCapabilities<Owning>;
using PosixRlimit = BasicPosixRlimit<Owning>;
using Scheduler = BasicScheduler<Owning>;
using LinuxIoPriority = BasicLinuxIoPriority<Owning>;
using CpuAffinity = BasicCpuAffinity<Owning>;
using Process = BasicProcess<Owning>;

static_assert(detail::initialisers_used<Box, User, LinuxCapabilities, PosixRlimit, Scheduler,
                                        LinuxIoPriority, CpuAffinity, Process>);

}  // namespace cdi::inline CDI_ABI::oci

#endif  // CDI_OCI_PROCESS_HPP
