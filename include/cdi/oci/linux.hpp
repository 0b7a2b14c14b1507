// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_LINUX_HPP
#define CDI_OCI_LINUX_HPP

#include <cstdint>
#include <optional>

#include <cdi/fields.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/oci/resources.hpp>
#include <cdi/oci/seccomp.hpp>
#include <cdi/storage.hpp>
#include <cdi/value.hpp>
#include <cdi/version.hpp>

// OCI runtime spec 1.3.0, config-linux.md.

namespace cdi::inline CDI_ABI::oci {

/// A device node that the runtime makes in the container.
template <class S>
struct BasicLinuxDevice {
  StringOf<S> path{};
  StringOf<S> type{};  // "b", "c", "u" or "p"
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::optional<std::uint32_t> file_mode{};
  std::optional<std::uint32_t> uid{};
  std::optional<std::uint32_t> gid{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxDevice&, const BasicLinuxDevice&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxDevice;
    return std::tuple{
        Field{"path", &Self::path, required},
        Field{"type", &Self::type, required},
        Field{"major", &Self::major, Presence::keep_empty},
        Field{"minor", &Self::minor, Presence::keep_empty},
        Field{"fileMode", &Self::file_mode},
        Field{"uid", &Self::uid},
        Field{"gid", &Self::gid},
    };
  }
};

/// A network interface of the host that the runtime moves into the container.
template <class S>
struct BasicLinuxNetDevice {
  StringOf<S> name{};  // in the container; that of the host when empty
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxNetDevice&, const BasicLinuxNetDevice&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxNetDevice;
    return std::tuple{
        Field{"name", &Self::name},
    };
  }
};

/// A namespace that the container gets.
template <class S>
struct BasicLinuxNamespace {
  StringOf<S> type{};  // "pid", "network", "mount", "ipc", "uts", "user", "cgroup", "time"
  StringOf<S> path{};  // of a namespace to join; a new one when empty
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxNamespace&, const BasicLinuxNamespace&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxNamespace;
    return std::tuple{
        Field{"type", &Self::type, required},
        Field{"path", &Self::path},
    };
  }
};

/// Settings of Intel Resource Director Technology.
template <class S>
struct BasicLinuxIntelRdt {
  StringOf<S> clos_id{};
  ListOf<S, StringOf<S>> schemata{};
  StringOf<S> l3_cache_schema{};
  StringOf<S> mem_bw_schema{};
  bool enable_monitoring = false;
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxIntelRdt&, const BasicLinuxIntelRdt&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxIntelRdt;
    return std::tuple{
        Field{"closID", &Self::clos_id},
        Field{"schemata", &Self::schemata},
        Field{"l3CacheSchema", &Self::l3_cache_schema},
        Field{"memBwSchema", &Self::mem_bw_schema},
        Field{"enableMonitoring", &Self::enable_monitoring},
    };
  }
};

/// Where the kernel takes the memory of the container from: set_mempolicy(2).
template <class S>
struct BasicLinuxMemoryPolicy {
  StringOf<S> mode{};              // `MPOL_BIND`, ...
  StringOf<S> nodes{};             // a list like `0-3,7`
  ListOf<S, StringOf<S>> flags{};  // `MPOL_F_STATIC_NODES`, ...
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxMemoryPolicy&, const BasicLinuxMemoryPolicy&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxMemoryPolicy;
    return std::tuple{
        Field{"mode", &Self::mode, required},
        Field{"nodes", &Self::nodes},
        Field{"flags", &Self::flags},
    };
  }
};

/// The execution domain of the container: personality(2).
template <class S>
struct BasicLinuxPersonality {
  StringOf<S> domain{};  // "LINUX" or "LINUX32"
  ListOf<S, StringOf<S>> flags{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxPersonality&, const BasicLinuxPersonality&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxPersonality;
    return std::tuple{
        Field{"domain", &Self::domain, required},
        Field{"flags", &Self::flags},
    };
  }
};

