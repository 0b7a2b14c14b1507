// OCI runtime spec 1.3.0, config.md, "Mounts".
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_OCI_MOUNT_HPP
#define CDI_OCI_MOUNT_HPP

#include <cstdint>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::oci {

/// One range of an ID mapping: `size` ids, which start at `container_id` in the container and at
/// `host_id` on the host. config-linux.md, "User namespace mappings".
template <class S>
struct BasicIdMapping {
  std::uint32_t container_id = 0;  ///< first user or group id in the container
  std::uint32_t host_id = 0;       ///< first user or group id on the host
  std::uint32_t size = 0;          ///< number of ids
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicIdMapping&, const BasicIdMapping&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicIdMapping;
    list("containerID", &Self::container_id, required);
    list("hostID", &Self::host_id, required);
    list("size", &Self::size, required);
  }
};

/// A file system or host path that the runtime mounts into the container, in addition to the root.
/// config.md, "Mounts" and "POSIX-platform Mounts".
template <class S>
struct BasicMount {
  StringOf<S> destination{};  ///< absolute path in the container
  /// File system type, as in /proc/filesystems; ignored for bind mounts, where `none` is usual.
  StringOf<S> type{};
  /// The device; for a bind mount, a host path, absolute or relative to the bundle.
  StringOf<S> source{};
  /// Options of mount(8), one per entry; `bind` or `rbind` makes a bind mount.
  ListOf<S, StringOf<S>> options = no_items;
  /// Mapping of the files' user ids, in effect with the option `idmap` or `ridmap`; the container's
  /// own mapping when empty.
  ListOf<S, BasicIdMapping<S>> uid_mappings = no_items;
  /// Mapping of the files' group ids, like `uid_mappings`; set both or neither.
  ListOf<S, BasicIdMapping<S>> gid_mappings = no_items;
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicMount&, const BasicMount&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicMount;
    list("destination", &Self::destination, required);
    list("type", &Self::type);
    list("source", &Self::source);
    list("options", &Self::options);
    list("uidMappings", &Self::uid_mappings);
    list("gidMappings", &Self::gid_mappings);
  }
};

using IdMapping = BasicIdMapping<Owning>;
using Mount = BasicMount<Owning>;
using MountView = BasicMount<Borrowed>;

}  // namespace cdi::oci

#endif  // CDI_OCI_MOUNT_HPP
