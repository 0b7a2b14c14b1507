// Checks of option values.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>

#include <cdi/claims.hpp>
#include <cdi/minimum_version.hpp>
#include <cdi/name.hpp>
#include <cdi/result.hpp>

#include "../../kit/base/options.hpp"
#include "../../kit/base/text.hpp"
#include "../../kit/versions/engine_versions.hpp"

// Each function returns the fault in a value; empty if the value is valid. `requested_name_fault`
// is in prepare.hpp.

namespace prepare {

using tools::not_empty;

inline std::string spec_version_fault(const std::string& text) {
  const auto version = cdi::parse_spec_version(text);
  const bool written =
      version && *version >= cdi::SpecVersion{0, 3, 0};  // older versions do not occur in specs
  return written ? ""
                 : cdi::quoted(text) +
                       " is not a CDI version that specs can have: give one such as 0.6.0";
}

inline std::string uid_fault(const std::string& text) {
  return cdi::is_claim_uid(text)
             ? ""
             : cdi::quoted(text) +
                   " is not a UID of 1 to 56 letters, digits and -, with a letter "
                   "or digit at both ends";
}

/// Whether a text is a number of seconds up to a day; "nan" is not valid.
inline bool is_time(const std::string& text, double least) {
  double seconds = -1;
  const auto end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  return error == std::errc{} && stop == end && seconds >= least && seconds <= 86400;
}

inline std::string seconds_fault(const std::string& text) {
  return is_time(text, 0) ? "" : cdi::quoted(text) + " is not a number of seconds from 0 to 86400";
}

inline std::string interval_fault(const std::string& text) {
  return is_time(text, 0.01) ? ""
                             : cdi::quoted(text) + " is not a number of seconds from 0.01 to 86400";
}

inline std::string count_fault(const std::string& text) {
  return tools::parse_number<std::uint32_t>(text) ? "" : cdi::quoted(text) + " is not a number";
}

inline std::string kind_fault(const std::string& text) {
  return cdi::parse_kind(text)
             ? ""
             : cdi::quoted(text) + " is not a kind: give one such as example.com/claim";
}

}  // namespace prepare
