// `gather_requests` and `inject_requested`: the devices that an OCI config requests.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REQUESTS_CONFIG_REQUESTS_HPP
#define CDI_REQUESTS_CONFIG_REQUESTS_HPP

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/apply/apply.hpp>
#include <cdi/apply/host.hpp>
#include <cdi/base/result.hpp>
#include <cdi/dirs/cache.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/requests/annotations.hpp>
#include <cdi/requests/requests.hpp>
#include <cdi/text/member_case.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

struct ConfigJson;

/// Where `gather_requests` finds requests.
struct RequestOptions {
  RequestRules rules = RequestRules::each_once;  ///< how repeated names are handled
  std::span<const std::string> field{};          ///< the names of the CRI field; not copied
  std::string_view prefix = annotation_prefix;   ///< the prefix of CDI annotation keys
  /// An environment variable of the process, such as `visible_devices_variable`; may be empty.
  std::string_view variable{};
};

namespace detail {

/// Adds the devices of `NAME=value` if this is the variable `name`; otherwise returns false.
inline bool add_if_variable(std::string_view text, std::string_view name, Requests& requests,
                            Result<void>& done) {
  if (name.empty() || !text.starts_with(name) || !text.substr(name.size()).starts_with('=')) {
    return false;
  }
  done = requests.add_variable(name, text.substr(name.size() + 1));
  return true;
}

/// Returns a member of an `nlohmann::json` object, or null when the member is absent.
template <class Json>
Result<const Json*> member_of_json(const Json* object, const char* key,
                                   std::string_view outer = {}) {
  if (object == nullptr || !object->is_object()) return nullptr;
  for (auto at = object->begin(); at != object->end(); ++at) {
    if (is_in_other_case(at.key(), key)) return detail::wrong_case(at.key(), key, outer);
  }
  const auto found = object->find(key);
  return found == object->end() ? nullptr : &*found;
}

/// Adds the requests of an `nlohmann::json` object.
template <class Json>
Result<void> add_requests_of_json(const Json& config, const RequestOptions& options,
                                  Requests& requests) {
  const auto annotations = detail::member_of_json(&config, "annotations");
  if (!annotations) return annotations.error();
  Result<void> done;
  if (*annotations != nullptr) done = requests.add_annotations(**annotations, options.prefix);
  if (!done) return done;
  const auto process = detail::member_of_json(&config, "process");
  if (!process) return process.error();
  const auto env = detail::member_of_json(*process, "env", "process");
  if (!env) return env.error();
  if (*env == nullptr || !(*env)->is_array()) return done;
  for (const auto& text : **env) {
    const auto variable = detail::text_or_null(text);
    if (add_if_variable(variable, options.variable, requests, done)) break;
  }
  return done;
}

/// Adds the requests of a model such as `oci::Spec`, or of an `nlohmann::json` object.
template <class Config>
Result<void> add_requests_of(const Config& config, const RequestOptions& options,
                             Requests& requests) {
  if constexpr (requires { config.is_object(); }) {
    return detail::add_requests_of_json(config, options, requests);
  } else {
    auto done = requests.add_annotations(config.annotations, options.prefix);
    if (!done || !config.process) return done;
    for (const auto& text : config.process->env) {
      if (add_if_variable(text, options.variable, requests, done)) break;
    }
    return done;
  }
}
/// Overload for the text of a `config.json`, which is parsed.
Result<void> add_requests_of(const ConfigJson& config, const RequestOptions& options,
                             Requests& requests);

}  // namespace detail

/// Returns the devices that an OCI config requests: first from the CRI field, then from the
/// annotations, then from the environment variable of the process with the given name: the first of
/// several, as in the agent of Kata. The config is an `oci::Spec`, an `nlohmann::json` object or a
/// `ConfigJson`.
///
/// Fails with the errors of `Requests`, and with `Errc::schema` for JSON that writes `annotations`,
/// `process` or `env` in another case, which only some runtimes read. For a `ConfigJson`, also
/// fails with the errors of `parse_json`, and all errors have a line and a column.
template <class Config>
Result<std::vector<RequestedDevice>> gather_requests(const Config& config,
                                                     const RequestOptions& options = {}) {
  Requests requests{options.rules};
  requests.add_field(options.field);
  auto done = detail::add_requests_of(config, options, requests);
  if (!done) return std::move(done).error();
  return std::move(requests).devices();
}

/// What `inject_requested` injects, and how long it waits.
struct InjectRequestedOptions {
  RequestOptions requests{};  ///< where to look for requests
  /// When to stop waiting for devices that do not exist yet; without a deadline, no wait.
  std::optional<std::chrono::steady_clock::time_point> deadline{};
  WaitOptions wait{};    ///< what ends the wait before the deadline
  ApplyOptions apply{};  ///< how the edits are applied
};

/// Injects the devices that an OCI config requests, all or none, as a guest's agent or a runtime
/// wrapper does, and waits until all devices exist or the deadline passes. Returns the injected
/// devices. A config without requests stays unchanged and causes no wait.
///
/// An error leaves the config unchanged. Fails with the errors of `gather_requests`,
/// `Registry::inject` and, with a deadline, `Cache::wait_for`.
///
/// `Cache::inject` injects names that the program already knows. This function takes the names from
/// the config, and injects from the registry that the wait returns. As a member of `Cache`, it
/// would make every program with a cache take 7 % longer to compile.
template <class OciSpec, HostLookup Host = SystemHost>
Result<std::vector<RequestedDevice>> inject_requested(Cache& cache, OciSpec& config,
                                                      const InjectRequestedOptions& options = {},
                                                      const Host& host = {}) {
  auto requested = cdi::gather_requests(config, options.requests);
  if (!requested || requested->empty()) return requested;
  std::shared_ptr<const Registry> registry;
  if (options.deadline) {
    auto found = cache.wait_for(*requested, *options.deadline, options.wait);
    if (!found) return std::move(found).error();
    registry = *std::move(found);
  } else {
    registry = cache.registry();
  }
  auto done = registry->inject(config, *requested, host, options.apply);
  if (!done) return std::move(done).error();
  return requested;
}

}  // namespace cdi

#if CDI_BODIES
#include <cdi/requests/config_requests.inl>
#endif

#endif  // CDI_REQUESTS_CONFIG_REQUESTS_HPP
