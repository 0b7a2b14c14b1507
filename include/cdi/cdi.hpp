// Everything that most programs need: docs/headers.md has the list. Needs nlohmann_json.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_CDI_HPP
#define CDI_CDI_HPP

// IWYU pragma: begin_exports
#include <cdi/core.hpp>
#include <cdi/dirs/cache.hpp>
#include <cdi/dirs/diagnose.hpp>
#include <cdi/dirs/ignored_specs.hpp>
#include <cdi/dirs/inject_once.hpp>
#include <cdi/dirs/inject_requested.hpp>
#include <cdi/dirs/publish.hpp>
#include <cdi/dirs/scan.hpp>
#include <cdi/dirs/watch.hpp>
#include <cdi/files/file.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/files/registry_of_texts.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/rules/engine_support.hpp>
#include <cdi/rules/requests.hpp>
#include <cdi/rules/selector.hpp>
#include <cdi/targets/config_json.hpp>
#include <cdi/targets/config_requests.hpp>
#include <cdi/targets/json_editor.hpp>
#include <cdi/text/json.hpp>
#include <cdi/text/json_text.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/parse_yaml.hpp>
#include <cdi/text/yaml.hpp>
// IWYU pragma: end_exports

#endif  // CDI_CDI_HPP
