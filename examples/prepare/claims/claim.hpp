// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_CLAIMS_CLAIM_HPP
#define CDI_PREPARE_CLAIMS_CLAIM_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <cdi/name.hpp>

// A claim: what Kubernetes asks a driver for, and what it was given.

namespace prepare {

/// A GPU, or a partition of one, that a claim has.
struct ClaimedDevice {
  std::string request{};      // of the claim; empty for all of them
  std::string asked{};        // the name by which it was asked for: "1", "all"
  std::string kind{};         // "nvidia.com/gpu"
  std::string name{};         // the first of its names when it was claimed
  std::string id{};           // of the GPU, as in `Gpu`; empty as long as it is unknown
  std::string suffix{};       // of the partition; empty for the whole
  std::string pci_address{};  // where it was the last time
  std::string pci_id{};       // another one at that address is another GPU
  bool by_iommufd = false;

  friend bool operator==(const ClaimedDevice&, const ClaimedDevice&) = default;
};

/// A claim, and how far its preparation has come.
struct Claim {
  enum class Phase : std::uint8_t { preparing, prepared, removing };

  std::string uid{};
  std::string name_space{};
  std::string name{};
  Phase phase = Phase::preparing;
  std::string kind{};                          // of its CDI devices
  std::string boot_id{};                       // in which its spec was verified
  std::map<std::string, std::string> holds{};  // the options that decide what its spec holds
  std::vector<ClaimedDevice> devices{};

  friend bool operator==(const Claim&, const Claim&) = default;

  /// JSON, which engines read faster, and so do we: all of them, each time.
  std::string file_name() const { return *cdi::transient_spec_name(kind, uid) + ".json"; }

  /// The name in the claim's spec of one of `devices`. The UID makes it new each time: runtimes may
  /// still know another content of an older one.
  std::string device_name(std::size_t index) const { return fmt::format("{}-{}", uid, index); }

  /// The CDI id of one of `devices`.
  std::string device_id(std::size_t index) const {
    return cdi::qualified_name(kind, device_name(index));
  }
};

/// UIDs that can be part of a file name and of a device name, which has at most 63 characters, and
/// cannot be a path: 1 to 56 letters, digits and `-`, a letter or digit at both ends.
inline bool is_claim_uid(std::string_view text) {
  constexpr std::size_t longest = 56;
  return text.size() <= longest && cdi::is_device_name(text) &&
         text.find_first_of("_.:") == std::string_view::npos;
}

}  // namespace prepare

#endif  // CDI_PREPARE_CLAIMS_CLAIM_HPP
