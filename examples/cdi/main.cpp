// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// cdi: looks at CDI specs, converts and removes them, and injects their devices into OCI configs.

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "convert_command.hpp"
#include "gc_command.hpp"
#include "why_command.hpp"
#include <CLI/CLI.hpp>

namespace {

using Command = std::function<ExitCode(const Request&, const Output&)>;

std::string not_empty(const std::string& path) {
  return path.empty() ? "must not be empty" : "";
}

void add_convert_options(CLI::App& convert, Request& request) {
  convert.add_option("FILE", request.file, "Spec file, .json or .yaml")
      ->required()
      ->check(not_empty);
  auto* const target = convert.add_option_group("Target", "What to convert to");
  target->add_option("--to", request.release, "A release of the CDI specification, such as 0.5.0")
      ->type_name("RELEASE")
      ->check(CLI::IsMember(release_names()));
  target
      ->add_option("--for", request.engine,
                   "The newest release that an engine reads; podman@4.9 is podman 4.9.0")
      ->type_name("ENGINE@VERSION")
      ->check(engine_fault);
  target->require_option(1);
  convert.add_flag("--lossy", request.lossy, "Convert though something is lost, and warn of it");
  convert.footer(engine_table);
}

void add_gc_options(CLI::App& gc, GcRequest& request) {
  gc.add_option("--owner", request.owner, "The owner that the files record")
      ->required()
      ->type_name("NAME")
      ->check(owner_fault);
  gc.add_option("--keep", request.keep, "Name of a file to keep; may be repeated")
      ->type_name("FILE")
      ->check(keep_fault)
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  gc.add_flag("--dry-run", request.dry_run, "Print what would be removed, remove nothing");
  gc.footer(
      "Looks into the directories given with -d, or else into /var/run/cdi alone. A file is\n"
      "removed only when it says that it is the owner's: in annotation " +
      std::string{cdi::owner_annotation} +
      ",\nor, in YAML, in a comment in its first line. With it go temporary files, whoever's,\n"
      "that a killed writer left. What cannot be read is left alone, with a warning.\n\n" +
      exit_code_table());
}

/// Refuses options that contradict each other.
void check_options(const Request& request, std::string_view format) {
  if (request.in_place && request.config == "-") {
    throw CLI::ValidationError{"--in-place", "needs a file, not standard input"};
  }
  if (request.in_place && format == "yaml") {
    throw CLI::ValidationError{"--in-place", "writes JSON: leave out -o yaml"};
  }
  const auto& reading = request.reading;
  if (!request.asked_engine.empty() && (reading.quarantine_devices || reading.refuse_writable)) {
    throw CLI::ValidationError{
        "why --for",
        "cannot be combined with --quarantine or --refuse-writable, which engines do not have"};
  }
}

/// Says which commands there are when none is given but some other word; whether it did.
bool tell_of_unknown_command(const CLI::App& app) {
  const auto extra = app.remaining();
  if (!app.get_subcommands().empty() || extra.empty()) return false;
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands({})) names.push_back(command->get_name());
  print_error(fmt::format("cdi: error: {} is not a command: use one of {}\n",
                          cdi::quoted(extra.front()), fmt::join(names, ", ")));
  return true;
}

int run(int argc, char** argv) {
  CLI::App app{"Looks at Container Device Interface specs and injects devices into OCI configs.",
               "cdi"};
  app.require_subcommand(1);
  app.footer(exit_code_table());
  app.set_version_flag("--version",
                       fmt::format("cdi {}.{}.{}, CDI {}", CDI_VERSION_MAJOR, CDI_VERSION_MINOR,
                                   CDI_VERSION_PATCH, to_string(cdi::current_release)));
  Request request;
  std::vector<std::string> spec_dirs;
  app.add_option("-d,--spec-dir", spec_dirs,
                 "Read specs from DIR; may be repeated, the last has the highest priority "
                 "(default: /etc/cdi, /var/run/cdi)")
      ->type_name("DIR")
      ->check(not_empty)
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  std::string format_name = "text";
  app.add_option("-o,--output", format_name, "Format of results, warnings and errors")
      ->type_name("FORMAT")
      ->capture_default_str()
      ->check(CLI::IsMember({"text", "json", "yaml"}));

  app.add_flag("--quarantine", request.reading.quarantine_devices,
               "Leave a device out that is not valid, and keep the others of its file");
  app.add_flag("--refuse-writable", request.reading.refuse_writable,
               "Refuse files and directories that others may write");

  Command chosen;
  const auto add = [&](const char* name, const char* help, const Command& command) {
    auto* const sub = app.add_subcommand(name, help);
    sub->fallthrough();
    sub->callback([&chosen, command] { chosen = command; });
    return sub;
  };
  add("devices", "List the qualified names of all devices", list_devices);
  add("vendors", "List the vendors of all specs", list_vendors);
  add("classes", "List the device classes of all specs", list_classes);
  add("specs", "List the spec files with kind, CDI version and number of devices", list_specs);
  add("dirs", "List the spec directories with priority and state", list_dirs);
  auto* const validation =
      add("validate", "Validate spec files, or all files of the spec directories", validate);
  validation->add_option("FILE", request.files, "Spec files, .json or .yaml")->check(not_empty);
  validation->add_flag("--strict", request.strict, "Treat warnings as errors");
  validation->add_flag("--rules", request.rules, "Print the rules instead");
  auto* const injection = add("inject", "Print an OCI config with devices injected", inject);
  injection->add_option("CONFIG", request.config, "The config.json, or - for standard input")
      ->required()
      ->check(not_empty);
  injection->add_option("NAME", request.names, "Qualified names: vendor.com/class=device")
      ->required();
  injection->add_flag("--in-place", request.in_place, "Rewrite CONFIG instead of printing it");
  auto* const why =
      add("why", "Tell where devices come from, or why names are not resolved and what to do",
          explain_names);
  why->add_option("NAME", request.names, "Qualified names: vendor.com/class=device")->required();
  why->add_option("--for", request.asked_engine,
                  "Tell whether this engine would resolve them: it refuses files that are too new "
                  "for it; podman@4.9 is podman 4.9.0")
      ->type_name("ENGINE@VERSION")
      ->check(engine_name_fault);
  why->footer(exit_code_table() + why_exit_code_table());
  add_convert_options(
      *add("convert", "Print a spec file as another CDI release writes it", convert), request);
  GcRequest garbage;
  const auto collect = [&garbage](const Request& all, const Output& output) {
    return collect_garbage(all, garbage, output);
  };
  add_gc_options(*add("gc", "Remove the spec files of an owner", collect), garbage);

  try {
    app.parse(argc, argv);
    check_options(request, format_name);
  } catch (const CLI::ParseError& error) {
    const bool asked_for_help = error.get_exit_code() == 0;
    const bool told = !asked_for_help && tell_of_unknown_command(app);
    if (!told) app.exit(error);
    return asked_for_help ? exit_done : exit_usage;
  }
  const OutputFormat format = format_name == "json"   ? OutputFormat::json
                              : format_name == "yaml" ? OutputFormat::yaml
                                                      : OutputFormat::text;
  request.dirs_named = !spec_dirs.empty();
  if (request.dirs_named) request.spec_dirs = spec_dirs;
  return chosen(request, Output{format});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fputs("cdi: error: ", stderr);
    std::fputs(error.what(), stderr);
    std::fputs("\n", stderr);
    return exit_refused;
  }
}
