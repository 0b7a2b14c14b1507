// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <set>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/registry/unresolved.hpp>

TEST_CASE("Every reason has its row, with a code of its own, a meaning and an advice") {
  std::set<std::string_view> codes;
  for (const auto& row : cdi::reasons) {
    CAPTURE(row.code);
    CHECK(&cdi::row_of(row.reason) == &row);
    CHECK(codes.insert(row.code).second);
    CHECK(row.code.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
    CHECK_FALSE(row.meaning.empty());
    CHECK_FALSE(row.advice.empty());
  }
  static_assert(cdi::detail::has_name<cdi::Reason::ignored>());  // else no new one is noticed
}
