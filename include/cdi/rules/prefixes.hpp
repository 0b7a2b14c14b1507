// `Prefixes`: finds the texts that are prefixes of another text.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_PREFIXES_HPP
#define CDI_RULES_PREFIXES_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// A set of texts, each with its index in the original list. The constructor costs a sort.
class Prefixes {
 public:
  Prefixes() = default;
  explicit Prefixes(std::vector<std::string> texts);

  /// Calls `accept` with the index of each text that is a prefix of `text` until a call returns
  /// true, and returns whether a call did. Longer texts come first; among equal texts, the last
  /// comes first. Costs a binary search, and a step for each prefix of a neighbour of `text`: among
  /// distinct texts with n bytes in total, at most the square root of 2n steps.
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

  /// A group of equal texts.
  struct Group {
    std::string text{};
    std::size_t begin = 0;       // in `order_`
    std::size_t end = 0;         // in `order_`, past the last
    std::size_t shorter = none;  // the group of the longest proper prefix
  };

  static std::size_t common_size(std::string_view a, std::string_view b);
  /// Returns the last group whose text does not come after `text`.
  std::size_t neighbour(std::string_view text) const;

  std::vector<Group> groups_{};       // sorted by text
  std::vector<std::size_t> order_{};  // text indices, sorted by text
};

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/rules/prefixes.inl>
#endif

#endif  // CDI_RULES_PREFIXES_HPP
