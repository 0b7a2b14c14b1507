// Tests for include/cdi/apply/list_edits.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/apply/list_edits.hpp>
#include <cdi/oci/hooks.hpp>

namespace {

using Texts = std::vector<std::string>;

/// A list of `NAME=value`, which counts what it compares.
struct TextList {
  Texts& items;
  std::size_t& compared;

  std::size_t size() const { return items.size(); }
  std::string_view key(std::size_t i) const { return cdi::detail::env_name(items[i]); }
  bool equals(std::size_t i, std::string_view record) const {
    ++compared;
    return items[i] == record;
  }
  void append(std::string_view record) { items.emplace_back(record); }
  void assign(std::size_t i, std::string_view record) { items[i] = record; }
  void rearrange(std::span<const std::size_t> order) {
    Texts kept;
    for (const std::size_t i : order) kept.push_back(items[i]);
    items = kept;
  }
};

/// The same without `equals`.
struct PlainList {
  Texts& items;

  std::size_t size() const { return items.size(); }
  void append(std::string_view record) { items.emplace_back(record); }
};

/// A list of group ids.
struct IdList {
  std::vector<std::uint32_t>& ids;

  std::size_t size() const { return ids.size(); }
  std::uint32_t id(std::size_t i) const { return ids[i]; }
  void append(std::uint32_t id) { ids.push_back(id); }
};

Texts with_variables(Texts items, const std::vector<std::string_view>& records) {
  const cdi::detail::JoinedEdits no_edits;
  cdi::detail::RecordViews views{no_edits};
  std::size_t compared = 0;
  cdi::detail::merge_records(TextList{items, compared}, records, views, cdi::detail::merge_env);
  CHECK(compared == 0);
  return items;
}

struct Added {
  Texts items;
  std::size_t compared = 0;
};

Added with_missing(Texts items, const std::vector<std::string_view>& records) {
  Added added{std::move(items)};
  cdi::detail::MissingRecords missing;
  for (const auto record : records) missing.add(TextList{added.items, added.compared}, record);
  return added;
}

}  // namespace

TEST_CASE("The name of a variable ends at the first =") {
  CHECK(cdi::detail::env_name("A=B=C") == "A");
  CHECK(cdi::detail::env_name("A") == "A");
  CHECK(cdi::detail::env_name("=A") == "");
}

TEST_CASE("A variable replaces the last one of its name; a new one is appended") {
  CHECK(with_variables({"A=1", "B=2", "A=3"}, {"A=9"}) == Texts{"A=1", "B=2", "A=9"});
  CHECK(with_variables({"A=1"}, {"B=1", "C=1", "B=2"}) == Texts{"A=1", "B=2", "C=1"});
  CHECK(with_variables({}, {}).empty());
}

TEST_CASE("Mounts are sorted by the depth of their paths, not by the length") {
  const cdi::detail::JoinedEdits no_edits;
  cdi::detail::RecordViews views{no_edits};
  Texts items{"/a/b=1", "/long-name=2"};
  std::size_t compared = 0;
  const std::vector<std::string_view> records{"/c/d=3", "/longer-name=4"};
  cdi::detail::merge_records(TextList{items, compared}, records, views, cdi::detail::merge_mounts);
  CHECK(items == Texts{"/long-name=2", "/longer-name=4", "/a/b=1", "/c/d=3"});
}

TEST_CASE("Of many records with one key, only the last is compared with the entry") {
  cdi::detail::JoinedEdits edits;
  const std::string text = "/a";
  for (int i = 0; i < 100; ++i) edits.mounts.push_back({.destination = text, .source = text});
  struct MountList {
    Texts& items;
    std::size_t& compared;
    std::size_t size() const { return items.size(); }
    std::string_view key(std::size_t i) const { return items[i]; }
    bool equals(std::size_t, const cdi::oci::MountView&) const { return ++compared != 0; }
    void append(const cdi::oci::MountView& mount) { items.emplace_back(mount.destination); }
    void assign(std::size_t, const cdi::oci::MountView&) {}
    void rearrange(std::span<const std::size_t>) {}
  };
  cdi::detail::RecordViews views{edits};
  Texts items{text};
  std::size_t compared = 0;
  cdi::detail::merge_records(MountList{items, compared}, edits.mounts, views,
                             cdi::detail::merge_mounts);
  CHECK(compared == 1);
  CHECK(items == Texts{text});
}

TEST_CASE("A record is missing unless the list had it before the first was added") {
  CHECK(with_missing({"a", "b"}, {"b", "c"}).items == Texts{"a", "b", "c"});
  CHECK(with_missing({"a"}, {"b", "b"}).items == Texts{"a", "b", "b"});
  CHECK(with_missing({"a"}, {"a", "a"}).items == Texts{"a"});
  CHECK(with_missing({}, {"a", "a"}).items == Texts{"a", "a"});
}

TEST_CASE("Records that the list has in the same order are each compared once") {
  Texts items;
  for (int i = 0; i < 1000; ++i) items.push_back(std::to_string(i));
  const std::vector<std::string_view> records(items.begin() + 400, items.end());
  const auto added = with_missing(items, records);
  CHECK(added.items == items);
  CHECK(added.compared == 401 + 599);
}

TEST_CASE("The number of comparisons has a limit, after which a repeated record is still found") {
  constexpr std::size_t limit = cdi::detail::MissingRecords::max_comparisons;
  Texts others;
  for (std::size_t i = 0; i < 3000; ++i) others.push_back("old" + std::to_string(i));
  Texts texts;
  for (std::size_t i = 0; i < 3000; ++i) texts.push_back("new" + std::to_string(i));
  texts.push_back("old0");  // where the search begins
  const std::vector<std::string_view> records(texts.begin(), texts.end());
  const auto once = with_missing(others, records);
  CHECK(once.items.size() == 6000);
  // The 34th record reaches the limit; each one after it is compared with one entry.
  CHECK(once.compared == limit + records.size() - 34);
  const auto twice = with_missing(once.items, records);
  CHECK(twice.items == once.items);
}

TEST_CASE("A list that does not compare gets each record") {
  Texts items{"a"};
  cdi::detail::MissingRecords missing;
  missing.add(PlainList{items}, std::string_view{"a"});
  CHECK(items == Texts{"a", "a"});
}

TEST_CASE("A group is added once") {
  std::vector<std::uint32_t> ids{4, 4};
  cdi::detail::add_gids(IdList{ids}, {5, 4, 5, 0});
  CHECK(ids == std::vector<std::uint32_t>{4, 4, 5, 0});
}
