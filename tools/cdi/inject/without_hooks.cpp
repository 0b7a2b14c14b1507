// `cdi inject --hooks replace`: mounts, variables and files in place of hooks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "without_hooks.hpp"

#include <climits>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/base/path.hpp>
#include <cdi/cdi.hpp>
#include <cdi/json.hpp>
#include <cdi/oci.hpp>

#include "../base/command.hpp"

namespace {

/// Warns about effects of hooks that are not replaced, and about hooks that stay.
void warn_of_notes(const std::vector<cdi::HookNote>& notes, const Output& output) {
  for (const auto& note : notes) {
    if (note.way != cdi::HookWay::lost && note.way != cdi::HookWay::kept) continue;
    output.warning(
        {.message = fmt::format("the effect of a hook of class {} is {}: {}: {}",
                                hook_class_name(note.hook_class),
                                note.way == cdi::HookWay::lost ? "lost" : "left to its program",
                                cdi::quoted(note.subject), note.reason),
         .where = note.origin.where,
         .position = {.file = note.origin.file, .line = note.origin.line}});
  }
}

/// Returns the root directory of a container; empty if the config does not say where it is.
/// `config` is the path of the config, or `-` for standard input, which has no directory.
std::string root_of(const std::string& config, const cdi::oci::Spec& spec) {
  const std::string root{spec.root ? spec.root->path : std::string{}};
  if (root.empty() || root.starts_with('/')) return root;
  char file[PATH_MAX];
  if (config == "-" || ::realpath(config.c_str(), file) == nullptr) return {};
  return cdi::clean_path(std::string{file} + "/../" + root);
}

/// What `without_hooks` should know about the container of a config.
cdi::Result<cdi::HooklessOptions> options_for(const FileInPlace& file, const std::string& path,
                                              cdi::HooklessOptions options) {
  const auto given = cdi::read_json<cdi::oci::Spec>(file.text, file.path);
  if (!given) return given.error();
  if (given->process) {
    for (const auto& variable : given->process->env) options.environment.push_back(variable);
  }
  for (const auto& mount : given->mounts) {
    cdi::Mount one{.host_path = std::string{mount.source},
                   .container_path = std::string{mount.destination}};
    for (const auto& option : mount.options) one.options.emplace_back(option);
    one.type = mount.type;
    if (one.host_path.starts_with('/')) options.mounts.push_back(std::move(one));
  }
  struct stat info = {};
  const auto root = root_of(path, *given);
  const bool is_there = !root.empty() && ::stat(root.c_str(), &info) == 0;
  if (options.image_root.empty() && is_there) options.image_root = root;
  options.keep_unknown = true;
  return options;
}

}  // namespace

void add_hookless_options(CLI::App& app, cdi::HooklessOptions& options) {
  app.add_option("--image-root", options.image_root,
                 "The root directory of the image, which decides how its linker finds libraries; "
                 "only read")
      ->type_name("DIR");
  app.add_option("--state-dir", options.state_dir,
                 "Write generated files, such as an ld.so.cache, into this directory, which must "
                 "last as long as the container; see `cdi gc --state-dir`")
      ->type_name("DIR");
  for (const char* const name : {"--image-root", "--state-dir"}) {
    app.get_option(name)->check(not_empty);
  }
}

cdi::Result<cdi::RecordedInjection> inject_without_hooks(
    cdi::ConfigJson& config, const FileInPlace& file, const std::string& path,
    std::span<const cdi::ResolvedDevice> devices, const cdi::HostOptions& host,
    const cdi::HooklessOptions& places, const Output& output) {
  const auto options = options_for(file, path, places);
  if (!options) return options.error();
  const auto plan = cdi::plan_resolved(devices, cdi::HostWithOptions<>{host});
  if (!plan) return plan.error();
  auto made = cdi::without_hooks(*plan, *options);
  if (!made) return made.error();
  warn_of_notes(made->notes, output);
  auto changes = made->plan.apply(config);
  if (!changes) return std::move(changes).error();
  return cdi::RecordedInjection{std::move(made->plan), *std::move(changes)};
}
