// Tests for tools/cdi/base/spec_dirs.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/cdi/base/spec_dirs.hpp"

#include <doctest/doctest.h>

TEST_CASE("a file in the root directory has the priority of that directory") {
  const cdi::Registry registry{
      {}, {}, {{.path = "/etc/cdi", .priority = 0}, {.path = "/", .priority = 1}}};
  CHECK(priority_of("/v.yaml", registry) == 1);
  CHECK(priority_of("/etc/cdi/v.yaml", registry) == 0);
  CHECK_FALSE(priority_of("/etc/v.yaml", registry));
}

TEST_CASE("a name alone is in the working directory") {
  CHECK(dir_of("v.yaml") == ".");
  CHECK(dir_of("./v.yaml") == ".");
  CHECK(dir_of("/v.yaml") == "/");
  CHECK(dir_of("a/b/v.yaml") == "a/b");
}
