// Tests for include/cdi/apply/list_merge.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/apply/list_edits.hpp>
#include <cdi/apply/list_merge.hpp>

namespace {

std::string_view variable_of(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

/// A list of `NAME=value`, changed one record at a time.
struct Items {
  std::vector<std::string>& items;

  std::size_t size() const { return items.size(); }
  std::string_view key(std::size_t i) const { return variable_of(items[i]); }
  void append(std::string_view record) { items.emplace_back(record); }
  void assign(std::size_t i, std::string_view record) { items[i] = record; }
  void rearrange(std::span<const std::size_t> order) {
    std::vector<std::string> kept;
    for (const std::size_t i : order) kept.push_back(items[i]);
    items = kept;
  }

  std::size_t first(std::string_view name) const {
    std::size_t i = 0;
    while (i < size() && key(i) != name) ++i;
    return i;
  }
  std::size_t last(std::string_view name) const {
    std::size_t i = size();
    while (i > 0 && key(i - 1) != name) --i;
    return i == 0 ? size() : i - 1;
  }
  void put(std::size_t i, std::string_view record) {
    if (i == size()) return append(record);
    assign(i, record);
  }
  void remove(std::size_t i) {
    if (i != size()) items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
  }
};

std::uint32_t random_below(std::uint32_t end) {
  static std::uint32_t state = 1;
  state = state * 1664525U + 1013904223U;
  return (state >> 16) % end;
}

/// Plans a turn for each record, as `random_below` has it, and does the same to a list at once.
struct BothWays {
  Items list;
  const std::vector<std::string_view>& records;

  void turn(cdi::detail::ListMerge& plan, std::size_t i) {
    const auto name = variable_of(records[i]);
    CHECK(plan.has_key_of(i) == (list.first(name) != list.size()));
    switch (random_below(4)) {
      case 0: return plan.append(i), list.append(records[i]);
      case 1: return plan.replace_first_or_append(i), list.put(list.first(name), records[i]);
      case 2: return plan.replace_last_or_append(i), list.put(list.last(name), records[i]);
      default: return plan.remove_first(i), list.remove(list.first(name));
    }
  }
};

TEST_CASE("What is planned beside a list is what changing it record by record gives") {
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    const std::uint32_t names = 1 + random_below(6);
    const auto random_entries = [&] {
      std::vector<std::string> entries(random_below(9));
      for (auto& entry : entries) {
        entry = std::to_string(random_below(names)) + "=" + std::to_string(random_below(1000));
      }
      return entries;
    };
    auto planned = random_entries();
    auto changed = planned;
    const auto texts = random_entries();
    const std::vector<std::string_view> records(texts.begin(), texts.end());
    static BothWays* both = nullptr;
    BothWays now{Items{changed}, records};
    both = &now;
    const cdi::detail::JoinedEdits no_edits;
    cdi::detail::RecordViews views{no_edits};
    cdi::detail::merge_records(Items{planned}, records, views,
                               [](cdi::detail::ListMerge& plan, std::size_t count) {
                                 for (std::size_t i = 0; i < count; ++i) both->turn(plan, i);
                                 plan.finish();
                               });
    REQUIRE(planned == changed);
  }
}

}  // namespace
