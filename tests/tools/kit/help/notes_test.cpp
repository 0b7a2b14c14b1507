// The notes at the end of a command's help.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/help/notes.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace {

std::string shown(std::string_view text, std::size_t width) {
  return tools::notes_text(tools::read_notes(text), width);
}

}  // namespace

TEST_CASE("Lines of a paragraph are joined, and an empty line ends it") {
  CHECK(shown("One\ntwo.\n\n\nThree.\n\n", 80) == "One two.\n\nThree.\n");
  CHECK(shown("One two", 5) == "One\ntwo\n");
}

TEST_CASE("The meanings of a list are in one column") {
  CHECK(shown("List:\n  1   one\n  10  ten\n      and more\n", 80) ==
        "List:\n  1   one\n  10  ten and more\n");
  CHECK(shown("  1  one two\n", 9) == "  1  one\n     two\n");
}

TEST_CASE("A row without a term is indented") {
  CHECK(shown("  a: one,\n    two\n  b: three\n", 10) == "  a: one,\n    two\n  b: three\n");
}

TEST_CASE("Examples may follow a paragraph, and empty lines begin no notes") {
  CHECK(shown("\n\nOne.\n", 80) == "One.\n");
  CHECK(shown("One.\nExamples:\n  a   b\n  c   d\n", 80) == "One.\nExamples:\n  a   b\n  c   d\n");
}

TEST_CASE("Lines of an example are printed as they are") {
  CHECK(shown("Example:\n  a   b \\\n    c\n\nOne\ntwo\n", 6) ==
        "Example:\n  a   b \\\n    c\n\nOne\ntwo\n");
  CHECK(shown("Example:\n  a\nText\n  1  one\n", 80) == "Example:\n  a\nText\n  1  one\n");
}
