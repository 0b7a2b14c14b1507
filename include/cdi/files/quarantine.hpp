// Separates the invalid devices of a spec from its valid devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_QUARANTINE_HPP
#define CDI_FILES_QUARANTINE_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/order.hpp>
#include <cdi/base/result.hpp>
#include <cdi/files/rejected_contents.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/rules/rules.hpp>
#include <cdi/rules/validate.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/read.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Returns what is wrong with one device in a spec that declares `version`, or nothing if it is
/// valid. The error's path begins at the device.
inline std::optional<DeviceFault> device_fault(const Document::Value& item,
                                               std::string_view version) {
  auto device = cdi::read<Device>(item);
  if (!device) return DeviceFault{std::move(device).error()};
  auto fault = detail::fault_of(*device, version);
  if (!fault) return std::nullopt;
  std::string_view path = fault->error.where;
  Document::Value at = item;
  while (!path.empty() && detail::descend(at, path)) continue;
  fault->error.position = at.position();
  return fault;
}

/// Returns, for each name, whether the name occurs more than once.
inline std::vector<char> which_repeat(const std::vector<std::string>& names) {
  const auto order =
      order_of(names.size(), [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
  std::vector<char> repeated(names.size());
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (names[order[i]] != names[order[i - 1]]) continue;
    repeated[order[i]] = true;
    repeated[order[i - 1]] = true;
  }
  return repeated;
}

/// Makes the error for a device whose name is not unique.
inline Error repeated_name_error(const Document::Value& item, std::string_view name) {
  return {.code = Errc::invalid,
          .message = "device " + cdi::quoted(name) + " is defined more than once",
          .advice = "choose another name",
          .where = "name",
          .position = item.position(),
          .rule = row_of(Rule::device_name_unique).code};
}

/// Copies a spec's document without its invalid devices and without devices that share a name, and
/// appends their errors to `out`. Returns nothing if all devices are valid, if none is left, or if
/// there are more than `max_named_devices` errors.
inline std::optional<Document> without_bad_devices(const Document& document,
                                                   std::vector<QuarantinedDevice>& out) {
  const auto devices = detail::find_member(document.root(), "devices");
  const auto version = detail::find_member(document.root(), "cdiVersion");
  if (!devices || devices->kind() != Document::Kind::list) return std::nullopt;
  const auto declared = version ? version->text() : std::string_view{};
  std::vector<std::string> names;
  for (const auto item : devices->items()) names.push_back(detail::name_of_device(item));
  const auto repeated = detail::which_repeat(names);
  std::vector<std::pair<std::size_t, DeviceFault>> faults;
  std::size_t end_of_good = 0;
  std::size_t index = 0;
  for (const auto item : devices->items()) {
    const std::size_t i = index++;
    auto fault = detail::device_fault(item, declared);
    if (repeated[i] && (!fault || fault->if_last)) {
      fault = DeviceFault{detail::repeated_name_error(item, names[i])};
    }
    if (fault) {
      faults.emplace_back(i, *std::move(fault));
    } else {
      end_of_good = index;
    }
  }
  std::vector<char> bad(names.size());
  for (auto& [i, fault] : faults) {
    bad[i] = !fault.if_last || i >= end_of_good;
    if (!bad[i]) continue;
    fault.error.add_outer(detail::item_path("devices", i));
    out.push_back({std::move(names[i]), std::move(fault.error)});
  }
  if (out.empty() || out.size() == bad.size() || out.size() > max_named_devices)
    return std::nullopt;
  return document.without(*devices, bad);
}

}  // namespace cdi::detail

#endif  // CDI_FILES_QUARANTINE_HPP
