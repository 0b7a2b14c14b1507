// The library names that are read from any bytes are parts of these bytes, without NUL, and not
// more than the bytes have room for.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "../../tools/gpu/host/ld_cache.hpp"
#include "fuzz.hpp"

namespace {

void require_inside(std::string_view part, std::string_view whole) {
  const std::less_equal<const char*> not_after{};
  fuzz::require(not_after(whole.data(), part.data()) &&
                    not_after(part.data() + part.size(), whole.data() + whole.size()),
                "a text is a part of the bytes");
  fuzz::require(!part.empty() && part.find('\0') == part.npos, "a text is a C string");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto cache = fuzz::text_of(data, size);
  const auto entries = prepare::parse_ld_cache(cache, 0x303);
  fuzz::require(entries.size() <= size / prepare::ld_cache::row_size, "rows have room");
  for (const auto& entry : entries) {
    require_inside(entry.soname, cache);
    require_inside(entry.path, cache);
  }
  return 0;
}
