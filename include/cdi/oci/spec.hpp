// OCI runtime spec 1.3.0, config.md: the whole document.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_OCI_SPEC_HPP
#define CDI_OCI_SPEC_HPP

#include <optional>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/oci/freebsd.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/oci/process.hpp>
#include <cdi/oci/solaris.hpp>
#include <cdi/oci/vm.hpp>
#include <cdi/oci/windows.hpp>
#include <cdi/oci/zos.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Models of the OCI runtime spec 1.3.0. Each type names its source, such as `config.md`, in
/// https://github.com/opencontainers/runtime-spec.
namespace oci {

/// The container's root file system. config.md, "Root".
template <class S>
struct BasicRoot {
  /// A host directory, absolute or relative to the bundle; on Windows a volume GUID path.
  StringOf<S> path{};
  bool readonly = false;  ///< whether it is read-only in the container; always false on Windows
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicRoot&, const BasicRoot&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicRoot;
    list("path", &Self::path, required);
    list("readonly", &Self::readonly);
  }
};

using Root = BasicRoot<Owning>;

/// An OCI runtime spec: the root of a bundle's config.json. config.md.
///
/// Members from newer versions are kept in the `extra` of their object and written back. Like the
/// Go types, `write` omits optional members that are false, 0 or empty.
template <class S>
struct BasicSpec {
  StringOf<S> version{};                     ///< OCI runtime spec version, such as `1.3.0`
  std::optional<BasicProcess<S>> process{};  ///< needed to start the container
  std::optional<BasicRoot<S>> root{};        ///< absent only for Hyper-V containers
  StringOf<S> hostname{};                    ///< the container's name; not set when empty
  StringOf<S> domainname{};                  ///< the container's domain; not set when empty
  /// Mounts in addition to the root, in mounting order.
  ListOf<S, BasicMount<S>> mounts = no_items;
  std::optional<BasicHooks<S>> hooks{};        ///< POSIX platforms only
  DictOf<S, StringOf<S>> annotations{by_key};  ///< free text by key, such as `com.example.key`
  std::optional<BasicLinux<S>> linux_{};       ///< Linux only; `linux` is a macro in GNU modes
  std::optional<BasicSolaris<S>> solaris{};    ///< Solaris only
  std::optional<BasicWindows<S>> windows{};    ///< needed on Windows
  std::optional<BasicVm<S>> vm{};              ///< for containers in virtual machines
  std::optional<BasicZos<S>> zos{};            ///< z/OS only
  std::optional<BasicFreeBsd<S>> freebsd{};    ///< FreeBSD only
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicSpec&, const BasicSpec&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicSpec;
    list("ociVersion", &Self::version, required);
    list("process", &Self::process);
    list("root", &Self::root);
    list("hostname", &Self::hostname);
    list("domainname", &Self::domainname);
    list("mounts", &Self::mounts);
    list("hooks", &Self::hooks);
    list("annotations", &Self::annotations);
    list("linux", &Self::linux_);
    list("solaris", &Self::solaris);
    list("windows", &Self::windows);
    list("vm", &Self::vm);
    list("zos", &Self::zos);
    list("freebsd", &Self::freebsd);
  }
};

using Spec = BasicSpec<Owning>;
using SpecView = BasicSpec<Borrowed>;

}  // namespace oci

}  // namespace cdi

#endif  // CDI_OCI_SPEC_HPP
