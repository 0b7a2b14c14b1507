// The engine, which applies container edits to an OCI spec, and `SpecEditor`, for custom targets.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_HPP
#define CDI_APPLY_HPP

// IWYU pragma: begin_exports
#include <cdi/apply/apply.hpp>
#include <cdi/apply/editor_parts.hpp>
#include <cdi/apply/spec_editor.hpp>
// IWYU pragma: end_exports

#endif  // CDI_APPLY_HPP
