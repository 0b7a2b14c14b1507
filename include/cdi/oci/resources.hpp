// OCI runtime spec 1.3.0, config-linux.md, "Control groups".
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_RESOURCES_HPP
#define CDI_OCI_RESOURCES_HPP

#include <cstdint>
#include <optional>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace oci {

/// A rule of the device cgroup: allows or denies access to devices. config-linux.md,
/// "Allowed Device list".
template <class S>
struct BasicLinuxDeviceCgroup {
  bool allow = false;                   ///< true to allow, false to deny
  StringOf<S> type{};                   ///< "a" for all, "b" or "c"; all when empty
  std::optional<std::int64_t> major{};  ///< all when absent
  std::optional<std::int64_t> minor{};  ///< all when absent
  StringOf<S> access{};                 ///< some of "rwm": read, write, mknod
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxDeviceCgroup&, const BasicLinuxDeviceCgroup&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxDeviceCgroup;
    list("allow", &Self::allow, required);
    list("type", &Self::type);
    list("major", &Self::major);
    list("minor", &Self::minor);
    list("access", &Self::access);
  }
};

/// The memory cgroup. Amounts are in bytes, -1 for no limit; absent members are not set.
/// config-linux.md, "Memory".
template <class S>
struct BasicLinuxMemory {
  std::optional<std::int64_t> limit{};  ///< maximum of memory, above which processes are killed
  /// Soft limit, which is enforced when the host lacks memory.
  std::optional<std::int64_t> reservation{};
  std::optional<std::int64_t> swap{};         ///< memory and swap together
  std::optional<std::int64_t> kernel{};       ///< the kernel's memory for it; not recommended
  std::optional<std::int64_t> kernel_tcp{};   ///< the kernel's TCP buffers; not recommended
  std::optional<std::uint64_t> swappiness{};  ///< 0 to 100, which swaps the most
  /// True: processes wait at the limit, and are not killed.
  std::optional<bool> disable_oom_killer{};
  std::optional<bool> use_hierarchy{};        ///< true: cgroups below share these limits
  std::optional<bool> check_before_update{};  ///< true: a limit below the current use is refused
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxMemory&, const BasicLinuxMemory&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxMemory;
    list("limit", &Self::limit);
    list("reservation", &Self::reservation);
    list("swap", &Self::swap);
    list("kernel", &Self::kernel);
    list("kernelTCP", &Self::kernel_tcp);
    list("swappiness", &Self::swappiness);
    list("disableOOMKiller", &Self::disable_oom_killer);
    list("useHierarchy", &Self::use_hierarchy);
    list("checkBeforeUpdate", &Self::check_before_update);
  }
};

/// The cpu and cpuset cgroups. Times are in microseconds; absent or empty members are not set.
/// config-linux.md, "CPU".
template <class S>
struct BasicLinuxCpu {
  /// Weight against other cgroups; the default of the kernel is 1024.
  std::optional<std::uint64_t> shares{};
  /// Time that all tasks together may run in a `period`; negative for no limit.
  std::optional<std::int64_t> quota{};
  /// Unused time that may be used in addition to `quota` in one period; at most `quota`.
  std::optional<std::uint64_t> burst{};
  std::optional<std::uint64_t> period{};  ///< time after which `quota` is renewed
  /// Time that realtime tasks may run in a `realtime_period`.
  std::optional<std::int64_t> realtime_runtime{};
  std::optional<std::uint64_t> realtime_period{};  ///< as `period`, for realtime tasks
  StringOf<S> cpus{};                              ///< processors, a list such as `0-3,7`
  StringOf<S> mems{};                              ///< memory nodes, a list such as `0-3,7`
  std::optional<std::int64_t> idle{};  ///< 1 to run tasks like those of SCHED_IDLE, else 0
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxCpu&, const BasicLinuxCpu&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxCpu;
    list("shares", &Self::shares);
    list("quota", &Self::quota);
    list("burst", &Self::burst);
    list("period", &Self::period);
    list("realtimeRuntime", &Self::realtime_runtime);
    list("realtimePeriod", &Self::realtime_period);
    list("cpus", &Self::cpus);
    list("mems", &Self::mems);
    list("idle", &Self::idle);
  }
};

