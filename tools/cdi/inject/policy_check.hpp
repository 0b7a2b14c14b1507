// `cdi inject --policy`: decides which devices may be injected.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <span>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <fmt/format.h>

#include <cdi/files/replace_file.hpp>
#include <cdi/policy.hpp>

#include "../../kit/names/policy_file.hpp"
#include "../base/command.hpp"
#include "../base/exit_codes.hpp"
#include "../base/output.hpp"
#include "../base/policy.hpp"
#include "requests.hpp"

/// The policy of `inject`, and its log. Without a policy file, nothing is checked.
struct PolicyCheck {
  PolicyOptions policy{};
  std::string decisions{};  // the log file; may be empty
};

/// Why a file is not valid for the log; empty if it is valid.
inline std::string log_error(const std::string& log) {
  if (log == "-")
    return "the result goes to standard output: name a file, or write ./- for a file named -";
  return not_empty(log);
}

/// Adds the options for policies. Returns `--policy`.
inline CLI::Option* add_policy(CLI::App& app, PolicyCheck& check, const char* help) {
  auto* const policy = app.add_option("--policy", check.policy.file, help);
  policy->type_name("FILE")->check(not_empty);
  app.add_option("--decisions", check.decisions, "Write the policy decisions as JSON")
      ->type_name("FILE")
      ->check(log_error)
      ->needs(policy);
  add_source(app, check.policy)->needs(policy);
  return policy;
}

namespace detail {

/// Whether two paths lead to the same file.
inline bool is_same_file(const std::string& a, const std::string& b) {
  struct stat first = {};
  struct stat second = {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

inline cdi::Error denial(const cdi::Decision& decision, const cdi::DenyReason& reason) {
  const auto by = decision.rule.empty()
                      ? std::string{}
                      : fmt::format(", by the rule {}", cdi::quoted(decision.rule));
  return {.code = cdi::Errc::denied,
          .message = fmt::format("the policy denies {}{}: {}", cdi::quoted(decision.device), by,
                                 reason.message),
          .where = reason.member,
          .position = {.file = decision.file, .line = reason.line, .column = reason.column}};
}

/// The input file that the log would replace; empty if there is none.
inline std::string replaced_input(const std::string& log, std::span<const std::string> inputs,
                                  const std::vector<cdi::ResolvedDevice>& devices) {
  for (const auto& input : inputs) {
    if (is_same_file(log, input)) return input;
  }
  for (const auto& device : devices) {
    if (is_same_file(log, device.spec->path)) return device.spec->path;
  }
  return {};
}

/// Writes the log. A device node, a FIFO or a link is not replaced.
inline cdi::Result<void> write_log(const std::string& log,
                                   const std::vector<cdi::Decision>& decisions) {
  if (log.empty()) return {};
  struct stat info = {};
  if (::lstat(log.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return cdi::Error{.code = cdi::Errc::denied,
                      .message = "not a regular file",
                      .advice = "use another file for --decisions",
                      .position = {.file = log}};
  }
  return cdi::replace_file(log, cdi::write_decisions(decisions) + "\n");
}

}  // namespace detail

/// Decides about devices, and writes the log even if a device is denied. Prints why devices are
/// denied. `inputs` are the command's input files, which the log must not replace; `annotated` are
/// requests from annotations.
inline ExitCode enforce_policy(const PolicyCheck& check, std::span<const std::string> inputs,
                               const std::vector<cdi::ResolvedDevice>& devices,
                               std::span<const cdi::RequestedDevice> annotated,
                               const cdi::ReadOptions& reading, const Output& output) {
  const auto& named = check.policy;
  if (named.file.empty()) return exit_done;
  const auto input = detail::replaced_input(check.decisions, inputs, devices);
  if (!input.empty()) {
    output.error({.message = fmt::format("--decisions would replace {}", cdi::quoted(input)),
                  .advice = "use another file"});
    return exit_usage;
  }
  const auto policy = tools::read_policy_file(named.file, reading.limits);
  if (!policy) return output.reject(policy.error());
  const auto requested = requests_for(devices, annotated, named.origin());
  const auto decisions = cdi::decide(*policy, devices, requested);
  const auto written = detail::write_log(check.decisions, decisions);
  if (!written) return output.reject(written.error());
  for (const auto& decision : decisions) {
    for (const auto& reason : decision.reasons) output.error(detail::denial(decision, reason));
  }
  return cdi::require_allowed(decisions) ? exit_done : exit_denied;
}
