// `parse_yaml`: YAML text to a `Document`.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PARSE_YAML_HPP
#define CDI_PARSE_YAML_HPP

#include <cdi/text/parse_yaml.hpp>  // IWYU pragma: export

#endif  // CDI_PARSE_YAML_HPP
