// Instantiates the templates of <cdi/targets/oci_editor.hpp> in the library.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TARGETS_OCI_EDITOR_INL
#define CDI_TARGETS_OCI_EDITOR_INL

#include <cdi/targets/oci_editor.hpp>

#ifdef CDI_SOURCE

namespace cdi::inline CDI_ABI {

template Result<void> detail::edit(oci::Spec& target, JoinedEdits& edits, const HostRef& host);

}  // namespace cdi

#endif  // CDI_SOURCE

#endif  // CDI_TARGETS_OCI_EDITOR_INL
