// `cdi`: lists, checks, converts and removes CDI specs, and injects their devices into OCI configs.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "../shared/usage.hpp"
#include "convert_command.hpp"
#include "engine_view.hpp"
#include "exit_codes.hpp"
#include "gc_command.hpp"
#include "inject_command.hpp"
#include "list_commands.hpp"
#include "output.hpp"
#include "policy_command.hpp"
#include "request.hpp"
#include "resolve_command.hpp"
#include "rootfs_command.hpp"
#include "validate_command.hpp"
#include "why_command.hpp"
#include <CLI/CLI.hpp>

namespace {

struct CommandLine;
using Command = ExitCode (*)(const CommandLine&, const Output&);

/// What the command line sets.
struct CommandLine {
  Request request{};
  GcRequest gc{};
  std::vector<std::string> spec_dirs{};
  std::string format = "text";
  Command command = nullptr;
};

std::string not_empty(const std::string& path) {
  return path.empty() ? "must not be empty" : "";
}

/// Adds an option that takes one value each time, and may be repeated.
CLI::Option* add_repeated(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                          const std::string& help) {
  return app.add_option(name, values, help)->expected(1)->allow_extra_args(false)->take_all();
}

void add_common_options(CLI::App& app, CommandLine& line) {
  app.set_version_flag("--version", [] {
    return fmt::format("cdi {}.{}.{}, CDI {}", CDI_VERSION_MAJOR, CDI_VERSION_MINOR,
                       CDI_VERSION_PATCH, to_string(cdi::current_release));
  });
  add_repeated(app, "-d,--spec-dir", line.spec_dirs,
               "Read specs from DIR; may be repeated, the last has the highest priority "
               "(default: /etc/cdi, /var/run/cdi)")
      ->type_name("DIR")
      ->check(not_empty);
  app.add_option("-o,--output", line.format, "Format of results, warnings and errors")
      ->type_name("FORMAT")
      ->capture_default_str()
      ->check(CLI::IsMember({"text", "json", "yaml"}));
  app.add_flag("--quarantine", line.request.reading.quarantine_devices,
               "Skip invalid devices, and keep the other devices of their files");
  app.add_flag("--refuse-writable", line.request.reading.refuse_writable,
               "Refuse files and directories that other users may write");
}

void add_validate_options(CLI::App& validation, CommandLine& line) {
  auto& request = line.request;
  validation.add_option("FILE", request.files, "Spec files, .json or .yaml")->check(not_empty);
  validation.add_flag("--strict", request.strict, "Treat warnings as errors");
  validation.add_flag("--rules", request.rules, "Print the rules instead");
}

void add_names(CLI::App& command, Request& request) {
  command.add_option("NAME", request.names, "Qualified names: vendor.com/class=device")->required();
}

/// Commands whose errors name any member keep the places of all; it costs memory for each file.
void keep_places(CLI::App& command, Request& request) {
  command.parse_complete_callback([&request] { request.reading.keep_places = true; });
}

CLI::Option* add_source(CLI::App& command, Request& request) {
  return command
      .add_option("--source", request.source, "Where the names come from, for the policy")
      ->type_name("SOURCE")
      ->capture_default_str()
      ->check(CLI::IsMember(std::vector<std::string>{cdi::request_origin_names.begin(),
                                                     cdi::request_origin_names.end()}));
}

/// What `inject` does about the host and a policy.
void add_inject_checks(CLI::App& injection, Request& request) {
  auto* const policy = injection.add_option("--policy", request.policy,
                                            "Inject only what this policy allows; hooks without an "
                                            "environment get a PATH, as with --hook-env");
  policy->type_name("FILE")->check(not_empty)->each([&request](const std::string&) {
    request.reading.keep_places = true;
    request.host.hook_env = {std::string{cdi::explicit_hook_path}};
  });
  injection.add_option("--decisions", request.decisions, "Write what the policy decides, as JSON")
      ->type_name("FILE")
      ->check(not_empty)
      ->needs(policy);
  add_source(injection, request)->needs(policy);
  injection.add_flag_callback(
      "--hook-env", [&request] { request.host.hook_env = {std::string{cdi::explicit_hook_path}}; },
      "Give a PATH to hooks without an environment; runc gives them that of the container");
  injection
      .add_option("--drift", request.drift,
                  "If the host has another device number than the spec: keep that of the spec, "
                  "report it, follow the host with a warning, or fail")
      ->type_name("WHAT")
      ->capture_default_str()
      ->check(CLI::IsMember({"keep", "report", "follow", "fail"}))
      ->each([&request](const std::string& what) {
        request.reading.keep_places = true;
        request.host.drift = what == "follow" ? cdi::HostDrift::follow
                             : what == "fail" ? cdi::HostDrift::fail
                                              : cdi::HostDrift::keep;
      });
  injection
      .add_option("--features", request.features,
                  "Warn of edits that a runtime does not implement: the output of runc features")
      ->type_name("FILE")
      ->check(not_empty)
      ->each([&request](const std::string&) { request.reading.keep_places = true; });
  injection.add_flag("--resolve-links", request.host.resolve_links,
                     "Replace links in the host paths of mounts and device nodes");
}

void add_inject_options(CLI::App& injection, CommandLine& line) {
  auto& request = line.request;
  injection.add_option("CONFIG", request.config, "The config.json, or - for standard input")
      ->required()
      ->check(not_empty);
  add_names(injection, request);
  injection.add_flag("--in-place", request.in_place, "Rewrite CONFIG instead of printing it");
  injection.add_flag("-q,--quiet", request.quiet,
                     "Print no warnings of spec files, and skip files of other kinds");
  injection.add_flag("--partial", request.partial,
                     "Inject the devices that resolve, and print an error for each other name");
  injection.add_flag("--diff", request.diff, "Print what would change instead of the config");
  injection.footer(exit_code_table() + partial_exit_code_table());
  add_inject_checks(injection, request);
  injection
      .add_option(
          "--hooks", request.hooks,
          "keep: leave hooks as they are; lower: replace those that are understood, so that "
          "their programs are not needed, and record what `cdi rootfs` should do; refuse: "
          "fail if a device has hooks")
      ->capture_default_str()
      ->check(CLI::IsMember({"keep", "lower", "refuse"}));
}

void add_policy_options(CLI::App& command, CommandLine& line) {
  auto& request = line.request;
  keep_places(command, request);
  command.add_option("FILE", request.policy, "The policy")->required()->check(not_empty);
  command.add_option("NAME", request.names, "Qualified names: decide about these devices");
  add_source(command, request);
}

void add_rootfs_options(CLI::App& rootfs, CommandLine& line) {
  auto& request = line.request;
  rootfs.add_option("ROOTFS", request.root, "The root of the container")
      ->required()
      ->check(not_empty);
  rootfs.add_option("CONFIG", request.config, "The config.json of `cdi inject --hooks lower`")
      ->required()
      ->check(not_empty);
  rootfs.add_flag("--apply", request.apply, "Make the changes, instead of printing them only");
}

void add_resolve_options(CLI::App& resolution, CommandLine& line) {
  keep_places(resolution, line.request);
  add_names(resolution, line.request);
}

void add_why_options(CLI::App& why, CommandLine& line) {
  auto& request = line.request;
  keep_places(why, request);
  add_names(why, request);
  why.add_option("--for", request.asked_engine,
                 "Explain what this engine resolves: it refuses files of newer CDI releases; "
                 "podman@4.9 is podman 4.9.0, and podman is the version on this host")
      ->type_name("ENGINE[@VERSION]")
      ->check(asked_engine_error);
  auto* const root = why.add_option("--root", request.host_root,
                                    "Look at the host below DIR, and at its spec directories "
                                    "unless -d names others");
  root->type_name("DIR")->capture_default_str()->check(not_empty);
  why.add_flag("--no-host", request.no_host,
               "Do not look at the host: do not ask its engines for their versions, nor check "
               "nodes, mounts and hooks")
      ->excludes(root);
  why.footer(exit_code_table() + why_exit_code_table());
}

void add_convert_options(CLI::App& conversion, CommandLine& line) {
  auto& request = line.request;
  keep_places(conversion, request);
  conversion.add_option("FILE", request.file, "Spec file, .json or .yaml")
      ->required()
      ->check(not_empty);
  auto* const target = conversion.add_option_group("Target", "The release to convert to");
  target->add_option("--to", request.release, "A release of the CDI specification, such as 0.5.0")
      ->type_name("RELEASE")
      ->check(CLI::IsMember(release_names()));
  target
      ->add_option("--for", request.engine,
                   "The newest release that an engine reads; podman@4.9 is podman 4.9.0")
      ->type_name("ENGINE@VERSION")
      ->check(engine_error);
  target->require_option(1);
  conversion.add_flag("--lossy", request.lossy, "Convert even if something is lost, with warnings");
  auto* const in_place =
      conversion.add_flag("--in-place", request.in_place, "Rewrite FILE instead of printing it");
  conversion
      .add_flag("--backup", request.backup,
                "Keep the old FILE as FILE.bak, or FILE.bak.2 and so on if that exists")
      ->needs(in_place);
  conversion.footer(engine_table);
}

void add_gc_options(CLI::App& gc, CommandLine& line) {
  auto& request = line.gc;
  gc.add_option("--owner", request.owner, "The owner that the files record")
      ->required()
      ->type_name("NAME")
      ->check(owner_error);
  add_repeated(gc, "--keep", request.keep, "Name of a file to keep; may be repeated")
      ->type_name("FILE")
      ->check(keep_error);
  gc.add_flag("--dry-run", request.dry_run, "Print what would be removed, and remove nothing");
  gc.footer(
      "Cleans the directories of -d, or otherwise only /var/run/cdi. A file is removed only if\n"
      "it records the owner: in the annotation " +
      std::string{cdi::owner_annotation} +
      ", or, in YAML, in a\n"
      "comment in its first line. Temporary files of killed writers are removed, too, whatever\n"
      "their owner. Files that cannot be read are left alone, with a warning.\n\n" +
      exit_code_table());
}

/// A command that needs only the request.
template <ExitCode run(const Request&, const Output&)>
ExitCode run_request(const CommandLine& line, const Output& output) {
  return run(line.request, output);
}

ExitCode run_gc(const CommandLine& line, const Output& output) {
  return collect_garbage(line.request, line.gc, output);
}

void add_no_options(CLI::App& /*command*/, CommandLine& /*line*/) {}

struct CommandRow {
  const char* name;
  const char* help;
  Command run;
  void (*add_options)(CLI::App& command, CommandLine& line);
};

constexpr CommandRow command_rows[] = {
    {"devices", "List the qualified names of all devices", run_request<list_devices>,
     add_no_options},
    {"vendors", "List the vendors of all specs", run_request<list_vendors>, add_no_options},
    {"classes", "List the device classes of all specs", run_request<list_classes>, add_no_options},
    {"specs", "List the spec files with kind, CDI version and number of devices",
     run_request<list_specs>, add_no_options},
    {"dirs", "List the spec directories with priority and state", run_request<list_dirs>,
     add_no_options},
    {"validate", "Validate spec files, or all files of the spec directories", run_request<validate>,
     add_validate_options},
    {"inject", "Print an OCI config with devices injected", run_request<inject>,
     add_inject_options},
    {"resolve", "List the edits of devices with the numbers of nodes and where they are defined",
     run_request<resolve>, add_resolve_options},
    {"policy", "Check a policy, or print what it decides about devices", run_request<check_policy>,
     add_policy_options},
    {"rootfs", "Print or make the changes to a root that replace hooks", run_request<change_root>,
     add_rootfs_options},
    {"why", "Explain where devices are defined, or why their names are not resolved",
     run_request<explain_names>, add_why_options},
    {"convert", "Print or rewrite a spec file in another CDI release", run_request<convert>,
     add_convert_options},
    {"gc", "Remove the spec files of an owner", run_gc, add_gc_options},
};

void add_command(CLI::App& app, CommandLine& line, const CommandRow& row) {
  auto* const sub = app.add_subcommand(row.name, row.help);
  sub->fallthrough();
  sub->callback([&line, run = row.run] { line.command = run; });
  row.add_options(*sub, line);
}

/// Refuses options of `convert` that contradict each other or the name of the file.
void check_conversion(const Request& request, const std::string& format) {
  if (request.reading.quarantine_devices) {
    throw CLI::ValidationError{"convert",
                               "cannot be combined with --quarantine: devices would get lost"};
  }
  const auto own = cdi::format_of(request.file);
  if (!request.in_place || !own || format == "text") return;
  if ((format == "json") == (*own == cdi::Format::json)) return;
  throw CLI::ValidationError{
      "--in-place",
      fmt::format("keeps the format that the name of FILE says: leave out -o {}", format)};
}

/// Refuses options that contradict each other.
void check_options(const CommandLine& line) {
  const auto& request = line.request;
  if (!request.file.empty()) return check_conversion(request, line.format);
  if (request.in_place && request.config == "-") {
    throw CLI::ValidationError{"--in-place", "needs a file, not standard input"};
  }
  if (request.in_place && line.format == "yaml") {
    throw CLI::ValidationError{"--in-place", "writes JSON: leave out -o yaml"};
  }
  if (request.in_place && request.diff) {
    throw CLI::ValidationError{"--diff", "changes no file: leave out --in-place"};
  }
  if (request.hooks == "lower" && request.diff) {
    throw CLI::ValidationError{"--diff", "does not show what --hooks lower changes: leave it out"};
  }
  const auto& reading = request.reading;
  if (!request.asked_engine.empty() && (reading.quarantine_devices || reading.refuse_writable)) {
    throw CLI::ValidationError{"why --for",
                               "cannot be combined with --quarantine or --refuse-writable, which "
                               "engines do not have"};
  }
}

OutputFormat format_named(std::string_view name) {
  if (name == "json") return OutputFormat::json;
  return name == "yaml" ? OutputFormat::yaml : OutputFormat::text;
}

/// Which commands are set up. That of all takes longer than most commands, and only help and errors
/// need it.
enum class Commands { named, all };

/// Whether a command line may call a command: one of its words is the name.
bool is_named(std::string_view command, std::span<const char* const> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return word == command; });
}

