// Finds the devices of a kind that entries of an environment variable name.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "visible_list.hpp"

namespace tools {

/// The devices that an entry may mean.
struct VisibleMatch {
  std::vector<std::string> devices{};  // one, if it is unambiguous
  std::vector<std::string> parts{};    // of the GPU, if it is divided and has no device of its own
  bool manner_known = false;           // other devices are named in the same manner
};

namespace detail {

/// The name of a device, taken apart.
struct NameParts {
  std::string uuid{};  // in lower case; empty if the name has none
  std::string part{};  // of the GPU: ":gi1:ci0", "-p3"
};

/// Separates `GPU-UUID`, `MIG-UUID` and AMD's 16 digits from what follows them.
inline NameParts parts_of(std::string_view name) {
  const auto low = lowered(name);
  if (is_hex(low.substr(0, 16)) && low.size() >= 16 && (low.size() == 16 || low[16] == '-')) {
    return {.uuid = "gpu-" + low.substr(0, 16), .part = low.substr(16)};
  }
  if (!low.starts_with("gpu-") && !low.starts_with("mig-")) return {};
  const auto end = std::min(low.find(':'), low.size());
  if (!is_hex(low.substr(4, end - 4), "-")) return {};
  return {.uuid = low.substr(0, end), .part = low.substr(end)};
}

/// Whether a name belongs to a part of the GPU with this index: `1:0`, `1:gi2:ci0`, `1-p3`.
inline bool is_part_of(std::string_view name, std::string_view index) {
  if (!name.starts_with(index)) return false;
  name.remove_prefix(index.size());
  return name.starts_with(':') || name.starts_with("-p");
}

inline VisibleMatch match_index(const VisibleEntry& entry,
                                const std::vector<std::string>& devices) {
  VisibleMatch out;
  for (const auto& name : devices) {
    if (name == entry.device) out.devices.push_back(name);
    if (is_part_of(name, entry.device)) out.parts.push_back(name);
    out.manner_known = out.manner_known || is_decimal(name);
  }
  return out;
}

inline VisibleMatch match_uuid(const VisibleEntry& entry, const std::vector<std::string>& devices) {
  VisibleMatch out;
  for (const auto& name : devices) {
    const auto [uuid, part] = parts_of(name);
    if (uuid.substr(0, 4) != entry.uuid.substr(0, 4) || part.empty() != entry.part.empty()) {
      if (entry.part.empty() && uuid.starts_with(entry.uuid)) out.parts.push_back(name);
      continue;
    }
    out.manner_known = true;
    if (part != entry.part || !uuid.starts_with(entry.uuid)) continue;
    if (uuid == entry.uuid) return {.devices = {name}, .manner_known = true};
    out.devices.push_back(name);
  }
  return out;
}

}  // namespace detail

/// Finds an entry among the names of a kind's devices. A UUID is found by its beginning; if that is
/// the beginning of several, all of them are returned.
inline VisibleMatch match_visible(const VisibleEntry& entry,
                                  const std::vector<std::string>& devices) {
  return entry.uuid.empty() ? detail::match_index(entry, devices)
                            : detail::match_uuid(entry, devices);
}

}  // namespace tools
