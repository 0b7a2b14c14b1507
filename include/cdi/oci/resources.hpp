// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_RESOURCES_HPP
#define CDI_OCI_RESOURCES_HPP

#include <cstdint>
#include <optional>

#include <cdi/fields.hpp>
#include <cdi/storage.hpp>
#include <cdi/value.hpp>
#include <cdi/version.hpp>

// OCI runtime spec 1.3.0, config-linux.md, "Control groups".

namespace cdi::inline CDI_ABI::oci {

/// A rule of the device cgroup: what the container may do with which devices.
template <class S>
struct BasicLinuxDeviceCgroup {
  bool allow = false;
  StringOf<S> type{};                   // "a", "b" or "c"; all when empty
  std::optional<std::int64_t> major{};  // all when absent
  std::optional<std::int64_t> minor{};  // all when absent
  StringOf<S> access{};                 // some of "rwm"
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxDeviceCgroup&, const BasicLinuxDeviceCgroup&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxDeviceCgroup;
    return std::tuple{
        Field{"allow", &Self::allow, required}, Field{"type", &Self::type},
        Field{"major", &Self::major},           Field{"minor", &Self::minor},
        Field{"access", &Self::access},
    };
  }
};

/// The memory cgroup; amounts in bytes, -1 for no limit.
template <class S>
struct BasicLinuxMemory {
  std::optional<std::int64_t> limit{};
  std::optional<std::int64_t> reservation{};
  std::optional<std::int64_t> swap{};  // memory and swap together
  std::optional<std::int64_t> kernel{};
  std::optional<std::int64_t> kernel_tcp{};
  std::optional<std::uint64_t> swappiness{};  // 0 to 100
  std::optional<bool> disable_oom_killer{};
  std::optional<bool> use_hierarchy{};
  std::optional<bool> check_before_update{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxMemory&, const BasicLinuxMemory&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxMemory;
    return std::tuple{
        Field{"limit", &Self::limit},
        Field{"reservation", &Self::reservation},
        Field{"swap", &Self::swap},
        Field{"kernel", &Self::kernel},
        Field{"kernelTCP", &Self::kernel_tcp},
        Field{"swappiness", &Self::swappiness},
        Field{"disableOOMKiller", &Self::disable_oom_killer},
        Field{"useHierarchy", &Self::use_hierarchy},
        Field{"checkBeforeUpdate", &Self::check_before_update},
    };
  }
};

/// The cpu and cpuset cgroups; times in microseconds.
template <class S>
struct BasicLinuxCpu {
  std::optional<std::uint64_t> shares{};
  std::optional<std::int64_t> quota{};
  std::optional<std::uint64_t> burst{};
  std::optional<std::uint64_t> period{};
  std::optional<std::int64_t> realtime_runtime{};
  std::optional<std::uint64_t> realtime_period{};
  StringOf<S> cpus{};  // a list like `0-3,7`
  StringOf<S> mems{};
  std::optional<std::int64_t> idle{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxCpu&, const BasicLinuxCpu&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxCpu;
    return std::tuple{
        Field{"shares", &Self::shares},
        Field{"quota", &Self::quota},
        Field{"burst", &Self::burst},
        Field{"period", &Self::period},
        Field{"realtimeRuntime", &Self::realtime_runtime},
        Field{"realtimePeriod", &Self::realtime_period},
        Field{"cpus", &Self::cpus},
        Field{"mems", &Self::mems},
        Field{"idle", &Self::idle},
    };
  }
};

/// The pids cgroup.
template <class S>
struct BasicLinuxPids {
  std::optional<std::int64_t> limit{};  // -1 for no limit
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxPids&, const BasicLinuxPids&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxPids;
    return std::tuple{
        Field{"limit", &Self::limit},
    };
  }
};

/// The weight of a block device.
template <class S>
struct BasicLinuxWeightDevice {
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::optional<std::uint16_t> weight{};
  std::optional<std::uint16_t> leaf_weight{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxWeightDevice&, const BasicLinuxWeightDevice&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxWeightDevice;
    return std::tuple{
        Field{"major", &Self::major, required},
        Field{"minor", &Self::minor, required},
        Field{"weight", &Self::weight},
        Field{"leafWeight", &Self::leaf_weight},
    };
  }
};

/// The greatest rate of a block device, in bytes or operations a second.
template <class S>
struct BasicLinuxThrottleDevice {
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::uint64_t rate = 0;
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxThrottleDevice&,
                         const BasicLinuxThrottleDevice&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxThrottleDevice;
    return std::tuple{
        Field{"major", &Self::major, required},
        Field{"minor", &Self::minor, required},
        Field{"rate", &Self::rate, required},
    };
  }
};

