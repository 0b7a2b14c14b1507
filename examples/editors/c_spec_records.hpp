// Makes the records of an OCI spec, as C structs, from `apply`'s records, and frees them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_EXAMPLES_EDITORS_C_SPEC_RECORDS_HPP
#define CDI_EXAMPLES_EDITORS_C_SPEC_RECORDS_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <string_view>

#include <cdi/apply.hpp>

namespace c_spec {

using Device = runtime_spec_schema_defs_linux_device;
using Rule = runtime_spec_schema_defs_linux_device_cgroup;
using Mount = runtime_spec_schema_defs_mount;
using Hook = runtime_spec_schema_defs_hook;
using IntelRdt = runtime_spec_schema_config_linux_intel_rdt;

/// Returns zeroed memory from malloc; throws without memory.
template <class T>
T* make(std::size_t count = 1) {
  auto* const made = static_cast<T*>(std::calloc(count == 0 ? 1 : count, sizeof(T)));
  if (made == nullptr) throw std::bad_alloc{};
  return made;
}

/// Returns the object that a pointer refers to, or a new object for null.
template <class T>
T& part(T*& pointer) {
  if (pointer == nullptr) pointer = make<T>();
  return *pointer;
}

inline std::string_view view(const char* text) {
  return text == nullptr ? std::string_view{} : std::string_view{text};
}

inline char* copy(std::string_view text) {
  char* const copied = make<char>(text.size() + 1);
  std::memcpy(copied, text.data(), text.size());
  return copied;
}
/// Copies a text, or returns null for an empty text, which OCI omits.
inline char* copy_unless_empty(std::string_view text) {
  return text.empty() ? nullptr : copy(text);
}

/// Copies a list, with a final NULL as in libocispec, because crun passes such lists to execve.
template <class Texts>
void copy(const Texts& texts, char**& to, std::size_t& size) {
  to = texts.empty() ? nullptr : make<char*>(texts.size() + 1);
  for (const std::string_view text : texts) to[size++] = copy(text);
}

// `release` frees a record and all that it owns; `copy_record` makes a record from `apply`'s.

inline void release(char* text) {
  std::free(text);
}
inline void release(Device* device) {
  free_runtime_spec_schema_defs_linux_device(device);
}
inline void release(Mount* mount) {
  free_runtime_spec_schema_defs_mount(mount);
}
template <class NetDevice>
void release(NetDevice* device) requires requires {
  device->name;
}
{
  free_runtime_spec_schema_defs_linux_net_device(device);  // not in libocispec of crun before 1.22
}
inline void release(IntelRdt* settings) {
  free_runtime_spec_schema_config_linux_intel_rdt(settings);
}

inline char* copy_record(std::string_view entry) {
  return copy(entry);
}
inline Device* copy_record(const cdi::oci::LinuxDeviceView& from) {
  auto* const to = make<Device>();
  to->path = copy(from.path);
  to->type = copy(from.type);
  to->major = from.major;
  to->minor = from.minor;
  to->file_mode = static_cast<int>(from.file_mode.value_or(0));
  to->uid = from.uid.value_or(0);
  to->gid = from.gid.value_or(0);
  to->major_present = to->minor_present = 1;
  to->file_mode_present = from.file_mode.has_value();
  to->uid_present = from.uid.has_value();
  to->gid_present = from.gid.has_value();
  return to;
}
inline Rule* copy_record(const cdi::oci::LinuxDeviceCgroupView& from) {
  auto* const to = make<Rule>();
  to->allow = from.allow;
  to->type = copy_unless_empty(from.type);
  to->access = copy_unless_empty(from.access);
  to->major = from.major.value_or(0);
  to->minor = from.minor.value_or(0);
  to->allow_present = 1;
  to->major_present = from.major.has_value();
  to->minor_present = from.minor.has_value();
  return to;
}
inline Mount* copy_record(const cdi::oci::MountView& from) {
  auto* const to = make<Mount>();
  to->destination = copy(from.destination);
  to->source = copy_unless_empty(from.source);
  to->type = copy_unless_empty(from.type);
  copy(from.options, to->options, to->options_len);
  return to;
}
/// Returns the timeout of a hook as an `int`.
inline std::optional<int> timeout_of(const cdi::oci::HookView& from) {
  constexpr std::int64_t max = std::numeric_limits<int>::max();  // 68 years
  if (!from.timeout) return std::nullopt;
  return static_cast<int>(*from.timeout < max ? *from.timeout : max);
}
inline Hook* copy_record(const cdi::oci::HookView& from) {
  auto* const to = make<Hook>();
  to->path = copy(from.path);
  copy(from.args, to->args, to->args_len);
  copy(from.env, to->env, to->env_len);
  to->timeout = timeout_of(from).value_or(0);
  to->timeout_present = from.timeout.has_value();
  return to;
}
template <class Settings>
Settings* copy_settings(const cdi::oci::LinuxIntelRdtView& from) {
  auto* const to = make<Settings>();
  to->clos_id = copy_unless_empty(from.clos_id);
  to->l3cache_schema = copy_unless_empty(from.l3_cache_schema);
  to->mem_bw_schema = copy_unless_empty(from.mem_bw_schema);
  copy(from.schemata, to->schemata, to->schemata_len);
  if constexpr (requires { to->enable_monitoring; }) {
    to->enable_monitoring = from.enable_monitoring;
    to->enable_monitoring_present = from.enable_monitoring;
  } else {  // crun before 1.24
    to->enable_cmt = to->enable_mbm = from.enable_monitoring;
    to->enable_cmt_present = to->enable_mbm_present = from.enable_monitoring;
  }
  return to;
}
/// A net device, as a record whose type some libocispec releases lack.
template <class NetDevice>
struct NetDeviceRecord {
  const cdi::oci::LinuxNetDeviceView& view;
};
template <class NetDevice>
NetDevice* copy_record(const NetDeviceRecord<NetDevice>& from) {
  auto* const to = make<NetDevice>();
  to->name = copy_unless_empty(from.view.name);
  return to;
}
inline gid_t copy_record(std::uint32_t gid) {
  return gid;
}

// `is_same` returns whether a record equals what `copy_record` would make.

template <class Texts>
bool is_same(char* const* texts, std::size_t size, const Texts& others) {
  if (size != others.size()) return false;
  for (std::size_t i = 0; i < size; ++i) {
    if (view(texts[i]) != others[i]) return false;
  }
  return true;
}
template <class T>
bool is_same(bool present, std::int64_t number, const std::optional<T>& other) {
  return present == other.has_value() && (!present || number == *other);
}
inline bool is_same(const Device& device, const cdi::oci::LinuxDeviceView& other) {
  return view(device.path) == other.path && view(device.type) == other.type &&
         device.major == other.major && device.minor == other.minor &&
         is_same(device.file_mode_present, device.file_mode, other.file_mode) &&
         is_same(device.uid_present, device.uid, other.uid) &&
         is_same(device.gid_present, device.gid, other.gid);
}
inline bool is_same(const Rule& rule, const cdi::oci::LinuxDeviceCgroupView& other) {
  return rule.allow == other.allow && view(rule.type) == other.type &&
         view(rule.access) == other.access &&
         is_same(rule.major_present, rule.major, other.major) &&
         is_same(rule.minor_present, rule.minor, other.minor);
}
inline bool is_same(const Mount& mount, const cdi::oci::MountView& other) {
  return view(mount.destination) == other.destination && view(mount.source) == other.source &&
         view(mount.type) == other.type && is_same(mount.options, mount.options_len, other.options);
}
inline bool is_same(const Hook& hook, const cdi::oci::HookView& other) {
  return view(hook.path) == other.path && is_same(hook.args, hook.args_len, other.args) &&
         is_same(hook.env, hook.env_len, other.env) &&
         is_same(hook.timeout_present, hook.timeout, timeout_of(other));
}

}  // namespace c_spec

#endif  // CDI_EXAMPLES_EDITORS_C_SPEC_RECORDS_HPP
