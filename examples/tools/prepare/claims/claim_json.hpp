// The JSON text of a claim, for its file in the journal.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_CLAIMS_CLAIM_JSON_HPP
#define CDI_TOOLS_PREPARE_CLAIMS_CLAIM_JSON_HPP

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/name.hpp>
#include <cdi/nlohmann.hpp>
#include <cdi/result.hpp>
#include <cdi/text/document.hpp>

#include "../../shared/base/text.hpp"
#include "../base/json_output.hpp"
#include "claim.hpp"

namespace prepare {

/// The version of the journal format.
inline constexpr int journal_version = 1;

inline constexpr std::pair<Claim::Phase, std::string_view> phase_names[] = {
    {Claim::Phase::preparing, "preparing"},
    {Claim::Phase::prepared, "prepared"},
    {Claim::Phase::removing, "removing"}};

/// The string members of a claimed device, with their names in the journal.
inline constexpr std::pair<const char*, std::string ClaimedDevice::*> device_members[] = {
    {"request", &ClaimedDevice::request},
    {"asked", &ClaimedDevice::requested},
    {"kind", &ClaimedDevice::kind},
    {"name", &ClaimedDevice::name},
    {"id", &ClaimedDevice::id},
    {"suffix", &ClaimedDevice::suffix},
    {"pci_address", &ClaimedDevice::pci_address},
    {"pci_id", &ClaimedDevice::pci_id}};

/// The names of string members that journals of earlier versions lack.
inline constexpr const char* division_member = "division";
inline constexpr const char* newest_version_member = "newest_release";

/// The string members of a claim.
inline constexpr std::pair<const char*, std::string Claim::*> claim_members[] = {
    {"uid", &Claim::uid},
    {"namespace", &Claim::name_space},
    {"name", &Claim::name},
    {"kind", &Claim::kind},
    {"boot_id", &Claim::boot_id}};

inline Json to_json(const ClaimedDevice& device) {
  Json out;
  for (const auto& [key, member] : device_members) out[key] = device.*member;
  out[division_member] = device.division;
  out["by_iommufd"] = device.by_iommufd;
  return out;
}

inline Json to_json(const Claim& claim) {
  Json out{{"version", journal_version}};
  for (const auto& [key, member] : claim_members) out[key] = claim.*member;
  for (const auto& [phase, name] : phase_names) {
    if (phase == claim.phase) out["phase"] = name;
  }
  out[newest_version_member] = claim.newest_version;
  out["holds"] = claim.holds;
  out["devices"] = Json::array();
  for (const auto& device : claim.devices) out["devices"].push_back(to_json(device));
  return out;
}

namespace claim_json {

using Value = cdi::Document::Value;

/// A member of an object; nullopt if it is missing.
inline std::optional<Value> member(const Value& object, std::string_view name) {
  for (const auto [key, value] : object.members()) {
    if (key.text() == name) return value;
  }
  return std::nullopt;
}

inline bool is_text(const std::optional<Value>& value) {
  return value && value->kind() == cdi::Document::Kind::quoted;
}

/// Reads string members into an object. Returns false if one is missing.
template <typename Object, std::size_t count>
bool read_members(const Value& json, Object& out,
                  const std::pair<const char*, std::string Object::*> (&members)[count]) {
  return std::all_of(members, members + count, [&](const auto& entry) {
    const auto found = member(json, entry.first);
    if (!is_text(found)) return false;
    out.*entry.second = found->text();
    return true;
  });
}

inline bool read_phase(const Value& json, Claim::Phase& out) {
  const auto found = member(json, "phase");
  for (const auto& [phase, name] : phase_names) {
    if (!is_text(found) || found->text() != name) continue;
    out = phase;
    return true;
  }
  return false;
}

inline bool read_holds(const Value& json, std::map<std::string, std::string>& out) {
  const auto found = member(json, "holds");
  if (!found || found->kind() != cdi::Document::Kind::map) return false;
  for (const auto [key, value] : found->members()) {
    if (!is_text(value)) return false;
    out[std::string{key.text()}] = value.text();
  }
  return true;
}

inline bool read_devices(const Value& json, std::vector<ClaimedDevice>& out) {
  const auto found = member(json, "devices");
  if (!found) return false;
  for (const auto element : found->items()) {
    ClaimedDevice device;
    if (!read_members(element, device, device_members)) return false;
    if (!cdi::is_device_name(device.name)) return false;
    const auto division = member(element, division_member);
    if (is_text(division)) device.division = division->text();
    const auto by_iommufd = member(element, "by_iommufd");
    device.by_iommufd = by_iommufd && by_iommufd->text() == "true";
    out.push_back(std::move(device));
  }
  return !out.empty();
}

inline bool read_claim(const Value& json, Claim& out) {
  const auto newest_version = member(json, newest_version_member);
  if (is_text(newest_version)) out.newest_version = newest_version->text();
  return read_members(json, out, claim_members) && is_claim_uid(out.uid) &&
         cdi::parse_kind(out.kind) && read_phase(json, out.phase) && read_holds(json, out.holds) &&
         read_devices(json, out.devices);
}

/// The version in a journal; 0 if there is none.
inline int recorded_version(const Value& json) {
  const auto found = member(json, "version");
  if (!found || found->kind() != cdi::Document::Kind::plain) return 0;
  return tools::parse_number<int>(found->text()).value_or(0);
}

}  // namespace claim_json

inline cdi::Error not_a_claim() {
  return {.code = cdi::Errc::schema, .message = "it is damaged, or not the journal of a claim"};
}

/// Reads a claim from the text of `to_json`. `path` is for messages.
inline cdi::Result<Claim> parse_claim(std::string_view text, std::string_view path) {
  const auto json = cdi::parse_json(text, path);
  if (!json) {
    auto error = not_a_claim();
    error.message.append(": ").append(json.error().message);
    error.advice = json.error().advice;
    error.position = json.error().position;
    return error;
  }
  const int version = claim_json::recorded_version(json->root());
  if (version > journal_version) {
    return cdi::Error{.code = cdi::Errc::unsupported,
                      .message = "a newer cdi-prepare wrote it",
                      .advice = "use that version"};
  }
  Claim claim;
  if (version == journal_version && claim_json::read_claim(json->root(), claim)) return claim;
  return not_a_claim();
}

/// The spec directory in a text that `parse_claim` cannot read, because it is damaged or has a
/// newer version; empty if there is none.
inline std::string named_output_dir(std::string_view text) {
  constexpr std::string_view key = "\"output_dir\"";
  const auto at = text.find(key);
  if (at == std::string_view::npos) return {};
  const auto value = tools::trim(text.substr(at + key.size()));
  const auto start = value.find('"');
  if (!value.starts_with(':') || tools::trim(value.substr(1, start - 1)) != "") return {};
  const auto rest = value.substr(start + 1);
  const auto path = rest.substr(0, rest.find('"'));
  const bool is_path = path.starts_with('/') && path.size() < rest.size() &&
                       path.find('\\') == path.npos && path.find("..") == path.npos;
  return is_path ? std::string{path} : std::string{};
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_CLAIMS_CLAIM_JSON_HPP
