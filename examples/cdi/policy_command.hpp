// `cdi policy`, and the policy of `cdi inject`: which devices may be injected.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_POLICY_COMMAND_HPP
#define CDI_EXAMPLES_CDI_POLICY_COMMAND_HPP

#include <cstddef>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include <fmt/format.h>

#include <cdi/policy.hpp>

#include "exit_codes.hpp"
#include "output.hpp"
#include "request.hpp"
#include "unresolved_record.hpp"

inline cdi::Result<cdi::Policy> read_policy_file(const Request& request) {
  const auto& reading = request.reading;
  const auto file = cdi::read_file_at(AT_FDCWD, request.policy, request.policy,
                                      reading.limits.bytes, reading.refuse_writable);
  if (!file) return file.error();
  return cdi::read_policy(file->text, request.policy, reading.limits);
}

/// The origin that `--source` names; the command line was checked before.
inline cdi::RequestOrigin origin_of(const Request& request) {
  for (std::size_t i = 0; i < cdi::request_origin_names.size(); ++i) {
    if (cdi::request_origin_names[i] == request.source) return static_cast<cdi::RequestOrigin>(i);
  }
  return cdi::RequestOrigin::command_line;
}

namespace detail {

/// Whether two paths lead to one file.
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
  return {.code = cdi::Errc::refused,
          .message = fmt::format("the policy denies {}{}: {}", cdi::quoted(decision.device), by,
                                 reason.message),
          .where = reason.member,
          .position = {.file = decision.file, .line = reason.line, .column = reason.column}};
}

/// The input that the log of `--decisions` would replace; empty when there is none.
inline std::string replaced_input(const Request& request,
                                  const std::vector<cdi::ResolvedDevice>& devices) {
  for (const auto* const input : {&request.config, &request.policy, &request.features}) {
    if (is_same_file(request.decisions, *input)) return *input;
  }
  for (const auto& device : devices) {
    if (is_same_file(request.decisions, device.spec->path)) return device.spec->path;
  }
  return {};
}

/// Writes the log of `--decisions`. It replaces a regular file, but no device node and no link.
inline cdi::Result<void> write_log(const Request& request,
                                   const std::vector<cdi::Decision>& decisions) {
  if (request.decisions.empty()) return {};
  struct stat info = {};
  if (::lstat(request.decisions.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return cdi::Error{.code = cdi::Errc::refused,
                      .message = "not a regular file: name another file for --decisions",
                      .position = {.file = request.decisions}};
  }
  return cdi::replace_file(request.decisions, cdi::write_decisions(decisions) + "\n");
}

}  // namespace detail

/// Decides about the devices of `inject`, and writes the log of `--decisions`, also when it denies
/// one. Prints why devices are denied.
inline ExitCode enforce_policy(const Request& request,
                               const std::vector<cdi::ResolvedDevice>& devices,
                               const Output& output) {
  if (request.policy.empty()) return exit_done;
  if (const auto input = detail::replaced_input(request, devices); !input.empty()) {
    output.error({.message = fmt::format("--decisions would replace {}: name another file",
                                         cdi::quoted(input))});
    return exit_usage;
  }
  const auto policy = read_policy_file(request);
  if (!policy) return output.refuse(policy.error());
  const auto decisions = cdi::decide(*policy, devices, origin_of(request));
  const auto written = detail::write_log(request, decisions);
  if (!written) return output.refuse(written.error());
  for (const auto& decision : decisions) {
    for (const auto& reason : decision.reasons) output.error(detail::denial(decision, reason));
  }
  return cdi::require_allowed(decisions) ? exit_done : exit_denied;
}

/// Checks a policy file; with names, prints what it decides about these devices.
inline ExitCode check_policy(const Request& request, const Output& output) {
  const auto policy = read_policy_file(request);
  if (!policy) return output.refuse(policy.error());
  if (request.names.empty()) {
    const auto text = fmt::format("{}: valid\n", printable(request.policy));
    const Json record{{"valid", request.policy}, {"rules", policy->rules.size()}};
    return output.result(text, record) ? exit_done : exit_refused;
  }
  const auto registry = scan_and_warn(request, output);
  const auto devices = registry->resolve_all(request.names);
  if (!devices) {
    for (const auto& one : registry->unresolved(request.names)) report_unresolved(one, output);
    return exit_refused;
  }
  const auto decisions = cdi::decide(*policy, *devices, origin_of(request));
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
  if (!output.result(text, Json::parse(cdi::write_decisions(decisions)))) return exit_refused;
  return cdi::require_allowed(decisions) ? exit_done : exit_denied;
}

#endif  // CDI_EXAMPLES_CDI_POLICY_COMMAND_HPP
