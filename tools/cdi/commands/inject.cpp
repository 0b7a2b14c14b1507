// `cdi inject`: injects devices into an OCI config.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "../../kit/cdi_specs/overlaps.hpp"
#include "../../kit/host/standard_streams.hpp"
#include "../base/exit_codes.hpp"
#include "../base/globs.hpp"
#include "../base/in_place.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../base/reports.hpp"
#include "../inject/changes.hpp"
#include "../inject/checks.hpp"
#include "../inject/policy_check.hpp"
#include "../inject/refuse_hooks.hpp"
#include "../inject/requests.hpp"
#include "../inject/resolved_links.hpp"
#include "../inject/spec_scan.hpp"
#include "../inject/without_hooks.hpp"
#include "commands.hpp"

namespace {

/// The options of `inject`.
struct InjectOptions {
  std::string config{};  // a file, or - for standard input
  std::string bundle{};  // the directory with the config, in place of `config`
  std::vector<std::string> names{};
  bool annotations = false;
  bool in_place = false;
  bool quiet = false;
  bool partial = false;
  bool diff = false;
  std::string hooks = "keep";  // or replace or refuse
  cdi::HooklessOptions places{};
  PolicyCheck check{};
  std::string drift{"keep"};
  std::string features{};  // a file with the output of `runc features`
  cdi::HostOptions host{};
};

/// Whether a file is the standard output of this program.
bool is_standard_output(const std::string& path) {
  struct stat file = {};
  struct stat output = {};
  return ::stat(path.c_str(), &file) == 0 && ::fstat(STDOUT_FILENO, &output) == 0 &&
         S_ISREG(file.st_mode) && file.st_dev == output.st_dev && file.st_ino == output.st_ino;
}

/// Reads the config; with `--in-place`, from the file to replace.
cdi::Result<FileInPlace> read_config(const InjectOptions& options) {
  if (options.in_place) return read_in_place(options.config);
  const bool from_input = options.config == "-";
  auto text = from_input ? tools::read_standard_input() : cdi::read_file(options.config);
  if (!text) return std::move(text).error();
  if (!from_input && is_standard_output(options.config)) {
    return cdi::Error{.code = cdi::Errc::invalid,
                      .message = text->empty()
                                     ? "the output goes to this file, which the shell has "
                                       "emptied before cdi could read it"
                                     : "the output goes to this file",
                      .advice = "use --in-place",
                      .position = {.file = options.config}};
  }
  return FileInPlace{.path = from_input ? "standard input" : options.config,
                     .text = *std::move(text)};
}

/// Prints an edited config; `before` is the original text.
ExitCode print_config(const std::string& before, const cdi::ConfigJson& config,
                      const Output& output) {
  if (output.format() != OutputFormat::yaml) {
    return output.print(config.text) ? exit_done : exit_failed;
  }
  const auto edited = tools::yaml_of_json(config.text, config.file);
  if (edited) return output.print(*edited) ? exit_done : exit_failed;
  // Most errors were already in the user's text; a text near a limit may exceed it only now.
  const auto given = tools::yaml_of_json(before, config.file);
  return output.reject(given ? edited.error() : given.error());
}

/// The devices to inject. Each name is resolved once; if a name fails, it is resolved again to find
/// the reason.
struct FoundDevices {
  std::shared_ptr<const cdi::Registry> registry{};  // of the devices
  std::vector<cdi::ResolvedDevice> devices{};
  std::vector<cdi::Unresolved> missing{};
};

/// Finds the devices. Warns about unused files, and prints an error for each name that does not
/// resolve.
FoundDevices find_devices(const DeviceFiles& files, const Output& output) {
  FoundDevices found{.registry = files.scan()};
  const auto expanded = expand_names(files.names, *found.registry);
  auto devices = found.registry->resolve_all(expanded.names);
  if (!files.quiet) warn(files.common, *found.registry, output);
  if (devices) {
    found.devices = *std::move(devices);
    return found;
  }
  found.missing = unresolved_names(expanded, *found.registry);
  for (const auto& one : found.missing) report_unresolved(one, output);
  found.devices = found.registry->resolvable(expanded.names);
  return found;
}

/// One run of `inject`.
class Injection {
 public:
  Injection(const CommonOptions& common, const InjectOptions& options, const Output& output)
      : options_{options},
        output_{output},
        names_{options.names},
        files_{common, names_, options.quiet} {}

