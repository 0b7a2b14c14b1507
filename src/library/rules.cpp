// Rules, and conversion between CDI versions.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "declarations.hpp"

// Before the bodies.
#include "bodies.hpp"

#include <cdi/rules/annotation_key.inl>
#include <cdi/rules/minimum_version.inl>
#include <cdi/rules/name.inl>
#include <cdi/rules/owner.inl>
#include <cdi/rules/prefixes.inl>
#include <cdi/rules/validate.inl>
#include <cdi/versions/to_version.inl>
#include <cdi/versions/unsupported_edits.inl>
