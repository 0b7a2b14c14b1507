// Tests for include/cdi/oci/hooks.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/fields.hpp>
#include <cdi/nlohmann/models.hpp>
#include <cdi/oci/hooks.hpp>

#include "every_member.hpp"

using cdi::oci::hook_point_name;
using cdi::oci::HookPoint;
using cdi::oci::parse_hook_point;

static_assert(hook_point_name(HookPoint::prestart) == "prestart");
static_assert(hook_point_name(HookPoint::create_runtime) == "createRuntime");
static_assert(hook_point_name(HookPoint::create_container) == "createContainer");
static_assert(hook_point_name(HookPoint::start_container) == "startContainer");
static_assert(hook_point_name(HookPoint::poststart) == "poststart");
static_assert(hook_point_name(HookPoint::poststop) == "poststop");
static_assert(parse_hook_point("createContainer") == HookPoint::create_container);
static_assert(!parse_hook_point(""));
static_assert(!parse_hook_point("CreateContainer"));
static_assert(!parse_hook_point("prestart "));
static_assert(!parse_hook_point("createcontainer"));
static_assert(!parse_hook_point({"prestart\0", 9}));

TEST_CASE("Each hook point has its own name and its own list") {
  cdi::oci::Hooks hooks;
  std::vector<const void*> lists;
  for (std::size_t i = 0; i < cdi::oci::hook_point_names.size(); ++i) {
    const auto name = cdi::oci::hook_point_names[i];
    CAPTURE(name);
    const auto point = parse_hook_point(name);
    REQUIRE(point);
    CHECK(hook_point_name(*point) == name);
    for (const void* other : lists) CHECK(other != &hooks.at(*point));
    lists.push_back(&hooks.at(*point));

    // The document has the list as the member with the name.
    cdi::oci::Hooks one;
    one.at(*point).push_back({.path = "/h"});
    CHECK(*cdi::write_json(one, -1) == "{\"" + std::string{name} + R"(":[{"path":"/h"}]})");
  }
  CHECK(lists.size() == 6);
}

TEST_CASE("Hooks are read back from JSON as they were written") {
  for (const std::string text :
       {"{}",
        R"({"prestart":[{"path":"/h","args":["h","","x"],"env":["A=1"],"timeout":5}],)"
        R"("poststop":[{"path":"/a"},{"path":"/a","timeout":0},{"path":"","timeout":-1}]})",
        R"({"startContainer":[{"path":"/h","timeout":9223372036854775807}]})"}) {
    CAPTURE(text);
    const auto hooks = cdi::read_json<cdi::oci::Hooks>(text);
    REQUIRE(hooks);
    CHECK(*cdi::write_json(*hooks, -1) == text);
  }
}

TEST_CASE("A hook without a path is refused, a list of an unknown hook point is kept") {
  for (const std::string text :
       {R"({"prestart":[{}]})", R"({"prestart":[null]})", R"({"prestart":{"path":"/h"}})",
        R"({"prestart":[{"path":"/h","timeout":1.5}]})"}) {
    CAPTURE(text);
    CHECK_FALSE(cdi::read_json<cdi::oci::Hooks>(text));
  }
  check_chapter<cdi::oci::Hooks>("/hooks");
}
