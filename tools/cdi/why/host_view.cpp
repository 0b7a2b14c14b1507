// Examines the host for `cdi why`: its engines, and what devices need from it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "host_view.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include <cdi/files/make_registry.hpp>
#include <cdi/files/text_file.hpp>

#include "../../kit/cdi_specs/lost_files.hpp"
#include "../../kit/cdi_specs/write_command.hpp"
#include "../../kit/engines/installed_versions.hpp"
#include "../base/spec_dirs.hpp"

cdi::Result<HostView> HostView::open(const std::string& root) {
  std::error_code failed;
  const auto real = std::filesystem::canonical(root, failed).string();
  auto tree = tools::HostTree::open(failed ? root : real);
  if (!tree) return std::move(tree).error();
  return HostView{*std::move(tree)};
}

std::string HostView::path_of(const std::string& dir) const {
  return is_other() ? root() + tools::place_of(tree_, dir) : dir;
}

std::shared_ptr<const cdi::Registry> HostView::scan(const std::vector<std::string>& dirs,
                                                    const cdi::ReadOptions& reading) const {
  const auto found = cdi::scan_spec_dirs(dirs, reading);
  if (!is_other()) return found;
  std::vector<std::shared_ptr<const cdi::LoadedSpec>> specs;
  std::vector<std::shared_ptr<const cdi::RejectedFile>> rejected;
  const auto add = [&](const auto& file, const std::string& path, int priority, auto& files) {
    const auto target = target_outside(path);
    if (!target) return files.push_back(file);
    const auto read = read_link(path, *target, priority, reading);
    specs.insert(specs.end(), read.specs().begin(), read.specs().end());
    rejected.insert(rejected.end(), read.rejected().begin(), read.rejected().end());
  };
  for (const auto& spec : found->specs()) add(spec, spec->path, spec->priority, specs);
  for (const auto& file : found->rejected()) {
    const auto& path = file->why.position.file;
    add(file, path, priority_of(path, *found).value_or(0), rejected);
  }
  return std::make_shared<const cdi::Registry>(std::move(specs), std::move(rejected),
                                               found->dirs());
}

const std::vector<tools::Engine>& HostView::engines() {
  using tools::VersionsFrom;
  if (!engines_) {
    engines_ =
        tools::EngineVersions{is_other() ? VersionsFrom::packages : VersionsFrom::programs}.engines(
            tree_);
  }
  return *engines_;
}

cdi::Result<tools::VersionedEngine> HostView::engine_named(const std::string& name) {
  return tools::engine_of_host(engines(), name);
}

const tools::Engine* HostView::find(std::string_view name) {
  for (const auto& engine : engines()) {
    if (engine.name == name) return &engine;
  }
  return nullptr;
}

bool HostView::reads_directory(const tools::Engine& engine, const std::string& file) const {
  auto dir = dir_of(file);
  if (is_other() && dir.starts_with(root())) dir.erase(0, root().size());
  const auto place = tools::place_of(tree_, dir);
  return std::any_of(engine.spec_dirs.begin(), engine.spec_dirs.end(),
                     [&](const auto& one) { return tools::place_of(tree_, one) == place; });
}

tools::HostFaults HostView::faults(const cdi::ResolvedDevice& found) const {
  auto out = tools::device_host_faults(tree_, *found.spec, found.index());
  for (auto& fault : tools::shared_host_faults(tree_, *found.spec)) {
    out.push_back(std::move(fault));
  }
  return out;
}

std::string HostView::advice_on(const cdi::LoadedSpec& spec, bool dirs_named) const {
  const SpecHost host{.root = root(), .dirs_named = dirs_named};
  const auto command = host.owner_command(spec, std::nullopt);
  if (command.empty()) {
    return "regenerate the spec with the program that wrote it, or install what is missing";
  }
  if (!tools::lost_driver_file(tree_, spec.spec, {})) {
    return fmt::format("run `{}`, or install what is missing", command);
  }
  return fmt::format("{}; then run `{}`", tools::libraries_remedy_clause(), command);
}

tools::HostFaults HostView::faults(const cdi::ContainerEdits& edits) const {
  return tools::host_faults(tree_, edits);
}

std::optional<std::string> HostView::target_outside(const std::string& path) const {
  std::error_code failed;
  const auto place = SpecHost{.root = root()}.place_of(path);
  if (!place || !std::filesystem::is_symlink(path, failed)) return std::nullopt;
  const auto real = tree_.real_path(*place);
  auto target = real ? root() + *real : std::string{};
  const auto from_here = std::filesystem::canonical(path, failed).string();
  if (from_here == target) return std::nullopt;
  return target;
}

cdi::Registry HostView::read_link(const std::string& path, const std::string& target, int priority,
                                  const cdi::ReadOptions& reading) {
  auto file =
      cdi::read_file_at(AT_FDCWD, target, path, reading.limits.bytes, reading.reject_writable);
  if (file)
    return cdi::make_registry({{.name = path, .text = file->text, .priority = priority}}, reading);
  if (target.empty()) file.error().message = "the link target does not exist";
  return cdi::Registry{
      {}, {std::make_shared<const cdi::RejectedFile>(cdi::RejectedFile{.why = file.error()})}};
}

