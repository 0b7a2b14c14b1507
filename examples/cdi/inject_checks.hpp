// What `cdi inject` reports of the host and of the runtime before it injects.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_EXAMPLES_CDI_INJECT_CHECKS_HPP
#define CDI_EXAMPLES_CDI_INJECT_CHECKS_HPP

#include <vector>

#include <cdi/drift.hpp>
#include <cdi/runtime_features.hpp>

#include "exit_codes.hpp"
#include "output.hpp"
#include "request.hpp"

/// What `--drift` does besides `HostOptions::drift`: it warns.
inline void report_drift(const Request& request, const std::vector<cdi::ResolvedDevice>& devices,
                         const Output& output) {
  if (request.drift == "keep" || request.drift == "fail") return;
  for (auto drift : cdi::find_drift(devices)) {
    drift.message += request.drift == "follow" ? "; the numbers of the host are used"
                                               : "; the numbers of the spec are used";
    output.warning(drift);
  }
}

/// Warns of edits that the runtime of `--features` does not implement.
inline ExitCode report_unsupported(const Request& request,
                                   const std::vector<cdi::ResolvedDevice>& devices,
                                   const Output& output) {
  if (request.features.empty()) return exit_done;
  const auto text = cdi::read_file(request.features);
  if (!text) return output.refuse(text.error());
  const auto features = cdi::read_json<cdi::oci::Features>(*text, request.features);
  if (!features) {
    auto error = features.error();
    error.message.insert(0, "this is not the output of `runc features`: ");
    return output.refuse(error);
  }
  for (const auto& one : cdi::unsupported_edits(devices, *features)) output.warning(one);
  return exit_done;
}

#endif  // CDI_EXAMPLES_CDI_INJECT_CHECKS_HPP
