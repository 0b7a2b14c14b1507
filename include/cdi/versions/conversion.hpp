// `rejection_by`: why an engine rejects a spec file; `convert_spec`: its spec in another version.
// SPDX-License-Identifier: Apache-2.0 OR MIT

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
#include <cdi/versions/engine_versions.hpp>

namespace cdi::inline CDI_ABI {

/// The spec of a file in another CDI version, and what the conversion lost.
struct Conversion {
  Spec spec{};  ///< valid for `write_spec`
  /// The owner that the file records, or empty. Since CDI version 0.6.0, `spec` contains the
  /// owner's annotation; before, the record is kept only if `write_spec` receives this owner.
  std::string owner{};
  /// All losses, with their places in the file: members that the version lacks, annotations that
  /// may be read but not written, and everything after the first YAML document. The first
  /// `max_warnings` losses have a line and a column, if `LoadedSpec::locate` knows them.
  std::vector<Error> losses{};
};

/// Converts the spec of a file to another version. Fails, with the place in the file, with the
/// errors of `to_version` with losses allowed, and of `validate` for `ValidateFor::writing`.
Result<Conversion> convert_spec(const LoadedSpec& loaded, SpecVersion version);

/// Returns the version that a file should have for an engine: the file's own version, or a newer
/// one that its members need, if the engine reads it; otherwise, the newest that it reads. Fails
/// like `written_spec_version_for`.
Result<SpecVersion> spec_version_for(const VersionedEngine& engine, const Spec& spec);

/// Converts the spec of a file to `spec_version_for` the engine. Fails with the errors of both
/// functions, and with `Errc::unsupported` for a value that the engine rejects in every version.
Result<Conversion> convert_for(const VersionedEngine& engine, const LoadedSpec& loaded);

/// Returns why an engine rejects a spec file, with the place in the file, as `Errc::unsupported`;
/// nullopt if the engine reads the file. Engines reject unknown versions, members (even empty ones)
/// that their newest known version does not yet or no longer have, and some values. The Go library
/// before 1.1.1 rejects permissions `none`, and a vendor or class of one character; older versions
/// also reject `closID: /`, device names of one character, and a `v` before the version. This
/// library and the Rust crate reject quoted words such as `"yes"` for a boolean. The Go library
/// 1.1.1 and the Rust crate reject or ignore member names in another case. All releases of the Go
/// library reject parts of YAML 1.2: see `Document::Unportable::code`. Unquoted words and
/// numbers that only the Rust crate reads differently are not detected.
std::optional<Error> rejection_by(const VersionedEngine& engine, const LoadedSpec& loaded);

/// Returns the warnings about the text of a file that another program may reject or misread, under
/// the rules `json-syntax`, `single-document`, `member-case` and `portable-text`. A conversion to
/// any version writes a text without these faults.
std::vector<Error> text_warnings(const LoadedSpec& loaded);

/// Returns the same warnings, except about text that this engine reads as this library does: member
/// names in another case for the Go library up to 1.1.0, and texts that YAML 1.1 reads as booleans
/// or numbers for newer versions.
std::vector<Error> text_warnings(const VersionedEngine& engine, const LoadedSpec& loaded);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/versions/conversion.inl>
#endif

#endif  // CDI_VERSIONS_CONVERSION_HPP
