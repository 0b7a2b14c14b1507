// Reads what kubelet records about the devices of pods on a node.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_WHY_KUBELET_FILES_HPP
#define CDI_TOOLS_CDI_WHY_KUBELET_FILES_HPP

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/annotations.hpp>
#include <cdi/result.hpp>
#include <cdi/text/parse_json.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/host/host_tree.hpp"
#include "encoded.hpp"
#include "json_members.hpp"

// Kubernetes 1.37.2: pkg/kubelet/cm/dra/state and pkg/kubelet/cm/devicemanager/checkpoint; the form
// of the first file is that of 1.32 and later.

namespace kubelet {

/// A device that a DRA driver prepared for a claim.
struct PreparedDevice {
  std::string driver{};
  std::string pool{};
  std::string device{};
  std::vector<std::string> requests{};
  std::vector<std::string> cdi_ids{};

  /// `driver/pool/device`, as in the status of a claim.
  std::string path() const { return driver + "/" + pool + "/" + device; }
};

/// A claim as kubelet knows it.
struct KnownClaim {
  std::string uid{};
  std::string name{};
  std::string space{};                 // its namespace
  std::vector<std::string> pods{};     // the UIDs of its pods
  std::vector<std::string> drivers{};  // all that have devices for it
  std::vector<PreparedDevice> devices{};

  /// Whether a driver has prepared devices.
  bool has_devices_of(std::string_view driver) const {
    return std::any_of(devices.begin(), devices.end(),
                       [&](const auto& one) { return one.driver == driver; });
  }
};

/// Devices that a device plugin gave to a container.
struct PluginDevices {
  std::string pod{};  // its UID
  std::string container{};
  std::string resource{};
  std::vector<std::string> ids{};
  std::vector<std::string> cdi_ids{};    // in the CRI field
  std::vector<std::string> annotated{};  // the CDI devices in annotations of the plugin
  bool is_torn = false;                  // the answer of the plugin cannot be read
};

/// The content of one of kubelet's files.
template <class Entry>
struct Checkpoint {
  std::string path{};
  bool exists = true;
  std::string damage{};  // why it cannot be used, here or by kubelet
  std::vector<Entry> entries{};
};

namespace detail {

inline constexpr std::size_t max_bytes = 64 << 20;

inline KnownClaim read_claim(const JsonMember& entry) {
  KnownClaim claim{.uid = entry["ClaimUID"].text(),
                   .name = entry["ClaimName"].text(),
                   .space = entry["Namespace"].text()};
  for (const auto& [pod, empty] : entry["PodUIDs"].members()) claim.pods.push_back(pod);
  for (const auto& [driver, state] : entry["DriverState"].members()) {
    claim.drivers.push_back(driver);
    for (const auto& device : state["Devices"].items()) {
      claim.devices.push_back({.driver = driver,
                               .pool = device["PoolName"].text(),
                               .device = device["DeviceName"].text(),
                               .requests = device["RequestNames"].texts(),
                               .cdi_ids = device["CDIDeviceIDs"].texts()});
    }
  }
  return claim;
}

/// Adds the CDI devices of a plugin's answer to Allocate.
inline void read_answer(std::string_view message, PluginDevices& out) {
  constexpr unsigned annotations = 4;
  constexpr unsigned cdi_devices = 5;
  const auto fields = encoded::fields_of(message);
  out.is_torn = !fields;
  std::map<std::string, std::string> annotated;
  for (const auto& field : fields.value_or(std::vector<encoded::Field>{})) {
    if (field.number != annotations && field.number != cdi_devices) continue;
    const auto inner = encoded::fields_of(field.bytes);
    if (!inner) {
      out.is_torn = true;
    } else if (field.number == cdi_devices) {
      out.cdi_ids.push_back(encoded::text_in(*inner, 1));
    } else {
      annotated.emplace(encoded::text_in(*inner, 1), encoded::text_in(*inner, 2));
    }
  }
  if (const auto parsed = cdi::parse_annotations(annotated)) out.annotated = parsed->devices;
}

inline PluginDevices read_devices(const JsonMember& entry) {
  PluginDevices out{.pod = entry["PodUID"].text(),
                    .container = entry["ContainerName"].text(),
                    .resource = entry["ResourceName"].text()};
  for (const auto& [node, ids] : entry["DeviceIDs"].members()) {
    for (auto& id : ids.texts()) out.ids.push_back(std::move(id));
  }
  const auto message = encoded::from_base64(entry["AllocResp"].text());
  if (message) {
    read_answer(*message, out);
  } else {
    out.is_torn = true;
  }
  return out;
}

/// Reads a file of JSON. Without a document, `damage` is set or the file does not exist.
template <class Entry>
std::optional<cdi::Document> read_json(const tools::HostTree& tree, Checkpoint<Entry>& out) {
  const auto text = tree.read(out.path, max_bytes);
  if (!text) {
    out.exists = text.error().system != ENOENT && text.error().system != ENOTDIR;
    if (out.exists) out.damage = text.error().message;
    return std::nullopt;
  }
  auto document = cdi::parse_json(*text, out.path);
  if (document) return *std::move(document);
  out.damage = to_string(document.error());
  return std::nullopt;
}

}  // namespace detail

/// Reads the claims of kubelet's `dra_manager_state`.
inline Checkpoint<KnownClaim> read_claims(const tools::HostTree& tree, const std::string& dir) {
  Checkpoint<KnownClaim> out{.path = dir + "/dra_manager_state"};
  const auto file = detail::read_json(tree, out);
  if (!file) return out;
  const JsonMember root{file->root()};
  const auto data = root["Data"].text();
  if (data.empty()) {
    out.damage = "it has no member Data: kubelet 1.32 and later write it";
    return out;
  }
  if (root["Checksum"].text() != std::to_string(encoded::crc32(data))) {
    out.damage = "its checksum is wrong";
  }
  const auto inner = cdi::parse_json(data, out.path + ", Data");
  if (!inner) {
    out.damage = to_string(inner.error());
    return out;
  }
  const auto list = JsonMember{inner->root()}["ClaimInfoStateList"];
  for (const auto& entry : list.items()) out.entries.push_back(detail::read_claim(entry));
  return out;
}

/// Reads the devices in kubelet's `kubelet_internal_checkpoint`. Its checksum, which depends on how
/// Go prints its types, is not checked.
inline Checkpoint<PluginDevices> read_plugin_devices(const tools::HostTree& tree,
                                                     const std::string& dir) {
  Checkpoint<PluginDevices> out{.path = dir + "/device-plugins/kubelet_internal_checkpoint"};
  const auto file = detail::read_json(tree, out);
  if (!file) return out;
  const auto data = JsonMember{file->root()}["Data"];
  if (!data.is_map()) {
    out.damage = "it has no member Data";
    return out;
  }
  for (const auto& entry : data["PodDeviceEntries"].items()) {
    out.entries.push_back(detail::read_devices(entry));
  }
  return out;
}

/// The UIDs of pods with a name, from the names of their log directories.
inline std::vector<std::string> logged_pods(const tools::HostTree& tree, const std::string& dir,
                                            const std::string& space, const std::string& name) {
  const auto start = fmt::format("{}_{}_", space, name);
  std::vector<std::string> uids;
  for (const auto& entry : tree.list(dir)) {
    if (entry.starts_with(start)) uids.push_back(entry.substr(start.size()));
  }
  return uids;
}

}  // namespace kubelet

#endif  // CDI_TOOLS_CDI_WHY_KUBELET_FILES_HPP