EngineAnswer switched_off(const tools::Engine& engine) {
  return {"off", "not injected by", {{.message = "CDI is switched off"}}, engine.to_switch_on};
}

void add_answer(const EngineView& view, EngineAnswer answer, Explanation& out) {
  auto& text = out.text;
  EngineRecord entry{
      .engine = view.name(),
      .result = answer.result,
      .reads = view.newest(),
      .causes = records_of(answer.result == "refuses" ? "error" : "warning", answer.causes),
      .advice = answer.advice};
  for (const auto& cause : answer.causes) {
    text += fmt::format("  {} {}: {}\n", answer.words, view.name(), to_string(cause));
  }
  if (const auto& other = answer.instead; other.device != nullptr) {
    text += fmt::format("  used by {}: {}:{}\n", view.name(), printable(other.spec->path),
                        other.line());
    entry.file = other.spec->path;
    entry.line = other.line();
  }
  if (!answer.advice.empty()) text += fmt::format("  fix: {}\n", answer.advice);
  out.record.engines.push_back(std::move(entry));
  answer.engine = view.engine();
  out.engines.push_back(std::move(answer));
}

void add_setup_warnings(const tools::Engine& engine, Explanation& out) {
  for (const auto& warning : engine.warnings) {
    out.text += fmt::format("  warning about {}: {}\n", engine.full_name(), printable(warning));
    out.record.setup_warnings.push_back({engine.full_name(), warning});
  }
}

EngineAnswer InstalledEngine::answer(const std::string& name, const cdi::LoadedSpec& spec,
                                     const HostView& host, bool dirs_named) const {
  if (const auto* const rejection = view.rejection_of(spec)) {
    return {"refuses", "refused by", {*rejection}, view.advice(spec), view.registry()->find(name)};
  }
  if (engine->state() == tools::Engine::Cdi::off) {
    return switched_off(*engine);
  }
  if (!dirs_named && !host.reads_directory(*engine, spec.path)) {
    auto dirs = tools::listed(engine->spec_dirs);
    return {"other-directory",
            "not read by",
            {{.message = "it reads only " + dirs, .position = {.file = spec.path}}},
            "add the directory to " + engine->to_set_dirs + ", or move the file"};
  }
  const auto& doubts = view.text_warnings(spec);
  if (doubts.empty()) return {"reads", {}, {}, {}};
  return {"in-doubt", "may be refused or read differently by", doubts, view.advice(spec)};
}

HostNotes::HostNotes(HostView& host, const cdi::Registry& registry, bool with_engines,
                     bool dirs_named)
    : host_{&host}, dirs_named_{dirs_named} {
  if (!with_engines) return;
  for (const auto& engine : host.engines()) {
    if (engine.version) {
      installed_.push_back(
          {&engine,
           EngineView{engine.of_version(), registry, {host.root(), dirs_named, Installed::yes}}});
    } else {
      unknown_.push_back(&engine);
    }
  }
}

bool HostNotes::add(const std::string& name, const cdi::ResolvedDevice& found,
                    Explanation& out) const {
  const bool fails = add_faults(found, out.text, out.record);
  for (const auto& one : installed_) {
    add_answer(one.view, one.answer(name, *found.spec, *host_, dirs_named_), out);
    add_setup_warnings(*one.engine, out);
  }
  for (const auto* engine : unknown_) {
    add_setup_warnings(*engine, out);
    if (engine->version_fault.empty()) continue;  // only its configuration exists
    out.text += fmt::format("  not checked: {}: {}\n", engine->name, engine->version_fault);
    out.record.engines.push_back({.engine = std::string{engine->name},
                                  .result = "unknown",
                                  .message = engine->version_fault});
  }
  return fails;
}

std::string_view HostNotes::words_for(tools::HostFault::Effect effect) {
  using Effect = tools::HostFault::Effect;
  return effect == Effect::fails      ? "will fail"
         : effect == Effect::may_fail ? "may fail"
                                      : "not checked";
}

bool HostNotes::add_faults(const cdi::ResolvedDevice& found, std::string& text,
                           ExplainedName& record) const {
  using Effect = tools::HostFault::Effect;
  bool fails = false;
  bool repairable = false;
  auto faults = host_->faults(found);
  const auto is_fatal = [](const auto& fault) {
    return fault.effect == Effect::fails;
  };
  if (faults.size() > max_shown) {
    std::stable_partition(faults.begin(), faults.end(), is_fatal);
  }
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const auto effect = faults[i].effect;
    const auto& error = faults[i].error;
    fails = fails || effect == Effect::fails;
    repairable = repairable || effect != Effect::unknown;
    if (i < max_shown) {
      text += fmt::format("  {}: {}\n", words_for(effect), to_string(error));
    }
    record.host_faults.push_back(
        error_record(effect == Effect::fails ? "error" : "warning", error));
  }
  if (faults.size() > max_shown) {
    text += fmt::format("  and {} more\n", faults.size() - max_shown);
  }
  if (!repairable) return fails;
  const auto advice = host_->advice_on(*found.spec, dirs_named_);
  text += fmt::format("  fix: {}\n", advice);
  record.host_advice = advice;
  return fails;
}
