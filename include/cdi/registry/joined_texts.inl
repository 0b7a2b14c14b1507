// The bodies of <cdi/registry/joined_texts.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REGISTRY_JOINED_TEXTS_INL
#define CDI_REGISTRY_JOINED_TEXTS_INL

#include <cdi/registry/joined_texts.hpp>

namespace cdi::inline CDI_ABI::detail {

CDI_INLINE void JoinedTexts::replace(std::size_t first, std::size_t last,
                                     const JoinedTexts& others) {
  const auto begin = begin_of(first);
  const auto end = begin_of(last);
  text_.replace(begin, end - begin, others.text_);
  const auto at = [this](std::size_t index) {
    return ends_.begin() + static_cast<std::ptrdiff_t>(index);
  };
  ends_.erase(at(first), at(last));
  ends_.insert(at(first), others.ends_.begin(), others.ends_.end());
  auto i = first;
  for (; i < first + others.size(); ++i) ends_[i] += begin;
  for (; i < ends_.size(); ++i) ends_[i] = ends_[i] - end + begin + others.text_.size();
}

}  // namespace cdi::detail

#endif  // CDI_REGISTRY_JOINED_TEXTS_INL
