// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>

#include <doctest/doctest.h>

#include <cdi/text/yaml/scalar.hpp>

namespace {

TEST_CASE("One line end is a blank, more are line ends without the first") {
  std::string text = "a";
  for (const std::size_t line_ends : {0U, 1U, 2U, 4U}) {
    cdi::detail::append_folded(text, line_ends);
    text += "|";
  }
  CHECK(text == "a| |\n|\n\n\n|");
}

}  // namespace
