// Explains why a pod has its devices or lacks them, from its claims to its containers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include "name_report.hpp"
#include "pod_facts.hpp"

/// What `cdi why --pod` found, as text and as a record.
struct PodAnswer {
  std::string text{};
  ExplainedPod record{};
  ExitCode code = exit_done;
};

/// Follows the devices of a pod from claim to container. `question` has the CDI names of `facts`.
PodAnswer explain_pod(const PodFacts& facts, const tools::HostTree& tree, Question& question,
                      const SearchedSpecs& specs);
