// Reports what devices added to a container, and whether specs and host still provide it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "bundle_report.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../../kit/base/text.hpp"

namespace {

std::string_view word_of(std::string_view kind) {
  if (kind == "env") return "variable";
  if (kind == "deviceNodes") return "device node";
  if (kind == "netDevices") return "interface";
  if (kind == "mounts") return "mount";
  if (kind == "intelRdt") return "Intel RDT";
  return kind == "hooks" ? "hook" : "group";
}

std::string_view effect_of(const tools::HostFault& fault) {
  using Effect = tools::HostFault::Effect;
  if (fault.effect == Effect::unknown) return "not checked";
  return fault.effect == Effect::fails ? "will fail" : "may fail";
}

}  // namespace

BundleReport::BundleReport(const cdi::Document& config, const cdi::oci::Spec& spec,
                           const std::vector<cdi::RequestedDevice>& requests,
                           const cdi::Registry& registry, const HostView* host, bool dirs_named)
    : config_{config}, search_{spec}, devices_{search_.find(registry)} {
  for (const auto& dir : registry.dirs()) dirs_.push_back(dir.path);
  if (host != nullptr) examine(*host);
  judge();
  if (host != nullptr) advise(*host, dirs_named);
  write_devices();
  write_requests(requests, registry);
  write_others();
  write_end();
}

bool BundleReport::has(std::string_view name) const {
  return std::any_of(devices_.begin(), devices_.end(), [&name](const auto& device) {
    return std::find(device.names.begin(), device.names.end(), name) != device.names.end();
  });
}

void BundleReport::examine(const HostView& host) {
  faults_.clear();
  const auto host_paths = host_paths_of_nodes();
  for (std::size_t i = 0; i < search_.entries().size(); ++i) {
    const auto& entry = search_.entries()[i];
    auto edit = entry.edit;
    for (auto& node : edit.device_nodes) {
      if (const auto known = host_paths.find(i); known != host_paths.end()) {
        node.host_path = known->second;
      }
    }
    auto found = host.faults(edit);
    for (auto& fault : found) {
      fault.error.where = entry.where;
      fault.error.position = config_.locate(entry.where);
    }
    faults_.push_back(std::move(found));
  }
}

std::map<std::size_t, std::string> BundleReport::host_paths_of_nodes() const {
  std::map<std::size_t, std::string> paths;
  for (const auto& device : devices_) {
    for (const auto& match : device.matches) {
      if (match.state != State::same && match.state != State::differs) continue;
      for (const auto& node : match.edit.edit.device_nodes) {
        paths.emplace(match.entry, node.host_path);
      }
    }
  }
  return paths;
}

bool BundleReport::is_known(const tools::HostFault& fault) {
  return fault.effect != tools::HostFault::Effect::unknown;
}

bool BundleReport::is_broken(std::size_t entry) const {
  const auto& faults = faults_[entry];
  return std::any_of(faults.begin(), faults.end(), is_known);
}

void BundleReport::judge() {
  faults_.resize(search_.entries().size());
  has_device_.resize(search_.entries().size());
  for (const auto& device : devices_) {
    for (const auto& match : device.matches) {
      const bool is_right = match.state == State::same || match.state == State::replaced;
      record_.holds = record_.holds && is_right;
      if (match.state == State::absent) continue;
      has_device_[match.entry] = true;
      const bool is_stale = match.state == State::same && is_broken(match.entry);
      if (is_stale) stale_.push_back(device.spec);
    }
  }
  for (std::size_t i = 0; i < faults_.size(); ++i) record_.holds = record_.holds && !is_broken(i);
}

void BundleReport::advise(const HostView& host, bool dirs_named) {
  for (const auto* const spec : stale_) {
    auto one = host.advice_on(*spec, dirs_named);
    if (std::count(advice_.begin(), advice_.end(), one) == 0) advice_.push_back(std::move(one));
  }
}

