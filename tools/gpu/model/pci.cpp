// PCI functions and their nodes, for all vendors.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "pci.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "../../kit/base/text.hpp"

namespace prepare {

namespace {

/// Whether a 24-bit class code means a VGA, 3D or display controller, or an accelerator.
constexpr bool is_gpu_class(std::uint32_t code) {
  const auto main_and_sub = code >> 8;
  return main_and_sub == 0x0300 || main_and_sub == 0x0302 || main_and_sub == 0x0380 ||
         main_and_sub == 0x1200;
}

/// The function in a directory of /sys/bus/pci/devices, if it may be a GPU. Sets `readable` to
/// false if its files do not show whether it is a GPU.
std::optional<PciFunction> read_pci_function(const tools::HostTree& tree, const std::string& name,
                                             bool& readable) {
  const auto order = parse_pci_address(name);
  if (!order) return std::nullopt;
  PciFunction function{.address = name, .order = *order};
  const auto directory = function.directory();
  const auto hexadecimal = [&](std::string_view file) {
    return tools::parse_number<std::uint32_t>(tree.line(fmt::format("{}/{}", directory, file)), 16);
  };
  const auto class_code = hexadecimal("class");
  readable = class_code.has_value();
  if (!readable || !is_gpu_class(*class_code)) return std::nullopt;
  const auto vendor = hexadecimal("vendor");
  const auto device = hexadecimal("device");
  readable = vendor && device;
  if (!readable) return std::nullopt;
  function.vendor = *vendor;
  function.device = *device;
  function.class_code = *class_code;
  function.physical_function = tree.link_name(directory + "/physfn").value_or("");
  function.driver = tree.link_name(directory + "/driver").value_or("");
  function.iommu_group = tree.link_name(directory + "/iommu_group").value_or("");
  const auto numa_node = tools::parse_number<int>(tree.line(directory + "/numa_node"));
  if (numa_node && *numa_node >= 0) function.numa_node = numa_node;
  return function;
}

/// The major and minor number in a `dev` file of sysfs.
std::optional<std::pair<std::int64_t, std::int64_t>> parse_device_number(std::string_view text) {
  const auto colon = std::min(text.find(':'), text.size());
  const auto major = tools::parse_number<std::int64_t>(text.substr(0, colon));
  const auto minor =
      tools::parse_number<std::int64_t>(text.substr(std::min(colon + 1, text.size())));
  if (!major || !minor) return std::nullopt;
  return std::pair{*major, *minor};
}

}  // namespace

std::optional<PciOrder> parse_pci_address(std::string_view text) {
  if (text.size() < 12 || text.find_first_not_of("0123456789abcdef:.") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto tail = text.substr(text.size() - 8);  // ":17:00.0"
  if (tail[0] != ':' || tail[3] != ':' || tail[6] != '.') return std::nullopt;
  const auto domain = tools::parse_number<std::uint32_t>(text.substr(0, text.size() - 8), 16);
  const auto bus = tools::parse_number<std::uint32_t>(tail.substr(1, 2), 16);
  const auto device = tools::parse_number<std::uint32_t>(tail.substr(4, 2), 16);
  const auto function = tools::parse_number<std::uint32_t>(tail.substr(7), 8);
  if (!domain || !bus || !device || !function) return std::nullopt;
  return PciOrder{*domain, *bus, *device, *function};
}

bool PciFunction::is_passed_through() const {
  return !iommu_group.empty() && driver.find("vfio") != std::string::npos;
}

PciBus read_pci_bus(const tools::HostTree& tree) {
  constexpr const char* directory = "/sys/bus/pci/devices";
  PciBus bus;
  const auto names = tree.names(directory);
  bus.is_listed = names.has_value();
  if (!names) return bus;
  for (const auto& name : *names) {
    bool readable = true;
    auto function = read_pci_function(tree, name, readable);
    if (function) bus.functions.push_back(std::move(*function));
    if (!readable) bus.unreadable.push_back(name);
  }
  std::sort(bus.functions.begin(), bus.functions.end(),
            [](const auto& a, const auto& b) { return a.order < b.order; });
  return bus;
}

bool is_behind_unreadable(const PciBus& bus, const Gpu& gpu) {
  const auto own = parse_pci_address(gpu.pci_address);
  return own && std::any_of(bus.unreadable.begin(), bus.unreadable.end(), [&](const auto& name) {
           const auto other = parse_pci_address(name);
           return other && *other < *own;
         });
}

Gpu gpu_on_bus(const PciFunction& function) {
  return {.vendor = std::string{vendor_name(function.vendor)},
          .pci_address = function.address,
          .pci_id = fmt::format("{:04x}:{:04x}", function.vendor, function.device),
          .driver = function.driver,
          .numa_node = function.numa_node,
          .physical_function = function.physical_function,
          .iommu_group = function.iommu_group};
}

std::vector<Candidate> candidates(const std::vector<PciFunction>& functions,
                                  bool (*belong)(const PciFunction&)) {
  std::vector<Candidate> chosen;
  std::size_t count = 0;
  for (const auto& function : functions) {
    if (!belong(function)) continue;
    Candidate candidate{.function = function, .gpu = gpu_on_bus(function)};
    if (!function.is_virtual()) candidate.gpu.index = count++;
    if (!function.is_passed_through()) chosen.push_back(std::move(candidate));
  }
  return chosen;
}

Problem bound_to(const std::string& driver) {
  if (driver.empty()) return {Fault::bound_to_no_driver, "bound to no driver"};
  const bool is_nouveau = driver == "nouveau";
  return {is_nouveau ? Fault::bound_to_nouveau : Fault::bound_to_other_driver,
          "bound to " + driver};
}

std::optional<Problem> virtual_functions_fault(const tools::HostTree& tree, const Gpu& gpu) {
  const auto count = tools::parse_number<std::uint32_t>(
      tree.line(fmt::format("/sys/bus/pci/devices/{}/sriov_numvfs", gpu.pci_address)));
  if (count.value_or(0) == 0) return std::nullopt;
  return Problem{Fault::virtual_functions,
                 fmt::format("it is divided into virtual functions ({})", *count)};
}

CharMajors::CharMajors(const tools::HostTree& tree) {
  const auto text = tree.read("/proc/devices");
  if (!text) return;
  const auto characters = std::string_view{*text}.substr(0, text->find("Block devices:"));
  for (const auto& row : tools::split(characters, "\n")) {
    const auto parts = tools::split(row, " ");
    if (parts.size() != 2) continue;
    if (const auto major = tools::parse_number<std::int64_t>(parts[0]))
      rows_.emplace_back(parts[1], *major);
  }
}

std::optional<std::int64_t> CharMajors::find(std::string_view name) const {
  for (const auto& [row_name, major] : rows_) {
    if (row_name == name) return major;
  }
  return std::nullopt;
}

bool CharMajors::has(std::int64_t major, std::string_view prefix) const {
  return std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) {
    return row.second == major && row.first.starts_with(prefix);
  });
}

