// Sorting, binary search, lookup of equal keys, min and max, without the compile cost of
// `<algorithm>`. SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_BASE_ORDER_HPP
#define CDI_BASE_ORDER_HPP

#include <cstddef>
#include <string_view>
#include <vector>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Returns the lesser of two numbers.
template <class Number>
constexpr Number min(Number a, Number b) {
  return b < a ? b : a;
}

/// Returns the greater of two numbers.
template <class Number>
constexpr Number max(Number a, Number b) {
  return a < b ? b : a;
}

/// Sorts numbers; `less(a, b)` returns whether `a` comes before `b`. The sort is stable. `runs` is
/// scratch space of the same size. For each sorted type, this compiles in a fifth
/// of the time of `std::sort`, and without `<algorithm>`.
template <class Less>
void sort(std::vector<std::size_t>& order, std::vector<std::size_t>& runs, const Less& less) {
  const std::size_t count = order.size();
  for (std::size_t width = 1; width < count; width *= 2) {
    order.swap(runs);  // sorted runs of `width` numbers each
    for (std::size_t to = 0; to < count;) {
      std::size_t a = to;
      std::size_t b = count - to > width ? to + width : count;
      const std::size_t middle = b;
      const std::size_t end = count - b > width ? b + width : count;
      const bool mixed = b < end && less(runs[b], runs[b - 1]);
      while (to < end) {
        const bool second = a == middle || (mixed && b < end && less(runs[b], runs[a]));
        order[to++] = runs[second ? b++ : a++];
      }
    }
  }
}

/// The numbers from 0 to `count - 1`, in sorted order.
template <class Less>
std::vector<std::size_t> order_of(std::size_t count, const Less& less) {
  std::vector<std::size_t> order(count);
  std::vector<std::size_t> runs(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  detail::sort(order, runs, less);
  return order;
}

/// The number of leading values, out of `count`, for which `holds(i)` is true. The search
/// is binary, so `holds` must be false for all values after these.
template <class Holds>
std::size_t count_first(std::size_t count, const Holds& holds) {
  std::size_t low = 0;
  std::size_t high = count;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    (holds(middle) ? low = middle + 1 : high = middle);
  }
  return low;
}

/// For each number below `count`, the smallest number equal to it by `less`, possibly itself.
template <class Less>
std::vector<std::size_t> first_of_equals(std::size_t count, const Less& less) {
  const auto order = detail::order_of(count, less);
  std::vector<std::size_t> first(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool same = i > 0 && !less(order[i - 1], order[i]);
    first[order[i]] = same ? first[order[i - 1]] : order[i];
  }
  return first;
}

/// For each key, the index of the first equal key.
std::vector<std::size_t> first_of_equals(const std::vector<std::string_view>& keys);

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/base/order.inl>
#endif

#endif  // CDI_BASE_ORDER_HPP
