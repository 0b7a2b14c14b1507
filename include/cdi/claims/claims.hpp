// `Claims`: gives devices to workloads, and takes them back.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CLAIMS_CLAIMS_HPP
#define CDI_CLAIMS_CLAIMS_HPP

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/claims/claim.hpp>
#include <cdi/claims/claim_driver.hpp>
#include <cdi/claims/claim_journal.hpp>
#include <cdi/claims/claim_specs.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/publish/publication.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Where the specs of claims are, and who owns them.
struct ClaimOptions {
  std::string kind{};  ///< of claims that have none, such as `vendor.com/claim`
  /// Of new claims without a `Claim::spec_dir`, which then has this path, so that a claim keeps its
  /// directory. Not the directory of the journal.
  std::string spec_dir = "/var/run/cdi";
  /// The owner that the specs record, so that `Claims` removes only its own: see `Publisher`. Empty
  /// for `claims of` and the journal's directory.
  std::string owner{};
  /// The boot of the host; empty if it is unknown. By default, it is read from /proc.
  std::optional<std::string> boot_id{};
};

/// Whether two claims may have the same device: one only monitors it, or both are among its several
/// users.
bool may_be_shared(const ClaimedDevice& a, const ClaimedDevice& b);

/// The claims in a journal. The journal is authoritative: specs are derived from it and from the
/// host, and can be made again at any time.
///
/// Each change is first recorded, then carried out, and then recorded as done. If the process is
/// killed in between, the next `repair` finishes an `unprepare`, and undoes a `prepare`, or
/// finishes it if `ClaimDriver::makes_ready` is false. The spec of a new claim is checked before
/// the first change. No thread may use the object while another changes it; other processes wait
/// for the journal's lock.
///
/// Costs grow with the number of claims: `repair` reads each claim and its spec, and has the driver
/// make the spec again; `prepare` compares each device with the devices of all claims.
class Claims {
 public:
  /// Uses a journal and a driver, which must outlive this object. Call `repair` before anything
  /// else.
  Claims(const ClaimJournal& journal, ClaimDriver& driver, ClaimOptions options = {});
  Claims(ClaimJournal&& journal, ClaimDriver& driver, ClaimOptions options = {}) = delete;

  /// Finishes the work of killed calls, writes missing and outdated specs, and removes specs that
  /// belong to no claim. A claim that cannot be repaired gets a fault. May be repeated. Fails if
  /// the journal cannot be listed, and with `Errc::invalid` if specs cannot record the owner.
  Result<void> repair();

  /// The claims in the journal, by UID; some may have a fault.
  const std::map<std::string, Claim>& list() const { return claims_; }

  /// The faults of claims, by UID, including claims that cannot be read and are not in `list`.
  const std::map<std::string, std::string>& faults() const { return faults_; }

  /// Warnings about spec files, for people.
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// The fault of a claim as an error.
  Result<void> check(const std::string& uid) const;

  /// Gives devices to a claim, and writes its spec; returns the claim, whose `device_id` gives the
  /// CDI names. Repeated with the same devices, it changes nothing, and returns the claim with its
  /// devices in the order of the first call.
  ///
  /// Fails with `Errc::conflict` if another claim has a device, or the claim has others; like
  /// `claim_to_json` for a claim that cannot be recorded, for example with a UID that
  /// `is_claim_uid` rejects, or without devices; with `Errc::invalid` if the driver's spec lacks a
  /// `device_id`; with the error of the fault, if the claim has one; and like the driver. Then
  /// nothing has changed, or the claim gets a fault, and `unprepare` or the next `repair` undoes
  /// it.
  Result<Claim> prepare(Claim claim);

  /// The same, for a claim of `ClaimOptions::kind`.
  Result<Claim> prepare(std::string uid, std::vector<ClaimedDevice> devices);

  /// Takes the devices of a claim back, and removes its spec. An unknown claim is not an error. If
  /// it fails, the claim gets a fault, and another claim cannot get the devices, until a later call
  /// or `repair` succeeds.
  Result<void> unprepare(const std::string& uid);

 private:
  const std::string& boot() const { return *options_.boot_id; }
  bool is_of_other_boot(const Claim& claim) const {
    return !boot().empty() && claim.boot_id != boot();
  }

  void start_again(ClaimJournal::Claims loaded);
  void settle(std::map<std::string, Claim>::iterator known);
  Result<void> check_new(const Claim& claim) const;
  Result<void> check_distinct(const Claim& claim) const;
  Result<void> check_free(const ClaimedDevice& device) const;
  bool has_devices(const Claim& claim, const std::vector<ClaimedDevice>& devices) const;
  Result<void> carry_out(Claim& claim, Spec spec) const;
  Result<Acquired> acquire_all(const Claim& claim) const;
  Result<void> forget(const Claim& claim) const;
  bool has_other_user(const Claim& claim, const ClaimedDevice& device) const;
  Result<void> renew(Claim& claim);
  Result<void> update_spec(Claim& claim, const Spec* old);
  Result<void> unprepare_unreadable(const std::string& uid);
  Result<void> check_removed(const std::string& uid);
  void remove_orphans();
  void note(Reconciled pruned);
  void warn(std::string text);

  const ClaimJournal& journal_;
  ClaimDriver& driver_;
  ClaimOptions options_;
  detail::ClaimSpecs specs_;
  std::set<std::string> spec_dirs_;        // of the options, and of all claims
  std::set<std::string> named_dirs_{};     // in files that cannot be read
  std::map<std::string, Claim> claims_{};  // by UID
  std::set<std::string> unreadable_{};     // UIDs
  std::map<std::string, std::string> faults_{};
  std::vector<std::string> warnings_{};
  std::vector<std::string> removed_{};  // spec files that belonged to no claim
  std::vector<Error> left_{};           // spec files that cannot be read or removed
  std::vector<Error> unseen_{};         // spec directories that cannot be read
};

}  // namespace cdi

#if CDI_BODIES
#include <cdi/claims/claims.inl>
#endif

#endif  // CDI_CLAIMS_CLAIMS_HPP
