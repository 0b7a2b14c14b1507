// `cdi monitor`: prints changes of the devices in the spec directories as they happen.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <map>
#include <memory>
#include <poll.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/cache.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/host/termination.hpp"
#include "../base/exit_codes.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../results/devices.hpp"
#include "commands.hpp"

namespace {

/// Prints the differences between two states of the spec directories, one record each.
class ChangeLog {
 public:
  ChangeLog(const CommonOptions& common, const Output& output) : common_{common}, output_{output} {}

  /// Prints the first state: the directories, the number of devices, the errors. Returns false if
  /// the output fails.
  bool begin(std::shared_ptr<const cdi::Registry> now) {
    const auto dirs = common_.spec_dirs();
    const auto devices = now->devices();
    add(fmt::format("watching: {}: {} devices", printable(tools::listed(dirs)), devices.size()),
        {{}, "watching", dirs, Texts{devices.begin(), devices.end()}});
    errors_ = errors_by_text(*now);
    for (const auto& [text, error] : errors_) add_error("error", text, error);
    last_ = std::move(now);
    return print();
  }

  /// Prints what has changed. Returns false if the output fails.
  bool update(std::shared_ptr<const cdi::Registry> now) {
    if (now == last_) return true;
    const auto before = last_->devices();
    const auto after = now->devices();
    std::vector<std::string> names;
    std::set_union(before.begin(), before.end(), after.begin(), after.end(),
                   std::back_inserter(names));
    for (const auto& name : names) compare(name, last_->find(name), now->find(name));
    compare_errors(errors_by_text(*now));
    last_ = std::move(now);
    return print();
  }

 private:
  using Errors = std::map<std::string, cdi::Error>;

  Errors errors_by_text(const cdi::Registry& registry) const {
    Errors errors;
    for (auto& error : errors_of(common_, registry)) {
      auto text = to_string(error);
      errors.emplace(std::move(text), std::move(error));
    }
    return errors;
  }

  void compare(const std::string& name, const cdi::ResolvedDevice& before,
               const cdi::ResolvedDevice& after) {
    if (after.device == nullptr) return add_device("removed", name, before);
    if (before.device == nullptr) return add_device("added", name, after);
    const bool same = before.spec == after.spec ||
                      (before.spec->path == after.spec->path && *before.device == *after.device &&
                       before.spec->spec.container_edits == after.spec->spec.container_edits);
    if (!same) add_device("changed", name, after);
  }

  void compare_errors(Errors now) {
    for (const auto& [text, error] : errors_) {
      if (!now.contains(text)) add_error("error-gone", text, error);
    }
    for (const auto& [text, error] : now) {
      if (!errors_.contains(text)) add_error("error", text, error);
    }
    errors_ = std::move(now);
  }

  void add_device(std::string_view event, const std::string& name,
                  const cdi::ResolvedDevice& found) {
    add(fmt::format("{}: {}: {}:{}", event, name, printable(found.spec->path), found.line()),
        {{.file = found.spec->path, .line = found.line()}, event, {}, {}, name});
  }

  void add_error(std::string_view event, const std::string& text, const cdi::Error& error) {
    add(fmt::format("{}: {}", event, text), {error_record("error", error), event});
  }

  void add(std::string_view text, const MonitorEvent& record) {
    switch (output_.format()) {
      case OutputFormat::json: pending_ += tools::json_line(record); break;
      case OutputFormat::yaml: pending_ += tools::yaml_text(record); break;
      case OutputFormat::text: pending_.append(text).append("\n"); break;
    }
  }

  bool print() { return output_.print(std::exchange(pending_, {})); }

  const CommonOptions& common_;
  const Output& output_;
  std::shared_ptr<const cdi::Registry> last_{};
  Errors errors_{};
  std::string pending_{};
};

/// Prints changes until a signal ends the program, or the output is no longer read.
ExitCode monitor(const CommonOptions& common, const Output& output) {
  constexpr int pause = 1000;  // milliseconds; inotify does not report all changes: see `Watcher`
  const auto signals = tools::termination_signals();
  auto reading = common.reading;
  reading.keep_last_good = false;  // like commands that read the files once
  cdi::Cache cache{common.spec_dirs(), {.read = reading, .freshness = cdi::Freshness::watched}};
  if (const auto& error = cache.watch_error()) {
    output.warning({.message = to_string(*error) + "; the files are checked once a second"});
  }
  ChangeLog log{common, output};
  bool printed = log.begin(cache.registry());
  while (printed) {
    std::array<pollfd, 3> events{pollfd{signals.get(), POLLIN, 0},
                                 pollfd{cache.descriptor(), POLLIN, 0},
                                 pollfd{STDOUT_FILENO, 0, 0}};
    const int ready = ::poll(events.data(), events.size(), pause);
    if (ready < 0 && errno != EINTR) {
      return output.reject({.message = "cannot wait for changes"});
    }
    if (ready > 0 && events[0].revents != 0) return exit_done;
    // A pipe without a reader is an error, and a socket without a peer is hung up.
    if (ready > 0 && (events[2].revents & (POLLERR | POLLHUP)) != 0) return exit_done;
    printed = log.update(cache.registry());
  }
  return exit_failed;
}

Run set_up_monitor(CLI::App& /*app*/, CommonOptions& /*common*/) {
  return [](const CommonOptions& given, const Output& output) {
    return monitor(given, output);
  };
}

}  // namespace

constexpr Command monitor_command{"monitor",
                                  "Print changes of devices as they happen, until stopped",
                                  set_up_monitor, "cdi monitor -o json"};
