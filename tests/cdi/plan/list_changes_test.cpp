// Tests for include/cdi/plan/list_changes.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/plan/list_changes.hpp>

#include "../../support/random_numbers.hpp"
#include "../apply/changed_json.hpp"

using cdi::Change;
using cdi::ChangeKind;
using cdi::detail::ListChanges;

namespace {

using Texts = std::vector<std::string>;

/// Gives a list an order, and returns the changes.
std::vector<Change> reordered(const Texts& entries, const std::vector<std::size_t>& order) {
  ListChanges list{"process.env", entries.size()};
  const auto describe = [&](const std::vector<std::size_t>& asked) {
    for (const auto i : asked) list.describe(i, {entries[i], entries[i]});
  };
  describe(list.removed(order));
  describe(list.moved());
  std::vector<Change> changes;
  list.add_to(changes);
  return changes;
}

Texts keys_of(const std::vector<Change>& changes) {
  Texts keys;
  for (const auto& change : changes) {
    keys.push_back(std::string{name_of(change.kind)} + " " + change.key);
  }
  return keys;
}

}  // namespace

TEST_CASE("A list that keeps its order and values has no changes") {
  CHECK(reordered({"a", "b"}, {0, 1}).empty());
  ListChanges list{"mounts", 1};
  list.assign(0, "{}", {"/a", "{}"});
  std::vector<Change> changes;
  list.add_to(changes);
  CHECK(changes.empty());
}

TEST_CASE("As few entries as possible are moved") {
  CHECK(keys_of(reordered({"a", "b", "c", "d"}, {3, 0, 1, 2})) == Texts{"moved d"});
  CHECK(keys_of(reordered({"a", "b", "c", "d"}, {1, 2, 3, 0})) == Texts{"moved a"});
  CHECK(reordered({"a", "b", "c", "d"}, {3, 2, 1, 0}).size() == 3);
}

TEST_CASE("An entry that is left out is removed") {
  const auto changes = reordered({"a", "b", "c"}, {0, 2});
  CHECK(keys_of(changes) == Texts{"removed b"});
  CHECK(changes[0].from == 1U);
  CHECK_FALSE(changes[0].to);
}

TEST_CASE("A new entry replaces the one of its key that is left out") {
  ListChanges list{"mounts", 2};
  list.append({"/a", "new"});
  const std::vector<std::size_t> order{1, 2};
  CHECK(list.removed(order) == std::vector<std::size_t>{0});
  list.describe(0, {"/a", "old"});
  CHECK(list.moved().empty());
  std::vector<Change> changes;
  list.add_to(changes);
  CHECK(changes == std::vector<Change>{{.kind = ChangeKind::replaced,
                                        .part = "mounts",
                                        .key = "/a",
                                        .before = "old",
                                        .after = "new",
                                        .from = 0,
                                        .to = 1}});
}

TEST_CASE("Of the settings of a key, the first has the value before and the last that afterwards") {
  std::vector<Change> changes;
  cdi::detail::add_settings(
      {{.kind = ChangeKind::replaced, .key = "a", .before = "0", .after = "1"},
       {.kind = ChangeKind::replaced, .key = "b", .before = "2", .after = "2"},
       {.kind = ChangeKind::replaced, .key = "a", .before = "1", .after = "3"}},
      changes);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].before == "0");
  CHECK(changes[0].after == "3");
}

TEST_CASE("The changes of random lists lead to the new lists") {
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    RandomNumbers random{seed};
    const auto text = [&] {
      return std::string{"ABC"[random.below(3)]} + "=" + std::to_string(random.below(4));
    };
    const auto key = [](const std::string& entry) {
      return entry.substr(0, 1);
    };
    Texts before(random.below(6));
    for (auto& entry : before) entry = text();
    Texts all = before;
    ListChanges list{"process.env", before.size()};
    for (auto& entry : all) {
      if (random.below(3) != 0) continue;
      const auto old = std::exchange(entry, key(entry) + "=" + std::to_string(random.below(4)));
      list.assign(static_cast<std::size_t>(&entry - all.data()), old, {key(entry), entry});
    }
    const auto assigned = all;
    for (auto added = random.below(4); added > 0; --added) {
      all.push_back(text());
      list.append({key(all.back()), all.back()});
    }
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool untouched = i < before.size() && assigned[i] == before[i];
      if (untouched && random.below(4) == 0) continue;
      order.insert(order.begin() + random.below(static_cast<std::uint32_t>(order.size()) + 1), i);
    }
    const auto describe = [&](const std::vector<std::size_t>& asked) {
      for (const auto i : asked) list.describe(i, {key(before[i]), before[i]});
    };
    describe(list.removed(order));
    describe(list.moved());
    std::vector<Change> changes;
    list.add_to(changes);
    Texts after;
    for (const auto i : order) after.push_back(all[i]);
    REQUIRE(changed_list(nlohmann::json(before), changes) == nlohmann::json(after));
  }
}
