// `cdi args`: devices as arguments of programs that are not OCI runtimes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "args.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../kit/cdi_specs/overlaps.hpp"
#include "../../kit/host/rooted_paths.hpp"
#include "../args/write_form.hpp"
#include "../base/globs.hpp"
#include "../base/reports.hpp"
#include "../inject/without_hooks.hpp"
#include "commands.hpp"

namespace {

/// The arguments as text: words on one line, or a line each; or each with a NUL at its end.
std::string arguments_text(const Arguments& found, Shape shape, bool nul) {
  std::string out;
  for (const auto& one : found.args) {
    if (nul) {
      out.append(one).append(1, '\0');
    } else if (shape == Shape::words) {
      out.append(out.empty() ? "" : " ").append(shell_argument(one));
    } else {
      out.append(one).append("\n");
    }
  }
  return nul || shape != Shape::words || out.empty() ? out : out + "\n";
}

/// The arguments and losses as one record.
ArgsResult arguments_record(const Arguments& found, const Program& program) {
  ArgsResult out{.program = program.name, .args = found.args};
  for (const auto& one : found.lost) out.lost.push_back(one);
  return out;
}

/// Warns if a plan has mounts, and the program does not make their targets.
void warn_of_targets(const cdi::Plan& plan, const Program& program, Arguments& found) {
  if (program.makes_targets || plan.mounts.empty()) return;
  found.warnings.push_back(
      {.message = fmt::format("{} makes no targets of mounts in a read-only image", program.name),
       .advice = fmt::format("add {} and other targets to the image",
                             cdi::quoted(plan.mounts.front().edit.container_path))});
}

/// The options that select how the effects of hooks are made for the program.
cdi::HooklessOptions places_of(const ArgsOptions& options) {
  auto places = options.places;
  if (places.image_root.empty()) places.image_root = options.root;
  places.library_dir = program_of(options.program).library_dir;
  if (program_of(options.program).keeps_environment) {
    for (auto at = environ; *at != nullptr; ++at) places.environment.emplace_back(*at);
  }
  return places;
}

/// The root for a program that mounts by shell commands.
struct ArgsRoot {
  std::optional<tools::RootedPaths> paths{};
  std::string path{};  // absolute and without links
};

cdi::Result<ArgsRoot> open_root(const std::string& path) {
  if (path.empty()) return ArgsRoot{};
  const std::unique_ptr<char, decltype(&std::free)> real{::realpath(path.c_str(), nullptr),
                                                         &std::free};
  if (!real) return tools::path_error(path, errno);
  auto paths = tools::RootedPaths::open(real.get());
  if (!paths) return std::move(paths).error();
  return ArgsRoot{std::move(*paths), real.get() == std::string_view{"/"} ? "" : real.get()};
}

constexpr std::string_view args_usage =
    "Words are quoted for a shell where needed, so use eval:\n"
    "`words=$(cdi args --for bwrap NAME) && eval \"bwrap $words ...\"`. It starts nothing if a\n"
    "device is missing. For lxc, lines of a config are printed. For unshare, commands for a shell\n"
    "that mount into DIR of --root are printed, a line each.\n";

/// The text that the help prints at its end, with all programs.
std::string args_footer() {
  std::string out{args_usage};
  out += "\nThe program, and the release that was tried:\n";
  for (const auto& program : programs) {
    out += fmt::format("  {:<13} {}\n", program.name, program.release);
  }
  return out + "\n" + exit_code_table("args");
}

/// Returns why these options cannot be combined; empty if they can.
std::string args_fault(const ArgsOptions& options, const CommonOptions& common) {
  const bool has_shell = program_of(options.program).shape == Shape::shell;
  if (has_shell && options.root.empty()) return "--for unshare needs --root DIR";
  if (!has_shell && !options.root.empty()) return "--root is only for unshare";
  if (options.nul && common.format != "text") return "-0 excludes --output";
  return "";
}

Run set_up_args(CLI::App& app, CommonOptions& common) {
  auto options = std::make_shared<ArgsOptions>();
  std::vector<std::string> known;
  for (const auto& program : programs) known.emplace_back(program.name);
  app.add_option("--for", options->program, "The program")
      ->required()
      ->type_name("PROGRAM")
      ->check(CLI::IsMember(known));
  app.add_option("--root", options->root, "The directory that unshare makes the root")
      ->type_name("DIR")
      ->check(not_empty);
  app.add_flag("-0,--null", options->nul, "End each word or line with NUL, without quotes");
  app.add_flag("--partial", options->partial, "Print arguments even if some edits are lost");
  app.add_flag("--no-sys", options->no_sys, "Do not mount /sys for the drivers of GPUs");
  add_policy(app, options->check, "Give only devices that this policy allows");
  add_hookless_options(app, options->places);
  add_names(app, options->names);
  app.footer(args_footer());
  app.final_callback([options, &common] {
    const auto fault = args_fault(*options, common);
    if (!fault.empty()) throw CLI::ValidationError(fault);
  });
  return [options](const CommonOptions& given, const Output& output) {
    return args(given, *options, output);
  };
}

}  // namespace

