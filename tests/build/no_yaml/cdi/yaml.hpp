// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// In place of include/cdi/yaml.hpp where there is no yaml-cpp to link: no text is YAML.

#ifndef CDI_YAML_HPP
#define CDI_YAML_HPP

#include <string>
#include <string_view>
#include <utility>

#include <cdi/document.hpp>
#include <cdi/fields.hpp>
#include <cdi/result.hpp>

namespace cdi::inline CDI_ABI {

inline Result<Document> parse_yaml(std::string_view, std::string_view file = {},
                                   const Limits& limits = {}) {
  DocumentBuilder builder{file, limits, /*merge_keys=*/true};
  builder.refuse(Errc::syntax, "this build reads no YAML", 1, 1);
  return std::move(builder).finish();
}

template <Described T>
Result<std::string> write_yaml(const T&) {
  return Error{.code = Errc::syntax, .message = "this build writes no YAML"};
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_YAML_HPP
