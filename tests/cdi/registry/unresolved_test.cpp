// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <set>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/registry/unresolved.hpp>

TEST_CASE("Every reason has its row, with a code of its own, a meaning and an advice") {
  std::set<std::string_view> codes;
  for (std::size_t i = 0; i < cdi::reasons.size(); ++i) {
    const auto reason = static_cast<cdi::Reason>(i);
    const auto& row = cdi::row_of(reason);
    CAPTURE(row.code);
    CHECK(row.reason == reason);
    CHECK(codes.insert(row.code).second);
    CHECK(row.code.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
    CHECK_FALSE(row.meaning.empty());
    CHECK_FALSE(row.advice.empty());
  }
  CHECK(cdi::reasons.back().reason == cdi::Reason::ignored);
}
