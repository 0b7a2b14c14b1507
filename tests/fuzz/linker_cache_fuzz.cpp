// A cache merged with any bytes is of bounded size, is a cache itself, and stays when it is merged
// again.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cdi/sandbox/linker_cache.hpp>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<cdi::detail::LinkerEntry> added{{"liba.so.2", "/a", 0x303}, {"b", "/b", 3}};
  const auto old = fuzz::text_of(data, size);
  for (const auto& entry : cdi::detail::linker_entries(old, 0x303)) {
    fuzz::require(!entry.soname.empty() && !entry.path.empty(), "a library has a name and a path");
  }
  const auto cache = cdi::detail::merged_linker_cache(old, added);
  if (!cache) return 0;
  fuzz::require(cache->size() <= 2 * size + 1024 + 2 * 26 + 15, "the size is bounded");
  const auto again = cdi::detail::merged_linker_cache(*cache, {});
  fuzz::require(again == cache, "a merged cache stays as it is");
  fuzz::require(cdi::detail::merged_linker_cache(*cache, added).has_value(),
                "libraries can be added again");
  return 0;
}
