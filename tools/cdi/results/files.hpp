// What the commands of `cdi` about files print with -o json and -o yaml.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/model/fields.hpp>

#include "../../kit/base/error_record.hpp"

// Each is a described struct, from which schema/results-1.json is made, too. A member `version` is
// the version of the form: it changes if a member changes its meaning or is gone.

using Texts = std::vector<std::string>;
using tools::ErrorRecord;

/// `cdi version`
struct VersionResult {
  std::string version{};
  std::string cdi_version{};

  static constexpr void fields(auto& list) {
    list("version", &VersionResult::version, cdi::required);
    list("cdiVersion", &VersionResult::cdi_version, cdi::required);
  }
};

/// A schema that `cdi schema` lists.
struct ListedSchema {
  std::string_view name{};
  std::string_view title{};

  static constexpr void fields(auto& list) {
    list("name", &ListedSchema::name, cdi::required);
    list("title", &ListedSchema::title, cdi::required);
  }
};

/// A rule that `cdi validate --rules` lists.
struct ListedRule {
  std::string_view rule{};
  std::string_view severity{};
  std::string_view demand{};
  std::string_view source{};

  static constexpr void fields(auto& list) {
    list("rule", &ListedRule::rule, cdi::required);
    list("severity", &ListedRule::severity, cdi::required);
    list("demand", &ListedRule::demand, cdi::required);
    list("source", &ListedRule::source, cdi::required);
  }
};

/// `cdi validate`: the valid files.
struct ValidFiles {
  std::uint32_t version = 1;
  Texts valid{};

  static constexpr void fields(auto& list) {
    list("version", &ValidFiles::version, cdi::required);
    list("valid", &ValidFiles::valid, cdi::required);
  }
};

/// `cdi convert --in-place --backup`
struct BackupResult {
  std::uint32_t version = 1;
  std::string backup{};

  static constexpr void fields(auto& list) {
    list("version", &BackupResult::version, cdi::required);
    list("backup", &BackupResult::backup, cdi::required);
  }
};

/// A file that `cdi transform root --in-place` rewrote.
struct MovedFile {
  std::string file{};
  std::size_t changed = 0;  // members
  std::string backup{};

  static constexpr void fields(auto& list) {
    list("file", &MovedFile::file, cdi::required);
    list("changed", &MovedFile::changed, cdi::required);
    list("backup", &MovedFile::backup);
  }
};

/// `cdi transform root --in-place`
struct MovedFiles {
  std::uint32_t version = 1;
  std::vector<MovedFile> files{};

  static constexpr void fields(auto& list) {
    list("version", &MovedFiles::version, cdi::required);
    list("files", &MovedFiles::files, cdi::required);
  }
};

/// `cdi write`
struct WriteResult {
  std::uint32_t version = 1;
  bool dry_run = false;
  std::string file{};
  std::string_view action{};
  Texts dropped{};  // the devices that the new file no longer defines

  static constexpr void fields(auto& list) {
    list("version", &WriteResult::version, cdi::required);
    list("dryRun", &WriteResult::dry_run, cdi::required);
    list("file", &WriteResult::file, cdi::required);
    list("action", &WriteResult::action, cdi::required);
    list("dropped", &WriteResult::dropped, cdi::required);
  }
};

/// `cdi remove` and `cdi gc`
struct RemoveResult {
  std::uint32_t version = 1;
  bool dry_run = false;
  Texts removed{};
  std::optional<Texts> temporaries{};  // of killed writers; `cdi gc --owner` looks for them

  static constexpr void fields(auto& list) {
    list("version", &RemoveResult::version, cdi::required);
    list("dryRun", &RemoveResult::dry_run, cdi::required);
    list("removed", &RemoveResult::removed, cdi::required);
    list("temporaries", &RemoveResult::temporaries);
  }
};

/// A device that a spec file defines.
struct DefinedDevice {
  std::string name{};
  std::uint32_t line = 0;

  static constexpr void fields(auto& list) {
    list("name", &DefinedDevice::name, cdi::required);
    list("line", &DefinedDevice::line, cdi::required);
  }
};

/// A file that `cdi specs` lists.
struct ListedSpec {
  std::string file{};
  int priority = 0;
  std::string kind{};
  std::string cdi_version{};
  std::size_t devices = 0;
  bool valid = false;
  std::optional<ErrorRecord> error{};
  std::string owner{};                                  // with --verbose
  std::optional<std::vector<DefinedDevice>> defines{};  // with --verbose

  static constexpr void fields(auto& list) {
    list("file", &ListedSpec::file, cdi::required);
    list("priority", &ListedSpec::priority, cdi::required);
    list("kind", &ListedSpec::kind, cdi::required);
    list("cdiVersion", &ListedSpec::cdi_version, cdi::required);
    list("devices", &ListedSpec::devices, cdi::required);
    list("valid", &ListedSpec::valid, cdi::required);
    list("error", &ListedSpec::error);
    list("owner", &ListedSpec::owner);
    list("defines", &ListedSpec::defines);
  }
};

/// The states of a spec directory, in the order of `cdi::SpecDir::State`.
inline constexpr std::array<std::string_view, 3> dir_states{"read", "missing", "unreadable"};

/// A directory that `cdi dirs` lists.
struct ListedDir {
  std::string path{};
  int priority = 0;
  std::string_view state{};  // of `dir_states`
  std::size_t specs = 0;

  static constexpr void fields(auto& list) {
    list("path", &ListedDir::path, cdi::required);
    list("priority", &ListedDir::priority, cdi::required);
    list("state", &ListedDir::state, cdi::required);
    list("specs", &ListedDir::specs, cdi::required);
  }
};
