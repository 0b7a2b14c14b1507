// The parts of cdi-nri(8) that are not in its help.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include <fmt/format.h>

#include "../kit/help/manual.hpp"

namespace nri {

enum ExitCode : int { exit_done = 0, exit_failed = 1, exit_usage = 2 };

/// The exit code table in the help.
inline std::string exit_code_help() {
  return fmt::format(
      "Exit codes:\n  {}  asked to end, or the runtime that launched the plugin has ended the "
      "connection\n"
      "  {}  failed, or refused by the runtime\n"
      "  {}  wrong usage",
      int{exit_done}, int{exit_failed}, int{exit_usage});
}

inline tools::Manual nri_manual() {
  return {
      .section = "8",
      .summary = "give containers CDI devices by NRI, in containerd and CRI-O",
      .description =
          "`cdi-nri` is a plugin for runtimes with NRI, the Node Resource Interface. It injects "
          "the CDI devices that a pod requests by annotation into its containers as they are "
          "created. A container whose devices cannot be injected is not created, and the event of "
          "its pod says why.",
      .exit_codes = exit_code_help(),
      .environment = {{"NRI_PLUGIN_SOCKET, NRI_PLUGIN_NAME, NRI_PLUGIN_IDX",
                       "Set by a runtime that launches the plugin: the descriptor of its socket, "
                       "the name and the index"}},
      .files = {{"/var/run/nri/nri.sock", "The socket of the runtime, without --socket"},
                {"/etc/cdi-nri/config.toml", "The settings, without --config; may be missing"},
                {"/etc/nri/conf.d/cdi-nri.conf",
                 "The settings of a plugin that the runtime launches, as TOML"}},
      .see_also = "cdi(1), cdi-dra(8), containerd(8), crio(8)",
  };
}

}  // namespace nri
