// OCI runtime spec 1.3.0, config-solaris.md.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_SOLARIS_HPP
#define CDI_OCI_SOLARIS_HPP

#include <optional>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace oci {

/// A network that Solaris makes for the container, as a temporary VNIC; see zonecfg(1M).
/// config-solaris.md, "Automatic Network (anet)".
template <class S>
struct BasicSolarisAnet {
  StringOf<S> linkname{};         ///< name of the VNIC
  StringOf<S> lower_link{};       ///< link of the host for the VNIC
  StringOf<S> allowed_address{};  ///< IP addresses that it is limited to; any when empty
  /// "true" when each start sets these addresses on the interface; or "false".
  StringOf<S> configure_allowed_address{};
  StringOf<S> defrouter{};        ///< address of the default router; none when empty
  StringOf<S> link_protection{};  ///< kinds of protection, such as "mac-nospoof, ip-nospoof"
  StringOf<S> mac_address{};      ///< MAC address of the VNIC, or a keyword of zonecfg(1M)
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicSolarisAnet&, const BasicSolarisAnet&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicSolarisAnet;
    list("linkname", &Self::linkname);
    list("lowerLink", &Self::lower_link);
    list("allowedAddress", &Self::allowed_address);
    list("configureAllowedAddress", &Self::configure_allowed_address);
    list("defrouter", &Self::defrouter);
    list("linkProtection", &Self::link_protection);
    list("macAddress", &Self::mac_address);
  }
};

/// The limit of processor time. config-solaris.md, "cappedCPU".
template <class S>
struct BasicSolarisCappedCpu {
  /// Number of processors, with a fraction, such as "1" or ".75".
  StringOf<S> ncpus{};
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicSolarisCappedCpu&, const BasicSolarisCappedCpu&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicSolarisCappedCpu;
    list("ncpus", &Self::ncpus);
  }
};

/// The limits of memory: bytes, or a number with K, M, G or T after it.
/// config-solaris.md, "cappedMemory".
template <class S>
struct BasicSolarisCappedMemory {
  StringOf<S> physical{};  ///< memory, such as "512m"; not set when empty
  StringOf<S> swap{};      ///< swap, such as "512m"; not set when empty
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicSolarisCappedMemory&,
                         const BasicSolarisCappedMemory&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicSolarisCappedMemory;
    list("physical", &Self::physical);
    list("swap", &Self::swap);
  }
};

/// The part of an OCI spec that only Solaris has: its member `solaris`. config-solaris.md.
template <class S>
struct BasicSolaris {
  StringOf<S> milestone{};       ///< SMF service that must be online before the process starts
  StringOf<S> limitpriv{};       ///< the most privileges of its processes, such as "default"
  StringOf<S> max_shm_memory{};  ///< maximum of shared memory, such as "512m"
  ListOf<S, BasicSolarisAnet<S>> anet = no_items;              ///< networks to make
  std::optional<BasicSolarisCappedCpu<S>> capped_cpu{};        ///< not set when absent
  std::optional<BasicSolarisCappedMemory<S>> capped_memory{};  ///< not set when absent
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicSolaris&, const BasicSolaris&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicSolaris;
    list("milestone", &Self::milestone);
    list("limitpriv", &Self::limitpriv);
    list("maxShmMemory", &Self::max_shm_memory);
    list("anet", &Self::anet);
    list("cappedCPU", &Self::capped_cpu);
    list("cappedMemory", &Self::capped_memory);
  }
};

using SolarisAnet = BasicSolarisAnet<Owning>;
using SolarisCappedCpu = BasicSolarisCappedCpu<Owning>;
using SolarisCappedMemory = BasicSolarisCappedMemory<Owning>;
using Solaris = BasicSolaris<Owning>;

}  // namespace oci
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_OCI_SOLARIS_HPP
