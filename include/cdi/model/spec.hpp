// The CDI 1.1.0 document as types.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MODEL_SPEC_HPP
#define CDI_MODEL_SPEC_HPP

#include <cstdint>
#include <optional>

#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/heap_optional.hpp>
#include <cdi/model/spec_version.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

// Each type names its section of
// https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md

namespace cdi::inline CDI_ABI {

struct ApplyFunction;

/// A device node to create in the container. SPEC.md, OCI Edits, `deviceNodes`.
///
/// When the edits are applied, one lookup on the host supplies the members that are not set here.
/// The node must exist on the host unless type and major are set; a FIFO needs no major. The
/// permissions are device cgroup permissions.
template <class S>
struct BasicDeviceNode {
  StringOf<S> path{};                        ///< absolute path in the container; required
  StringOf<S> host_path{};                   ///< path on the host; defaults to `path`; since 0.5.0
  StringOf<S> type{};                        ///< "b", "c", "u" or "p"; the host's type when empty
  std::int64_t major = 0;                    ///< the host's major and minor when 0; 0 for a FIFO
  std::int64_t minor = 0;                    ///< used only with `major`
  std::optional<std::uint32_t> file_mode{};  ///< permission bits; the host's when absent
  StringOf<S> permissions{};                 ///< a subset of "rwm", or "none"; defaults to "rwm"
  std::optional<std::uint32_t> uid{};        ///< owner; the container process's user when absent
  std::optional<std::uint32_t> gid{};        ///< group; the container process's group when absent

  friend bool operator==(const BasicDeviceNode&, const BasicDeviceNode&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicDeviceNode;
    list("path", &Self::path, required);
    list("hostPath", &Self::host_path, SpecVersion{0, 5, 0});
    list("type", &Self::type);
    list("major", &Self::major);
    list("minor", &Self::minor);
    list("fileMode", &Self::file_mode);
    list("permissions", &Self::permissions);
    list("uid", &Self::uid);
    list("gid", &Self::gid);
  }
};

/// A host network interface to move into the container; since 1.1.0. SPEC.md, OCI Edits,
/// `netDevices`.
template <class S>
struct BasicNetDevice {
  StringOf<S> host_interface_name{};  ///< name on the host, at most 15 bytes; required
  StringOf<S> name{};                 ///< name in the container, at most 15 bytes; required

  friend bool operator==(const BasicNetDevice&, const BasicNetDevice&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicNetDevice;
    list("hostInterfaceName", &Self::host_interface_name, required);
    list("name", &Self::name, required);
  }
};

/// A program to run at one of the OCI hook points. SPEC.md, OCI Edits, `hooks`.
template <class S>
struct BasicHook {
  StringOf<S> hook_name{};  ///< such as "createRuntime": see `oci::hook_point_names`; required
  /// The program's absolute path on the host, or in the container for "startContainer". Required.
  StringOf<S> path{};
  /// The program's name and its arguments, as for execv(3).
  ListOf<S, StringOf<S>> args = no_items;
  ListOf<S, StringOf<S>> env = no_items;  ///< "NAME=value"
  std::optional<std::int64_t> timeout{};  ///< seconds, at least 1; no limit when absent

  friend bool operator==(const BasicHook&, const BasicHook&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicHook;
    list("hookName", &Self::hook_name, required);
    list("path", &Self::path, required);
    list("args", &Self::args);
    list("env", &Self::env);
    list("timeout", &Self::timeout);
  }
};

/// A host file or directory to mount into the container. SPEC.md, OCI Edits, `mounts`.
template <class S>
struct BasicMount {
  StringOf<S> host_path{};                    ///< required; the source, not checked to exist
  StringOf<S> container_path{};               ///< the absolute destination; required
  ListOf<S, StringOf<S>> options = no_items;  ///< OCI options, such as "ro", "bind" or "nosuid"
  StringOf<S> type{};                         ///< often "bind"; not set when empty; since 0.4.0

  friend bool operator==(const BasicMount&, const BasicMount&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicMount;
    list("hostPath", &Self::host_path, required);
    list("containerPath", &Self::container_path, required);
    list("options", &Self::options);
    list("type", &Self::type, SpecVersion{0, 4, 0});
  }
};

/// The container's Intel Resource Director Technology settings; since 0.7.0. SPEC.md, OCI Edits,
/// `intelRdt`; OCI config-linux.md, IntelRdt, explains the members.
template <class S>
struct BasicIntelRdt {
  StringOf<S> clos_id{};          ///< a directory under /sys/fs/resctrl, or "/"
  StringOf<S> l3_cache_schema{};  ///< for the L3 cache, in resctrl format: "L3:0=7f0;1=1f"
  StringOf<S> mem_bw_schema{};    ///< for memory bandwidth, in resctrl format: "MB:0=20;1=70"
  /// Lines of the resctrl file `schemata`; an empty list differs from no list. Since 1.1.0.
  std::optional<ListOf<S, StringOf<S>>> schemata{};
  bool enable_monitoring = false;    ///< whether to create a separate monitoring group; since 1.1.0
  std::optional<bool> enable_cmt{};  ///< before 1.1.0: cache occupancy monitoring
  std::optional<bool> enable_mbm{};  ///< before 1.1.0: memory bandwidth monitoring

