// The parts of cdi-dra(8) that are not in its help.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include <fmt/format.h>

#include "../kit/help/manual.hpp"

namespace dra {

enum ExitCode : int { exit_done = 0, exit_failed = 1, exit_usage = 2 };

/// The exit code table in the help.
inline std::string exit_code_help() {
  return fmt::format(
      "Exit codes:\n  {}  done; for serve: asked to end; for status and check: all is well\n"
      "  {}  failed, refused by the kubelet, or a fault is shown\n"
      "  {}  wrong usage",
      int{exit_done}, int{exit_failed}, int{exit_usage});
}

inline tools::Manual dra_manual() {
  return {
      .section = "8",
      .summary = "prepare ResourceClaims on a Kubernetes node, by CDI",
      .description =
          "`cdi-dra` is a driver for Dynamic Resource Allocation. The kubelet names the claims of "
          "a "
          "pod; the driver assigns their GPUs, writes a CDI spec for each claim, and answers with "
          "the names that the container runtime resolves. It keeps a journal of its claims, and "
          "writes their specs again whenever they are gone.",
      .exit_codes = exit_code_help(),
      .files = {{"/var/lib/kubelet/plugins/DRIVER/dra.sock", "The socket for claims"},
                {"/var/lib/kubelet/plugins_registry/DRIVER-reg.sock",
                 "The socket that the kubelet finds"},
                {"/var/lib/kubelet/plugins/DRIVER/claims",
                 "The journal of claims, without --state-dir"},
                {"/var/run/cdi/DRIVER-claim_UID.json", "The spec of a claim"}},
      .see_also = "cdi-prepare(8), cdi(1)",
  };
}

}  // namespace dra
