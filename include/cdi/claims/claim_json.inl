// The bodies of <cdi/claims/claim_json.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CLAIMS_CLAIM_JSON_INL
#define CDI_CLAIMS_CLAIM_JSON_INL

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/claims/claim.hpp>
#include <cdi/claims/claim_json.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/json.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail::claim_text {

/// The version of the format. Members that were added since are optional, so that it is still 1.
inline constexpr int version = 1;

inline constexpr std::pair<Claim::Phase, std::string_view> phases[] = {
    {Claim::Phase::preparing, "preparing"},
    {Claim::Phase::prepared, "prepared"},
    {Claim::Phase::removing, "removing"}};

template <class Object>
struct TextMember {
  const char* key;
  std::string Object::*member;
  bool is_needed;
};

inline constexpr TextMember<Claim> claim_members[] = {
    {"uid", &Claim::uid, true},         {"namespace", &Claim::name_space, true},
    {"name", &Claim::name, true},       {"kind", &Claim::kind, true},
    {"boot_id", &Claim::boot_id, true}, {"newest_release", &Claim::newest_version, false}};

inline constexpr TextMember<ClaimedDevice> device_members[] = {
    {"request", &ClaimedDevice::request, true},
    {"asked", &ClaimedDevice::requested, true},
    {"name", &ClaimedDevice::name, true},
    {"share_id", &ClaimedDevice::share_id, false}};

inline constexpr const char* admin_access_key = "admin_access";

inline bool is_reserved(std::string_view key) {
  return key == admin_access_key ||
         std::any_of(std::begin(device_members), std::end(device_members),
                     [&](const auto& entry) { return key == entry.key; });
}

template <class Object, std::size_t count>
void write_texts(JsonTextSink& sink, const Object& object,
                 const TextMember<Object> (&members)[count]) {
  for (const auto& entry : members) {
    if (!entry.is_needed && (object.*entry.member).empty()) continue;
    sink.key(entry.key);
    sink.text(object.*entry.member);
  }
}

template <class Map>
void write_map(JsonTextSink& sink, const Map& map) {
  for (const auto& [key, value] : map) {
    sink.key(key);
    sink.text(value);
  }
}

inline void write_device(JsonTextSink& sink, const ClaimedDevice& device) {
  sink.begin_map();
  write_texts(sink, device, device_members);
  if (device.admin_access) {
    sink.key(admin_access_key);
    sink.boolean(true);
  }
  write_map(sink, device.identity);
  sink.end_map();
}

inline void write_claim(JsonTextSink& sink, const Claim& claim) {
  sink.begin_map();
  sink.key("version");
  sink.integer(version);
  write_texts(sink, claim, claim_members);
  for (const auto& [phase, name] : phases) {
    if (phase != claim.phase) continue;
    sink.key("phase");
    sink.text(name);
  }
  sink.key("holds");
  sink.begin_map();
  write_map(sink, claim.options);
  sink.end_map();
  sink.key("devices");
  sink.begin_list();
  for (const auto& device : claim.devices) write_device(sink, device);
  sink.end_list();
  sink.end_map();
}

using Value = Document::Value;

/// A member of an object; nullopt if it is missing.
inline std::optional<Value> member(const Value& object, std::string_view name) {
  for (const auto [key, value] : object.members()) {
    if (key.text() == name) return value;
  }
  return std::nullopt;
}

inline bool is_text(const std::optional<Value>& value) {
  return value && value->kind() == Document::Kind::quoted;
}

/// Reads texts into an object. Returns false if one that is needed is missing.
template <class Object, std::size_t count>
bool read_texts(const Value& json, Object& out, const TextMember<Object> (&members)[count]) {
  return std::all_of(members, members + count, [&](const auto& entry) {
    const auto found = member(json, entry.key);
    if (is_text(found)) out.*entry.member = found->text();
    return is_text(found) || !entry.is_needed;
  });
}

inline bool read_phase(const Value& json, Claim::Phase& out) {
  const auto found = member(json, "phase");
  for (const auto& [phase, name] : phases) {
    if (!is_text(found) || found->text() != name) continue;
    out = phase;
    return true;
  }
  return false;
}

inline bool read_options(const Value& json, std::map<std::string, std::string>& out) {
  const auto found = member(json, "holds");
  if (!found || found->kind() != Document::Kind::map) return false;
  for (const auto [key, value] : found->members()) {
    if (value.kind() != Document::Kind::quoted) return false;
    out[std::string{key.text()}] = value.text();
  }
  return true;
}

inline bool read_device(const Value& json, ClaimedDevice& out) {
  if (!read_texts(json, out, device_members)) return false;
  for (const auto [key, value] : json.members()) {
    const bool is_scalar =
        value.kind() == Document::Kind::quoted || value.kind() == Document::Kind::plain;
    if (key.text() == admin_access_key) {
      out.admin_access = is_scalar && value.text() == "true";
    } else if (is_scalar && !is_reserved(key.text())) {
      out.identity[std::string{key.text()}] = value.text();
    }
  }
  return is_device_name(out.name);
}

