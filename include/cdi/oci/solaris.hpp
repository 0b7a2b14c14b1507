// OCI runtime spec 1.3.0, config-solaris.md.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_OCI_SOLARIS_HPP
#define CDI_OCI_SOLARIS_HPP

#include <optional>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::oci {

/// A network that Solaris creates for the container as a temporary VNIC; see zonecfg(1M).
/// config-solaris.md, "Automatic Network (anet)".
template <class S>
struct BasicSolarisAnet {
  StringOf<S> linkname{};         ///< the VNIC's name
  StringOf<S> lower_link{};       ///< the host link under the VNIC
  StringOf<S> allowed_address{};  ///< permitted IP addresses; any when empty
  /// Whether to set these addresses on the interface at each start: "true" or "false".
  StringOf<S> configure_allowed_address{};
  StringOf<S> defrouter{};        ///< the default router's address; none when empty
  StringOf<S> link_protection{};  ///< kinds of protection, such as "mac-nospoof, ip-nospoof"
  StringOf<S> mac_address{};      ///< the VNIC's MAC address, or a zonecfg(1M) keyword
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

/// The processor time limit. config-solaris.md, "cappedCPU".
template <class S>
struct BasicSolarisCappedCpu {
  /// The number of processors, possibly a fraction, such as "1" or ".75".
  StringOf<S> ncpus{};
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicSolarisCappedCpu&, const BasicSolarisCappedCpu&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicSolarisCappedCpu;
    list("ncpus", &Self::ncpus);
  }
};

/// The memory limits: bytes, or a number with the suffix K, M, G or T. config-solaris.md,
/// "cappedMemory".
template <class S>
struct BasicSolarisCappedMemory {
  StringOf<S> physical{};  ///< physical memory, such as "512m"; not set when empty
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

/// The Solaris part of an OCI spec: the member `solaris`. config-solaris.md.
template <class S>
struct BasicSolaris {
  StringOf<S> milestone{};       ///< SMF service that must be online before the process starts
  StringOf<S> limitpriv{};       ///< maximum privileges of processes, such as "default"
  StringOf<S> max_shm_memory{};  ///< maximum shared memory, such as "512m"
  ListOf<S, BasicSolarisAnet<S>> anet = no_items;              ///< networks to create
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

}  // namespace cdi::oci

#endif  // CDI_OCI_SOLARIS_HPP
