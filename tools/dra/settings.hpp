// The settings of `cdi-dra serve`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <cdi/minimum_version.hpp>
#include <cdi/name.hpp>
#include <cdi/result.hpp>

#include "../gpu/base/options.hpp"
#include "../gpu/cdi_specs/kept_options.hpp"
#include "../gpu/cdi_specs/version_choice.hpp"
#include "../gpu/host/directories.hpp"
#include "../gpu/slices/limits.hpp"
#include "../gpu/survey/survey.hpp"
#include "../kit/engines/installed_versions.hpp"

namespace dra {

/// The settings of a driver.
struct Settings {
  std::string driver{};
  std::string node{};
  std::string kubelet_dir = "/var/lib/kubelet";
  std::string state_dir{};      // empty: `claims` in the driver's directory of the kubelet
  std::string claims{};         // a folder of ResourceClaims
  std::string kubeconfig{};     // of the API server; empty: of this pod's cluster
  std::string instance{};       // the UID of the pod, for rolling updates
  std::string resource{};       // of the device plugin; empty without one
  double release_after = 60;    // seconds: how long no pod has a device until it is free
  bool only_sockets = false;    // of `status`
  std::string output = "text";  // or "json": of the log, or of what is shown
  prepare::Options host{};      // the GPUs, and the content of specs
};

/// The fault in a name of Kubernetes, which becomes part of paths; empty if it is valid.
inline std::string subdomain_fault(std::string_view text, std::size_t longest) {
  if (prepare::is_dns_subdomain(text, longest)) return {};
  return "must be a DNS name of at most " + std::to_string(longest) + " characters";
}

/// The fault in the name of a driver, which is also the vendor of its CDI devices.
inline std::string driver_fault(const std::string& text) {
  auto fault = subdomain_fault(text, prepare::slice_limits::driver);
  if (fault.empty() && !cdi::parse_kind(text + "/claim")) fault = "must begin with a letter";
  return fault;
}
inline std::string node_fault(const std::string& text) {
  return subdomain_fault(text, prepare::slice_limits::object_name);
}

/// The fault in the UID of a pod; empty if it is valid.
inline std::string instance_fault(const std::string& text) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  const bool good =
      !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), is_good);
  return good ? "" : "must be the UID of a pod: 1 to 64 letters, digits and -";
}

namespace detail {

/// Whether a text is the part after the `/` of a name of Kubernetes.
inline bool is_label_name(std::string_view text) {
  const auto is_alnum = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= 63 && is_alnum(text.front()) && is_alnum(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace detail

/// The fault in the name of a resource of a device plugin; empty if the kubelet accepts it.
inline std::string resource_fault(const std::string& text) {
  const auto slash = text.find('/');
  const auto domain = text.substr(0, slash);
  // Any domain with this ending belongs to Kubernetes itself, even `my-kubernetes.io`.
  const bool is_own = domain.ends_with("kubernetes.io") || domain.starts_with("requests.");
  const bool good = slash != std::string::npos && subdomain_fault(domain, 190).empty() &&
                    detail::is_label_name(text.substr(slash + 1));
  if (good && !is_own) return {};
  return "must be the name of an extended resource, such as nvidia.com/gpu";
}

namespace detail {

/// The absolute path, in the root as its host resolves it.
inline std::string absolute(const prepare::HostOptions& options, const std::string& path) {
  std::error_code failed;
  const auto whole = std::filesystem::absolute(path, failed).lexically_normal();
  auto text = failed ? path : whole.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return prepare::resolved(options, text);
}

}  // namespace detail

/// Makes paths absolute, and sets default paths. Takes the place of the driver from the specs of
/// `cdi-prepare write`, unless an option gives it.
inline void complete(Settings& settings) {
  auto& host = settings.host;
  host.root = detail::absolute({}, host.root);
  if (host.output_dir.empty()) host.output_dir = host.below_root("/var/run/cdi");
  host.output_dir = detail::absolute(host, host.output_dir);
  settings.kubelet_dir = detail::absolute(host, settings.kubelet_dir);
  if (settings.state_dir.empty()) {
    settings.state_dir = settings.kubelet_dir + "/plugins/" + settings.driver + "/claims";
  }
  settings.state_dir = detail::absolute(host, settings.state_dir);
  if (!settings.claims.empty()) settings.claims = detail::absolute({}, settings.claims);
  for (auto& file : host.vendor_files) file = detail::absolute({}, file);
  host = prepare::with_recorded_place(std::move(host));
}

/// Chooses the CDI version of specs once, unless it was given: the newest that the installed
/// engines read, even if devices appear later. Otherwise, engines would be queried again for each
/// claim. Returns warnings.
inline cdi::Result<std::vector<std::string>> choose_spec_version(prepare::Options& options) {
  if (options.max_version) return std::vector<std::string>{};
  const auto survey = prepare::survey_host(options);
  if (!survey) return survey.error();
  tools::EngineVersions versions{prepare::versions_from(options)};
  auto choice = prepare::version_for_engines(survey->tree, options, versions,
                                             "give --max-version, the newest that it reads");
  options.max_version = choice.options.max_version.value_or(cdi::known_versions.back());
  return std::move(choice.warnings);
}

}  // namespace dra
