// What the tests of the model have in common: the bounds, and the figures that they print.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "schedules.hpp"

namespace model {

/// Explores a scenario, and prints what was explored. `events` is the bound of events in a
/// schedule; with CDI_FULL=1, there may be one more.
inline void explore_all(const std::string& name, int events, Exploration::Make make) {
  const char* const full = std::getenv("CDI_FULL");
  if (full != nullptr && std::string_view{full} == "1") ++events;
  const auto explored = Exploration{std::move(make)}.explore(events);
  std::printf("%s: event limit %d, %zu schedules, %zu steps, %zu kills, %zu power cuts\n",
              name.c_str(), events, explored.schedules, explored.steps, explored.kills,
              explored.power_cuts);
  std::fflush(stdout);
  CHECK_MESSAGE(explored.fault.empty(), name, ": ", explored.fault);
}

}  // namespace model
