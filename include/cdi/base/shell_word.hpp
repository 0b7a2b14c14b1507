// A path as one word of a shell command, for advice that people paste.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_BASE_SHELL_WORD_HPP
#define CDI_BASE_SHELL_WORD_HPP

#include <string>
#include <string_view>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// A path as one word of a POSIX shell command, on one line, which a message can have between
/// backquotes: as it is, in quotes, or as the output of `printf` when it has a backquote or
/// characters that messages escape. A path that begins with a dash gets `./`, so that it is no
/// option. A path that ends in a newline, which shells remove there, gets a slash.
std::string shell_word(std::string_view path);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/base/shell_word.inl>
#endif

#endif  // CDI_BASE_SHELL_WORD_HPP
