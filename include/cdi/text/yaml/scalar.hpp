// A YAML scalar, and how line ends are folded in scalars of all styles.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_YAML_SCALAR_HPP
#define CDI_TEXT_YAML_SCALAR_HPP

#include <cstddef>
#include <string>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// A scalar that was read. Its text is part of the source, or was decoded into a separate buffer.
struct YamlScalar {
  std::size_t at = 0;     // start in the source
  std::size_t begin = 0;  // start of its text in the source
  std::size_t size = 0;   // size of its text in the source
  bool is_decoded = false;
  bool quoted = false;  // can only be text: in quotes, or a block scalar
};

/// Appends folded line ends: a single line end becomes a blank, n line ends become n - 1.
inline void append_folded(std::string& decoded, std::size_t line_ends) {
  if (line_ends == 1) decoded.push_back(' ');
  if (line_ends > 1) decoded.append(line_ends - 1, '\n');
}

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_TEXT_YAML_SCALAR_HPP
