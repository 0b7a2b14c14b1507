// Tests for include/cdi/registry/unresolved.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/base/result.hpp>
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

TEST_CASE("The advice depends on the reason, on the version that a file needs, and on causes") {
  const cdi::Unresolved rejected{.name = "v/c=d", .reason = cdi::Reason::rejected};
  const std::string of_rejected{cdi::row_of(cdi::Reason::rejected).advice};
  CHECK(advice(rejected) == of_rejected);

  auto older = rejected;  // a file whose version lacks one of its members
  older.needs_version = "0.7.0";
  CHECK(advice(older) == "set cdiVersion to \"0.7.0\" in the file");
  auto newer = rejected;  // a file of a version that this library does not know
  newer.needs_version = "9.0.0";
  CHECK(advice(newer).starts_with("the file requires CDI 9.0.0, but this program supports CDI "));

  cdi::Unresolved unknown{.name = "v/c=d", .reason = cdi::Reason::unknown_device};
  const std::string of_unknown{cdi::row_of(cdi::Reason::unknown_device).advice};
  CHECK(advice(unknown) == of_unknown);
  unknown.causes.push_back({.code = cdi::Errc::syntax, .message = "not valid JSON"});
  CHECK(advice(unknown) ==
        "if one of the listed files should define the device, correct it; otherwise, " +
            of_unknown);
  auto with_causes = rejected;
  with_causes.causes = unknown.causes;
  CHECK(advice(with_causes) == of_rejected);
}
