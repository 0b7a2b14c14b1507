// When a device is free again after its pod.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/device_plugin/pod_devices.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using Names = std::vector<std::string>;
using namespace std::chrono_literals;

const dra::Absence::Clock::time_point start{};

}  // namespace

TEST_CASE("A device is free after no pod had it for a while") {
  dra::Absence absence{60s};
  CHECK(absence.freed({"a", "b"}, {"a"}, start).empty());
  CHECK(absence.freed({"a", "b"}, {"a"}, start + 59s).empty());
  CHECK(absence.freed({"a", "b"}, {"a"}, start + 60s) == Names{"b"});
}

TEST_CASE("The time begins anew when a pod has it, or it is given again") {
  dra::Absence absence{60s};
  CHECK(absence.freed({"a"}, {}, start).empty());
  CHECK(absence.freed({"a"}, {"a"}, start + 50s).empty());
  CHECK(absence.freed({"a"}, {}, start + 70s).empty());
  absence.forget("a");
  CHECK(absence.freed({"a"}, {}, start + 131s).empty());
  absence.forget();
  CHECK(absence.freed({"a"}, {}, start + 200s).empty());
  CHECK(absence.freed({"a"}, {}, start + 260s) == Names{"a"});
}

TEST_CASE("A device that was taken back is forgotten") {
  dra::Absence absence{60s};
  CHECK(absence.freed({"a"}, {}, start).empty());
  CHECK(absence.freed({}, {}, start + 10s).empty());
  CHECK(absence.freed({"a"}, {}, start + 65s).empty());
}
