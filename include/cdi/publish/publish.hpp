// `Publisher`: writes, reconciles and removes the spec files of one owner.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_PUBLISH_PUBLISH_HPP
#define CDI_PUBLISH_PUBLISH_HPP

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/publish/publication.hpp>  // IWYU pragma: export
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Checks the name of a spec file: one path element of at most 255 bytes that ends in `.json` or
/// `.yaml`. Fails with `Errc::invalid` for any other name.
Result<void> check_spec_file_name(std::string_view name);

/// Writes and removes the spec files of one owner in one directory, and never touches files of
/// other owners.
///
/// Each spec file records its owner in the annotation `owner_annotation`. With a `cdiVersion`
/// before 0.6.0, which introduced annotations, the record is a comment in the first line of the
/// YAML file. A file of another owner, or a spec without an owner, is not removed, and is replaced
/// only with `Replace::any`; otherwise, the call fails with `Errc::conflict`. (A file that another
/// process creates at the same instant is not safe.) An empty or truncated file, which is not a
/// spec, may be replaced, but not removed. A link is replaced, not followed, unless its target is a
/// file of another owner or has none. Directories, FIFOs, devices and sockets are rejected.
///
/// `replace_file` replaces the files, with mode 0644: if the process is killed at any moment, each
/// file is complete, old or new. When several writers compete, the last file written stays. Any
/// number of threads may share a publisher, which owns no descriptor.
///
/// Fails with `Errc::invalid` for an unusable name of an owner, directory or file; `Errc::conflict`
/// for a file of another owner, a file that others keep creating and removing, or two files with
/// the same device; `Errc::limit` for an existing file over 16 MiB; `Errc::system` if a system call
/// fails. The directory is synced after a change; if only the sync fails, the changes to the files
/// remain.
class Publisher {
 public:
  /// Makes a publisher for an owner. All calls fail unless `check_owner` accepts the owner's name.
  /// Use the name of the program that decides which files exist. The directory need not exist yet.
  explicit Publisher(std::string owner, std::string dir = "/var/run/cdi");

  /// Makes a publisher for an open directory. The caller must keep `directory`, a readable
  /// descriptor, open for the publisher's lifetime. A negative descriptor means a missing
  /// directory, in which nothing can be written. `dir` is the path for messages, and is not opened.
  Publisher(std::string owner, int directory, std::string dir);

  /// Writes a spec to the file `name`, creating a missing directory. A file that has the same text
  /// is not written. An empty `version` becomes the oldest version that can express the spec; for a
  /// JSON file, at least 0.6.0, which can record the owner. Any other version stays. Fails with
  /// `Errc::unsupported` for JSON with a `version` before 0.6.0, with `Errc::limit` for text over
  /// `Limits::bytes`, and like `validate` for an invalid spec.
  Result<Publication> write(const std::string& name, const Spec& spec, DryRun dry_run = DryRun::no,
                            Replace replace = Replace::own, Durable durable = Durable::yes) const;

  /// Removes the file `name`; a missing file is not an error. Fails with `Errc::conflict` if the
  /// file does not record this owner, unless `Replace::any` allows to remove any file or link.
  Result<Publication> remove(const std::string& name, DryRun dry_run = DryRun::no,
                             Replace replace = Replace::own) const;

  /// Changes this owner's files to the expected ones, by name: writes missing and different files,
  /// then removes this owner's other files except those in `keep`, and the temporary files of
  /// killed writers of any owner. Fails with `Errc::conflict` if two expected files define the same
  /// device, whose name would then be ambiguous. Everything that can be checked is checked before
  /// the first change. A later failure is listed in `errors` and does not stop the rest; but if a
  /// file cannot be written, no file is removed. Files in `keep` need not exist. All spec files in
  /// the directory are read.
  Result<Reconciled> reconcile(const std::map<std::string, Spec>& expected,
                               DryRun dry_run = DryRun::no,
                               const std::set<std::string>& keep = {}) const;

  /// Removes this owner's files except those in `keep`, and the temporary files of killed writers,
  /// as `reconcile` does without expected files.
  Result<Reconciled> prune(const std::set<std::string>& keep, DryRun dry_run = DryRun::no) const;

  /// Returns the names of this owner's files, sorted by bytes, without files that cannot be read.
  /// Empty if the directory is missing. All spec files in the directory are read.
  Result<std::vector<std::string>> files() const;

 private:
  class Impl;

  std::string owner_;
  std::string dir_;
  std::optional<int> directory_{};  // the caller's open directory
};

}  // namespace cdi

#if CDI_BODIES
#include <cdi/publish/publish.inl>
#endif

#endif  // CDI_PUBLISH_PUBLISH_HPP
