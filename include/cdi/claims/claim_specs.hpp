// The spec files of the claims in a journal.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CLAIMS_CLAIM_SPECS_HPP
#define CDI_CLAIMS_CLAIM_SPECS_HPP

#include <set>
#include <string>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/claims/claim.hpp>
#include <cdi/claims/claim_directory.hpp>
#include <cdi/claims/claim_driver.hpp>
#include <cdi/claims/claim_journal.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/publish/publish.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// The spec files of the claims in a journal, which have one owner. The driver and the journal
/// must outlive this object.
class ClaimSpecs {
 public:
  ClaimSpecs(ClaimDriver& driver, const ClaimJournal& journal, std::string owner,
             std::string spec_dir)
      : driver_{&driver},
        journal_{&journal},
        owner_{std::move(owner)},
        spec_dir_{std::move(spec_dir)} {}

  /// The directory of a claim's spec.
  std::string directory_of(const Claim& claim) const;

  /// The spec of a claim, read from its file in the open directory.
  Result<Spec> read(const Claim& claim) const;

  /// Checks whether `write` would succeed, as far as the files tell. Writes nothing.
  Result<void> check_writable(const Claim& claim, const Spec& spec) const;

  /// Fails with `Errc::invalid` if the spec has another kind than the claim, or lacks one of its
  /// devices, and if the directory also has the journal.
  Result<Publication> write(const Claim& claim, const Spec& spec) const;

  Result<void> remove(const Claim& claim) const;

  /// Removes this journal's files in a directory, except files in `keep` and files of the claims in
  /// `unreadable`, whose UIDs alone are known.
  Result<Reconciled> prune(const std::string& path, std::set<std::string> keep,
                           const std::set<std::string>& unreadable) const;

 private:
  Publisher publisher(const ClaimDirectory& directory) const {
    return Publisher{owner_, directory.number(), directory.path};
  }

  Result<Publication> write(const Claim& claim, const Spec& spec, MissingDirectory missing,
                            DryRun dry_run) const;

  ClaimDriver* driver_;
  const ClaimJournal* journal_;
  std::string owner_;  // another journal may have files in the same directory
  std::string spec_dir_;
};

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/claims/claim_specs.inl>
#endif

#endif  // CDI_CLAIMS_CLAIM_SPECS_HPP
