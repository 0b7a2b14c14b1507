// `Prefixes`: texts in an order in which those that begin another text are found fast.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_PREFIXES_HPP
#define CDI_RULES_PREFIXES_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

/// Some texts, each with its index in the list that was given. To make it costs a sort.
class Prefixes {
 public:
  Prefixes() = default;
  explicit Prefixes(std::vector<std::string> texts);

  /// Calls `accept` with the index of each text that `text` begins with, the longest first, and the
  /// last first of equal ones, until it returns true. Returns whether it did. Costs a binary
  /// search, and a step for each text that begins a neighbour of `text`: of different ones with so
  /// many bytes in all, the square root of twice that number at most.
  template <class Accept>
  bool any(std::string_view text, const Accept& accept) const {
    auto at = neighbour(text);
    const auto same = at == none ? 0 : common_size(groups_[at].text, text);
    for (; at != none; at = groups_[at].shorter) {
      const Group& group = groups_[at];
      for (auto i = group.end; group.text.size() <= same && i != group.begin; --i) {
        if (accept(order_[i - 1])) return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  /// Equal texts.
  struct Group {
    std::string text{};
    std::size_t begin = 0;       // in `order_`
    std::size_t end = 0;         // likewise
    std::size_t shorter = none;  // the group of the longest other text that this one begins with
  };

  static std::size_t common_size(std::string_view a, std::string_view b);
  /// The last group whose text does not come after `text`.
  std::size_t neighbour(std::string_view text) const;

  std::vector<Group> groups_{};       // by text
  std::vector<std::size_t> order_{};  // the indices of the texts, by text
};

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/prefixes.inl>
#endif

#endif  // CDI_RULES_PREFIXES_HPP
