// Names mean the same here and in the Go reference: qualified names and their parts, and the file
// names of specs, which a kind, a record separator and an id give.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "go_tables.hpp"

namespace {

constexpr auto require_same_row = fuzz::require_same_row<fuzz::name_differences>;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  require_same_row("names", {{"in", text}}, {text});
  const auto [kind, id] = fuzz::two_texts(text);
  require_same_row("spec_names", {{"kind", kind}, {"transient_id", id}}, {kind, id});
  return 0;
}
