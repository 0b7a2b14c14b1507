// Injects the devices that a new container requests.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "injection.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include <cdi/policy/pattern_set.hpp>

#include "../kit/base/text.hpp"
#include "../kit/names/policy_file.hpp"
#include "adjustment.hpp"

namespace nri {

namespace {

bool has_name(const std::vector<cdi::RequestedDevice>& devices, const std::string& name) {
  return std::any_of(devices.begin(), devices.end(),
                     [&name](const auto& device) { return device.name == name; });
}

/// Removes the devices whose names the runtime reads in the CRI's field, or in the container's own
/// annotations if it reads them. Otherwise their hooks would run twice.
void remove_named(std::vector<cdi::RequestedDevice>& requested, const Container& container,
                  const std::vector<cdi::RequestedDevice>& annotated) {
  std::erase_if(requested, [&](const cdi::RequestedDevice& device) {
    return has_name(annotated, device.name) ||
           std::any_of(container.cdi_devices().begin(), container.cdi_devices().end(),
                       [&device](const auto& given) { return given.name() == device.name; });
  });
}

bool has_hooks(const cdi::ResolvedDevice& found) {
  return !found.device->container_edits.hooks.empty() ||
         !found.spec->spec.container_edits.hooks.empty();
}

/// Removes devices that the container already has. Devices of its own annotations are removed,
/// because the runtime has read them. If the container gets names, devices with hooks are removed,
/// because the runtime would run the hooks again.
void remove_given(std::vector<cdi::RequestedDevice>& requested,
                  const CreateContainerRequest& request, const cdi::Registry& registry,
                  const Surroundings& around) {
  const auto& container = request.container();
  const bool may_repeat = around.gives_names() && container.hooks().ByteSizeLong() > 0;
  const auto is_own = [&request](const cdi::RequestedDevice& one) {
    return !request.pod().annotations().contains(one.key);
  };
  if (!may_repeat && std::none_of(requested.begin(), requested.end(), is_own)) return;
  const auto host = host_of({.host_root = around.settings.host_root});
  std::erase_if(requested, [&](const cdi::RequestedDevice& one) {
    const auto found = registry.find(one.name);
    if (found.device == nullptr) return false;
    return (is_own(one) || (may_repeat && has_hooks(found))) && has_device(container, found, host);
  });
}

/// Fails if the pods of a namespace may not request devices.
cdi::Result<void> check_namespace(const std::string& name, const Settings& settings) {
  const auto& allowed = settings.namespaces;
  const auto covers = [&name](const auto& pattern) {
    return cdi::detail::matches(pattern, name);
  };
  if (allowed.empty() || std::any_of(allowed.begin(), allowed.end(), covers)) return {};
  return cdi::Error{.code = cdi::Errc::denied,
                    .message = "pods of the namespace " + cdi::quoted(name) +
                               " may not request devices by annotation; on this node, pods of " +
                               tools::listed(allowed) + " may"};
}

/// The names of the requested devices, for the runtime's injector.
void give_names(const std::vector<cdi::RequestedDevice>& requested, ContainerAdjustment& out) {
  for (const auto& device : requested) out.add_cdi_devices()->set_name(device.name);
}

/// The spec files of devices, each once.
std::vector<UsedSpec> used_specs(std::span<const cdi::ResolvedDevice> devices) {
  std::vector<UsedSpec> used;
  std::vector<const cdi::LoadedSpec*> seen;
  for (const auto& [spec, device] : devices) {
    if (std::find(seen.begin(), seen.end(), spec) != seen.end()) continue;
    seen.push_back(spec);
    used.push_back({.file = spec->path, .digest = spec->digest});
  }
  return used;
}

/// Names the variables that keep their value because the container has them several times: NRI up
/// to 0.12 changes the first one, but the last one counts. Empty if there are none.
std::string doubt_about_variables(const Container& container,
                                  const ContainerAdjustment& adjustment) {
  std::map<std::string_view, std::size_t> counts;
  for (const auto& entry : container.env())
    ++counts[std::string_view{entry}.substr(0, entry.find('='))];
  std::vector<std::string> names;
  for (const auto& variable : adjustment.env()) {
    const auto found = counts.find(variable.key());
    if (found != counts.end() && found->second > 1) names.push_back(variable.key());
  }
  if (names.empty()) return {};
  return "the container has " + tools::listed(names) +
         " more than once, and its runtime may keep the last value instead of the device's";
}

/// The error for names that do not resolve: at most ten reasons, because pod events are truncated,
/// and a file of the kind if no file defines the device.
cdi::Error unresolved_error(const cdi::Registry& registry,
                            const std::vector<cdi::RequestedDevice>& requested) {
  constexpr std::size_t most = 10;
  std::vector<std::string> names;
  for (const auto& one : registry.unresolved(requested, 0)) names.push_back(one.name);
  const auto more = names.size() - std::min(names.size(), most);
  names.resize(std::min(names.size(), most));
  auto error = registry.resolve_all(names).error();
  if (more > 0) error.message += "; and " + std::to_string(more) + " more";
  if (!error.position.file.empty()) return error;
  const auto kind = names.front().substr(0, names.front().find('='));
  for (const auto& spec : registry.specs()) {
    if (spec->spec.kind == kind) error.position.file = spec->path;
  }
  return error;
}

}  // namespace

bool Surroundings::gives_names() const {
  const bool can = settings.resolve == "auto" && runtime.injects_names;
  return settings.resolve == "never" || (can && settings.policy.empty());
}

cdi::HostWithOptions<> host_of(const Settings& settings) {
  cdi::HostWithOptions<> host;
  host.options.root = settings.host_root;
  if (!settings.policy.empty()) host.options.hook_env = {std::string{cdi::explicit_hook_path}};
  return host;
}

cdi::Result<std::vector<cdi::RequestedDevice>> requested_devices(const PodSandbox& pod,
                                                                 const Container& container,
                                                                 const Surroundings& around) {
  auto requested = pod_requests(pod, container, around.families);
  if (!requested) return requested;
  auto own = container_requests(pod, container);
  // A runtime that resolves our names reads these annotations, too.
  if (!around.runtime.injects_annotations && around.settings.resolve != "never") {
    if (!own) return own;
    for (auto& device : *own) {
      if (!has_name(*requested, device.name)) requested->push_back(std::move(device));
    }
    own = std::vector<cdi::RequestedDevice>{};
  }
  remove_named(*requested, container, own ? *own : std::vector<cdi::RequestedDevice>{});
  return requested;
}

cdi::Result<Injection> inject(const CreateContainerRequest& request,
                              std::vector<cdi::RequestedDevice> requested,
                              const Surroundings& around, ContainerAdjustment& out) {
  Injection injection;
  const auto& settings = around.settings;
  std::shared_ptr<const cdi::Registry> registry;
  if (settings.resolve != "never") {
    registry = around.cache->registry();
    remove_given(requested, request, *registry, around);
  }
  if (requested.empty()) return injection;
  auto allowed = check_namespace(request.pod().namespace_(), settings);
  if (!allowed) return allowed.error();
  for (const auto& device : requested) injection.devices.push_back(device.name);
  if (!registry) {
    give_names(requested, out);
    injection.way = "names";
    return injection;
  }
  const auto devices = registry->resolve_all(requested);
  if (!devices) return unresolved_error(*registry, requested);
  if (!settings.policy.empty()) {
    allowed = tools::check_policy(settings.policy, *devices, requested);
    if (!allowed) return allowed.error();
  }
  injection.specs = used_specs(*devices);
  if (around.gives_names()) {
    give_names(requested, out);
    injection.way = "names";
    return injection;
  }
  injection.way = "edits";
  auto adjustment =
      adjustment_for(request.container(), *devices, around.runtime, host_of(settings));
  if (!adjustment) return adjustment.error();
  out = *std::move(adjustment);
  injection.doubt = doubt_about_variables(request.container(), out);
  return injection;
}

}  // namespace nri
