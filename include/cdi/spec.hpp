// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_SPEC_HPP
#define CDI_SPEC_HPP

#include <cstdint>
#include <optional>

#include <cdi/fields.hpp>
#include <cdi/rare.hpp>
#include <cdi/result.hpp>
#include <cdi/storage.hpp>
#include <cdi/version.hpp>

// The CDI 1.1.0 document, type by type. The sections named are those of
// https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md

namespace cdi::inline CDI_ABI {

struct ApplyFunction;

/// The newest release of the CDI specification that the library knows.
inline constexpr Release current_release{1, 1, 0};

/// A device node to create in the container. OCI Edits, `deviceNodes`.
template <class S>
struct BasicDeviceNode {
  StringOf<S> path{};       // in the container
  StringOf<S> host_path{};  // where the node is on the host; `path` when empty
  StringOf<S> type{};       // "b", "c", "u" or "p"; asked of the host when empty
  std::int64_t major = 0;   // asked of the host when 0, together with `minor`
  std::int64_t minor = 0;
  std::optional<std::uint32_t> file_mode{};  // permission bits; asked of the host when absent
  StringOf<S> permissions{};                 // some of "rwm", or "none"; "rwm" when empty
  std::optional<std::uint32_t> uid{};        // the container's user when absent
  std::optional<std::uint32_t> gid{};        // the container's group when absent

  friend bool operator==(const BasicDeviceNode&, const BasicDeviceNode&) = default;

  static constexpr auto fields() {
    using Self = BasicDeviceNode;
    return std::tuple{
        Field{"path", &Self::path, required},
        Field{"hostPath", &Self::host_path, Release{0, 5, 0}},
        Field{"type", &Self::type},
        Field{"major", &Self::major},
        Field{"minor", &Self::minor},
        Field{"fileMode", &Self::file_mode},
        Field{"permissions", &Self::permissions},
        Field{"uid", &Self::uid},
        Field{"gid", &Self::gid},
    };
  }
};

/// A network interface of the host to move into the container. OCI Edits, `netDevices`.
template <class S>
struct BasicNetDevice {
  StringOf<S> host_interface_name{};
  StringOf<S> name{};  // in the container

  friend bool operator==(const BasicNetDevice&, const BasicNetDevice&) = default;

  static constexpr auto fields() {
    using Self = BasicNetDevice;
    return std::tuple{
        Field{"hostInterfaceName", &Self::host_interface_name, required},
        Field{"name", &Self::name, required},
    };
  }
};

/// A program that the runtime runs at one of the OCI hook points. OCI Edits, `hooks`.
template <class S>
struct BasicHook {
  StringOf<S> hook_name{};  // "prestart", "createRuntime", ...: see `HookPoint`
  StringOf<S> path{};       // of the program, on the host
  ListOf<S, StringOf<S>> args{};
  ListOf<S, StringOf<S>> env{};
  std::optional<std::int64_t> timeout{};  // seconds

  friend bool operator==(const BasicHook&, const BasicHook&) = default;

  static constexpr auto fields() {
    using Self = BasicHook;
    return std::tuple{
        Field{"hookName", &Self::hook_name, required},
        Field{"path", &Self::path, required},
        Field{"args", &Self::args},
        Field{"env", &Self::env},
        Field{"timeout", &Self::timeout},
    };
  }
};

/// A file or directory of the host to mount into the container. OCI Edits, `mounts`.
template <class S>
struct BasicMount {
  StringOf<S> host_path{};
  StringOf<S> container_path{};
  ListOf<S, StringOf<S>> options{};
  StringOf<S> type{};  // "bind" for most; none when empty

  friend bool operator==(const BasicMount&, const BasicMount&) = default;

  static constexpr auto fields() {
    using Self = BasicMount;
    return std::tuple{
        Field{"hostPath", &Self::host_path, required},
        Field{"containerPath", &Self::container_path, required},
        Field{"options", &Self::options},
        Field{"type", &Self::type, Release{0, 4, 0}},
    };
  }
};

/// The Intel Resource Director Technology settings of the container. OCI Edits, `intelRdt`.
template <class S>
struct BasicIntelRdt {
  StringOf<S> clos_id{};  // a directory below /sys/fs/resctrl
  StringOf<S> l3_cache_schema{};
  StringOf<S> mem_bw_schema{};
  std::optional<ListOf<S, StringOf<S>>> schemata{};  // an empty list counts as said, since 1.1.0
  bool enable_monitoring = false;
  std::optional<bool> enable_cmt{};  // before 1.1.0, as `enable_monitoring`: cache occupancy
  std::optional<bool> enable_mbm{};  // before 1.1.0, as `enable_monitoring`: memory bandwidth

  friend bool operator==(const BasicIntelRdt&, const BasicIntelRdt&) = default;

