// `parse_spec` and `write_spec`: a checked spec from text and to text.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_SPEC_TEXT_HPP
#define CDI_FILES_SPEC_TEXT_HPP

#include <optional>
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

/// Reads a document from a text, which it takes. `format` is that of its name; the text may have
/// the other one. A text that is refused is left as it was.
Result<Document> parse_text(std::string& text, std::string_view path, Format format,
                            const Limits& limits, std::vector<Error>& warnings);

/// A spec, or why a text gives none.
struct SpecOrRejected {
  std::optional<LoadedSpec> spec{};
  RejectedFile rejected{};  // only without a spec
};

/// Reads a spec from text and validates it.
SpecOrRejected read_text(std::string text, std::string_view path, Format format,
                         const ReadOptions& options);

}  // namespace detail

/// Reads a spec from text and validates it; `path` names it in messages. Invalid JSON is read as
/// YAML, like in the Go reference, with a warning. Errors and warnings have line and column. Of
/// `options`, only `limits`, `quarantine_devices`, `keep_places` and `digest` have an effect.
///
/// `Errc::syntax` if the text is neither JSON nor YAML, `Errc::unsupported` if it has the tag
/// `!!binary`, `Errc::schema` if it is not a spec, `Errc::invalid` and `Errc::invalid_name` if it
/// breaks a rule, which `Error::rule` names, `Errc::limit` if it is over a limit. SPEC.md, CDI JSON
/// Definition.
Result<LoadedSpec> parse_spec(std::string_view text, std::string_view path, Format format,
                              const ReadOptions& options = {});

/// The text of a spec file, in either format, with a newline at the end. `Errc::invalid` or
/// `Errc::invalid_name` if the spec is not valid for `Purpose::write`, or contains text that is not
/// UTF-8.
Result<std::string> write_spec(const Spec& spec, Format format);

/// The same with a record of the owner, as in the files of a `Publisher`: in the annotation
/// `owner_annotation`, or, before release 0.6.0, in a comment in the first line. An empty owner is
/// not recorded. `Errc::invalid` for an owner that `check_owner` refuses; `Errc::unsupported` for
/// JSON before 0.6.0, which has neither annotations nor comments.
Result<std::string> write_spec(Spec spec, Format format, std::string_view owner);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/spec_text.inl>
#endif

#endif  // CDI_FILES_SPEC_TEXT_HPP
