// The journal of claims: one file for each claim, which survives crashes and reboots.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CLAIMS_CLAIM_JOURNAL_HPP
#define CDI_CLAIMS_CLAIM_JOURNAL_HPP

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/result.hpp>
#include <cdi/claims/claim.hpp>
#include <cdi/claims/claim_directory.hpp>
#include <cdi/files/lock.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// The journal in a directory, locked by one process at a time: a file with the name UID.json for
/// each claim, and the file `.lock`. Each file is replaced as a whole, so that a process that is
/// killed leaves the claim as it was before or after.
class ClaimJournal {
 public:
  /// Claims by UID, or why they cannot be read.
  using Claims = std::map<std::string, Result<Claim>>;

  /// Waits for the lock on an open directory, which is released when the journal is destroyed.
  /// `Errc::denied` if other users may write the directory, because the journal decides which files
  /// this process writes. `Errc::timeout` if other processes keep the lock.
  static Result<ClaimJournal> open(ClaimDirectory directory, std::chrono::duration<double> timeout);

  /// The same, and creates a missing directory.
  static Result<ClaimJournal> open(const std::string& path, std::chrono::duration<double> timeout);

  /// Reads the claims in an open directory without its lock, to show them: one that another process
  /// changes now is as before or after. Changes nothing.
  static Result<Claims> peek(const ClaimDirectory& directory);

  /// The path with which the directory was opened.
  const std::string& path() const { return directory_.path; }

  /// The path of the directory without links, which is the same for all callers.
  const std::string& directory() const { return real_path_; }

  /// Fails with `Errc::invalid` if the journal is in the open directory `specs`, under any path:
  /// engines would read the journal's files as specs.
  Result<void> check_apart(const ClaimDirectory& specs) const;

  /// Whether this process had to wait for the lock.
  bool has_waited() const { return has_waited_; }

  /// The path of the file of a claim.
  std::string path_of(std::string_view uid) const;

  /// Reads all claims. Removes the temporary files of killed writers.
  Result<Claims> load() const;

  /// The spec directory of a claim that `load` could not read, if its file still contains it;
  /// otherwise empty.
  std::string named_directory(const std::string& uid) const;

  /// Writes a claim so that it survives a crash of the host. Fails like `claim_to_json`, and with
  /// `Errc::system`; then the file is as before.
  Result<void> save(const Claim& claim) const;

  /// Removes a claim permanently. A missing one is not an error.
  Result<void> erase(std::string_view uid) const;

 private:
  ClaimJournal(ClaimDirectory directory, std::string real_path)
      : directory_{std::move(directory)}, real_path_{std::move(real_path)} {}

  Result<void> lock(std::chrono::duration<double> timeout);

  ClaimDirectory directory_;
  std::string real_path_;
  FileLock lock_{};
  bool has_waited_ = false;
};

}  // namespace cdi

#if CDI_BODIES
#include <cdi/claims/claim_journal.inl>
#endif

#endif  // CDI_CLAIMS_CLAIM_JOURNAL_HPP
