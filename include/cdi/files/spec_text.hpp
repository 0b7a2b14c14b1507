// `parse_spec` and `write_spec`: a checked spec from text and to text.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_SPEC_TEXT_HPP
#define CDI_FILES_SPEC_TEXT_HPP

#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// Reads a document from text in either format, whatever its name says.
Result<Document> parse_text(std::string_view text, std::string_view path, Format format,
                            const Limits& limits, std::vector<Error>& warnings);

/// Reads a spec from text and validates it. Whether `out` has it; else `rejected` tells of it.
bool read_text(std::string_view text, std::string_view path, Format format,
               const ReadOptions& options, LoadedSpec& out, RejectedFile& rejected);

}  // namespace detail

/// Reads a spec from text and validates it; `path` names it in messages. JSON that is not valid is
/// tried as YAML, as the Go reference does, and gets a warning. Errors and warnings carry line and
/// column. Of `options`, the limits, the quarantine and the digest count.
///
/// `Errc::syntax` when it is neither JSON nor YAML, `Errc::schema` when it is no spec,
/// `Errc::invalid` and `Errc::invalid_name` when it breaks a rule, which `Error::rule` names,
/// `Errc::limit` when it is over a limit. SPEC.md, CDI JSON Definition.
Result<LoadedSpec> parse_spec(std::string_view text, std::string_view path, Format format,
                              const ReadOptions& options = {});

/// A spec as the text of a file, in either format, with a newline at the end. `Errc::invalid` or
/// `Errc::invalid_name` when the spec is not valid to `Purpose::write`, or holds text that is not
/// UTF-8.
Result<std::string> write_spec(const Spec& spec, Format format);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/impl/spec_text.hpp>
#endif

#endif  // CDI_FILES_SPEC_TEXT_HPP
