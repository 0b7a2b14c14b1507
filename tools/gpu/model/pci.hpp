// PCI functions and their nodes, for all vendors.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../kit/host/host_tree.hpp"
#include "fault.hpp"
#include "gpu.hpp"

namespace prepare {

/// A PCI address as numbers: domain, bus, device, function.
using PciOrder = std::array<std::uint32_t, 4>;

/// Parses `0000:17:00.0`; the domain may have more than four digits.
std::optional<PciOrder> parse_pci_address(std::string_view text);

/// A display controller or accelerator on the PCI bus.
struct PciFunction {
  std::string address{};  // "0000:17:00.0"
  PciOrder order{};
  std::uint32_t vendor = 0;         // 0x10de
  std::uint32_t device = 0;         // 0x20b5
  std::uint32_t class_code = 0;     // 0x030200
  std::string physical_function{};  // of an SR-IOV virtual function: the address of the PF
  std::string driver{};             // empty if none is bound
  std::string iommu_group{};        // "42"; empty without an IOMMU
  std::optional<int> numa_node{};

  std::string directory() const { return "/sys/bus/pci/devices/" + address; }
  bool is_virtual() const { return !physical_function.empty(); }
  bool is_accelerator() const { return class_code >> 16 == 0x12; }

  /// Whether the function is reserved for virtual machines, and hidden from its vendor's driver.
  bool is_passed_through() const;
};

/// The name of a GPU vendor by PCI id; "other" for unknown vendors.
constexpr std::string_view vendor_name(std::uint32_t vendor) {
  constexpr std::pair<std::uint32_t, std::string_view> names[] = {
      {0x10de, "nvidia"}, {0x1002, "amd"}, {0x8086, "intel"}, {0x1da3, "habana"}};
  for (const auto& [id, name] : names) {
    if (id == vendor) return name;
  }
  return "other";
}

/// The PCI functions that may be GPUs.
struct PciBus {
  std::vector<PciFunction> functions{};   // by address
  std::vector<std::string> unreadable{};  // addresses of functions that may also be GPUs
  bool is_listed = true;                  // otherwise others may exist

  bool is_complete() const { return is_listed && unreadable.empty(); }
};

PciBus read_pci_bus(const tools::HostTree& tree);

/// Whether a GPU follows an unreadable function that may also be a GPU, so that its index is
/// unknown.
bool is_behind_unreadable(const PciBus& bus, const Gpu& gpu);

/// The properties of a GPU that the PCI bus shows.
Gpu gpu_on_bus(const PciFunction& function);

/// A PCI function that may be a GPU, and its GPU properties.
struct Candidate {
  PciFunction function{};
  Gpu gpu{};
};

/// The functions that `belong`, with their index. A passed-through function is left out but keeps
/// its index, so that handing a GPU to a virtual machine does not renumber the others.
std::vector<Candidate> candidates(const std::vector<PciFunction>& functions,
                                  bool (*belong)(const PciFunction&));

/// Why a GPU without its vendor's driver cannot be handed out.
Problem bound_to(const std::string& driver);

/// Why a GPU cannot be handed out as a whole: its virtual functions are handed out instead.
std::optional<Problem> virtual_functions_fault(const tools::HostTree& tree, const Gpu& gpu);

/// The major numbers of character devices by driver name, from /proc/devices.
class CharMajors {
 public:
  explicit CharMajors(const tools::HostTree& tree);

  /// The major number of the driver with exactly this name: `nvidia-caps` is not `nvidia`.
  std::optional<std::int64_t> find(std::string_view name) const;

  /// Whether a major number belongs to a driver whose name begins with `prefix`.
  bool has(std::int64_t major, std::string_view prefix) const;

 private:
  std::vector<std::pair<std::string, std::int64_t>> rows_{};
};

/// The node at `path` if it is the character device `major:minor`; otherwise an error with its type
/// or numbers.
cdi::Result<Node> checked_node(const tools::HostTree& tree, const std::string& path,
                               std::int64_t major, std::int64_t minor);

/// Whether `name` is a DRM node, `card1` or `renderD128`, and not a connector such as `card1-DP-1`.
bool is_drm_node_name(std::string_view name);

/// The node at `path` if it has the numbers in the `dev` file of a sysfs directory.
cdi::Result<Node> sysfs_node(const tools::HostTree& tree, const std::string& sysfs_directory,
                             const std::string& path);

/// Adds a node, or a warning with `fault` if the node is missing or another device.
void add_node(std::vector<Node>& nodes, const std::string& path, cdi::Result<Node> node,
              Fault fault, std::vector<Problem>& warnings);

/// The DRM nodes of a device, with a warning for a node that is missing in /dev or differs from
/// sysfs. Programs compute with the render node; the card node is for display.
std::vector<Node> drm_nodes(const tools::HostTree& tree, const std::string& device_directory,
                            std::vector<Problem>& warnings);

/// Sets the names of the links that udev creates to DRM nodes; `device` is "pci-0000:17:00.0". A
/// device whose name cannot be written to a spec gets no links.
void set_by_path(std::vector<Node>& nodes, const std::string& device);

/// Why a GPU with these DRM nodes cannot be handed out: it lacks a render node, with which programs
/// compute and draw.
std::optional<Problem> render_node_fault(const std::vector<Node>& nodes);

/// The DRM nodes of a PCI function, with the names of their links.
std::vector<Node> drm_nodes(const tools::HostTree& tree, const PciFunction& function,
                            std::vector<Problem>& warnings);

}  // namespace prepare
