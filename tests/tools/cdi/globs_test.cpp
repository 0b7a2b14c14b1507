// Tests for tools/cdi/base/globs.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/cdi/base/globs.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

TEST_CASE("names without a pattern stay as they are") {
  const std::vector<std::string> names{"b/c=2", "b/c=1", "b/c=2", "\\"};
  CHECK(expand_names(names, cdi::Registry{}).names == names);
}
