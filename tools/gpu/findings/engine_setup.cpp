// Checks whether container engines are set up to read the specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "engine_setup.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include <cdi/rules/owner.hpp>

#include "../../kit/versions/conversion.hpp"
#include "../../kit/versions/engine_support.hpp"
#include "../../kit/versions/engine_versions.hpp"
#include "../configure/engine_edits.hpp"
#include "spec_dirs.hpp"

namespace prepare::doctor {

namespace {

/// The directories that an engine reads, and the newest CDI version that it reads, if known.
std::string reading_of(const tools::Engine& engine) {
  auto text = "reads " + tools::listed(engine.spec_dirs);
  if (engine.version) {
    const auto newest = tools::newest_spec_version_for(engine.of_version());
    if (newest) text += ", up to CDI " + cdi::to_string(*newest);
    const auto assumption = tools::assumption_about(engine.of_version());
    if (!assumption.empty()) text += "; " + assumption;
  } else if (!engine.version_fault.empty()) {
    text += fmt::format("; its version is unknown ({})", engine.version_fault);
  }
  return text;
}

/// Advice that begins with the command that changes the configuration, if there is one.
std::string advice_to_configure(const tools::HostTree& tree, const tools::Engine& engine,
                                const std::string& output_dir, const std::string& otherwise) {
  const auto name = configure::configure_name(tree, engine);
  if (name.empty() || engine.to_set_dirs.empty()) return otherwise;
  auto arguments = directory_argument(tree, output_dir);
  arguments.insert(arguments.begin(), std::string{name});
  return fmt::format("Run {}, and restart the engine. By hand: {}",
                     command_with(tree, "configure", arguments), otherwise);
}

/// What to do by hand when an engine does not read the directory of the specs.
std::string advice_on_directory(const tools::Engine& engine, const std::string& output_dir) {
  if (engine.to_set_dirs.empty()) {
    return "Write the specs to a directory that it reads (--output-dir).";
  }
  return fmt::format(
      "Add {} to {}, or write the specs to a directory that it reads (--output-dir).", output_dir,
      engine.to_set_dirs);
}

/// Advice for a spec file that an engine rejects, or may read differently.
std::string advice_on_file(const tools::HostTree& tree, const tools::Engine& engine,
                           const std::vector<Inventory>& inventories,
                           const cdi::LoadedSpec& loaded) {
  const auto written = tools::written_spec_version_for(engine.of_version());
  if (const auto journal = owner_journal(tree, loaded)) {
    if (!written || *written < cdi::detail::first_with_annotations) {
      return fmt::format("Update this engine: a spec of a claim needs CDI {}.",
                         cdi::to_string(cdi::detail::first_with_annotations));
    }
    return fmt::format(
        "Run {}, which writes the version that the oldest engine reads, or update this engine. A "
        "claim with an explicit version keeps it.",
        claim_command(tree, "list", *journal));
  }
  if (written && is_ours(loaded)) {
    return fmt::format(
        "{} `{}`, which writes the version that the oldest engine reads, or update this engine.",
        run_when_ready(tree, inventory_for(inventories, loaded.spec), profiles_of(tree, loaded),
                       arguments_without_version(tree, loaded), &loaded),
        write_command_for(tree, loaded, std::nullopt));
  }
  const auto slash = loaded.path.rfind('/');
  const auto here = path_here(tree, loaded.path.substr(0, slash)) + loaded.path.substr(slash);
  auto advice =
      tools::conversion_advice_here(tree, loaded.path, here, engine.of_version(), loaded) + ".";
  advice.front() = static_cast<char>(std::toupper(advice.front()));
  return advice;
}

/// Reports the spec files that an engine rejects, or may read differently. Returns whether it
/// rejects none.
bool check_files(const tools::HostTree& tree, const tools::Engine& engine,
                 const std::vector<Inventory>& inventories, Findings& findings) {
  bool reads_all = true;
  const auto registry = read_specs(tree, engine.spec_dirs);
  for (const auto& loaded : registry.specs()) {
    const auto rejection = tools::rejection_by(engine.of_version(), *loaded);
    if (rejection) {
      reads_all = false;
      findings.push_back({Level::fault, engine.full_name(), "refuses " + cdi::to_string(*rejection),
                          advice_on_file(tree, engine, inventories, *loaded)});
      continue;
    }
    const auto warnings = tools::text_warnings(engine.of_version(), *loaded);
    if (warnings.empty()) continue;
    findings.push_back({Level::note, engine.full_name(),
                        "may refuse or read differently: " + cdi::to_string(warnings.front()),
                        advice_on_file(tree, engine, inventories, *loaded)});
  }
  return reads_all;
}

/// Reports an engine that reads annotations only.
void check_field(const tools::Engine& engine, Findings& findings) {
  const auto* const support = tools::find_engine_support(engine.of_version());
  if (support == nullptr || support->field) return;
  findings.push_back({Level::note, engine.full_name(),
                      "ignores the CRI field CDI_devices, with which kubelet passes devices",
                      "Update it, or let the device plugin request devices with annotations."});
}

void check_engine(const tools::HostTree& tree, const tools::Engine& engine,
                  const std::string& output_dir, const std::vector<Inventory>& inventories,
                  Findings& findings) {
  for (const auto& warning : engine.warnings) {
    findings.push_back({Level::note, engine.full_name(), warning,
                        "Check it by hand; the other findings about this engine may be wrong."});
  }
  const auto trouble = inventories.empty() || engine.is_builder ? Level::note : Level::fault;
  bool reads_all = true;
  if (engine.version) {
    const auto newest = tools::newest_spec_version_for(engine.of_version());
    if (!newest) {
      findings.push_back(
          {trouble, engine.full_name(), newest.error().message,
           "Update it, or start cdi-runtime in the place of runc (docs/engines.md): this "
           "version cannot inject CDI devices."});
      return;
    }
    if (engine.state() != tools::Engine::Cdi::off) {
      reads_all = check_files(tree, engine, inventories, findings);
      check_field(engine, findings);
    }
  }
  check_setup(tree, engine, output_dir, trouble, reads_all, findings);
}

}  // namespace

bool reads_directory(const tools::HostTree& tree, const tools::Engine& engine,
                     const std::string& output_dir) {
  const auto place = place_of(tree, output_dir);
  return std::any_of(engine.spec_dirs.begin(), engine.spec_dirs.end(),
                     [&](const auto& directory) { return place_of(tree, directory) == place; });
}

void check_setup(const tools::HostTree& tree, const tools::Engine& engine,
                 const std::string& output_dir, Level trouble, bool reads_all, Findings& findings) {
  const auto state = engine.state();
  if (state == tools::Engine::Cdi::off) {
    findings.push_back({trouble, engine.full_name(), "CDI is switched off",
                        advice_to_configure(tree, engine, output_dir, engine.to_switch_on)});
    return;
  }
  if (!reads_directory(tree, engine, output_dir)) {
    findings.push_back(
        {trouble, engine.full_name(),
         fmt::format("does not read {}, where specs are written; it reads {}", output_dir,
                     tools::listed(engine.spec_dirs)),
         advice_to_configure(tree, engine, output_dir, advice_on_directory(engine, output_dir))});
  } else if (state == tools::Engine::Cdi::on && reads_all) {
    findings.push_back({Level::good, engine.full_name(), reading_of(engine), {}});
  }
  if (state == tools::Engine::Cdi::by_version) {
    findings.push_back(
        {Level::note, engine.full_name(),
         "whether CDI is on depends on its version: the configuration does not set it",
         advice_to_configure(tree, engine, output_dir, engine.to_switch_on)});
  }
}

void check_engines(const tools::HostTree& tree, const std::vector<tools::Engine>& installed,
                   const std::string& output_dir, const std::vector<Inventory>& inventories,
                   Findings& findings) {
  for (const auto& engine : installed) {
    check_engine(tree, engine, output_dir, inventories, findings);
  }
  if (!installed.empty()) return;
  findings.push_back(
      {Level::note, "engines", "no container engine is installed",
       fmt::format("If one is installed elsewhere, check that it reads {}.", output_dir)});
}

}  // namespace prepare::doctor
