// OCI runtime spec 1.3.0, config.md, "Process".
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_OCI_PROCESS_HPP
#define CDI_OCI_PROCESS_HPP

#include <cstdint>
#include <optional>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::oci {

/// The size of a console. config.md, "Process".
template <class S>
struct BasicBox {
  std::uint64_t height = 0;  ///< lines of text
  std::uint64_t width = 0;   ///< characters per line
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicBox&, const BasicBox&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicBox;
    list("height", &Self::height, required);
    list("width", &Self::width, required);
  }
};

/// The user that runs the container's process. config.md, "User".
template <class S>
struct BasicUser {
  std::uint32_t uid = 0;  ///< user id in the container's user namespace; not on Windows
  std::uint32_t gid = 0;  ///< group id in the container's user namespace; not on Windows
  /// Permission bits to remove from new files; the runtime's choice when absent.
  std::optional<std::uint32_t> umask{};
  /// Supplementary groups, in the same namespace.
  ListOf<S, std::uint32_t> additional_gids = no_items;
  StringOf<S> username{};  ///< user name; Windows only
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicUser&, const BasicUser&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicUser;
    list("uid", &Self::uid, Presence::keep_empty);
    list("gid", &Self::gid, Presence::keep_empty);
    list("umask", &Self::umask);
    list("additionalGids", &Self::additional_gids);
    list("username", &Self::username);
  }
};

/// A process's Linux capabilities, by names such as `CAP_NET_ADMIN`; see capabilities(7).
/// config.md, "Linux Process".
template <class S>
struct BasicLinuxCapabilities {
  ListOf<S, StringOf<S>> bounding = no_items;  ///< limits what a program can gain through execve(2)
  /// The capabilities that the kernel checks.
  ListOf<S, StringOf<S>> effective = no_items;
  /// Capabilities that execve(2) grants if the file's inheritable set also contains them.
  ListOf<S, StringOf<S>> inheritable = no_items;
  ListOf<S, StringOf<S>> permitted = no_items;  ///< capabilities that may become effective
  /// Kept across execve(2), unless the file is set-user-ID or set-group-ID or has capabilities.
  ListOf<S, StringOf<S>> ambient = no_items;
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxCapabilities&, const BasicLinuxCapabilities&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxCapabilities;
    list("bounding", &Self::bounding);
    list("effective", &Self::effective);
    list("inheritable", &Self::inheritable);
    list("permitted", &Self::permitted);
    list("ambient", &Self::ambient);
  }
};

/// A resource limit: see setrlimit(2), also for the units. config.md, "POSIX process".
template <class S>
struct BasicPosixRlimit {
  StringOf<S> type{};  ///< such as `RLIMIT_NOFILE`; at most once per process
  /// The maximum for `soft`; 2^64 - 1 for no limit.
  std::uint64_t hard = 0;
  std::uint64_t soft = 0;  ///< the enforced limit; 2^64 - 1 for no limit
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicPosixRlimit&, const BasicPosixRlimit&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicPosixRlimit;
    list("type", &Self::type, required);
    list("hard", &Self::hard, required);
    list("soft", &Self::soft, required);
  }
};

/// A process's scheduling policy: sched_setattr(2). config.md, "Linux Process".
template <class S>
struct BasicScheduler {
  /// `SCHED_OTHER`, `SCHED_BATCH`, `SCHED_IDLE`, `SCHED_FIFO`, `SCHED_RR`, `SCHED_DEADLINE`, ...
  StringOf<S> policy{};
  std::int32_t nice = 0;  ///< -20 (highest priority) to 19; for `SCHED_OTHER` and `SCHED_BATCH`
  /// From 1 to 99, the highest, for `SCHED_FIFO` and `SCHED_RR`; otherwise 0.
  std::int32_t priority = 0;
  ListOf<S, StringOf<S>> flags = no_items;  ///< `SCHED_FLAG_RESET_ON_FORK`, ...
  /// Nanoseconds of run time per period. This and the next two members are for `SCHED_DEADLINE`.
  std::uint64_t runtime = 0;
  std::uint64_t deadline = 0;  ///< nanoseconds within which the run time must be granted
  std::uint64_t period = 0;    ///< nanoseconds between the starts of periods
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicScheduler&, const BasicScheduler&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicScheduler;
    list("policy", &Self::policy, required);
    list("nice", &Self::nice);
    list("priority", &Self::priority);
    list("flags", &Self::flags);
    list("runtime", &Self::runtime);
    list("deadline", &Self::deadline);
    list("period", &Self::period);
  }
};

