// The findings about a host as a whole.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/prepare/doctor/doctor.hpp"

#include <doctest/doctest.h>

#include "diagnosis.hpp"

using namespace prepare;

TEST_CASE("no GPU") {
  const Host host;
  CHECK(is_only(diagnose(host), "devices", Level::note, {"this host has none"}));
  CHECK(about(diagnose(host, {inventory()}), "devices").empty());
}
