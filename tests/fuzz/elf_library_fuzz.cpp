// The SONAME that is read from any bytes is a file name that is in these bytes, and is short.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <sys/types.h>
#include <unistd.h>

#include <cdi/sandbox/elf_library.hpp>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::FILE* const file = std::tmpfile();
  fuzz::require(file != nullptr, "a file can be made");
  const int descriptor = ::fileno(file);
  fuzz::require(::ftruncate(descriptor, 0) == 0 &&
                    ::pwrite(descriptor, data, size, 0) == static_cast<ssize_t>(size),
                "the file is written");
  const auto library = cdi::detail::read_elf_library(descriptor);
  if (!library) return 0;
  const auto& name = library->soname;
  fuzz::require(name.size() <= 255 && name != "." && name != ".." && name.find('/') == name.npos &&
                    name.find('\0') == name.npos,
                "a SONAME is a file name", name);
  fuzz::require(fuzz::text_of(data, size).find(name) != name.npos, "a SONAME is in the file", name);
  return 0;
}
