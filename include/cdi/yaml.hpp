// Converts models from and to YAML text.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_YAML_HPP
#define CDI_YAML_HPP

#include <cdi/text/yaml/parse_yaml.hpp>  // IWYU pragma: export
#include <cdi/text/yaml/yaml.hpp>        // IWYU pragma: export

#endif  // CDI_YAML_HPP
