// The bodies of <cdi/rules/owner.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_OWNER_INL
#define CDI_RULES_OWNER_INL

#include <string>

#include <cdi/rules/owner.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE Result<void> check_owner(std::string_view owner) {
  bool good = !owner.empty() && owner.size() <= detail::longest_owner;
  for (const char c : owner) good = good && c >= ' ' && c <= '~';
  if (good && owner.front() != ' ' && owner.back() != ' ') return {};
  return Error{.code = Errc::invalid,
               .message = "owner " + cdi::quoted(owner) + " cannot be recorded",
               .advice = "use 1 to " + std::to_string(detail::longest_owner) +
                         " printable ASCII characters, without a space at either end"};
}

}  // namespace cdi

#endif  // CDI_RULES_OWNER_INL
