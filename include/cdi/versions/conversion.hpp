// Whether an engine reads a spec file, and `convert_spec`: the file in another CDI release.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_VERSIONS_CONVERSION_HPP
#define CDI_VERSIONS_CONVERSION_HPP

#include <optional>
#include <string>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/version.hpp>
#include <cdi/versions/engine_releases.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// The spec of a file in another CDI release, and what of the file it lacks.
struct Conversion {
  Spec spec{};  ///< valid for `write_spec`
  /// The owner that the file records; empty for none. `spec` has its annotation from release 0.6.0
  /// on. Before that, only `write_spec` with this owner keeps the record.
  std::string owner{};
  /// What is lost, each with its place in the file: members that the release lacks, annotations
  /// that may be read, but not written, and all that follows the first YAML document. The first
  /// `most_warnings` have line and column, as far as `LoadedSpec::locate` knows them.
  std::vector<Error> losses{};
};

/// Converts the spec of a file to another release. Errors, with their place in the file, are those
/// of `lower` when losses are allowed, and those of `validate` for `Purpose::write`.
Result<Conversion> convert_spec(const LoadedSpec& loaded, Release release);

/// The release that a file should have for an engine: its own, if the engine reads it, or else the
/// newest that the engine reads. Errors are those of `written_release_for`.
Result<Release> release_for(const VersionedEngine& engine, const Spec& spec);

/// Converts the spec of a file to `release_for` an engine. Errors are those of both, and
/// `Errc::unsupported` for a value that the engine refuses in every release.
Result<Conversion> convert_for(const VersionedEngine& engine, const LoadedSpec& loaded);

/// Why an engine refuses a spec file, with its place in the file; nothing when it reads the file.
/// It refuses a release that it does not know, a member that the newest release that it knows does
/// not have yet, even an empty one, or does not have any more, and some values: with the Go library
/// before 1.1.1, permissions `none`, a vendor or class of one character and, if it is older,
/// `closID: /`, device names of one character, and a `v` before the release; with this library and
/// with the Rust crate, a word such as `"yes"` in quotes for a boolean. With the Go library 1.1.1
/// or the Rust crate, it refuses or ignores names of members in another case. `Errc::unsupported`.
/// Unquoted words and numbers that only the Rust crate reads otherwise are not known.
std::optional<Error> refusal_by(const VersionedEngine& engine, const LoadedSpec& loaded);

/// The warnings of a file about its text, which another program may refuse or read otherwise: those
/// of the rules `json-syntax`, `single-document`, `member-case` and `portable-text`. A conversion
/// to any release writes a text without them.
std::vector<Error> text_warnings(const LoadedSpec& loaded);

/// The same, without those about what this engine reads as it is read here: a member in another
/// case with the Go library up to 1.1.0, and a text that is a boolean or a number in YAML 1.1 with
/// newer ones.
std::vector<Error> text_warnings(const VersionedEngine& engine, const LoadedSpec& loaded);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/versions/conversion.inl>
#endif

#endif  // CDI_VERSIONS_CONVERSION_HPP
