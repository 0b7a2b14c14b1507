// OCI runtime spec 1.3.0, config-windows.md.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_WINDOWS_HPP
#define CDI_OCI_WINDOWS_HPP

#include <cstdint>
#include <optional>

#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/model/value.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace oci {

/// A device of the host that the container gets. config-windows.md, "Devices".
template <class S>
struct BasicWindowsDevice {
  StringOf<S> id{};       ///< GUID, `24E552D7-6523-47F7-A647-D3465BF1F5CA` say
  StringOf<S> id_type{};  ///< what `id` is: "class", of device interfaces, is all there is so far
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicWindowsDevice&, const BasicWindowsDevice&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicWindowsDevice;
    list("id", &Self::id, required);
    list("idType", &Self::id_type, required);
  }
};

/// The memory of the container. config-windows.md, "Memory".
template <class S>
struct BasicWindowsMemory {
  std::optional<std::uint64_t> limit{};  ///< most bytes; not set when absent
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicWindowsMemory&, const BasicWindowsMemory&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicWindowsMemory;
    list("limit", &Self::limit);
  }
};

/// Processors of one processor group, as of GROUP_AFFINITY. config-windows.md, "CPU".
template <class S>
struct BasicWindowsCpuGroupAffinity {
  std::uint64_t mask = 0;   ///< a bit for each processor of the group
  std::uint32_t group = 0;  ///< number of that group
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicWindowsCpuGroupAffinity&,
                         const BasicWindowsCpuGroupAffinity&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicWindowsCpuGroupAffinity;
    list("mask", &Self::mask);
    list("group", &Self::group);
  }
};

/// The processors of the container; of `count`, `shares` and `maximum` it has at most one.
/// config-windows.md, "CPU".
template <class S>
struct BasicWindowsCpu {
  std::optional<std::uint64_t> count{};    ///< number of processors
  std::optional<std::uint16_t> shares{};   ///< weight against other containers, 0 to 10000
  std::optional<std::uint16_t> maximum{};  ///< cycles it gets of each 10000
  /// Processors that it runs on; any when empty.
  ListOf<S, BasicWindowsCpuGroupAffinity<S>> affinity = no_items;
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicWindowsCpu&, const BasicWindowsCpu&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicWindowsCpu;
    list("count", &Self::count);
    list("shares", &Self::shares);
    list("maximum", &Self::maximum);
    list("affinity", &Self::affinity);
  }
};

/// What the container may read and write on its system drive; what is absent is not set.
/// config-windows.md, "Storage".
template <class S>
struct BasicWindowsStorage {
  std::optional<std::uint64_t> iops{};          ///< most operations a second
  std::optional<std::uint64_t> bps{};           ///< most bytes a second
  std::optional<std::uint64_t> sandbox_size{};  ///< bytes that the drive has at least
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicWindowsStorage&, const BasicWindowsStorage&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicWindowsStorage;
    list("iops", &Self::iops);
    list("bps", &Self::bps);
    list("sandboxSize", &Self::sandbox_size);
  }
};

/// The resources of the container; what is absent has no limit set. config-windows.md, "Resources".
template <class S>
struct BasicWindowsResources {
  std::optional<BasicWindowsMemory<S>> memory{};    ///< limit of memory
  std::optional<BasicWindowsCpu<S>> cpu{};          ///< which processors, and how much of them
  std::optional<BasicWindowsStorage<S>> storage{};  ///< size and rates of the system drive
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicWindowsResources&, const BasicWindowsResources&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicWindowsResources;
    list("memory", &Self::memory);
    list("cpu", &Self::cpu);
    list("storage", &Self::storage);
  }
};

/// The network of the container. config-windows.md, "Network".
template <class S>
struct BasicWindowsNetwork {
  /// Ids of endpoints of the Host Network Service to connect to.
  ListOf<S, StringOf<S>> endpoint_list = no_items;
  bool allow_unqualified_dns_query = false;  ///< whether names without a domain are looked up
  ListOf<S, StringOf<S>> dns_search_list = no_items;  ///< DNS suffixes to look names up with
  /// Id of the container whose network it shares; none when empty.
  StringOf<S> network_shared_container_name{};
  /// Id of the namespace to use; with one, all else here is empty.
  StringOf<S> network_namespace{};
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicWindowsNetwork&, const BasicWindowsNetwork&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicWindowsNetwork;
    list("endpointList", &Self::endpoint_list);
    list("allowUnqualifiedDNSQuery", &Self::allow_unqualified_dns_query);
    list("DNSSearchList", &Self::dns_search_list);
    list("networkSharedContainerName", &Self::network_shared_container_name);
    list("networkNamespace", &Self::network_namespace);
  }
};

/// The virtual machine that the container runs in. config-windows.md, "HyperV".
template <class S>
struct BasicWindowsHyperV {
  /// Path of the machine's image; that of the lowest layer with one when empty.
  StringOf<S> utility_vm_path{};
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicWindowsHyperV&, const BasicWindowsHyperV&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicWindowsHyperV;
    list("utilityVMPath", &Self::utility_vm_path);
  }
};

/// The part of an OCI spec that only Windows has: its member `windows`. config-windows.md.
template <class S>
struct BasicWindows {
  /// Folders on the host, at least one: the top layer first, the base, the scratch last.
  ListOf<S, StringOf<S>> layer_folders = no_items;
  ListOf<S, BasicWindowsDevice<S>> devices = no_items;  ///< devices of the host that it gets
  std::optional<BasicWindowsResources<S>> resources{};  ///< no limits set when absent
  /// Document about a group Managed Service Account; none when null.
  BasicValue<S> credential_spec{};
  bool servicing = false;                   ///< whether it starts to apply pending Windows updates
  bool ignore_flushes_during_boot = false;  ///< whether the disk is not flushed during boot
  std::optional<BasicWindowsHyperV<S>> hyperv{};    ///< its Hyper-V machine; no Hyper-V when absent
  std::optional<BasicWindowsNetwork<S>> network{};  ///< the runtime's choice when absent
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicWindows&, const BasicWindows&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicWindows;
    list("layerFolders", &Self::layer_folders, required);
    list("devices", &Self::devices);
    list("resources", &Self::resources);
    list("credentialSpec", &Self::credential_spec);
    list("servicing", &Self::servicing);
    list("ignoreFlushesDuringBoot", &Self::ignore_flushes_during_boot);
    list("hyperv", &Self::hyperv);
    list("network", &Self::network);
  }
};

using WindowsDevice = BasicWindowsDevice<Owning>;
using WindowsMemory = BasicWindowsMemory<Owning>;
using WindowsCpuGroupAffinity = BasicWindowsCpuGroupAffinity<Owning>;
using WindowsCpu = BasicWindowsCpu<Owning>;
using WindowsStorage = BasicWindowsStorage<Owning>;
using WindowsResources = BasicWindowsResources<Owning>;
using WindowsNetwork = BasicWindowsNetwork<Owning>;
using WindowsHyperV = BasicWindowsHyperV<Owning>;
using Windows = BasicWindows<Owning>;

}  // namespace oci
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_OCI_WINDOWS_HPP
