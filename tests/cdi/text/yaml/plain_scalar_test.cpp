// Tests for include/cdi/text/yaml/plain_scalar.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/text/yaml/plain_scalar.hpp>

#include "../../../support/yaml_by_hand.hpp"

namespace {

/// Reads a scalar whose further lines begin in the second column or behind.
std::string read_plain(std::string_view text, bool flow = false) {
  return read_scalar<cdi::detail::YamlPlainScalarReader>(text, std::size_t{1}, flow);
}

TEST_CASE(
    "A plain scalar ends before a comment, a colon with a blank, or a line of another value") {
  for (const auto& row : std::vector<ScalarRow>{{"a b  # note", "a b|  # note"},
                                                {"a#b", "a#b|"},
                                                {"a: b", "a|: b"},
                                                {"a:b:", "a:b|:"},
                                                {"a ", "a| "},
                                                {"a\n b\n\n  c\nd", "a b\nc|\nd"},
                                                {"a\n # note\n b", "a|\n # note\n b"},
                                                {"a\n b: c", "a b|: c"},
                                                {"a\n---\n b", "a|\n---\n b"},
                                                {"a\r\n b\r\rc", "a b|\r\rc"},
                                                {"-a", "-a|"},
                                                {":a", ":a|"},
                                                {"?a", "?a|"},
                                                {"a, b]", "a, b]|"}}) {
    CAPTURE(row.text);
    CHECK(read_plain(row.text) == row.expected);
  }
}

TEST_CASE("A plain scalar in brackets ends before a comma or a bracket, and may have any column") {
  for (const auto& row : std::vector<ScalarRow>{{"a, b", "a|, b"},
                                                {"a]", "a|]"},
                                                {"a\nb}", "a b|}"},
                                                {"a{", "a|{"},
                                                {"a[", "a|["},
                                                {"a\n---\nb", "a|\n---\nb"}}) {
    CAPTURE(row.text);
    CHECK(read_plain(row.text, /*flow=*/true) == row.expected);
  }
  CHECK(read_plain(":a", /*flow=*/true) ==
        "1:1 not valid YAML: text cannot begin with \":\": put it in quotes");
}

TEST_CASE("Text that begins with an indicator needs quotes") {
  for (const char c : std::string_view{",[]{}#&*!%@`"}) {
    CAPTURE(c);
    CHECK(read_plain(std::string{c} + "a").starts_with("1:1 not valid YAML: "));
  }
}

TEST_CASE("A dash, a question mark or nothing is not text") {
  CHECK(read_plain("- a").starts_with("1:1 not valid YAML: text cannot begin with \"-\""));
  CHECK(read_plain(": a").starts_with("1:1 not valid YAML: text cannot begin with \":\""));
  CHECK(read_plain("").starts_with("1:1 not valid YAML: text cannot begin with "));
  CHECK(read_plain("?a", /*flow=*/true)
            .starts_with("1:1 not valid YAML: text in brackets cannot begin with '?'"));
}

TEST_CASE("A tab that indents a line of a plain scalar is refused") {
  CHECK(read_plain("a\n\tb") == "2:1 not valid YAML: indent with spaces, not with tabs");
  CHECK(read_plain("a\n\t\n b") == "2:1 not valid YAML: indent with spaces, not with tabs");
  CHECK(read_plain("a\n \tb") == "a b|");
  CHECK(read_plain("a\n\t\n\t# note") == "a|\n\t\n\t# note");
}

}  // namespace
