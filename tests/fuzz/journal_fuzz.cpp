// A claim that is read from a journal is the same after it is written and read again, and its names
// are safe in paths and specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>

#include <cdi/claims.hpp>
#include <cdi/name.hpp>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  const auto claim = cdi::parse_claim(text, "claim.json");
  if (!fuzz::is_read(claim, text)) return 0;
  fuzz::require(claim->file_name().find('/') == std::string::npos, "a claim has a file name");
  for (std::size_t i = 0; i < claim->devices.size(); ++i) {
    fuzz::require(cdi::parse_name(claim->device_id(i)).has_value(), "a claim has CDI devices");
  }
  const auto written = cdi::claim_to_json(*claim);
  fuzz::require(written.has_value(), "a claim is written");
  const auto again = cdi::parse_claim(*written, "claim.json");
  fuzz::require(again && *again == *claim, "a claim reads back");
  return 0;
}
