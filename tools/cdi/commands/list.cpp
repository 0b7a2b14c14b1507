// The listing commands: devices, vendors, classes, specs, dirs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/scan.hpp>

#include "../../kit/base/table.hpp"
#include "../../kit/cdi_specs/ignored_specs.hpp"
#include "../base/exit_codes.hpp"
#include "../base/globs.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../base/spec_dirs.hpp"
#include "commands.hpp"
#include "show.hpp"

namespace {

/// Warns about possible reasons why there is no spec at all, which a list would not show.
void warn_if_empty(const CommonOptions& common, const cdi::Registry& registry,
                   const Output& output) {
  if (!registry.specs().empty() || !registry.errors().empty()) return;
  const auto ignored = tools::ignored_specs(common.spec_dirs());
  for (const auto& one : ignored) output.warning(tools::error_of(one));
  const auto& dirs = registry.dirs();
  const bool said = common.dirs_named() && std::all_of(dirs.begin(), dirs.end(), [](auto& dir) {
                      return dir.state == cdi::SpecDir::State::missing;
                    });
  if (ignored.empty() && !said) output.warning(no_spec_files(common));
}

/// Reads the specs for a list.
std::shared_ptr<const cdi::Registry> scan_for_list(const CommonOptions& common,
                                                   const Output& output) {
  auto registry = scan_and_warn(common, output);
  warn_if_empty(common, *registry, output);
  return registry;
}

/// Prints names, one per line, or as a list.
ExitCode print_names(const CommonOptions& common, const cdi::Registry& registry,
                     const std::vector<std::string_view>& names, const Output& output) {
  std::string text;
  for (const auto& name : names) text.append(name).append("\n");
  return code_of_list(output.result(text, names), common, registry, output);
}

/// The options of the commands that list.
struct ListOptions {
  std::vector<std::string> names{};  // of `devices`; empty: all
  bool details = false;
};

/// The devices that the options select, in the order of their names or of the options. Prints the
/// errors of devices that do not resolve.
std::optional<std::vector<cdi::ResolvedDevice>> selected_devices(
    const std::vector<std::string>& names, const cdi::Registry& registry, const Output& output) {
  if (names.empty()) return *registry.resolve_all(registry.devices());
  return resolve_or_report(names, registry, output);
}

ExitCode list_devices(const CommonOptions& common, const ListOptions& options,
                      const Output& output) {
  const auto registry = scan_for_list(common, output);
  const auto devices = selected_devices(options.names, *registry, output);
  if (!devices) return exit_failed;
  std::string text;
  std::vector<ListedDevice> list;
  for (const auto& found : *devices) {
    if (output.format() == OutputFormat::text && !options.details) {
      text += cdi::qualified_name(found.spec->spec.kind, found.device->name) + "\n";
      continue;
    }
    auto& listed = list.emplace_back(ListedDevice{device_in_file(found, text)});
    listed.container_edits = found.device->container_edits;
    if (options.details) listed.edits = edits_of(found, text);
  }
  return code_of_list(output.result(text, list), common, *registry, output);
}

ExitCode list_vendors(const CommonOptions& common, const Output& output) {
  const auto registry = scan_for_list(common, output);
  return print_names(common, *registry, registry->vendors(), output);
}

ExitCode list_classes(const CommonOptions& common, const Output& output) {
  const auto registry = scan_for_list(common, output);
  return print_names(common, *registry, registry->classes(), output);
}

/// The spec files, as text and as a list of records.
class SpecList {
 public:
  explicit SpecList(bool details) : details_{details} {}

  void add(const cdi::LoadedSpec& loaded) {
    const auto& spec = loaded.spec;
    table_.add(
        {printable(loaded.path), spec.kind, spec.version, fmt::format("{}", spec.devices.size())});
    auto& record = list_.emplace_back(ListedSpec{loaded.path, loaded.priority, spec.kind,
                                                 spec.version, spec.devices.size(), true});
    if (details_) add_details(loaded, record);
  }

  /// Adds a rejected file.
  void add(const cdi::RejectedFile& file, int priority) {
    const auto& kind = file.kind;
    table_.add(
        {printable(file.why.position.file), kind.empty() ? "-" : printable(kind), "-", "rejected"});
    table_.add_below(fmt::format("  {}\n", to_string(file.why)));
    list_.push_back({.file = file.why.position.file,
                     .priority = priority,
                     .kind = kind,
                     .error = error_record("error", file.why)});
  }

  std::string text() const { return table_.text(); }
  const std::vector<ListedSpec>& records() const { return list_; }

