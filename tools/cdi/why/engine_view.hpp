// Spec files as a container engine sees them: it rejects some, and may read others differently.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../../kit/host/host_tree.hpp"
#include "../../kit/versions/engine_versions.hpp"
#include "../base/output.hpp"

/// Whether an engine is known to be installed on a host.
enum class Installed { yes, unknown };

/// The host to which the specs belong.
struct SpecHost {
  std::string root{};       // absolute and without links; empty with --no-host
  bool dirs_named = false;  // set by the user, perhaps for copies of specs
  Installed installed = Installed::unknown;

  /// The path of a file as seen on the host; nullopt if its directory is not under the root.
  std::optional<std::string> place_of(const std::string& file) const;

  /// The command with which cdi-prepare writes one of its own files again, for an engine or for all
  /// that are installed; empty for other files. In a directory of copies, the command would replace
  /// or remove specs of other hosts.
  std::string owner_command(const cdi::LoadedSpec& spec,
                            const std::optional<tools::VersionedEngine>& engine) const;

 private:
  /// Whether programs on the host read a directory by default.
  static bool is_usual(const tools::HostTree& tree, const std::string& directory);
};

/// The files in a registry that an engine reads.
class EngineView {
 public:
  EngineView(const tools::VersionedEngine& engine, const cdi::Registry& all, SpecHost host);

  /// The engine's registry, in which files that the engine rejects are invalid files.
  const std::shared_ptr<const cdi::Registry>& registry() const { return registry_; }

  const tools::VersionedEngine& engine() const { return engine_; }
  std::string name() const { return to_string(engine_); }

  /// The newest CDI version that the engine reads, if it is known.
  std::optional<std::string> newest() const {
    return newest_ ? std::optional{cdi::to_string(*newest_)} : std::nullopt;
  }

  /// The rejected file that keeps a name from resolving; null if there is none.
  const cdi::LoadedSpec* cause_of(const cdi::Unresolved& one) const;

  /// Why the engine rejects a file of the registry; null if it does not.
  const cdi::Error* rejection_of(const cdi::LoadedSpec& spec) const;

  /// Advice for a file of the registry that the engine rejects, or may read differently.
  const std::string& advice(const cdi::LoadedSpec& spec) const;

  /// Warnings about text in a file of the registry that the engine may reject or read differently.
  const std::vector<cdi::Error>& text_warnings(const cdi::LoadedSpec& spec) const;

  /// Why the engine has a device only under another name, and the file of the registry that defines
  /// it; null if no device is known for that.
  struct Renamed {
    cdi::Error why;
    std::shared_ptr<const cdi::LoadedSpec> spec;
  };
  const Renamed* renamed(const std::string& name) const;

  /// The engine's default directories; empty if the engine reads no specs.
  static std::vector<std::string> default_dirs(const tools::VersionedEngine& engine);

  /// Advice for a file in a directory that the engine does not search; `dirs` are those it
  /// searches.
  std::string advice_on_directory(const std::vector<std::string>& dirs) const;

  /// The assumption about the engine's version; empty if the version is known.
  std::string assumption() const { return tools::assumption_about(engine_); }

  /// Other needs of the engine. `configured`: the engine's configuration is known, and sets whether
  /// CDI is on.
  std::vector<std::string> needs(bool configured) const;

 private:
  /// A file that the engine rejects.
  struct Rejected {
    std::shared_ptr<const cdi::LoadedSpec> spec;
    cdi::Error why;
  };

  /// Facts about a file that take long to find out, because it may have many devices.
  struct FileNotes {
    std::optional<std::string> advice{};
    std::optional<std::vector<cdi::Error>> warnings{};
  };

  /// A file of the registry, with the names that the engine gives to its devices. If a name is not
  /// valid or occurs twice, the engine rejects the file: sets `rejection`.
  std::shared_ptr<const cdi::LoadedSpec> as_read_by_engine(
      const std::shared_ptr<const cdi::LoadedSpec>& spec, std::optional<cdi::Error>& rejection);

  std::string find_advice(const cdi::LoadedSpec& spec) const;

  static std::shared_ptr<const cdi::RejectedFile> rejected_file(const cdi::LoadedSpec& spec,
                                                                cdi::Error why);

  tools::VersionedEngine engine_;
  SpecHost host_;
  cdi::Result<cdi::SpecVersion> newest_;
  std::shared_ptr<const cdi::Registry> registry_{};
  std::map<std::string, Rejected> rejected_{};  // by path
  std::map<std::string, Renamed> renamed_{};    // by the name in the file
  mutable std::map<const cdi::LoadedSpec*, FileNotes> files_{};
};
