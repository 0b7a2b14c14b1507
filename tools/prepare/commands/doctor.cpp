// The command `doctor`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../doctor/doctor.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../gpu/base/options.hpp"
#include "../../gpu/cdi_specs/version_choice.hpp"
#include "../../gpu/findings/finding.hpp"
#include "../../gpu/findings/our_specs.hpp"
#include "../../gpu/findings/spec_dirs.hpp"
#include "../../gpu/host/open_host.hpp"
#include "../../gpu/vendors/driver_place.hpp"
#include "../../kit/base/colours.hpp"
#include "../../kit/base/options.hpp"
#include "../../kit/base/result_text.hpp"
#include "../../kit/cdi_specs/recorded_options.hpp"
#include "../../kit/help/terminal_text.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../../kit/versions/engine_versions.hpp"
#include "../doctor/page.hpp"
#include "../results.hpp"
#include "commands.hpp"
#include "exit_codes.hpp"
#include "option_paths.hpp"
#include "output.hpp"
#include "report.hpp"
#include "verdict.hpp"
#include <CLI/CLI.hpp>

namespace prepare {

namespace {

/// The directories that `doctor` checks, besides the specs'.
struct CheckedPaths {
  std::string state_dir{};  // empty: /var/lib/cdi-prepare under the root
  std::vector<std::string> spec_dirs{};
};

/// Rejects a directory that the engines of the host under the root cannot see.
ExitCode reject_outside(std::string_view option, const std::string& path,
                        const HostOptions& options) {
  report(Message::error(
      cdi::Error{.message = fmt::format("{} {} is not under --root {}", option, path, options.root),
                 .advice = "doctor checks only that host; give one of its directories"}));
  return ExitCode::usage;
}

/// An engine, with the newest CDI version that it reads.
ShownEngine shown(const tools::Engine& engine) {
  ShownEngine out{.name = engine.name,
                  .cdi = engine_states.at(static_cast<std::size_t>(engine.state())),
                  .spec_dirs = engine.spec_dirs};
  if (!engine.version) return out;
  out.version = to_string(*engine.version);
  const auto newest = tools::newest_spec_version_for(engine.of_version());
  if (newest) out.reads = cdi::to_string(*newest);
  return out;
}

/// The findings in the requested format; JSON and HTML also have the engines, devices and files.
std::string diagnosis_text(const Survey& survey, const std::vector<Finding>& findings,
                           const std::vector<tools::Engine>& engines, const std::string& format) {
  if (format == "text") {
    auto text = tools::text_for(STDOUT_FILENO, findings_as_text(findings));
    return tools::output_has_colours() ? with_colours(text) : text;
  }
  DoctorResult result{.findings = shown(findings), .vendors = shown(survey.inventories)};
  for (const auto& engine : engines) result.engines.push_back(shown(engine));
  return format == "html" ? diagnosis_page(result) : tools::json_text(result);
}

/// Whether engines use a device of a spec: a file of a higher priority may define all of them.
bool is_in_use(const cdi::Registry& registry, const cdi::LoadedSpec& loaded) {
  const auto& devices = loaded.spec.devices;
  return std::any_of(devices.begin(), devices.end(), [&](const auto& device) {
    const auto used = registry.find(cdi::qualified_name(loaded.spec.kind, device.name));
    return used.spec != nullptr && used.spec->path == loaded.path;
  });
}

/// Looks for the driver where a spec of `write` records that it is: doctor has no such options.
void use_recorded_place(Options& options, const CheckedPaths& own) {
  const auto tree = open_host(options);
  if (!tree) return;
  auto dirs = cdi::default_spec_dirs();
  dirs.insert(dirs.end(), own.spec_dirs.begin(), own.spec_dirs.end());
  dirs.push_back(options.place_on_host(options.output_dir).value_or("/var/run/cdi"));
  const auto is_there = [&](const std::string& path) {
    const auto mode = tree->mode(path);
    return mode && S_ISDIR(*mode);
  };
  const auto registry = doctor::read_specs(*tree, dirs);
  for (const auto& loaded : registry.specs()) {
    if (!doctor::is_ours(*loaded) || !is_in_use(registry, *loaded)) continue;
    const auto recorded = tools::recorded_options(*tree, *loaded);
    if (!recorded) continue;
    const auto& [root, dev_root, libraries] =
        std::tie(recorded->driver_root, recorded->dev_root, recorded->library_dirs);
    if (!root.empty() && is_there(root)) options.driver_root = root;
    if (!dev_root.empty() && is_there(dev_root)) options.dev_root = dev_root;
    if (!libraries.empty()) options.library_dirs = libraries;
  }
  std::erase_if(options.library_dirs,
                [&](const auto& path) { return !is_there(options.driver_root + path); });
}

ExitCode examine_host(const AssessedSurvey& assessed, const Options& options,
                      const CheckedPaths& own) {
  const auto& survey = assessed.survey;
  DoctorOptions requested;
  std::vector<std::string> dirs;
  for (const auto& given : own.spec_dirs) {
    const auto dir = spelt_below_root(options, absolute(options, given));
    auto place = options.place_on_host(dir);
    if (!place) return reject_outside("--spec-dir", dir, options);
    dirs.push_back(std::move(*place));
  }
  if (!dirs.empty()) requested.spec_dirs = std::move(dirs);
  const auto output_dir = options.place_on_host(options.output_dir);
  if (!output_dir) return reject_outside("--output-dir", options.output_dir, options);
  requested.output_dir = *output_dir;
  const auto state_dir = state_dir_or(options, own.state_dir);
  const auto journal = options.place_on_host(state_dir);
  if (!journal) return reject_outside("--state-dir", state_dir, options);
  requested.state_dir = *journal;
  requested.place = survey.place;
  if (auto place = open_driver_place(survey.tree, options)) requested.driver = std::move(*place);
  const auto engines = tools::EngineVersions{versions_from(options)}.engines(survey.tree);
  const auto findings = diagnose_host(survey, engines, requested);
  return finish(diagnosis_text(survey, findings, engines, options.output),
                has_fault(findings) ? ExitCode::failed : ExitCode::done);
}

Run set_up_doctor(CLI::App& app, Options& options) {
  auto own = std::make_shared<CheckedPaths>();
  add_output(app, options, {"text", "json", "html"});
  add_vendor_files(app, options);
  add_output_dir(app, options);
  add_state_dir(app, own->state_dir);
  app.add_option("--spec-dir", own->spec_dirs,
                 "Spec directories to check, under the root, lowest priority first")
      ->type_name("DIR")
      ->check(tools::not_empty);
  return [own, run = after_survey(examine_host, own)](const Options& given) {
    auto completed = given;
    use_recorded_place(completed, *own);
    return run(completed);
  };
}

}  // namespace

constexpr Command doctor_command{
    "doctor", "Report what keeps containers from using the devices, and what to do", set_up_doctor,
    "cdi-prepare doctor"};

}  // namespace prepare
