// Checks of GPUs and their nodes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "gpus.hpp"

#include <set>

#include <fmt/format.h>

#include "../../gpu/model/fault.hpp"

namespace prepare::doctor {

namespace {

void check_gpu(const Gpu& gpu, const std::string& make_nodes, Findings& findings) {
  const auto about = fmt::format("{} {} {}", gpu.vendor, gpu.noun, gpu.known_name());
  for (const auto& share : gpu.shares()) {
    if (!share.left_out) continue;
    const auto& meaning = meaning_of(share.left_out->fault);
    const bool intended = meaning.persistence == Persistence::intended;
    findings.push_back({intended ? Level::note : Level::fault, about + share.suffix,
                        "left out: " + share.left_out->text,
                        remedy_for(share.left_out->fault, make_nodes), meaning.code});
  }
  if (gpu.vendor == "nvidia" && gpu.driver == "nvidia" && gpu.id.empty() && !gpu.whole.left_out) {
    findings.push_back({Level::note, about,
                        "its driver does not know its UUID yet, so its name is its PCI address",
                        "Run nvidia-persistenced at boot: it opens each GPU and keeps it open."});
  }
}

/// The level of a missing node or a warning. CUDA programs need nvidia-uvm; only some profiles need
/// the other nodes, and the profile of the specs is unknown here.
Level level_of(Fault fault) {
  return fault == Fault::uvm_node || fault == Fault::uvm_module ? Level::fault : Level::note;
}

/// The numbers of NVIDIA nodes without a link in /dev/char, because udev does not know these nodes.
std::set<std::string> nodes_without_link(const tools::HostTree& tree,
                                         const std::vector<Inventory>& inventories) {
  std::set<std::string> missing;
  const auto collect = [&](const std::vector<Node>& nodes) {
    for (const auto& node : nodes) {
      const auto number = fmt::format("{}:{}", node.major, node.minor);
      const bool is_nvidia = node.path.starts_with("/dev/nvidia");
      if (is_nvidia && !tree.exists("/dev/char/" + number)) missing.insert(number);
    }
  };
  for (const auto& found : inventories) {
    collect(found.control_nodes);
    for (const auto& gpu : found.gpus) {
      for (const auto& share : gpu.shares()) collect(share.nodes);
    }
  }
  return missing;
}

}  // namespace

void check_inventory(const Inventory& found, const std::string& make_nodes, Findings& findings) {
  const auto before = findings.size();
  const auto add = [&](Level level, const std::string& what, Fault fault) {
    findings.push_back(
        {level, found.kind, what, remedy_for(fault, make_nodes), meaning_of(fault).code});
  };
  if (found.not_ready) {
    add(Level::fault, "not ready: " + found.not_ready->text, found.not_ready->fault);
  }
  for (const auto& gpu : found.gpus) check_gpu(gpu, make_nodes, findings);
  std::set<Fault> reported;  // nodes of one module share a fault
  for (const auto& node : found.missing) {
    if (node.problem.fault == Fault::modeset_module) continue;  // often left out on servers
    if (!reported.insert(node.problem.fault).second) continue;
    add(level_of(node.problem.fault), node.problem.text, node.problem.fault);
  }
  for (const auto& one : found.warnings) add(level_of(one.fault), one.text, one.fault);
  if (findings.size() > before) return;
  findings.push_back(
      {Level::good,
       found.kind,
       fmt::format("{} of {} can be handed out", found.usable_count(), found.total_count()),
       {}});
}

void check_char_links(const tools::HostTree& tree, const std::vector<Inventory>& inventories,
                      Findings& findings) {
  if (!tools::engines::has_program(tree, "runc") || !tree.exists("/run/systemd/system")) return;
  const auto missing = nodes_without_link(tree, inventories);
  if (missing.empty()) return;
  findings.push_back(
      {Level::note, "/dev/char",
       fmt::format(
           "NVIDIA nodes without a link: {} (the first is {}). With runc and systemd's cgroups, "
           "containers lose access to them on systemctl daemon-reload",
           missing.size(), *missing.begin()),
       "Create the links: nvidia-ctk system create-dev-char-symlinks --create-all, or ln -s "
       "../NODE /dev/char/MAJOR:MINOR at each boot."});
}

}  // namespace prepare::doctor
