// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_COMMANDS_OPTION_CHECKS_HPP
#define CDI_PREPARE_COMMANDS_OPTION_CHECKS_HPP

#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>

#include <cdi/engine_releases.hpp>
#include <cdi/minimum_version.hpp>
#include <cdi/name.hpp>
#include <cdi/result.hpp>

#include "../base/text.hpp"
#include "../claims/journal.hpp"

// What is wrong with the value of an option; empty when it is good. `NAME[@REQUEST]` is checked in
// claim.hpp.

namespace prepare {

inline std::string not_empty(const std::string& text) {
  return text.empty() ? "must not be empty" : "";
}

inline std::string release_fault(const std::string& text) {
  const auto release = cdi::parse_release(text);
  const bool written = release && *release >= cdi::Release{0, 3, 0};  // older ones had no name
  return written ? ""
                 : cdi::detail::quoted(text) +
                       " is no CDI release that specs name: give one such as 0.6.0";
}

inline std::string engine_fault(const std::string& text) {
  const auto release = cdi::newest_release_for(text);
  return release ? "" : release.error().message;
}

inline std::string uid_fault(const std::string& text) {
  return is_claim_uid(text) ? ""
                            : cdi::detail::quoted(text) +
                                  " is no plain id: 1 to 56 letters, digits and -, no - at an end";
}

/// Whether a text is a number of seconds up to a day; "nan" is none.
inline bool is_time(const std::string& text, double least) {
  double seconds = -1;
  const auto end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  return error == std::errc{} && stop == end && seconds >= least && seconds <= 86400;
}

inline std::string seconds_fault(const std::string& text) {
  return is_time(text, 0) ? "" : cdi::detail::quoted(text) + " is not 0 to 86400 seconds";
}

inline std::string interval_fault(const std::string& text) {
  return is_time(text, 0.01) ? "" : cdi::detail::quoted(text) + " is not 0.01 to 86400 seconds";
}

inline std::string count_fault(const std::string& text) {
  return parse_number<std::uint32_t>(text) ? "" : cdi::detail::quoted(text) + " is no count";
}

inline std::string kind_fault(const std::string& text) {
  return cdi::parse_kind(text)
             ? ""
             : cdi::detail::quoted(text) + " is no kind: give one such as example.com/claim";
}

}  // namespace prepare

#endif  // CDI_PREPARE_COMMANDS_OPTION_CHECKS_HPP
