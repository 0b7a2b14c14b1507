// `inner`: the annotations that Kata passes to a guest for its VFIO devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_INNER_HPP
#define CDI_TOOLS_POD_INNER_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/annotations.hpp>
#include <cdi/result.hpp>

#include "answer.hpp"
#include "input.hpp"

// kata-containers 7c6ba40. runtime-rs: crates/resource/src/cdi_devices/container_device.rs;
// runtime-go: virtcontainers/container.go, siblingAnnotation.

namespace pod {

namespace detail {

/// A PCI vendor and class, and the matching kind. The class lacks the interface and half of the
/// subclass.
struct InnerKind {
  std::string_view vendor_and_class;
  std::string_view kind;
};

/// The table of runtime-rs. The table of runtime-go has only the first row.
inline constexpr std::array<InnerKind, 4> inner_kinds{{
    {"0x10de-0x030", "nvidia.com/gpu"},
    {"0x8086-0x030", "intel.com/gpu"},
    {"0x1002-0x030", "amd.com/gpu"},
    {"0x15b3-0x020", "nvidia.com/nic"},
}};

/// NVSwitches (NVIDIA, class 0x0680), which runtime-go leaves out.
inline constexpr std::string_view nvswitch = "0x10de-0x068";

struct VfioDevice {
  Member place;
  std::string vendor_and_class{};
  std::string container_path{};
  std::string host_path{};
  std::string bdf{};        // the address of the device on the host
  std::string bus{};        // the sort key: the place in the guest
  std::string_view kind{};  // empty if it is not in the table
};

/// The sort key of runtime-rs, the PCI path in the guest: the text between the first and the second
/// `=` of the first option.
inline std::string guest_place(const std::vector<std::string>& options) {
  if (options.empty()) return {};
  const auto equals = options.front().find('=');
  if (equals == std::string::npos) return {};
  const auto rest = options.front().substr(equals + 1);
  return rest.substr(0, rest.find('='));
}

inline std::string_view inner_kind(std::string_view vendor_and_class, bool go) {
  constexpr std::size_t compared = 12;  // length in bytes, as in both runtimes
  const auto rows = go ? std::size_t{1} : inner_kinds.size();
  for (std::size_t i = 0; i < rows; ++i) {
    if (inner_kinds[i].vendor_and_class == vendor_and_class.substr(0, compared)) {
      return inner_kinds[i].kind;
    }
  }
  return {};
}

/// A device in the input; nullopt for a device without PCI ids, which is not a VFIO device.
inline std::optional<VfioDevice> read_device(const Member& member, bool go) {
  const auto vendor = text_at(member, "vendorId");
  const auto class_id = text_at(member, "classId");
  if (vendor.empty() && class_id.empty()) return std::nullopt;
  for (const auto* key : {"vendorId", "classId"}) {
    const auto id = member.at(key);
    if (!id.text().starts_with("0x")) id.reject("must begin with 0x, as in sysfs");
  }
  VfioDevice device{.place = member,
                    .vendor_and_class = vendor + "-" + class_id,
                    .container_path = text_at(member, "containerPath"),
                    .host_path = text_at(member, "hostPath"),
                    .bdf = text_at(member, "bdf"),
                    .bus = text_at(member, "bus")};
  const auto options = member.find("options");
  if (options && device.bus.empty()) device.bus = guest_place(options->texts());
  device.kind = inner_kind(device.vendor_and_class, go);
  return device;
}

inline std::vector<VfioDevice> read_devices(const Member& list, bool go) {
  std::vector<VfioDevice> devices;
  for (const auto& item : list.items()) {
    if (auto device = read_device(item, go)) devices.push_back(*std::move(device));
  }
  return devices;
}

/// The number 12 of both `/dev/vfio/12` and `/dev/vfio/devices/vfio12`.
inline std::string vfio_number(const VfioDevice& device) {
  std::string_view path = device.container_path;
  if (path.empty()) device.place.at("containerPath");
  path.remove_prefix(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
  if (path.starts_with("vfio")) path.remove_prefix(4);
  if (path.empty() || path.find_first_not_of("0123456789") != std::string_view::npos) {
    device.place.at("containerPath").reject("must end in a number, such as /dev/vfio/12");
  }
  return std::string{path};
}

/// The guest's annotations by key, and devices without an annotation.
class InnerAnnotations {
 public:
  explicit InnerAnnotations(std::map<std::string, std::string> kept) : all_{std::move(kept)} {}

  void add(const VfioDevice& device, std::size_t index) {
    const auto key = std::string{cdi::annotation_prefix} + "vfio" + vfio_number(device);
    const auto value = std::string{device.kind} + "=" + std::to_string(index);
    const auto [at, added] = all_.insert_or_assign(key, value);
    if (!added) {
      answer_.warnings.push_back(device.place.path() + ": replaces the annotation " + key +
                                 " of another device");
    }
  }

  void report_unknown(const VfioDevice& device) {
    answer_.value["unknown"].push_back(device.vendor_and_class);
    answer_.warnings.push_back(device.place.path() + ": the guest gets no annotation for " +
                               device.vendor_and_class + ", which is not in Kata's table");
  }

  /// Reports a device that runtime-go skips because of its path.
  void report_outside(const VfioDevice& device) {
    answer_.warnings.push_back(device.place.path() + ": the guest gets no annotation for " +
                               cdi::quoted(device.container_path) + ", which is not in /dev/vfio");
  }

  /// Reports a group of which only one GPU gets an annotation.
  void report_group(const VfioDevice& device) {
    answer_.warnings.push_back(device.place.path() + ": " + device.container_path +
                               " has several GPUs, and gets one annotation, for the first in the "
                               "guest");
  }

  /// Reports a text order that differs from the numeric order: rp10 comes before rp2.
  void check_order(const std::vector<const VfioDevice*>& sorted) {
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      const auto& before = sorted[i - 1]->bus;
      const auto& bus = sorted[i]->bus;
      if (before.size() <= bus.size()) continue;
      answer_.warnings.push_back("Kata sorts " + before + " before " + bus +
                                 ", because it compares text; the guest may number them otherwise");
      return;
    }
  }

  Answer take() && {
    Json::object_t sorted;  // all keys are new, and operator[] of an ordered object compares all
    for (const auto& [key, value] : all_) sorted.push_back({key, value});
    answer_.value["annotations"] = std::move(sorted);
    return std::move(answer_);
  }

 private:
  std::map<std::string, std::string> all_;
  Answer answer_{.value = {{"annotations", Json::object()}}};
};

inline std::vector<const VfioDevice*> sorted_by_bus(const std::vector<VfioDevice>& devices,
                                                    std::string_view kind) {
  std::vector<const VfioDevice*> out;
  for (const auto& device : devices) {
    if (device.kind == kind) out.push_back(&device);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto* a, const auto* b) { return a->bus < b->bus; });
  return out;
}

/// runtime-rs: each kind has its own indices, in the order of the container's devices.
inline void number_for_rs(const std::vector<VfioDevice>& devices, InnerAnnotations& out) {
  for (const auto& row : inner_kinds) {
    const auto sorted = sorted_by_bus(devices, row.kind);
    out.check_order(sorted);
    for (std::size_t i = 0; i < sorted.size(); ++i) out.add(*sorted[i], i);
  }
  for (const auto& device : devices) {
    if (device.kind.empty()) out.report_unknown(device);
  }
}

/// The devices of a path: one, or all of a VFIO group.
using VfioGroup = std::vector<const VfioDevice*>;

/// runtime-go: the index of a path is that of its first device among all known devices of the
/// sandbox.
class Siblings {
 public:
  /// `path` is the member that has the path on the host.
  Siblings(const std::vector<VfioDevice>& devices, std::string VfioDevice::*path,
           InnerAnnotations& out) {
    const auto sorted = sorted_by_bus(devices, inner_kinds[0].kind);
    out.check_order(sorted);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      by_path_.emplace(sorted[i]->*path, i);
      if (!sorted[i]->bdf.empty()) by_bdf_.emplace(sorted[i]->bdf, i);
    }
  }