/// The I/O priority of a process: ioprio_set(2). config.md, "Linux Process".
template <class S>
struct BasicLinuxIoPriority {
  StringOf<S> class_{};       ///< `IOPRIO_CLASS_RT`, `IOPRIO_CLASS_BE` or `IOPRIO_CLASS_IDLE`
  std::int64_t priority = 0;  ///< within the class, from 0, the highest, to 7
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxIoPriority&, const BasicLinuxIoPriority&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxIoPriority;
    list("class", &Self::class_, required);
    list("priority", &Self::priority, Presence::keep_empty);
  }
};

/// The processors, as lists such as `0-3,7`, for programs started later in the container, not for
/// its first process. config.md, "Linux Process".
template <class S>
struct BasicCpuAffinity {
  StringOf<S> initial{};  ///< processors before the program joins the container's cgroup
  StringOf<S> final_{};   ///< processors from then on; the cgroup's when empty
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicCpuAffinity&, const BasicCpuAffinity&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicCpuAffinity;
    list("initial", &Self::initial);
    list("final", &Self::final_);
  }
};

/// The process that runs in the container. config.md, "Process".
template <class S>
struct BasicProcess {
  bool terminal = false;  ///< whether to create a terminal for the standard streams
  /// The terminal's size; the runtime's choice when absent.
  std::optional<BasicBox<S>> console_size{};
  BasicUser<S> user{};  ///< the user; the container's root by default
  /// The program and its arguments; a name without a slash is searched for in `PATH`.
  ListOf<S, StringOf<S>> args = no_items;
  StringOf<S> command_line{};             ///< Windows only; when empty, `args` is used
  ListOf<S, StringOf<S>> env = no_items;  ///< the environment, "NAME=value"
  /// The working directory, an absolute path in the container. OCI requires it, but not all configs
  /// set it. Like the Go types, the library reads and writes a missing value as an empty text.
  StringOf<S> cwd{};
  /// Linux only; the runtime's choice when absent.
  std::optional<BasicLinuxCapabilities<S>> capabilities{};
  /// Limits to set; all others are inherited from the runtime.
  ListOf<S, BasicPosixRlimit<S>> rlimits = no_items;
  /// Whether to stop execve(2) from adding privileges, for example through set-user-ID.
  bool no_new_privileges = false;
  StringOf<S> apparmor_profile{};  ///< a profile loaded on the host; not set when empty
  /// From -1000 (never killed when memory runs out) to 1000; unchanged when absent.
  std::optional<std::int64_t> oom_score_adj{};
  std::optional<BasicScheduler<S>> scheduler{};  ///< CPU scheduling; unchanged when absent
  StringOf<S> selinux_label{};  ///< SELinux label of the process; not set when empty
  std::optional<BasicLinuxIoPriority<S>> io_priority{};  ///< unchanged when absent
  /// The processors for programs started later, not for this process.
  std::optional<BasicCpuAffinity<S>> exec_cpu_affinity{};
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicProcess&, const BasicProcess&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicProcess;
    list("terminal", &Self::terminal);
    list("consoleSize", &Self::console_size);
    list("user", &Self::user, Presence::keep_empty);
    list("args", &Self::args);
    list("commandLine", &Self::command_line);
    list("env", &Self::env);
    list("cwd", &Self::cwd, Presence::keep_empty);
    list("capabilities", &Self::capabilities);
    list("rlimits", &Self::rlimits);
    list("noNewPrivileges", &Self::no_new_privileges);
    list("apparmorProfile", &Self::apparmor_profile);
    list("oomScoreAdj", &Self::oom_score_adj);
    list("scheduler", &Self::scheduler);
    list("selinuxLabel", &Self::selinux_label);
    list("ioPriority", &Self::io_priority);
    list("execCPUAffinity", &Self::exec_cpu_affinity);
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

}  // namespace cdi::oci

#endif  // CDI_OCI_PROCESS_HPP
