// Findings about why containers may not get the GPUs of a host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "doctor.hpp"

#include <utility>

#include "../../gpu/findings/our_specs.hpp"
#include "claim_specs.hpp"
#include "driver.hpp"
#include "gpus.hpp"
#include "ignored.hpp"
#include "kernel.hpp"

namespace prepare {

std::vector<Finding> diagnose_host(const tools::HostTree& tree,
                                   const std::vector<Inventory>& inventories,
                                   const std::vector<tools::Engine>& engines,
                                   const DoctorOptions& options) {
  std::vector<Finding> findings;
  auto arguments = options.place;
  for (auto& one : tools::keeping_arguments(tree, options.output_dir)) {
    arguments.push_back(std::move(one));
  }
  doctor::check_nvidia_driver(tree, options.driver, arguments, findings);
  const auto make_nodes = doctor::make_nodes_command(tree, arguments);
  for (const auto& found : inventories) doctor::check_inventory(found, make_nodes, findings);
  if (inventories.empty()) {
    findings.push_back({doctor::Level::note, "devices", "this host has none",
                        "If there is one, check that /sys and /proc belong to the host."});
  }
  doctor::check_iommu(tree, inventories, findings);
  doctor::check_engines(tree, engines, options.output_dir, inventories, findings);
  doctor::check_specs(tree, inventories, engines, options.spec_dirs, arguments, findings);
  doctor::check_ignored(tree, options.spec_dirs, findings);
  doctor::check_char_links(tree, inventories, findings);
  doctor::check_selinux(tree, findings);
  return findings;
}

std::vector<Finding> diagnose_host(const Survey& survey, const std::vector<tools::Engine>& engines,
                                   const DoctorOptions& options) {
  auto findings = diagnose_host(survey.tree, survey.inventories, engines, options);
  if (auto reason = unreadable_functions(survey)) {
    findings.push_back({doctor::Level::fault, "devices", *std::move(reason),
                        "Run doctor as root; if the device has just been removed, run it again."});
  }
  for (const auto& fault : survey.faults) {
    findings.push_back({doctor::Level::fault, "vendor files", fault,
                        "Correct the file; until then, the specs of its devices do not change."});
  }
  for (const auto& [kind, reason, is_named] : survey.absent) {
    findings.push_back({doctor::Level::note, kind, "no device found: " + reason,
                        "If the host has one, load its driver or correct the vendor file."});
  }
  doctor::check_claims(survey, options.state_dir, options.spec_dirs, findings);
  return findings;
}

}  // namespace prepare
