// `cdi policy`: checks a policy, or prints what it decides about devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../base/policy.hpp"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../../kit/names/policy_file.hpp"
#include "../base/exit_codes.hpp"
#include "../base/globs.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../results/devices.hpp"
#include "commands.hpp"

namespace {

/// The options of `policy`.
struct PolicyCommand {
  PolicyOptions policy{};
  std::vector<std::string> names{};
};

/// Prints decisions.
ExitCode print_decisions(const std::vector<cdi::Decision>& decisions, const Output& output) {
  std::string text;
  for (const auto& decision : decisions) {
    text += fmt::format("{}: {}", decision.device, decision.allowed ? "allowed" : "denied");
    if (!decision.rule.empty()) text += fmt::format(" by {}", cdi::quoted(decision.rule));
    text += "\n";
    for (const auto& reason : decision.reasons) {
      const cdi::Error error{.message = reason.message,
                             .where = reason.member,
                             .position = {decision.file, reason.line, reason.column}};
      text += fmt::format("  {}\n", to_string(error));
    }
  }
  const PolicyDecisions record{.allowed = cdi::require_allowed(decisions).has_value(),
                               .decisions = cdi::detail::readable_decisions(decisions)};
  if (!output.result(text, record)) return exit_failed;
  return record.allowed ? exit_done : exit_denied;
}

/// Checks a policy file; with names, prints its decisions about these devices.
ExitCode check_policy(const CommonOptions& common, const PolicyCommand& options,
                      const Output& output) {
  const auto& file = options.policy.file;
  const auto policy = tools::read_policy_file(file, common.reading.limits);
  if (!policy) return output.reject(policy.error());
  if (options.names.empty()) {
    const auto text = fmt::format("{}: valid\n", printable(file));
    const PolicyResult record{.valid = file, .rules = policy->rules.size()};
    return output.result(text, record) ? exit_done : exit_failed;
  }
  const auto registry = scan_and_warn(common, output);
  const auto devices = resolve_or_report(options.names, *registry, output);
  if (!devices) return exit_failed;
  return print_decisions(cdi::decide(*policy, *devices, options.policy.origin()), output);
}

Run set_up_policy(CLI::App& app, CommonOptions& /*common*/) {
  auto options = std::make_shared<PolicyCommand>();
  app.add_option("FILE", options->policy.file, "The policy")->required()->check(not_empty);
  app.add_option("NAME", options->names, device_names_help);
  add_source(app, options->policy);
  return [options](const CommonOptions& given, const Output& output) {
    return check_policy(given, *options, output);
  };
}

}  // namespace

constexpr Command policy_command{"policy", "Check a policy, or print what it decides about devices",
                                 set_up_policy, "cdi policy policy.json vendor.com/gpu=0"};
