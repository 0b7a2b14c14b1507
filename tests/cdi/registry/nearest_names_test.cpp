// Tests for include/cdi/registry/nearest_names.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/registry/nearest_names.hpp>

namespace {

using Views = std::vector<std::string_view>;

Views views(const cdi::detail::FewNames& names) {
  Views out;
  for (std::size_t i = 0; i < names.size(); ++i) out.push_back(names[i]);
  return out;
}

/// The same as `edit_distance`, from the whole table of distances of all beginnings.
std::size_t plain_distance(std::string_view a, std::string_view b, std::size_t max) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      auto& cell = table[i][j];
      cell = std::max(i, j);
      if (i == 0 || j == 0) continue;
      const bool same = cdi::detail::ascii_lower(a[i - 1]) == cdi::detail::ascii_lower(b[j - 1]);
      cell = std::min(
          {table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (same ? 0 : 1)});
    }
  }
  return std::min(table[a.size()][b.size()], max + 1);
}

Views nearest(std::string_view wanted, const Views& names) {
  cdi::detail::NearestNames nearest{wanted};
  for (const auto name : names) nearest.add(name);
  return views(nearest.names());
}

std::string first(const Views& names) {
  cdi::detail::FirstNames first;
  for (const auto name : names) first.add(name);
  CHECK(first.empty() == names.empty());
  return first.text();
}

}  // namespace

TEST_CASE("The distance of two names is the number of letters to change, in any case") {
  struct {
    std::string_view a;
    std::string_view b;
    std::size_t distance;
  } const rows[] = {
      {"", "", 0},         {"", "ab", 2},
      {"gpu0", "gpu0", 0}, {"gpu0", "GPU0", 0},
      {"gpu0", "gpu1", 1}, {"gpu0", "gpu", 1},
      {"gpu", "xgpu", 1},  {"gpu", "gxpu", 1},
      {"ab", "ba", 2},     {"kitten", "sitting", 3},
      {"[", "{", 1},
  };
  for (const auto& row : rows) {
    CAPTURE(row.a);
    CAPTURE(row.b);
    CHECK(cdi::detail::edit_distance(row.a, row.b, 3) == row.distance);
    CHECK(cdi::detail::edit_distance(row.b, row.a, 3) == row.distance);
  }
}

TEST_CASE("A distance over the most that is asked for is told as one more") {
  CHECK(cdi::detail::edit_distance("kitten", "sitting", 2) == 3);
  CHECK(cdi::detail::edit_distance("abcdef", "ghijkl", 2) == 3);
  CHECK(cdi::detail::edit_distance("a", "abcdef", 2) == 3);
  CHECK(cdi::detail::edit_distance("a", "b", 0) == 1);
  const std::string longest(64, 'x');
  CHECK(cdi::detail::edit_distance(longest, longest, 2) == 0);
  CHECK(cdi::detail::edit_distance(longest, longest.substr(2), 2) == 2);
  CHECK(cdi::detail::edit_distance(longest + "x", longest + "x", 2) == 3);
}

TEST_CASE("The distance of random texts equals the result of the whole table") {
  std::minstd_rand random{7};
  const auto below = [&](std::size_t end) {
    return random() % end;
  };
  const auto random_text = [&] {
    std::string text(below(12), 'a');
    for (auto& letter : text) letter = "aAbc"[below(4)];
    return text;
  };
  std::size_t near = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto a = random_text();
    const auto b = random_text();
    const auto max = below(5);
    const auto distance = cdi::detail::edit_distance(a, b, max);
    if (distance <= max) ++near;
    if (distance == plain_distance(a, b, max)) continue;
    FAIL(a, " ", b, " ", max, " ", distance);
  }
  CHECK(near > 1000);
}

TEST_CASE("The nearest names are few, the best first, each once") {
  CHECK(nearest("gpu0", {"gpu7", "GPU0", "nic0", "gpu7", "tpu"}) == Views{"GPU0", "gpu7"});
  CHECK(nearest("x", {"a", "b", "c", "d", "e", "f"}) == Views{"a", "b", "c", "d", "e"});
  CHECK(nearest("x", {"f", "e", "d", "c", "b", "a"}) == Views{"a", "b", "c", "d", "e"});
  CHECK(nearest("gpu", {}).empty());
  CHECK(nearest("gpu0", {"disk", "a-much-longer-name"}).empty());
}

TEST_CASE("The longer the name, the more may be wrong in it: a third, from one to three letters") {
  CHECK(nearest("ab", {"xy", "ax"}) == Views{"ax"});
  CHECK(nearest("abcde", {"xycde", "xbcde"}) == Views{"xbcde"});
  CHECK(nearest("abcdef", {"xyzdef", "xycdef"}) == Views{"xycdef"});
  CHECK(nearest("abcdefgh", {"xyzdefgh", "xycdefgh"}) == Views{"xycdefgh"});
  CHECK(nearest("abcdefghi", {"wxyzefghi", "xyzdefghi"}) == Views{"xyzdefghi"});
  CHECK(nearest("abcdefghijkl", {"wxyzefghijkl", "xyzdefghijkl"}) == Views{"xyzdefghijkl"});
}

TEST_CASE("Two letters in the other order are one mistake") {
  CHECK(nearest("ruels", {"rules", "ruled"}) == Views{"rules"});
  CHECK(nearest("GUP0", {"gpu0", "gp0u"}) == Views{"gpu0"});
  CHECK(nearest("ba", {"ab", "aa"}) == Views{"aa", "ab"});
  CHECK(nearest("lsit", {"l", "tils", "sitl"}).empty());
}

TEST_CASE("A name that holds the one wanted is near, but a single letter says nothing") {
  CHECK(nearest("gpu", {"nvidia-gpu-0", "nic"}) == Views{"nvidia-gpu-0"});
  CHECK(nearest("g", {"nvidia-gpu-0"}).empty());
}

TEST_CASE("A related name is told however it is spelt, after those that are near") {
  cdi::detail::NearestNames nearest{"vendor.com/gpu"};
  nearest.add("aaa.org/gpu", true);
  nearest.add("vendor.com/gpus");
  nearest.add("aaa.org/nic", false);
  CHECK(views(nearest.names()) == Views{"vendor.com/gpus", "aaa.org/gpu"});
}

TEST_CASE("The first names are told in order, each once, and that there are more") {
  CHECK(first({}) == "none");
  CHECK(first({"b", "a", "b"}) == "a, b");
  CHECK(first({"8", "7", "6", "5", "4", "3", "2", "1"}) == "1, 2, 3, 4, 5, 6, 7, 8");
  CHECK(first({"1", "2", "3", "4", "5", "6", "7", "8", "9"}) == "1, 2, 3, 4, 5, 6, 7, 8, ...");
  CHECK(first({"9", "8", "7", "6", "5", "4", "3", "2", "1", "0"}) == "0, 1, 2, 3, 4, 5, 6, 7, ...");
  CHECK(first({"a\nb", "\xff"}) == R"(a\nb, \xff)");
}

TEST_CASE("Two letters of which only one is swapped are two mistakes") {
  CHECK(nearest("xab", {"xca"}).empty());
  CHECK(nearest("xab", {"xbc"}).empty());
}
