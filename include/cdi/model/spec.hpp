// The CDI 1.1.0 document as types.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_MODEL_SPEC_HPP
#define CDI_MODEL_SPEC_HPP

#include <cstdint>
#include <optional>

#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/heap_optional.hpp>
#include <cdi/model/release.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

// The CDI 1.1.0 document, type by type. The sections named are those of
// https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md

namespace cdi {
inline namespace CDI_ABI {

struct ApplyFunction;

/// A device node to create in the container. SPEC.md, OCI Edits, `deviceNodes`.
///
/// When the edits are applied, one lookup on the host gives the members that are not set here. The
/// host must have the node, unless type and major are set; a FIFO needs no major. The permissions
/// are those of the device cgroup.
template <class S>
struct BasicDeviceNode {
  StringOf<S> path{};       ///< in the container, absolute; required
  StringOf<S> host_path{};  ///< path on the host; `path` when empty; since 0.5.0
  StringOf<S> type{};       ///< "b", "c", "u" or "p"; that of the host when empty
  std::int64_t major = 0;   ///< that of the host when 0, as is `minor`; 0 for a FIFO
  std::int64_t minor = 0;   ///< used only with a `major`
  std::optional<std::uint32_t> file_mode{};  ///< permission bits; those of the host when absent
  StringOf<S> permissions{};                 ///< some of "rwm", or "none"; "rwm" when empty
  std::optional<std::uint32_t> uid{};        ///< owner; that of the container's process when absent
  std::optional<std::uint32_t> gid{};        ///< group; that of the container's process when absent

  friend bool operator==(const BasicDeviceNode&, const BasicDeviceNode&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicDeviceNode;
    list("path", &Self::path, required);
    list("hostPath", &Self::host_path, Release{0, 5, 0});
    list("type", &Self::type);
    list("major", &Self::major);
    list("minor", &Self::minor);
    list("fileMode", &Self::file_mode);
    list("permissions", &Self::permissions);
    list("uid", &Self::uid);
    list("gid", &Self::gid);
  }
};

/// A network interface of the host to move into the container; since 1.1.0. SPEC.md, OCI Edits,
/// `netDevices`.
template <class S>
struct BasicNetDevice {
  StringOf<S> host_interface_name{};  ///< on the host, at most 15 bytes; required
  StringOf<S> name{};                 ///< in the container, at most 15 bytes; required

  friend bool operator==(const BasicNetDevice&, const BasicNetDevice&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicNetDevice;
    list("hostInterfaceName", &Self::host_interface_name, required);
    list("name", &Self::name, required);
  }
};

/// A program that the runtime runs at one of the OCI hook points. SPEC.md, OCI Edits, `hooks`.
template <class S>
struct BasicHook {
  StringOf<S> hook_name{};  ///< such as "createRuntime": see `oci::hook_point_names`; required
  /// Absolute path of the program on the host; for "startContainer", in the container. Required.
  StringOf<S> path{};
  /// The program's name, then its arguments, as in execv(3).
  ListOf<S, StringOf<S>> args = no_items;
  ListOf<S, StringOf<S>> env = no_items;  ///< "NAME=value"
  std::optional<std::int64_t> timeout{};  ///< seconds, 1 or more; no limit when absent

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

/// A file or directory of the host to mount into the container. SPEC.md, OCI Edits, `mounts`.
template <class S>
struct BasicMount {
  StringOf<S> host_path{};       ///< the source, whose existence is not checked; required
  StringOf<S> container_path{};  ///< the destination, absolute; required
  ListOf<S, StringOf<S>> options = no_items;  ///< those of OCI, such as "ro", "bind" or "nosuid"
  StringOf<S> type{};                         ///< often "bind"; not set when empty; since 0.4.0

  friend bool operator==(const BasicMount&, const BasicMount&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicMount;
    list("hostPath", &Self::host_path, required);
    list("containerPath", &Self::container_path, required);
    list("options", &Self::options);
    list("type", &Self::type, Release{0, 4, 0});
  }
};

/// The Intel Resource Director Technology settings of the container; since 0.7.0. SPEC.md, OCI
/// Edits, `intelRdt`. OCI config-linux.md, IntelRdt, has the meaning of the members.
template <class S>
struct BasicIntelRdt {
  StringOf<S> clos_id{};          ///< a directory below /sys/fs/resctrl, or "/"
  StringOf<S> l3_cache_schema{};  ///< of the L3 cache, in the format of resctrl: "L3:0=7f0;1=1f"
  StringOf<S> mem_bw_schema{};    ///< of the memory bandwidth, in that format: "MB:0=20;1=70"
  /// Lines of the resctrl `schemata` file; an empty list differs from an absent one. Since 1.1.0.
  std::optional<ListOf<S, StringOf<S>>> schemata{};
  bool enable_monitoring = false;    ///< whether it gets its own monitoring group; since 1.1.0
  std::optional<bool> enable_cmt{};  ///< before 1.1.0: monitoring of cache occupancy
  std::optional<bool> enable_mbm{};  ///< before 1.1.0: monitoring of memory bandwidth

  friend bool operator==(const BasicIntelRdt&, const BasicIntelRdt&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicIntelRdt;
    list("closID", &Self::clos_id);
    list("l3CacheSchema", &Self::l3_cache_schema);
    list("memBwSchema", &Self::mem_bw_schema);
    list("schemata", &Self::schemata, Release{1, 1, 0});
    list("enableMonitoring", &Self::enable_monitoring, Release{1, 1, 0});
    list("enableCMT", &Self::enable_cmt, Lifetime{{0, 7, 0}, {1, 1, 0}, "enableMonitoring"});
    list("enableMBM", &Self::enable_mbm, Lifetime{{0, 7, 0}, {1, 1, 0}, "enableMonitoring"});
  }
};

/// Everything a device asks a runtime to change in the OCI spec of a container. SPEC.md, OCI Edits.
template <class S>
struct BasicContainerEdits {
  ListOf<S, StringOf<S>> env = no_items;  ///< "NAME=value"; replaces a variable with the same name
  /// Each replaces a node with the same path.
  ListOf<S, BasicDeviceNode<S>> device_nodes = no_items;
  /// Since 1.1.0; each replaces one of the same host interface.
  ListOf<S, BasicNetDevice<S>> net_devices = no_items;
  ListOf<S, BasicHook<S>> hooks = no_items;    ///< each is added after those of its hook point
  ListOf<S, BasicMount<S>> mounts = no_items;  ///< each replaces a mount with the same destination
  HeapOptional<BasicIntelRdt<S>> intel_rdt{};  ///< since 0.7.0; replaces all settings of the spec
  /// Since 0.7.0; 0 and ids that the spec already has are not added.
  ListOf<S, std::uint32_t> additional_gids = no_items;

  friend bool operator==(const BasicContainerEdits&, const BasicContainerEdits&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicContainerEdits;
    list("env", &Self::env);
    list("deviceNodes", &Self::device_nodes);
    list("netDevices", &Self::net_devices, Release{1, 1, 0});
    list("hooks", &Self::hooks);
    list("mounts", &Self::mounts);
    list("intelRdt", &Self::intel_rdt, Release{0, 7, 0});
    list("additionalGids", &Self::additional_gids, Release{0, 7, 0});
  }

  /// Applies these edits to an OCI spec in place, all or nothing: after an error `target` is
  /// unchanged. `target` has a type with a `SpecEditor`, such as `oci::Spec` or `nlohmann::json`;
  /// `more` may be a lookup of the host's device nodes (default: the system), and after it
  /// `ApplyOptions`. Needs `<cdi/apply.hpp>`, and the header of the target's editor. Errors are
  /// those of `ApplyFunction`.
  template <class OciSpec, class... More, class Apply = ApplyFunction>
  Result<void> apply(OciSpec& target, const More&... more) const {
    return Apply{}(*this, target, more...);
  }
};

/// One device of a spec: a name and the edits that inject it. SPEC.md, CDI JSON Definition,
/// `devices`.
template <class S>
struct BasicDevice {
  StringOf<S> name{};  ///< the part after `=` in its qualified name; required
  /// For tools; not used by an injection. Since 0.6.0.
  DictOf<S, StringOf<S>> annotations{by_key};
  /// For a container that gets the device; at least one edit.
  BasicContainerEdits<S> container_edits{};

  friend bool operator==(const BasicDevice&, const BasicDevice&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicDevice;
    list("name", &Self::name, required);
    list("annotations", &Self::annotations, Release{0, 6, 0});
    list("containerEdits", &Self::container_edits, required);
  }
};

/// A CDI spec: the root of a file in /etc/cdi or /var/run/cdi. SPEC.md, CDI JSON Definition.
///
/// A plain value: only `validate`, and functions that call it, check it. A file must have
/// `version`, `kind` and `devices`.
template <class S>
struct BasicSpec {
  StringOf<S> version{};  ///< the CDI release of the document, such as "1.1.0"
  StringOf<S> kind{};     ///< "vendor.com/class", the part of its qualified names before `=`
  /// For tools; not used by an injection. Since 0.6.0.
  DictOf<S, StringOf<S>> annotations{by_key};
  ListOf<S, BasicDevice<S>> devices = no_items;  ///< at least one; names differ
  BasicContainerEdits<S> container_edits{};  ///< for every container that gets one of the devices

  friend bool operator==(const BasicSpec&, const BasicSpec&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicSpec;
    list("cdiVersion", &Self::version, required);
    list("kind", &Self::kind, required);
    list("annotations", &Self::annotations, Release{0, 6, 0});
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

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_MODEL_SPEC_HPP