/// Reads the command line. Throws `CLI::ParseError` for an error, for help and for the version.
void parse(CLI::App& app, CommandLine& line, std::span<const char* const> words,
           Commands commands) {
  app.require_subcommand(1);
  app.footer(exit_code_table());
  add_common_options(app, line);
  for (const auto& row : command_rows) {
    if (commands == Commands::all || is_named(row.name, words)) add_command(app, line, row);
  }
  app.parse(static_cast<int>(words.size()), words.data());
  check_options(line);
}

constexpr const char* description =
    "Lists, checks and converts Container Device Interface specs, and injects devices into OCI "
    "configs.";

/// The format that a command line selects, even if other words of it are wrong.
OutputFormat format_in(std::span<const char* const> words) {
  OutputFormat format = OutputFormat::text;
  bool is_value = false;
  for (std::string_view word : words) {
    if (is_value) format = format_named(word);
    is_value = word == "-o" || word == "--output";
    for (const std::string_view option : {"--output=", "-o"}) {
      if (!is_value && word.starts_with(option)) format = format_named(word.substr(option.size()));
    }
  }
  return format;
}

/// Prints help, the version or an error.
ExitCode report_usage(const CLI::App& app, const CLI::ParseError& error, const Output& output) {
  if (tools::is_answer(error)) {
    return output.print(tools::usage_answer(app, error)) ? exit_done : exit_refused;
  }
  output.error({.message = tools::usage_fault(app, error)});
  return exit_usage;
}

ExitCode run(std::span<const char* const> words, Commands commands) {
  CLI::App app{description, "cdi"};
  CommandLine line;
  try {
    parse(app, line, words, commands);
  } catch (const CLI::CallForVersion& version) {
    return report_usage(app, version, Output{format_in(words)});
  } catch (const CLI::ParseError& error) {
    if (commands == Commands::named) return run(words, Commands::all);
    return report_usage(app, error, Output{format_in(words)});
  }
  line.request.dirs_named = !line.spec_dirs.empty();
  if (line.request.dirs_named) line.request.spec_dirs = line.spec_dirs;
  return line.command(line, Output{format_named(line.format)});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv, static_cast<std::size_t>(argc)}, Commands::named);
  } catch (const std::exception& error) {
    std::fputs("cdi: error: ", stderr);
    std::fputs(error.what(), stderr);
    std::fputs("\n", stderr);
    return exit_refused;
  }
}
