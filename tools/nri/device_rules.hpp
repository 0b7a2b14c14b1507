// Computes what the device cgroup rules of a container allow.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <initializer_list>
#include <nri.pb.h>
#include <string>
#include <string_view>

namespace nri {

template <class Item>
using Repeated = google::protobuf::RepeatedPtrField<Item>;

namespace detail {

/// The letters of `access` that are not in `other`.
inline std::string letters_beyond(std::string_view access, std::string_view other) {
  std::string out;
  for (const char c : access) {
    if (other.find(c) == std::string_view::npos) out += c;
  }
  return out;
}

/// Whether a rule is about the device number of another one, alone or among others.
inline bool covers(const LinuxDeviceCgroup& rule, const LinuxDeviceCgroup& number) {
  const bool all_types = rule.type().empty() || rule.type() == "a";
  return (all_types || rule.type() == number.type()) &&
         (!rule.has_major() || rule.major().value() == number.major().value()) &&
         (!rule.has_minor() || rule.minor().value() == number.minor().value());
}

/// What rules together allow for a device number. CDI's rules add to each other.
inline std::string access_to(const LinuxDeviceCgroup& number,
                             std::initializer_list<const Repeated<LinuxDeviceCgroup>*> lists) {
  std::string access;
  for (const auto* rules : lists) {
    for (const auto& rule : *rules) {
      if (rule.allow() && covers(rule, number)) access += letters_beyond(rule.access(), access);
    }
  }
  return access;
}

}  // namespace detail

}  // namespace nri
