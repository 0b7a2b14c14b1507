// Plans of the changes that bring published ResourceSlices up to date.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/api_server/slice_plan.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace dra;

namespace {

using Action = SliceChange::Action;

/// A spec with one device in the pool of a node.
ApiJson spec(const std::string& device, const std::string& pool = "node1") {
  return {{"driver", "d"},
          {"nodeName", "node1"},
          {"pool", ApiJson{{"name", pool}, {"generation", 1}, {"resourceSliceCount", 1}}},
          {"devices", ApiJson::array({ApiJson{{"name", device}}})}};
}

ExistingSlice existing(const std::string& name, ApiJson its_spec, std::int64_t generation,
                       std::int64_t count) {
  its_spec["pool"]["generation"] = generation;
  its_spec["pool"]["resourceSliceCount"] = count;
  return {.name = name, .uid = "uid-" + name, .resource_version = "7", .spec = its_spec};
}

/// A change as text: "update a d0 3/1" has the name, the device, the generation and the count.
std::string text_of(const SliceChange& change) {
  if (change.action == Action::remove) return "remove " + change.slice.name;
  const auto& devices = change.slice.spec["devices"];
  return (change.action == Action::create ? "create " : "update " + change.slice.name + " ") +
         (devices.empty() ? "none" : devices[0]["name"].get<std::string>()) + " " +
         std::to_string(change.slice.generation()) + "/" + std::to_string(change.slice.count());
}

std::vector<std::string> plan(const std::vector<ApiJson>& desired,
                              const std::vector<ExistingSlice>& there) {
  std::vector<std::string> out;
  for (const auto& change : plan_slices(desired, there)) out.push_back(text_of(change));
  return out;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a node without slices gets its own") {
  CHECK(plan({spec("d0")}, {}) == Texts{"create d0 1/1"});
  CHECK(plan({spec("d0"), spec("d1")}, {}) == Texts{"create d0 1/2", "create d1 1/2"});
}

TEST_CASE("slices with the right content stay, whatever their generation and order") {
  CHECK(plan({spec("d0")}, {existing("a", spec("d0"), 9, 1)}).empty());
  const auto a = existing("a", spec("d1"), 3, 2);
  const auto b = existing("b", spec("d0"), 3, 2);
  CHECK(plan({spec("d0"), spec("d1")}, {a, b}).empty());
}

TEST_CASE("one slice that differs keeps the generation") {
  const auto a = existing("a", spec("d0"), 3, 2);
  const auto b = existing("b", spec("old"), 3, 2);
  CHECK(plan({spec("d0"), spec("d1")}, {a, b}) == Texts{"update b d1 3/2"});
}

TEST_CASE("two slices that differ, and another number of slices, give all a new generation") {
  const auto a = existing("a", spec("x"), 3, 2);
  const auto b = existing("b", spec("y"), 3, 2);
  CHECK(plan({spec("d0"), spec("d1")}, {a, b}) == Texts{"update a d0 4/2", "update b d1 4/2"});
  CHECK(plan({spec("d0")}, {existing("a", spec("x"), 3, 2), existing("b", spec("d0"), 3, 2)}) ==
        Texts{"update b d0 4/1", "remove a"});
  CHECK(plan({spec("d0"), spec("d1")}, {existing("a", spec("d0"), 3, 1)}) ==
        Texts{"update a d0 4/2", "create d1 4/2"});
}

TEST_CASE("slices of older generations are leftovers") {
  const auto old = existing("old", spec("d0"), 2, 1);
  CHECK(plan({spec("d0")}, {old, existing("a", spec("d0"), 3, 1)}) == Texts{"remove old"});
  CHECK(plan({spec("d0")}, {old, existing("a", spec("x"), 3, 1)}) ==
        Texts{"update a d0 3/1", "remove old"});
}

TEST_CASE("an incomplete generation is written again") {
  // A driver that was killed after the first of two slices.
  const auto a = existing("a", spec("d0"), 4, 2);
  const auto b = existing("b", spec("d1"), 3, 2);
  CHECK(plan({spec("d0"), spec("d1")}, {a, b}) == Texts{"update a d0 5/2", "update b d1 5/2"});
  // A wrong count hides the pool from the scheduler.
  CHECK(plan({spec("d0")}, {existing("a", spec("d0"), 4, 2)}) == Texts{"update a d0 5/1"});
}

TEST_CASE("the same slice twice: one goes") {
  const auto a = existing("a", spec("d0"), 1, 1);
  const auto b = existing("b", spec("d0"), 1, 1);
  CHECK(plan({spec("d0")}, {a, b}) == Texts{"update a d0 2/1", "remove b"});
}

TEST_CASE("slices of other pools of the driver are not of this node") {
  const auto a = existing("a", spec("d0", "before"), 8, 1);
  CHECK(plan({spec("d0")}, {a, existing("b", spec("d0"), 2, 1)}) == Texts{"remove a"});
  // The API server refuses another pool for a slice that exists.
  CHECK(plan({spec("d0")}, {a}) == Texts{"create d0 1/1", "remove a"});
  CHECK(plan({spec("d0")}, {a, existing("b", spec("x"), 2, 1)}) ==
        Texts{"update b d0 2/1", "remove a"});
}

TEST_CASE("without slices of its own, a node has only leftovers") {
  CHECK(plan({}, {existing("a", spec("d0"), 3, 1)}) == Texts{"remove a"});
}

TEST_CASE("the generation of a plan is that which its slices get") {
  const auto a = existing("a", spec("x"), 3, 1);
  CHECK(generation_of({}) == 0);
  CHECK(generation_of(plan_slices({}, {a})) == 0);
  CHECK(generation_of(plan_slices({spec("d0")}, {a})) == 3);
  const auto other = existing("b", spec("d0", "before"), 8, 1);
  CHECK(generation_of({{.action = Action::remove, .slice = other},
                       {.action = Action::update, .slice = a}}) == 3);
}

TEST_CASE("a node without devices has one empty slice, whose list the server leaves out") {
  auto none = spec("d0");
  none["devices"] = ApiJson::array();
  CHECK(plan({none}, {}) == Texts{"create none 1/1"});
  auto kept = none;
  kept.erase("devices");
  CHECK(plan({none}, {existing("a", kept, 1, 1)}).empty());
}

TEST_CASE("a taint keeps its time, which is no difference") {
  const auto tainted = [](const std::string& value) {
    auto out = spec("d0");
    out["devices"][0]["taints"] = ApiJson::array(
        {ApiJson{{"key", "d/unusable"}, {"value", value}, {"effect", "NoSchedule"}}});
    return out;
  };
  auto kept = tainted("node");
  kept["devices"][0]["taints"][0]["timeAdded"] = "2026-01-01T00:00:00Z";
  CHECK(plan({tainted("node")}, {existing("a", kept, 1, 1)}).empty());
  CHECK(plan({tainted("node")}, {existing("a", tainted("node"), 1, 1)}).empty());
  auto more = tainted("node");
  more["devices"][0]["attributes"] = ApiJson{{"index", ApiJson{{"int", 1}}}};
  const auto changed = plan_slices({more}, {existing("a", kept, 1, 1)});
  REQUIRE(changed.size() == 1);
  CHECK(changed[0].slice.spec["devices"][0]["taints"][0]["timeAdded"] == "2026-01-01T00:00:00Z");
  const auto other = plan_slices({tainted("health")}, {existing("a", kept, 1, 1)});
  REQUIRE(other.size() == 1);
  CHECK_FALSE(other[0].slice.spec["devices"][0]["taints"][0].contains("timeAdded"));
}

TEST_CASE("what a plan makes needs no further change") {
  const std::vector<std::vector<ApiJson>> wishes = {
      {spec("d0")}, {spec("d0"), spec("d1")}, {spec("d1")}, {spec("d2"), spec("d3"), spec("d0")}};
  const std::vector<std::vector<ExistingSlice>> states = {
      {},
      {existing("a", spec("d0"), 1, 1)},
      {existing("a", spec("d0"), 5, 2), existing("b", spec("d1"), 4, 2)},
      {existing("a", spec("d0"), 5, 1), existing("b", spec("d0", "other"), 9, 1)},
      {{.name = "a", .spec = ApiJson{{"pool", "broken"}}}},
  };
  for (const auto& wish : wishes) {
    for (auto state : states) {
      int number = 0;
      for (const auto& change : plan_slices(wish, state)) {
        std::erase_if(state, [&](const auto& one) { return one.name == change.slice.name; });
        auto made = change.slice;
        if (made.name.empty()) made.name = "new" + std::to_string(number++);
        if (change.action != Action::remove) state.push_back(made);
      }
      CHECK(state.size() == wish.size());
      CHECK(plan(wish, state).empty());
    }
  }
}

TEST_CASE("objects of another form are replaced, not read") {
  for (const auto* const text :
       {R"({})", R"({"pool":7})", R"({"pool":{"name":1}})",
        R"({"pool":{"name":"node1","generation":"x"},"devices":{}})",
        R"({"pool":{"name":"node1","generation":1},"devices":[1,{"taints":3}]})"}) {
    ExistingSlice odd{.name = "a", .spec = parse_object(text)};
    const auto changes = plan_slices({spec("d0")}, {odd});
    REQUIRE(!changes.empty());
    const bool is_of_pool = odd.pool_name() == "node1";
    CHECK(changes.size() == (is_of_pool ? 1 : 2));
    CHECK(changes.front().action == (is_of_pool ? Action::update : Action::create));
    CHECK(changes.back().action == (is_of_pool ? Action::update : Action::remove));
  }
}