cdi::Result<Node> checked_node(const tools::HostTree& tree, const std::string& path,
                               std::int64_t major, std::int64_t minor) {
  auto node = tree.node(path);
  if (!node) return std::move(node).error();
  const auto mismatch = [&](std::string_view what) {
    return cdi::Error{.code = cdi::Errc::host, .message = fmt::format("{} is {}", path, what)};
  };
  if (node->type != 'c') return mismatch("not a character device");
  if (node->major != major || node->minor != minor) {
    return mismatch(fmt::format("{}:{}, not {}:{}", node->major, node->minor, major, minor));
  }
  return Node{std::move(*node)};
}

bool is_drm_node_name(std::string_view name) {
  for (const std::string_view prefix : {"card", "renderD"}) {
    if (!name.starts_with(prefix)) continue;
    if (tools::parse_number<std::uint32_t>(name.substr(prefix.size()))) return true;
  }
  return false;
}

cdi::Result<Node> sysfs_node(const tools::HostTree& tree, const std::string& sysfs_directory,
                             const std::string& path) {
  const auto number = parse_device_number(tree.line(sysfs_directory + "/dev"));
  if (number) return checked_node(tree, path, number->first, number->second);
  return cdi::Error{.code = cdi::Errc::host, .message = "sysfs does not list its number"};
}

void add_node(std::vector<Node>& nodes, const std::string& path, cdi::Result<Node> node,
              Fault fault, std::vector<Problem>& warnings) {
  if (node) {
    nodes.push_back(std::move(*node));
  } else {
    warnings.push_back({fault, path + " omitted: " + node.error().message});
  }
}

std::vector<Node> drm_nodes(const tools::HostTree& tree, const std::string& device_directory,
                            std::vector<Problem>& warnings) {
  std::vector<Node> nodes;
  const auto directory = device_directory + "/drm";
  for (const auto& name : tree.list(directory)) {
    if (!is_drm_node_name(name)) continue;
    const auto path = "/dev/dri/" + name;
    auto node = sysfs_node(tree, directory + "/" + name, path);
    if (node && name.starts_with("card")) node->profiles = graphics;
    add_node(nodes, path, std::move(node), Fault::udev_node, warnings);
  }
  return nodes;
}

void set_by_path(std::vector<Node>& nodes, const std::string& device) {
  if (!tools::is_plain(device)) return;
  for (auto& node : nodes) {
    const bool is_card = node.path.starts_with("/dev/dri/card");
    node.by_path = fmt::format("/dev/dri/by-path/{}-{}", device, is_card ? "card" : "render");
  }
}

std::optional<Problem> render_node_fault(const std::vector<Node>& nodes) {
  const bool has_one = std::any_of(nodes.begin(), nodes.end(), [](const Node& node) {
    return node.path.starts_with("/dev/dri/renderD");
  });
  if (has_one) return std::nullopt;
  return Problem{Fault::no_render_node, "it has no usable render node"};
}

std::vector<Node> drm_nodes(const tools::HostTree& tree, const PciFunction& function,
                            std::vector<Problem>& warnings) {
  auto nodes = drm_nodes(tree, function.directory(), warnings);
  set_by_path(nodes, "pci-" + function.address);
  return nodes;
}

}  // namespace prepare
