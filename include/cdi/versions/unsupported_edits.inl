// The bodies of <cdi/versions/unsupported_edits.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_VERSIONS_UNSUPPORTED_EDITS_INL
#define CDI_VERSIONS_UNSUPPORTED_EDITS_INL

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/model/spec.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/rules/mount_options.hpp>
#include <cdi/versions/unsupported_edits.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Returns whether a version such as "1.0.2-dev" is before OCI 1.3; false if it cannot be parsed.
inline bool is_before_1_3(std::string_view version) {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  if (!take_number(version, major) || !version.starts_with('.')) return false;
  version.remove_prefix(1);
  return take_number(version, minor) && (major < 1 || (major == 1 && minor < 3));
}

inline bool has_text(const std::vector<std::string>& list, std::string_view text) {
  for (const auto& one : list) {
    if (one == text) return true;
  }
  return false;
}

/// Returns the key of the member that asks for monitoring. Injection turns the older members into
/// `enableMonitoring`.
inline std::string_view monitoring_key(const IntelRdt& rdt) {
  if (rdt.enable_monitoring) return "enableMonitoring";
  return rdt.enable_cmt.value_or(false) ? "enableCMT" : "enableMBM";
}

/// Finds what a runtime does not implement in one set of edits.
class FeatureCheck {
 public:
  explicit FeatureCheck(const oci::Features& features)
      : features_{features}, old_{is_before_1_3(features.oci_version_max)} {}

  /// Returns the unsupported edits; `where` is relative to the edits.
  std::vector<Error> check(const ContainerEdits& edits) {
    for (std::size_t i = 0; i < edits.hooks.size(); ++i) {
      const auto& name = edits.hooks[i].hook_name;
      if (features_.hooks && !has_text(*features_.hooks, name)) {
        add(item_path("hooks", i) + ".hookName", "runs no hooks at " + cdi::quoted(name));
      }
    }
    for (std::size_t i = 0; i < edits.mounts.size(); ++i) check(edits.mounts[i], i);
    if (!edits.net_devices.empty() && lacks_net_devices()) {
      add("netDevices", "does not move network interfaces");
    }
    if (edits.intel_rdt) check(*edits.intel_rdt);
    return std::move(out_);
  }

 private:
  void check(const Mount& mount, std::size_t index) {
    // A file system handles some of its options itself.
    if (!features_.mount_options || !is_bind_mount(mount)) return;
    for (std::size_t i = 0; i < mount.options.size(); ++i) {
      if (has_text(*features_.mount_options, mount.options[i])) continue;
      add(item_path(item_path("mounts", index) + ".options", i),
          "does not know the mount option " + cdi::quoted(mount.options[i]));
    }
  }

  bool lacks_net_devices() const {
    const bool known =
        features_.linux_ && features_.linux_->net_devices && features_.linux_->net_devices->enabled;
    return known ? !*features_.linux_->net_devices->enabled : old_;
  }

  void check(const IntelRdt& rdt) {
    oci::IntelRdtFeatures has;
    if (features_.linux_ && features_.linux_->intel_rdt) has = *features_.linux_->intel_rdt;
    if (!has.enabled.value_or(true)) return add("intelRdt", "does not apply Intel RDT settings");
    if (rdt.schemata && !has.schemata.value_or(!old_)) {
      add("intelRdt.schemata", "does not write Intel RDT schemata");
    }
    if (rdt.monitors() && !has.monitoring.value_or(!old_)) {
      add(std::string{"intelRdt."}.append(monitoring_key(rdt)),
          "does not enable Intel RDT monitoring");
    }
  }

  void add(std::string where, const std::string& what) {
    out_.push_back(
        {.code = Errc::unsupported, .message = "the runtime " + what, .where = std::move(where)});
  }

  const oci::Features& features_;
  bool old_;
  std::vector<Error> out_{};
};

}  // namespace detail

CDI_INLINE std::vector<Error> unsupported_edits(std::span<const ResolvedDevice> devices,
                                                const oci::Features& features) {
  const detail::EditsOfDevices found{devices};
  std::vector<Error> out;
  for (std::size_t i = 0; i < found.edits.size(); ++i) {
    for (auto& one : detail::FeatureCheck{features}.check(*found.edits[i])) {
      out.push_back(found.trace(detail::about_edits(std::move(one), i)));
    }
  }
  return out;
}

}  // namespace cdi

#endif  // CDI_VERSIONS_UNSUPPORTED_EDITS_INL
