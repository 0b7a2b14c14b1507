// Tests for include/cdi/text/yaml/quoted_scalar.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/text/yaml/quoted_scalar.hpp>

#include "../../../support/yaml_by_hand.hpp"

namespace {

void check(const std::vector<ScalarRow>& rows) {
  for (const auto& row : rows) {
    CAPTURE(row.text);
    CHECK(read_scalar<cdi::detail::YamlQuotedScalarReader>(row.text) == row.expected);
  }
}

TEST_CASE("Single quotes keep all but doubled quotes and line ends") {
  check({{"'a''b\\n' c", "a'b\\n| c"},
         {"''", "|"},
         {"'a \n\n  b'", "a\nb|"},
         {"'a\nb'", "a b|"},
         {"'a\\b'", "a\\b|"},
         {"'a\t\nb'", "a b|"},
         {"'a\n", "1:1 not valid YAML: the text that begins here is not closed: close the quotes"},
         {"'a\n---\n'",
          "1:1 not valid YAML: the text that begins here is not closed: close the quotes"},
         {"' a '", " a |"},
         {"'a", "1:1 not valid YAML: the text that begins here is not closed: close the quotes"}});
}

TEST_CASE("A text without escapes stays in the source") {
  for (const std::string text : {"'a b'", "\"a b\"", "'a\"b'", "\"a'b\""}) {
    YamlByHand hand{text};
    cdi::detail::YamlScalar scalar;
    std::string decoded;
    REQUIRE(cdi::detail::YamlQuotedScalarReader{hand.cursor, decoded}.read(scalar));
    CHECK_FALSE(scalar.is_decoded);
    CHECK(scalar.begin == 1);
    CHECK(scalar.size == 3);
  }
}

TEST_CASE("Double quotes decode escapes and fold lines") {
  check(
      {{R"("\0\a\b\t\n\v\f\r\e\ \"\/\\")", std::string("\0\a\b\t\n\v\f\r\x1b \"/\\|", 14)},
       {R"("\x41\u00e9\U0001F600\N\_\L\P")",
        "A\xc3\xa9\xf0\x9f\x98\x80\xc2\x85\xc2\xa0\xe2\x80\xa8\xe2\x80\xa9|"},
       {"\"a\\\n   b\"", "ab|"},
       {"\"a  \\\n\n b\"", "a  \nb|"},
       {"\"a  \n  \n b\"", "a\nb|"},
       {"\" a\tb \"", " a\tb |"},
       {R"("\q")",
        "1:2 not valid YAML: invalid escape sequence in double quotes: write \\\\ for a backslash"},
       {R"("a\x4")", "1:3 not valid YAML: an escape needs 2 hexadecimal digits"},
       {R"("\ud83d")",
        "1:2 not valid YAML: the escape is not a character: write the character itself"},
       {"\"a\\\n--- b\"",
        "1:1 not valid YAML: the text that begins here is not closed: close the quotes"},
       {"\"a\n... b\"",
        "1:1 not valid YAML: the text that begins here is not closed: close the quotes"},
       {"\"a\\\n", "1:1 not valid YAML: the text that begins here is not closed: close the quotes"},
       {"\"a\\", "1:1 not valid YAML: the text that begins here is not closed: close the quotes"}});
}

}  // namespace
