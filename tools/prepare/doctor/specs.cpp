// Checks whether the specs exist and match this host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "specs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../gpu/cdi_specs/fingerprint.hpp"
#include "../../gpu/cdi_specs/old_numbers.hpp"
#include "../../gpu/findings/our_specs.hpp"
#include "../../gpu/findings/spec_dirs.hpp"
#include "../../gpu/model/selection.hpp"
#include "../../gpu/vendor_files/vendor_files.hpp"
#include "../../kit/base/text.hpp"
#include "../../kit/cdi_specs/host_faults.hpp"
#include "../../kit/versions/engine_versions.hpp"

namespace prepare::doctor {

namespace {

/// Devices that several files define, grouped by these files.
using SharedDevices = std::map<std::vector<std::string>, std::vector<std::string>>;

SharedDevices devices_defined_twice(const cdi::Registry& registry) {
  std::map<std::string, std::vector<std::string>> files;  // by device
  for (const auto& spec : registry.specs()) {
    for (const auto& device : spec->spec.devices) {
      files[cdi::qualified_name(spec->spec.kind, device.name)].push_back(spec->path);
    }
  }
  SharedDevices shared;
  for (auto& [device, paths] : files) {
    if (paths.size() > 1) shared[paths].push_back(device);
  }
  return shared;
}

/// The GPUs that a spec was written for, as they are now; nullopt if it was written with options
/// that give them other ids or hide some.
std::optional<std::string> recorded_gpus_now(const Inventory& found,
                                             const tools::WriteOptions& options) {
  if (options.nvml || options.visible_only) return std::nullopt;
  if (options.devices.empty()) return gpu_places(found);
  std::vector<Inventory> selected{found};
  Selection{options.devices}.keep_named(selected);
  return selected.empty() ? "gone" : gpu_places(selected.front());
}

/// How the host has changed since one of our specs was written; nullopt if it has not.
std::optional<std::string> outdated(const tools::HostTree& tree, const Inventory& found,
                                    const cdi::LoadedSpec& loaded) {
  const auto options = tools::recorded_options(tree, loaded).value_or(tools::WriteOptions{});
  const std::pair<std::string_view, std::optional<std::string>> now[] = {
      {driver_annotation, found.driver_version},
      {gpus_annotation, recorded_gpus_now(found, options)},
      {boot_annotation, boot_id(tree)}};
  for (const auto& [key, value] : now) {
    const auto recorded = loaded.spec.annotations.find(key);
    if (recorded == loaded.spec.annotations.end()) continue;
    if (!value || recorded->second == *value) continue;
    const auto name = key.substr(key.find('/') + 1);
    if (key == driver_annotation && value->empty()) {
      return fmt::format("{} was {}, and no module of the driver is loaded now", name,
                         recorded->second);
    }
    if (key == gpus_annotation) {
      if (auto gone = gone_places(recorded->second, *value)) return gone;
    }
    return fmt::format("{} was {}, and is now {}", name, recorded->second, *value);
  }
  return std::nullopt;
}

/// Whether a device of a spec has a node of a GPU.
bool has_node_of(const cdi::Spec& spec, const Inventory& found) {
  std::set<std::string_view> paths;
  for (const auto& gpu : found.gpus) {
    for (const auto& share : gpu.shares()) {
      for (const auto& node : share.nodes) paths.insert(node.path);
    }
  }
  return std::any_of(spec.devices.begin(), spec.devices.end(), [&](const cdi::Device& device) {
    const auto& nodes = device.container_edits.device_nodes;
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](const cdi::DeviceNode& node) { return paths.contains(node.path); });
  });
}

/// Whether a spec has the devices of a kind: under its name, or, as recorded, under the name that
/// `write --kind` gave them. Such a spec has nodes of them, also after a GPU was replaced.
bool has_devices_of(const tools::HostTree& tree, const cdi::LoadedSpec& loaded,
                    const Inventory& found) {
  const auto kinds = kinds_of_specs(found);
  if (std::find(kinds.begin(), kinds.end(), loaded.spec.kind) != kinds.end()) return true;
  if (!is_ours(loaded) || is_own_kind(loaded.spec.kind)) return false;
  const auto recorded = tools::recorded_options(tree, loaded);
  if (!recorded || recorded->kind.empty()) return false;
  const auto gpus = loaded.spec.annotations.find(gpus_annotation);
  return has_node_of(loaded.spec, found) ||
         (gpus != loaded.spec.annotations.end() && gpus->second == gpu_places(found));
}