  ExitCode run() {
    const auto file = read_config(options_);
    if (!file) return output_.reject(file.error());
    if (const auto done = read_annotations(*file); !done) return output_.reject(done.error());
    const auto found = find_devices(files_, output_);
    if (!found.missing.empty() && !options_.partial) return exit_failed;
    auto devices = found.devices;
    ResolvedLinks resolved;
    if (const auto code = resolve_links(devices, resolved); code != exit_done) return code;
    if (const auto code = check(devices); code != exit_done) return code;
    const auto code = options_.diff ? show(*file, devices) : edit(*file, devices);
    if (code != exit_done || found.missing.empty()) return code;
    return exit_code_of(found.missing.front().reason);
  }

 private:
  /// With `--annotations`, adds the names in the config.
  cdi::Result<void> read_annotations(const FileInPlace& file) {
    if (!options_.annotations) return {};
    auto requested = annotated_requests(file, options_.names);
    if (!requested) return std::move(requested).error();
    requested_ = *std::move(requested);
    names_ = names_of(requested_);
    return {};
  }

  /// Applies the policy to devices.
  ExitCode enforce(const std::vector<cdi::ResolvedDevice>& devices) const {
    const std::array inputs{options_.config, options_.check.policy.file, options_.features};
    return enforce_policy(options_.check, inputs, devices, requested_, files_.common.reading,
                          output_);
  }

  /// With a policy and `--resolve-links`, checks the devices as they are in the files, and replaces
  /// them with copies without links, which are also checked and then injected.
  ExitCode resolve_links(std::vector<cdi::ResolvedDevice>& devices, ResolvedLinks& resolved) const {
    if (options_.check.policy.file.empty() || !options_.host.resolve_links) return exit_done;
    if (const auto code = enforce(devices); code != exit_done) return code;
    for (const auto& found : devices) {
      if (const auto done = resolved.add(found, options_.host.root); !done) {
        return output_.reject(done.error());
      }
    }
    devices = resolved.devices();
    return exit_done;
  }

  /// Checks the devices as the options demand: policy, hooks, features and drift.
  ExitCode check(const std::vector<cdi::ResolvedDevice>& devices) const {
    if (const auto code = enforce(devices); code != exit_done) return code;
    if (options_.hooks == "refuse" && report_hooks(devices, output_)) return exit_failed;
    const auto code = report_unsupported(options_.features, devices, output_);
    if (code == exit_done) report_drift(options_.drift, devices, output_);
    return code;
  }

  /// Prints or writes the edited config.
  ExitCode edit(const FileInPlace& file, const std::vector<cdi::ResolvedDevice>& devices) const {
    cdi::ConfigJson config{.text = file.text, .file = file.path};
    if (options_.hooks == "replace") {
      const auto done = replace_hooks(config, file, devices);
      if (!done) return output_.reject(done.error());
    } else {
      const cdi::HostWithOptions<> host{options_.host};
      const auto injected = cdi::Registry::inject_resolved(config, devices, host);
      if (!injected) return output_.reject(injected.error());
    }
    if (!options_.in_place) return print_config(file.text, config, output_);
    const auto written = replace_in_place(file, config.text);
    return written ? exit_done : output_.reject(written.error());
  }

  cdi::Result<cdi::RecordedInjection> replace_hooks(
      cdi::ConfigJson& config, const FileInPlace& file,
      const std::vector<cdi::ResolvedDevice>& devices) const {
    return inject_without_hooks(config, file, options_.config, devices, options_.host,
                                options_.places, output_);
  }

  /// Prints the changes in the config, and warns about overlapping edits.
  ExitCode show(const FileInPlace& file, const std::vector<cdi::ResolvedDevice>& devices) const {
    cdi::ConfigJson config{.text = file.text, .file = file.path};
    if (options_.hooks == "replace") {
      const auto injected = replace_hooks(config, file, devices);
      return injected ? print_changes(*injected, devices, output_)
                      : output_.reject(injected.error());
    }
    const cdi::HostWithOptions<> host{options_.host};
    const auto injected = cdi::inject_recorded(config, devices, host);
    if (!injected) return output_.reject(injected.error());
    if (!options_.quiet) {
      auto overlaps = tools::find_overlaps(injected->plan);
      find_lines(overlaps, EditLines{devices});
      warn_of_overlaps(overlaps, output_);
    }
    return print_changes(*injected, devices, output_);
  }

