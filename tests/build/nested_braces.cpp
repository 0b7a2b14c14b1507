// Initialises models with nested braces, in a file where no other code has used their initialisers:
// g++ 12 crashes on this if the initialiser of a member is a defaulted constructor.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cdi/oci/spec.hpp>
#include <cdi/spec.hpp>

namespace {

/// Each function is the first in its file to use the types it names.
bool edits() {
  const cdi::ContainerEdits edits{.device_nodes = {{.path = "/dev/null"}},
                                  .hooks = {{.hook_name = "prestart", .args = {"a"}}}};
  return edits.env.empty() && edits.hooks.size() == 1 && !edits.intel_rdt;
}

bool spec() {
  const cdi::Spec spec{.devices = {{.container_edits = {.env = {"A=1"}}}}};
  return spec.kind.empty() && spec.annotations.empty() && spec.devices.size() == 1 &&
         spec.devices[0].container_edits.env.size() == 1;
}

bool spec_view() {
  const cdi::SpecView spec{.devices = {{.name = "gpu0", .container_edits = {.env = {"A=1"}}}}};
  return spec.devices[0].container_edits.mounts.empty();
}

bool oci_spec() {
  const cdi::oci::Spec spec{.process = {{.user = {.uid = 1}, .args = {"sh"}}},
                            .mounts = {{.destination = "/a", .options = {"ro"}}},
                            .linux_ = {{.resources = {{.devices = {{.allow = true}}}}}}};
  return spec.process->env.empty() && spec.mounts.size() == 1 && spec.linux_->sysctl.empty();
}

}  // namespace

int main() {
  return edits() && spec() && spec_view() && oci_spec() ? 0 : 1;
}
