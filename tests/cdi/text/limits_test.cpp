// Each limit of a text, for JSON and for YAML.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/base/result.hpp>
#include <cdi/text/limits.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/yaml/parse_yaml.hpp>

namespace {

/// Whether a text is read; false if it is over a limit.
template <class Parsed>
bool is_read(const Parsed& parsed) {
  if (!parsed) CHECK(parsed.error().code == cdi::Errc::limit);
  return parsed.has_value();
}

bool is_read_as_json(std::string_view text, const cdi::Limits& limits) {
  return is_read(cdi::parse_json(text, {}, limits));
}
bool is_read_as_yaml(std::string_view text, const cdi::Limits& limits) {
  return is_read(cdi::parse_yaml(text, {}, limits));
}

}  // namespace

TEST_CASE("A text at a limit is read, and one over it is not, as JSON and as YAML") {
  const std::string text = R"({"a": [1, 2, [3]]})";  // 18 bytes, 3 levels, 7 values with the key
  struct {
    std::string_view what;
    cdi::Limits enough;
    cdi::Limits too_little;
  } const rows[] = {
      {"size", {.bytes = 18}, {.bytes = 17}},
      {"nesting", {.depth = 3}, {.depth = 2}},
      {"number of values", {.values = 7}, {.values = 6}},
  };
  REQUIRE(text.size() == 18);
  for (const auto& row : rows) {
    CAPTURE(row.what);
    CHECK(is_read_as_json(text, row.enough));
    CHECK(is_read_as_yaml(text, row.enough));
    CHECK_FALSE(is_read_as_json(text, row.too_little));
    CHECK_FALSE(is_read_as_yaml(text, row.too_little));
  }
}

TEST_CASE("Aliases of YAML may add ten times the size of the text, and more on request") {
  const std::string word(100, 'x');
  std::string text = "a: &a " + word + "\nb: [*a";
  for (int i = 0; i < 100; ++i) text += ", *a";
  text += "]\n";  // adds 13 kB to a text of 0.5 kB
  CHECK_FALSE(is_read_as_yaml(text, {.expansion = 0}));
  CHECK(is_read_as_yaml(text, {.expansion = 20'000}));
}

TEST_CASE("Without other limits, a text of 64 levels is read, and one of 65 is not") {
  const std::string levels(64, '[');
  const std::string ends(64, ']');
  CHECK(is_read_as_json(levels + ends, {}));
  CHECK(is_read_as_yaml(levels + ends, {}));
  CHECK_FALSE(is_read_as_json("[" + levels + ends + "]", {}));
  CHECK_FALSE(is_read_as_yaml("[" + levels + ends + "]", {}));
}

TEST_CASE("Without other limits, a text of 16 MiB is read, and one byte more is not") {
  const std::string letters((std::size_t{16} << 20) - 2, 'a');
  CHECK(is_read_as_json("\"" + letters + "\"", {}));
  CHECK_FALSE(is_read_as_json("\"" + letters + "a\"", {}));
}

TEST_CASE("Without other limits, two million values are read, and one more is not") {
  std::string items = "[0";
  for (int i = 2; i < 2'000'000; ++i) items += ", 0";  // the list itself is a value, too
  CHECK(is_read_as_json(items + "]", {}));
  CHECK_FALSE(is_read_as_json(items + ", 0]", {}));
}

TEST_CASE("Without other limits, aliases may add 4 MiB, and not a byte more") {
  const std::string word((std::size_t{4} << 20) / 32 - 32, 'x');  // each alias costs 32 bytes more
  std::string aliases;
  for (int i = 0; i < 32; ++i) aliases += ", *a";
  CHECK(is_read_as_yaml("[&a " + word + aliases + "]", {}));
  CHECK_FALSE(is_read_as_yaml("[&a " + word + "x" + aliases + "]", {}));
}
