// A survey: the state of a host at one time, and its GPUs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../kit/host/host_tree.hpp"
#include "../base/options.hpp"
#include "../model/gpu.hpp"
#include "../vendor_files/vendor_devices.hpp"
#include "../vendors/nvml.hpp"

namespace prepare {

/// The state of a host at one time, and its GPUs.
struct Survey {
  tools::HostTree tree;
  std::vector<Inventory> inventories{};
  bool complete = true;                     // otherwise there may be undetected GPUs
  std::vector<std::string> unreadable{};    // PCI functions that may also be GPUs
  std::size_t hidden = 0;                   // GPUs that this process may not open
  std::vector<std::string> not_found{};     // names in `devices` that no GPU has
  std::vector<std::string> faults{};        // why devices may exist that were not found
  std::vector<std::string> vendor_kinds{};  // of vendor files, with and without devices here
  std::vector<AbsentKind> absent{};         // that options or vendor files name
  std::vector<std::string> place{};         // arguments with which commands survey the same place

  std::size_t total_count() const { return sum(&Inventory::total_count); }
  std::size_t usable_count() const { return sum(&Inventory::usable_count); }

  /// What its devices are called, for people: GPUs, unless some are from vendor files.
  std::string_view noun() const;

 private:
  std::size_t sum(std::size_t (Inventory::*count)() const) const;
};

/// The last answer of NVML.
struct NvmlMemory {
  std::vector<NvmlGpu> gpus{};
  std::string fault{};    // why the last call failed
  bool has_hung = false;  // no further call: it may have left a process that cannot be killed
};

/// Why NVML cannot be queried about the host of the options; nullopt if it can.
std::optional<cdi::Error> nvml_fault(const SurveyOptions& options);

/// Adds the properties from NVML's current answer, or from its last answer.
void ask_nvml(std::vector<Inventory>& inventories, const SurveyOptions& options,
              NvmlMemory& memory);

/// Why some GPU indexes are unknown; nullopt if all are known.
std::optional<std::string> unreadable_functions(const Survey& survey);

namespace detail {

/// Keeps the GPUs of a kind that have one of `names`.
void keep_named(const std::string& kind, const std::vector<std::string>& names, Survey& survey);

}  // namespace detail

/// Finds the GPUs of the host. Records all that is read in the log of the options, except what NVML
/// reports.
cdi::Result<Survey> survey_host(const SurveyOptions& options, NvmlMemory& memory);

cdi::Result<Survey> survey_host(const SurveyOptions& options);

/// Whether a GPU or a part of it cannot be handed out, for a reason that may pass.
bool has_passing_fault(const Gpu& gpu);

/// Whether GPUs are changing state: some cannot be handed out for reasons that may pass.
bool is_between_states(const Survey& survey);

}  // namespace prepare