/// The blkio cgroup.
template <class S>
struct BasicLinuxBlockIo {
  std::optional<std::uint16_t> weight{};
  std::optional<std::uint16_t> leaf_weight{};
  ListOf<S, BasicLinuxWeightDevice<S>> weight_device{};
  ListOf<S, BasicLinuxThrottleDevice<S>> throttle_read_bps_device{};
  ListOf<S, BasicLinuxThrottleDevice<S>> throttle_write_bps_device{};
  ListOf<S, BasicLinuxThrottleDevice<S>> throttle_read_iops_device{};
  ListOf<S, BasicLinuxThrottleDevice<S>> throttle_write_iops_device{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxBlockIo&, const BasicLinuxBlockIo&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxBlockIo;
    return std::tuple{
        Field{"weight", &Self::weight},
        Field{"leafWeight", &Self::leaf_weight},
        Field{"weightDevice", &Self::weight_device},
        Field{"throttleReadBpsDevice", &Self::throttle_read_bps_device},
        Field{"throttleWriteBpsDevice", &Self::throttle_write_bps_device},
        Field{"throttleReadIOPSDevice", &Self::throttle_read_iops_device},
        Field{"throttleWriteIOPSDevice", &Self::throttle_write_iops_device},
    };
  }
};

/// How much of one size of huge pages the container may use.
template <class S>
struct BasicLinuxHugepageLimit {
  StringOf<S> page_size{};  // `2MB`, `1GB`, ...
  std::uint64_t limit = 0;  // bytes
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxHugepageLimit&, const BasicLinuxHugepageLimit&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxHugepageLimit;
    return std::tuple{
        Field{"pageSize", &Self::page_size, required},
        Field{"limit", &Self::limit, required},
    };
  }
};

/// The priority of what the container sends over an interface.
template <class S>
struct BasicLinuxInterfacePriority {
  StringOf<S> name{};
  std::uint32_t priority = 0;
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxInterfacePriority&,
                         const BasicLinuxInterfacePriority&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxInterfacePriority;
    return std::tuple{
        Field{"name", &Self::name, required},
        Field{"priority", &Self::priority, required},
    };
  }
};

/// The net_cls and net_prio cgroups.
template <class S>
struct BasicLinuxNetwork {
  std::optional<std::uint32_t> class_id{};
  ListOf<S, BasicLinuxInterfacePriority<S>> priorities{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxNetwork&, const BasicLinuxNetwork&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxNetwork;
    return std::tuple{
        Field{"classID", &Self::class_id},
        Field{"priorities", &Self::priorities},
    };
  }
};

/// The rdma cgroup, for one device.
template <class S>
struct BasicLinuxRdma {
  std::optional<std::uint32_t> hca_handles{};
  std::optional<std::uint32_t> hca_objects{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxRdma&, const BasicLinuxRdma&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxRdma;
    return std::tuple{
        Field{"hcaHandles", &Self::hca_handles},
        Field{"hcaObjects", &Self::hca_objects},
    };
  }
};

/// The cgroup settings of the container.
template <class S>
struct BasicLinuxResources {
  ListOf<S, BasicLinuxDeviceCgroup<S>> devices{};
  std::optional<BasicLinuxMemory<S>> memory{};
  std::optional<BasicLinuxCpu<S>> cpu{};
  std::optional<BasicLinuxPids<S>> pids{};
  std::optional<BasicLinuxBlockIo<S>> block_io{};
  ListOf<S, BasicLinuxHugepageLimit<S>> hugepage_limits{};
  std::optional<BasicLinuxNetwork<S>> network{};
  DictOf<S, BasicLinuxRdma<S>> rdma{};  // by device
  DictOf<S, StringOf<S>> unified{};     // cgroup v2 files and what to write to them
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxResources&, const BasicLinuxResources&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxResources;
    return std::tuple{
        Field{"devices", &Self::devices},  Field{"memory", &Self::memory},
        Field{"cpu", &Self::cpu},          Field{"pids", &Self::pids},
        Field{"blockIO", &Self::block_io}, Field{"hugepageLimits", &Self::hugepage_limits},
        Field{"network", &Self::network},  Field{"rdma", &Self::rdma},
        Field{"unified", &Self::unified},
    };
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

static_assert(detail::initialisers_used<LinuxDeviceCgroup, LinuxDeviceCgroupView, LinuxMemory,
                                        LinuxCpu, LinuxPids, LinuxWeightDevice, LinuxThrottleDevice,
                                        LinuxBlockIo, LinuxHugepageLimit, LinuxInterfacePriority,
                                        LinuxNetwork, LinuxRdma, LinuxResources>);

}  // namespace cdi::inline CDI_ABI::oci

#endif  // CDI_OCI_RESOURCES_HPP
