// Spec files as a container engine sees them: it rejects some, and may read others differently.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "engine_view.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include <cdi/scan.hpp>

#include "../../kit/cdi_specs/write_command.hpp"
#include "../../kit/versions/conversion.hpp"
#include "../../kit/versions/conversion_advice.hpp"
#include "../../kit/versions/engine_defaults.hpp"
#include "../../kit/versions/engine_support.hpp"
#include "other_names.hpp"

std::optional<std::string> SpecHost::place_of(const std::string& file) const {
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

std::string SpecHost::owner_command(const cdi::LoadedSpec& spec,
                                    const std::optional<tools::VersionedEngine>& engine) const {
  const auto place = place_of(spec.path);
  if (!place || spec.owner() != tools::spec_owner) return {};
  const auto tree = tools::HostTree::open(root);
  if (!tree || (dirs_named && !is_usual(*tree, place->substr(0, place->rfind('/'))))) return {};
  auto on_host = spec;
  on_host.path = *place;
  return tools::write_command_for(*tree, on_host, engine);
}

bool SpecHost::is_usual(const tools::HostTree& tree, const std::string& directory) {
  const auto place = tools::place_of(tree, directory);
  for (const auto& usual : cdi::default_spec_dirs()) {
    if (tools::place_of(tree, usual) == place) return true;
  }
  return false;
}

EngineView::EngineView(const tools::VersionedEngine& engine, const cdi::Registry& all,
                       SpecHost host)
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

const cdi::LoadedSpec* EngineView::cause_of(const cdi::Unresolved& one) const {
  for (const auto& cause : one.causes) {
    const auto found = rejected_.find(cause.position.file);
    if (found != rejected_.end()) return found->second.spec.get();
  }
  return nullptr;
}

const cdi::Error* EngineView::rejection_of(const cdi::LoadedSpec& spec) const {
  const auto found = rejected_.find(spec.path);
  return found == rejected_.end() ? nullptr : &found->second.why;
}

const std::string& EngineView::advice(const cdi::LoadedSpec& spec) const {
  auto& known = files_[&spec].advice;
  if (!known) known = find_advice(spec);
  return *known;
}

const std::vector<cdi::Error>& EngineView::text_warnings(const cdi::LoadedSpec& spec) const {
  auto& known = files_[&spec].warnings;
  if (!known) known = tools::text_warnings(engine_, spec);
  return *known;
}

const EngineView::Renamed* EngineView::renamed(const std::string& name) const {
  const auto found = renamed_.find(name);
  return found == renamed_.end() ? nullptr : &found->second;
}

std::vector<std::string> EngineView::default_dirs(const tools::VersionedEngine& engine) {
  std::vector<std::string> dirs;
  const auto* const row = tools::find_engine_defaults(engine);
  if (row == nullptr) return dirs;
  for (const auto dir : row->dirs) {
    if (!dir.empty()) dirs.emplace_back(dir);
  }
  return dirs;
}

std::string EngineView::advice_on_directory(const std::vector<std::string>& dirs) const {
  auto text = name() + " reads only ";
  for (const auto& dir : dirs) text += (&dir == dirs.data() ? "" : ", ") + dir;
  text += ": move the file there";
  const auto* const row = tools::find_engine_defaults(engine_);
  if (row == nullptr || row->to_set_dirs.empty()) return text;
  return text + ", or add its directory with " + std::string{row->to_set_dirs};
}

std::vector<std::string> EngineView::needs(bool configured) const {
  std::vector<std::string> out;
  const auto* const row = tools::find_engine_defaults(engine_);
  if (!configured && row != nullptr && row->cdi_switch == tools::CdiSwitch::off) {
    out.push_back(name() + " injects CDI devices only with " + std::string{row->to_switch_on});
  }
  const auto* const support = tools::find_engine_support(engine_);
  if (support != nullptr && !support->field) {
    out.push_back(name() + " ignores the CRI field CDI_devices: request devices with annotations");
  }
  return out;
}

std::shared_ptr<const cdi::LoadedSpec> EngineView::as_read_by_engine(
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

std::string EngineView::find_advice(const cdi::LoadedSpec& spec) const {
  const auto place = host_.place_of(spec.path);
  const auto tree = tools::HostTree::open(host_.root);
  if (!place || !tree) return tools::conversion_advice(engine_, spec);
  // For an installed engine, the file gets the version that the oldest installed engine reads.
  const auto command = host_.owner_command(
      spec, host_.installed == Installed::yes ? std::nullopt : std::optional{engine_});
  if (!command.empty()) return tools::conversion_advice(engine_, spec, command);
  return tools::conversion_advice_here(*tree, *place, spec.path, engine_, spec);
}

std::shared_ptr<const cdi::RejectedFile> EngineView::rejected_file(const cdi::LoadedSpec& spec,
                                                                   cdi::Error why) {
  cdi::RejectedFile out{.why = std::move(why), .kind = spec.spec.kind};
  for (const auto& device : spec.spec.devices) out.devices.push_back(device.name);
  return std::make_shared<const cdi::RejectedFile>(std::move(out));
}
