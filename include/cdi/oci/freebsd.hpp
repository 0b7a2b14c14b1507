// OCI runtime spec 1.3.0, config-freebsd.md.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_OCI_FREEBSD_HPP
#define CDI_OCI_FREEBSD_HPP

#include <cstdint>
#include <optional>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::oci {

/// A host device to show in the container, in addition to its devfs rules. config-freebsd.md,
/// "Devices".
template <class S>
struct BasicFreeBsdDevice {
  StringOf<S> path{};                   ///< path under /dev, such as `pf`
  std::optional<std::uint32_t> mode{};  ///< permission bits; not set when absent
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicFreeBsdDevice&, const BasicFreeBsdDevice&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicFreeBsdDevice;
    list("path", &Self::path, required);
    list("mode", &Self::mode);
  }
};

/// The jail's permissions: the `allow.*` parameters of jail(8). config-freebsd.md, "Jail".
template <class S>
struct BasicFreeBsdJailAllow {
  bool set_hostname = false;                ///< may change the host name
  bool raw_sockets = false;                 ///< may use raw sockets, as ping does
  bool chflags = false;                     ///< may change system file flags
  ListOf<S, StringOf<S>> mount = no_items;  ///< file system types that it may mount
  bool quotas = false;                      ///< may change file system quotas
  bool socket_af = false;                   ///< may use sockets other than IPv4, IPv6 and UNIX
  bool mlock = false;                       ///< may lock memory: mlock(2), munlock(2)
  bool reserved_ports = false;              ///< may bind ports below 1024
  bool suser = false;  ///< has super-user privileges; false is not written, so the runtime decides
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicFreeBsdJailAllow&, const BasicFreeBsdJailAllow&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicFreeBsdJailAllow;
    list("setHostname", &Self::set_hostname);
    list("rawSockets", &Self::raw_sockets);
    list("chflags", &Self::chflags);
    list("mount", &Self::mount);
    list("quotas", &Self::quotas);
    list("socketAf", &Self::socket_af);
    list("mlock", &Self::mlock);
    list("reservedPorts", &Self::reserved_ports);
    list("suser", &Self::suser);
  }
};

/// The jail around the container: jail(8). Text members take "new", "inherit" (share with the
/// parent) or "disable". config-freebsd.md, "Jail".
template <class S>
struct BasicFreeBsdJail {
  StringOf<S> parent{};  ///< name of the enclosing jail; the host when empty
  StringOf<S> host{};    ///< host and domain names: "new" or "inherit"
  StringOf<S> ip4{};     ///< IPv4: "inherit" or "disable"; empty with a new `vnet`
  /// The IPv4 addresses that the jail may use, such as `10.11.12.13`.
  ListOf<S, StringOf<S>> ip4_addr = no_items;
  StringOf<S> ip6{};  ///< IPv6: "inherit" or "disable"; empty with a new `vnet`
  /// The IPv6 addresses that the jail may use, such as `fd10::11:12:13`.
  ListOf<S, StringOf<S>> ip6_addr = no_items;
  StringOf<S> vnet{};  ///< network stack: "new" or "inherit"
  /// The host interface to which `ip4_addr` and `ip6_addr` are added while the jail exists.
  StringOf<S> interface_{};
  /// The interfaces that belong to the jail's `vnet` while the jail exists.
  ListOf<S, StringOf<S>> vnet_interfaces = no_items;
  StringOf<S> sysvmsg{};  ///< System V messages: "new", "inherit" or "disable"; "new" when empty
  StringOf<S> sysvsem{};  ///< access to System V semaphores
  StringOf<S> sysvshm{};  ///< access to System V shared memory
  /// Visible mounts: 0 for all, 1 for mounts under the root, 2 for the root only (the default).
  std::optional<std::int64_t> enforce_statfs{};
  std::optional<BasicFreeBsdJailAllow<S>> allow{};  ///< the runtime's choice when absent
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicFreeBsdJail&, const BasicFreeBsdJail&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicFreeBsdJail;
    list("parent", &Self::parent);
    list("host", &Self::host);
    list("ip4", &Self::ip4);
    list("ip4Addr", &Self::ip4_addr);
    list("ip6", &Self::ip6);
    list("ip6Addr", &Self::ip6_addr);
    list("vnet", &Self::vnet);
    list("interface", &Self::interface_);
    list("vnetInterfaces", &Self::vnet_interfaces);
    list("sysvmsg", &Self::sysvmsg);
    list("sysvsem", &Self::sysvsem);
    list("sysvshm", &Self::sysvshm);
    list("enforceStatfs", &Self::enforce_statfs);
    list("allow", &Self::allow);
  }
};

/// The FreeBSD part of an OCI spec: the member `freebsd`. config-freebsd.md.
template <class S>
struct BasicFreeBsd {
  ListOf<S, BasicFreeBsdDevice<S>> devices = no_items;  ///< devices in addition to the devfs rules
  std::optional<BasicFreeBsdJail<S>> jail{};            ///< the runtime's choice when absent
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicFreeBsd&, const BasicFreeBsd&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicFreeBsd;
    list("devices", &Self::devices);
    list("jail", &Self::jail);
  }
};

using FreeBsdDevice = BasicFreeBsdDevice<Owning>;
using FreeBsdJailAllow = BasicFreeBsdJailAllow<Owning>;
using FreeBsdJail = BasicFreeBsdJail<Owning>;
using FreeBsd = BasicFreeBsd<Owning>;

}  // namespace cdi::oci

#endif  // CDI_OCI_FREEBSD_HPP
