// The bodies of <cdi/files/file.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_FILE_INL
#define CDI_FILES_FILE_INL

#include <fcntl.h>
#include <memory>
#include <utility>

#include <cdi/base/path.hpp>
#include <cdi/files/file.hpp>
#include <cdi/files/file_state.hpp>
#include <cdi/files/replace_file.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE Result<LoadedSpec> read_spec_file(const std::string& path, const ReadOptions& options) {
  const auto file = detail::read_spec_at({AT_FDCWD, path, path}, options, {},
                                         detail::RetryWindow{options.retry_window}, {.once = true});
  if (file.rejected) return file.rejected->why;
  return std::move(*std::const_pointer_cast<LoadedSpec>(file.spec));  // this is the only owner
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

}  // namespace cdi

#endif  // CDI_FILES_FILE_INL
