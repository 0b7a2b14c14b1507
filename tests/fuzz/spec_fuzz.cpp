// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// A spec that is read is valid, and the same again after it was written as JSON and as YAML; what
// is left of one with bad devices is valid too.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/file.hpp>

#include "fuzz.hpp"

namespace {

void require_round_trip(const cdi::Spec& spec, cdi::Format format) {
  const auto text = cdi::write_spec(spec, format);
  fuzz::require(static_cast<bool>(text), "a valid spec can be written", fuzz::fault_of(text));
  const auto again = cdi::parse_spec(*text, "f", format);
  fuzz::require(static_cast<bool>(again), "what is written is read", fuzz::fault_of(again));
  fuzz::require(again->spec == spec, "what is written reads back the same", *text);
}

void check(std::string_view text, cdi::Format format) {
  const auto loaded = cdi::parse_spec(text, "f", format);
  if (fuzz::is_read(loaded, text)) {
    fuzz::require(static_cast<bool>(cdi::validate(loaded->spec)), "what is read is valid");
    require_round_trip(loaded->spec, cdi::Format::json);
    require_round_trip(loaded->spec, cdi::Format::yaml);
  }
  const auto rest = cdi::parse_spec(text, "f", format, {.quarantine_devices = true});
  fuzz::require(!loaded || (rest && rest->spec == loaded->spec), "of a good spec all is kept");
  if (fuzz::is_read(rest, text) && !loaded) {
    fuzz::require(!rest->quarantined.empty(), "what is left out is named");
    fuzz::require(static_cast<bool>(cdi::validate(rest->spec)), "what is left is valid");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  check(text, cdi::Format::json);
  check(text, cdi::Format::yaml);
  return 0;
}
