// The spec file of a kind: its owner, and how it is written and removed.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <set>
#include <string>
#include <vector>

#include "../base/options.hpp"
#include "../host/directories.hpp"
#include "../survey/survey.hpp"
#include "prepared_spec.hpp"

namespace prepare {

std::string spec_path(const Options& options, const std::string& name);

bool is_readable_by_all(const std::string& path);

/// The spec with its owner, if its version can record one.
cdi::Spec owned(const PreparedSpec& prepared);

/// Removes our file with the same kind in the other format, whose devices would conflict with those
/// of a new file. Returns whether there was one.
cdi::Result<bool> remove_other_format(const cdi::Publisher& publisher, const std::string& name,
                                      cdi::DryRun dry_run = cdi::DryRun::no);

/// Writes a spec file. It replaces a file of another program only with `--force`.
cdi::Result<cdi::Publication> publish(const Options& options, const PreparedSpec& prepared);

/// Whether the host certainly lacks a kind that was not found: the whole PCI bus was read, no GPU
/// was hidden, and the options select no GPUs.
bool knows_all_kinds(const Survey& survey, const Options& options);

/// Our files that stay: for kinds that are usable or not ready yet, and from runs with another
/// `--kind`.
cdi::Result<std::set<std::string>> files_to_keep(const Directory& directory,
                                                 const PreparedSpecs& prepared,
                                                 const Options& options);

/// One of our files, for a kind without usable GPUs or with a wrong device.
struct Outdated {
  std::string path{};
  std::string reason{};
};

/// The outdated files among the pruned files.
std::vector<Outdated> outdated_among(const cdi::Reconciled& pruned, const Survey& survey,
                                     const PreparedSpecs& prepared);

/// Our files for kinds without usable GPUs.
cdi::Result<std::vector<Outdated>> outdated_files(const Survey& survey,
                                                  const PreparedSpecs& prepared,
                                                  const Options& options);

}  // namespace prepare
