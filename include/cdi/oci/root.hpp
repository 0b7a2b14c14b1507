// OCI runtime spec 1.3.0, config.md, "Root".
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_ROOT_HPP
#define CDI_OCI_ROOT_HPP

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
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

}  // namespace oci
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_OCI_ROOT_HPP
