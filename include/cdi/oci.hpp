// The OCI runtime spec as types and as a target.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_OCI_HPP
#define CDI_OCI_HPP

#include <cdi/oci/spec.hpp>            // IWYU pragma: export
#include <cdi/targets/oci_editor.hpp>  // IWYU pragma: export

#endif  // CDI_OCI_HPP
