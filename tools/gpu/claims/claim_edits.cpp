// The spec of a claim, with a device for each of its GPUs and partitions.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "claim_edits.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../kit/host/host_tree.hpp"
#include "../cdi_specs/gpu_edits.hpp"
#include "../cdi_specs/old_numbers.hpp"
#include "../cdi_specs/verify.hpp"
#include "claim.hpp"
#include "claim_places.hpp"

namespace prepare {

namespace {

/// The indexes of the devices that carry a kind's hooks: the first device for all requests, or
/// otherwise the first device of each request. A container gets all devices of a request, so each
/// hook runs once.
std::set<std::size_t> devices_with_hooks(const Claim& claim, std::string_view kind) {
  std::map<std::string, std::size_t> first;  // by request
  for (std::size_t i = 0; i < claim.devices.size(); ++i) {
    const auto& device = claim.devices[i];
    const auto request = device.request.substr(0, device.request.find('/'));
    if (gpu_of(device).kind == kind) first.try_emplace(request, i);
  }
  if (const auto for_all = first.find(""); for_all != first.end()) return {for_all->second};
  std::set<std::size_t> out;
  for (const auto& [request, index] : first) out.insert(index);
  return out;
}

/// Adds the edits that all devices of a kind need. In a claim with several kinds, each device gets
/// these edits, because a container may get only the devices of one request, and thus of one kind.
/// As few devices as possible get hooks, because runtimes do not merge hooks.
void add_shared_edits(cdi::Spec& spec, const Claim& claim, std::string_view kind,
                      const cdi::ContainerEdits& edits, std::size_t kind_count) {
  if (kind_count == 1) return merge(spec.container_edits, edits);
  auto without_hooks = edits;
  without_hooks.hooks.clear();
  const auto with_hooks = devices_with_hooks(claim, kind);
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    if (gpu_of(claim.devices[i]).kind != kind) continue;
    merge(spec.devices[i].container_edits, with_hooks.contains(i) ? edits : without_hooks);
  }
}

/// Rejects versions without annotations, in which the JSON specs of claims record their owner.
cdi::Result<void> check_spec_version(const Options& options) {
  if (has_annotations(options)) return {};
  const auto needed = cdi::to_string(first_with_annotations);
  cdi::Error error{.code = cdi::Errc::unsupported,
                   .message = fmt::format("the spec of a claim records its owner, which needs CDI "
                                          "{}",
                                          needed),
                   .advice = fmt::format("give --max-version {} or newer", needed)};
  if (!options.oldest_engine.empty()) {
    error.message += fmt::format(", and {} reads only {}", options.oldest_engine,
                                 cdi::to_string(*options.max_version));
    error.advice = "update that engine, or pass the engines that will read the spec with --for";
  }
  return error;
}

/// Rejects a spec if this host cannot provide all of it.
cdi::Result<void> check_on_host(const tools::HostTree& tree, const cdi::Spec& spec,
                                const Claim& claim) {
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    if (const auto fault = fault_of(tree, spec.devices[i].container_edits)) {
      return device_error(claim.devices[i].name, fault->error.message, cdi::Errc::host);
    }
  }
  const auto fault = fault_of(tree, spec.container_edits);
  if (!fault) return {};
  return cdi::Error{.code = cdi::Errc::host,
                    .message = fmt::format("{}: {}", spec.kind, fault->error.message)};
}

}  // namespace

std::map<std::string, std::string> kept_options(const Options& options) {
  const auto version = options.given_version();
  std::map<std::string, std::string> out{
      {"profile", options.profile},
      {"hooks", options.hooks},
      {"node_numbers", options.ask_host() ? "asked" : "given"},
      {"ld_library_path", options.ld_library_path ? "yes" : "no"},
      {"max_version", version ? cdi::to_string(*version) : "none"}};
  record_place(out, options);
  return out;
}

Options options_of(const Claim& claim, Options options) {
  options.profile = kept_option(claim, "profile");
  options.hooks = kept_option(claim, "hooks");
  options.node_numbers = kept_option(claim, "node_numbers");
  options.ld_library_path = kept_option(claim, "ld_library_path") == "yes";
  const auto version = cdi::parse_spec_version(kept_option(claim, "max_version"));
  if (version != options.max_version) options.oldest_engine.clear();
  options.max_version = version;
  if (!claim.spec_dir.empty()) options.output_dir = claim.spec_dir;
  return options;
}

cdi::Result<std::vector<FoundDevice>> find_again(const Survey& survey, const Claim& claim) {
  std::vector<FoundDevice> out;
  for (const auto& claimed : claim.devices) {
    auto found = find_again(survey, gpu_of(claimed));
    if (!found) return std::move(found).error();
    out.push_back(std::move(*found));
  }
  return out;
}

std::optional<std::string> fault_in(const cdi::Spec& spec, const Claim& claim,
                                    const std::vector<FoundDevice>& found) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto name = claim.device_name(i);
    const auto device = std::find_if(spec.devices.begin(), spec.devices.end(),
                                     [&](const auto& one) { return one.name == name; });
    if (device == spec.devices.end()) return fmt::format("it has no device {}", name);
    const auto& control = found[i].whole.inventory->control_nodes;
    auto fault = renumbered(device->container_edits, found[i].share.nodes);
    if (!fault) fault = renumbered(device->container_edits, control);
    if (!fault) fault = renumbered(spec.container_edits, control);
    if (fault) return fault;
  }
  return std::nullopt;
}

cdi::Result<PreparedSpec> claim_spec(const Survey& survey, const Claim& claim,
                                     const std::vector<FoundDevice>& found,
                                     const Options& options) {
  if (auto good = check_spec_version(options); !good) return std::move(good).error();
  const auto holds = spec_options(survey.tree, options);
  cdi::Spec spec{.kind = claim.kind};
  std::set<std::string, std::less<>> kinds;
  std::vector<std::string> warnings;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& claimed = claim.devices[i];
    auto edits = share_edits(found[i].share, holds);
    if (edits.device_nodes.empty()) {
      return device_error(claimed.name,
                          "it has no node for this --profile: request another device");
    }
    spec.devices.push_back({.name = claim.device_name(i), .container_edits = std::move(edits)});
    kinds.insert(gpu_of(claimed).kind);
  }
  for (const auto& inventory : survey.inventories) {
    if (!kinds.contains(inventory.kind)) continue;
    if (const auto reason = reason_not_ready(inventory, holds.profiles)) {
      return cdi::Error{.code = cdi::Errc::host,
                        .message = fmt::format("{}: {}", inventory.kind, reason->text)};
    }
    add_shared_edits(spec, claim, inventory.kind, shared_edits(inventory, holds), kinds.size());
    const auto more = node_warnings(inventory, holds);
    warnings.insert(warnings.end(), more.begin(), more.end());
  }
  if (auto good = check_on_host(survey.tree, spec, claim); !good) return std::move(good).error();
  PreparedSpec prepared{.spec = std::move(spec), .warnings = std::move(warnings)};
  auto settled = settle_version(prepared, options.max_version, first_with_annotations);
  if (!settled) return std::move(settled).error();
  return prepared;
}

}  // namespace prepare
