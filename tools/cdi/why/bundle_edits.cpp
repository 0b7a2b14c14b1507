// Finds the edits of devices that an OCI config contains.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "bundle_edits.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <cdi/base/path.hpp>

namespace {

std::string node_value(std::string_view type, std::int64_t major, std::int64_t minor) {
  return major == 0 ? "" : fmt::format("{} {}:{}", type == "u" ? "c" : type, major, minor);
}

std::string hook_key(std::string_view point, std::string_view path,
                     const std::vector<std::string>& args) {
  std::string key{point};
  key.append(" ").append(path);
  for (std::size_t i = 1; i < args.size(); ++i) key.append(" ").append(args[i]);
  return key;
}

void add_variables(const std::vector<std::string>& variables, std::string_view outer,
                   std::vector<BundleEntry>& out) {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const auto equals = std::min(variables[i].find('='), variables[i].size());
    const auto value = std::min(equals + 1, variables[i].size());
    out.push_back({"env", variables[i].substr(0, equals), variables[i].substr(value),
                   fmt::format("{}[{}]", outer, i)});
  }
}

void add_groups(const std::vector<std::uint32_t>& groups, std::string_view outer,
                std::vector<BundleEntry>& out) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] == 0) continue;  // ignored by injections
    out.push_back(
        {"additionalGids", std::to_string(groups[i]), {}, fmt::format("{}[{}]", outer, i)});
  }
}

void add_hooks(cdi::oci::Hooks hooks, std::vector<BundleEntry>& out) {
  for (std::size_t p = 0; p < cdi::oci::hook_point_names.size(); ++p) {
    const auto point = cdi::oci::hook_point_names[p];
    const auto& list = hooks.at(static_cast<cdi::oci::HookPoint>(p));
    for (std::size_t i = 0; i < list.size(); ++i) {
      cdi::Hook hook{.hook_name = std::string{point}, .path = list[i].path, .args = list[i].args};
      out.push_back({"hooks",
                     hook_key(point, hook.path, hook.args),
                     {},
                     fmt::format("hooks.{}[{}]", point, i),
                     {.hooks = {hook}}});
    }
  }
}

/// The Intel RDT settings of a config as text, each with its name.
std::string rdt_value(const cdi::oci::LinuxIntelRdt& rdt) {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    text.append(text.empty() ? "" : ", ").append(name).append(" ").append(value);
  };
  add("closID", rdt.clos_id);
  add("l3CacheSchema", rdt.l3_cache_schema);
  add("memBwSchema", rdt.mem_bw_schema);
  add("schemata", fmt::format("{}", fmt::join(rdt.schemata, ";")));
  add("enableMonitoring", rdt.enable_monitoring ? "true" : "");
  return text;
}

/// The Intel RDT settings that an injection of a spec writes.
std::string rdt_value(const cdi::IntelRdt& rdt) {
  return rdt_value(
      cdi::oci::LinuxIntelRdt{.clos_id = rdt.clos_id,
                              .schemata = rdt.schemata.value_or(std::vector<std::string>{}),
                              .l3_cache_schema = rdt.l3_cache_schema,
                              .mem_bw_schema = rdt.mem_bw_schema,
                              .enable_monitoring = rdt.monitors()});
}

void add_linux(const cdi::oci::Linux& linux_, std::vector<BundleEntry>& out) {
  for (std::size_t i = 0; i < linux_.devices.size(); ++i) {
    const auto& node = linux_.devices[i];
    cdi::DeviceNode edit{
        .path = node.path, .type = node.type, .major = node.major, .minor = node.minor};
    out.push_back({"deviceNodes",
                   cdi::clean_path(node.path),
                   node_value(node.type, node.major, node.minor),
                   fmt::format("linux.devices[{}]", i),
                   {.device_nodes = {edit}}});
  }
  for (const auto& [host, device] : linux_.net_devices) {
    out.push_back(
        {"netDevices", host, device.name.empty() ? host : device.name, "linux.netDevices." + host});
  }
  if (linux_.intel_rdt) {
    out.push_back({"intelRdt", "settings", rdt_value(*linux_.intel_rdt), "linux.intelRdt"});
  }
}

/// The entries of a config that devices may have made.
std::vector<BundleEntry> entries_of(const cdi::oci::Spec& config) {
  std::vector<BundleEntry> out;
  if (config.process) {
    add_variables(config.process->env, "process.env", out);
    add_groups(config.process->user.additional_gids, "process.user.additionalGids", out);
  }
  if (config.linux_) add_linux(*config.linux_, out);
  for (std::size_t i = 0; i < config.mounts.size(); ++i) {
    const auto& mount = config.mounts[i];
    cdi::Mount edit{.host_path = mount.source,
                    .container_path = mount.destination,
                    .options = mount.options,
                    .type = mount.type};
    out.push_back({"mounts",
                   cdi::clean_path(mount.destination),
                   mount.source,
                   fmt::format("mounts[{}]", i),
                   {.mounts = {edit}}});
  }
  if (config.hooks) add_hooks(*config.hooks, out);
  return out;
}

