// A spec that is read is valid and, if it follows the rules for writers, the same after it is
// written as JSON and as YAML and read again. Without its bad devices, an invalid spec is valid.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/file.hpp>
#include <cdi/validate.hpp>

#include "fuzz.hpp"

namespace {

void require_round_trip(const cdi::Spec& spec, cdi::Format format) {
  const auto text = cdi::write_spec(spec, format);
  fuzz::require(static_cast<bool>(text), "a valid spec can be written", fuzz::fault_of(text));
  const auto again = cdi::parse_spec(*text, "f", format);
  fuzz::require(static_cast<bool>(again), "what is written is read", fuzz::fault_of(again));
  fuzz::require(again->spec == spec, "what is written reads back the same", *text);
  for (const auto& warning : again->warnings) {
    fuzz::require(warning.rule != "portable-text", "all engines can read it", *text);
  }
}

/// Whether a valid spec may also be written. If not, it breaks a rule that is only for writers.
bool may_be_written(const cdi::Spec& spec) {
  const auto valid = cdi::validate(spec, nullptr, cdi::ValidateFor::writing);
  if (valid) return true;
  const bool for_writers =
      std::any_of(cdi::rules.begin(), cdi::rules.end(), [&](const cdi::RuleRow& row) {
        return row.code == valid.error().rule && row.severity == cdi::Severity::write_error;
      });
  fuzz::require(for_writers, "a valid spec can be written", fuzz::fault_of(valid));
  return false;
}

void check(std::string_view text, cdi::Format format) {
  const auto loaded = cdi::parse_spec(text, "f", format);
  if (fuzz::is_read(loaded, text)) {
    fuzz::require(static_cast<bool>(cdi::validate(loaded->spec)), "what is read is valid");
    if (may_be_written(loaded->spec)) {
      require_round_trip(loaded->spec, cdi::Format::json);
      require_round_trip(loaded->spec, cdi::Format::yaml);
    }
  }
  const auto rest = cdi::parse_spec(text, "f", format, {.quarantine_devices = true});
  fuzz::require(!loaded || (rest && rest->spec == loaded->spec), "a valid spec is kept as a whole");
  if (fuzz::is_read(rest, text) && !loaded) {
    fuzz::require(!rest->quarantined.empty(), "removed devices are listed");
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
