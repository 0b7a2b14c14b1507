// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_SPEC_HPP
#define CDI_OCI_SPEC_HPP

#include <optional>

#include <cdi/fields.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/oci/process.hpp>
#include <cdi/storage.hpp>
#include <cdi/version.hpp>

// OCI runtime spec 1.3.0, config.md. Here: the chapters that CDI edits touch.

namespace cdi::inline CDI_ABI::oci {

/// An OCI runtime spec: the root of a bundle's config.json.
template <class S>
struct BasicSpec {
  StringOf<S> version{};
  std::optional<BasicProcess<S>> process{};
  StringOf<S> hostname{};
  ListOf<S, BasicMount<S>> mounts{};
  std::optional<BasicHooks<S>> hooks{};
  DictOf<S, StringOf<S>> annotations{};
  std::optional<BasicLinux<S>> linux_{};  // GNU modes predefine `linux` as a macro

  friend bool operator==(const BasicSpec&, const BasicSpec&) = default;

  static constexpr auto fields() {
    using Self = BasicSpec;
    return std::tuple{
        Field{"ociVersion", &Self::version, required},
        Field{"process", &Self::process},
        Field{"hostname", &Self::hostname},
        Field{"mounts", &Self::mounts},
        Field{"hooks", &Self::hooks},
        Field{"annotations", &Self::annotations},
        Field{"linux", &Self::linux_},
    };
  }
};

using Spec = BasicSpec<Owning>;
using SpecView = BasicSpec<Borrowed>;

static_assert(detail::initialisers_used<Spec, SpecView>);

}  // namespace cdi::inline CDI_ABI::oci

#endif  // CDI_OCI_SPEC_HPP
