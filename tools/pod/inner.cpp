// `inner`: writes the annotations that Kata passes to a guest for its VFIO devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "inner.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/annotations.hpp>

#include "input.hpp"

namespace pod {

namespace {

/// The kinds of PCI vendors and classes, which lack the interface and half of the subclass, as
/// runtime-rs has them. runtime-go has only the first row.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> inner_kinds{{
    {"0x10de-0x030", "nvidia.com/gpu"},
    {"0x8086-0x030", "intel.com/gpu"},
    {"0x1002-0x030", "amd.com/gpu"},
    {"0x15b3-0x020", "nvidia.com/nic"},
}};

/// NVSwitches (NVIDIA, class 0x0680), which runtime-go leaves out.
constexpr std::string_view nvswitch = "0x10de-0x068";

struct VfioDevice {
  std::string vendor_id{};
  std::string class_id{};
  std::vector<std::string> options{};
  std::string container_path{};
  std::string host_path{};
  std::string bdf{};  // the address of the device on the host
  std::string bus{};  // the sort key: the place in the guest
  Place place{};
  std::string_view kind{};  // empty if it is not in the table

  static constexpr void fields(auto& list) {
    list("vendorId", &VfioDevice::vendor_id);
    list("classId", &VfioDevice::class_id);
    list("options", &VfioDevice::options);
    list("containerPath", &VfioDevice::container_path);
    list("hostPath", &VfioDevice::host_path);
    list("bdf", &VfioDevice::bdf);
    list("bus", &VfioDevice::bus);
  }

  std::string vendor_and_class() const { return vendor_id + "-" + class_id; }
};

/// What a runtime of Kata is given.
struct GivenDevices {
  std::vector<VfioDevice> devices{};
  std::optional<std::vector<VfioDevice>> siblings{};
  Annotations annotations{};

  static constexpr void fields(auto& list) {
    list("devices", &GivenDevices::devices, cdi::required);
    list("siblings", &GivenDevices::siblings);
    list("annotations", &GivenDevices::annotations);
  }
};

/// Completes devices that were read, and drops devices without PCI ids, which are not of VFIO.
void complete(std::vector<VfioDevice>& devices, const Place& place, bool go) {
  for (std::size_t i = 0; i < devices.size(); ++i) devices[i].place = place.item(i);
  std::erase_if(devices,
                [](const auto& one) { return one.vendor_id.empty() && one.class_id.empty(); });
  for (auto& one : devices) {
    constexpr std::string_view reason = "must begin with 0x, as in sysfs";
    if (!one.vendor_id.starts_with("0x")) one.place.at("vendorId").reject(std::string{reason});
    if (!one.class_id.starts_with("0x")) one.place.at("classId").reject(std::string{reason});
    // The sort key of runtime-rs, the PCI path in the guest, is in the first option, after `=`.
    const auto option = one.options.empty() ? std::string{} : one.options.front();
    const auto equals = option.find('=');
    if (one.bus.empty() && equals != option.npos) {
      one.bus = option.substr(equals + 1, option.find('=', equals + 1) - equals - 1);
    }
    for (std::size_t row = 0; row < (go ? 1 : inner_kinds.size()); ++row) {
      const auto& [ids, kind] = inner_kinds[row];
      if (one.vendor_and_class().starts_with(ids)) one.kind = kind;
    }
  }
}

/// The number 12 of both `/dev/vfio/12` and `/dev/vfio/devices/vfio12`.
std::string vfio_number(const VfioDevice& device) {
  std::string_view path = device.container_path;
  path.remove_prefix(path.rfind('/') + 1);
  if (path.starts_with("vfio")) path.remove_prefix(4);
  if (path.empty() || path.find_first_not_of("0123456789") != std::string_view::npos) {
    device.place.at("containerPath").reject("must end in a number, such as /dev/vfio/12");
  }
  return std::string{path};
}

/// The devices of a path: one, or all of a VFIO group.
using VfioGroup = std::vector<const VfioDevice*>;

/// Gives devices annotations.
class Numbering {
 public:
  explicit Numbering(Answer& answer) : answer_{answer} {}

  /// runtime-rs: each kind has its own indices, in the order of the container's devices.
  void number_for_rs(const std::vector<VfioDevice>& devices) {
    for (const auto& [ids, kind] : inner_kinds) {
      const auto sorted = sorted_by_bus(devices, kind);
      for (std::size_t i = 0; i < sorted.size(); ++i) add(*sorted[i], i);
    }
    for (const auto& device : devices) {
      if (device.kind.empty()) report_unknown(device);
    }
  }

