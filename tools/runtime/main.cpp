// cdi-runtime: injects the devices that a container requests, and starts the real OCI runtime.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include <cdi/config_json.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/host.hpp>
#include <cdi/policy.hpp>
#include <cdi/scan.hpp>
#include <cdi/text/json.hpp>

#include "../kit/base/one_line.hpp"
#include "../kit/host/program_path.hpp"
#include "../kit/names/policy_file.hpp"
#include "../kit/names/variable_requests.hpp"
#include "command_line.hpp"
#include "settings.hpp"

namespace runtime {
namespace {

/// A log line in JSON, as engines read it.
struct LogLine {
  std::string level{}, msg{}, time{};
  /// The field list.
  static constexpr void fields(auto& list) {
    list("level", &LogLine::level);
    list("msg", &LogLine::msg);
    list("time", &LogLine::time);
  }
};

/// Writes an error for the engine, to the log file and to standard error. Returns the exit code.
int report(const CommandLine& line, std::string_view message) {
  const auto text = "cdi-runtime: " + tools::one_line(message);
  std::fprintf(stderr, "%s\n", text.c_str());
  const std::time_t now = std::time(nullptr);
  char time[sizeof "2026-11-25T12:00:00Z"] = "";
  std::tm parts{};
  std::strftime(&time[0], sizeof time, "%FT%TZ", ::gmtime_r(&now, &parts));
  const auto json = cdi::write_json(LogLine{"error", text, &time[0]}, -1);
  // crun's log destinations: a file, or one of two services.
  if (line.log.starts_with("journald:") || line.log.starts_with("syslog:")) return 1;
  const auto path = line.log.starts_with("file:") ? line.log.substr(5) : line.log;
  constexpr int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY;
  const cdi::Descriptor log{::open(path.c_str(), flags, 0644)};
  if (log) ::dprintf(log.get(), "%s\n", line.json_log && json ? json->c_str() : text.c_str());
  return 1;
}

/// Injects devices that the policy allows.
cdi::Result<void> inject_devices(cdi::ConfigJson& config,
                                 const std::vector<cdi::RequestedDevice>& requested,
                                 const cdi::Registry& registry, const Settings& settings) {
  const auto devices = registry.resolve_all(requested);
  if (!devices) return devices.error();
  cdi::HostWithOptions<> host;
  if (!settings.policy.empty()) {
    auto allowed = tools::check_policy(settings.policy, *devices, requested);
    if (!allowed) return allowed;
    host.options.hook_env = {std::string{cdi::explicit_hook_path}};
  }
  return cdi::Registry::inject_resolved(config, *devices, host);
}

/// Injects the devices that a config requests.
cdi::Result<void> inject_requests(cdi::ConfigJson& config, const Settings& settings) {
  std::vector<cdi::RequestedDevice> requested;
  for (const auto& prefix : settings.prefixes) {
    auto found = cdi::gather_requests(config, {.prefix = prefix});
    if (!found) return std::move(found).error();
    requested.insert(requested.end(), found->begin(), found->end());
  }
  const auto variables = tools::variable_requests(config, settings.variables, requested);
  if (!variables) return variables.error();
  if (requested.empty() && variables->empty()) return {};
  const auto registry = variables->empty() ? cdi::scan_spec_dirs_for(requested, settings.spec_dirs)
                                           : cdi::scan_spec_dirs(settings.spec_dirs);
  tools::add_variables(*variables, *registry, requested);
  return inject_devices(config, requested, *registry, settings);
}

/// Rewrites the config of a bundle, unless nothing changes. It is not synced to the disk: a bundle
/// is useless after a system crash. A link is replaced by a file of the bundle, because its target
/// may be the config of other bundles, too.
cdi::Result<void> rewrite_bundle(const CommandLine& line, const Settings& settings) {
  // crun looks up any other file from the current directory, not from the bundle.
  auto path = line.config == "config.json" ? line.bundle + "/" + line.config : line.config;
  if (path.find('/') == std::string::npos) path.insert(0, "./");
  const auto name = path.substr(path.rfind('/') + 1);
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  const cdi::Descriptor folder{::open(path.substr(0, path.rfind('/') + 1).c_str(), flags)};
  if (!folder) return cdi::file_error(path, "cannot open the directory of the bundle");
  const auto file = cdi::read_file_at(folder.get(), name, path, cdi::Limits{}.bytes, false);
  if (!file) return file.error();
  cdi::ConfigJson config{.text = file->text, .file = path};
  const auto done = inject_requests(config, settings);
  if (!done || config.text == file->text) return done;
  struct stat info = {};
  const bool is_link = ::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                       S_ISLNK(info.st_mode);
  if (is_link) {
    const auto mode = static_cast<mode_t>(file->signature.mode & 07777U);
    const cdi::FileAttributes same{
        .mode = mode, .owner = file->owner, .group = file->group, .sync = false};
    return cdi::replace_file_at(folder.get(), name, config.text, path, same);
  }
  return cdi::rewrite_file_at(folder.get(), name, config.text, path, file->signature, false);
}

/// Counts in the environment how often this program has become another one. Returns false after too
/// many times: copies of this program that name each other as the runtime would start each other
/// for ever. A few copies with their own settings may follow each other.
bool may_start_another() {
  constexpr const char* variable = "CDI_RUNTIME_STARTS";
  constexpr int most = 8;
  const char* const given = std::getenv(variable);
  const int starts = std::clamp(given == nullptr ? 0 : std::atoi(given), 0, most);
  ::setenv(variable, std::to_string(starts + 1).c_str(), 1);
  return starts < most;
}

/// Becomes the real runtime, with the same arguments. Returns only after an error.
int start_runtime(const CommandLine& line, const std::string& runtime, char** argv) {
  const bool any = runtime.empty();
  auto path = tools::path_of_program(any ? "runc" : runtime);
  if (path.empty() && any) path = tools::path_of_program("crun");
  if (path.empty()) {
    return report(line, "cannot find the runtime " + (any ? "runc or crun" : runtime) +
                            ": install it, or name another one in the settings");
  }
  if (!may_start_another()) {
    return report(line, "copies of cdi-runtime start each other, the next is " + path +
                            ": set runtime in the settings to the path of the real runtime");
  }
  argv[0] = path.data();
  ::execv(path.c_str(), argv);
  return report(line, "cannot start " + path + ": " + std::generic_category().message(errno));
}

int run(const CommandLine& line, char** argv) {
  const char* const named = std::getenv("CDI_RUNTIME_CONFIG");  // the engine's variable
  if (line.command != "create" && line.command != "run") {
    const auto runtime = read_runtime(named);
    return runtime ? start_runtime(line, *runtime, argv) : report(line, to_string(runtime.error()));
  }
  const auto settings = read_settings(named);
  const auto done = settings ? rewrite_bundle(line, *settings) : settings.error();
  if (!done) return report(line, to_string(done.error()));
  return start_runtime(line, settings->runtime, argv);
}

}  // namespace
}  // namespace runtime

int main(int argc, char** argv) {
  const auto line = runtime::read_command_line({argv + 1, static_cast<std::size_t>(argc - 1)});
  try {
    return runtime::run(line, argv);
  } catch (const std::exception& error) {
    return runtime::report(line, error.what());
  }
}
