// Instantiates the templates of <cdi/nlohmann/editor.hpp> in the library.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_NLOHMANN_EDITOR_INL
#define CDI_NLOHMANN_EDITOR_INL

#include <cdi/nlohmann/editor.hpp>

#ifdef CDI_SOURCE

namespace cdi::inline CDI_ABI {

template Result<void> detail::edit(nlohmann::json& target, JoinedEdits& edits, const HostRef& host);
template Result<void> detail::edit(nlohmann::ordered_json& target, JoinedEdits& edits,
                                   const HostRef& host);

}  // namespace cdi

#endif  // CDI_SOURCE

#endif  // CDI_NLOHMANN_EDITOR_INL
