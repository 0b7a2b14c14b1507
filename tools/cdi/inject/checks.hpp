// Checks of the host and the runtime before `cdi inject` injects.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <vector>

#include <cdi/files/text_file.hpp>
#include <cdi/versions.hpp>

#include "../../kit/cdi_specs/drift.hpp"
#include "../base/exit_codes.hpp"
#include "../base/output.hpp"

/// Prints the warnings that `--drift` adds to `HostOptions::drift`.
inline void report_drift(const std::string& drift, const std::vector<cdi::ResolvedDevice>& devices,
                         const Output& output) {
  if (drift == "keep" || drift == "fail") return;
  for (auto warning : tools::find_drift(devices)) {
    warning.message += drift == "follow" ? "; the numbers of the host are used"
                                         : "; the numbers of the spec are used";
    output.warning(warning);
  }
}

/// Warns about edits that a runtime does not implement. `file` contains the runtime's features; an
/// empty `file` turns the check off.
inline ExitCode report_unsupported(const std::string& file,
                                   const std::vector<cdi::ResolvedDevice>& devices,
                                   const Output& output) {
  if (file.empty()) return exit_done;
  const auto text = cdi::read_file(file);
  if (!text) return output.reject(text.error());
  const auto features = cdi::read_json<cdi::oci::Features>(*text, file);
  if (!features) {
    auto error = features.error();
    error.message.insert(0, "this is not the output of `runc features`: ");
    return output.reject(error);
  }
  for (const auto& one : cdi::unsupported_edits(devices, *features)) output.warning(one);
  return exit_done;
}
