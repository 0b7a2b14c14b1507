// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// Scalars of every style; where lists and maps begin and end is in parse_yaml_test.cpp.

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/text/document_builder.hpp>
#include <cdi/text/yaml_scanner.hpp>

namespace {

using cdi::detail::YamlScanner;

struct Row {
  std::string text;
  std::string expected;  // the scalar, a bar, and what stands behind it; or the error
};

/// Reads a scalar whose further lines begin in the second column or behind.
std::string scanned(const std::string& text, bool flow = false) {
  cdi::DocumentBuilder builder{text, {}, {}, /*merge_keys=*/true};
  YamlScanner scan{builder};
  YamlScanner::Scalar scalar;
  if (scan.check_characters() && scan.read_scalar(1, flow, scalar)) {
    return std::string{scan.text_of(scalar)} + "|" + text.substr(scan.at());
  }
  const auto why = std::move(builder).finish().error();
  return std::to_string(why.position.line) + ":" + std::to_string(why.position.column) + " " +
         why.message;
}

void check(const std::vector<Row>& rows, bool flow = false) {
  for (const auto& row : rows) {
    CAPTURE(row.text);
    CHECK(scanned(row.text, flow) == row.expected);
  }
}

TEST_CASE("a plain scalar ends before a comment, a colon with a blank, or a line that is not its") {
  check({{"a b  # note", "a b|  # note"},
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
         {"a, b]", "a, b]|"}});
  check({{"a, b", "a|, b"}, {"a]", "a|]"}, {"a\nb}", "a b|}"}}, /*flow=*/true);
}

TEST_CASE("text that begins with an indicator needs quotes") {
  for (const char c : std::string_view{",[]{}#&*!%@`"}) {
    CAPTURE(c);
    CHECK(scanned(std::string{c} + "a").starts_with("1:1 not valid YAML: "));
  }
}

TEST_CASE("single quotes keep all but doubled quotes and line ends") {
  check({{"'a''b\\n' c", "a'b\\n| c"},
         {"''", "|"},
         {"'a \n\n  b'", "a\nb|"},
         {"'a\nb'", "a b|"},
         {"' a '", " a |"},
         {"'a", "1:1 not valid YAML: the text that begins here is not ended: close the quotes"}});
}

TEST_CASE("double quotes decode escapes and fold lines") {
  check(
      {{R"("\0\a\b\t\n\v\f\r\e\ \"\/\\")", std::string("\0\a\b\t\n\v\f\r\x1b \"/\\|", 14)},
       {R"("\x41\u00e9\U0001F600\N\_\L\P")",
        "A\xc3\xa9\xf0\x9f\x98\x80\xc2\x85\xc2\xa0\xe2\x80\xa8\xe2\x80\xa9|"},
       {"\"a\\\n   b\"", "ab|"},
       {"\"a  \\\n\n b\"", "a  \nb|"},
       {"\"a  \n  \n b\"", "a\nb|"},
       {"\" a\tb \"", " a\tb |"},
       {R"("\q")",
        "1:2 not valid YAML: unknown escape in double quotes: write \\\\ for a backslash"},
       {R"("a\x4")", "1:3 not valid YAML: an escape needs 2 hexadecimal digits"},
       {R"("\ud83d")",
        "1:2 not valid YAML: an escape that is not a character: write the character itself"},
       {"\"a\\", "1:1 not valid YAML: the text that begins here is not ended: close the quotes"}});
}

TEST_CASE("blocks keep, fold and chomp their lines") {
  check({{"|\n a\n  b\n\n c\nd", "a\n b\n\nc\n|d"},
         {"|-\n a\n\n", "a|"},
         {"|+\n a\n\n", "a\n\n|"},
         {"|\n a", "a|"},
         {"|\n\n a\n", "\na\n|"},
         {"|2\n   a\n  b\n", " a\nb\n|"},
         {"|1-\n  a\n", " a|"},
         {"|-1\n  a\n", " a|"},
         {"| # note\n a\n", "a\n|"},
         {"|\nd", "|d"},
         {"|", "|"},
         {"|+\n\n", "\n|"},
         {">\n a\n b\n\n c\n", "a b\nc\n|"},
         {">\n a\n   b\n c\n", "a\n  b\nc\n|"},
         {">\n\n a\n\n\n b\n", "\na\n\nb\n|"},
         {"|\r\n a\r\n b\r\n", "a\nb\n|"}});
  for (const std::string text : {"|0\n a", "|--\n a", "|a\n b", "|#\n a", "|11\n a", "|\n\ta"}) {
    CAPTURE(text);
    CHECK(scanned(text).find("not valid YAML: ") != std::string::npos);
  }
}

}  // namespace
