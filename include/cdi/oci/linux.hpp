// OCI runtime spec 1.3.0, config-linux.md.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_OCI_LINUX_HPP
#define CDI_OCI_LINUX_HPP

#include <cstdint>
#include <optional>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/oci/resources.hpp>
#include <cdi/oci/seccomp.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::oci {

/// A device node that the runtime creates in the container. config-linux.md, "Devices".
template <class S>
struct BasicLinuxDevice {
  StringOf<S> path{};      ///< absolute path in the container, not necessarily under /dev
  StringOf<S> type{};      ///< "b" for block, "c" or "u" for character devices, "p" for a FIFO
  std::int64_t major = 0;  ///< major number on the host; 0 for a FIFO
  std::int64_t minor = 0;  ///< minor number on the host; 0 for a FIFO
  std::optional<std::uint32_t> file_mode{};  ///< permission bits; the runtime's choice when absent
  std::optional<std::uint32_t> uid{};  ///< owner in the container; the runtime's choice when absent
  std::optional<std::uint32_t> gid{};  ///< group in the container; the runtime's choice when absent
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxDevice&, const BasicLinuxDevice&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxDevice;
    list("path", &Self::path, required);
    list("type", &Self::type, required);
    list("major", &Self::major, Presence::keep_empty);
    list("minor", &Self::minor, Presence::keep_empty);
    list("fileMode", &Self::file_mode);
    list("uid", &Self::uid);
    list("gid", &Self::gid);
  }
};

/// A host network interface that the runtime moves into the container. config-linux.md, "Network
/// Devices".
template <class S>
struct BasicLinuxNetDevice {
  StringOf<S> name{};  ///< name in the container; the host's name when empty
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxNetDevice&, const BasicLinuxNetDevice&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxNetDevice;
    list("name", &Self::name);
  }
};

/// A namespace for the container. config-linux.md, "Namespaces".
template <class S>
struct BasicLinuxNamespace {
  /// "pid", "network", "mount", "ipc", "uts", "user", "cgroup" or "time"; each at most once.
  StringOf<S> type{};
  StringOf<S> path{};  ///< absolute host path of a namespace to join; a new namespace when empty
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxNamespace&, const BasicLinuxNamespace&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxNamespace;
    list("type", &Self::type, required);
    list("path", &Self::path);
  }
};

/// Intel Resource Director Technology settings, for the host's resctrl file system.
/// config-linux.md, "IntelRdt".
template <class S>
struct BasicLinuxIntelRdt {
  /// Class of service: a resctrl directory, or `/` for the default class; the container's id when
  /// empty.
  StringOf<S> clos_id{};
  /// Lines for the file `schemata`, such as `L2:0=f`, written after the next two members.
  ListOf<S, StringOf<S>> schemata = no_items;
  /// Cache bit masks, such as `L3:0=7f0;1=1f`; not set when empty.
  StringOf<S> l3_cache_schema{};
  /// Memory bandwidth limits, such as `MB:0=20;1=70`; not set when empty.
  StringOf<S> mem_bw_schema{};
  bool enable_monitoring = false;  ///< whether to create a separate monitoring group
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxIntelRdt&, const BasicLinuxIntelRdt&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxIntelRdt;
    list("closID", &Self::clos_id);
    list("schemata", &Self::schemata);
    list("l3CacheSchema", &Self::l3_cache_schema);
    list("memBwSchema", &Self::mem_bw_schema);
    list("enableMonitoring", &Self::enable_monitoring);
  }
};

/// The NUMA memory policy of the container: set_mempolicy(2). config-linux.md, "Memory policy".
template <class S>
struct BasicLinuxMemoryPolicy {
  StringOf<S> mode{};   ///< `MPOL_BIND`, `MPOL_INTERLEAVE`, `MPOL_LOCAL`, ...
  StringOf<S> nodes{};  ///< memory nodes, such as `0-3,7`; required in some modes
  ListOf<S, StringOf<S>> flags = no_items;  ///< `MPOL_F_STATIC_NODES`, ...
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxMemoryPolicy&, const BasicLinuxMemoryPolicy&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxMemoryPolicy;
    list("mode", &Self::mode, required);
    list("nodes", &Self::nodes);
    list("flags", &Self::flags);
  }
};

