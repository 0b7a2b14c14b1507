// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// cdi: looks at CDI specs, converts them, and injects their devices into OCI configs.

#include <exception>
#include <string>

#include <fmt/format.h>

#include "commands.hpp"
#include "convert_command.hpp"
#include <CLI/CLI.hpp>

namespace {

using Command = ExitCode (*)(const Request&, const Output&);

std::string help_footer() {
  std::string text = "Exit codes:\n";
  for (const auto& [code, meaning] : exit_codes) {
    text += fmt::format("  {}  {}\n", static_cast<int>(code), meaning);
  }
  return text;
}

void add_convert_options(CLI::App& convert, Request& request) {
  convert.add_option("FILE", request.file, "Spec file, .json or .yaml")->required();
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

int run(int argc, char** argv) {
  CLI::App app{"Looks at Container Device Interface specs and injects devices into OCI configs.",
               "cdi"};
  app.require_subcommand(1);
  app.footer(help_footer);
  app.set_version_flag("--version",
                       fmt::format("cdi {}.{}.{}, CDI {}", CDI_VERSION_MAJOR, CDI_VERSION_MINOR,
                                   CDI_VERSION_PATCH, to_string(cdi::current_release)));
  Request request;
  std::vector<std::string> spec_dirs;
  app.add_option("-d,--spec-dir", spec_dirs,
                 "Read specs from DIR; may be repeated, the last has the highest priority "
                 "(default: /etc/cdi, /var/run/cdi)")
      ->type_name("DIR")
      ->check([](const std::string& dir) { return dir.empty() ? "no directory given" : ""; })
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  std::string format_name = "text";
  app.add_option("-o,--output", format_name, "Format of results, warnings and errors")
      ->type_name("FORMAT")
      ->capture_default_str()
      ->check(CLI::IsMember({"text", "json", "yaml"}));

  Command chosen = nullptr;
  const auto add = [&](const char* name, const char* help, Command command) {
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
  validation->add_option("FILE", request.files, "Spec files, .json or .yaml");
  validation->add_flag("--strict", request.strict, "Take warnings for errors");
  validation->add_flag("--rules", request.rules, "Print the rules instead");
  auto* const injection = add("inject", "Print an OCI config with devices injected", inject);
  injection->add_option("CONFIG", request.config, "The config.json, or - for standard input")
      ->required();
  injection->add_option("NAME", request.names, "Qualified names: vendor.com/class=device")
      ->required();
  injection->add_flag("--in-place", request.in_place, "Rewrite CONFIG instead of printing it");
  add_convert_options(
      *add("convert", "Print a spec file as another CDI release writes it", convert), request);

  try {
    app.parse(argc, argv);
    if (request.in_place && (request.config == "-" || format_name == "yaml")) {
      throw CLI::ValidationError{"--in-place", "needs a file, and writes JSON"};
    }
  } catch (const CLI::ParseError& error) {
    const bool asked_for_help = app.exit(error) == 0;
    const auto extra = app.remaining();
    if (!asked_for_help && app.get_subcommands().empty() && !extra.empty()) {
      print_error(fmt::format("cdi does not know \"{}\"\n", extra.front()));
    }
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
