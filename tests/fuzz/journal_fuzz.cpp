// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0 OR MIT

// A claim that is read from a journal is the same after it is written and read again, and its names
// are safe in paths and specs.

#include <cstddef>
#include <cstdint>

#include <cdi/name.hpp>

#include "../../examples/tools/prepare/claims/journal.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  const auto claim = prepare::parse_claim(text, "claim.json");
  if (!fuzz::is_read(claim, text)) return 0;
  fuzz::require(claim->file_name().find('/') == std::string::npos, "a claim has a file name");
  for (std::size_t i = 0; i < claim->devices.size(); ++i) {
    fuzz::require(cdi::parse_name(claim->device_id(i)).has_value(), "a claim has CDI devices");
  }
  const auto again =
      prepare::parse_claim(prepare::json_text(prepare::to_json(*claim)), "claim.json");
  fuzz::require(again && *again == *claim, "a claim reads back");
  return 0;
}