/// Whether an installed engine that injects CDI devices refuses a spec file.
bool is_rejected(const std::vector<tools::Engine>& engines, const cdi::LoadedSpec& loaded) {
  return std::any_of(engines.begin(), engines.end(), [&](const tools::Engine& engine) {
    return engine.version && engine.state() != tools::Engine::Cdi::off &&
           tools::newest_spec_version_for(engine.of_version()) &&
           tools::rejection_by(engine.of_version(), loaded);
  });
}

/// The arguments that rewrite a spec file. A recorded version stays, unless an engine rejects it.
std::vector<std::string> arguments_to_rewrite(const tools::HostTree& tree,
                                              const std::vector<tools::Engine>& engines,
                                              const cdi::LoadedSpec& loaded) {
  return is_rejected(engines, loaded) ? arguments_without_version(tree, loaded)
                                      : arguments_for(tree, loaded);
}

/// Advice on how to rewrite a spec file.
std::string advice_on_spec(const tools::HostTree& tree, const Inventory* found,
                           const std::vector<tools::Engine>& engines,
                           const cdi::LoadedSpec& loaded) {
  if (const auto journal = owner_journal(tree, loaded)) {
    return fmt::format("Run {}, which rewrites the specs of claims.",
                       claim_command(tree, "list", *journal));
  }
  if (!is_ours(loaded)) {
    const auto owner = loaded.owner();
    return fmt::format(
        "Write the file again with the program that wrote it{}, or remove it: cdi-prepare does not "
        "replace it.",
        owner.empty() ? "" : ", which is " + cdi::quoted(owner));
  }
  const auto arguments = arguments_to_rewrite(tree, engines, loaded);
  return fmt::format("{} {}; {} shows what changes.",
                     run_when_ready(tree, found, profiles_of(tree, loaded), arguments, &loaded),
                     command_with(tree, "write", arguments), command_with(tree, "diff", arguments));
}

/// The recorded devices that no GPU has as a name any more, so that `write` refuses them.
std::vector<std::string> lost_devices(const tools::HostTree& tree,
                                      const std::vector<Inventory>& inventories,
                                      const cdi::LoadedSpec& loaded) {
  const auto recorded = tools::recorded_options(tree, loaded);
  Selection selected{recorded ? recorded->devices : std::vector<std::string>{}};
  const auto is_of_other_kind = [&](const std::string& name) {
    const auto equals = name.find('=');
    const auto has_kind = [&](const Inventory& found) {
      return found.kind == name.substr(0, equals);
    };
    return equals != name.npos && std::none_of(inventories.begin(), inventories.end(), has_kind);
  };
  auto kept = inventories;
  selected.keep_named(kept);
  auto lost = selected.not_found();
  std::erase_if(lost, is_of_other_kind);  // the vendor file was not given to doctor
  return lost;
}

/// Advice on a spec of GPUs that have changed.
std::string advice_on_changed(const tools::HostTree& tree,
                              const std::vector<Inventory>& inventories, const Inventory& found,
                              const std::vector<tools::Engine>& engines,
                              const cdi::LoadedSpec& loaded) {
  const auto lost = lost_devices(tree, inventories, loaded);
  if (lost.empty()) return advice_on_spec(tree, &found, engines, loaded);
  return fmt::format(
      "No device has the name {} any more: write the file again with another --device, which {} "
      "lists, or remove it.",
      tools::listed(lost), command_with(tree, "detect", {}));
}

/// Whether a fault is a missing node that `write --make-nodes` would make.
bool is_node_to_make(const tools::HostFault& fault, const std::vector<Inventory>& inventories) {
  const auto is_it = [&](const Node& node) {
    return !node.is_on_host && fault.missing == node.place();
  };
  const auto has_it = [&](const std::vector<Node>& nodes) {
    return std::any_of(nodes.begin(), nodes.end(), is_it);
  };
  return std::any_of(inventories.begin(), inventories.end(), [&](const Inventory& found) {
    return has_it(found.control_nodes) ||
           std::any_of(found.gpus.begin(), found.gpus.end(), [&](const Gpu& gpu) {
             const auto shares = gpu.shares();
             return std::any_of(shares.begin(), shares.end(),
                                [&](const Share& share) { return has_it(share.nodes); });
           });
  });
}

/// Reports the faults with one effect in a spec: the first fault, with advice on it, and the number
/// of others. Returns whether there is any.
template <typename AdviceOn>
bool report_faults(const tools::HostFaults& faults, tools::HostFault::Effect effect, Level level,
                   const AdviceOn& advice_on, Findings& findings) {
  const tools::HostFault* first = nullptr;
  std::set<std::string> messages;  // devices in a spec often have the same needs
  for (const auto& fault : faults) {
    if (fault.effect != effect) continue;
    if (first == nullptr) first = &fault;
    messages.insert(fault.error.message);
  }
  if (first == nullptr) return false;
  auto text = cdi::to_string(first->error);
  if (messages.size() > 1) text += fmt::format("; and {} more", messages.size() - 1);
  findings.push_back({level, "specs", std::move(text), advice_on(*first)});
  return true;
}

