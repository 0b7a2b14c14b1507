// OCI runtime spec 1.3.0, features.md and features-linux.md: what a runtime implements.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_OCI_FEATURES_HPP
#define CDI_OCI_FEATURES_HPP

#include <optional>
#include <string>
#include <vector>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::oci {

/// A feature that a runtime implements or not; unknown when absent. features-linux.md.
struct FeatureSwitch {
  std::optional<bool> enabled{};     ///< whether the runtime implements the feature
  ExtraOf<Owning> extra = no_items;  ///< members unknown to this type

  friend bool operator==(const FeatureSwitch&, const FeatureSwitch&) = default;

  /// The field list.
  static constexpr void fields(auto& list) { list("enabled", &FeatureSwitch::enabled); }
};

/// A runtime's support for `linux.intelRdt`. features-linux.md, "Intel RDT".
struct IntelRdtFeatures {
  std::optional<bool> enabled{};     ///< whether Intel RDT is implemented
  std::optional<bool> schemata{};    ///< whether `schemata` is implemented; since 1.3.0
  std::optional<bool> monitoring{};  ///< whether `enableMonitoring` is implemented; since 1.3.0
  ExtraOf<Owning> extra = no_items;  ///< members unknown to this type

  friend bool operator==(const IntelRdtFeatures&, const IntelRdtFeatures&) = default;

  /// The field list.
  static constexpr void fields(auto& list) {
    using Self = IntelRdtFeatures;
    list("enabled", &Self::enabled);
    list("schemata", &Self::schemata);
    list("monitoring", &Self::monitoring);
  }
};

/// A runtime's support for the parts of `linux` that edits need. features-linux.md.
struct LinuxFeatures {
  std::optional<IntelRdtFeatures> intel_rdt{};  ///< Intel Resource Director Technology
  std::optional<FeatureSwitch> net_devices{};   ///< moving network interfaces; since 1.3.0
  ExtraOf<Owning> extra = no_items;             ///< members unknown to this type

  friend bool operator==(const LinuxFeatures&, const LinuxFeatures&) = default;

  /// The field list.
  static constexpr void fields(auto& list) {
    using Self = LinuxFeatures;
    list("intelRdt", &Self::intel_rdt);
    list("netDevices", &Self::net_devices);
  }
};

/// A runtime's features, as printed by `runc features` and `crun features`. Members that edits do
/// not need are kept in `extra`. features.md.
struct Features {
  std::string oci_version_min{};                    ///< the oldest supported OCI version
  std::string oci_version_max{};                    ///< the newest supported OCI version; required
  std::optional<std::vector<std::string>> hooks{};  ///< supported hook points; absent when unknown
  /// The mount options that the runtime itself interprets; absent when unknown.
  std::optional<std::vector<std::string>> mount_options{};
  std::optional<LinuxFeatures> linux_{};  ///< Linux features; `linux` is a macro in GNU modes
  ExtraOf<Owning> extra = no_items;       ///< members unknown to this type

  friend bool operator==(const Features&, const Features&) = default;

  /// The field list.
  static constexpr void fields(auto& list) {
    using Self = Features;
    list("ociVersionMin", &Self::oci_version_min);
    list("ociVersionMax", &Self::oci_version_max, required);
    list("hooks", &Self::hooks);
    list("mountOptions", &Self::mount_options);
    list("linux", &Self::linux_);
  }
};

}  // namespace cdi::oci

#endif  // CDI_OCI_FEATURES_HPP
