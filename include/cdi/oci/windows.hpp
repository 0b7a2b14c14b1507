// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_WINDOWS_HPP
#define CDI_OCI_WINDOWS_HPP

#include <cstdint>
#include <optional>

#include <cdi/fields.hpp>
#include <cdi/storage.hpp>
#include <cdi/value.hpp>
#include <cdi/version.hpp>

// OCI runtime spec 1.3.0, config-windows.md.

namespace cdi::inline CDI_ABI::oci {

/// A device of the host that the container gets.
template <class S>
struct BasicWindowsDevice {
  StringOf<S> id{};
  StringOf<S> id_type{};  // "class", ...
  ExtraOf<S> extra{};

  friend bool operator==(const BasicWindowsDevice&, const BasicWindowsDevice&) = default;

  static constexpr auto fields() {
    using Self = BasicWindowsDevice;
    return std::tuple{
        Field{"id", &Self::id, required},
        Field{"idType", &Self::id_type, required},
    };
  }
};

/// The memory of the container.
template <class S>
struct BasicWindowsMemory {
  std::optional<std::uint64_t> limit{};  // bytes
  ExtraOf<S> extra{};

  friend bool operator==(const BasicWindowsMemory&, const BasicWindowsMemory&) = default;

  static constexpr auto fields() {
    using Self = BasicWindowsMemory;
    return std::tuple{
        Field{"limit", &Self::limit},
    };
  }
};

/// Processors of one processor group.
template <class S>
struct BasicWindowsCpuGroupAffinity {
  std::uint64_t mask = 0;
  std::uint32_t group = 0;
  ExtraOf<S> extra{};

  friend bool operator==(const BasicWindowsCpuGroupAffinity&,
                         const BasicWindowsCpuGroupAffinity&) = default;

  static constexpr auto fields() {
    using Self = BasicWindowsCpuGroupAffinity;
    return std::tuple{
        Field{"mask", &Self::mask},
        Field{"group", &Self::group},
    };
  }
};

/// The processors of the container.
template <class S>
struct BasicWindowsCpu {
  std::optional<std::uint64_t> count{};
  std::optional<std::uint16_t> shares{};   // 1 to 10000
  std::optional<std::uint16_t> maximum{};  // 10000 is all
  ListOf<S, BasicWindowsCpuGroupAffinity<S>> affinity{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicWindowsCpu&, const BasicWindowsCpu&) = default;

  static constexpr auto fields() {
    using Self = BasicWindowsCpu;
    return std::tuple{
        Field{"count", &Self::count},
        Field{"shares", &Self::shares},
        Field{"maximum", &Self::maximum},
        Field{"affinity", &Self::affinity},
    };
  }
};

/// What the container may read and write.
template <class S>
struct BasicWindowsStorage {
  std::optional<std::uint64_t> iops{};          // operations a second
  std::optional<std::uint64_t> bps{};           // bytes a second
  std::optional<std::uint64_t> sandbox_size{};  // bytes
  ExtraOf<S> extra{};

  friend bool operator==(const BasicWindowsStorage&, const BasicWindowsStorage&) = default;

  static constexpr auto fields() {
    using Self = BasicWindowsStorage;
    return std::tuple{
        Field{"iops", &Self::iops},
        Field{"bps", &Self::bps},
        Field{"sandboxSize", &Self::sandbox_size},
    };
  }
};

/// The resources of the container.
template <class S>
struct BasicWindowsResources {
  std::optional<BasicWindowsMemory<S>> memory{};
  std::optional<BasicWindowsCpu<S>> cpu{};
  std::optional<BasicWindowsStorage<S>> storage{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicWindowsResources&, const BasicWindowsResources&) = default;

  static constexpr auto fields() {
    using Self = BasicWindowsResources;
    return std::tuple{
        Field{"memory", &Self::memory},
        Field{"cpu", &Self::cpu},
        Field{"storage", &Self::storage},
    };
  }
};

/// The network of the container.
template <class S>
struct BasicWindowsNetwork {
  ListOf<S, StringOf<S>> endpoint_list{};
  bool allow_unqualified_dns_query = false;
  ListOf<S, StringOf<S>> dns_search_list{};
  StringOf<S> network_shared_container_name{};
  StringOf<S> network_namespace{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicWindowsNetwork&, const BasicWindowsNetwork&) = default;

  static constexpr auto fields() {
    using Self = BasicWindowsNetwork;
    return std::tuple{
        Field{"endpointList", &Self::endpoint_list},
        Field{"allowUnqualifiedDNSQuery", &Self::allow_unqualified_dns_query},
        Field{"DNSSearchList", &Self::dns_search_list},
        Field{"networkSharedContainerName", &Self::network_shared_container_name},
        Field{"networkNamespace", &Self::network_namespace},
    };
  }
};

/// The virtual machine that the container runs in.
template <class S>
struct BasicWindowsHyperV {
  StringOf<S> utility_vm_path{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicWindowsHyperV&, const BasicWindowsHyperV&) = default;

  static constexpr auto fields() {
    using Self = BasicWindowsHyperV;
    return std::tuple{
        Field{"utilityVMPath", &Self::utility_vm_path},
    };
  }
};

/// The part of an OCI spec that only Windows has.
template <class S>
struct BasicWindows {
  ListOf<S, StringOf<S>> layer_folders{};
  ListOf<S, BasicWindowsDevice<S>> devices{};
  std::optional<BasicWindowsResources<S>> resources{};
  BasicValue<S> credential_spec{};  // a document of its own
  bool servicing = false;
  bool ignore_flushes_during_boot = false;
  std::optional<BasicWindowsHyperV<S>> hyperv{};
  std::optional<BasicWindowsNetwork<S>> network{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicWindows&, const BasicWindows&) = default;

  static constexpr auto fields() {
    using Self = BasicWindows;
    return std::tuple{
        Field{"layerFolders", &Self::layer_folders, required},
        Field{"devices", &Self::devices},
        Field{"resources", &Self::resources},
        Field{"credentialSpec", &Self::credential_spec},
        Field{"servicing", &Self::servicing},
        Field{"ignoreFlushesDuringBoot", &Self::ignore_flushes_during_boot},
        Field{"hyperv", &Self::hyperv},
        Field{"network", &Self::network},
    };
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

static_assert(detail::initialisers_used<WindowsDevice, WindowsMemory, WindowsCpuGroupAffinity,
                                        WindowsCpu, WindowsStorage, WindowsResources,
                                        WindowsNetwork, WindowsHyperV, Windows>);

}  // namespace cdi::inline CDI_ABI::oci

#endif  // CDI_OCI_WINDOWS_HPP