  static constexpr auto fields() {
    using Self = BasicIntelRdt;
    return std::tuple{
        Field{"closID", &Self::clos_id},
        Field{"l3CacheSchema", &Self::l3_cache_schema},
        Field{"memBwSchema", &Self::mem_bw_schema},
        Field{"schemata", &Self::schemata, Release{1, 1, 0}},
        Field{"enableMonitoring", &Self::enable_monitoring, Release{1, 1, 0}},
        Field{"enableCMT", &Self::enable_cmt, Lifetime{{0, 7, 0}, {1, 1, 0}, "enableMonitoring"}},
        Field{"enableMBM", &Self::enable_mbm, Lifetime{{0, 7, 0}, {1, 1, 0}, "enableMonitoring"}},
    };
  }
};

/// Everything a device asks a runtime to change in the OCI spec of a container. OCI Edits.
template <class S>
struct BasicContainerEdits {
  ListOf<S, StringOf<S>> env{};  // "NAME=value"
  ListOf<S, BasicDeviceNode<S>> device_nodes{};
  ListOf<S, BasicNetDevice<S>> net_devices{};
  ListOf<S, BasicHook<S>> hooks{};
  ListOf<S, BasicMount<S>> mounts{};
  Rare<BasicIntelRdt<S>> intel_rdt{};
  ListOf<S, std::uint32_t> additional_gids{};

  friend bool operator==(const BasicContainerEdits&, const BasicContainerEdits&) = default;

  static constexpr auto fields() {
    using Self = BasicContainerEdits;
    return std::tuple{
        Field{"env", &Self::env},
        Field{"deviceNodes", &Self::device_nodes},
        Field{"netDevices", &Self::net_devices, Release{1, 1, 0}},
        Field{"hooks", &Self::hooks},
        Field{"mounts", &Self::mounts},
        Field{"intelRdt", &Self::intel_rdt, Release{0, 7, 0}},
        Field{"additionalGids", &Self::additional_gids, Release{0, 7, 0}},
    };
  }

  /// Applies these edits to an OCI spec in place, all or nothing: after an error `target` is as it
  /// was. `target` is anything with a `SpecEditor`, such as `oci::Spec` or a `nlohmann::json`
  /// document; `host` answers what a device node of the host is (default: the system).
  /// Needs `<cdi/apply.hpp>`, and the header of the target's editor.
  template <class OciSpec, class... Host, class Apply = ApplyFunction>
  Result<void> apply(OciSpec& target, const Host&... host) const {
    return Apply{}(*this, target, host...);
  }
};

/// One device of a spec: a name and the edits that inject it. CDI JSON Definition, `devices`.
template <class S>
struct BasicDevice {
  StringOf<S> name{};
  DictOf<S, StringOf<S>> annotations{};
  BasicContainerEdits<S> container_edits{};

  friend bool operator==(const BasicDevice&, const BasicDevice&) = default;

  static constexpr auto fields() {
    using Self = BasicDevice;
    return std::tuple{
        Field{"name", &Self::name, required},
        Field{"annotations", &Self::annotations, Release{0, 6, 0}},
        Field{"containerEdits", &Self::container_edits, required},
    };
  }
};

/// A CDI spec: the root of a file in /etc/cdi or /var/run/cdi. CDI JSON Definition.
template <class S>
struct BasicSpec {
  StringOf<S> version{};  // "1.1.0": the CDI release that the spec is written for
  StringOf<S> kind{};     // "vendor.com/class"
  DictOf<S, StringOf<S>> annotations{};
  ListOf<S, BasicDevice<S>> devices{};
  BasicContainerEdits<S> container_edits{};  // for every container that gets one of the devices

  friend bool operator==(const BasicSpec&, const BasicSpec&) = default;

  static constexpr auto fields() {
    using Self = BasicSpec;
    return std::tuple{
        Field{"cdiVersion", &Self::version, required},
        Field{"kind", &Self::kind, required},
        Field{"annotations", &Self::annotations, Release{0, 6, 0}},
        Field{"devices", &Self::devices, required},
        Field{"containerEdits", &Self::container_edits},
    };
  }
};

using Spec = BasicSpec<Owning>;
using SpecView = BasicSpec<Borrowed>;
using Device = BasicDevice<Owning>;
using DeviceView = BasicDevice<Borrowed>;
using ContainerEdits = BasicContainerEdits<Owning>;
using ContainerEditsView = BasicContainerEdits<Borrowed>;
using DeviceNode = BasicDeviceNode<Owning>;
using NetDevice = BasicNetDevice<Owning>;
using Hook = BasicHook<Owning>;
using Mount = BasicMount<Owning>;
using IntelRdt = BasicIntelRdt<Owning>;

static_assert(detail::initialisers_used<Spec, Device, ContainerEdits, DeviceNode, NetDevice, Hook,
                                        Mount, IntelRdt>);
static_assert(
    detail::initialisers_used<SpecView, DeviceView, ContainerEditsView, BasicDeviceNode<Borrowed>,
                              BasicNetDevice<Borrowed>, BasicHook<Borrowed>, BasicMount<Borrowed>,
                              BasicIntelRdt<Borrowed>>);

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_SPEC_HPP
