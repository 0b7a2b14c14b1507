// Why names do not resolve, every error of a spec, and device nodes that have changed.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIAGNOSE_HPP
#define CDI_DIAGNOSE_HPP

// IWYU pragma: begin_exports
#include <cdi/dirs/diagnose.hpp>
#include <cdi/dirs/ignored_specs.hpp>
#include <cdi/files/spec_errors.hpp>
#include <cdi/registry/drift.hpp>
// IWYU pragma: end_exports

#endif  // CDI_DIAGNOSE_HPP
