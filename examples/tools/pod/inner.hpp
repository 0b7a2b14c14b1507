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
// runtime-go: virtcontainers/kata_agent.go.

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

/// Whether a device of the sandbox is the container's device.
inline bool is_same(const VfioDevice& sibling, const VfioDevice& device) {
  if (&sibling.place == &device.place) return true;
  if (!device.bdf.empty() && sibling.bdf == device.bdf) return true;
  return !device.host_path.empty() && sibling.host_path == device.host_path;
}

/// runtime-go: the index is the position among all known devices of the sandbox.
inline void number_for_go(const std::vector<VfioDevice>& devices,
                          const std::vector<VfioDevice>& siblings, InnerAnnotations& out) {
  const auto sorted = sorted_by_bus(siblings, inner_kinds[0].kind);
  out.check_order(sorted);
  for (const auto& device : devices) {
    if (device.container_path == "/dev/vfio/vfio") continue;
    if (device.kind.empty()) {
      if (!device.vendor_and_class.starts_with(nvswitch)) out.report_unknown(device);
      continue;
    }
    const auto found = std::find_if(sorted.begin(), sorted.end(),
                                    [&](const auto* sibling) { return is_same(*sibling, device); });
    if (found == sorted.end()) {
      device.place.reject(
          "is not among the siblings: no NVIDIA GPU (by vendorId and classId) there "
          "has this bdf or host_path");
    }
    out.add(device, static_cast<std::size_t>(found - sorted.begin()));
  }
}

}  // namespace detail

/// The annotations of the guest's container. runtime-rs keeps existing annotations; runtime-go
/// removes CDI annotations, which are meant for the host. For runtime-go, `siblings` in the input
/// lists the sandbox's devices: first on root ports, then on switch ports. Without `siblings`,
/// `devices` is used.
inline Answer answer_inner(const Member& input, bool go) {
  input.allow({"devices", "siblings", "annotations"});
  std::map<std::string, std::string> kept;
  if (const auto annotations = input.find("annotations")) {
    for (const auto& [key, value] : annotations->members()) {
      if (!go || !key.starts_with(cdi::annotation_prefix)) kept[key] = value.text();
    }
  }
  detail::InnerAnnotations out{std::move(kept)};
  const auto devices = detail::read_devices(input.at("devices"), go);
  const auto siblings = input.find("siblings");
  if (!go) {
    detail::number_for_rs(devices, out);
  } else if (siblings) {
    detail::number_for_go(devices, detail::read_devices(*siblings, go), out);
  } else {
    detail::number_for_go(devices, devices, out);
  }
  return std::move(out).take();
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_INNER_HPP