inline bool read_devices(const Value& json, std::vector<ClaimedDevice>& out) {
  const auto found = member(json, "devices");
  if (!found || found->kind() != Document::Kind::list) return false;
  for (const auto item : found->items()) {
    ClaimedDevice device;
    if (item.kind() != Document::Kind::map || !read_device(item, device)) return false;
    out.push_back(std::move(device));
  }
  return !out.empty();
}

inline bool read_claim(const Value& json, Claim& out) {
  return read_texts(json, out, claim_members) && is_claim_uid(out.uid) && parse_kind(out.kind) &&
         read_phase(json, out.phase) && read_options(json, out.options) &&
         read_devices(json, out.devices);
}

/// The version of a text; 0 if there is none.
inline int recorded_version(const Value& json) {
  if (json.kind() != Document::Kind::map) return 0;
  const auto found = member(json, "version");
  if (!found || found->kind() != Document::Kind::plain) return 0;
  const auto text = found->text();
  int out = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size() ? out : 0;
}

/// A text without blanks at both ends.
inline std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto begin = std::min(text.find_first_not_of(blanks), text.size());
  const auto end = text.find_last_not_of(blanks);
  return end == std::string_view::npos ? "" : text.substr(begin, end + 1 - begin);
}

}  // namespace cdi::detail::claim_text

namespace cdi::inline CDI_ABI {

namespace detail {

CDI_INLINE Error not_a_claim() {
  return {.code = Errc::schema, .message = "it is damaged, or not the journal of a claim"};
}

CDI_INLINE std::string named_spec_dir(std::string_view text) {
  const auto key = std::string{"\""} + spec_dir_option + "\"";
  const auto at = text.find(key);
  if (at == std::string_view::npos) return {};
  const auto value = claim_text::without_blanks(text.substr(at + key.size()));
  const auto start = value.find('"');
  if (start == std::string_view::npos || !value.starts_with(':')) return {};
  if (!claim_text::without_blanks(value.substr(1, start - 1)).empty()) return {};
  const auto rest = value.substr(start + 1);
  const auto path = rest.substr(0, rest.find('"'));
  const bool is_path = path.starts_with('/') && path.size() < rest.size() &&
                       path.find('\\') == path.npos && path.find("..") == path.npos;
  return is_path ? std::string{path} : std::string{};
}

inline Error invalid_claim(std::string message, std::string advice) {
  return {.code = Errc::invalid, .message = std::move(message), .advice = std::move(advice)};
}

inline Result<void> check_device(const ClaimedDevice& device) {
  if (!is_device_name(device.name)) {
    return invalid_claim("device " + cdi::quoted(device.name) + ": CDI does not allow this name",
                         "use letters, digits and _-.:, with a letter or digit at both ends; what "
                         "else identifies the device belongs into its identity");
  }
  for (const auto& [key, value] : device.identity) {
    if (!claim_text::is_reserved(key)) continue;
    return invalid_claim("device " + device.name + ": the identity has the key " +
                             cdi::quoted(key) + ", which the journal needs",
                         "use another key");
  }
  return {};
}

CDI_INLINE Result<void> check_claim(const Claim& claim) {
  if (!is_claim_uid(claim.uid)) {
    return invalid_claim(cdi::quoted(claim.uid) + " is not the UID of a claim",
                         "use 1 to 56 letters, digits and -, as Kubernetes does");
  }
  if (!parse_kind(claim.kind)) {
    return invalid_claim(
        "claim " + claim.uid + ": " + cdi::quoted(claim.kind) + " is not a kind of devices",
        "use a kind such as vendor.com/claim");
  }
  if (claim.devices.empty()) {
    return invalid_claim("claim " + claim.uid + " has no device", "give at least one");
  }
  for (const auto& device : claim.devices) {
    if (auto good = check_device(device); !good) return good;
  }
  return {};
}

}  // namespace detail

CDI_INLINE Result<std::string> claim_to_json(const Claim& claim) {
  if (auto good = detail::check_claim(claim); !good) return std::move(good).error();
  JsonTextSink sink;
  detail::claim_text::write_claim(sink, claim);
  if (!sink.good()) return sink.good().error();
  auto text = std::move(sink).take() + "\n";
  if (text.size() <= detail::claim_size_limit) return text;
  return Error{.code = Errc::limit,
               .message = "claim " + claim.uid + ": its file takes " + std::to_string(text.size()) +
                          " bytes, but readers accept at most " +
                          std::to_string(detail::claim_size_limit),
               .advice = "split it into several claims"};
}

CDI_INLINE Result<Claim> parse_claim(std::string_view text, std::string_view path) {
  const auto json = parse_json(text, path);
  if (!json) {
    auto error = detail::not_a_claim();
    error.message.append(": ").append(json.error().message);
    error.advice = json.error().advice;
    error.position = json.error().position;
    return error;
  }
  const int recorded = detail::claim_text::recorded_version(json->root());
  if (recorded > detail::claim_text::version) {
    return Error{.code = Errc::unsupported,
                 .message = "a newer version of this program wrote it",
                 .advice = "use that version"};
  }
  Claim claim;
  if (recorded == detail::claim_text::version &&
      detail::claim_text::read_claim(json->root(), claim))
    return claim;
  return detail::not_a_claim();
}

}  // namespace cdi

#endif  // CDI_CLAIMS_CLAIM_JSON_INL