void BundleReport::write_devices() {
  record_.config = config_.root().position().file;
  for (const auto& device : devices_) {
    const auto names = tools::listed(device.names);
    text_ += fmt::format("{}: {}:{}: {} of {} edits in the container\n", names,
                         printable(device.spec->path), device.position.line,
                         device.count(State::same), device.matches.size());
    FoundDevices found{device.names, device.spec->path, device.position.line};
    for (const auto& match : device.matches) found.edits.push_back(write_match(device, match));
    record_.devices.push_back(std::move(found));
  }
  if (!devices_.empty()) return;
  text_ += fmt::format("no device of these directories is in the container: {}\n",
                       printable(tools::listed(dirs_)));
}

BundleEdit BundleReport::write_match(const BundleDevice& device, const BundleMatch& match) {
  const auto at = device.spec->locate(match.edit.where);
  const auto name = name_of(match.edit);
  const auto place = fmt::format("{}:{}", printable(at.file), at.line);
  BundleEdit record{.kind = match.edit.kind,
                    .key = match.edit.key,
                    .where = match.edit.where,
                    .file = at.file,
                    .line = at.line,
                    .state = edit_states[static_cast<std::size_t>(match.state)]};
  if (match.state == State::absent) {
    text_ += fmt::format("  not in the container: {}: {}\n", name, place);
    return record;
  }
  const auto& entry = search_.entries()[match.entry];
  text_ += fmt::format("  {}: {}: {}\n", entry.where, name, place);
  record.in_config = entry.where;
  if (match.state == State::replaced) {
    text_ += fmt::format("    replaced by {}\n", tools::listed(match.replaced_by));
    record.replaced_by = match.replaced_by;
    return record;
  }
  if (match.state == State::differs) {
    text_ += fmt::format("    differs: the container has {}, the spec has {}\n",
                         cdi::quoted(entry.value), cdi::quoted(match.edit.value));
    record.container = entry.value;
    record.spec = match.edit.value;
  }
  record.host_faults = write_faults(match.entry);
  return record;
}

void BundleReport::write_requests(const std::vector<cdi::RequestedDevice>& requests,
                                  const cdi::Registry& registry) {
  for (const auto& one : requests) write_request(one, has(one.name), registry);
}

void BundleReport::write_request(const cdi::RequestedDevice& request, bool is_there,
                                 const cdi::Registry& registry) {
  const bool is_known = registry.find(request.name).device != nullptr;
  record_.holds = record_.holds && is_there;
  text_ += fmt::format("requested by annotation {}: {}{}\n", printable(request.key),
                       printable(request.name),
                       is_there   ? ""
                       : is_known ? ": not in the container with the nodes of its spec"
                                  : ": no spec defines it now");
  record_.requests.push_back({request.name, request.key, is_there, is_known});
}

Records BundleReport::write_faults(std::size_t entry) {
  Records out;
  for (const auto& fault : faults_[entry]) {
    text_ += fmt::format("    {}: {}\n", effect_of(fault), to_string(fault.error));
    const bool fails = fault.effect == tools::HostFault::Effect::fails;
    out.push_back(error_record(fails ? "error" : "warning", fault.error));
  }
  return out;
}

void BundleReport::write_others() {
  for (std::size_t i = 0; i < search_.entries().size(); ++i) {
    const auto& entry = search_.entries()[i];
    const bool is_text =
        entry.kind == "env" || entry.kind == "additionalGids" || entry.kind == "intelRdt";
    if (has_device_[i] || is_text || (entry.kind == "mounts" && faults_[i].empty())) continue;
    text_ += fmt::format("of no known device: {}: {}\n", entry.where, name_of(entry));
    record_.others.push_back({entry.kind, entry.key, entry.where, write_faults(i)});
  }
}

void BundleReport::write_end() {
  if (record_.holds) return;
  for (const auto& one : advice_) record_.advice += one + "; then ";
  record_.advice += "create the container again, so that it gets what the specs say now";
  text_ += fmt::format("fix: {}\n", record_.advice);
}

std::string BundleReport::name_of(const BundleEntry& entry) {
  return fmt::format("{} {}", word_of(entry.kind), printable(entry.key));
}
