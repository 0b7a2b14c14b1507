// `rejection_by`: why an engine rejects a spec file; `convert_spec`: its spec in another version.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/loaded_spec.hpp>

#include "engine_versions.hpp"

namespace tools {

/// The spec of a file in another CDI version, and what the conversion lost.
struct Conversion {
  cdi::Spec spec{};  ///< valid for `write_spec`
  /// The owner that the file records, or empty. Since CDI version 0.6.0, `spec` contains the
  /// owner's annotation; before, the record is kept only if `write_spec` receives this owner.
  std::string owner{};
  /// All losses, with their places in the file: members that the version lacks, annotations that
  /// may be read but not written, and everything after the first YAML document. The first
  /// `max_warnings` losses have a line and a column, if `LoadedSpec::locate` knows them.
  std::vector<cdi::Error> losses{};
};

/// Converts the spec of a file to another version. Fails, with the place in the file, with the
/// errors of `to_version` with losses allowed, and of `validate` for `ValidateFor::writing`.
cdi::Result<Conversion> convert_spec(const cdi::LoadedSpec& loaded, cdi::SpecVersion version);

/// Returns the version that a file should have for an engine: the file's own version, or a newer
/// one that its members need, if the engine reads it; otherwise, the newest that it reads. Fails
/// like `written_spec_version_for`.
cdi::Result<cdi::SpecVersion> spec_version_for(const VersionedEngine& engine,
                                               const cdi::Spec& spec);

/// Converts the spec of a file to `spec_version_for` the engine. Fails with the errors of both
/// functions, and with `Errc::unsupported` for a value that the engine rejects in every version.
cdi::Result<Conversion> convert_for(const VersionedEngine& engine, const cdi::LoadedSpec& loaded);

/// Returns why an engine rejects a spec file, with the place in the file, as `Errc::unsupported`;
/// nullopt if the engine reads the file. Engines reject unknown versions, members (even empty ones)
/// that their newest known version does not yet or no longer have, and some values. The Go library
/// before 1.1.1 rejects permissions `none`, and a vendor or class of one character; older versions
/// also reject `closID: /`, device names of one character, and a `v` before the version. This
/// library and the Rust crate reject quoted words such as `"yes"` for a boolean. The Go library
/// 1.1.1 and the Rust crate reject or ignore member names in another case. All releases of the Go
/// library reject parts of YAML 1.2: see `Document::Unportable::code`. Unquoted words and
/// numbers that only the Rust crate reads differently are not detected.
std::optional<cdi::Error> rejection_by(const VersionedEngine& engine,
                                       const cdi::LoadedSpec& loaded);

/// Returns the first value of a spec that an engine rejects in every version, described in
/// `message`. `newest` is the newest version that the engine's library knows. Null stands for an
/// engine with a Go library up to 1.1.0.
std::optional<cdi::Error> rejected_value(const cdi::Spec& spec, cdi::SpecVersion newest,
                                         const EngineVersionRange* engine = nullptr);

/// Returns the warnings about the text of a file that another program may reject or misread, under
/// the rules `json-syntax`, `single-document`, `member-case` and `portable-text`. A conversion to
/// any version writes a text without these faults.
std::vector<cdi::Error> text_warnings(const cdi::LoadedSpec& loaded);

/// Returns the same warnings, except about text that this engine reads as this library does: member
/// names in another case for the Go library up to 1.1.0, and texts that YAML 1.1 reads as booleans
/// or numbers for newer versions.
std::vector<cdi::Error> text_warnings(const VersionedEngine& engine, const cdi::LoadedSpec& loaded);

}  // namespace tools
