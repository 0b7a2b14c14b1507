// The main functions: reads, resolves and injects specs. Other features have separate headers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CDI_HPP
#define CDI_CDI_HPP

// IWYU pragma: begin_exports
#include <cdi/apply/host_options.hpp>
#include <cdi/core.hpp>
#include <cdi/dirs/cache.hpp>
#include <cdi/dirs/diagnose.hpp>
#include <cdi/dirs/ignored_specs.hpp>
#include <cdi/dirs/inject_json.hpp>
#include <cdi/dirs/scan.hpp>
#include <cdi/dirs/watch.hpp>
#include <cdi/files/file.hpp>
#include <cdi/files/make_registry.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/files/spec_errors.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/registry/drift.hpp>
#include <cdi/targets/config_json.hpp>
#include <cdi/text/json.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/yaml/parse_yaml.hpp>
#include <cdi/text/yaml/yaml.hpp>
// IWYU pragma: end_exports

#endif  // CDI_CDI_HPP