/// The pids cgroup. config-linux.md, "PIDs".
template <class S>
struct BasicLinuxPids {
  /// Maximum of processes and threads; -1 for no limit, not set when absent.
  std::optional<std::int64_t> limit{};
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxPids&, const BasicLinuxPids&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxPids;
    list("limit", &Self::limit);
  }
};

/// The weights for a block device, at least one of the two.
/// config-linux.md, "Block IO".
template <class S>
struct BasicLinuxWeightDevice {
  std::int64_t major = 0;  ///< major number of the device on the host
  std::int64_t minor = 0;  ///< minor number of the device on the host
  /// Against other cgroups: 10 to 1000, which gets the most.
  std::optional<std::uint16_t> weight{};
  /// Weight of its own tasks against the cgroups below it; CFQ only.
  std::optional<std::uint16_t> leaf_weight{};
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxWeightDevice&, const BasicLinuxWeightDevice&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxWeightDevice;
    list("major", &Self::major, required);
    list("minor", &Self::minor, required);
    list("weight", &Self::weight);
    list("leafWeight", &Self::leaf_weight);
  }
};

/// The maximum rate of a block device, in bytes or operations per second. config-linux.md, "Block
/// IO".
template <class S>
struct BasicLinuxThrottleDevice {
  std::int64_t major = 0;  ///< major number of the device on the host
  std::int64_t minor = 0;  ///< minor number of the device on the host
  std::uint64_t rate = 0;  ///< bytes or operations per second: see `BasicLinuxBlockIo`
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxThrottleDevice&,
                         const BasicLinuxThrottleDevice&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxThrottleDevice;
    list("major", &Self::major, required);
    list("minor", &Self::minor, required);
    list("rate", &Self::rate, required);
  }
};

/// The blkio cgroup. Absent or empty members are not set. config-linux.md, "Block IO".
template <class S>
struct BasicLinuxBlockIo {
  /// 10 to 1000, for devices that `weight_device` does not name.
  std::optional<std::uint16_t> weight{};
  /// Weight of its own tasks against the cgroups below it; CFQ only.
  std::optional<std::uint16_t> leaf_weight{};
  ListOf<S, BasicLinuxWeightDevice<S>> weight_device = no_items;  ///< weights of single devices
  /// Maximum of bytes read per second.
  ListOf<S, BasicLinuxThrottleDevice<S>> throttle_read_bps_device = no_items;
  /// Maximum of bytes written per second.
  ListOf<S, BasicLinuxThrottleDevice<S>> throttle_write_bps_device = no_items;
  /// Maximum of reads per second.
  ListOf<S, BasicLinuxThrottleDevice<S>> throttle_read_iops_device = no_items;
  /// Maximum of writes per second.
  ListOf<S, BasicLinuxThrottleDevice<S>> throttle_write_iops_device = no_items;
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxBlockIo&, const BasicLinuxBlockIo&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxBlockIo;
    list("weight", &Self::weight);
    list("leafWeight", &Self::leaf_weight);
    list("weightDevice", &Self::weight_device);
    list("throttleReadBpsDevice", &Self::throttle_read_bps_device);
    list("throttleWriteBpsDevice", &Self::throttle_write_bps_device);
    list("throttleReadIOPSDevice", &Self::throttle_read_iops_device);
    list("throttleWriteIOPSDevice", &Self::throttle_write_iops_device);
  }
};

/// The limit of huge pages of one size. config-linux.md, "Huge page limits".
template <class S>
struct BasicLinuxHugepageLimit {
  StringOf<S> page_size{};  ///< such as `2MB` or `1GB`, in powers of 1024
  std::uint64_t limit = 0;  ///< bytes, reserved or used, as the kernel counts
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxHugepageLimit&, const BasicLinuxHugepageLimit&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxHugepageLimit;
    list("pageSize", &Self::page_size, required);
    list("limit", &Self::limit, required);
  }
};