  std::optional<std::size_t> first_of(const VfioGroup& group) const {
    std::optional<std::size_t> first;
    const auto look = [&](const std::map<std::string, std::size_t>& map, const std::string& key) {
      const auto found = map.find(key);
      if (found != map.end()) first = std::min(first.value_or(found->second), found->second);
    };
    look(by_path_, group.front()->container_path);
    for (const auto* device : group) look(by_bdf_, device->bdf);
    return first;
  }

 private:
  std::map<std::string, std::size_t> by_path_{};
  std::map<std::string, std::size_t> by_bdf_{};
};

/// Adds the one annotation of a group.
inline void number_group(const VfioGroup& group, const Siblings& siblings, InnerAnnotations& out) {
  const auto is_known = [](const auto* device) {
    return !device->kind.empty();
  };
  const auto known = std::find_if(group.begin(), group.end(), is_known);
  if (known == group.end()) {
    for (const auto* device : group) {
      if (!device->vendor_and_class.starts_with(nvswitch)) out.report_unknown(*device);
    }
    return;
  }
  const auto& device = **known;
  const auto index = siblings.first_of(group);
  if (!index) {
    device.place.reject(
        "is not among the siblings: no NVIDIA GPU (by vendorId and classId) there has this bdf, "
        "or this containerPath as its hostPath");
  }
  out.add(device, *index);
  if (std::count_if(group.begin(), group.end(), is_known) > 1) out.report_group(device);
}