  /// runtime-go: the index of a path is the index of its first device among all known devices of
  /// the sandbox. `path` is the member of the siblings that has the path on the host.
  void number_for_go(const std::vector<VfioDevice>& devices,
                     const std::vector<VfioDevice>& siblings, std::string VfioDevice::*path) {
    const auto sorted = sorted_by_bus(siblings, inner_kinds[0].second);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      siblings_.emplace(sorted[i]->*path, i);
      siblings_.emplace(sorted[i]->bdf, i);
    }
    siblings_.erase("");
    std::map<std::string, VfioGroup> groups;
    for (const auto& device : devices) groups[device.container_path].push_back(&device);
    for (const auto& device : devices) {
      const auto group = groups.extract(device.container_path);
      if (!group.empty()) number_group(group.mapped());
    }
  }

 private:
  void add(const VfioDevice& device, std::size_t index) {
    const auto key = fmt::format("{}vfio{}", cdi::annotation_prefix, vfio_number(device));
    const auto value = fmt::format("{}={}", device.kind, index);
    if (answer_.annotations->insert_or_assign(key, value).second) return;
    answer_.warn("{}: replaces the annotation {} of another device", device.place.path, key);
  }

  void report_unknown(const VfioDevice& device) {
    answer_.unknown.push_back(device.vendor_and_class());
    answer_.warn("{}: the guest gets no annotation for {}, which is not in Kata's table",
                 device.place.path, device.vendor_and_class());
  }

  /// The devices of a kind in the order of the guest, with a warning if the order of the texts
  /// differs from the order of the numbers: rp10 comes before rp2.
  VfioGroup sorted_by_bus(const std::vector<VfioDevice>& devices, std::string_view kind) {
    VfioGroup out;
    for (const auto& device : devices) {
      if (device.kind == kind) out.push_back(&device);
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const auto* a, const auto* b) { return a->bus < b->bus; });
    for (std::size_t i = 1; i < out.size(); ++i) {
      if (out[i - 1]->bus.size() <= out[i]->bus.size()) continue;
      answer_.warn(
          "Kata sorts {} before {}, because it compares text; the guest may number them otherwise",
          out[i - 1]->bus, out[i]->bus);
      break;
    }
    return out;
  }

  /// Adds the one annotation of a group.
  void number_group(const VfioGroup& group) {
    VfioGroup known;
    auto index = siblings_.find(group.front()->container_path);
    for (const auto* device : group) {
      const auto found = siblings_.find(device->bdf);
      const bool first =
          index == siblings_.end() || (found != siblings_.end() && found->second < index->second);
      if (first) index = found;
      if (!device->kind.empty()) known.push_back(device);
    }
    if (known.empty()) {
      for (const auto* device : group) {
        if (!device->vendor_and_class().starts_with(nvswitch)) report_unknown(*device);
      }
      return;
    }
    const auto& device = *known.front();
    if (index == siblings_.end()) {
      device.place.reject(
          "is not among the siblings: no NVIDIA GPU (by vendorId and classId) there has this bdf, "
          "or this containerPath as its hostPath");
    }
    add(device, index->second);
    if (known.size() == 1) return;
    answer_.warn("{}: {} has several GPUs, and gets one annotation, for the first in the guest",
                 device.place.path, device.container_path);
  }

  Answer& answer_;
  std::map<std::string, std::size_t> siblings_{};  // indices by path and by bdf
};

}  // namespace

Answer answer_inner(const cdi::Document& input, bool go) {
  auto given = read_as<GivenDevices>(input);
  auto& devices = given.devices;
  complete(devices, Place{&input, "devices"}, go);
  Answer answer;
  answer.annotations = std::move(given.annotations);
  Numbering numbering{answer};
  if (!go) {
    numbering.number_for_rs(devices);
    return answer;
  }
  std::erase_if(*answer.annotations,
                [](const auto& one) { return one.first.starts_with(cdi::annotation_prefix); });
  std::erase_if(devices, [&](const auto& device) {
    const auto& path = device.container_path;
    if (path.starts_with("/dev/vfio")) return path == "/dev/vfio/vfio";
    answer.warn("{}: the guest gets no annotation for {}, which is not in /dev/vfio",
                device.place.path, cdi::quoted(path));
    return true;
  });
  auto path = &VfioDevice::container_path;
  if (given.siblings) {
    complete(*given.siblings, Place{&input, "siblings"}, go);
    path = &VfioDevice::host_path;
  }
  numbering.number_for_go(devices, given.siblings.value_or(devices), path);
  return answer;
}

}  // namespace pod
