// A spec that was converted to a version is valid, does not need a newer version, and loses nothing
// when it is converted to the same version again. A file that was converted for an engine is read
// by it, without a warning about its text.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <cdi/file.hpp>
#include <cdi/minimum_version.hpp>
#include <cdi/validate.hpp>
#include <cdi/versions.hpp>

#include "../../tools/kit/versions/conversion.hpp"
#include "../../tools/kit/versions/conversion_advice.hpp"
#include "../../tools/kit/versions/engine_versions.hpp"
#include "fuzz.hpp"

namespace {

/// Whether a conversion drops text behind a spec that may have ended too early: it is not advised.
bool loses_text(const tools::Conversion& conversion) {
  return std::any_of(conversion.losses.begin(), conversion.losses.end(),
                     [](const auto& loss) { return loss.code == cdi::Errc::syntax; });
}

void check_conversion(const tools::VersionedEngine& engine, const cdi::LoadedSpec& loaded) {
  const auto converted = tools::convert_for(engine, loaded);
  const auto advice = tools::conversion_advice(engine, loaded);
  const bool is_advised = converted && !loses_text(*converted);
  fuzz::require(is_advised == (advice.find("`cdi convert --") != advice.npos),
                "the advice is what works", advice);
  if (!converted) return;
  const auto text = cdi::write_spec(converted->spec, cdi::Format::yaml);
  fuzz::require(text.has_value(), "what was converted can be written", fuzz::fault_of(text));
  const auto again = cdi::parse_spec(*text, "f", cdi::Format::yaml);
  fuzz::require(
      again && !tools::rejection_by(engine, *again) && tools::text_warnings(*again).empty(),
      "the engine reads what was converted for it", *text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  const auto loaded = cdi::parse_spec(text, "f", cdi::Format::yaml);
  if (!loaded) return 0;
  for (const auto version : cdi::known_versions) {
    const auto once = cdi::to_version(loaded->spec, version, cdi::Losses::allow);
    if (!once) {
      fuzz::require(once.error().code == cdi::Errc::unsupported, "a valid spec can be converted",
                    fuzz::fault_of(once));
      continue;
    }
    fuzz::require(static_cast<bool>(cdi::validate(once->spec)), "what was converted is valid");
    fuzz::require(cdi::minimum_version(once->spec) <= version, "it does not need a newer version");
    const auto twice = cdi::to_version(once->spec, version);
    fuzz::require(static_cast<bool>(twice), "it can be converted again", fuzz::fault_of(twice));
    fuzz::require(twice->spec == once->spec && twice->losses.empty(), "then nothing changes");
    const auto rejected = cdi::to_version(loaded->spec, version);
    fuzz::require(static_cast<bool>(rejected) == once->losses.empty(), "losses are refused");
  }
  for (const auto& row : tools::engine_versions) check_conversion({row.engine, row.since}, *loaded);
  return 0;
}
