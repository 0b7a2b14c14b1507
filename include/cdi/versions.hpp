// CDI versions: the version that a spec needs, a spec in another version, what a runtime ignores.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_VERSIONS_HPP
#define CDI_VERSIONS_HPP

// IWYU pragma: begin_exports
#include <cdi/oci/features.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/versions/to_version.hpp>
#include <cdi/versions/unsupported_edits.hpp>
// IWYU pragma: end_exports

#endif  // CDI_VERSIONS_HPP
