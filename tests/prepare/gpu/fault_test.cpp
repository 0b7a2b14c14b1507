// The table of faults.
// SPDX-License-Identifier: Apache-2.0

#include "../../../examples/prepare/gpu/fault.hpp"

#include <set>
#include <string_view>

#include <doctest/doctest.h>

using namespace prepare;

// That each fault is found on some host is tested by faults_test.py.

TEST_CASE("each fault has a code of its own, and a remedy") {
  std::set<std::string_view> codes;
  for (const auto& row : fault_meanings) {
    CAPTURE(row.code);
    CHECK(codes.insert(row.code).second);
    CHECK_FALSE(row.code.empty());
    CHECK(row.code.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
    CHECK(row.remedy.ends_with('.'));
  }
}

TEST_CASE("a problem has the code and the persistence of its fault") {
  CHECK(Problem{Fault::no_compute_instance, "x"}.code() == "no-compute-instance");
  CHECK(Problem{Fault::other_libraries, "x"}.code() == "other-libraries");
  CHECK_FALSE(Problem{Fault::nvidia_node, "x"}.is_lasting());
  CHECK(Problem{Fault::bound_to_no_driver, "x"}.is_lasting());
  CHECK(Problem{Fault::excluded_by_driver, "x"}.is_lasting());
}
