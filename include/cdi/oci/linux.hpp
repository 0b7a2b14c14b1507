// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_LINUX_HPP
#define CDI_OCI_LINUX_HPP

#include <cstdint>
#include <optional>

#include <cdi/fields.hpp>
#include <cdi/storage.hpp>
#include <cdi/version.hpp>

// OCI runtime spec 1.3.0, config-linux.md. Here: the members that CDI edits touch or look at.

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

/// A rule of the device cgroup: what the container may do with which devices.
template <class S>
struct BasicLinuxDeviceCgroup {
  bool allow = false;
  StringOf<S> type{};                   // "a", "b" or "c"; all when empty
  std::optional<std::int64_t> major{};  // all when absent
  std::optional<std::int64_t> minor{};  // all when absent
  StringOf<S> access{};                 // some of "rwm"

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

/// A network interface of the host that the runtime moves into the container.
template <class S>
struct BasicLinuxNetDevice {
  StringOf<S> name{};  // in the container; that of the host when empty

  friend bool operator==(const BasicLinuxNetDevice&, const BasicLinuxNetDevice&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxNetDevice;
    return std::tuple{
        Field{"name", &Self::name},
    };
  }
};

/// The cgroup settings of the container.
template <class S>
struct BasicLinuxResources {
  ListOf<S, BasicLinuxDeviceCgroup<S>> devices{};

  friend bool operator==(const BasicLinuxResources&, const BasicLinuxResources&) = default;

  static constexpr auto fields() {
    using Self = BasicLinuxResources;
    return std::tuple{
        Field{"devices", &Self::devices},
    };
  }
};

/// A namespace that the container gets.
template <class S>
struct BasicLinuxNamespace {
  StringOf<S> type{};  // "pid", "network", "mount", "ipc", "uts", "user", "cgroup", "time"
  StringOf<S> path{};  // of a namespace to join; a new one when empty

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

/// The part of an OCI spec that only Linux has.
template <class S>
struct BasicLinux {
  std::optional<BasicLinuxResources<S>> resources{};
  ListOf<S, BasicLinuxNamespace<S>> namespaces{};
  ListOf<S, BasicLinuxDevice<S>> devices{};
  DictOf<S, BasicLinuxNetDevice<S>> net_devices{};  // by host interface
  std::optional<BasicLinuxIntelRdt<S>> intel_rdt{};

  friend bool operator==(const BasicLinux&, const BasicLinux&) = default;

  static constexpr auto fields() {
    using Self = BasicLinux;
    return std::tuple{
        Field{"resources", &Self::resources}, Field{"namespaces", &Self::namespaces},
        Field{"devices", &Self::devices},     Field{"netDevices", &Self::net_devices},
        Field{"intelRdt", &Self::intel_rdt},
    };
  }
};

using Linux = BasicLinux<Owning>;
using LinuxDevice = BasicLinuxDevice<Owning>;
using LinuxDeviceView = BasicLinuxDevice<Borrowed>;
using LinuxDeviceCgroup = BasicLinuxDeviceCgroup<Owning>;
using LinuxDeviceCgroupView = BasicLinuxDeviceCgroup<Borrowed>;
using LinuxNetDevice = BasicLinuxNetDevice<Owning>;
using LinuxNetDeviceView = BasicLinuxNetDevice<Borrowed>;
using LinuxIntelRdt = BasicLinuxIntelRdt<Owning>;
using LinuxIntelRdtView = BasicLinuxIntelRdt<Borrowed>;
using LinuxResources = BasicLinuxResources<Owning>;
using LinuxNamespace = BasicLinuxNamespace<Owning>;

static_assert(
    detail::initialisers_used<Linux, LinuxResources, LinuxNamespace, LinuxDevice, LinuxDeviceView,
                              LinuxDeviceCgroup, LinuxDeviceCgroupView, LinuxNetDevice,
                              LinuxNetDeviceView, LinuxIntelRdt, LinuxIntelRdtView>);

}  // namespace cdi::inline CDI_ABI::oci

#endif  // CDI_OCI_LINUX_HPP
