// Makes the specs for a survey, and lists the omitted devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <cdi/versions.hpp>

#include "../../kit/host/host_tree.hpp"
#include "../base/options.hpp"
#include "../model/gpu.hpp"
#include "../survey/survey.hpp"
#include "gpu_edits.hpp"
#include "verify.hpp"

namespace prepare {

/// The spec of a kind, and the parts that were left out.
struct PreparedSpec {
  std::string file_name{};
  cdi::Spec spec{};
  std::string options_comment{};    // the options, if the version has no annotations
  std::vector<LeftOut> left_out{};  // by `verify`
  std::vector<std::string> warnings{};
  bool converted = false;           // to a version that cannot express all of it
  std::vector<cdi::Loss> losses{};  // the parts that the version cannot express
};

/// The options for specs, from the command line and the host's hooks.
SpecOptions spec_options(const tools::HostTree& tree, const Options& options);

/// The first CDI version with annotations, which record the owner of a JSON file.
inline constexpr cdi::SpecVersion first_with_annotations{0, 6, 0};

/// Whether specs have annotations with these options.
bool has_annotations(const Options& options);

/// Why spec files cannot have the chosen format; nullopt if they can. YAML has comments for the
/// owner, which a version without annotations cannot record.
std::optional<cdi::Error> format_fault(const Options& options);

/// Sets the version of a spec to the oldest version, from `lowest` on, that can express it. If that
/// is newer than `max_version`, the spec is converted to `max_version`.
cdi::Result<void> settle_version(PreparedSpec& prepared,
                                 const std::optional<cdi::SpecVersion>& max_version,
                                 cdi::SpecVersion lowest = {});

/// Warnings about nodes that `shared_edits` omits.
std::vector<std::string> node_warnings(const Inventory& found, const SpecOptions& holds);

/// The GPUs and partitions that detection left out.
std::vector<LeftOut> left_out(const Inventory& found);

/// The distinct losses with their counts and without places: all names of a GPU have the same
/// losses.
std::map<std::string, std::size_t> grouped(const std::vector<cdi::Loss>& losses);

/// The specs for a host.
struct PreparedSpecs {
  std::vector<PreparedSpec> specs{};
  std::vector<LeftOut> left_out{};
  std::vector<cdi::Error> failed{};                  // why a kind has no spec
  std::set<std::string> files_that_stay{};           // of kinds that are usable or not ready yet,
                                                     // in both formats
  std::map<std::string, std::string> old_numbers{};  // why such a file is removed
  std::string hooks_fault{};                         // empty if there is none

  bool is_converted() const;
};

/// Why `--hooks nvidia` has no effect or only part of it; empty if it has its full effect.
std::string hooks_fault(const Options& options, const SpecOptions& holds);

PreparedSpecs prepare_specs(const Survey& survey, const Options& options);

}  // namespace prepare