/// The container's execution domain: personality(2). config-linux.md, "Personality".
template <class S>
struct BasicLinuxPersonality {
  StringOf<S> domain{};                     ///< "LINUX"; "LINUX32" makes uname(2) report 32 bits
  ListOf<S, StringOf<S>> flags = no_items;  ///< OCI 1.3.0 defines none
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxPersonality&, const BasicLinuxPersonality&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxPersonality;
    list("domain", &Self::domain, required);
    list("flags", &Self::flags);
  }
};

/// The offset between a container clock and the host's clock. config-linux.md, "Offset for Time
/// Namespace".
template <class S>
struct BasicLinuxTimeOffset {
  std::int64_t secs = 0;       ///< seconds; negative if the container's clock is behind
  std::uint32_t nanosecs = 0;  ///< nanoseconds added to `secs`
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinuxTimeOffset&, const BasicLinuxTimeOffset&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinuxTimeOffset;
    list("secs", &Self::secs);
    list("nanosecs", &Self::nanosecs);
  }
};

/// The Linux part of an OCI spec: the member `linux`. config-linux.md.
template <class S>
struct BasicLinux {
  /// User ids of the container's user namespace, with the matching host ids.
  ListOf<S, BasicIdMapping<S>> uid_mappings = no_items;
  /// Group ids of the container's user namespace, with the matching host ids.
  ListOf<S, BasicIdMapping<S>> gid_mappings = no_items;
  /// Kernel parameters, such as `net.core.somaxconn`, with their values.
  DictOf<S, StringOf<S>> sysctl{by_key};
  std::optional<BasicLinuxResources<S>> resources{};  ///< cgroup settings; unchanged when absent
  /// The cgroup path: absolute from the cgroup mount, or relative to a directory that the runtime
  /// chooses; the runtime's choice when empty.
  StringOf<S> cgroups_path{};
  /// The namespaces to create or join; for all other types, the container shares the runtime's.
  ListOf<S, BasicLinuxNamespace<S>> namespaces = no_items;
  /// Device nodes to create in addition to the default ones, such as `/dev/null`.
  ListOf<S, BasicLinuxDevice<S>> devices = no_items;
  /// Network interfaces to move, by their names on the host.
  DictOf<S, BasicLinuxNetDevice<S>> net_devices{by_key};
  std::optional<BasicLinuxSeccomp<S>> seccomp{};  ///< system call filter; none when absent
  StringOf<S> rootfs_propagation{};               ///< "private", "shared", "slave" or "unbindable"
  /// Absolute paths to make unreadable in the container.
  ListOf<S, StringOf<S>> masked_paths = no_items;
  /// Absolute paths to make read-only in the container.
  ListOf<S, StringOf<S>> readonly_paths = no_items;
  StringOf<S> mount_label{};  ///< SELinux context for the mounts; not set when empty
  std::optional<BasicLinuxIntelRdt<S>> intel_rdt{};          ///< Intel RDT; unchanged when absent
  std::optional<BasicLinuxMemoryPolicy<S>> memory_policy{};  ///< NUMA policy; unchanged when absent
  std::optional<BasicLinuxPersonality<S>> personality{};     ///< unchanged when absent
  DictOf<S, BasicLinuxTimeOffset<S>> time_offsets{by_key};   ///< by clock: "monotonic", "boottime"
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicLinux&, const BasicLinux&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicLinux;
    list("uidMappings", &Self::uid_mappings);
    list("gidMappings", &Self::gid_mappings);
    list("sysctl", &Self::sysctl);
    list("resources", &Self::resources);
    list("cgroupsPath", &Self::cgroups_path);
    list("namespaces", &Self::namespaces);
    list("devices", &Self::devices);
    list("netDevices", &Self::net_devices);
    list("seccomp", &Self::seccomp);
    list("rootfsPropagation", &Self::rootfs_propagation);
    list("maskedPaths", &Self::masked_paths);
    list("readonlyPaths", &Self::readonly_paths);
    list("mountLabel", &Self::mount_label);
    list("intelRdt", &Self::intel_rdt);
    list("memoryPolicy", &Self::memory_policy);
    list("personality", &Self::personality);
    list("timeOffsets", &Self::time_offsets);
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

}  // namespace cdi::oci

#endif  // CDI_OCI_LINUX_HPP
