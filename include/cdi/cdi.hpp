// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// Everything. Needs nlohmann_json; `<cdi/core.hpp>` does not.

#ifndef CDI_CDI_HPP
#define CDI_CDI_HPP

// IWYU pragma: begin_exports
#include <cdi/cache.hpp>
#include <cdi/core.hpp>
#include <cdi/diagnose.hpp>
#include <cdi/file.hpp>
#include <cdi/json.hpp>
#include <cdi/json_text.hpp>
#include <cdi/oci/json_editor.hpp>
#include <cdi/parse_json.hpp>
#include <cdi/parse_yaml.hpp>
#include <cdi/publish.hpp>
#include <cdi/read_options.hpp>
#include <cdi/replace_file.hpp>
#include <cdi/scan.hpp>
#include <cdi/spec_text.hpp>
#include <cdi/text_file.hpp>
#include <cdi/watch.hpp>
#include <cdi/yaml.hpp>
// IWYU pragma: end_exports

#endif  // CDI_CDI_HPP
