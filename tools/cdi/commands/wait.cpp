// `cdi wait`: waits until devices resolve.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "../base/exit_codes.hpp"
#include "../base/globs.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "commands.hpp"
#include "why.hpp"

namespace {

/// The options of `wait`.
struct WaitCommandOptions {
  std::vector<std::string> names{};
  std::string timeout{"30s"};
};

/// A duration such as `30s`, `500ms`, `2m`, `1h` or `30`, which are seconds; at most a year.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  using std::chrono::milliseconds;
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || number < 0) return std::nullopt;
  const auto unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const std::int64_t factor = unit == "ms"                  ? 1
                              : unit == "s" || unit.empty() ? 1000
                              : unit == "m"                 ? 60'000
                              : unit == "h"                 ? 3'600'000
                                                            : 0;
  constexpr std::int64_t year = std::int64_t{366} * 24 * 3'600'000;
  if (factor == 0 || number > year / factor) return std::nullopt;
  return milliseconds{number * factor};
}

/// Whether a name or pattern is invalid, so that it never resolves.
bool has_invalid_name(const std::vector<std::string>& names, const cdi::Registry& registry) {
  const auto missing = unresolved_names(expand_names(names, registry), registry);
  return std::any_of(missing.begin(), missing.end(),
                     [](const auto& one) { return one.reason == cdi::Reason::invalid_name; });
}

/// Waits until each pattern matches a device that resolves; returns whether each does.
bool wait_for_matches(cdi::Cache& cache, const std::vector<std::string>& patterns,
                      std::chrono::steady_clock::time_point deadline) {
  using namespace std::chrono;
  for (;;) {
    const bool matched = expand_names(patterns, *cache.registry()).failed.empty();
    const auto left = ceil<milliseconds>(deadline - steady_clock::now());
    if (matched || left.count() <= 0) return matched;
    constexpr milliseconds pause{1000};  // inotify does not report all changes: see `Watcher`
    pollfd changes{cache.descriptor(), POLLIN, 0};
    ::poll(&changes, 1, static_cast<int>(std::min(left, pause).count()));
  }
}

/// Waits until all names and patterns resolve; returns whether they do.
bool wait_for_all(cdi::Cache& cache, std::vector<std::string> names,
                  std::chrono::steady_clock::time_point deadline) {
  const auto first_pattern = std::stable_partition(names.begin(), names.end(),
                                                   [](const auto& name) { return !is_glob(name); });
  const std::vector<std::string> patterns{first_pattern, names.end()};
  names.erase(first_pattern, names.end());
  const bool matched = wait_for_matches(cache, patterns, deadline);
  return cache.wait_for(names, deadline, {.fail_on_unknown_device = false}).has_value() && matched;
}

/// Waits until all names resolve, unless one is invalid; then, or when the time runs out, prints
/// what `cdi why --no-host` prints.
ExitCode wait_for_devices(const CommonOptions& common, const WaitCommandOptions& options,
                          const Output& output) {
  const auto deadline = std::chrono::steady_clock::now() + *parse_duration(options.timeout);
  cdi::Cache cache{common.spec_dirs(),
                   {.read = common.reading, .freshness = cdi::Freshness::watched}};
  if (!has_invalid_name(options.names, *cache.registry()) &&
      !wait_for_all(cache, options.names, deadline)) {
    output.error({.message = fmt::format("not all names resolve after {}", options.timeout)});
  }
  return explain_names(common, {.names = options.names, .no_host = true}, output);
}

Run set_up_wait(CLI::App& app, CommonOptions& /*common*/) {
  auto options = std::make_shared<WaitCommandOptions>();
  add_names(app, options->names);
  app.add_option("--timeout", options->timeout,
                 "How long to wait: seconds, or a number with ms, s, m or h; 0 checks once")
      ->type_name("TIME")
      ->capture_default_str()
      ->check([](const std::string& text) {
        return parse_duration(text) ? std::string{}
                                    : "write a time such as 30s, 500ms, 2m or 1h, at most a year";
      });
  app.footer(exit_code_table("wait") + why_exit_code_table());
  return [options](const CommonOptions& given, const Output& output) {
    return wait_for_devices(given, *options, output);
  };
}

}  // namespace

constexpr Command wait_command{"wait", "Wait until devices resolve, or explain why they do not",
                               set_up_wait, "cdi wait vendor.com/gpu=0 --timeout 30s"};
