// Reads libraries and adds them to an ld.so.cache, for linker_cache_test.py:
//   linker_driver show FILE...                  prints `SONAME KIND` or `none` for each library
//   linker_driver merge OLD NEW [FILE PATH]...  writes NEW, which is OLD with FILE at PATH
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/files/descriptor.hpp>
#include <cdi/sandbox/elf_library.hpp>
#include <cdi/sandbox/linker_cache.hpp>

namespace {

using Arguments = std::vector<std::string>;

std::optional<cdi::detail::ElfLibrary> read_library(const std::string& path) {
  const cdi::Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  return cdi::detail::read_elf_library(file.get());
}

int show(const Arguments& arguments) {
  for (const auto& path : arguments) {
    const auto library = read_library(path);
    if (library) {
      std::printf("%s %#06x\n", library->soname.c_str(), library->cache_kind);
    } else {
      std::puts("none");
    }
  }
  return 0;
}

int merge(const Arguments& arguments) {
  if (arguments.size() < 2) return 2;
  std::ifstream old{arguments[0], std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{old}, {}};
  std::vector<cdi::detail::LinkerEntry> added;
  for (std::size_t i = 2; i + 1 < arguments.size(); i += 2) {
    const auto library = read_library(arguments[i]);
    const auto& path = arguments[i + 1];
    if (!library) return 3;
    const auto name = library->soname.empty() ? path.substr(path.rfind('/') + 1) : library->soname;
    added.push_back({.soname = name, .path = path, .kind = library->cache_kind});
  }
  const auto cache = cdi::detail::merged_linker_cache(bytes, added);
  if (!cache) return 4;
  std::ofstream file{arguments[1], std::ios::binary};
  file << *cache;
  return file.flush() ? 0 : 5;
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments(values + (count < 2 ? count : 2), values + count);
  const std::string_view command = count < 2 ? "" : values[1];
  if (command == "show") return show(arguments);
  if (command == "merge") return merge(arguments);
  return 2;
}