/// The devices that runtime-go looks at, without the control device of VFIO.
inline std::vector<VfioDevice> in_vfio_folder(std::vector<VfioDevice> devices,
                                              InnerAnnotations& out) {
  std::erase_if(devices, [&](const auto& device) {
    if (device.container_path.empty()) device.place.at("containerPath");
    if (device.container_path.starts_with("/dev/vfio")) {
      return device.container_path == "/dev/vfio/vfio";
    }
    out.report_outside(device);
    return true;
  });
  return devices;
}

inline void number_for_go(const std::vector<VfioDevice>& devices, const Siblings& siblings,
                          InnerAnnotations& out) {
  std::map<std::string, VfioGroup> groups;
  for (const auto& device : devices) groups[device.container_path].push_back(&device);
  for (const auto& device : devices) {
    const auto group = groups.extract(device.container_path);
    if (!group.empty()) number_group(group.mapped(), siblings, out);
  }
}

}  // namespace detail

/// The annotations of the guest's container. runtime-rs keeps existing annotations; runtime-go
/// removes CDI annotations, which are meant for the host. For runtime-go, `siblings` in the input
/// lists the sandbox's devices: first on root ports, then on switch ports. Without `siblings`,
/// `devices` is used. Devices with one containerPath are of one VFIO group.
inline Answer answer_inner(const Member& input, bool go) {
  input.allow({"devices", "siblings", "annotations"});
  std::map<std::string, std::string> kept;
  if (const auto annotations = input.find("annotations")) {
    for (const auto& [key, value] : annotations->members()) {
      if (!go || !key.starts_with(cdi::annotation_prefix)) kept[key] = value.text();
    }
  }
  detail::InnerAnnotations out{std::move(kept)};
  auto devices = detail::read_devices(input.at("devices"), go);
  if (!go) {
    detail::number_for_rs(devices, out);
    return std::move(out).take();
  }
  devices = detail::in_vfio_folder(std::move(devices), out);
  const auto list = input.find("siblings");
  const auto siblings =
      list ? detail::Siblings{detail::read_devices(*list, go), &detail::VfioDevice::host_path, out}
           : detail::Siblings{devices, &detail::VfioDevice::container_path, out};
  detail::number_for_go(devices, siblings, out);
  return std::move(out).take();
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_INNER_HPP
