// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_MOUNT_HPP
#define CDI_OCI_MOUNT_HPP

#include <cstdint>

#include <cdi/fields.hpp>
#include <cdi/storage.hpp>
#include <cdi/value.hpp>
#include <cdi/version.hpp>

// OCI runtime spec 1.3.0, config.md, "Mounts".

namespace cdi::inline CDI_ABI::oci {

/// One row of an ID mapping: `size` ids from `container_id` on are those from `host_id` on.
template <class S>
struct BasicIdMapping {
  std::uint32_t container_id = 0;
  std::uint32_t host_id = 0;
  std::uint32_t size = 0;
  ExtraOf<S> extra{};

  friend bool operator==(const BasicIdMapping&, const BasicIdMapping&) = default;

  static constexpr auto fields() {
    using Self = BasicIdMapping;
    return std::tuple{
        Field{"containerID", &Self::container_id, required},
        Field{"hostID", &Self::host_id, required},
        Field{"size", &Self::size, required},
    };
  }
};

/// A file system that the runtime mounts into the container.
template <class S>
struct BasicMount {
  StringOf<S> destination{};  // absolute, in the container
  StringOf<S> type{};
  StringOf<S> source{};
  ListOf<S, StringOf<S>> options{};
  ListOf<S, BasicIdMapping<S>> uid_mappings{};
  ListOf<S, BasicIdMapping<S>> gid_mappings{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicMount&, const BasicMount&) = default;

  static constexpr auto fields() {
    using Self = BasicMount;
    return std::tuple{
        Field{"destination", &Self::destination, required},
        Field{"type", &Self::type},
        Field{"source", &Self::source},
        Field{"options", &Self::options},
        Field{"uidMappings", &Self::uid_mappings},
        Field{"gidMappings", &Self::gid_mappings},
    };
  }
};

using IdMapping = BasicIdMapping<Owning>;
using Mount = BasicMount<Owning>;
using MountView = BasicMount<Borrowed>;

static_assert(detail::initialisers_used<IdMapping, Mount, MountView>);

}  // namespace cdi::inline CDI_ABI::oci

#endif  // CDI_OCI_MOUNT_HPP
