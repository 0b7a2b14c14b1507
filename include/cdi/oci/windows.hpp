// OCI runtime spec 1.3.0, config-windows.md.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_OCI_WINDOWS_HPP
#define CDI_OCI_WINDOWS_HPP

#include <cstdint>
#include <optional>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::oci {

/// A host device for the container. config-windows.md, "Devices".
template <class S>
struct BasicWindowsDevice {
  StringOf<S> id{};       ///< GUID, such as `24E552D7-6523-47F7-A647-D3465BF1F5CA`
  StringOf<S> id_type{};  ///< kind of `id`; only "class", for device interfaces, is defined
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicWindowsDevice&, const BasicWindowsDevice&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicWindowsDevice;
    list("id", &Self::id, required);
    list("idType", &Self::id_type, required);
  }
};

/// The container's memory limit. config-windows.md, "Memory".
template <class S>
struct BasicWindowsMemory {
  std::optional<std::uint64_t> limit{};  ///< maximum in bytes; not set when absent
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicWindowsMemory&, const BasicWindowsMemory&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicWindowsMemory;
    list("limit", &Self::limit);
  }
};

/// Processors in one processor group: GROUP_AFFINITY. config-windows.md, "CPU".
template <class S>
struct BasicWindowsCpuGroupAffinity {
  std::uint64_t mask = 0;   ///< a bit for each processor in the group
  std::uint32_t group = 0;  ///< the group's number
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicWindowsCpuGroupAffinity&,
                         const BasicWindowsCpuGroupAffinity&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicWindowsCpuGroupAffinity;
    list("mask", &Self::mask);
    list("group", &Self::group);
  }
};

/// The container's processors; set at most one of `count`, `shares` and `maximum`.
/// config-windows.md, "CPU".
template <class S>
struct BasicWindowsCpu {
  std::optional<std::uint64_t> count{};    ///< number of processors
  std::optional<std::uint16_t> shares{};   ///< weight relative to other containers, 0 to 10000
  std::optional<std::uint16_t> maximum{};  ///< maximum share of processor cycles, in 1/10000
  /// The processors that the container may use; any when empty.
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

/// The system drive's limits. Absent members are not set. config-windows.md, "Storage".
template <class S>
struct BasicWindowsStorage {
  std::optional<std::uint64_t> iops{};          ///< maximum operations per second
  std::optional<std::uint64_t> bps{};           ///< maximum bytes per second
  std::optional<std::uint64_t> sandbox_size{};  ///< minimum drive size in bytes
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicWindowsStorage&, const BasicWindowsStorage&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicWindowsStorage;
    list("iops", &Self::iops);
    list("bps", &Self::bps);
    list("sandboxSize", &Self::sandbox_size);
  }
};

/// The container's resources. Absent members set no limit. config-windows.md, "Resources".
template <class S>
struct BasicWindowsResources {
  std::optional<BasicWindowsMemory<S>> memory{};    ///< memory limit
  std::optional<BasicWindowsCpu<S>> cpu{};          ///< processor limits
  std::optional<BasicWindowsStorage<S>> storage{};  ///< system drive size and rates
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicWindowsResources&, const BasicWindowsResources&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicWindowsResources;
    list("memory", &Self::memory);
    list("cpu", &Self::cpu);
    list("storage", &Self::storage);
  }
};

/// The container's network. config-windows.md, "Network".
template <class S>
struct BasicWindowsNetwork {
  /// Ids of the Host Network Service endpoints to connect to.
  ListOf<S, StringOf<S>> endpoint_list = no_items;
  bool allow_unqualified_dns_query = false;  ///< whether names without a domain are resolved
  ListOf<S, StringOf<S>> dns_search_list = no_items;  ///< DNS suffixes for name lookups
  /// The id of the container whose network this one shares; none when empty.
  StringOf<S> network_shared_container_name{};
  /// The id of the network namespace to use; all other members must then be empty.
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

/// The virtual machine around the container. config-windows.md, "HyperV".
template <class S>
struct BasicWindowsHyperV {
  /// Path of the machine's image; when empty, the first image in the layers, from the lowest up.
  StringOf<S> utility_vm_path{};
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicWindowsHyperV&, const BasicWindowsHyperV&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicWindowsHyperV;
    list("utilityVMPath", &Self::utility_vm_path);
  }
};

/// The Windows part of an OCI spec: the member `windows`. config-windows.md.
template <class S>
struct BasicWindows {
  /// Host folders, at least one: from the top layer to the base, then the scratch folder.
  ListOf<S, StringOf<S>> layer_folders = no_items;
  ListOf<S, BasicWindowsDevice<S>> devices = no_items;  ///< host devices to pass through
  std::optional<BasicWindowsResources<S>> resources{};  ///< resource limits; none when absent
  /// The credential document of a group Managed Service Account; none when null.
  BasicAnyValue<S> credential_spec{};
  bool servicing = false;  ///< whether to start only to apply pending Windows updates
  bool ignore_flushes_during_boot = false;          ///< whether to skip disk flushes during boot
  std::optional<BasicWindowsHyperV<S>> hyperv{};    ///< the Hyper-V machine; none when absent
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

}  // namespace cdi::oci

#endif  // CDI_OCI_WINDOWS_HPP
