// Spec files as a container engine sees them: it rejects some, and may read others differently.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_WHY_ENGINE_VIEW_HPP
#define CDI_TOOLS_CDI_WHY_ENGINE_VIEW_HPP

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <cdi/scan.hpp>

#include "../../kit/cdi_specs/write_command.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../../kit/versions/conversion.hpp"
#include "../../kit/versions/conversion_advice.hpp"
#include "../../kit/versions/engine_defaults.hpp"
#include "../../kit/versions/engine_support.hpp"
#include "../../kit/versions/engine_versions.hpp"
#include "../base/output.hpp"
#include "other_names.hpp"

/// Whether an engine is known to be installed on a host.
enum class Installed { yes, unknown };

/// The host to which the specs belong.
struct SpecHost {
  std::string root{};       // absolute and without links; empty with --no-host
  bool dirs_named = false;  // set by the user, perhaps for copies of specs
  Installed installed = Installed::unknown;

  /// The path of a file as seen on the host; nullopt if its directory is not under the root.
  std::optional<std::string> place_of(const std::string& file) const {
    const auto slash = file.rfind('/');
    const auto named = slash == std::string::npos ? "." : file.substr(0, slash + 1);
    std::error_code failed;
    auto path = std::filesystem::canonical(named, failed).string();
    if (failed || root.empty()) return std::nullopt;
    path.append(path == "/" ? "" : "/").append(file.substr(slash + 1));
    if (root == "/") return path;
    if (!path.starts_with(root + "/")) return std::nullopt;
    return path.substr(root.size());
  }

  /// The command with which cdi-prepare writes one of its own files again, for an engine or for all
  /// that are installed; empty for other files. In a directory of copies, the command would replace
  /// or remove specs of other hosts.
  std::string owner_command(const cdi::LoadedSpec& spec,
                            const std::optional<tools::VersionedEngine>& engine) const {
    const auto place = place_of(spec.path);
    if (!place || spec.owner() != tools::spec_owner) return {};
    const auto tree = tools::HostTree::open(root);
    if (!tree || (dirs_named && !is_usual(*tree, place->substr(0, place->rfind('/'))))) return {};
    auto on_host = spec;
    on_host.path = *place;
    return tools::write_command_for(*tree, on_host, engine);
  }

 private:
  /// Whether programs on the host read a directory by default.
  static bool is_usual(const tools::HostTree& tree, const std::string& directory) {
    const auto place = tools::place_of(tree, directory);
    for (const auto& usual : cdi::default_spec_dirs()) {
      if (tools::place_of(tree, usual) == place) return true;
    }
    return false;
  }
};

/// The files in a registry that an engine reads.
class EngineView {
 public:
  EngineView(const tools::VersionedEngine& engine, const cdi::Registry& all, SpecHost host)
      : engine_{engine}, host_{std::move(host)}, newest_{tools::newest_spec_version_for(engine)} {
    std::vector<std::shared_ptr<const cdi::LoadedSpec>> specs;
    std::vector<std::shared_ptr<const cdi::RejectedFile>> rejected;  // first: few causes are kept
    for (const auto& spec : all.specs()) {
      auto rejection = tools::rejection_by(engine_, *spec);
      auto read = rejection ? nullptr : as_read_by_engine(spec, rejection);
      if (rejection) {
        rejected.push_back(rejected_file(*spec, *rejection));
        rejected_.emplace(spec->path, Rejected{spec, *std::move(rejection)});
      } else {
        specs.push_back(std::move(read));
      }
    }
    rejected.insert(rejected.end(), all.rejected().begin(), all.rejected().end());
    registry_ =
        std::make_shared<const cdi::Registry>(std::move(specs), std::move(rejected), all.dirs());
  }

  /// The engine's registry, in which files that the engine rejects are invalid files.
  const std::shared_ptr<const cdi::Registry>& registry() const { return registry_; }

  const tools::VersionedEngine& engine() const { return engine_; }
  std::string name() const { return to_string(engine_); }

  /// The newest CDI version that the engine reads, or null.
  Json newest() const { return newest_ ? Json(cdi::to_string(*newest_)) : Json(nullptr); }

  /// The rejected file that keeps a name from resolving; null if there is none.
  const cdi::LoadedSpec* cause_of(const cdi::Unresolved& one) const {
    for (const auto& cause : one.causes) {
      const auto found = rejected_.find(cause.position.file);
      if (found != rejected_.end()) return found->second.spec.get();
    }
    return nullptr;
  }

  /// Why the engine rejects a file of the registry; null if it does not.
  const cdi::Error* rejection_of(const cdi::LoadedSpec& spec) const {
    const auto found = rejected_.find(spec.path);
    return found == rejected_.end() ? nullptr : &found->second.why;
  }