  const InjectOptions& options_;
  const Output& output_;
  std::vector<cdi::RequestedDevice> requested_{};  // with --annotations
  std::vector<std::string> names_;
  DeviceFiles files_;
};

/// Adds the options for policies.
void add_policy_options(CLI::App& app, InjectOptions& options) {
  add_policy(app, options.check,
             "Inject only what this policy allows; hooks without an environment get a PATH, as "
             "with --hook-env")
      ->each([&](const std::string&) {
        options.host.hook_env = {std::string{cdi::explicit_hook_path}};
      });
}

/// Adds the options for the host and the runtime.
void add_host_options(CLI::App& app, InjectOptions& options) {
  app.add_flag_callback(
      "--hook-env", [&] { options.host.hook_env = {std::string{cdi::explicit_hook_path}}; },
      "Set a PATH for hooks without an environment; otherwise runc before 1.3 passes the "
      "container's environment");
  app.add_option("--drift", options.drift,
                 "If the device numbers of host and spec differ: keep the number of the spec, "
                 "also report the difference, follow the host with a warning, or fail")
      ->type_name("WHAT")
      ->capture_default_str()
      ->check(CLI::IsMember({"keep", "report", "follow", "fail"}))
      ->each([&](const std::string& what) {
        options.host.drift = what == "follow" ? cdi::HostDrift::follow
                             : what == "fail" ? cdi::HostDrift::fail
                                              : cdi::HostDrift::keep;
      });
  app.add_option("--features", options.features,
                 "Warn about edits that the runtime does not implement: a file with the output of "
                 "runc features")
      ->type_name("FILE")
      ->check(not_empty);
  app.add_flag("--resolve-links", options.host.resolve_links,
               "Replace links in the host paths of mounts and device nodes");
}

void add_inject_options(CLI::App& app, InjectOptions& options) {
  app.add_option("CONFIG", options.config,
                 "The config.json, or - for standard input; not with --bundle")
      ->check(not_empty);
  app.add_option("NAME", options.names,
                 std::string{device_names_help} + "; optional with --annotations");
  app.add_flag("--annotations", options.annotations,
               "Also inject the devices that the annotations of the config request");
  app.add_option("--bundle", options.bundle, "Use DIR/config.json as CONFIG")
      ->type_name("DIR")
      ->check(not_empty);
  app.add_flag("--in-place", options.in_place, "Rewrite CONFIG instead of printing it");
  app.add_flag("-q,--quiet", options.quiet,
               "Print no warnings about spec files, and skip files of other kinds");
  app.add_flag("--partial", options.partial,
               "Inject the devices that resolve, and print an error for every other name");
  app.add_flag("--diff", options.diff, "Print what would change instead of the config");
  app.footer(exit_code_table("inject"));
  add_policy_options(app, options);
  add_host_options(app, options);
  app.add_option(
         "--hooks", options.hooks,
         "What to do with hooks: keep leaves them as they are; replace makes their effects by "
         "mounts, nodes and variables; refuse fails if a device has hooks")
      ->type_name("WHAT")
      ->capture_default_str()
      ->check(CLI::IsMember({"keep", "replace", "refuse"}));
  add_hookless_options(app, options.places);
}

/// Finds the config and the names among the arguments: with `--bundle`, all are names.
void sort_arguments(InjectOptions& options) {
  if (!options.bundle.empty()) {
    if (!options.config.empty()) options.names.insert(options.names.begin(), options.config);
    if (!options.config.empty() && options.config.find('=') == std::string::npos) {
      throw CLI::ValidationError{"--bundle", "selects DIR/config.json: leave out CONFIG"};
    }
    options.config = options.bundle + "/config.json";
  }
  if (options.config.empty()) throw CLI::RequiredError{"CONFIG"};
  const bool is_name = is_glob(options.config) || cdi::parse_name(options.config);
  if (is_name && ::access(options.config.c_str(), F_OK) != 0 && errno == ENOENT) {
    throw CLI::ValidationError{
        "CONFIG", "comes before the names: there is no file " + cdi::quoted(options.config)};
  }
  if (options.names.empty() && !options.annotations) {
    throw CLI::RequiredError{"NAME or --annotations"};
  }
}

/// Rejects options that contradict each other.
void check_inject_options(const InjectOptions& options, const CommonOptions& common) {
  if (options.in_place && options.config == "-") {
    throw CLI::ValidationError{"--in-place", "needs a file, not standard input"};
  }
  if (options.in_place && common.format == "yaml") {
    throw CLI::ValidationError{"--in-place", "writes JSON: leave out -o yaml"};
  }
  if (options.in_place && options.diff) {
    throw CLI::ValidationError{"--diff", "changes no file: leave out --in-place"};
  }
}

Run set_up_inject(CLI::App& app, CommonOptions& common) {
  auto options = std::make_shared<InjectOptions>();
  add_inject_options(app, *options);
  app.callback([options, &common] {
    sort_arguments(*options);
    check_inject_options(*options, common);
  });
  return [options](const CommonOptions& given, const Output& output) {
    return Injection{given, *options, output}.run();
  };
}

}  // namespace

constexpr Command inject_command{"inject", "Print an OCI config with devices injected",
                                 set_up_inject,
                                 "cdi inject --in-place config.json vendor.com/gpu=0"};
