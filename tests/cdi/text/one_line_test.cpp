// Tests for include/cdi/text/one_line.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/spec.hpp>
#include <cdi/model/type.hpp>
#include <cdi/text/one_line.hpp>

namespace {

std::string line_of(const cdi::ContainerEdits& edits) {
  return cdi::detail::on_one_line(&edits, cdi::detail::type_of<cdi::ContainerEdits>);
}

}  // namespace

TEST_CASE("A value is written on one line") {
  CHECK(line_of({}) == "{}");
  CHECK(line_of({.env = {"A=1", "B=\n"}, .additional_gids = {5}}) ==
        R"({env: ["A=1", "B=\n"], additionalGids: [5]})");
  CHECK(line_of({.hooks = {{.hook_name = "prestart", .path = "/h", .timeout = 3}}}) ==
        R"({hooks: [{hookName: "prestart", path: "/h", timeout: 3}]})");
}

TEST_CASE("A long value is cut after about 160 bytes") {
  const auto line = line_of({.env = std::vector<std::string>(1000, "A=" + std::string(50, 'x'))});
  CHECK(line.size() < 400);
  CHECK(line.ends_with("..."));
}

TEST_CASE("Values of every kind have a form on one line") {
  cdi::detail::OneLine line;
  line.begin_list();
  line.boolean(true);
  line.boolean(false);
  line.unsigned_integer(7);
  line.number("1.50");
  line.null();
  line.end_list();
  CHECK(std::move(line).take() == "[true, false, 7, 1.50, null]");
}
