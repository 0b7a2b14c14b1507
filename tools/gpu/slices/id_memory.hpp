// Remembers the ids of GPUs whose driver does not report them now.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <map>
#include <string>
#include <tuple>

#include "../model/gpu.hpp"
#include "../survey/survey.hpp"

namespace prepare {

/// Remembers the ids of GPUs, for a program that surveys a host again and again. A GPU that fails
/// or is bound to another driver keeps its name in Kubernetes, and gets a taint.
class IdMemory {
 public:
  /// Learns the ids in a survey, and fills in missing ids from the GPU that had the same address
  /// and the same vendor and device numbers.
  void complete(Survey& survey) {
    for (auto& inventory : survey.inventories) {
      for (auto& gpu : inventory.gpus) {
        if (gpu.pci_address.empty()) continue;
        auto& id = ids_[{inventory.kind, gpu.pci_address, gpu.pci_id}];
        if (!gpu.id.empty()) {
          id = gpu.id;
        } else if (gpu.whole.left_out && !is_used(inventory, id)) {
          gpu.id = id;
        }
      }
    }
  }

 private:
  /// Whether a GPU has an id now: it was moved to another place.
  static bool is_used(const Inventory& inventory, const std::string& id) {
    for (const auto& gpu : inventory.gpus) {
      if (gpu.id == id) return true;
    }
    return false;
  }

  std::map<std::tuple<std::string, std::string, std::string>, std::string> ids_{};
};

}  // namespace prepare