/// The edits of a device, or of a spec for all its devices; `outer` is their path in the spec.
std::vector<BundleEntry> entries_of(const cdi::ContainerEdits& edits, const std::string& outer) {
  std::vector<BundleEntry> out;
  add_variables(edits.env, outer + ".env", out);
  for (std::size_t i = 0; i < edits.device_nodes.size(); ++i) {
    const auto& node = edits.device_nodes[i];
    out.push_back({"deviceNodes",
                   cdi::clean_path(node.path),
                   node_value(node.type, node.major, node.minor),
                   fmt::format("{}.deviceNodes[{}]", outer, i),
                   {.device_nodes = {node}}});
  }
  for (std::size_t i = 0; i < edits.net_devices.size(); ++i) {
    const auto& device = edits.net_devices[i];
    out.push_back({"netDevices", device.host_interface_name, device.name,
                   fmt::format("{}.netDevices[{}]", outer, i)});
  }
  for (std::size_t i = 0; i < edits.mounts.size(); ++i) {
    const auto& mount = edits.mounts[i];
    out.push_back({"mounts", cdi::clean_path(mount.container_path), mount.host_path,
                   fmt::format("{}.mounts[{}]", outer, i)});
  }
  for (std::size_t i = 0; i < edits.hooks.size(); ++i) {
    const auto& hook = edits.hooks[i];
    out.push_back({"hooks",
                   hook_key(hook.hook_name, hook.path, hook.args),
                   {},
                   fmt::format("{}.hooks[{}]", outer, i)});
  }
  if (edits.intel_rdt) {
    out.push_back({"intelRdt", "settings", rdt_value(*edits.intel_rdt), outer + ".intelRdt"});
  }
  add_groups(edits.additional_gids, outer + ".additionalGids", out);
  return out;
}

}  // namespace

std::size_t BundleDevice::count(BundleMatch::State state) const {
  return static_cast<std::size_t>(std::count_if(
      matches.begin(), matches.end(), [&](const auto& one) { return one.state == state; }));
}

BundleSearch::BundleSearch(const cdi::oci::Spec& config) : entries_{entries_of(config)} {
  for (std::size_t i = 0; i < entries_.size(); ++i) places_[key_of(entries_[i])].push_back(i);
}

std::vector<BundleDevice> BundleSearch::find(const cdi::Registry& registry) const {
  std::vector<BundleDevice> found;
  std::set<const cdi::LoadedSpec*> seen;
  for (const auto& name : registry.devices()) {
    const auto device = registry.find(name);
    if (add(name, device, found) && seen.insert(device.spec).second) {
      add_shared(*device.spec, found);
    }
  }
  mark_replaced(found);
  return found;
}

bool BundleSearch::add(const std::string& name, const cdi::ResolvedDevice& device,
                       std::vector<BundleDevice>& found) const {
  const auto& edits = device.device->container_edits;
  for (auto& other : found) {
    if (other.spec != device.spec || !(*other.edits == edits)) continue;
    other.names.push_back(name);
    return false;
  }
  const auto outer = fmt::format("devices[{}].containerEdits", device.index());
  auto matches = compare(entries_of(edits, outer));
  if (!is_there(matches)) return false;
  found.push_back({{name}, device.spec, &edits, device.position(), std::move(matches)});
  return true;
}

void BundleSearch::add_shared(const cdi::LoadedSpec& spec, std::vector<BundleDevice>& found) const {
  const auto& edits = spec.spec.container_edits;
  auto matches = compare(entries_of(edits, "containerEdits"));
  if (matches.empty()) return;
  found.push_back(
      {{spec.spec.kind}, &spec, &edits, spec.locate("containerEdits"), std::move(matches)});
}

void BundleSearch::mark_replaced(std::vector<BundleDevice>& found) {
  std::map<Key, std::vector<const BundleDevice*>> owners;  // of matching entries
  for (const auto& device : found) {
    for (const auto& match : device.matches) {
      if (match.state != BundleMatch::State::same) continue;
      auto& all = owners[key_of(match.edit)];
      if (all.empty() || all.back() != &device) all.push_back(&device);
    }
  }
  for (auto& device : found) {
    for (auto& match : device.matches) {
      if (match.state != BundleMatch::State::differs) continue;
      for (const auto* const other : owners[key_of(match.edit)]) {
        match.state = BundleMatch::State::replaced;
        match.replaced_by.insert(match.replaced_by.end(), other->names.begin(), other->names.end());
      }
    }
  }
}

std::vector<BundleMatch> BundleSearch::compare(std::vector<BundleEntry> edits) const {
  std::vector<BundleMatch> matches;
  for (auto& edit : edits) {
    BundleMatch match{.edit = std::move(edit)};
    if (const auto found = places_.find(key_of(match.edit)); found != places_.end()) {
      place(match, found->second);
    }
    matches.push_back(std::move(match));
  }
  return matches;
}

void BundleSearch::place(BundleMatch& match, const Places& places) const {
  for (const auto i : places) {
    match.entry = i;
    match.state =
        is_same(match.edit, entries_[i]) ? BundleMatch::State::same : BundleMatch::State::differs;
    if (match.state == BundleMatch::State::same) return;
  }
}

bool BundleSearch::is_same(const BundleEntry& edit, const BundleEntry& entry) {
  if (edit.kind == "deviceNodes" && edit.value.empty()) return true;
  return edit.value == entry.value;
}

bool BundleSearch::is_there(const std::vector<BundleMatch>& matches) {
  using State = BundleMatch::State;
  const auto is_node = [](const auto& one) {
    return one.edit.kind == "deviceNodes";
  };
  const bool has_nodes = std::any_of(matches.begin(), matches.end(), is_node);
  return !matches.empty() && std::all_of(matches.begin(), matches.end(), [&](const auto& one) {
    if (has_nodes) return !is_node(one) || one.state != State::absent;
    return one.state == State::same;
  });
}
