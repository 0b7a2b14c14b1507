// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_IMPL_OCI_EDITOR_HPP
#define CDI_IMPL_OCI_EDITOR_HPP

#include <cstddef>

#include <cdi/apply.hpp>
#include <cdi/oci/editor.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/result.hpp>
#include <cdi/version.hpp>

// What the library has of the templates of <cdi/oci/editor.hpp>.

#ifdef CDI_SOURCE

namespace cdi::inline CDI_ABI {

template Result<void> detail::edit(oci::Spec& target, JoinedEdits& edits, const AnyHost& host,
                                   std::size_t& failed);

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_SOURCE

#endif  // CDI_IMPL_OCI_EDITOR_HPP
