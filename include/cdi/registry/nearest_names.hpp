// Finds similar names for the message about a name that does not exist.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REGISTRY_NEAREST_NAMES_HPP
#define CDI_REGISTRY_NEAREST_NAMES_HPP

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Returns whether two letters are equal, ignoring case.
inline bool same_letter(char a, char b) {
  return detail::ascii_lower(a) == detail::ascii_lower(b);
}

/// Removes the letters that both names share at the beginning and at the end. `a` must not be
/// longer than `b`.
inline void drop_common_ends(std::string_view& a, std::string_view& b) {
  while (!a.empty() && same_letter(a.front(), b.front())) {
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  while (!a.empty() && same_letter(a.back(), b.back())) {
    a.remove_suffix(1);
    b.remove_suffix(1);
  }
}

/// Returns how many letters to change, add or drop to turn one name into the other, ignoring case.
/// Returns `max + 1` if there are more than `max`, or if a name exceeds 64 bytes. Costs at most
/// `2 * max + 1` steps for each letter of the shorter name, and no allocation.
inline std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t max) {
  constexpr std::size_t longest = 64;
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() > longest || b.size() - a.size() > max) return max + 1;
  drop_common_ends(a, b);
  std::array<std::size_t, longest + 1> row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    // Cells further from the diagonal need more than `max` letters; `row` exceeds `max` there.
    const std::size_t begin = i > max ? i - max : 0;
    const std::size_t end = b.size() < i + max + 1 ? b.size() : i + max + 1;
    std::size_t diagonal = row[begin];
    std::size_t least = row[begin] = begin == 0 ? i + 1 : max + 1;
    for (std::size_t j = begin; j < end; ++j) {
      const std::size_t changed = diagonal + (same_letter(a[i], b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      const auto added = (diagonal < row[j] ? diagonal : row[j]) + 1;  // or removed
      row[j + 1] = changed < added ? changed : added;
      if (row[j + 1] < least) least = row[j + 1];
    }
    if (least > max) return max + 1;
  }
  return row[b.size()] <= max ? row[b.size()] : max + 1;
}

/// Returns whether names differ only in two neighbouring letters that are in the other order.
inline bool swaps_letters(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  drop_common_ends(a, b);
  return a.size() == 2 && same_letter(a[0], b[1]) && same_letter(a[1], b[0]);
}

/// The first few of many names, by rank and then in byte order, without duplicates.
class FewNames {
 public:
  static constexpr std::size_t longest = 9;

  /// Keeps at most `max` names; `max` must not exceed `longest`.
  explicit FewNames(std::size_t max) : max_{max} {}

  void add(std::size_t rank, std::string_view name) {
    const Entry entry{rank, name};
    std::size_t at = size_;  // the place of the new entry
    while (at > 0 && entry < entries_[at - 1]) --at;
    if (at == max_ || (at > 0 && entry == entries_[at - 1])) return;
    if (size_ < max_) ++size_;
    for (auto i = size_ - 1; i > at; --i) entries_[i] = entries_[i - 1];
    entries_[at] = entry;
  }

  std::size_t size() const { return size_; }
  std::string_view operator[](std::size_t i) const { return entries_[i].name; }

 private:
  struct Entry {
    std::size_t rank = 0;
    std::string_view name{};

    friend bool operator==(const Entry&, const Entry&) = default;
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.rank != b.rank ? a.rank < b.rank : a.name < b.name;
    }
  };

  std::size_t max_;
  std::size_t size_ = 0;
  std::array<Entry, longest> entries_{};
};

/// The names most similar to a wanted name, best first, at most five.
class NearestNames {
 public:
  explicit NearestNames(std::string_view wanted) : wanted_{wanted} {
    max_ = wanted.size() < 6 ? 1 : wanted.size() < 9 ? 2 : 3;
  }

  /// Adds a name if it is similar to the wanted name or `related` to it.
  void add(std::string_view name, bool related = false) {
    const auto distance =
        detail::swaps_letters(wanted_, name) ? 1 : detail::edit_distance(wanted_, name, max_);
    const bool holds = wanted_.size() > 2 && name.find(wanted_) != std::string_view::npos;
    if (distance <= max_ || related || holds) names_.add(distance, name);
  }

  const FewNames& names() const { return names_; }

 private:
  static constexpr std::size_t limit = 5;

  std::string_view wanted_;
  std::size_t max_ = 0;
  FewNames names_{limit};
};

/// The first few of many names in byte order, without duplicates.
class FirstNames {
 public:
  void add(std::string_view name) { names_.add(0, name); }
  bool empty() const { return names_.size() == 0; }
  std::string text() const {
    std::string out;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      out.append(i == 0 ? "" : ", ").append(i == max ? "..." : cdi::escaped(names_[i]));
    }
    return out.empty() ? "none" : out;
  }

 private:
  static constexpr std::size_t max = 8;
  FewNames names_{max + 1};  // one extra name reveals that there are more
};

}  // namespace cdi::detail

#endif  // CDI_REGISTRY_NEAREST_NAMES_HPP
