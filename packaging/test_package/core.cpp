// Uses the models, the rules and `apply`, without third-party headers.
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <cdi/core.hpp>

int main() {
  const cdi::ContainerEdits edits{.env = {"GPU=0"}};
  cdi::oci::Spec config;
  if (!edits.apply(config)) return 1;
  return config.process->env.front() == "GPU=0" ? 0 : 1;
}
