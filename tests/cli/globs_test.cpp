// Tests for examples/tools/cdi/base/globs.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../examples/tools/cdi/base/globs.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

TEST_CASE("a star and a question mark match no slash") {
  CHECK(glob_matches("v.com/gpu=*", "v.com/gpu=0"));
  CHECK(glob_matches("v.com/gpu=*", "v.com/gpu="));
  CHECK(glob_matches("*/*=*", "v.com/gpu=0"));
  CHECK(glob_matches("v*/g*=*1", "v.com/gpu=11"));
  CHECK(glob_matches("v.com/gpu=??", "v.com/gpu=10"));
  CHECK_FALSE(glob_matches("v.com/gpu=??", "v.com/gpu=1"));
  CHECK_FALSE(glob_matches("*", "v.com/gpu=0"));
  CHECK_FALSE(glob_matches("v.com?gpu=0", "v.com/gpu=0"));
  CHECK_FALSE(glob_matches("v.com/gpu", "v.com/gpu=0"));
  CHECK_FALSE(glob_matches("v.com/gpu=*a", "v.com/gpu=0"));
}

TEST_CASE("a class matches one character") {
  CHECK(glob_matches("gpu=[0-2]", "gpu=1"));
  CHECK(glob_matches("gpu=[ab]", "gpu=b"));
  CHECK(glob_matches("gpu=[^0-2]", "gpu=7"));
  CHECK(glob_matches("gpu=[\\]]", "gpu=]"));
  CHECK_FALSE(glob_matches("gpu=[0-2]", "gpu=7"));
  CHECK_FALSE(glob_matches("gpu=[^0-2]", "gpu=1"));
  CHECK_FALSE(glob_matches("gpu=[0-2]", "gpu="));
  CHECK(glob_matches("gpu\\=\\*", "gpu=*"));
}

TEST_CASE("a malformed pattern has a fault") {
  for (const char* const pattern : {"[", "gpu=[0", "[]", "[^]", "[]a]", "[-a]", "[a-]", "[a\\",
                                    "a[[", "a\\", "[0-", "[!01]", "[3-0]", "[0-1z-a]"}) {
    CAPTURE(pattern);
    CHECK(glob_fault(pattern) != "");
  }
  for (const char* const pattern :
       {"", "*", "[a]", "[a-b]", "[^a-b]", "[\\]]", "\\[", "]", "[[]", "[0!]", "[0-0]"}) {
    CAPTURE(pattern);
    CHECK(glob_fault(pattern) == "");
  }
}

TEST_CASE("names without a pattern stay as they are") {
  const std::vector<std::string> names{"b/c=2", "b/c=1", "b/c=2", "\\"};
  CHECK(expand_names(names, cdi::Registry{}).names == names);
}
