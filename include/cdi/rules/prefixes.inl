// The bodies of <cdi/rules/prefixes.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_PREFIXES_INL
#define CDI_RULES_PREFIXES_INL

#include <utility>

#include <cdi/base/order.hpp>
#include <cdi/rules/prefixes.hpp>

namespace cdi::inline CDI_ABI::detail {

CDI_INLINE Prefixes::Prefixes(std::vector<std::string> texts)
    : order_{detail::order_of(texts.size(),
                              [&](std::size_t a, std::size_t b) { return texts[a] < texts[b]; })} {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    auto& text = texts[order_[i]];
    if (groups_.empty() || groups_.back().text != text) {
      auto above = groups_.empty() ? none : groups_.size() - 1;
      while (above != none && !text.starts_with(groups_[above].text))
        above = groups_[above].shorter;
      groups_.push_back({std::move(text), i, i, above});
    }
    groups_.back().end = i + 1;
  }
}

CDI_INLINE std::size_t Prefixes::common_size(std::string_view a, std::string_view b) {
  std::size_t size = 0;
  while (size < a.size() && size < b.size() && a[size] == b[size]) ++size;
  return size;
}

CDI_INLINE std::size_t Prefixes::neighbour(std::string_view text) const {
  const std::size_t known =
      detail::count_first(groups_.size(), [&](std::size_t i) { return groups_[i].text <= text; });
  return known == 0 ? none : known - 1;
}

}  // namespace cdi::detail

#endif  // CDI_RULES_PREFIXES_INL
