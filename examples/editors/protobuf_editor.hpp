// The protobuf messages of kata-containers as a target of edits.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_EXAMPLES_EDITORS_PROTOBUF_EDITOR_HPP
#define CDI_EXAMPLES_EDITORS_PROTOBUF_EDITOR_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/apply.hpp>

#include "oci.pb.h"  // from oci.proto or kata's; compiles with -std=c++20, but not with gnu++20

namespace protobuf_editor {

inline void assign(std::string_view from, std::string& to) {
  to = from;
}
template <class Texts>
void assign(const Texts& from, google::protobuf::RepeatedPtrField<std::string>& to) {
  to.Clear();
  for (const std::string_view text : from) to.Add(std::string{text});
}
inline void assign(const cdi::oci::LinuxDeviceView& from, grpc::LinuxDevice& to) {
  to.Clear();
  assign(from.path, *to.mutable_path());
  assign(from.type, *to.mutable_type());
  to.set_major(from.major);
  to.set_minor(from.minor);
  to.set_filemode(from.file_mode.value_or(0));  // the messages cannot omit it
  to.set_uid(from.uid.value_or(0));
  to.set_gid(from.gid.value_or(0));
}
inline void assign(const cdi::oci::LinuxDeviceCgroupView& from, grpc::LinuxDeviceCgroup& to) {
  to.set_allow(from.allow);
  assign(from.type, *to.mutable_type());
  assign(from.access, *to.mutable_access());
  constexpr std::int64_t all = -1;
  to.set_major(from.major.value_or(all));
  to.set_minor(from.minor.value_or(all));
}
inline void assign(const cdi::oci::MountView& from, grpc::Mount& to) {
  to.Clear();
  assign(from.destination, *to.mutable_destination());
  assign(from.source, *to.mutable_source());
  assign(from.type, *to.mutable_type());
  assign(from.options, *to.mutable_options());
}
inline void assign(const cdi::oci::HookView& from, grpc::Hook& to) {
  assign(from.path, *to.mutable_path());
  assign(from.args, *to.mutable_args());
  assign(from.env, *to.mutable_env());
  to.set_timeout(from.timeout.value_or(0));
}

inline std::string_view key_of(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}
inline std::string_view key_of(const grpc::LinuxDevice& device) {
  return device.path();
}
inline std::string_view key_of(const grpc::Mount& mount) {
  return mount.destination();
}

/// A repeated field of messages or texts.
template <class T>
struct List {
  google::protobuf::RepeatedPtrField<T>& items;

  std::size_t size() const { return static_cast<std::size_t>(items.size()); }
  std::string_view key(std::size_t i) const { return key_of(items[static_cast<int>(i)]); }
  bool equals(std::size_t i, const auto& record) const {
    T made;
    protobuf_editor::assign(record, made);
    return made.SerializeAsString() == items[static_cast<int>(i)].SerializeAsString();
  }
  void append(const auto& record) { protobuf_editor::assign(record, *items.Add()); }
  void assign(std::size_t i, const auto& record) {
    protobuf_editor::assign(record, items[static_cast<int>(i)]);
  }
  void rearrange(std::span<const std::size_t> order) {
    google::protobuf::RepeatedPtrField<T> kept;
    kept.Reserve(static_cast<int>(order.size()));
    for (const std::size_t i : order) *kept.Add() = std::move(items[static_cast<int>(i)]);
    items = std::move(kept);
  }
};

/// The repeated field of additional groups.
struct Gids {
  google::protobuf::RepeatedField<std::uint32_t>& items;

  std::size_t size() const { return static_cast<std::size_t>(items.size()); }
  std::uint32_t id(std::size_t i) const { return items[static_cast<int>(i)]; }
  void append(std::uint32_t gid) { items.Add(gid); }
};

}  // namespace protobuf_editor

/// The messages have no place for net devices, and only one member of Intel RDT: edits that need
/// more fail with `Errc::unsupported`.
template <>
struct cdi::SpecEditor<::grpc::Spec> {
  ::grpc::Spec& spec;

  template <class T>
  using List = protobuf_editor::List<T>;

  auto env() { return List<std::string>{*spec.mutable_process()->mutable_env()}; }
  auto devices() { return List<grpc::LinuxDevice>{*spec.mutable_linux()->mutable_devices()}; }
  auto device_rules() {
    return List<grpc::LinuxDeviceCgroup>{
        *spec.mutable_linux()->mutable_resources()->mutable_devices()};
  }
  auto mounts() { return List<grpc::Mount>{*spec.mutable_mounts()}; }
  auto hooks(oci::HookPoint point) {
    auto& all = *spec.mutable_hooks();
    switch (point) {
      case oci::HookPoint::prestart: return List<grpc::Hook>{*all.mutable_prestart()};
      case oci::HookPoint::create_runtime: return List<grpc::Hook>{*all.mutable_createruntime()};
      case oci::HookPoint::create_container:
        return List<grpc::Hook>{*all.mutable_createcontainer()};
      case oci::HookPoint::start_container: return List<grpc::Hook>{*all.mutable_startcontainer()};
      case oci::HookPoint::poststart: return List<grpc::Hook>{*all.mutable_poststart()};
      case oci::HookPoint::poststop: break;
    }
    return List<grpc::Hook>{*all.mutable_poststop()};
  }
  auto additional_gids() {
    auto& user = *spec.mutable_process()->mutable_user();
    return protobuf_editor::Gids{*user.mutable_additionalgids()};
  }
  ProcessUser process_user() const {
    return {spec.process().user().uid(), spec.process().user().gid()};
  }
  bool has_id_mappings() const {
    const auto& part = spec.linux();
    if (part.uidmappings().empty() || part.gidmappings().empty()) return false;
    for (const auto& space : part.namespaces()) {
      if (space.type() == "user") return true;
    }
    return false;
  }
};

#endif  // CDI_EXAMPLES_EDITORS_PROTOBUF_EDITOR_HPP
