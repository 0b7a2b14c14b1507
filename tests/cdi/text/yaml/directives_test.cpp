// Tests for include/cdi/text/yaml/directives.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/text/yaml/directives.hpp>

#include "../../../support/yaml_by_hand.hpp"

namespace {

/// The text behind the head of a document, or the error.
std::string behind_head(std::string_view text) {
  YamlByHand hand{text};
  cdi::detail::YamlDirectives directives{hand.cursor, hand.builder};
  return directives.read() ? hand.rest() : hand.error();
}

TEST_CASE("Directives and one marker are before a document") {
  CHECK(behind_head("a: 1") == "a: 1");
  CHECK(behind_head("# note\n\n  a: 1") == "a: 1");
  CHECK(behind_head("---\na: 1") == "\na: 1");
  CHECK(behind_head("--- a") == " a");
  CHECK(behind_head("---\n---\na") == "\n---\na");
  CHECK(behind_head("%YAML 1.1\n# note\n%TAG ! x\n---\na: 1") == "\na: 1");
  CHECK(behind_head("%YAML 1.2\n").empty());
  CHECK(behind_head(" %a") == "%a");  // not in the first column
  CHECK(behind_head("\ta: 1") == "\ta: 1");
  CHECK(behind_head("%TAG !e! x\n%TAG !f! x # note\n--- a") == " a");
  CHECK(behind_head("%YAML 1.1 # note\n--- a") == " a");
}

TEST_CASE("A directive must be known, and have a marker behind it") {
  CHECK(behind_head("%FOO\n---\na: 1") == "1:1 not valid YAML: unknown directive \"%FOO\"");
  CHECK(behind_head("\n%YAML 2.0\n---\n") ==
        "2:1 not valid YAML: only YAML 1.1 and 1.2 are supported");
  CHECK(behind_head("%YAML 1.1\na: 1") ==
        "2:1 not valid YAML: expected '---' after the lines that begin with %");
}

TEST_CASE("A directive must be complete, and must not be repeated") {
  for (const std::string_view head :
       {"%YAML 1.1\n# note\n%YAML 1.1\n", "%TAG !e! x\n%TAG !e! y\n", "%YAML 1.1 draft\n",
        "%TAG !e! x y\n", "%TAG\n", "%TAG !e\n", "%TAG !e!\n", "%TAG !e! # note\n", "%TAG !e x\n",
        "%TAG e! x\n"}) {
    CAPTURE(head);
    CHECK(behind_head(std::string{head} + "---\na: 1").find("not valid YAML") != std::string::npos);
  }
}

TEST_CASE("The head ends where the marker is") {
  YamlByHand hand{"%TAG !e! tag:x\n--- a"};
  cdi::detail::YamlDirectives directives{hand.cursor, hand.builder};
  CHECK(directives.read());
  CHECK(directives.end() == 15);
  CHECK_FALSE(hand.cursor.is_fresh());
}

TEST_CASE("A tag handle is known when %TAG defines it") {
  YamlByHand hand{"%TAG !e! tag:x\n%TAG  \t!f! y\n---\n"};
  cdi::detail::YamlDirectives directives{hand.cursor, hand.builder};
  CHECK(directives.read());
  for (const std::string_view handle : {"", "!", "!!", "!e!", "!f!"})
    CHECK(directives.is_known(handle));
  CHECK_FALSE(directives.is_known("!g!"));
}

TEST_CASE("Versions other than 1.1 are noted, since the Go reference refuses them") {
  CHECK(unportable("%TAG !e! x\n%YAML 1.2\n---\na: 1") == "2:1 %YAML");
  CHECK(unportable("%YAML 1.0\n---\na: 1") == "1:1 %YAML");
  CHECK(unportable("%YAML 1.1\n---\na: 1") == "none");
}

}  // namespace
