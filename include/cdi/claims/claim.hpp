// `Claim`: devices that were given to a workload.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CLAIMS_CLAIM_HPP
#define CDI_CLAIMS_CLAIM_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// A device of a claim.
struct ClaimedDevice {
  std::string request{};    ///< the claim's request, `gpu` or `gpu/small`; empty for all requests
  std::string requested{};  ///< the caller's name for the device, which may change its meaning
  std::string name{};       ///< the driver's name for the device when it was claimed
  /// What the driver needs to find the device again, even after a reboot, such as a serial number.
  std::map<std::string, std::string, std::less<>> identity{};
  std::string share_id{};  ///< Kubernetes' `shareID` of one of several users; empty for a sole user
  bool admin_access = false;  ///< only monitors the device, which other claims may have

  /// The members in a journal.
  static constexpr void fields(auto& list) {
    list("request", &ClaimedDevice::request);
    list("requested", &ClaimedDevice::requested);
    list("name", &ClaimedDevice::name, required);
    list("identity", &ClaimedDevice::identity);
    list("share_id", &ClaimedDevice::share_id);
    list("admin_access", &ClaimedDevice::admin_access);
  }

  friend bool operator==(const ClaimedDevice&, const ClaimedDevice&) = default;
};

/// Devices given to a workload, and the state of their preparation.
struct Claim {
  /// The last step that the journal records.
  enum class Phase : std::uint8_t {
    preparing,  ///< it is not known which devices are ready
    prepared,   ///< all devices are ready, and the spec was written
    removing,   ///< the claim was given up
  };

  std::string uid{};               ///< unique for ever; see `is_claim_uid`
  std::string name_space{};        ///< for people
  std::string name{};              ///< for people
  Phase phase = Phase::preparing;  ///< the last step that is recorded
  std::string kind{};              ///< of the devices in its spec
  std::string boot_id{};           ///< the boot in which its spec was last written
  std::string newest_version{};    ///< the driver's limit for the version of its spec; may be empty
  /// The directory of its spec; empty for the one of `ClaimOptions`. `Claims::prepare` makes a
  /// relative one absolute.
  std::string spec_dir{};
  std::map<std::string, std::string> options{};  ///< of the driver, which determine its spec
  std::vector<ClaimedDevice> devices{};          ///< in the order in which they are acquired

  /// The name of its spec file. JSON, because engines parse it faster than YAML.
  std::string file_name() const;

  /// The name of one of `devices` in its spec: the UID and the index. A runtime that has cached the
  /// spec of an earlier claim thus never takes one for the other.
  std::string device_name(std::size_t index) const;

  /// The CDI name of one of `devices`, for a runtime.
  std::string device_id(std::size_t index) const;

  friend bool operator==(const Claim&, const Claim&) = default;
};

/// Whether a text is a UID for a claim, which is a part of file names and device names: 1 to 56
/// letters, digits and `-`, with a letter or digit at both ends. Kubernetes' UIDs are.
bool is_claim_uid(std::string_view text);

/// The UID of the claim whose file in a journal has this name; empty for the names of other files.
std::string_view uid_of_claim_file(std::string_view name);

/// Whether a path is the path of the spec of the claim with this UID, of any kind.
bool is_spec_of_claim(std::string_view uid, std::string_view path);

/// The devices of a claim for messages: names with commas between them, each followed by an at sign
/// and its request, if it has one.
std::string to_string(const Claim& claim);

namespace detail {

Error claim_conflict(std::string message);

/// The caller's name and the driver's name for a device: "1 (GPU-5f2a...)".
std::string names_of(const ClaimedDevice& device);

/// The error for a device that overlaps one of a claim.
Error taken(const ClaimedDevice& device, const Claim& claim, const ClaimedDevice& its);

}  // namespace detail

}  // namespace cdi

#if CDI_BODIES
#include <cdi/claims/claim.inl>
#endif

#endif  // CDI_CLAIMS_CLAIM_HPP
