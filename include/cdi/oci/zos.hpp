// OCI runtime spec 1.3.0, config-zos.md.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_OCI_ZOS_HPP
#define CDI_OCI_ZOS_HPP

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::oci {

/// A namespace for the container. config-zos.md, "Namespaces".
template <class S>
struct BasicZosNamespace {
  StringOf<S> type{};  ///< "pid", "mount", "ipc" or "uts"; each at most once
  StringOf<S> path{};  ///< absolute host path of a namespace to join; a new namespace when empty
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicZosNamespace&, const BasicZosNamespace&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicZosNamespace;
    list("type", &Self::type, required);
    list("path", &Self::path);
  }
};

/// The z/OS part of an OCI spec: the member `zos`. config-zos.md.
template <class S>
struct BasicZos {
  /// The namespaces to create or join; for all other types, the container shares the runtime's.
  ListOf<S, BasicZosNamespace<S>> namespaces = no_items;
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicZos&, const BasicZos&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicZos;
    list("namespaces", &Self::namespaces);
  }
};

using ZosNamespace = BasicZosNamespace<Owning>;
using Zos = BasicZos<Owning>;

}  // namespace cdi::oci

#endif  // CDI_OCI_ZOS_HPP
