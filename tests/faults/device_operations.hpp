// The operations that find and inject devices, and those on policies and plans.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cdi/cdi.hpp>
#include <cdi/plan.hpp>
#include <cdi/policy.hpp>
#include <cdi/requests.hpp>

#include "operation.hpp"
#include "world.hpp"

inline const cdi::HostWithOptions<> drift_fails{.options = {.drift = cdi::HostDrift::fail}};
inline const cdi::HostWithOptions<> all_host_options{
    .options = {.hook_env = {"PATH=/usr/sbin:/usr/bin"}, .resolve_links = true}};
inline const auto policy = *cdi::read_policy(policy_text);

inline const Operation device_operations[] = {
    {"make_registry",
     CDI_CALL(cdi::make_registry({{"v.json", json_spec}, {"w.yaml", yaml_spec, 1}}))},
    {"Registry",
     CDI_CALL(cdi::Registry{w.registry->specs(), w.registry->rejected()})},
    {"Registry::resolve",
     CDI_CALL(w.registry->resolve("v.com/c=d").has_value())},
    {"Registry::resolve_all",
     CDI_CALL(w.registry->resolve_all(wrong_names).error())},
    {"Registry::resolvable",
     CDI_CALL(w.registry->resolvable(device_names).size())},
    {"Registry::unresolved",
     CDI_CALL(w.registry->unresolved(wrong_names))},
    {"Registry::require",
     CDI_CALL(w.registry->require(wrong_names))},
    {"Registry::devices",
     CDI_CALL(w.registry->devices())},
    {"Registry::vendors",
     CDI_CALL(w.registry->vendors())},
    {"Registry::classes",
     CDI_CALL(w.registry->classes())},
    {"Registry::inject, ConfigJson",
     CDI_CALL(w.registry->inject(w.config, device_names))},
    {"Registry::inject, oci::Spec", CDI_CALL(w.registry->inject(w.oci, device_names)),
     in_objects},
    {"Registry::inject, an error with its line",
     CDI_CALL(w.registry->inject(w.config, {"v.com/c=d"}, drift_fails))},
    {"Registry::inject_resolved",
     CDI_CALL(cdi::Registry::inject_resolved(w.config, w.devices()))},
    {"apply",
     CDI_CALL(cdi::apply(w.spec.devices[0].container_edits, w.config))},
    {"ContainerEdits::apply",
     CDI_CALL(w.spec.devices[0].container_edits.apply(w.oci)), in_objects},
    {"resolve_host_links",
     CDI_CALL(cdi::resolve_host_links("/proc/self/exe"))},
    {"HostOptions",
     CDI_CALL(w.registry->inject(w.config, device_names, all_host_options))},
    {"LoadedSpec::locate",
     CDI_CALL(w.loaded().locate("devices[1].containerEdits.env").line)},
    {"LoadedSpec::locate_part", CDI_CALL(w.loaded().locate_part("devices[1]").file)},
    {"ResolvedDevice::position", CDI_CALL(w.devices()[0].position().file)},
    {"advice", CDI_CALL(advice(w.registry->unresolved(wrong_names)[0]))},
    {"missing_parts", CDI_CALL(cdi::missing_parts<cdi::oci::Spec>())},
    {"read_policy",
     CDI_CALL(cdi::read_policy(policy_text))},
    {"validate_policy",
     CDI_CALL(cdi::validate_policy(policy))},
    {"decide, require_allowed, write_decisions",
     [](W w) {
       const auto decisions = cdi::decide(policy, w.devices(), cdi::RequestOrigin::field);
       return cdi::write_decisions(decisions) + shown(cdi::require_allowed(decisions));
     }},
    {"plan",
     CDI_CALL(cdi::plan(*w.registry, device_names))},
    {"plan_resolved",
     CDI_CALL(cdi::plan_resolved(w.devices()))},
    {"inject_recorded",
     CDI_CALL(cdi::inject_recorded(w.config, w.devices())), in_files},
    {"Plan::edits", CDI_CALL(plan_of_both.edits())},
    {"to_string, an origin", CDI_CALL(to_string(plan_of_both.devices[0]))},
    {"Plan::apply",
     CDI_CALL(plan_of_both.apply(w.config))},
    {"find_origin",
     CDI_CALL(cdi::find_origin(plan_of_both, {.part = "mounts", .key = "/opt/the/driver/lib"}))},
};
