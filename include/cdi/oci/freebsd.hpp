// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_FREEBSD_HPP
#define CDI_OCI_FREEBSD_HPP

#include <cstdint>
#include <optional>

#include <cdi/fields.hpp>
#include <cdi/storage.hpp>
#include <cdi/value.hpp>
#include <cdi/version.hpp>

// OCI runtime spec 1.3.0, config-freebsd.md.

namespace cdi::inline CDI_ABI::oci {

/// A device of the host that the container sees.
template <class S>
struct BasicFreeBsdDevice {
  StringOf<S> path{};  // below /dev
  std::optional<std::uint32_t> mode{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicFreeBsdDevice&, const BasicFreeBsdDevice&) = default;

  static constexpr auto fields() {
    using Self = BasicFreeBsdDevice;
    return std::tuple{
        Field{"path", &Self::path, required},
        Field{"mode", &Self::mode},
    };
  }
};

/// What the jail allows.
template <class S>
struct BasicFreeBsdJailAllow {
  bool set_hostname = false;
  bool raw_sockets = false;
  bool chflags = false;
  ListOf<S, StringOf<S>> mount{};  // types of file systems
  bool quotas = false;
  bool socket_af = false;
  bool mlock = false;
  bool reserved_ports = false;
  bool suser = false;
  ExtraOf<S> extra{};

  friend bool operator==(const BasicFreeBsdJailAllow&, const BasicFreeBsdJailAllow&) = default;

  static constexpr auto fields() {
    using Self = BasicFreeBsdJailAllow;
    return std::tuple{
        Field{"setHostname", &Self::set_hostname},
        Field{"rawSockets", &Self::raw_sockets},
        Field{"chflags", &Self::chflags},
        Field{"mount", &Self::mount},
        Field{"quotas", &Self::quotas},
        Field{"socketAf", &Self::socket_af},
        Field{"mlock", &Self::mlock},
        Field{"reservedPorts", &Self::reserved_ports},
        Field{"suser", &Self::suser},
    };
  }
};

/// The jail around the container. What is shared is said as "new", "inherit" or "disable".
template <class S>
struct BasicFreeBsdJail {
  StringOf<S> parent{};
  StringOf<S> host{};
  StringOf<S> ip4{};
  ListOf<S, StringOf<S>> ip4_addr{};
  StringOf<S> ip6{};
  ListOf<S, StringOf<S>> ip6_addr{};
  StringOf<S> vnet{};
  StringOf<S> interface_{};
  ListOf<S, StringOf<S>> vnet_interfaces{};
  StringOf<S> sysvmsg{};
  StringOf<S> sysvsem{};
  StringOf<S> sysvshm{};
  std::optional<std::int64_t> enforce_statfs{};
  std::optional<BasicFreeBsdJailAllow<S>> allow{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicFreeBsdJail&, const BasicFreeBsdJail&) = default;

  static constexpr auto fields() {
    using Self = BasicFreeBsdJail;
    return std::tuple{
        Field{"parent", &Self::parent},
        Field{"host", &Self::host},
        Field{"ip4", &Self::ip4},
        Field{"ip4Addr", &Self::ip4_addr},
        Field{"ip6", &Self::ip6},
        Field{"ip6Addr", &Self::ip6_addr},
        Field{"vnet", &Self::vnet},
        Field{"interface", &Self::interface_},
        Field{"vnetInterfaces", &Self::vnet_interfaces},
        Field{"sysvmsg", &Self::sysvmsg},
        Field{"sysvsem", &Self::sysvsem},
        Field{"sysvshm", &Self::sysvshm},
        Field{"enforceStatfs", &Self::enforce_statfs},
        Field{"allow", &Self::allow},
    };
  }
};

/// The part of an OCI spec that only FreeBSD has.
template <class S>
struct BasicFreeBsd {
  ListOf<S, BasicFreeBsdDevice<S>> devices{};
  std::optional<BasicFreeBsdJail<S>> jail{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicFreeBsd&, const BasicFreeBsd&) = default;

  static constexpr auto fields() {
    using Self = BasicFreeBsd;
    return std::tuple{
        Field{"devices", &Self::devices},
        Field{"jail", &Self::jail},
    };
  }
};

using FreeBsdDevice = BasicFreeBsdDevice<Owning>;
using FreeBsdJailAllow = BasicFreeBsdJailAllow<Owning>;
using FreeBsdJail = BasicFreeBsdJail<Owning>;
using FreeBsd = BasicFreeBsd<Owning>;

static_assert(detail::initialisers_used<FreeBsdDevice, FreeBsdJailAllow, FreeBsdJail, FreeBsd>);

}  // namespace cdi::inline CDI_ABI::oci

#endif  // CDI_OCI_FREEBSD_HPP
