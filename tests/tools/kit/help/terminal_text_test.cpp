// Messages and explanations, wrapped for a terminal.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/help/terminal_text.hpp"

#include <fcntl.h>
#include <string>
#include <unistd.h>

#include <doctest/doctest.h>

TEST_CASE("terminal text: a long line is wrapped at words, indented by two more") {
  CHECK(tools::wrapped_lines("one two three four\n", 10) == "one two\n  three\n  four\n");
  CHECK(tools::wrapped_lines("  a: one two three\nb\n", 10) == "  a: one\n    two\n    three\nb\n");
  CHECK(tools::wrapped_lines("one  two\n\n", 10) == "one  two\n\n");
  CHECK(tools::wrapped_lines("no end", 10) == "no end");
  CHECK(tools::wrapped_lines("", 10).empty());
}

TEST_CASE("terminal text: long words and commands are not broken") {
  CHECK(tools::wrapped_lines("/a/very/long/path is gone", 10) == "/a/very/long/path\n  is gone");
  CHECK(tools::wrapped_lines("run `cdi write -d x y`, or stop", 12) ==
        "run\n  `cdi write -d x y`,\n  or stop");
  CHECK(tools::wrapped_lines("a ` alone two", 8) == "a `\n  alone\n  two");
}

TEST_CASE("terminal text: a stream that is not a terminal gets the text as it is") {
  const int file = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  REQUIRE(file >= 0);
  const std::string line(300, 'a');
  CHECK(tools::text_for(file, line + " " + line) == line + " " + line);
  ::close(file);
}
