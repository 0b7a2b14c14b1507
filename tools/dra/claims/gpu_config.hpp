// The opaque parameters of claims and device classes for GPUs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_CLAIMS_GPU_CONFIG_HPP
#define CDI_TOOLS_DRA_CLAIMS_GPU_CONFIG_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/result.hpp>
#include <cdi/text/parse_json.hpp>

#include "../../gpu/base/options.hpp"
#include "../../kit/cdi_specs/recorded_options.hpp"
#include "json_object.hpp"
#include "resource_claim.hpp"

//     {"apiVersion": "cdi-dra.local/v1", "kind": "GpuConfig", "profile": "compute"}

namespace dra {

inline constexpr std::string_view gpu_config_version = "cdi-dra.local/v1";
inline constexpr std::string_view gpu_config_kind = "GpuConfig";

/// The settings in a `GpuConfig`; those that it leaves out are absent. They have the names and
/// values of the options of `cdi-prepare prepare`.
struct GpuConfig {
  std::optional<std::string> profile{};
  std::optional<std::string> hooks{};
  std::optional<bool> ld_library_path{};

  /// Changes options by the settings.
  void apply(prepare::Options& options) const {
    if (profile) options.profile = *profile;
    if (hooks) options.hooks = *hooks;
    if (ld_library_path) options.ld_library_path = *ld_library_path;
  }
};

namespace detail {

/// The text of an optional member that has one of some values.
template <class Values>
std::optional<std::string> choice_in(const JsonObject& object, std::string_view key,
                                     const Values& values) {
  const auto member = object.find(key);
  if (!member) return std::nullopt;
  auto text = member.as_text();
  if (std::find(values.begin(), values.end(), text) != values.end()) return text;
  std::string list;
  for (const auto value : values) list.append(list.empty() ? "" : ", ").append(value);
  member.reject("must be one of " + list);
  return std::nullopt;
}

}  // namespace detail

/// Reads parameters strictly: `Errc::schema` for another kind or version, an unknown member or a
/// wrong value. The error names the member in the claim.
inline cdi::Result<GpuConfig> parse_gpu_config(const DeviceParameters& parameters) {
  const auto document = cdi::parse_json(parameters.json);
  if (!document) return cdi::Error{document.error()}.under(parameters.path);
  std::optional<cdi::Error> error;
  const JsonObject object{document->root(), parameters.path, error};
  const auto version = object.required_text("apiVersion");
  const auto kind = object.required_text("kind");
  if (version != gpu_config_version || kind != gpu_config_kind) {
    object.reject("must be a GpuConfig of cdi-dra.local/v1");
  }
  object.allow({"apiVersion", "kind", "profile", "hooks", "ldLibraryPath"});
  constexpr std::array<std::string_view, 2> hooks{"none", "nvidia"};
  GpuConfig out{.profile = detail::choice_in(object, "profile", tools::profile_names),
                .hooks = detail::choice_in(object, "hooks", hooks)};
  if (object.find("ldLibraryPath")) out.ld_library_path = object.flag("ldLibraryPath");
  if (!error) return out;
  error->position = {};  // it is that in the parameters, not in the claim
  return *std::move(error);
}

/// Whether parameters are for a request of an allocated device: those for "gpu" are also for
/// "gpu/large".
inline bool covers(const DeviceParameters& parameters, const std::string& request) {
  const auto base = request.substr(0, request.find('/'));
  const auto& requests = parameters.requests;
  return requests.empty() || std::any_of(requests.begin(), requests.end(), [&](const auto& one) {
           return one == request || one == base;
         });
}

/// The options for a claim: `defaults`, changed by its parameters. All its devices have the same
/// options; `Errc::unsupported` if the parameters of its requests differ.
inline cdi::Result<prepare::Options> options_for(const ResourceClaim& claim,
                                                 const prepare::Options& defaults) {
  std::vector<GpuConfig> configs;
  for (const auto& parameters : claim.config) {
    auto config = parse_gpu_config(parameters);
    if (!config) return std::move(config).error();
    configs.push_back(*std::move(config));
  }
  const auto same = [](const prepare::Options& a, const prepare::Options& b) {
    return a.profile == b.profile && a.hooks == b.hooks && a.ld_library_path == b.ld_library_path;
  };
  std::optional<prepare::Options> out;
  for (const auto& device : claim.devices) {
    auto own = defaults;
    for (std::size_t i = 0; i < configs.size(); ++i) {
      if (covers(claim.config[i], device.request)) configs[i].apply(own);
    }
    if (out && !same(*out, own)) {
      return cdi::Error{.code = cdi::Errc::unsupported,
                        .message = "the parameters of the requests " +
                                   cdi::quoted(claim.devices.front().request) + " and " +
                                   cdi::quoted(device.request) + " differ",
                        .advice = "use a claim for each"};
    }
    out = std::move(own);
  }
  return out ? *std::move(out) : defaults;
}

}  // namespace dra

#endif  // CDI_TOOLS_DRA_CLAIMS_GPU_CONFIG_HPP