void report_losses(const Arguments& found, const Program& program, bool partial,
                   const Output& output) {
  output.warnings(found.warnings);
  for (const auto& one : found.lost) {
    auto error = loss_error(one, program.name);
    if (partial) {
      output.warning(error);
      continue;
    }
    error.advice = "use --partial to do without it";
    output.error(error, loss_error_record(error, one));
  }
}

ExitCode plan_devices(const ArgsOptions& options, const cdi::Registry& registry,
                      const cdi::ReadOptions& reading, const Output& output, ProgramPlan& found) {
  const auto devices = resolve_or_report(options.names, registry, output);
  if (!devices) return exit_failed;
  const std::array inputs{options.check.policy.file};
  const auto code = enforce_policy(options.check, inputs, *devices, {}, reading, output);
  if (code != exit_done) return code;
  auto plan = plan_for(*devices, places_of(options));
  if (!plan) return output.reject(plan.error());
  found = *std::move(plan);
  return exit_done;
}

Arguments write_arguments(const ProgramPlan& plan, ArgumentsWriter writer, bool with_sys) {
  auto found = writer.write(plan.plan, with_sys);
  found.lost.insert(found.lost.end(), plan.lost.begin(), plan.lost.end());
  return found;
}

ExitCode args(const CommonOptions& common, const ArgsOptions& options, const Output& output) {
  const auto& program = program_of(options.program);
  const auto root = open_root(options.root);
  if (!root) return output.reject(root.error());
  const auto registry = scan_and_warn(common, output);
  ProgramPlan plan;
  const auto code = plan_devices(options, *registry, common.reading, output, plan);
  if (code != exit_done) return code;
  if (output.format() == OutputFormat::text) {
    warn_of_overlaps(tools::find_overlaps(plan.plan), output);
  }
  auto found = write_arguments(
      plan, ArgumentsWriter{program, root->paths ? &*root->paths : nullptr, root->path},
      !options.no_sys);
  warn_of_targets(plan.plan, program, found);
  report_losses(found, program, options.partial, output);
  if (!found.lost.empty() && !options.partial) return exit_lost;
  const bool is_text = output.format() == OutputFormat::text;
  const bool printed = is_text ? output.print(arguments_text(found, program.shape, options.nul))
                               : output.result("", arguments_record(found, program));
  return printed ? exit_done : exit_failed;
}

constexpr Command args_command{
    "args", "Print arguments that give devices to bwrap, nspawn, apptainer and others", set_up_args,
    "words=$(cdi args --for bwrap vendor.com/gpu=0) && "
    "eval \"bwrap --ro-bind / / --proc /proc $words env\""};
