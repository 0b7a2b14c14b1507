// Entries of an OCI spec as text, for `Change`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PLAN_ENTRY_TEXT_HPP
#define CDI_PLAN_ENTRY_TEXT_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// The key and the text of an entry, as `Change` shows them.
struct EntryText {
  std::string key{};
  std::string text{};
};

EntryText describe(std::string_view variable);
EntryText describe(std::uint32_t gid);
EntryText describe(const oci::LinuxDeviceView& node);
EntryText describe(const oci::LinuxDeviceCgroupView& rule);
EntryText describe(const oci::MountView& mount);
EntryText describe(const oci::HookView& hook);
EntryText describe(const oci::LinuxNetDeviceView& device);
EntryText describe(const oci::LinuxIntelRdtView& settings);

/// Rewrites the JSON text of an entry in the form that `describe` writes, so that equal entries
/// have equal texts. Returns any other text unchanged.
using Rewrite = std::string (*)(std::string_view json);
std::string keep_text(std::string_view text);
std::string rewrite_node(std::string_view json);
std::string rewrite_mount(std::string_view json);
std::string rewrite_net_device(std::string_view json);
std::string rewrite_intel_rdt(std::string_view json);

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/plan/entry_text.inl>
#endif

#endif  // CDI_PLAN_ENTRY_TEXT_HPP
