// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <doctest/doctest.h>

#include <cdi/files/find_member.hpp>
#include <cdi/text/parse_json.hpp>

TEST_CASE("A member is found in any case of its key, the first one if there are several") {
  const auto document = cdi::parse_json(R"({"KIND":"a","kind":"b","x":{"Name":"d"},"list":[]})");
  REQUIRE(document);
  const auto root = document->root();
  const auto kind = cdi::detail::find_member(root, "kind");
  REQUIRE(kind);
  CHECK(kind->text() == "a");
  CHECK_FALSE(cdi::detail::find_member(root, "name"));
  CHECK(cdi::detail::name_of_device(*cdi::detail::find_member(root, "x")) == "d");
  for (const auto* name : {"kind", "list"}) {  // neither is a map
    CHECK_FALSE(cdi::detail::find_member(*cdi::detail::find_member(root, name), "name"));
    CHECK(cdi::detail::name_of_device(*cdi::detail::find_member(root, name)).empty());
  }
}
