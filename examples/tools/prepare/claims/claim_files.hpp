// The spec files of the claims in a journal.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_CLAIMS_CLAIM_FILES_HPP
#define CDI_TOOLS_PREPARE_CLAIMS_CLAIM_FILES_HPP

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/file.hpp>
#include <cdi/publish.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>

#include "../base/options.hpp"
#include "../host/directories.hpp"
#include "claim.hpp"
#include "claim_edits.hpp"
#include "journal.hpp"

namespace prepare {

/// The spec files of the claims in a journal. Both arguments must outlive this object.
class ClaimFiles {
 public:
  ClaimFiles(const Journal& journal, const Options& options)
      : journal_{journal}, options_{options} {}

  /// Whether specs can record the journal as their owner.
  cdi::Result<void> check_owner() const {
    if (cdi::check_owner(owner())) return {};
    return cdi::Error{.code = cdi::Errc::invalid,
                      .message = "specs cannot record this name",
                      .advice =
                          "use another --state-dir, in "
                          "ASCII, of at most 200 characters",
                      .position = {.file = journal_.directory()}};
  }

  std::string directory_of(const Claim& claim) const {
    return options_of(claim, options_).output_dir;
  }

  /// The spec of a claim, read from its file.
  cdi::Result<cdi::Spec> read(const Claim& claim) const {
    const auto directory = open(directory_of(claim), Missing::stays);
    if (!directory) return directory.error();
    auto loaded = cdi::read_spec_file(directory->path_of(claim.file_name()));
    if (!loaded) return std::move(loaded).error();
    return std::move(loaded->spec);
  }

  /// Checks whether `write` would succeed. Writes nothing.
  cdi::Result<void> check_writable(const Claim& claim, const cdi::Spec& spec) const {
    return write(claim, spec, Missing::stays, cdi::DryRun::yes);
  }

  cdi::Result<void> write(const Claim& claim, const cdi::Spec& spec) const {
    return write(claim, spec, Missing::made, cdi::DryRun::no);
  }

  cdi::Result<void> remove(const Claim& claim) const {
    const auto directory = open(directory_of(claim), Missing::stays);
    if (!directory) return directory.error();
    const auto removed = publisher(*directory).remove(claim.file_name());
    return removed ? cdi::Result<void>{} : removed.error();
  }

  /// Removes this journal's files in a directory, except those in `keep` and those of the claims in
  /// `unreadable`, whose UIDs alone are known.
  cdi::Result<cdi::Reconciled> prune(const std::string& path, std::set<std::string> keep,
                                     const std::set<std::string>& unreadable) const {
    const auto directory = open(path, Missing::stays);
    if (!directory) return directory.error();
    const auto its_publisher = publisher(*directory);
    if (!unreadable.empty()) keep.merge(files_of(unreadable, its_publisher));
    return its_publisher.prune(keep);
  }

 private:
  /// Another journal may have files in the same directory.
  std::string owner() const { return std::string{claims_owner}.append(journal_.directory()); }

  cdi::Publisher publisher(const Directory& directory) const {
    return cdi::Publisher{owner(), directory.number(), directory.path};
  }

  /// Opens the spec directory recorded in a claim. A journal under a root may not refer to
  /// directories outside the root.
  cdi::Result<Directory> open(const std::string& path, Missing missing) const {
    const bool of_tree = options_.root != "/" && options_.place_on_host(journal_.path());
    if (of_tree && path != options_.output_dir && !options_.place_on_host(path)) {
      return cdi::Error{
          .code = cdi::Errc::denied,
          .message = "the journal records this directory, which is not under the root",
          .advice =
              "give "
              "it as --output-dir if it is correct",
          .position = {.file = path}};
    }
    return open_directory(options_, path, missing);
  }

  cdi::Result<void> write(const Claim& claim, const cdi::Spec& spec, Missing missing,
                          cdi::DryRun dry_run) const {
    const auto directory = open(directory_of(claim), missing);
    if (!directory) return directory.error();
    const auto written = publisher(*directory).write(claim.file_name(), spec, dry_run);
    return written ? cdi::Result<void>{} : written.error();
  }

  static std::set<std::string> files_of(const std::set<std::string>& uids,
                                        const cdi::Publisher& publisher) {
    std::set<std::string> out;
    const auto files = publisher.files();
    if (!files) return out;
    for (const auto& file : *files) {
      for (const auto& uid : uids) {
        if (is_spec_of(uid, file)) out.insert(file);
      }
    }
    return out;
  }

  const Journal& journal_;
  const Options& options_;
};

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_CLAIMS_CLAIM_FILES_HPP
