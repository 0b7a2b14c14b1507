// The OCI model of this library, `cdi::oci::Spec`, as a target of edits.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_EDITOR_HPP
#define CDI_OCI_EDITOR_HPP

#include <cdi/targets/oci_editor.hpp>  // IWYU pragma: export

#endif  // CDI_OCI_EDITOR_HPP
