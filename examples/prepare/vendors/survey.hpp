// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_VENDORS_SURVEY_HPP
#define CDI_PREPARE_VENDORS_SURVEY_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../base/exit_codes.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../gpu/fault.hpp"
#include "../gpu/gpu.hpp"
#include "../gpu/visible.hpp"
#include "../host/host_tree.hpp"
#include "detect.hpp"
#include "nvml.hpp"

namespace prepare {

/// A look at a host: its files, and the GPUs found in them.
struct Survey {
  HostTree tree;
  std::vector<Inventory> inventories{};
  bool complete = true;    // else there may be more GPUs than were found
  std::size_t hidden = 0;  // passed over, since this process may not open them

  std::size_t total_count() const { return sum(&Inventory::total_count); }
  std::size_t usable_count() const { return sum(&Inventory::usable_count); }

 private:
  std::size_t sum(std::size_t (Inventory::*count)() const) const {
    std::size_t out = 0;
    for (const auto& found : inventories) out += (found.*count)();
    return out;
  }
};

/// What NVML has said before.
struct NvmlMemory {
  std::vector<NvmlGpu> gpus{};
  std::string fault{};    // why it has not answered the last time
  bool has_hung = false;  // then it is not asked again: a process that cannot be ended may be left
};

/// Adds what only NVIDIA's library knows, or knew when it last answered.
inline void ask_nvml(std::vector<Inventory>& inventories, const Options& options,
                     NvmlMemory& memory) {
  const auto found =
      std::find_if(inventories.begin(), inventories.end(), [](const Inventory& inventory) {
        return inventory.kind == "nvidia.com/gpu" && !inventory.driver_version.empty();
      });
  if (found == inventories.end()) return;
  if (options.nvml_library.empty() && options.root != "/") {
    found->warnings.push_back({Fault::nvml_of_other_host,
                               "NVML would tell of this host, not of the tree below the root"});
    return;
  }
  NvmlOptions asked;
  if (!options.nvml_library.empty()) asked.library = options.nvml_library;
  if (!memory.has_hung) {
    auto answer = prepare::ask_nvml(asked);
    memory.has_hung = !answer && answer.error().code == cdi::Errc::timeout;
    memory.fault = answer ? std::string{} : cdi::to_string(answer.error());
    if (answer) memory.gpus = std::move(*answer);
  }
  if (!memory.fault.empty()) found->warnings.push_back({Fault::nvml_failed, memory.fault});
  add_nvml(*found, memory.gpus);
}

/// Looks at the host.
inline cdi::Result<Survey> look(const Options& options, NvmlMemory& memory) {
  auto tree = HostTree::open(options.root);
  if (!tree) {
    tree.error().message.insert(0, fmt::format("cannot look at --root {}: ", options.root));
    return std::move(tree).error();
  }
  Survey survey{.tree = std::move(*tree)};
  survey.inventories = detect(survey.tree, survey.complete);
  if (options.nvml) ask_nvml(survey.inventories, options, memory);
  if (options.visible_only) survey.hidden = keep_visible(survey.tree, survey.inventories);
  for (auto& found : survey.inventories) add_driver_files(survey.tree, found);
  return survey;
}

inline cdi::Result<Survey> look(const Options& options) {
  NvmlMemory memory;
  return look(options, memory);
}

/// Why it is too early to do anything with what was found, a line each; empty when it is not.
inline std::vector<std::string> reasons_not_ready(const Survey& survey, const Options& options) {
  std::vector<std::string> reasons;
  for (const auto& found : survey.inventories) {
    if (auto reason = reason_not_ready(found, profiles_named(options.profile)))
      reasons.push_back(found.kind + ": " + reason->text);
  }
  if (const auto count = survey.usable_count(); count < options.expect) {
    reasons.push_back(
        fmt::format("{} of {} GPUs expected can be handed out", count, options.expect));
  }
  return reasons;
}

/// Whether GPUs are between two states: some cannot be handed out, and nobody wants it so.
inline bool is_between_states(const Survey& survey) {
  const auto is_passing = [](const Gpu& gpu) {
    const auto shares = gpu.shares();
    return std::any_of(shares.begin(), shares.end(), [](const Share& share) {
      return share.left_out && !share.left_out->is_lasting();
    });
  };
  const auto& kinds = survey.inventories;
  return std::any_of(kinds.begin(), kinds.end(), [&](const Inventory& found) {
    return found.not_ready || std::any_of(found.gpus.begin(), found.gpus.end(), is_passing);
  });
}

/// Looks at the host until all is ready, or the time to wait for that is over.
inline cdi::Result<Survey> look_until_ready(const Options& options) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds pause{100};
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>{options.wait});
  NvmlMemory memory;
  for (;;) {
    auto survey = look(options, memory);
    if (!survey) return survey;
    const bool ready = reasons_not_ready(*survey, options).empty() && !is_between_states(*survey);
    if (ready) return survey;
    const auto left = end - Clock::now();
    if (left <= left.zero()) return survey;
    std::this_thread::sleep_for(std::min<Clock::duration>(pause, left));
  }
}

/// How a run ends that does all that can be done with what was found.
inline ExitCode judge(const Survey& survey, const Options& options) {
  if (!reasons_not_ready(survey, options).empty()) return ExitCode::not_ready;
  if (survey.inventories.empty()) return ExitCode::done;
  if (survey.usable_count() == 0) return ExitCode::failed;
  return survey.usable_count() < survey.total_count() ? ExitCode::partial : ExitCode::done;
}

/// What is wrong with the GPUs found, for standard error: a line each.
inline std::string complaints(const Survey& survey, const Options& options) {
  std::string out;
  const auto add = [&](std::string_view line) {
    out += complaint(line);
  };
  if (survey.hidden > 0) {
    add(fmt::format("{} GPUs passed over: this process may not open them", survey.hidden));
  } else if (survey.inventories.empty()) {
    add(survey.complete
            ? "no GPU found on this host"
            : "no GPU found on this host, whose PCI bus cannot be read: spec files stay");
  }
  for (const auto& found : survey.inventories) {
    for (const auto& warning : found.warnings) add("warning: " + warning.text);
    for (const auto& node : found.missing) {
      const auto asked = profiles_named(options.profile);
      if (node.profiles.shares(asked) && !node.is_needed_by(asked))
        add("warning: " + node.problem.text);
    }
    for (const auto& gpu : found.gpus) {
      for (const auto& share : gpu.shares()) {
        if (!share.left_out) continue;
        const auto& place = gpu.pci_address.empty() ? gpu.id : gpu.pci_address;
        add(fmt::format("left out: {} GPU {}{}: {}", gpu.vendor, place, share.suffix,
                        share.left_out->text));
      }
    }
  }
  for (const auto& reason : reasons_not_ready(survey, options)) add("not ready: " + reason);
  if (judge(survey, options) == ExitCode::failed) add("error: no GPU can be handed out");
  return out;
}

}  // namespace prepare

#endif  // CDI_PREPARE_VENDORS_SURVEY_HPP
