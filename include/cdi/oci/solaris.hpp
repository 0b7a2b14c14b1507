// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_SOLARIS_HPP
#define CDI_OCI_SOLARIS_HPP

#include <optional>

#include <cdi/fields.hpp>
#include <cdi/storage.hpp>
#include <cdi/value.hpp>
#include <cdi/version.hpp>

// OCI runtime spec 1.3.0, config-solaris.md.

namespace cdi::inline CDI_ABI::oci {

/// A network that Solaris makes for the container.
template <class S>
struct BasicSolarisAnet {
  StringOf<S> linkname{};
  StringOf<S> lower_link{};
  StringOf<S> allowed_address{};
  StringOf<S> configure_allowed_address{};
  StringOf<S> defrouter{};
  StringOf<S> link_protection{};
  StringOf<S> mac_address{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicSolarisAnet&, const BasicSolarisAnet&) = default;

  static constexpr auto fields() {
    using Self = BasicSolarisAnet;
    return std::tuple{
        Field{"linkname", &Self::linkname},
        Field{"lowerLink", &Self::lower_link},
        Field{"allowedAddress", &Self::allowed_address},
        Field{"configureAllowedAddress", &Self::configure_allowed_address},
        Field{"defrouter", &Self::defrouter},
        Field{"linkProtection", &Self::link_protection},
        Field{"macAddress", &Self::mac_address},
    };
  }
};

/// How much of the processors the container may use.
template <class S>
struct BasicSolarisCappedCpu {
  StringOf<S> ncpus{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicSolarisCappedCpu&, const BasicSolarisCappedCpu&) = default;

  static constexpr auto fields() {
    using Self = BasicSolarisCappedCpu;
    return std::tuple{
        Field{"ncpus", &Self::ncpus},
    };
  }
};

/// How much memory the container may use.
template <class S>
struct BasicSolarisCappedMemory {
  StringOf<S> physical{};
  StringOf<S> swap{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicSolarisCappedMemory&,
                         const BasicSolarisCappedMemory&) = default;

  static constexpr auto fields() {
    using Self = BasicSolarisCappedMemory;
    return std::tuple{
        Field{"physical", &Self::physical},
        Field{"swap", &Self::swap},
    };
  }
};

/// The part of an OCI spec that only Solaris has.
template <class S>
struct BasicSolaris {
  StringOf<S> milestone{};
  StringOf<S> limitpriv{};
  StringOf<S> max_shm_memory{};
  ListOf<S, BasicSolarisAnet<S>> anet{};
  std::optional<BasicSolarisCappedCpu<S>> capped_cpu{};
  std::optional<BasicSolarisCappedMemory<S>> capped_memory{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicSolaris&, const BasicSolaris&) = default;

  static constexpr auto fields() {
    using Self = BasicSolaris;
    return std::tuple{
        Field{"milestone", &Self::milestone},         Field{"limitpriv", &Self::limitpriv},
        Field{"maxShmMemory", &Self::max_shm_memory}, Field{"anet", &Self::anet},
        Field{"cappedCPU", &Self::capped_cpu},        Field{"cappedMemory", &Self::capped_memory},
    };
  }
};

using SolarisAnet = BasicSolarisAnet<Owning>;
using SolarisCappedCpu = BasicSolarisCappedCpu<Owning>;
using SolarisCappedMemory = BasicSolarisCappedMemory<Owning>;
using Solaris = BasicSolaris<Owning>;

static_assert(
    detail::initialisers_used<SolarisAnet, SolarisCappedCpu, SolarisCappedMemory, Solaris>);

}  // namespace cdi::inline CDI_ABI::oci

#endif  // CDI_OCI_SOLARIS_HPP
