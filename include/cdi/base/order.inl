// The bodies of <cdi/base/order.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_BASE_ORDER_INL
#define CDI_BASE_ORDER_INL

#include <cdi/base/order.hpp>

namespace cdi::inline CDI_ABI::detail {

CDI_INLINE std::vector<std::size_t> first_of_equals(const std::vector<std::string_view>& keys) {
  std::vector<std::size_t> hashes;
  hashes.reserve(keys.size());
  for (const std::string_view key : keys) hashes.push_back(std::hash<std::string_view>{}(key));
  return detail::first_of_equals(keys.size(), [&](std::size_t a, std::size_t b) {
    return hashes[a] != hashes[b] ? hashes[a] < hashes[b] : keys[a] < keys[b];
  });
}

}  // namespace cdi::detail

#endif  // CDI_BASE_ORDER_INL
