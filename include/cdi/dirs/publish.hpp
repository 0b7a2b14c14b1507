// `Publisher`: writes, reconciles and removes the spec files of one owner.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_PUBLISH_HPP
#define CDI_DIRS_PUBLISH_HPP

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/dirs/publication.hpp>  // IWYU pragma: export
#include <cdi/model/spec.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// Owners that can be recorded: 1 to 253 printable characters of ASCII, no space at either end.
/// `Errc::invalid` says what is wrong.
Result<void> check_owner(std::string_view owner);

/// Names that a spec file can have in its directory: one part of a path, at most 255 bytes, ending
/// in `.json` or `.yaml`. `Errc::invalid` says what is wrong.
Result<void> check_spec_file_name(std::string_view name);

/// Writes and removes the spec files of one owner in one directory, and leaves those of others
/// alone.
///
/// Each spec written records its owner: in the annotation `owner_annotation`, or, when its
/// `cdiVersion` is before 0.6.0 and so has no annotations, in a comment in the first line of its
/// YAML file, which no engine sees. A file that records another owner, or a spec that records none,
/// is never replaced, unless `Replace::any` allows it, or removed, unless somebody puts it there at
/// that very moment: `Errc::conflict`. A file that is no spec (empty, cut off) may be replaced, but
/// not removed. A link is replaced, not followed, unless it leads to a file of another owner or of
/// none. Directories, FIFOs, devices and sockets are refused.
///
/// Files are replaced as by `replace_file`, with mode 0644: whenever the writer is killed, each
/// file is the old or the new one, whole. Of several writers at a time, the last one's file stays.
/// Any number of threads may use a publisher; it keeps no descriptor of its own.
///
/// Errors: `Errc::invalid` for an owner, directory or file name that cannot be; `Errc::conflict`
/// for a file that is not this owner's, one that others keep making and removing, and two of one
/// device; `Errc::limit` for a file there that is over 16 MiB; `Errc::system` for what the system
/// refuses. The directory is synced after a change: when only that fails, the change is made all
/// the same.
class Publisher {
 public:
  /// `owner` is as `check_owner` demands, or nothing else will succeed; take the name of the
  /// program that knows which files are to be. The directory may be missing as yet.
  explicit Publisher(std::string owner, std::string dir = "/var/run/cdi");

  /// For a directory that is open: `directory`, a descriptor that can be read, stays the caller's
  /// and must be open as long as this lives; negative for a directory that is missing, in which
  /// nothing can be written. `dir` is its path for messages: nothing is opened by it.
  Publisher(std::string owner, int directory, std::string dir);

  /// Writes a spec to the file `name` of the directory, which is made when missing. A file that
  /// holds it already is not written. An empty `version` stands for the oldest release that holds
  /// the spec, in a JSON file with its owner, which is 0.6.0 at least; any other is written as it
  /// is. `Errc::unsupported` for a JSON file of a `version` before 0.6.0, which cannot record an
  /// owner. When the spec is not valid, what `validate` says; `Errc::limit` when its text is over
  /// `Limits::bytes`.
  Result<Publication> write(const std::string& name, const Spec& spec, DryRun dry_run = DryRun::no,
                            Replace replace = Replace::own) const;

  /// Removes the file `name`; that it is missing is no error. `Errc::conflict` when it does not
  /// record this owner.
  Result<Publication> remove(const std::string& name, DryRun dry_run = DryRun::no) const;

  /// Makes this owner's files those expected, by name: writes what is missing or differs, then
  /// removes this owner's other files but those to keep, and what writers of any owner left when
  /// they were killed. No two of those expected may define the same device, `Errc::conflict`:
  /// nobody could resolve it. Everything that can be checked is checked before the first change;
  /// what fails then is told in `errors`, and does not stop the rest. What is to be kept need not
  /// be there. Costs reading all spec files of the directory.
  Result<Reconciled> reconcile(const std::map<std::string, Spec>& expected,
                               DryRun dry_run = DryRun::no,
                               const std::set<std::string>& keep = {}) const;

  /// As `reconcile`, but for files that are right as they are: removes this owner's files except
  /// those to keep, and what killed writers left.
  Result<Reconciled> prune(const std::set<std::string>& keep, DryRun dry_run = DryRun::no) const;

  /// The names of this owner's files, sorted by bytes; those that cannot be read are left out. None
  /// when the directory is missing. Costs reading all spec files.
  Result<std::vector<std::string>> files() const;

 private:
  class Work;

  std::string owner_;
  std::string dir_;
  std::optional<int> directory_{};  // that the caller has open
};

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/impl/publish.hpp>
#endif

#endif  // CDI_DIRS_PUBLISH_HPP
