// The devices that a container requests by variables.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/names/variable_requests.hpp"

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/registry.hpp>

namespace {

using tools::add_variables;
using tools::variable_requests;
using Names = std::vector<std::string>;

const std::map<std::string, std::string> kinds{{"A", "a.com/gpu"}, {"B", "b.com/gpu"}};

cdi::ConfigJson config_with(const std::string& env) {
  return {.text = R"({"process": {"env": )" + env + "}}"};
}

/// The names of the devices that variables select, after those that annotations name.
Names names_of(const std::string& env, const Names& annotated = {}) {
  std::vector<cdi::RequestedDevice> devices;
  for (const auto& name : annotated) devices.push_back({.name = name});
  const auto variables = variable_requests(config_with(env), kinds, devices);
  REQUIRE(variables);
  add_variables(*variables, cdi::Registry{}, devices);
  return {devices.begin(), devices.end()};
}

}  // namespace

TEST_CASE("Variables that count select devices of their kinds, each once") {
  CHECK(names_of(R"(["X=1", "B=x", "A=0-1,0", "AB=7"])") ==
        Names{"a.com/gpu=0", "a.com/gpu=1", "b.com/gpu=x"});
  CHECK(names_of(R"(["A=all"])") == Names{"a.com/gpu=all"});
  CHECK(names_of(R"(["A=a.com/gpu=3"])") == Names{"a.com/gpu=3"});
  CHECK(names_of(R"(["A=x,,x"])") == Names{"a.com/gpu=x"});
}

TEST_CASE("The last of several variables with one name counts, as in the container") {
  CHECK(names_of(R"(["A=0", "A=1"])") == Names{"a.com/gpu=1"});
  CHECK(names_of(R"(["A=3-1", "X=1", "A=0", "AB=7"])") == Names{"a.com/gpu=0"});
  CHECK(names_of(R"(["A=0", "A=none"])").empty());
  CHECK(names_of(R"(["A=0", "A="])").empty());
}

TEST_CASE("A text that looks like a UUID or a name in a kind is the name of a device") {
  for (const std::string name : {"mig-d184", "MIG-xyz", "GPU-xyz", "0xEF2C1799A1F3E2EG",
                                 "0xEF2C1799A1F3E2ED", "0x1", "a.com/gpux"}) {
    CAPTURE(name);
    CHECK(names_of(R"(["A=)" + name + R"("])") == Names{"a.com/gpu=" + name});
  }
}

TEST_CASE("Nothing is selected without a variable, and by none and void") {
  for (const auto* const env : {"[]", R"(["A"])", R"(["A="])", R"(["A=none", "B=void"])", "null"}) {
    CAPTURE(env);
    CHECK(names_of(env).empty());
  }
  CHECK(variable_requests({.text = "{}"}, kinds, {})->empty());
  CHECK(variable_requests({.text = R"({"A": {}})"}, kinds, {})->empty());
  CHECK(variable_requests({.text = "no JSON"}, kinds, {})->empty());  // not even read
}

TEST_CASE("An annotation for a device of the same kind comes before a variable") {
  CHECK(names_of(R"(["A=all", "B=1"])", {"a.com/gpu=0"}) == Names{"a.com/gpu=0", "b.com/gpu=1"});
}

TEST_CASE(
    "A device that several annotations or variables name is requested once, where it was first") {
  CHECK(names_of(R"(["A=0", "B=1"])", {"c.com/gpu=0", "d.com/gpu=0", "c.com/gpu=0"}) ==
        Names{"c.com/gpu=0", "d.com/gpu=0", "a.com/gpu=0", "b.com/gpu=1"});
}

TEST_CASE("A name with an escape counts, too") {
  const std::map<std::string, std::string> one{{"A_B", "a.com/gpu"}};
  const auto variables = variable_requests(config_with(R"(["A\u005fB=1"])"), one, {});
  REQUIRE(variables);
  CHECK(variables->size() == 1);
}

TEST_CASE("Faults are errors") {
  CHECK_FALSE(variable_requests(config_with(R"(["A=3-1"])"), kinds, {}));
  CHECK_FALSE(variable_requests({.text = "no JSON: A"}, kinds, {}));
}
