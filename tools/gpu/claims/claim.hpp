// The claims of GPUs: what the journal of the library records about each GPU.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/claims.hpp>
#include <cdi/result.hpp>

#include "../host/directories.hpp"

namespace prepare {

using cdi::Claim;
using cdi::ClaimedDevice;

/// A GPU or partition assigned to a claim.
struct ClaimedGpu {
  std::string kind{};         // "nvidia.com/gpu"
  std::string name{};         // the stable name when it was claimed
  std::string id{};           // of the GPU, as in `Gpu`; empty while unknown
  std::string suffix{};       // of the partition; empty for the whole GPU
  std::string division{};     // as in `FoundDevice`; empty while unknown
  std::string pci_address{};  // of the last survey
  std::string pci_id{};       // a different id at that address means another GPU
  bool by_iommufd = false;
};

/// The texts of a claimed GPU, with their names in the journal.
inline constexpr std::pair<const char*, std::string ClaimedGpu::*> gpu_members[] = {
    {"kind", &ClaimedGpu::kind},
    {"id", &ClaimedGpu::id},
    {"suffix", &ClaimedGpu::suffix},
    {"division", &ClaimedGpu::division},
    {"pci_address", &ClaimedGpu::pci_address},
    {"pci_id", &ClaimedGpu::pci_id}};

inline constexpr const char* iommufd_key = "by_iommufd";

/// The GPU of a claim, as the journal records it.
inline ClaimedGpu gpu_of(const ClaimedDevice& device) {
  ClaimedGpu out{.name = device.name};
  for (const auto& [key, member] : gpu_members) {
    const auto found = device.identity.find(key);
    if (found != device.identity.end()) out.*member = found->second;
  }
  const auto by_iommufd = device.identity.find(iommufd_key);
  out.by_iommufd = by_iommufd != device.identity.end() && by_iommufd->second == "true";
  return out;
}

/// Records a GPU in the journal's form.
inline void record(ClaimedDevice& device, const ClaimedGpu& gpu) {
  for (const auto& [key, member] : gpu_members) device.identity[key] = gpu.*member;
  device.identity[iommufd_key] = gpu.by_iommufd ? "true" : "false";
}

/// The owner in a claim's spec: this text and the directory of the journal.
inline constexpr std::string_view claims_owner = "cdi-prepare claims of ";

/// Opens and locks a journal: see `cdi::ClaimJournal`.
inline cdi::Result<cdi::ClaimJournal> open_journal(Directory directory,
                                                   std::chrono::duration<double> timeout) {
  auto journal = cdi::ClaimJournal::open(std::move(directory), timeout);
  if (!journal && journal.error().code == cdi::Errc::denied) {
    journal.error().advice =
        "use another --state-dir, or change its owner and mode with chown and chmod";
  }
  return journal;
}

}  // namespace prepare
