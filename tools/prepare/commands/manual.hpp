// The parts of cdi-prepare(8) that are not in the help of a command.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include "../../kit/help/manual.hpp"
#include "exit_codes.hpp"

namespace prepare {

inline tools::Manual prepare_manual() {
  return {
      .section = "8",
      .summary = "write Container Device Interface specs for the devices of a node",
      .description =
          "`cdi-prepare` finds the GPUs and other accelerators of a node in /proc and /sys, by "
          "default without vendor libraries, and writes Container Device Interface (CDI) specs for "
          "them. It knows NVIDIA "
          "GPUs with MIG instances, AMD GPUs with partitions, Intel GPUs, NPUs and Gaudi, devices "
          "bound to vfio for a guest, WSL, and the render nodes of other devices.\n\n"
          "`cdi-prepare prepare` gives devices to a claim, as a Kubernetes DRA driver needs it. "
          "The "
          "systemd units cdi-prepare.service and cdi-prepare-watch.service keep the specs up to "
          "date. `cdi-prepare record` copies what it reads of a node to a directory, which "
          "`--root` reads elsewhere.",
      .exit_codes = exit_code_help(),
      .environment = {{"NO_COLOR", "If it is not empty, `cdi-prepare doctor` prints no colours"},
                      {"TERM", "If it is empty or `dumb`, `cdi-prepare doctor` prints no colours"}},
      .files = {{"/etc/cdi-prepare/config.toml",
                 "Values for options that the command line does not give, by their long names: "
                 "profile = \"compute\""},
                {"/etc/cdi-prepare.d", "Vendor files, *.toml: devices of other vendors"},
                {"/var/run/cdi", "The specs, without --output-dir"},
                {"/var/lib/cdi-prepare", "The journal of claims, without --state-dir"}},
      .see_also = "cdi(1), cdi-pod(1), systemctl(1)",
  };
}

}  // namespace prepare
