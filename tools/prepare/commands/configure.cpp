// The command `configure`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../gpu/base/one_line.hpp"
#include "../../gpu/base/options.hpp"
#include "../../gpu/cdi_specs/version_choice.hpp"
#include "../../gpu/configure/engine_edits.hpp"
#include "../../gpu/configure/file_edit.hpp"
#include "../../gpu/findings/engine_setup.hpp"
#include "../../gpu/host/open_host.hpp"
#include "../../kit/engines/engines.hpp"
#include "../../kit/engines/installed_versions.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../../kit/versions/engine_versions.hpp"
#include "commands.hpp"
#include "exit_codes.hpp"
#include "output.hpp"
#include <CLI/CLI.hpp>

namespace prepare {

namespace {

/// The options of `configure`.
struct ConfigureOptions {
  std::string engine{};
  bool dry_run = false;
  bool undo = false;
};

/// The exit code table of `configure --help`.
constexpr ExitMeaning configure_exit_meanings[] = {
    {ExitCode::done, "done, or nothing to do"},
    {ExitCode::failed, "error, or the engine is not on the host or still does not read the specs"},
    {ExitCode::usage, "wrong usage"},
    {ExitCode::partial, "not done: the lines that a person has to add are printed"},
};

/// The engine that an option names; nullopt if it is not on the host.
std::optional<tools::Engine> find_engine(const tools::HostTree& tree, const Options& options,
                                         const configure::Configurable& wanted) {
  for (auto& engine : tools::EngineVersions{versions_from(options)}.engines(tree)) {
    if (engine.name == wanted.engine) return std::move(engine);
  }
  return std::nullopt;
}

/// What an engine needs to read specs in a directory; nothing is missing if it reads them.
configure::Needs needs_of(const tools::HostTree& tree, const tools::Engine& engine,
                          const std::string& directory) {
  configure::Needs needs{.switch_on = engine.state() != tools::Engine::Cdi::on,
                         .set_dirs = !doctor::reads_directory(tree, engine, directory),
                         .dirs = engine.spec_dirs};
  if (needs.dirs.empty()) needs.dirs.emplace_back("/etc/cdi");
  if (needs.set_dirs) needs.dirs.push_back(directory);
  return needs;
}

/// Prints the changes, or makes them. Engines of another root are not restarted from here.
ExitCode show_or_make(const configure::Edits& edits, const Options& options,
                      const ConfigureOptions& own, std::string_view restart) {
  std::string out;
  Messages done;  // for standard error, if a later change fails
  for (const auto& edit : edits) {
    for (const auto& note : edit.notes) report(Message::warning(note));
  }
  for (const auto& edit : edits) {
    if (!edit.changes()) continue;
    if (own.dry_run) {
      out += configure::diff_of(edit);
      continue;
    }
    if (auto made = configure::make(options, edit); !made) {
      report(done);
      return finish(made.error(), ExitCode::failed);
    }
    done.push_back(Message::note(fmt::format("{}: {}", edit.path, configure::action_of(edit))));
    out += as_line(done.back().what.message);
  }
  if (!own.dry_run && options.root == "/") out += as_line(restart);
  return finish(out, ExitCode::done);
}

/// Reports why an engine still does not read the directory after a change: another file, which it
/// reads later, has the same settings.
ExitCode check_again(const tools::HostTree& tree, const Options& options,
                     const configure::Configurable& wanted, const std::string& directory) {
  const auto engine = find_engine(tree, options, wanted);
  if (!engine) return ExitCode::done;
  const auto needs = needs_of(tree, *engine, directory);
  if (!needs.any()) return ExitCode::done;
  report(Message::error(cdi::Error{
      .message = fmt::format("{} still does not read {}: a file that it reads later has the same "
                             "settings; it reads {}",
                             engine->full_name(), directory, tools::listed(engine->spec_dirs)),
      .advice =
          needs.switch_on ? engine->to_switch_on : fmt::format("change {}", engine->to_set_dirs)}));
  return ExitCode::failed;
}

ExitCode undo_configuration(const tools::HostTree& tree, const Options& options,
                            const ConfigureOptions& own, const configure::Configurable& wanted) {
  const auto edits = configure::undo_of(wanted, tree);
  if (!edits) return finish(edits.error(), ExitCode::failed);
  const bool changes =
      std::any_of(edits->begin(), edits->end(), [](const auto& edit) { return edit.changes(); });
  if (!changes) {
    return finish(
        fmt::format("{}: cdi-prepare has configured nothing: nothing to undo\n", wanted.name),
        ExitCode::done);
  }
  return show_or_make(*edits, options, own, wanted.restart);
}

/// Why there is nothing to configure: the engine is missing, or containerd has no CRI plugin.
cdi::Error missing_engine(const tools::HostTree& tree, const configure::Configurable& wanted) {
  const std::string path = tools::engines::containerd_config;
  tools::Engine unused;
  if (wanted.engine == "containerd" &&
      tools::engines::is_cri_disabled(tools::engines::read_toml(tree, path, unused))) {
    return {.code = cdi::Errc::host,
            .message = "the CRI plugin of containerd, which reads specs, is in disabled_plugins",
            .advice =
                "configure docker, if containerd only serves Docker; if Kubernetes uses "
                "containerd, remove the plugin from that list first",
            .position = {.file = path}};
  }
  return {.code = cdi::Errc::host,
          .message = fmt::format(
              "{} is not on this host: neither its program {}, in {}, nor its configuration "
              "was found",
              wanted.engine, tools::engines::version_source(wanted.engine)->program,
              fmt::join(tools::engines::program_directories, ", "))};
}

/// The error about a file that cannot be read or parsed: its settings are unknown.
cdi::Error unread_file(const Options& options, cdi::Error why) {
  if (why.position.file.empty()) why.message = configure::with_path_here(options, why.message);
  why.position.file = configure::with_path_here(options, why.position.file);
  const bool is_denied = why.system == EACCES || why.system == EPERM;
  why.advice = is_denied ? "run this as root; nothing was changed"
                         : "correct it by hand; nothing was changed";
  return why;
}

/// Prints the settings that a person has to add to a file that is not ours.
ExitCode say_by_hand(const tools::Engine& engine, const std::string& settings) {
  report(Message::error(cdi::Error{
      .message = fmt::format("not done: {} reads no file of cdi-prepare", engine.full_name()),
      .advice = "set by hand what standard output has; nothing was changed"}));
  return finish(settings, ExitCode::partial);
}

ExitCode change_configuration(const tools::HostTree& tree, const Options& options,
                              const ConfigureOptions& own, const configure::Configurable& wanted,
                              const std::string& directory) {
  const auto engine = find_engine(tree, options, wanted);
  if (!engine) return finish(missing_engine(tree, wanted), ExitCode::failed);
  if (engine->unread) return finish(unread_file(options, *engine->unread), ExitCode::failed);
  for (const auto& warning : engine->warnings) {
    report(Message::warning(configure::with_path_here(options, warning)));
  }
  if (engine->version) {
    const auto newest = tools::newest_spec_version_for(engine->of_version());
    if (!newest) {
      return finish(cdi::Error{.code = cdi::Errc::host,
                               .message = newest.error().message,
                               .advice = "update it, or start cdi-runtime in the place of runc "
                                         "(docs/engines.md): this version cannot inject CDI "
                                         "devices"},
                    ExitCode::failed);
    }
  }
  const auto needs = needs_of(tree, *engine, directory);
  if (!needs.any()) {
    return finish(as_line(fmt::format("{}: CDI is on, and it reads {}: nothing to do",
                                      engine->full_name(), directory)),
                  ExitCode::done);
  }
  const auto file = wanted.own_file == nullptr ? "" : wanted.own_file(tree, *engine);
  if (wanted.own_file != nullptr && file.empty()) {
    return say_by_hand(*engine, configure::containerd_by_hand(tree, *engine, needs));
  }
  const auto edits = configure::edits_of(wanted, tree, *engine, file, needs);
  if (!edits) return finish(edits.error(), ExitCode::failed);
  const auto code = show_or_make(*edits, options, own, wanted.restart);
  if (own.dry_run || code != ExitCode::done) return code;
  return check_again(tree, options, wanted, directory);
}

ExitCode configure_engine(const Options& options, const ConfigureOptions& own) {
  const auto tree = open_host(options);
  if (!tree) return finish(tree.error(), ExitCode::failed);
  const auto directory = options.place_on_host(options.output_dir);
  if (!directory) {
    report(Message::error(
        fmt::format("--output-dir {} is not under --root {}", options.output_dir, options.root)));
    return ExitCode::usage;
  }
  for (const auto& one : configure::configurable) {
    if (one.name != own.engine && one.engine != own.engine) continue;
    if (!own.dry_run) configure::remove_leftovers(options, *tree, one);
    if (own.undo) return undo_configuration(*tree, options, own, one);
    return change_configuration(*tree, options, own, one, *directory);
  }
  return ExitCode::usage;  // not reached: the parser checks the names
}

Run set_up_configure(CLI::App& app, Options& options) {
  auto own = std::make_shared<ConfigureOptions>();
  std::vector<std::string> names;
  for (const auto& one : configure::configurable) {
    names.emplace_back(one.name);
    if (one.engine != one.name) names.emplace_back(one.engine);  // cri-o, besides crio
  }
  app.get_option("--root")->description("Directory that contains the host's etc and usr");
  app.footer(exit_code_help(configure_exit_meanings));
  app.add_option("ENGINE", own->engine, "The engine")->required()->check(CLI::IsMember(names));
  app.add_flag("--dry-run", own->dry_run, "Print what would change; write nothing");
  app.add_flag("--undo", own->undo, "Remove what configure has added");
  add_output_dir(app, options);
  return [own](const Options& given) {
    return configure_engine(given, *own);
  };
}

}  // namespace

constexpr Command configure_command{
    "configure", "Make a container engine read the specs: containerd, docker, podman or crio",
    set_up_configure, "cdi-prepare configure containerd --dry-run"};

}  // namespace prepare
