// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_PCI_HPP
#define CDI_PREPARE_PCI_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "host_tree.hpp"

// What the kernel shows of PCI functions and their nodes, whoever made them.

namespace prepare {

/// A PCI address as numbers: domain, bus, device, function.
using PciOrder = std::array<std::uint32_t, 4>;

/// Takes `0000:17:00.0` apart; the domain may have more digits than four.
inline std::optional<PciOrder> parse_pci_address(std::string_view text) {
  if (text.size() < 12 || text.find_first_not_of("0123456789abcdef:.") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto tail = text.substr(text.size() - 8);  // ":17:00.0"
  if (tail[0] != ':' || tail[3] != ':' || tail[6] != '.') return std::nullopt;
  const auto domain = parse_number<std::uint32_t>(text.substr(0, text.size() - 8), 16);
  const auto bus = parse_number<std::uint32_t>(tail.substr(1, 2), 16);
  const auto device = parse_number<std::uint32_t>(tail.substr(4, 2), 16);
  const auto function = parse_number<std::uint32_t>(tail.substr(7), 8);
  if (!domain || !bus || !device || !function) return std::nullopt;
  return PciOrder{*domain, *bus, *device, *function};
}

/// A display controller or accelerator on the PCI bus.
struct PciFunction {
  std::string address{};  // "0000:17:00.0"
  PciOrder order{};
  std::uint32_t vendor = 0;  // 0x10de
  bool is_virtual = false;   // an SR-IOV function of another one
  std::string driver{};      // empty when none is bound
  std::optional<int> numa_node{};

  std::string directory() const { return "/sys/bus/pci/devices/" + address; }
};

/// Whether a 24-bit class code is that of a VGA, 3D or display controller, or of an accelerator.
constexpr bool is_gpu_class(std::uint32_t code) {
  const auto main_and_sub = code >> 8;
  return main_and_sub == 0x0300 || main_and_sub == 0x0302 || main_and_sub == 0x0380 ||
         main_and_sub == 0x1200;
}

/// The function in a directory of /sys/bus/pci/devices, when it may be a GPU.
inline std::optional<PciFunction> read_pci_function(const HostTree& tree, const std::string& name) {
  const auto order = parse_pci_address(name);
  if (!order) return std::nullopt;
  PciFunction function{.address = name, .order = *order};
  const auto directory = function.directory();
  const auto class_code = parse_number<std::uint32_t>(tree.line(directory + "/class"), 16);
  const auto vendor = parse_number<std::uint32_t>(tree.line(directory + "/vendor"), 16);
  if (!vendor || !class_code || !is_gpu_class(*class_code)) return std::nullopt;
  function.vendor = *vendor;
  function.is_virtual = tree.exists(directory + "/physfn");
  function.driver = tree.link_name(directory + "/driver").value_or("");
  const auto numa_node = parse_number<int>(tree.line(directory + "/numa_node"));
  if (numa_node && *numa_node >= 0) function.numa_node = numa_node;
  return function;
}

/// All functions that may be GPUs, by address.
inline std::vector<PciFunction> pci_functions(const HostTree& tree) {
  std::vector<PciFunction> functions;
  for (const auto& name : tree.list("/sys/bus/pci/devices")) {
    if (auto function = read_pci_function(tree, name)) functions.push_back(std::move(*function));
  }
  std::sort(functions.begin(), functions.end(),
            [](const auto& a, const auto& b) { return a.order < b.order; });
  return functions;
}

/// The majors of character devices, by driver name, as /proc/devices lists them.
class CharMajors {
 public:
  explicit CharMajors(const HostTree& tree) {
    const auto text = tree.read("/proc/devices");
    if (!text) return;
    const auto characters = std::string_view{*text}.substr(0, text->find("Block devices:"));
    for (const auto& row : split(characters, "\n")) {
      const auto parts = split(row, " ");
      if (parts.size() != 2) continue;
      if (const auto major = parse_number<std::int64_t>(parts[0]))
        rows_.emplace_back(parts[1], *major);
    }
  }

  /// The major of the driver with exactly this name: `nvidia-caps` is not `nvidia`.
  std::optional<std::int64_t> find(std::string_view name) const {
    for (const auto& [row_name, major] : rows_) {
      if (row_name == name) return major;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::pair<std::string, std::int64_t>> rows_{};
};

/// The node at `path` when it is the character device `major:minor`; the error says what it is.
inline cdi::Result<Node> checked_node(const HostTree& tree, const std::string& path,
                                      std::int64_t major, std::int64_t minor) {
  auto node = tree.node(path);
  if (!node) return node;
  const auto mismatch = [&](std::string_view what) {
    return cdi::Error{.code = cdi::Errc::host, .message = fmt::format("{} is {}", path, what)};
  };
  if (node->type != 'c') return mismatch("no character device");
  if (node->major != major || node->minor != minor) {
    return mismatch(fmt::format("{}:{}, not {}:{}", node->major, node->minor, major, minor));
  }
  return node;
}

/// Whether `name` is a DRM node, `card1` or `renderD128`, and no connector such as `card1-DP-1`.
inline bool is_drm_node_name(std::string_view name) {
  for (const std::string_view prefix : {"card", "renderD"}) {
    if (!name.starts_with(prefix)) continue;
    if (parse_number<std::uint32_t>(name.substr(prefix.size()))) return true;
  }
  return false;
}

/// The major and minor in a `dev` file of sysfs.
inline std::optional<std::pair<std::int64_t, std::int64_t>> parse_device_number(
    std::string_view text) {
  const auto colon = std::min(text.find(':'), text.size());
  const auto major = parse_number<std::int64_t>(text.substr(0, colon));
  const auto minor = parse_number<std::int64_t>(text.substr(std::min(colon + 1, text.size())));
  if (!major || !minor) return std::nullopt;
  return std::pair{*major, *minor};
}

/// The DRM nodes of a PCI function; one that is not in /dev as sysfs has it becomes a warning.
inline std::vector<Node> drm_nodes(const HostTree& tree, const std::string& pci_directory,
                                   std::vector<std::string>& warnings) {
  std::vector<Node> nodes;
  const auto directory = pci_directory + "/drm";
  for (const auto& name : tree.list(directory)) {
    if (!is_drm_node_name(name)) continue;
    const auto path = "/dev/dri/" + name;
    const auto number = parse_device_number(tree.line(fmt::format("{}/{}/dev", directory, name)));
    if (!number) {
      warnings.push_back(path + " omitted: sysfs does not say its number");
    } else if (auto node = checked_node(tree, path, number->first, number->second)) {
      nodes.push_back(std::move(*node));
    } else {
      warnings.push_back(path + " omitted: " + node.error().message);
    }
  }
  return nodes;
}

}  // namespace prepare

#endif  // CDI_PREPARE_PCI_HPP
