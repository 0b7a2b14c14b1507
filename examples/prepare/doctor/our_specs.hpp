// The spec files of `cdi-prepare write`, and how to write one again.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_DOCTOR_OUR_SPECS_HPP
#define CDI_PREPARE_DOCTOR_OUR_SPECS_HPP

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <cdi/dirs/owner_record.hpp>
#include <cdi/publish.hpp>
#include <cdi/registry.hpp>

#include "../base/text.hpp"
#include "../host/host_tree.hpp"
#include "../spec/fingerprint.hpp"
#include "../spec/spec_file.hpp"
#include "spec_dirs.hpp"

namespace prepare::doctor {

/// Whether `cdi-prepare write` wrote the file of a spec, and so replaces it.
inline bool is_ours(const HostTree& tree, const cdi::LoadedSpec& loaded) {
  const auto recorded = loaded.spec.annotations.find(std::string{cdi::owner_annotation});
  if (recorded != loaded.spec.annotations.end()) return recorded->second == spec_owner;
  constexpr std::size_t first_line = 128;
  return cdi::detail::owner_in_comment(tree.first_bytes(loaded.path, first_line)) == spec_owner;
}

/// The words of the options that a spec records, `profile=all` for example; none when it does not
/// record them, or has other text in their place.
inline std::vector<std::string> recorded_options(const cdi::Spec& spec) {
  const auto recorded = spec.annotations.find(std::string{options_annotation});
  if (recorded == spec.annotations.end()) return {};
  constexpr std::string_view characters = "abcdefghijklmnopqrstuvwxyz0123456789=.- ";
  if (recorded->second.find_first_not_of(characters) != std::string::npos) return {};
  return split(recorded->second, " ");
}

/// The arguments with which `cdi-prepare write` writes the file of a spec again.
inline std::vector<std::string> arguments_for(const HostTree& tree, const cdi::LoadedSpec& loaded) {
  const auto directory = loaded.path.substr(0, loaded.path.rfind('/'));
  const bool in_etc = directory.starts_with("/etc/");
  const std::string_view defaults[] = {"profile=all", "hooks=none",
                                       in_etc ? "node-numbers=asked" : "node-numbers=given"};
  std::vector<std::string> arguments;
  for (auto& word : recorded_options(loaded.spec)) {
    if (std::find(std::begin(defaults), std::end(defaults), word) != std::end(defaults)) continue;
    std::replace(word.begin(), word.end(), '=', ' ');
    arguments.push_back("--" + word);
  }
  if (place_of(tree, directory) != place_of(tree, "/var/run/cdi")) {
    arguments.push_back("--output-dir " + directory);
  }
  return arguments;
}

/// A command of cdi-prepare with arguments.
inline std::string command_with(std::string_view command,
                                const std::vector<std::string>& arguments) {
  auto out = fmt::format("`cdi-prepare {}", command);
  for (const auto& argument : arguments) out.append(" ").append(argument);
  return out + "`";
}

}  // namespace prepare::doctor

#endif  // CDI_PREPARE_DOCTOR_OUR_SPECS_HPP
