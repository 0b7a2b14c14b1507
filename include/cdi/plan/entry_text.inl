// The bodies of <cdi/plan/entry_text.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PLAN_ENTRY_TEXT_INL
#define CDI_PLAN_ENTRY_TEXT_INL

#include <utility>

#include <cdi/plan/entry_text.hpp>
#include <cdi/text/json.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Returns a record as JSON on one line; empty if its text is not UTF-8, which JSON requires.
template <class Record>
std::string record_line(const Record& record) {
  auto text = cdi::write_json(record, /*indent=*/-1);
  return text ? *std::move(text) : std::string{};
}

template <class Record>
std::string rewrite(std::string_view json) {
  const auto record = cdi::read_json<Record>(json);
  return record ? record_line(*record) : std::string{json};
}

CDI_INLINE EntryText describe(std::string_view variable) {
  return {std::string{variable.substr(0, variable.find('='))}, std::string{variable}};
}

CDI_INLINE EntryText describe(std::uint32_t gid) {
  return {std::to_string(gid), std::to_string(gid)};
}

CDI_INLINE EntryText describe(const oci::LinuxDeviceView& node) {
  return {std::string{node.path}, record_line(node)};
}

CDI_INLINE EntryText describe(const oci::LinuxDeviceCgroupView& rule) {
  std::string key{rule.type};
  key.append(" ").append(rule.major ? std::to_string(*rule.major) : "*");
  key.append(":").append(rule.minor ? std::to_string(*rule.minor) : "*");
  return {std::move(key), record_line(rule)};
}

CDI_INLINE EntryText describe(const oci::MountView& mount) {
  return {std::string{mount.destination}, record_line(mount)};
}

CDI_INLINE EntryText describe(const oci::HookView& hook) {
  return {std::string{hook.path}, record_line(hook)};
}

CDI_INLINE EntryText describe(const oci::LinuxNetDeviceView& device) {
  return {{}, record_line(device)};
}

CDI_INLINE EntryText describe(const oci::LinuxIntelRdtView& settings) {
  return {{}, record_line(settings)};
}

CDI_INLINE std::string keep_text(std::string_view text) {
  return std::string{text};
}
CDI_INLINE std::string rewrite_node(std::string_view json) {
  return rewrite<oci::LinuxDevice>(json);
}
CDI_INLINE std::string rewrite_mount(std::string_view json) {
  return rewrite<oci::Mount>(json);
}
CDI_INLINE std::string rewrite_net_device(std::string_view json) {
  return rewrite<oci::LinuxNetDevice>(json);
}
CDI_INLINE std::string rewrite_intel_rdt(std::string_view json) {
  return rewrite<oci::LinuxIntelRdt>(json);
}

}  // namespace cdi::detail

#endif  // CDI_PLAN_ENTRY_TEXT_INL