/// Reports what a spec of any program needs and this host lacks.
void check_needs(const tools::HostTree& tree, const std::vector<Inventory>& inventories,
                 const std::vector<tools::Engine>& engines, const cdi::LoadedSpec& loaded,
                 Findings& findings) {
  using Effect = tools::HostFault::Effect;
  const auto faults = all_host_faults(tree, loaded);
  const auto* const kind = inventory_for(inventories, loaded.spec);
  const auto number = kind == nullptr ? std::nullopt : renumbered(loaded.spec, *kind);
  if (faults.empty() && !number) return;
  const auto advice = advice_on_spec(tree, kind, engines, loaded);
  const auto advice_on = [&](const tools::HostFault& fault) {
    if (!is_ours(loaded) || !is_node_to_make(fault, inventories)) return advice;
    return fmt::format("Run {}, which makes the missing nodes.",
                       make_nodes_command(tree, arguments_to_rewrite(tree, engines, loaded)));
  };
  const auto as_root = [](const tools::HostFault&) {
    return "Run doctor as root.";
  };
  bool failed = report_faults(faults, Effect::fails, Level::fault, advice_on, findings);
  if (!failed && number) {
    findings.push_back({Level::fault, "specs", loaded.path + ": " + *number, advice});
    failed = true;
  }
  if (!failed) report_faults(faults, Effect::may_fail, Level::note, advice_on, findings);
  report_faults(faults, Effect::unknown, Level::note, as_root, findings);
}

/// Checks whether the specs of a kind exist, and match the current host. Returns the paths of
/// outdated specs. `arguments` are those with which `write` writes a missing one.
std::set<std::string> check_specs_of(const tools::HostTree& tree, const cdi::Registry& registry,
                                     const std::vector<Inventory>& inventories,
                                     const Inventory& found,
                                     const std::vector<tools::Engine>& engines,
                                     const std::vector<std::string>& arguments,
                                     Findings& findings) {
  bool any = false;
  std::set<std::string> old;
  for (const auto& loaded : registry.specs()) {
    if (!has_devices_of(tree, *loaded, found) || owner_journal(tree, *loaded)) continue;
    any = true;
    const auto reason = outdated(tree, found, *loaded);
    if (!reason) continue;
    old.insert(loaded->path);
    findings.push_back({Level::fault, "specs", loaded->path + ": " + *reason,
                        advice_on_changed(tree, inventories, found, engines, *loaded)});
  }
  if (!any && found.usable_count() > 0) {
    findings.push_back({Level::fault, "specs", "no spec for " + found.kind,
                        fmt::format("{} {}.", run_when_ready(tree, &found, all_profiles, arguments),
                                    command_with(tree, "write", arguments))});
  }
  return old;
}

}  // namespace

void check_specs(const tools::HostTree& tree, const std::vector<Inventory>& inventories,
                 const std::vector<tools::Engine>& engines, const std::vector<std::string>& dirs,
                 const std::vector<std::string>& arguments, Findings& findings) {
  const auto registry = read_specs(tree, dirs);
  std::set<std::string> old;
  for (const auto& found : inventories) {
    old.merge(check_specs_of(tree, registry, inventories, found, engines, arguments, findings));
  }
  for (const auto& spec : registry.specs()) {
    if (!old.contains(spec->path)) check_needs(tree, inventories, engines, *spec, findings);
  }
  for (const auto& file : registry.rejected()) {
    findings.push_back({Level::fault, "specs", cdi::to_string(file->why),
                        "Fix or remove the file. Engines ignore such a file; Kata Containers "
                        "starts no container with a device while it exists."});
  }
  for (const auto& [paths, devices] : devices_defined_twice(registry)) {
    const auto what =
        fmt::format("{} defined in {}", tools::listed(devices, 1), tools::listed(paths));
    const auto winner = registry.find(devices.front());
    if (winner.spec == nullptr) {
      findings.push_back({Level::fault, "specs", what + ": engines inject none of them",
                          "Remove all of these files but one from their directory."});
    } else {
      findings.push_back({Level::note, "specs", what + ": engines use " + winner.spec->path,
                          "Remove the wrong file. An old file in /etc/cdi takes effect again once "
                          "the other file is removed."});
    }
  }
}

}  // namespace prepare::doctor