/// The priority of packets that the container sends over an interface. config-linux.md, "Network".
template <class S>
struct BasicLinuxInterfacePriority {
  StringOf<S> name{};          ///< name of the interface in the runtime's network namespace
  std::uint32_t priority = 0;  ///< priority of the packets
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxInterfacePriority&,
                         const BasicLinuxInterfacePriority&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxInterfacePriority;
    list("name", &Self::name, required);
    list("priority", &Self::priority, required);
  }
};

/// The net_cls and net_prio cgroups. config-linux.md, "Network".
template <class S>
struct BasicLinuxNetwork {
  /// Mark of its packets, such as 0x100001 for class 10:1 of tc(8); none when absent.
  std::optional<std::uint32_t> class_id{};
  ListOf<S, BasicLinuxInterfacePriority<S>> priorities = no_items;  ///< priorities by interface
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxNetwork&, const BasicLinuxNetwork&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxNetwork;
    list("classID", &Self::class_id);
    list("priorities", &Self::priorities);
  }
};

/// The rdma cgroup for one device, with at least one of the two limits. config-linux.md, "RDMA".
template <class S>
struct BasicLinuxRdma {
  std::optional<std::uint32_t> hca_handles{};  ///< maximum of handles; not set when absent
  std::optional<std::uint32_t> hca_objects{};  ///< maximum of objects; not set when absent
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxRdma&, const BasicLinuxRdma&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxRdma;
    list("hcaHandles", &Self::hca_handles);
    list("hcaObjects", &Self::hca_objects);
  }
};

/// The cgroup settings of the container. Absent or empty members are unchanged. config-linux.md,
/// "Control groups".
template <class S>
struct BasicLinuxResources {
  /// Rules in the order in which they are applied.
  ListOf<S, BasicLinuxDeviceCgroup<S>> devices = no_items;
  std::optional<BasicLinuxMemory<S>> memory{};     ///< memory and swap
  std::optional<BasicLinuxCpu<S>> cpu{};           ///< processors and their time
  std::optional<BasicLinuxPids<S>> pids{};         ///< limit on processes and threads
  std::optional<BasicLinuxBlockIo<S>> block_io{};  ///< weights and rates of block devices
  ListOf<S, BasicLinuxHugepageLimit<S>> hugepage_limits = no_items;  ///< one per page size
  std::optional<BasicLinuxNetwork<S>> network{};  ///< marks and priorities of packets
  DictOf<S, BasicLinuxRdma<S>> rdma{by_key};  ///< limits by device of the host, such as `mlx5_1`
  /// Cgroup v2 files, such as `io.max`, and the text to write to them.
  DictOf<S, StringOf<S>> unified{by_key};
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxResources&, const BasicLinuxResources&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxResources;
    list("devices", &Self::devices);
    list("memory", &Self::memory);
    list("cpu", &Self::cpu);
    list("pids", &Self::pids);
    list("blockIO", &Self::block_io);
    list("hugepageLimits", &Self::hugepage_limits);
    list("network", &Self::network);
    list("rdma", &Self::rdma);
    list("unified", &Self::unified);
  }
};

using LinuxDeviceCgroup = BasicLinuxDeviceCgroup<Owning>;
using LinuxDeviceCgroupView = BasicLinuxDeviceCgroup<Borrowed>;
using LinuxMemory = BasicLinuxMemory<Owning>;
using LinuxCpu = BasicLinuxCpu<Owning>;
using LinuxPids = BasicLinuxPids<Owning>;
using LinuxWeightDevice = BasicLinuxWeightDevice<Owning>;
using LinuxThrottleDevice = BasicLinuxThrottleDevice<Owning>;
using LinuxBlockIo = BasicLinuxBlockIo<Owning>;
using LinuxHugepageLimit = BasicLinuxHugepageLimit<Owning>;
using LinuxInterfacePriority = BasicLinuxInterfacePriority<Owning>;
using LinuxNetwork = BasicLinuxNetwork<Owning>;
using LinuxRdma = BasicLinuxRdma<Owning>;
using LinuxResources = BasicLinuxResources<Owning>;

}  // namespace oci
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_OCI_RESOURCES_HPP
