// OCI runtime spec 1.3.0, config-linux.md, "Control groups".
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_OCI_RESOURCES_HPP
#define CDI_OCI_RESOURCES_HPP

#include <cstdint>
#include <optional>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::oci {

/// A device cgroup rule, which allows or denies access to devices. config-linux.md, "Allowed Device
/// list".
template <class S>
struct BasicLinuxDeviceCgroup {
  bool allow = false;                   ///< true to allow, false to deny
  StringOf<S> type{};                   ///< "b" block, "c" character, "a" or empty for all
  std::optional<std::int64_t> major{};  ///< all numbers when absent
  std::optional<std::int64_t> minor{};  ///< all numbers when absent
  StringOf<S> access{};                 ///< a subset of "rwm": read, write, mknod
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

/// Memory cgroup limits, in bytes; -1 means no limit, and absent members are not set.
/// config-linux.md, "Memory".
template <class S>
struct BasicLinuxMemory {
  std::optional<std::int64_t> limit{};  ///< the maximum; processes that exceed it are killed
  /// A soft limit, enforced when the host runs out of memory.
  std::optional<std::int64_t> reservation{};
  std::optional<std::int64_t> swap{};         ///< memory and swap together
  std::optional<std::int64_t> kernel{};       ///< kernel memory; not recommended
  std::optional<std::int64_t> kernel_tcp{};   ///< kernel TCP buffers; not recommended
  std::optional<std::uint64_t> swappiness{};  ///< 0 to 100; higher values swap more eagerly
  /// True if processes that reach the limit wait instead of being killed.
  std::optional<bool> disable_oom_killer{};
  std::optional<bool> use_hierarchy{};        ///< true if child cgroups share these limits
  std::optional<bool> check_before_update{};  ///< true to reject a limit below current usage
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

/// CPU and cpuset cgroup settings. Times are in microseconds; absent or empty members are not set.
/// config-linux.md, "CPU".
template <class S>
struct BasicLinuxCpu {
  /// The weight relative to other cgroups; the kernel's default is 1024.
  std::optional<std::uint64_t> shares{};
  /// The total run time of all tasks in each `period`; negative for no limit.
  std::optional<std::int64_t> quota{};
  /// The unused run time that one period may use beyond `quota`; at most `quota`.
  std::optional<std::uint64_t> burst{};
  std::optional<std::uint64_t> period{};  ///< period in microseconds to which `quota` applies
  /// The total run time of realtime tasks in each `realtime_period`.
  std::optional<std::int64_t> realtime_runtime{};
  std::optional<std::uint64_t> realtime_period{};  ///< the period for realtime tasks
  StringOf<S> cpus{};                              ///< processors, such as `0-3,7`
  StringOf<S> mems{};                              ///< memory nodes, such as `0-3,7`
  std::optional<std::int64_t> idle{};  ///< 1 to run tasks as with SCHED_IDLE, otherwise 0
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

/// Pids cgroup settings. config-linux.md, "PIDs".
template <class S>
struct BasicLinuxPids {
  /// The maximum number of processes and threads; -1 for no limit, not set when absent.
  std::optional<std::int64_t> limit{};
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxPids&, const BasicLinuxPids&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxPids;
    list("limit", &Self::limit);
  }
};

/// Weights for a block device; at least one must be set. config-linux.md, "Block IO".
template <class S>
struct BasicLinuxWeightDevice {
  std::int64_t major = 0;  ///< major number of the device on the host
  std::int64_t minor = 0;  ///< minor number of the device on the host
  /// The weight relative to other cgroups, from 10 to 1000, the highest.
  std::optional<std::uint16_t> weight{};
  /// The weight of the cgroup's own tasks relative to child cgroups; CFQ only.
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

/// A block device's maximum rate, in bytes or operations per second. config-linux.md, "Block IO".
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

/// Block I/O cgroup settings. Absent or empty members are not set. config-linux.md, "Block IO".
template <class S>
struct BasicLinuxBlockIo {
  /// The weight, from 10 to 1000, for devices that are not listed in `weight_device`.
  std::optional<std::uint16_t> weight{};
  /// The weight of the cgroup's own tasks relative to child cgroups; CFQ only.
  std::optional<std::uint16_t> leaf_weight{};
  ListOf<S, BasicLinuxWeightDevice<S>> weight_device = no_items;  ///< weights by device
  /// The maximum number of bytes read per second.
  ListOf<S, BasicLinuxThrottleDevice<S>> throttle_read_bps_device = no_items;
  /// The maximum number of bytes written per second.
  ListOf<S, BasicLinuxThrottleDevice<S>> throttle_write_bps_device = no_items;
  /// The maximum number of reads per second.
  ListOf<S, BasicLinuxThrottleDevice<S>> throttle_read_iops_device = no_items;
  /// The maximum number of writes per second.
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

/// The limit for huge pages of one size. config-linux.md, "Huge page limits".
template <class S>
struct BasicLinuxHugepageLimit {
  StringOf<S> page_size{};  ///< such as `2MB` or `1GB`, in powers of 1024
  std::uint64_t limit = 0;  ///< bytes reserved, or used if the kernel cannot limit reservations
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxHugepageLimit&, const BasicLinuxHugepageLimit&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxHugepageLimit;
    list("pageSize", &Self::page_size, required);
    list("limit", &Self::limit, required);
  }
};

/// The priority of packets sent over a network interface. config-linux.md, "Network".
template <class S>
struct BasicLinuxInterfacePriority {
  StringOf<S> name{};          ///< the interface's name in the runtime's network namespace
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

/// Settings for the net_cls and net_prio cgroups. config-linux.md, "Network".
template <class S>
struct BasicLinuxNetwork {
  /// The packets' class, such as 0x100001 for class 10:1 of tc(8); none when absent.
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

/// RDMA cgroup limits for one device; at least one must be set. config-linux.md, "RDMA".
template <class S>
struct BasicLinuxRdma {
  std::optional<std::uint32_t> hca_handles{};  ///< maximum number of handles; not set when absent
  std::optional<std::uint32_t> hca_objects{};  ///< maximum number of objects; not set when absent
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxRdma&, const BasicLinuxRdma&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxRdma;
    list("hcaHandles", &Self::hca_handles);
    list("hcaObjects", &Self::hca_objects);
  }
};

/// The container's cgroup settings. Absent or empty members are unchanged. config-linux.md,
/// "Control groups".
template <class S>
struct BasicLinuxResources {
  /// Device rules, in the order in which they are applied.
  ListOf<S, BasicLinuxDeviceCgroup<S>> devices = no_items;
  std::optional<BasicLinuxMemory<S>> memory{};     ///< memory and swap
  std::optional<BasicLinuxCpu<S>> cpu{};           ///< processors and CPU time
  std::optional<BasicLinuxPids<S>> pids{};         ///< limit on processes and threads
  std::optional<BasicLinuxBlockIo<S>> block_io{};  ///< block device weights and rates
  ListOf<S, BasicLinuxHugepageLimit<S>> hugepage_limits = no_items;  ///< one per page size
  std::optional<BasicLinuxNetwork<S>> network{};  ///< packet class and priorities
  DictOf<S, BasicLinuxRdma<S>> rdma{by_key};      ///< limits by host device, such as `mlx5_1`
  /// Cgroup v2 files, such as `io.max`, and the text to write to each.
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

}  // namespace cdi::oci

#endif  // CDI_OCI_RESOURCES_HPP
