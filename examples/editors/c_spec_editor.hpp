// The C structs of libocispec as a target of edits, for crun 1.8 and newer. First include
// <ocispec/runtime_spec_schema_config_schema.h>, or c_spec.h.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_EXAMPLES_EDITORS_C_SPEC_EDITOR_HPP
#define CDI_EXAMPLES_EDITORS_C_SPEC_EDITOR_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>

#include <cdi/apply.hpp>

#include "c_spec_records.hpp"

namespace c_spec {

inline std::string_view key_of(const char* entry) {
  return view(entry).substr(0, view(entry).find('='));
}
inline std::string_view key_of(const Device* device) {
  return view(device->path);
}
inline std::string_view key_of(const Mount* mount) {
  return view(mount->destination);
}

/// An array and its length, which excludes the zero or NULL at the end of the array.
template <class T>
struct List {
  T*& items;
  std::size_t& length;

  std::size_t size() const { return length; }
  std::string_view key(std::size_t i) const { return key_of(items[i]); }
  std::uint32_t id(std::size_t i) const { return items[i]; }
  bool equals(std::size_t i, const auto& record) const { return is_same(*items[i], record); }
  void append(const auto& record) {
    auto* const larger = static_cast<T*>(std::realloc(items, (length + 2) * sizeof(T)));
    if (larger == nullptr) throw std::bad_alloc{};
    items = larger;
    items[length] = items[length + 1] = T{};
    items[length] = copy_record(record);
    ++length;
  }
  void assign(std::size_t i, const auto& record) {
    T const made = copy_record(record);
    release(items[i]);
    items[i] = made;
  }
  /// Keeps the records in `order`, and frees all others.
  void rearrange(std::span<const std::size_t> order) {
    T* const kept = make<T>(order.size() + 1);
    for (std::size_t i = 0; i < order.size(); ++i) {
      kept[i] = items[order[i]];
      items[order[i]] = nullptr;
    }
    for (std::size_t i = 0; i < length; ++i) {
      if (items[i] != nullptr) release(items[i]);
    }
    std::free(items);
    items = kept;
    length = order.size();
  }
};

/// The map of net devices, in which no key occurs twice.
template <class Map>
struct NetDevices {
  using Device = std::remove_pointer_t<std::remove_pointer_t<decltype(Map::values)>>;

  Map& map;

  void set(std::string_view key, const cdi::oci::LinuxNetDeviceView& record) {
    for (std::size_t i = 0; i < map.len; ++i) {
      if (view(map.keys[i]) == key) return list().assign(i, NetDeviceRecord<Device>{record});
    }
    std::size_t keys = map.len;
    List<char*>{map.keys, keys}.append(key);
    list().append(NetDeviceRecord<Device>{record});
  }

 private:
  List<Device*> list() const { return {map.values, map.len}; }
};

}  // namespace c_spec

/// `requires` omits the parts that libocispec lacks in crun before 1.22: edits that need such a
/// part fail with `Errc::unsupported`. `::` is needed where a type has the same name as a template
/// of cdi, such as `Spec`.
template <>
struct cdi::SpecEditor<::runtime_spec_schema_config_schema> {
  ::runtime_spec_schema_config_schema& spec;

  auto env() { return c_spec::List<char*>{process().env, process().env_len}; }
  auto devices() { return c_spec::List<c_spec::Device*>{part().devices, part().devices_len}; }
  auto device_rules() {
    auto& resources = c_spec::part(part().resources);
    return c_spec::List<c_spec::Rule*>{resources.devices, resources.devices_len};
  }
  template <class Linux = runtime_spec_schema_config_linux>
  auto net_devices() requires requires(Linux all) {
    all.net_devices->values;
  }
  {
    Linux& all = part();
    using Map = std::remove_pointer_t<decltype(all.net_devices)>;
    return c_spec::NetDevices<Map>{c_spec::part(all.net_devices)};
  }
  auto mounts() { return c_spec::List<c_spec::Mount*>{spec.mounts, spec.mounts_len}; }
  auto hooks(oci::HookPoint point) {
    using Hooks = c_spec::List<c_spec::Hook*>;
    auto& all = c_spec::part(spec.hooks);
    switch (point) {
      case oci::HookPoint::prestart: return Hooks{all.prestart, all.prestart_len};
      case oci::HookPoint::create_runtime: return Hooks{all.create_runtime, all.create_runtime_len};
      case oci::HookPoint::create_container:
        return Hooks{all.create_container, all.create_container_len};
      case oci::HookPoint::start_container:
        return Hooks{all.start_container, all.start_container_len};
      case oci::HookPoint::poststart: return Hooks{all.poststart, all.poststart_len};
      case oci::HookPoint::poststop: break;
    }
    return Hooks{all.poststop, all.poststop_len};
  }
  template <class Settings = c_spec::IntelRdt>
  void set_intel_rdt(const oci::LinuxIntelRdtView& settings) requires requires(Settings all) {
    all.schemata;
  }
  {
    auto* const made = c_spec::copy_settings<Settings>(settings);
    c_spec::release(part().intel_rdt);
    part().intel_rdt = made;
  }
  auto additional_gids() {
    auto& user = c_spec::part(process().user);
    return c_spec::List<gid_t>{user.additional_gids, user.additional_gids_len};
  }
  ProcessUser process_user() const {
    if (spec.process == nullptr || spec.process->user == nullptr) return {};
    return {spec.process->user->uid, spec.process->user->gid};
  }
  bool has_id_mappings() const {
    const auto* const linux_part = spec.linux;
    if (linux_part == nullptr) return false;
    if (linux_part->uid_mappings_len == 0 || linux_part->gid_mappings_len == 0) return false;
    for (std::size_t i = 0; i < linux_part->namespaces_len; ++i) {
      if (c_spec::view(linux_part->namespaces[i]->type) == "user") return true;
    }
    return false;
  }

 private:
  runtime_spec_schema_config_schema_process& process() {
    auto& process = c_spec::part(spec.process);
    if (process.cwd == nullptr) process.cwd = c_spec::copy("");  // OCI requires it
    return process;
  }
  runtime_spec_schema_config_linux& part() { return c_spec::part(spec.linux); }
};

#endif  // CDI_EXAMPLES_EDITORS_C_SPEC_EDITOR_HPP
