// `spec_errors`: every error of a spec's text, for the person who corrects it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_SPEC_ERRORS_HPP
#define CDI_FILES_SPEC_ERRORS_HPP

#include <string_view>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Returns every error of a spec's text in the order of the text, with line and column, at most
/// `max_errors`: wrong, unknown and missing members, and broken rules. Empty if and only if
/// `parse_spec` accepts the text without `quarantine_devices`. A text that is neither JSON nor YAML
/// has one error: where it stops being so. Rules for a value that could not be read are not
/// checked. Of `options`, only `limits` has an effect. Costs up to twice the time of `parse_spec`.
std::vector<Error> spec_errors(std::string_view text, std::string_view path, Format format,
                               const ReadOptions& options = {});

}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/spec_errors.inl>
#endif

#endif  // CDI_FILES_SPEC_ERRORS_HPP
