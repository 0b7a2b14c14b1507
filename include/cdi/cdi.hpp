// Reads CDI specs, resolves device names, and merges their edits into OCI runtime specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CDI_HPP
#define CDI_CDI_HPP

// IWYU pragma: begin_exports
#include <cdi/core.hpp>
#include <cdi/dirs/cache.hpp>
#include <cdi/files/make_registry.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/targets/config_json.hpp>
// IWYU pragma: end_exports

#endif  // CDI_CDI_HPP
