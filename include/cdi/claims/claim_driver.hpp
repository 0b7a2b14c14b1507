// `ClaimDriver`: what a device driver knows, for its claims.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CLAIMS_CLAIM_DRIVER_HPP
#define CDI_CLAIMS_CLAIM_DRIVER_HPP

#include <cstdint>
#include <set>
#include <string>

#include <cdi/base/result.hpp>
#include <cdi/claims/claim.hpp>
#include <cdi/claims/claim_directory.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// What `ClaimDriver::acquire` did.
enum class Acquired : std::uint8_t {
  unchanged,  ///< nothing that the spec shows
  changed,    ///< the spec must be made again, as for a partition that has a node only now
};

/// What a device driver knows and does, for `Claims`. Only `make_spec` is needed; the other
/// functions have the answers of a driver whose devices need no preparation.
class ClaimDriver {
 public:
  virtual ~ClaimDriver() = default;

  /// Makes the spec of a claim from the present state of the host: a device with the name
  /// `claim.device_name(i)` for each of `claim.devices`. Called for a new claim, and each time when
  /// the claims are repaired, because numbers of nodes and versions of libraries change.
  ///
  /// `old` is the spec in the claim's file; null for a new claim and for a spec that is missing or
  /// unreadable. `boot_id` of the claim belongs to `old`, and differs from `boot_id()` after a
  /// reboot. The function may record in the claim what it learnt. With an error, the old spec
  /// stays, unless it is of another boot, or the error is `Errc::conflict`: the old spec gives
  /// access to a device of others.
  virtual Result<Spec> make_spec(Claim& claim, const Spec* old) = 0;

  /// Whether `acquire` or `release` does something. If not, a claim is recorded once, as prepared,
  /// before its spec is written, and removed without a record of that: there is nothing to undo.
  /// With this and `acquire`, the answer must be the same in all processes that use a journal.
  virtual bool makes_ready() const { return true; }

  /// Whether two devices are the same one. By default, if they have the same name.
  virtual bool is_same(const ClaimedDevice& a, const ClaimedDevice& b) { return a.name == b.name; }

  /// Whether a claim cannot have both devices: they are the same one, or one is a part of the
  /// other. By default, if they are the same.
  virtual bool overlaps(const ClaimedDevice& a, const ClaimedDevice& b) { return is_same(a, b); }

  /// Whether two claims cannot have one of the devices each. By default, if they overlap. Not
  /// called for devices that are shared on purpose: see `may_be_shared`.
  virtual bool excludes(const ClaimedDevice& a, const ClaimedDevice& b) { return overlaps(a, b); }

  /// Makes a device of a claim ready, for example creates a partition; also after a reboot, and if
  /// the claim's spec is gone. It may be called again for a device that is ready, as for the next
  /// of several users. Not called for a device that a claim only monitors (`admin_access`). For a
  /// new claim, it is called after `make_spec`.
  virtual Result<Acquired> acquire(const Claim& /*claim*/, const ClaimedDevice& /*device*/) {
    return Acquired::unchanged;
  }

  /// Undoes `acquire`, of the last claim if a device has several users. It may be called for a
  /// device that was never made ready, or is gone, which is not an error. Not called for the
  /// devices of a claim whose file is damaged, because they are unknown.
  virtual Result<void> release(const Claim& /*claim*/, const ClaimedDevice& /*device*/) {
    return {};
  }

  /// Whether the spec of a claim may stay, although `make_spec` failed in the boot of that spec.
  virtual bool may_stay(const Claim& /*claim*/, const Spec& /*spec*/) { return true; }

  /// Opens a directory for specs.
  virtual Result<ClaimDirectory> open_spec_dir(const std::string& path, MissingDirectory missing) {
    return open_claim_directory(path, missing);
  }

  /// What to do about a spec that is in none of these directories; for the end of a warning.
  virtual std::string advice_for_lost_spec(const std::set<std::string>& /*dirs*/) { return {}; }
};

}  // namespace cdi

#endif  // CDI_CLAIMS_CLAIM_DRIVER_HPP
