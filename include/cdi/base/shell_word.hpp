// Quoting a path as one word of a shell command, for advice that people paste.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_BASE_SHELL_WORD_HPP
#define CDI_BASE_SHELL_WORD_HPP

#include <string>
#include <string_view>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Returns a path as one word of a POSIX shell command. The word fits on one line and between
/// backquotes in a message: plain, quoted, or as the output of `printf` if the path contains a
/// backquote or characters that messages escape. A leading dash gets the prefix `./`, so that it is
/// not read as an option; a trailing newline, which shells would strip, gets a slash.
std::string shell_word(std::string_view path);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/base/shell_word.inl>
#endif

#endif  // CDI_BASE_SHELL_WORD_HPP
