// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// cdi-prepare: finds the GPUs of a node in /proc and /sys, without any vendor library, and writes a
// CDI spec for them, as a Kubernetes DRA driver does when it prepares a claim.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/engine_releases.hpp>
#include <cdi/minimum_version.hpp>
#include <cdi/name.hpp>
#include <cdi/version.hpp>

#include "base/options.hpp"
#include "base/text.hpp"
#include "commands/check.hpp"
#include "commands/claim.hpp"
#include "commands/exit_codes.hpp"
#include "commands/output.hpp"
#include "commands/report.hpp"
#include "commands/verdict.hpp"
#include "commands/watch.hpp"
#include "commands/write.hpp"
#include "doctor/doctor.hpp"
#include "gpu/profile.hpp"
#include "host/directories.hpp"
#include "spec/target_release.hpp"
#include "vendors/detect.hpp"
#include "vendors/survey.hpp"
#include <CLI/CLI.hpp>

namespace prepare {
namespace {

/// What a command does with what was found on the host.
using Command = ExitCode (*)(const AssessedSurvey&, const Options&);

ExitCode show_model(const AssessedSurvey& assessed, const Options& options) {
  print_error(survey_lines(assessed, options));
  const auto& found = assessed.survey.inventories;
  return finish(options.json() ? model_as_json(found) : model_as_text(found),
                assessed.verdict.code);
}

/// Why `doctor` cannot look at a directory: it finds out what engines of the host below the root
/// see.
ExitCode refuse_outside(std::string_view option, const std::string& path, const Options& options) {
  report(fmt::format(
      "error: {} {} is not below --root {}: doctor looks at that host only; name a directory of it",
      option, path, options.root));
  return ExitCode::usage;
}

ExitCode examine_host(const AssessedSurvey& assessed, const Options& options) {
  const auto& survey = assessed.survey;
  DoctorOptions asked;
  std::vector<std::string> dirs;
  for (const auto& dir : options.spec_dirs) {
    auto place = options.place_on_host(dir);
    if (!place) return refuse_outside("--spec-dir", dir, options);
    dirs.push_back(std::move(*place));
  }
  if (!dirs.empty()) asked.spec_dirs = std::move(dirs);
  const auto output_dir = options.place_on_host(options.output_dir);
  if (!output_dir) return refuse_outside("--output-dir", options.output_dir, options);
  asked.output_dir = *output_dir;
  asked.versions_from = versions_from(options);
  const auto findings = diagnose_host(survey.tree, survey.inventories, asked);
  return finish(options.json() ? findings_as_json(findings) : findings_as_text(findings),
                has_fault(findings) ? ExitCode::failed : ExitCode::done);
}

/// Looks at the host as often as it needs to, then does it.
ExitCode run(Command command, const Options& options) {
  auto survey = survey_until_ready(options);
  if (!survey) return finish(survey.error(), ExitCode::failed);
  return command(*survey, options);
}

std::string not_empty(const std::string& text) {
  return text.empty() ? "must not be empty" : "";
}

std::string release_fault(const std::string& text) {
  const auto release = cdi::parse_release(text);
  const bool written = release && *release >= cdi::Release{0, 3, 0};  // older ones had no name
  return written ? ""
                 : cdi::detail::quoted(text) +
                       " is no CDI release that specs name: give one such as 0.6.0";
}

std::string engine_fault(const std::string& text) {
  const auto release = cdi::newest_release_for(text);
  return release ? "" : release.error().message;
}

std::string uid_fault(const std::string& text) {
  return is_claim_uid(text) ? ""
                            : cdi::detail::quoted(text) +
                                  " is no plain id: 1 to 56 letters, digits and -, no - at an end";
}

/// Whether a text is a number of seconds up to a day; "nan" is none.
bool is_time(const std::string& text, double least) {
  double seconds = -1;
  const auto end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  return error == std::errc{} && stop == end && seconds >= least && seconds <= 86400;
}

std::string seconds_fault(const std::string& text) {
  return is_time(text, 0) ? "" : cdi::detail::quoted(text) + " is not 0 to 86400 seconds";
}

std::string interval_fault(const std::string& text) {
  return is_time(text, 0.01) ? "" : cdi::detail::quoted(text) + " is not 0.01 to 86400 seconds";
}

std::string count_fault(const std::string& text) {
  return parse_number<std::uint32_t>(text) ? "" : cdi::detail::quoted(text) + " is no count";
}

std::string kind_fault(const std::string& text) {
  return cdi::parse_kind(text)
             ? ""
             : cdi::detail::quoted(text) + " is no kind: give one such as example.com/claim";
}

/// A path with the part of it that is the root spelt as the root is, whatever links led there.
std::string spelt_below_root(const Options& options, const std::string& path) {
  struct stat root = {};
  struct stat part = {};
  if (options.root == "/" || ::stat(options.root.c_str(), &root) != 0) return path;
  std::size_t end = 0;
  do {
    end = std::min(path.find('/', end + 1), path.size());
    if (::stat(path.substr(0, end).c_str(), &part) != 0) return path;
    if (part.st_dev == root.st_dev && part.st_ino == root.st_ino) {
      return options.root + path.substr(end);
    }
  } while (end < path.size());
  return path;
}

/// The directory above what a path leads to: below the root as its host finds it, elsewhere as the
/// kernel does. None for a link that leads nowhere.
std::optional<std::filesystem::path> above(const Options& options, const std::string& path) {
  namespace fs = std::filesystem;
  const auto place = spelt_below_root(options, path);
  if (options.root != "/" && place.starts_with(options.root + "/")) {
    return fs::path{resolved(options, place)}.parent_path();
  }
  std::error_code failed;
  if (!fs::is_symlink(path, failed)) return fs::path{path}.parent_path();
  const auto real = fs::canonical(path, failed);
  if (failed) return std::nullopt;
  return real.parent_path();
}

/// A path with the working directory in front, and without `.`, `..` and needless slashes.
std::string absolute(const Options& options, const std::string& given) {
  std::error_code failed;  // as when the working directory is gone
  const auto whole = std::filesystem::absolute(given, failed);
  if (failed) return given;
  std::filesystem::path out;
  for (const auto& part : whole) {
    if (part == "..") {
      auto upward = above(options, out.string());
      if (!upward) return whole.string();
      out = std::move(*upward);
    } else if (!part.empty() && part != ".") {
      out /= part;
    }
  }
  return out.string();
}

/// Makes paths absolute, fills in those that were not given, and takes the release of the oldest
/// engine given.
void complete(Options& options) {
  options.root = absolute(Options{}, options.root);
  const auto or_below_root = [&](const std::string& given, const std::string& path) {
    const auto place = absolute(options, given.empty() ? options.below_root(path) : given);
    return resolved(options, spelt_below_root(options, place));
  };
  options.output_dir = or_below_root(options.output_dir, "/var/run/cdi");
  options.state_dir = or_below_root(options.state_dir, "/var/lib/cdi-prepare");
  // A name without a slash would be looked for where the system has its libraries.
  if (auto& library = options.nvml_library; !library.empty()) library = absolute({}, library);
  for (auto& dir : options.spec_dirs) dir = spelt_below_root(options, absolute(options, dir));
  for (const auto& engine : options.engines) {  // checked when they were read
    static_cast<void>(lower_release(options, *cdi::parse_engine(engine)));
  }
}

void add_output(CLI::App& command, Options& options) {
  command.add_option("-o,--output", options.output, "Form of what is printed")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

void add_nvml(CLI::App& command, Options& options) {
  command.add_flag("--nvml", options.nvml,
                   "Ask NVIDIA's library for the UUIDs and sizes of MIG instances");
  command.add_option("--nvml-library", options.nvml_library, "The library to ask")
      ->check(CLI::ExistingFile);
}

void add_wait(CLI::App& command, Options& options) {
  command.add_option("--wait", options.wait, "Seconds to wait for all to be ready")
      ->check(seconds_fault)
      ->capture_default_str();
}

void add_output_dir(CLI::App& command, Options& options) {
  command
      .add_option("--output-dir", options.output_dir,
                  "Directory of the specs; who writes makes it when it is missing")
      ->check(not_empty)
      ->default_str("var/run/cdi below the root");
}

void add_spec_options(CLI::App& command, Options& options) {
  std::vector<std::string> profiles;
  for (const auto& [name, unused] : profile_names) profiles.emplace_back(name);
  command.add_option("--profile", options.profile, "What containers will do with the GPUs")
      ->check(CLI::IsMember(profiles))
      ->capture_default_str();
  command
      .add_option(
          "--hooks", options.hooks,
          "Whether NVIDIA's hooks make links and caches of libraries; else links are mounts")
      ->check(CLI::IsMember({"none", "nvidia"}))
      ->capture_default_str();
  command
      .add_option(
          "--node-numbers", options.node_numbers,
          "Whether specs give the numbers of nodes, or runtimes ask the host for them; auto: "
          "asked in /etc, whose specs are there after the next boot")
      ->check(CLI::IsMember({"auto", "given", "asked"}))
      ->capture_default_str();
  command.add_flag("--ld-library-path", options.ld_library_path,
                   "Set LD_LIBRARY_PATH to the directories of libraries, in the place of that of "
                   "the image");
  add_output_dir(command, options);
}

CLI::Option& add_max_version(CLI::App& command, Options& options) {
  return *command
              .add_option_function<std::string>(
                  "--max-version",
                  [&options](const std::string& text) {
                    options.max_version = cdi::parse_release(text);
                  },
                  "Newest CDI release that the engines read; what it has no place for is left out, "
                  "and "
                  "said")
              ->check(release_fault);
}

void add_engines(CLI::App& command, Options& options, CLI::Option& max_version) {
  command
      .add_option("--for", options.engines,
                  "Engine that will read the specs, such as podman@4.9.3; may be repeated, and the "
                  "oldest decides (default: those installed)")
      ->type_name("ENGINE@VERSION")
      ->check(engine_fault)
      ->excludes(&max_version)
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

void add_claim_options(CLI::App& command, Options& options) {
  command.add_option("--state-dir", options.state_dir, "Directory of the journal of claims")
      ->check(not_empty)
      ->default_str("var/lib/cdi-prepare below the root");
  command.add_option("--lock-timeout", options.lock_timeout, "Seconds to wait for other calls")
      ->check(seconds_fault)
      ->capture_default_str();
}

/// The commands of the program; the callback of one that is given chooses it.
class Commands {
 public:
  Commands(CLI::App& app, Options& options, Command& chosen)
      : app_{app}, options_{options}, chosen_{chosen} {}

  CLI::App& add(const char* name, const char* what, Command command) {
    auto& added = *app_.add_subcommand(name, what);
    added
        .add_option("--root", options_.root,
                    "Directory that holds the proc, sys and dev to look at")
        ->check(CLI::ExistingDirectory)
        ->capture_default_str();
    added.footer(exit_code_help());
    added.callback([command, &chosen = chosen_] { chosen = command; });
    return added;
  }

 private:
  CLI::App& app_;
  Options& options_;
  Command& chosen_;
};

void add_spec_commands(Commands& commands, Options& options) {
  auto& detect = commands.add("detect", "Show the GPUs of this host", &show_model);
  auto& write = commands.add("write", "Write CDI specs for the GPUs of this host", &write_specs);
  auto& check = commands.add("check", "Say whether the specs are what `write` would make now",
                             [](const AssessedSurvey& assessed, const Options& given) {
                               return check_specs(assessed, given, false);
                             });
  auto& diff = commands.add("diff", "Show how the specs differ from what `write` would make now",
                            [](const AssessedSurvey& assessed, const Options& given) {
                              return check_specs(assessed, given, true);
                            });
  auto& watch =
      commands.add("watch", "Write specs whenever the host changes, until told to end", nullptr);
  for (auto* command : {&write, &check, &diff, &watch}) {
    add_spec_options(*command, options);
    add_engines(*command, options, add_max_version(*command, options));
  }
  for (auto* command : {&detect, &write, &check, &diff, &watch}) {
    add_nvml(*command, options);
    command->add_flag("--visible-only", options.visible_only,
                      "Pass over GPUs whose nodes this process may not open");
    command->add_option("--expect", options.expect, "GPUs and partitions that are to be ready")
        ->check(count_fault)
        ->capture_default_str();
  }
  for (auto* command : {&detect, &write, &check, &diff}) {
    add_wait(*command, options);
    add_output(*command, options);
  }
  write.add_flag("--dry-run", options.dry_run,
                 "Print the specs, one after the other; write nothing");
  for (auto* command : {&write, &watch}) {
    command->add_flag("--force", options.force, "Replace files of other programs, too");
  }
  watch
      .add_option("--interval", options.interval,
                  "Seconds after which it looks even if the kernel has told of nothing")
      ->check(interval_fault)
      ->capture_default_str();
}

void add_claim_commands(Commands& commands, Options& options) {
  auto& prepare = commands.add(
      "prepare", "Hand GPUs to a claim, in a spec of its own; answers in JSON", &prepare_claim);
  auto& unprepare = commands.add("unprepare", "Take back what a claim was given; answers in JSON",
                                 &unprepare_claim);
  auto& list =
      commands.add("list", "Show the claims, after making their specs right", &list_claims);
  for (auto* command : {&prepare, &unprepare}) {
    command->add_option("--claim", options.claim, "UID of the claim")->required()->check(uid_fault);
  }
  prepare
      .add_option("--device", options.devices,
                  "What it gets, NAME[@REQUEST]: a name of `detect`, with or without the kind")
      ->required()
      ->check(asked_name_fault);
  prepare.add_option("--namespace", options.claim_namespace, "Namespace of the claim, for people");
  prepare.add_option("--name", options.claim_name, "Name of the claim, for people");
  prepare.add_option("--kind", options.claim_kind, "Kind of the CDI devices of claims")
      ->check(kind_fault)
      ->capture_default_str();
  add_spec_options(prepare, options);
  add_engines(prepare, options, add_max_version(prepare, options));
  add_nvml(prepare, options);
  add_output(list, options);
  for (auto* command : {&unprepare, &list}) add_output_dir(*command, options);
  for (auto* command : {&prepare, &unprepare, &list}) {
    add_claim_options(*command, options);
  }
}

void add_commands(CLI::App& app, Options& options, Command& chosen) {
  Commands commands{app, options, chosen};
  add_spec_commands(commands, options);
  add_claim_commands(commands, options);
  auto& doctor = commands.add("doctor", "Say what keeps containers from the GPUs, and what to do",
                              &examine_host);
  add_output(doctor, options);
  add_output_dir(doctor, options);
  doctor
      .add_option("--spec-dir", options.spec_dirs,
                  "Directories of specs to look at, below the root, by priority")
      ->check(not_empty);

  app.require_subcommand(1);
  app.footer(exit_code_help());
  app.set_version_flag("--version", fmt::format("cdi-prepare {}.{}.{}", CDI_VERSION_MAJOR,
                                                CDI_VERSION_MINOR, CDI_VERSION_PATCH));
}

/// Says which commands there are when the first word is none of them; whether it did.
bool tell_of_unknown_command(const CLI::App& app) {
  const auto given = app.remaining();
  if (!app.get_subcommands().empty() || given.empty()) return false;
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands({})) names.push_back(command->get_name());
  report(fmt::format("error: {} is no command: begin with one of {}",
                     cdi::detail::quoted(given.front()), fmt::join(names, ", ")));
  return true;
}

}  // namespace
}  // namespace prepare

// Only a lack of memory can end it with an exception. NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  prepare::Options options;
  CLI::App app{"Finds the GPUs of a node and writes a CDI spec for them."};
  prepare::Command chosen = nullptr;
  prepare::add_commands(app, options, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& why) {
    const bool asked_for_help = why.get_exit_code() == 0;
    const bool told = !asked_for_help && prepare::tell_of_unknown_command(app);
    if (!told) app.exit(why);
    return static_cast<int>(asked_for_help ? prepare::ExitCode::done : prepare::ExitCode::usage);
  }
  prepare::complete(options);
  const auto code =
      chosen == nullptr ? prepare::watch_specs(options) : prepare::run(chosen, options);
  return static_cast<int>(code);
}
