// The bodies of <cdi/claims/claim_json.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CLAIMS_CLAIM_JSON_INL
#define CDI_CLAIMS_CLAIM_JSON_INL

#include <algorithm>
#include <utility>

#include <cdi/claims/claim_json.hpp>
#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/json.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/read.hpp>

namespace cdi::inline CDI_ABI::detail::claim_text {

/// The version of the format.
inline constexpr int version = 1;

/// The names of `Claim::Phase`, in order.
inline constexpr std::string_view phases[] = {"preparing", "prepared", "removing"};

/// The file of a claim.
struct File : Claim {
  int version = 0;
  std::string phase_name{};

  static constexpr void fields(auto& list) {
    list("version", &File::version, required);
    list("uid", &Claim::uid, required);
    list("namespace", &Claim::name_space);
    list("name", &Claim::name);
    list("phase", &File::phase_name, required);
    list("kind", &Claim::kind, required);
    list("boot_id", &Claim::boot_id);
    list("newest_version", &Claim::newest_version);
    list("spec_dir", &Claim::spec_dir);
    list("options", &Claim::options);
    list("devices", &Claim::devices, required);
  }
};

/// A file of any version.
struct AnyFile {
  int version = 0;
  ExtraOf<Owning> extra = no_items;

  static constexpr void fields(auto& list) { list("version", &AnyFile::version, required); }
};

}  // namespace cdi::detail::claim_text

namespace cdi::inline CDI_ABI {

namespace detail {

CDI_INLINE Error not_a_claim() {
  return {.code = Errc::schema, .message = "it is damaged, or not the journal of a claim"};
}

CDI_INLINE std::string named_spec_dir(std::string_view text) {
  constexpr std::string_view key = "\"spec_dir\":";
  const auto at = text.find(key);
  if (at == text.npos) return {};
  auto rest = text.substr(at + key.size());
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  if (!rest.starts_with("\"/")) return {};
  rest.remove_prefix(1);
  const auto path = rest.substr(0, rest.find('"'));
  const bool is_path =
      path.size() < rest.size() && path.find('\\') == path.npos && path.find("..") == path.npos;
  return is_path ? std::string{path} : std::string{};
}

inline Error invalid_claim(std::string message, std::string advice) {
  return {.code = Errc::invalid, .message = std::move(message), .advice = std::move(advice)};
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
    if (is_device_name(device.name)) continue;
    return invalid_claim("device " + cdi::quoted(device.name) + ": CDI does not allow this name",
                         "use letters, digits and _-.:, with a letter or digit at both ends; what "
                         "else identifies the device belongs into its identity");
  }
  return {};
}

}  // namespace detail

CDI_INLINE Result<std::string> claim_to_json(const Claim& claim) {
  if (auto good = detail::check_claim(claim); !good) return std::move(good).error();
  detail::claim_text::File file{claim};
  file.version = detail::claim_text::version;
  file.phase_name = detail::claim_text::phases[static_cast<std::size_t>(claim.phase)];
  auto text = write_json(file);
  if (!text) return text;
  *text += '\n';
  if (text->size() <= detail::claim_size_limit) return text;
  return Error{.code = Errc::limit,
               .message = "claim " + claim.uid + ": its file takes " +
                          std::to_string(text->size()) + " bytes, but readers accept at most " +
                          std::to_string(detail::claim_size_limit),
               .advice = "split it into several claims"};
}

CDI_INLINE Result<Claim> parse_claim(std::string_view text, std::string_view path) {
  namespace format = detail::claim_text;
  const auto json = parse_json(text, path);
  if (!json) return json.error();
  const auto any = cdi::read<format::AnyFile>(*json);
  if (any && any->version > format::version) {
    return Error{.code = Errc::unsupported,
                 .message = "a newer version of this program wrote it",
                 .advice = "use that version"};
  }
  auto file = cdi::read<format::File>(*json);
  if (!file) return std::move(file).error();
  const auto* const phase =
      std::find(std::begin(format::phases), std::end(format::phases), file->phase_name);
  if (file->version != format::version || phase == std::end(format::phases)) {
    return detail::not_a_claim();
  }
  file->phase = static_cast<Claim::Phase>(phase - std::begin(format::phases));
  if (auto good = detail::check_claim(*file); !good) {
    good.error().code = Errc::schema;
    return std::move(good).error();
  }
  return Claim{std::move(*file)};
}

}  // namespace cdi

#endif  // CDI_CLAIMS_CLAIM_JSON_INL
