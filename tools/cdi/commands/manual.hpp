// The parts of cdi(1) that are not in the help of a command.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include "../../kit/help/manual.hpp"
#include "../base/exit_codes.hpp"

inline tools::Manual cdi_manual() {
  return {
      .section = "1",
      .summary = "list, check, explain and inject Container Device Interface devices",
      .description =
          "`cdi` reads Container Device Interface (CDI) specs. Such a file says what a container "
          "needs to use a device: device nodes, mounts, variables and hooks. `cdi` lists the "
          "devices, checks spec files, explains why a name does not resolve, converts files for "
          "older engines, and injects devices into a config.json of an OCI runtime.\n\n"
          "A device has a qualified name: `vendor.com/class=device`. Options of all commands may "
          "be before or after the command. Results are on standard output, only after success; "
          "errors and warnings are on standard error. With `-o json`, each of these is a JSON "
          "object on one line.",
      .exit_codes = exit_code_table(),
      .common_exit_codes = exit_code_table(""),
      .more_exit_codes =
          "`cdi why`, `cdi wait` and, with --partial, `cdi inject` have one of these "
          "codes for the first name that does not resolve:\n" +
          why_exit_codes(),
      .environment =
          {{"NO_COLOR", "If it is not empty, `cdi inject --diff` prints no colours"},
           {"TERM",
            "If it is empty or `dumb`, `cdi inject --diff` prints no colours; in other terminals, "
            "it does"},
           {"CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, SLURM_STEP_GPUS, "
            "SLURM_JOB_GPUS",
            "Read by `cdi names`"}},
      .files = {{"/etc/cdi", "Static specs"},
                {"/var/run/cdi", "Transient specs, which have the higher priority"}},
      .see_also = "cdi-prepare(8), cdi-pod(1), runc(8), crun(1), podman-run(1)",
  };
}
