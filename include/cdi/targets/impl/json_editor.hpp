// The instances of the templates of <cdi/targets/json_editor.hpp> in the library.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TARGETS_IMPL_JSON_EDITOR_HPP
#define CDI_TARGETS_IMPL_JSON_EDITOR_HPP

#include <cstddef>

#include <nlohmann/json.hpp>

#include <cdi/base/result.hpp>
#include <cdi/engine/apply.hpp>
#include <cdi/targets/json_editor.hpp>
#include <cdi/version.hpp>

#ifdef CDI_SOURCE

namespace cdi {
inline namespace CDI_ABI {

template Result<void> detail::edit(nlohmann::json& target, JoinedEdits& edits, const AnyHost& host,
                                   std::size_t& failed);
template Result<void> detail::edit(nlohmann::ordered_json& target, JoinedEdits& edits,
                                   const AnyHost& host, std::size_t& failed);

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_SOURCE

#endif  // CDI_TARGETS_IMPL_JSON_EDITOR_HPP