/// How far a clock of the container is off that of the host.
template <class S>
struct BasicLinuxTimeOffset {
  std::int64_t secs = 0;
  std::uint32_t nanosecs = 0;
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinuxTimeOffset&, const BasicLinuxTimeOffset&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxTimeOffset;
    return std::tuple{
        Field{"secs", &Self::secs},
        Field{"nanosecs", &Self::nanosecs},
    };
  }
};

/// The part of an OCI spec that only Linux has.
template <class S>
struct BasicLinux {
  ListOf<S, BasicIdMapping<S>> uid_mappings{};
  ListOf<S, BasicIdMapping<S>> gid_mappings{};
  DictOf<S, StringOf<S>> sysctl{};
  std::optional<BasicLinuxResources<S>> resources{};
  StringOf<S> cgroups_path{};
  ListOf<S, BasicLinuxNamespace<S>> namespaces{};
  ListOf<S, BasicLinuxDevice<S>> devices{};
  DictOf<S, BasicLinuxNetDevice<S>> net_devices{};  // by host interface
  std::optional<BasicLinuxSeccomp<S>> seccomp{};
  StringOf<S> rootfs_propagation{};  // "private", "shared", "slave" or "unbindable"
  ListOf<S, StringOf<S>> masked_paths{};
  ListOf<S, StringOf<S>> readonly_paths{};
  StringOf<S> mount_label{};
  std::optional<BasicLinuxIntelRdt<S>> intel_rdt{};
  std::optional<BasicLinuxMemoryPolicy<S>> memory_policy{};
  std::optional<BasicLinuxPersonality<S>> personality{};
  DictOf<S, BasicLinuxTimeOffset<S>> time_offsets{};  // by clock: "monotonic", "boottime"
  ExtraOf<S> extra{};

  friend bool operator==(const BasicLinux&, const BasicLinux&) = default;

  static constexpr auto fields() {
    using Self = BasicLinux;
    return std::tuple{
        Field{"uidMappings", &Self::uid_mappings},
        Field{"gidMappings", &Self::gid_mappings},
        Field{"sysctl", &Self::sysctl},
        Field{"resources", &Self::resources},
        Field{"cgroupsPath", &Self::cgroups_path},
        Field{"namespaces", &Self::namespaces},
        Field{"devices", &Self::devices},
        Field{"netDevices", &Self::net_devices},
        Field{"seccomp", &Self::seccomp},
        Field{"rootfsPropagation", &Self::rootfs_propagation},
        Field{"maskedPaths", &Self::masked_paths},
        Field{"readonlyPaths", &Self::readonly_paths},
        Field{"mountLabel", &Self::mount_label},
        Field{"intelRdt", &Self::intel_rdt},
        Field{"memoryPolicy", &Self::memory_policy},
        Field{"personality", &Self::personality},
        Field{"timeOffsets", &Self::time_offsets},
    };
  }
};

using LinuxDevice = BasicLinuxDevice<Owning>;
using LinuxDeviceView = BasicLinuxDevice<Borrowed>;
using LinuxNetDevice = BasicLinuxNetDevice<Owning>;
using LinuxNetDeviceView = BasicLinuxNetDevice<Borrowed>;
using LinuxNamespace = BasicLinuxNamespace<Owning>;
using LinuxIntelRdt = BasicLinuxIntelRdt<Owning>;
using LinuxIntelRdtView = BasicLinuxIntelRdt<Borrowed>;
using LinuxMemoryPolicy = BasicLinuxMemoryPolicy<Owning>;
using LinuxPersonality = BasicLinuxPersonality<Owning>;
using LinuxTimeOffset = BasicLinuxTimeOffset<Owning>;
using Linux = BasicLinux<Owning>;

static_assert(
    detail::initialisers_used<LinuxDevice, LinuxDeviceView, LinuxNetDevice, LinuxNetDeviceView,
                              LinuxNamespace, LinuxIntelRdt, LinuxIntelRdtView, LinuxMemoryPolicy,
                              LinuxPersonality, LinuxTimeOffset, Linux>);

}  // namespace cdi::inline CDI_ABI::oci

#endif  // CDI_OCI_LINUX_HPP
