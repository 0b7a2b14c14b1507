// `Publisher`: writes, reconciles and removes the spec files of one owner.
// SPDX-License-Identifier: Apache-2.0

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

namespace cdi {
inline namespace CDI_ABI {

/// Checks the name of a spec file in its directory: one part of a path, at most 255 bytes, that
/// ends in `.json` or `.yaml`. Otherwise `Errc::invalid`.
Result<void> check_spec_file_name(std::string_view name);

/// Writes and removes the spec files of one owner in one directory, and never touches files of
/// other owners.
///
/// Each spec file records its owner: in the annotation `owner_annotation`, or, if its `cdiVersion`
/// is before 0.6.0 and so has no annotations, in a comment in the first line of its YAML file,
/// which engines ignore. A file that records another owner, and a spec that records none, is
/// neither replaced, unless `Replace::any` allows it, nor removed: `Errc::conflict`. (A file that
/// another process puts there in the same instant can be.) A file that is not a spec (empty, cut
/// off) may be replaced, but not removed. A link is replaced, not followed, unless it leads to a
/// file of another owner or of none. Directories, FIFOs, devices and sockets are refused.
///
/// `replace_file` replaces the files, with mode 0644: after a kill at any moment, each file
/// is either the old or the new one, and complete. Of several concurrent writers, the file of the
/// last one stays. Any number of threads may use a publisher; it holds no descriptor of its own.
///
/// Errors: `Errc::invalid` for a name of an owner, directory or file that cannot be used;
/// `Errc::conflict` for a file of another owner, a file that other processes keep creating and
/// removing, and two files with the same device; `Errc::limit` for an existing file over 16 MiB;
/// `Errc::system` if a system call fails. The directory is synced after a change: if only the sync
/// fails, the files are changed nevertheless.
class Publisher {
 public:
  /// `owner` must pass `check_owner`, or all calls fail; use the name of the program that decides
  /// which files exist. The directory need not exist yet.
  explicit Publisher(std::string owner, std::string dir = "/var/run/cdi");

  /// For an open directory: `directory` is a descriptor that can be read. It stays the caller's,
  /// and must be open as long as this lives. Negative means that the directory is missing; then
  /// nothing can be written. `dir` is the path for messages, and is not opened.
  Publisher(std::string owner, int directory, std::string dir);

  /// Writes a spec to the file `name` of the directory, which is created if it is missing. A file
  /// that has the same text already is not written. An empty `version` becomes the oldest release
  /// that holds the spec, and in a JSON file its owner, so at least 0.6.0; any other stays as it
  /// is. `Errc::unsupported` for a JSON file of a `version` before 0.6.0, which cannot record an
  /// owner. If the spec is not valid, the error of `validate`; `Errc::limit` if its text is over
  /// `Limits::bytes`.
  Result<Publication> write(const std::string& name, const Spec& spec, DryRun dry_run = DryRun::no,
                            Replace replace = Replace::own) const;

  /// Removes the file `name`; a missing file is not an error. `Errc::conflict` if it does not
  /// record this owner.
  Result<Publication> remove(const std::string& name, DryRun dry_run = DryRun::no) const;

  /// Changes this owner's files to those expected, by name: writes files that are missing or
  /// differ, then removes this owner's other files except those to keep, and temporary files of
  /// killed writers, whatever their owner. `Errc::conflict` if two expected files define the same
  /// device, because its name would be ambiguous. Everything that can be checked is checked before
  /// the first change; a later failure is reported in `errors`, and does not stop the rest; but if
  /// a file cannot be written, none is removed. Files to keep need not exist. Reads all spec files
  /// of the directory.
  Result<Reconciled> reconcile(const std::map<std::string, Spec>& expected,
                               DryRun dry_run = DryRun::no,
                               const std::set<std::string>& keep = {}) const;

  /// Like `reconcile` without expected files: removes this owner's files except those to keep, and
  /// temporary files of killed writers.
  Result<Reconciled> prune(const std::set<std::string>& keep, DryRun dry_run = DryRun::no) const;

  /// The names of this owner's files, sorted by bytes, without files that cannot be read. Empty if
  /// the directory is missing. Reads all spec files of the directory.
  Result<std::vector<std::string>> files() const;

 private:
  class Work;

  std::string owner_;
  std::string dir_;
  std::optional<int> directory_{};  // the open one of the caller
};

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/publish/publish.inl>
#endif

#endif  // CDI_PUBLISH_PUBLISH_HPP