  /// Advice for a file of the registry that the engine rejects, or may read differently.
  const std::string& advice(const cdi::LoadedSpec& spec) const {
    auto& known = files_[&spec].advice;
    if (!known) known = find_advice(spec);
    return *known;
  }

  /// Warnings about text in a file of the registry that the engine may reject or read differently.
  const std::vector<cdi::Error>& text_warnings(const cdi::LoadedSpec& spec) const {
    auto& known = files_[&spec].warnings;
    if (!known) known = tools::text_warnings(engine_, spec);
    return *known;
  }

  /// Why the engine has a device only under another name, and the file of the registry that defines
  /// it; null if no device is known for that.
  struct Renamed {
    cdi::Error why;
    std::shared_ptr<const cdi::LoadedSpec> spec;
  };
  const Renamed* renamed(const std::string& name) const {
    const auto found = renamed_.find(name);
    return found == renamed_.end() ? nullptr : &found->second;
  }

  /// The engine's default directories; empty if the engine reads no specs.
  static std::vector<std::string> default_dirs(const tools::VersionedEngine& engine) {
    std::vector<std::string> dirs;
    const auto* const row = tools::find_engine_defaults(engine);
    if (row == nullptr) return dirs;
    for (const auto dir : row->dirs) {
      if (!dir.empty()) dirs.emplace_back(dir);
    }
    return dirs;
  }

  /// Advice for a file in a directory that the engine does not search; `dirs` are those it
  /// searches.
  std::string advice_on_directory(const std::vector<std::string>& dirs) const {
    auto text = name() + " reads only ";
    for (const auto& dir : dirs) text += (&dir == dirs.data() ? "" : ", ") + dir;
    text += ": move the file there";
    const auto* const row = tools::find_engine_defaults(engine_);
    if (row == nullptr || row->to_set_dirs.empty()) return text;
    return text + ", or add its directory with " + std::string{row->to_set_dirs};
  }

  /// The assumption about the engine's version; empty if the version is known.
  std::string assumption() const { return tools::assumption_about(engine_); }

  /// Other needs of the engine. `configured`: the engine's configuration is known, and sets whether
  /// CDI is on.
  std::vector<std::string> needs(bool configured) const {
    std::vector<std::string> out;
    const auto* const row = tools::find_engine_defaults(engine_);
    if (!configured && row != nullptr && row->cdi_switch == tools::CdiSwitch::off) {
      out.push_back(name() + " injects CDI devices only with " + std::string{row->to_switch_on});
    }
    const auto* const support = tools::find_engine_support(engine_);
    if (support != nullptr && !support->field) {
      out.push_back(name() +
                    " ignores the CRI field CDI_devices: request devices with annotations");
    }
    return out;
  }

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
      const std::shared_ptr<const cdi::LoadedSpec>& spec, std::optional<cdi::Error>& rejection) {
    if (tools::text_warnings(engine_, *spec).empty()) return spec;
    const auto others = other_names(engine_, spec->path);
    if (others.empty()) return spec;
    rejection = rejected_name(spec->spec, others);
    if (rejection) return spec;
    auto read = std::make_shared<cdi::LoadedSpec>(*spec);
    read->as_read = false;
    for (auto& device : read->spec.devices) {
      const auto other = others.find(device.name);
      if (other == others.end()) continue;
      renamed_.emplace(read->spec.kind + "=" + device.name, Renamed{other->second.why, read});
      device.name = other->second.read_as;
    }
    return read;
  }

  std::string find_advice(const cdi::LoadedSpec& spec) const {
    const auto place = host_.place_of(spec.path);
    const auto tree = tools::HostTree::open(host_.root);
    if (!place || !tree) return tools::conversion_advice(engine_, spec);
    // For an installed engine, the file gets the version that the oldest installed engine reads.
    const auto command = host_.owner_command(
        spec, host_.installed == Installed::yes ? std::nullopt : std::optional{engine_});
    if (!command.empty()) return tools::conversion_advice(engine_, spec, command);
    return tools::conversion_advice_here(*tree, *place, spec.path, engine_, spec);
  }

  static std::shared_ptr<const cdi::RejectedFile> rejected_file(const cdi::LoadedSpec& spec,
                                                                cdi::Error why) {
    cdi::RejectedFile out{.why = std::move(why), .kind = spec.spec.kind};
    for (const auto& device : spec.spec.devices) out.devices.push_back(device.name);
    return std::make_shared<const cdi::RejectedFile>(std::move(out));
  }

  tools::VersionedEngine engine_;
  SpecHost host_;
  cdi::Result<cdi::SpecVersion> newest_;
  std::shared_ptr<const cdi::Registry> registry_{};
  std::map<std::string, Rejected> rejected_{};  // by path
  std::map<std::string, Renamed> renamed_{};    // by the name in the file
  mutable std::map<const cdi::LoadedSpec*, FileNotes> files_{};
};

#endif  // CDI_TOOLS_CDI_WHY_ENGINE_VIEW_HPP
