// Tests for include/cdi/text/yaml/block_scalar.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/text/yaml/block_scalar.hpp>

#include "../../../support/yaml_by_hand.hpp"

namespace {

/// Reads a block whose lines begin in column `least` or behind.
std::string read_block(std::string_view text, std::size_t least = 1) {
  return read_scalar<cdi::detail::YamlBlockScalarReader>(text, least);
}

TEST_CASE("Blocks keep, fold and chomp their lines") {
  for (const auto& row : std::vector<ScalarRow>{{"|\n a\n  b\n\n c\nd", "a\n b\n\nc\n|d"},
                                                {"|-\n a\n\n", "a|"},
                                                {"|+\n a\n\n", "a\n\n|"},
                                                {"|\n a", "a|"},
                                                {"|\n\n a\n", "\na\n|"},
                                                {"|2\n   a\n  b\n", " a\nb\n|"},
                                                {"|1-\n  a\n", " a|"},
                                                {"|-1\n  a\n", " a|"},
                                                {"| # note\n a\n", "a\n|"},
                                                {"|\n\n", "|"},
                                                {"|\n a\n \tb", "a\n\tb|"},
                                                {"|\nd", "|d"},
                                                {"|", "|"},
                                                {"|+\n\n", "\n|"},
                                                {">\n a\n b\n\n c\n", "a b\nc\n|"},
                                                {">\n a\n   b\n c\n", "a\n  b\nc\n|"},
                                                {">\n\n a\n\n\n b\n", "\na\n\nb\n|"},
                                                {"|\r\n a\r\n b\r\n", "a\nb\n|"}}) {
    CAPTURE(row.text);
    CHECK(read_block(row.text) == row.expected);
  }
}

TEST_CASE("A block is indented deeper than its key") {
  CHECK(read_block("|\n  a\n b", 2) == "a\n|b");
  CHECK(read_block("|2\n   a\n", 2) == "a\n|");  // the digit counts from the column of the key
  CHECK(read_block("|\na", 0) == "|a");          // never in the first column
}

TEST_CASE("A header has one sign and one digit at most, and ends its line") {
  for (const std::string_view text :
       {"|0\n a", "|--\n a", "|a\n b", "|#\n a", "|11\n a", "| a\n b"}) {
    CAPTURE(text);
    CHECK(read_block(text) ==
          "1:1 not valid YAML: expected a line break after | or >; only + or -, and a digit, may "
          "precede it");
  }
  CHECK(read_block("|\n a\n\tb") == "3:1 not valid YAML: indent with spaces, not with tabs");
  CHECK(read_block("|\n\ta") == "2:1 not valid YAML: indent with spaces, not with tabs");
}

}  // namespace
