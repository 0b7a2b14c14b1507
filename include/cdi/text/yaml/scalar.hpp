// A scalar of a YAML text, and how line ends in scalars of all styles are folded.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TEXT_YAML_SCALAR_HPP
#define CDI_TEXT_YAML_SCALAR_HPP

#include <cstddef>
#include <string>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// A scalar that was read. Its text is a part of the source, or differs from it and was decoded.
struct YamlScalar {
  std::size_t at = 0;     // where it begins
  std::size_t begin = 0;  // where its text begins in the source
  std::size_t size = 0;   // of its text in the source
  bool is_decoded = false;
  bool quoted = false;  // it can only be text: it is in quotes, or a block
};

/// Appends the meaning of line ends inside a scalar: one is a blank, more are line ends.
inline void append_folded(std::string& decoded, std::size_t line_ends) {
  if (line_ends == 1) decoded.push_back(' ');
  if (line_ends > 1) decoded.append(line_ends - 1, '\n');
}

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_TEXT_YAML_SCALAR_HPP
