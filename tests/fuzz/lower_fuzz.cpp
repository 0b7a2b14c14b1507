// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// A spec that was lowered to a release is valid, does not need a newer release, and loses nothing
// when it is lowered to the same release again. A file that was converted for an engine is read by
// it, without a warning about its text.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <cdi/file.hpp>
#include <cdi/minimum_version.hpp>
#include <cdi/validate.hpp>
#include <cdi/versions.hpp>

#include "fuzz.hpp"

namespace {

/// Whether a conversion drops text behind a spec that may have ended too early: it is not advised.
bool loses_text(const cdi::Conversion& conversion) {
  return std::any_of(conversion.losses.begin(), conversion.losses.end(),
                     [](const auto& loss) { return loss.code == cdi::Errc::syntax; });
}

void check_conversion(const cdi::VersionedEngine& engine, const cdi::LoadedSpec& loaded) {
  const auto converted = cdi::convert_for(engine, loaded);
  const auto advice = cdi::conversion_advice(engine, loaded);
  const bool is_advised = converted && !loses_text(*converted);
  fuzz::require(is_advised == (advice.find("`cdi convert --") != advice.npos),
                "the advice is what works", advice);
  if (!converted) return;
  const auto text = cdi::write_spec(converted->spec, cdi::Format::yaml);
  fuzz::require(text.has_value(), "what was converted can be written", fuzz::fault_of(text));
  const auto again = cdi::parse_spec(*text, "f", cdi::Format::yaml);
  fuzz::require(again && !cdi::refusal_by(engine, *again) && cdi::text_warnings(*again).empty(),
                "the engine reads what was converted for it", *text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  const auto loaded = cdi::parse_spec(text, "f", cdi::Format::yaml);
  if (!loaded) return 0;
  for (const auto release : cdi::known_releases) {
    const auto once = cdi::lower(loaded->spec, release, cdi::Losses::allow);
    if (!once) {
      fuzz::require(once.error().code == cdi::Errc::unsupported, "a valid spec can be lowered",
                    fuzz::fault_of(once));
      continue;
    }
    fuzz::require(static_cast<bool>(cdi::validate(once->spec)), "what was lowered is valid");
    fuzz::require(cdi::minimum_version(once->spec) <= release, "it does not need a newer release");
    const auto twice = cdi::lower(once->spec, release);
    fuzz::require(static_cast<bool>(twice), "it can be lowered again", fuzz::fault_of(twice));
    fuzz::require(twice->spec == once->spec && twice->losses.empty(), "then nothing changes");
    const auto refused = cdi::lower(loaded->spec, release);
    fuzz::require(static_cast<bool>(refused) == once->losses.empty(), "losses are refused");
  }
  for (const auto& row : cdi::engine_releases) check_conversion({row.engine, row.since}, *loaded);
  return 0;
}
