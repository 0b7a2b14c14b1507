// The spec files of `cdi-prepare write`, and when `write` can rewrite them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <cdi/base/shell_word.hpp>
#include <cdi/registry.hpp>
#include <cdi/spec.hpp>

#include "../../kit/cdi_specs/write_command.hpp"
#include "../cdi_specs/lost_libraries.hpp"
#include "../claims/claim.hpp"
#include "../claims/claim_places.hpp"
#include "../model/fault.hpp"
#include "../model/gpu.hpp"
#include "../model/profile.hpp"

namespace prepare::doctor {

/// Whether `cdi-prepare write` wrote a spec file, and may therefore replace it.
inline bool is_ours(const cdi::LoadedSpec& loaded) {
  return loaded.owner() == tools::spec_owner;
}

/// The directory of the claims journal to which a spec belongs, as a path on the host under the
/// root; nullopt for other specs.
inline std::optional<std::string> owner_journal(const tools::HostTree& tree,
                                                const cdi::LoadedSpec& loaded) {
  const std::string owner{loaded.owner()};
  if (!owner.starts_with(claims_owner)) return std::nullopt;
  return on_host(tree, owner.substr(claims_owner.size()));
}

/// A command about the claims in a journal on that host.
inline std::string claim_command(const tools::HostTree& tree, const std::string& command,
                                 const std::string& journal) {
  std::vector<std::string> arguments;
  if (place_of(tree, journal) != place_of(tree, "/var/lib/cdi-prepare")) {
    arguments.push_back("--state-dir " + cdi::shell_word(path_here(tree, journal)));
  }
  return command_with(tree, command, arguments);
}

/// The command `write` with these arguments, which also makes missing nodes.
inline std::string make_nodes_command(const tools::HostTree& tree,
                                      std::vector<std::string> arguments) {
  arguments.emplace_back("--make-nodes");
  return command_with(tree, "write", arguments);
}

/// "Run", for a command that writes the spec of a kind. If GPUs of the kind are not ready,
/// cdi-prepare does not write the spec, so a remedy for that comes first; likewise if the libraries
/// of the present spec, if there is one, are gone. `arguments` belong to the command.
inline std::string run_when_ready(const tools::HostTree& tree, const Inventory* found,
                                  Profiles profiles, const std::vector<std::string>& arguments,
                                  const cdi::LoadedSpec* loaded = nullptr) {
  const auto now = found == nullptr ? std::vector<tools::FileMount>{} : file_mounts(*found);
  const bool has_lost = loaded != nullptr && tools::lost_driver_file(tree, loaded->spec, now);
  auto early = found == nullptr ? std::nullopt : reason_not_ready(*found, profiles);
  const auto is_without = [](const Problem& one) {
    return one.fault == Fault::no_libcuda;
  };
  if (!early && found != nullptr) {
    const auto& known = found->warnings;
    const auto one = std::find_if(known.begin(), known.end(), is_without);
    if (one != known.end()) early = *one;
  }
  if (!early && has_lost) return std::string{tools::libraries_remedy} + " Then run";
  if (!early) return "Run";
  return remedy_for(early->fault, make_nodes_command(tree, arguments)) + " Then run";
}

/// The container profiles for which one of our specs was written.
inline Profiles profiles_of(const tools::HostTree& tree, const cdi::LoadedSpec& loaded) {
  const auto recorded = tools::recorded_options(tree, loaded);
  return recorded ? profiles_named(recorded->profile) : all_profiles;
}

/// The inventory for the kind of a spec; null if the host has no such GPU.
inline const Inventory* inventory_for(const std::vector<Inventory>& inventories,
                                      const cdi::Spec& spec) {
  for (const auto& found : inventories) {
    if (found.kind == spec.kind) return &found;
  }
  return nullptr;
}

}  // namespace prepare::doctor
