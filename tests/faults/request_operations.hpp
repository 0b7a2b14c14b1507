// The operations on requests, hooks and versions.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>

#include <cdi/cdi.hpp>
#include <cdi/nlohmann.hpp>
#include <cdi/nvidia.hpp>
#include <cdi/requests.hpp>
#include <cdi/sandbox.hpp>
#include <cdi/versions.hpp>

#include "operation.hpp"
#include "world.hpp"

inline const auto json_config = nlohmann::ordered_json::parse(config_text);
inline const cdi::RequestOptions with_variable{.variable = cdi::visible_devices_variable};

inline const Operation request_operations[] = {
    {"annotation_key", CDI_CALL(cdi::annotation_key("plugin", "a/device-number-1"))},
    {"annotation_value", CDI_CALL(cdi::annotation_value(device_names))},
    {"update_annotations",
     CDI_CALL(cdi::update_annotations(w.annotations, "plugin", "number-1", device_names))},
    {"parse_annotations", CDI_CALL(cdi::parse_annotations(w.annotations))},
    {"parse_selector", CDI_CALL(cdi::parse_selector("v.com/c=1, 2 : w.com/c=all"))},
    {"Requests::add_field",
     [](W w) {
       return w.requests.add_field(device_names), shown(w.requests.devices());
     }},
    {"Requests::add_annotations", CDI_CALL(w.requests.add_annotations(w.annotations))},
    {"Requests::add_variable", CDI_CALL(w.requests.add_variable("A_VARIABLE", "v.com/c=1, 2"))},
    {"gather_requests", CDI_CALL(cdi::gather_requests(w.config, with_variable))},
    {"gather_requests, nlohmann", CDI_CALL(cdi::gather_requests(json_config, with_variable))},
    {"inject_requested",
     [](W w) {
       cdi::Cache cache{{w.specs()}};
       return shown(cdi::inject_requested(cache, w.config, {.requests = with_variable}));
     }},
    {"command_of, classify_hook",
     [](W w) {
       const auto& hook = w.spec.devices[0].container_edits.hooks[0];
       return shown(hook_class_name(cdi::classify_hook(cdi::command_of(hook))));
     }},
    {"without_hooks",
     CDI_CALL(without_hooks(plan_of_both,
                            {.image_root = w.dir / "image", .state_dir = w.dir / "state"})),
     in_files},
    {"unused_generated", CDI_CALL(cdi::unused_generated(w.dir / "state", std::chrono::seconds{0}))},
    {"remove_generated", CDI_CALL(cdi::remove_generated(w.dir / "state", std::chrono::seconds{0}))},
    {"to_version", CDI_CALL(cdi::to_version(w.spec, {0, 5, 0}, cdi::Losses::allow))},
    {"to_error, to_string",
     CDI_CALL(to_string(to_error(cdi::Loss{"a.path.to.a.member", "what is lost", "a breakage"})))},
    {"unsupported_edits",
     CDI_CALL(cdi::unsupported_edits(w.devices(), {.oci_version_max = "1.0.0"}))},
};
