// The spec files of `cdi-prepare write`, and when it can write one again.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_DOCTOR_OUR_SPECS_HPP
#define CDI_PREPARE_DOCTOR_OUR_SPECS_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <cdi/registry.hpp>
#include <cdi/spec.hpp>

#include "../gpu/fault.hpp"
#include "../gpu/gpu.hpp"
#include "../gpu/profile.hpp"
#include "../spec/write_command.hpp"

namespace prepare::doctor {

/// Whether `cdi-prepare write` wrote the file of a spec, and so replaces it.
inline bool is_ours(const cdi::LoadedSpec& loaded) {
  return loaded.owner() == spec_owner;
}

/// "Run", for a command that writes the spec of a kind. While GPUs of the kind are not ready, which
/// keeps cdi-prepare from writing it, what to do first.
inline std::string run_when_ready(const Inventory* found, Profiles profiles) {
  const auto early = found == nullptr ? std::nullopt : reason_not_ready(*found, profiles);
  return early ? fmt::format("{} Then run", meaning_of(early->fault).remedy) : "Run";
}

/// The profiles of the containers that a spec of ours is for.
inline Profiles profiles_of(const cdi::Spec& spec) {
  constexpr std::string_view key = "profile=";
  for (const auto& word : recorded_options(spec)) {
    if (word.starts_with(key)) return profiles_named(word.substr(key.size()));
  }
  return all_profiles;
}

/// The kind of a spec among those of the host; null when the host has no such GPU.
inline const Inventory* inventory_for(const std::vector<Inventory>& inventories,
                                      const cdi::Spec& spec) {
  for (const auto& found : inventories) {
    if (found.kind == spec.kind) return &found;
  }
  return nullptr;
}

}  // namespace prepare::doctor

#endif  // CDI_PREPARE_DOCTOR_OUR_SPECS_HPP