 private:
  void add_details(const cdi::LoadedSpec& loaded, ListedSpec& record) {
    const std::string owner{loaded.owner()};
    if (!owner.empty()) {
      table_.add_below(fmt::format("  owner  {}\n", printable(owner)));
      record.owner = owner;
    }
    auto& defines = record.defines.emplace();
    for (const auto& device : loaded.spec.devices) {
      const auto name = cdi::qualified_name(loaded.spec.kind, device.name);
      const auto line = cdi::ResolvedDevice{&loaded, &device}.line();
      table_.add_below(fmt::format("  {}  line {}\n", name, line));
      defines.push_back({name, line});
    }
  }

  bool details_;
  tools::Table table_{{"FILE", "KIND", "CDI", "DEVICES"}};
  std::vector<ListedSpec> list_{};
};

/// The priority of the spec directory of a rejected file; nothing for a spec directory itself.
std::optional<int> priority_of(const cdi::RejectedFile& file, const cdi::Registry& registry) {
  const auto& path = file.why.position.file;
  for (const auto& dir : registry.dirs()) {
    if (dir.path == path) return std::nullopt;
  }
  return ::priority_of(path, registry);
}

/// Prints the warnings about files; as text, without rejected files, which are in the list.
void warn_of_other_files(const CommonOptions& common, const cdi::Registry& registry,
                         const Output& output) {
  if (output.format() != OutputFormat::text) return warn(common, registry, output);
  std::set<std::string_view> listed;
  for (const auto& file : registry.rejected()) {
    if (priority_of(*file, registry)) listed.insert(file->why.position.file);
  }
  for (const auto& error : errors_of(common, registry)) {
    if (!listed.contains(error.position.file)) output.warning(error);
  }
  warn_of_specs(registry, output);
}

ExitCode list_specs(const CommonOptions& common, const ListOptions& options, const Output& output) {
  const auto registry = cdi::scan_spec_dirs(common.spec_dirs(), common.reading);
  warn_of_other_files(common, *registry, output);
  warn_if_empty(common, *registry, output);
  SpecList list{options.details};
  for (const auto& loaded : registry->specs()) list.add(*loaded);
  for (const auto& file : registry->rejected()) {
    const auto priority = priority_of(*file, *registry);
    if (priority) list.add(*file, *priority);
  }
  return code_of_list(output.result(list.text(), list.records()), common, *registry, output);
}

ExitCode list_dirs(const CommonOptions& common, const Output& output) {
  const auto registry = scan_and_warn(common, output);
  tools::Table table{{"DIRECTORY", "PRIORITY", "STATE", "SPECS"}};
  std::vector<ListedDir> list;
  for (const auto& dir : registry->dirs()) {
    const auto state = dir_states[static_cast<std::size_t>(dir.state)];
    table.add({printable(dir.path), fmt::format("{}", dir.priority), std::string{state},
               fmt::format("{}", dir.specs)});
    list.push_back({dir.path, dir.priority, state, dir.specs});
  }
  return output.result(table.text(), list) ? exit_done : exit_failed;
}

/// Commands without their own options.
template <ExitCode (*run)(const CommonOptions&, const Output&)>
Run set_up_list(CLI::App& /*app*/, CommonOptions& /*common*/) {
  return run;
}

Run set_up_devices(CLI::App& app, CommonOptions& /*common*/) {
  auto options = std::make_shared<ListOptions>();
  app.add_option("PATTERN", options->names,
                 "List only these names or quoted patterns: 'vendor.com/class=*'");
  app.add_flag("-v,--verbose", options->details,
               "Also print the file of each device and its edits, with their lines");
  return [options](const CommonOptions& given, const Output& output) {
    return list_devices(given, *options, output);
  };
}

Run set_up_specs(CLI::App& app, CommonOptions& /*common*/) {
  auto options = std::make_shared<ListOptions>();
  app.add_flag("-v,--verbose", options->details,
               "Also print the owner that a file records, and the names of its devices");
  return [options](const CommonOptions& given, const Output& output) {
    return list_specs(given, *options, output);
  };
}

}  // namespace

constexpr Command devices_command{"devices", "List the qualified names of devices", set_up_devices,
                                  "cdi devices 'nvidia.com/gpu=*'"};

constexpr Command vendors_command{"vendors", "List the vendors of all specs",
                                  set_up_list<list_vendors>, "cdi vendors"};

constexpr Command classes_command{"classes", "List the device classes of all specs",
                                  set_up_list<list_classes>, "cdi classes"};

constexpr Command specs_command{
    "specs", "List the spec files with kind, CDI version and number of devices, or their errors",
    set_up_specs, "cdi specs --spec-dir /etc/cdi"};

constexpr Command dirs_command{"dirs", "List the spec directories with priority and state",
                               set_up_list<list_dirs>, "cdi dirs"};
