// A claim: GPUs that Kubernetes has assigned to a workload.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_CLAIMS_CLAIM_HPP
#define CDI_TOOLS_PREPARE_CLAIMS_CLAIM_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <cdi/name.hpp>

namespace prepare {

/// A GPU or partition assigned to a claim.
struct ClaimedDevice {
  std::string request{};      // of the claim; empty for all requests
  std::string requested{};    // the name from the caller: "1", "all"
  std::string kind{};         // "nvidia.com/gpu"
  std::string name{};         // the stable name when it was claimed
  std::string id{};           // of the GPU, as in `Gpu`; empty while unknown
  std::string suffix{};       // of the partition; empty for the whole GPU
  std::string division{};     // as in `FoundDevice`; empty while unknown
  std::string pci_address{};  // of the last survey
  std::string pci_id{};       // a different id at that address means another GPU
  bool by_iommufd = false;

  friend bool operator==(const ClaimedDevice&, const ClaimedDevice&) = default;
};

/// A claim, and the state of its preparation.
struct Claim {
  enum class Phase : std::uint8_t { preparing, prepared, removing };

  std::string uid{};
  std::string name_space{};
  std::string name{};
  Phase phase = Phase::preparing;
  std::string kind{};                          // of its CDI devices
  std::string boot_id{};                       // the boot in which its spec was verified
  std::string newest_version{};                // of its spec; empty while unknown
  std::map<std::string, std::string> holds{};  // the options that determine the content of its spec
  std::vector<ClaimedDevice> devices{};

  friend bool operator==(const Claim&, const Claim&) = default;

  /// JSON, because engines and this program parse it faster than YAML, and every call reads all
  /// claims.
  std::string file_name() const { return *cdi::transient_spec_name(kind, uid) + ".json"; }

  /// The name of one of `devices` in the claim's spec. The UID makes the name unique, in case a
  /// runtime has cached an older spec.
  std::string device_name(std::size_t index) const { return fmt::format("{}-{}", uid, index); }

  /// The CDI id of one of `devices`.
  std::string device_id(std::size_t index) const {
    return cdi::qualified_name(kind, device_name(index));
  }
};

/// The owner in a claim's spec: this text and the directory of the journal.
inline constexpr std::string_view claims_owner = "cdi-prepare claims of ";

/// Whether a path is the path of a claim's spec, of any kind.
inline bool is_spec_of(std::string_view uid, std::string_view path) {
  return path.ends_with(std::string{"_"}.append(uid).append(".json"));
}

/// Whether a text is a UID that fits into a file name, and into a device name with at most 63
/// characters: 1 to 56 letters, digits and `-`, with a letter or digit at both ends.
inline bool is_claim_uid(std::string_view text) {
  constexpr std::size_t longest = 56;
  return text.size() <= longest && cdi::is_device_name(text) &&
         text.find_first_of("_.:") == std::string_view::npos;
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_CLAIMS_CLAIM_HPP
