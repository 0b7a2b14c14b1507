// `parse_spec` and `write_spec`: read specs from text, write them as text, and validate them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_SPEC_TEXT_HPP
#define CDI_FILES_SPEC_TEXT_HPP

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/mutex.hpp>
#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/text/document.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Returns whether a text begins with a brace, as JSON does.
inline bool begins_with_brace(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

/// Parses a document and takes ownership of its text. `format` comes from the file name, but the
/// text may have the other format. If the text is rejected, it stays unchanged.
Result<Document> document_of_text(std::string& text, std::string_view path, Format format,
                                  const Limits& limits, std::vector<Error>& warnings);

/// Makes the error about a kind that the names of all devices repeat in more bytes than the
/// document's model may take, or returns nothing. Users of a registry hold such names: 10,000
/// devices of a kind of 4 MB would take 40 GB.
std::optional<Error> names_too_large(const Document& document);

/// A spec, or the reason why a text does not contain one.
struct SpecOrRejected {
  std::optional<LoadedSpec> spec{};
  RejectedFile rejected{};  // set only if there is no spec
};

/// Parses a spec and validates it.
SpecOrRejected spec_of_text(std::string text, std::string_view path, Format format,
                            const ReadOptions& options);

/// Reads a spec from text, which the spec keeps for the positions of its members.
SpecOrRejected spec_of_kept_text(std::string text, std::string_view path, Format format,
                                 const ReadOptions& options);

/// Finds positions in a text that is read again when they are first needed.
class PositionsOfText final : public LazyPositions {
 public:
  /// Reads the text of a spec again. Returns null if the text now contains another spec.
  using Read = std::unique_ptr<const MemberPositions> (*)(const LoadedSpec& spec,
                                                          const std::string& text);

  /// Finds positions with `read`, which receives `text`: the spec's text; empty for a file.
  explicit PositionsOfText(Read read, std::string text = {});

  // Inline, so that a file that does not use the class has no code of it.
  CDI_INLINE const MemberPositions* find(const LoadedSpec& spec) const override;

 private:
  Read read_;
  std::string text_;
  mutable Mutex mutex_{};  // protects the next two
  mutable bool is_read_ = false;
  mutable std::unique_ptr<const MemberPositions> found_{};
};

/// Returns the positions of a spec's members in its text; null if the text contains another spec.
std::unique_ptr<const MemberPositions> positions_in_text(const LoadedSpec& spec,
                                                         const std::string& text);

}  // namespace detail

/// Parses a spec and validates it; `path` appears in messages. Invalid JSON is read as YAML, with a
/// warning, as in the Go reference. Errors and warnings contain the line and column. Of `options`,
/// only `limits`, `quarantine_devices` and `digest` have an effect.
///
/// Fails with `Errc::syntax` if the text is neither JSON nor YAML, `Errc::unsupported` if it
/// contains the tag `!!binary`, `Errc::schema` if it is not a spec, `Errc::invalid` or
/// `Errc::invalid_name` if it breaks a rule, which `Error::rule` identifies, and `Errc::limit` if
/// it exceeds a limit, or if the names of its devices take more than ten times its bytes and 4 MiB.
/// See SPEC.md, CDI JSON Definition.
Result<LoadedSpec> parse_spec(std::string_view text, std::string_view path, Format format,
                              const ReadOptions& options = {});

/// Returns the text of a spec file in either format, with a newline at the end. Fails with
/// `Errc::invalid` or `Errc::invalid_name` if the spec is not valid for `ValidateFor::writing` or
/// contains text that is not UTF-8.
Result<std::string> write_spec(const Spec& spec, Format format);

/// Returns a text that also records the owner, as in the files of a `Publisher`: in the annotation
/// `owner_annotation` or, before CDI version 0.6.0, in a comment in the first line. An empty owner
/// is not recorded. Fails with `Errc::invalid` if `check_owner` rejects the owner, and with
/// `Errc::unsupported` for JSON before 0.6.0, which has neither annotations nor comments.
Result<std::string> write_spec(Spec spec, Format format, std::string_view owner);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/files/spec_text.inl>
#endif

#endif  // CDI_FILES_SPEC_TEXT_HPP
