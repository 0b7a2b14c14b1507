// Tests for include/cdi/rules/owner.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>

#include <doctest/doctest.h>

#include <cdi/rules/owner.hpp>

using cdi::detail::owner_in_comment;

TEST_CASE("The first line of a text records the owner") {
  CHECK(owner_in_comment("# cdi-publisher/owner: me\nkind: a\n") == "me");
  CHECK(owner_in_comment("# cdi-publisher/owner: me\r\n") == "me");
  CHECK(owner_in_comment("# cdi-publisher/owner: a b") == "a b");
  CHECK(owner_in_comment("# Written by cdi-prepare, which will replace or remove it.\n") ==
        "cdi-prepare");
  for (const std::string text :
       {"", "\n# cdi-publisher/owner: me\n", " # cdi-publisher/owner: me\n",
        "# cdi-publisher/owner:me\n", "# Written by cdi-prepare, which will\n",
        "kind: a # cdi-publisher/owner: me\n"}) {
    CAPTURE(text);
    CHECK(owner_in_comment(text).empty());
  }
}

TEST_CASE("An owner stays on the line of a comment") {
  for (const std::string& good :
       {std::string{"me"}, std::string{"a: b \"c\" #"}, std::string(253, 'o')}) {
    CHECK(cdi::check_owner(good));
  }
  for (const std::string& bad : {std::string{}, std::string{" me"}, std::string{"me "},
                                 std::string{"m\ne"}, std::string{"m\xC3\xA9"},
                                 std::string{"m\x7f"
                                             "e"},
                                 std::string(254, 'o')}) {
    CAPTURE(bad);
    CHECK(cdi::check_owner(bad).error().code == cdi::Errc::invalid);
  }
}