  /// Whether the settings ask for monitoring, by the member of any version.
  bool monitors() const {
    return enable_monitoring || enable_cmt.value_or(false) || enable_mbm.value_or(false);
  }

  friend bool operator==(const BasicIntelRdt&, const BasicIntelRdt&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicIntelRdt;
    list("closID", &Self::clos_id);
    list("l3CacheSchema", &Self::l3_cache_schema);
    list("memBwSchema", &Self::mem_bw_schema);
    list("schemata", &Self::schemata, SpecVersion{1, 1, 0});
    list("enableMonitoring", &Self::enable_monitoring, SpecVersion{1, 1, 0});
    list("enableCMT", &Self::enable_cmt, Lifetime{{0, 7, 0}, {1, 1, 0}, "enableMonitoring"});
    list("enableMBM", &Self::enable_mbm, Lifetime{{0, 7, 0}, {1, 1, 0}, "enableMonitoring"});
  }
};

/// Everything that a device changes in a container's OCI spec. SPEC.md, OCI Edits.
template <class S>
struct BasicContainerEdits {
  ListOf<S, StringOf<S>> env = no_items;  ///< "NAME=value"; replaces a variable with this name
  /// Each replaces any node with the same path.
  ListOf<S, BasicDeviceNode<S>> device_nodes = no_items;
  /// Since 1.1.0; each replaces any entry for the same host interface.
  ListOf<S, BasicNetDevice<S>> net_devices = no_items;
  ListOf<S, BasicHook<S>> hooks = no_items;    ///< each is appended to its hook point's list
  ListOf<S, BasicMount<S>> mounts = no_items;  ///< each replaces any with the same destination
  HeapOptional<BasicIntelRdt<S>> intel_rdt{};  ///< since 0.7.0; replaces all RDT settings
  /// Since 0.7.0; 0 and ids already present in the OCI spec are skipped.
  ListOf<S, std::uint32_t> additional_gids = no_items;

  friend bool operator==(const BasicContainerEdits&, const BasicContainerEdits&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicContainerEdits;
    list("env", &Self::env);
    list("deviceNodes", &Self::device_nodes);
    list("netDevices", &Self::net_devices, SpecVersion{1, 1, 0});
    list("hooks", &Self::hooks);
    list("mounts", &Self::mounts);
    list("intelRdt", &Self::intel_rdt, SpecVersion{0, 7, 0});
    list("additionalGids", &Self::additional_gids, SpecVersion{0, 7, 0});
  }

  /// Applies these edits to an OCI spec in place, all or nothing: `target` is unchanged after an
  /// error. `target` must have a `SpecEditor`, as `oci::Spec` and `nlohmann::json` do. `more` takes
  /// an optional device node lookup (default: the system), then `ApplyOptions`. Include
  /// `<cdi/apply.hpp>` and the header of the target's editor. `ApplyFunction` lists the errors.
  template <class OciSpec, class... More, class Apply = ApplyFunction>
  Result<void> apply(OciSpec& target, const More&... more) const {
    return Apply{}(*this, target, more...);
  }
};

/// One device of a spec: its name and its container edits. SPEC.md, CDI JSON Definition, `devices`.
template <class S>
struct BasicDevice {
  StringOf<S> name{};  ///< the part of the qualified name after `=`; required
  /// Data for tools; injection ignores it. Since 0.6.0.
  DictOf<S, StringOf<S>> annotations{by_key};
  /// The edits for a container that uses the device; at least one.
  BasicContainerEdits<S> container_edits{};

  friend bool operator==(const BasicDevice&, const BasicDevice&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicDevice;
    list("name", &Self::name, required);
    list("annotations", &Self::annotations, SpecVersion{0, 6, 0});
    list("containerEdits", &Self::container_edits, required);
  }
};

/// A CDI spec: the root of a file in /etc/cdi or /var/run/cdi. SPEC.md, CDI JSON Definition.
///
/// A plain value: only `validate` and functions that call it check the contents. A file must
/// contain `version`, `kind` and `devices`.
template <class S>
struct BasicSpec {
  StringOf<S> version{};  ///< the document's CDI version, such as "1.1.0"
  StringOf<S> kind{};     ///< "vendor.com/class": the part of qualified names before `=`
  /// Data for tools; injection ignores it. Since 0.6.0.
  DictOf<S, StringOf<S>> annotations{by_key};
  ListOf<S, BasicDevice<S>> devices = no_items;  ///< at least one; names are unique
  BasicContainerEdits<S> container_edits{};  ///< for every container that uses any of the devices

  friend bool operator==(const BasicSpec&, const BasicSpec&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicSpec;
    list("cdiVersion", &Self::version, required);
    list("kind", &Self::kind, required);
    list("annotations", &Self::annotations, SpecVersion{0, 6, 0});
    list("devices", &Self::devices, required);
    list("containerEdits", &Self::container_edits);
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

}  // namespace cdi

#endif  // CDI_MODEL_SPEC_HPP
