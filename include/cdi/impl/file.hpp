// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_IMPL_FILE_HPP
#define CDI_IMPL_FILE_HPP

#include <fcntl.h>
#include <memory>
#include <string>
#include <utility>

#include <cdi/file.hpp>
#include <cdi/file_state.hpp>
#include <cdi/loaded_spec.hpp>
#include <cdi/path.hpp>
#include <cdi/read_options.hpp>
#include <cdi/replace_file.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>
#include <cdi/spec_text.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE Result<LoadedSpec> read_spec_file(const std::string& path, const ReadOptions& options) {
  const auto file = detail::read_spec_at(AT_FDCWD, path, path, 0, options, {},
                                         detail::Patience{options.patience});
  if (file.rejected) return file.rejected->why;
  return std::move(*std::const_pointer_cast<LoadedSpec>(file.spec));  // nobody else has it
}

CDI_INLINE Result<void> write_spec_file(const std::string& path, const Spec& spec) {
  const auto format = format_of(path);
  if (!format) return detail::no_spec_name(path);
  auto text = cdi::write_spec(spec, *format);
  if (!text) {
    text.error().position.file = path;
    return std::move(text).error();
  }
  return cdi::replace_file(path, *text);
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_IMPL_FILE_HPP
