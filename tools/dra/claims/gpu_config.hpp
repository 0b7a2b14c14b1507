// The opaque parameters of claims and device classes for GPUs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cdi/model/fields.hpp>
#include <cdi/result.hpp>
#include <cdi/text/json.hpp>
#include <cdi/text/write.hpp>

#include "../../kit/cdi_specs/recorded_options.hpp"
#include "resource_claim.hpp"

//     {"apiVersion": "cdi-dra.local/v1", "kind": "GpuConfig", "profile": "compute"}

namespace dra {

inline constexpr std::string_view gpu_config_version = "cdi-dra.local/v1";
inline constexpr std::string_view gpu_config_kind = "GpuConfig";

/// The options that the journal records for a claim.
using ClaimOptions = std::map<std::string, std::string>;

/// The settings in a `GpuConfig`; omitted settings are absent. They have the names and values of
/// the options of `cdi-prepare prepare`.
struct GpuConfig {
  std::string version{};
  std::string kind{};
  std::optional<std::string> profile{};
  std::optional<std::string> hooks{};
  std::optional<bool> ld_library_path{};

  static constexpr void fields(auto& list) {
    list("apiVersion", &GpuConfig::version, cdi::required);
    list("kind", &GpuConfig::kind, cdi::required);
    list("profile", &GpuConfig::profile);
    list("hooks", &GpuConfig::hooks);
    list("ldLibraryPath", &GpuConfig::ld_library_path);
  }

  /// Changes the options of a claim by the settings.
  void apply(ClaimOptions& options) const {
    if (profile) options["profile"] = *profile;
    if (hooks) options["hooks"] = *hooks;
    if (ld_library_path) options["ld_library_path"] = *ld_library_path ? "yes" : "no";
  }
};

namespace detail {

/// Rejects an optional text that is not one of the given values.
template <class Values>
cdi::Result<void> check_choice(const std::optional<std::string>& text, const char* key,
                               const Values& values) {
  if (!text || std::find(values.begin(), values.end(), *text) != values.end()) return {};
  return cdi::Error{.code = cdi::Errc::schema,
                    .message = fmt::format("must be one of {}", fmt::join(values, ", ")),
                    .where = key};
}

inline cdi::Result<void> check(const GpuConfig& config) {
  if (config.version != gpu_config_version || config.kind != gpu_config_kind) {
    return cdi::Error{.code = cdi::Errc::schema,
                      .message = "must be a GpuConfig of cdi-dra.local/v1"};
  }
  if (auto good = check_choice(config.profile, "profile", tools::profile_names); !good) return good;
  return check_choice(config.hooks, "hooks", std::array<std::string_view, 2>{"none", "nvidia"});
}

}  // namespace detail

/// Reads parameters strictly: `Errc::schema` for another kind or version, an unknown member or a
/// wrong value. The error names the member in the claim.
inline cdi::Result<GpuConfig> parse_gpu_config(const DeviceParameters& parameters) {
  cdi::JsonTextSink sink{-1};
  cdi::write(parameters.value, sink);
  auto config = cdi::read_json<GpuConfig>(std::move(sink).take());
  auto good = config ? detail::check(*config) : config.error();
  if (good) return config;
  good.error().position = {};  // the position in the parameters, not in the claim
  return std::move(good).error().under(parameters.path);
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
inline cdi::Result<ClaimOptions> options_for(const ResourceClaim& claim,
                                             const ClaimOptions& defaults) {
  std::vector<GpuConfig> configs;
  for (const auto& parameters : claim.config) {
    auto config = parse_gpu_config(parameters);
    if (!config) return std::move(config).error();
    configs.push_back(*std::move(config));
  }
  std::optional<ClaimOptions> out;
  for (const auto& device : claim.devices) {
    auto own = defaults;
    for (std::size_t i = 0; i < configs.size(); ++i) {
      if (covers(claim.config[i], device.request)) configs[i].apply(own);
    }
    if (out && *out != own) {
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
