// Reads what kubelet records about the devices of pods on a node.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "kubelet_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <cdi/annotations.hpp>
#include <cdi/model/any_value.hpp>
#include <cdi/text/json.hpp>

#include "../../kit/base/base64.hpp"
#include "encoded.hpp"

namespace kubelet {

namespace {

constexpr std::size_t max_bytes = 64 << 20;

/// What a driver did for a claim.
struct DriverState {
  std::vector<PreparedDevice> devices{};

  static constexpr bool skips_unknown = true;
  static constexpr void fields(auto& list) { list("Devices", &DriverState::devices); }
};

/// A claim in its file.
struct ClaimEntry : KnownClaim {
  std::map<std::string, cdi::AnyValue> pod_uids{};
  std::map<std::string, DriverState> states{};  // by driver

  static constexpr bool skips_unknown = true;
  static constexpr void fields(auto& list) {
    list("ClaimUID", &KnownClaim::uid);
    list("ClaimName", &KnownClaim::name);
    list("Namespace", &KnownClaim::space);
    list("PodUIDs", &ClaimEntry::pod_uids);
    list("DriverState", &ClaimEntry::states);
  }
};

struct ClaimEntries {
  std::vector<ClaimEntry> list{};

  static constexpr bool skips_unknown = true;
  static constexpr void fields(auto& list) { list("ClaimInfoStateList", &ClaimEntries::list); }
};

struct ClaimsFile {
  std::string data{};
  std::uint64_t checksum = 0;

  static constexpr bool skips_unknown = true;
  static constexpr void fields(auto& list) {
    list("Data", &ClaimsFile::data);
    list("Checksum", &ClaimsFile::checksum);
  }
};

KnownClaim known_claim(ClaimEntry entry) {
  for (const auto& [pod, empty] : entry.pod_uids) entry.pods.push_back(pod);
  for (auto& [driver, state] : entry.states) {
    entry.drivers.push_back(driver);
    for (auto& device : state.devices) {
      device.driver = driver;
      entry.devices.push_back(std::move(device));
    }
  }
  return KnownClaim{std::move(entry)};
}

/// Devices that a plugin gave, in their file.
struct PluginEntry : PluginDevices {
  std::map<std::string, std::vector<std::string>> ids_of_nodes{};
  std::string answer{};  // of the plugin to Allocate, in base64

  static constexpr bool skips_unknown = true;
  static constexpr void fields(auto& list) {
    list("PodUID", &PluginDevices::pod);
    list("ContainerName", &PluginDevices::container);
    list("ResourceName", &PluginDevices::resource);
    list("DeviceIDs", &PluginEntry::ids_of_nodes);
    list("AllocResp", &PluginEntry::answer);
  }
};

struct PluginEntries {
  std::vector<PluginEntry> list{};

  static constexpr bool skips_unknown = true;
  static constexpr void fields(auto& list) { list("PodDeviceEntries", &PluginEntries::list); }
};

struct PluginsFile {
  std::optional<PluginEntries> data{};

  static constexpr bool skips_unknown = true;
  static constexpr void fields(auto& list) { list("Data", &PluginsFile::data); }
};

/// Adds the CDI devices of a plugin's answer to Allocate.
void read_answer(std::string_view message, PluginDevices& out) {
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

PluginDevices plugin_devices(PluginEntry entry) {
  for (const auto& [node, ids] : entry.ids_of_nodes) {
    entry.ids.insert(entry.ids.end(), ids.begin(), ids.end());
  }
  const auto message = tools::decode_base64(entry.answer);
  entry.is_torn = !message;
  if (message) read_answer(*message, entry);
  return PluginDevices{std::move(entry)};
}

/// Reads a file of JSON. Without a result, `damage` is set or the file does not exist.
template <class File, class Entry>
std::optional<File> read_json(const tools::HostTree& tree, Checkpoint<Entry>& out) {
  const auto text = tree.read(out.path, max_bytes);
  if (!text) {
    out.exists = text.error().system != ENOENT && text.error().system != ENOTDIR;
    if (out.exists) out.damage = text.error().message;
    return std::nullopt;
  }
  auto file = cdi::read_json<File>(*text, out.path);
  if (file) return *std::move(file);
  out.damage = to_string(file.error());
  return std::nullopt;
}

}  // namespace

bool KnownClaim::has_devices_of(std::string_view driver) const {
  return std::any_of(devices.begin(), devices.end(),
                     [&](const auto& one) { return one.driver == driver; });
}

Checkpoint<KnownClaim> read_claims(const tools::HostTree& tree, const std::string& dir) {
  Checkpoint<KnownClaim> out{.path = dir + "/dra_manager_state"};
  const auto file = read_json<ClaimsFile>(tree, out);
  if (!file) return out;
  if (file->data.empty()) {
    out.damage = "it has no member Data: kubelet 1.32 and later write it";
    return out;
  }
  if (file->checksum != encoded::crc32(file->data)) out.damage = "its checksum is wrong";
  auto entries = cdi::read_json<ClaimEntries>(file->data, out.path + ", Data");
  if (!entries) {
    out.damage = to_string(entries.error());
    return out;
  }
  for (auto& entry : entries->list) out.entries.push_back(known_claim(std::move(entry)));
  return out;
}

Checkpoint<PluginDevices> read_plugin_devices(const tools::HostTree& tree, const std::string& dir) {
  Checkpoint<PluginDevices> out{.path = dir + "/device-plugins/kubelet_internal_checkpoint"};
  auto file = read_json<PluginsFile>(tree, out);
  if (!file) return out;
  if (!file->data) {
    out.damage = "it has no member Data";
    return out;
  }
  for (auto& entry : file->data->list) {
    out.entries.push_back(plugin_devices(std::move(entry)));
  }
  return out;
}

std::vector<std::string> logged_pods(const tools::HostTree& tree, const std::string& dir,
                                     const std::string& space, const std::string& name) {
  const auto start = fmt::format("{}_{}_", space, name);
  std::vector<std::string> uids;
  for (const auto& entry : tree.list(dir)) {
    if (entry.starts_with(start)) uids.push_back(entry.substr(start.size()));
  }
  return uids;
}

}  // namespace kubelet
