// Claims: the assignment of the host's GPUs to workloads.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_CLAIMS_CLAIMS_HPP
#define CDI_TOOLS_PREPARE_CLAIMS_CLAIMS_HPP

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/minimum_version.hpp>
#include <cdi/publish.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>

#include "../base/options.hpp"
#include "../cdi_specs/fingerprint.hpp"
#include "../cdi_specs/old_numbers.hpp"
#include "../cdi_specs/prepared_spec.hpp"
#include "../cdi_specs/version_choice.hpp"
#include "../host/directories.hpp"
#include "../vendors/survey.hpp"
#include "claim.hpp"
#include "claim_command.hpp"
#include "claim_edits.hpp"
#include "claim_files.hpp"
#include "device_conflicts.hpp"
#include "found_device.hpp"
#include "journal.hpp"
#include "kept_spec.hpp"
#include "requested_device.hpp"

// The journal is authoritative. If the spec files or the hardware disagree with it, the claim has a
// fault.

namespace prepare {

/// The claims in a journal. All arguments must outlive this object.
class Claims {
 public:
  Claims(const Journal& journal, const Survey& survey, const Options& options)
      : journal_{journal},
        survey_{survey},
        options_{options},
        files_{journal, options},
        boot_{boot_id(survey.tree)},
        output_dirs_{options.output_dir} {}

  /// Finishes the work of killed calls, writes missing and outdated specs, and removes specs that
  /// belong to no claim. Fails if the journal cannot be listed.
  cdi::Result<void> reconcile() {
    if (auto good = files_.check_owner(); !good) return good;
    auto loaded = journal_.load();
    if (!loaded) return std::move(loaded).error();
    for (auto& [uid, claim] : *loaded) {
      if (claim) {
        settle(std::move(*claim));
      } else {
        faults_[uid] = cdi::to_string(claim.error()) + "; unprepare the claim to remove it";
        unreadable_.insert(uid);
        if (auto path = journal_.named_directory(uid); !path.empty()) {
          named_dirs_.insert(std::move(path));
        }
      }
    }
    remove_orphans();
    return {};
  }

  const Survey& survey() const { return survey_; }

  /// The claims in the journal; some may have a fault.
  const std::map<std::string, Claim>& all() const { return claims_; }

  /// The faults of claims, by UID, including claims that are not in `all`.
  const std::map<std::string, std::string>& faults() const { return faults_; }

  /// Warnings about spec files and engines.
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// The fault of a claim as an error.
  cdi::Result<void> check(const std::string& uid) const {
    const auto fault = faults_.find(uid);
    if (fault == faults_.end()) return {};
    return cdi::Error{.code = cdi::Errc::host, .message = fault->second};
  }

  /// Prepares a claim that has no fault. A repeated call changes nothing.
  cdi::Result<Claim> prepare(Claim claim, const std::vector<RequestedDevice>& requested) {
    if (auto distinct = check_distinct(requested); !distinct) return std::move(distinct).error();
    const auto known = claims_.find(claim.uid);
    if (known != claims_.end()) {
      if (has_devices(survey_, known->second, requested)) return known->second;
      return conflict(
          fmt::format("the claim already has {}: unprepare it first", devices_text(known->second)));
    }
    std::vector<FoundDevice> found;
    for (const auto& one : requested) {
      if (auto free = check_free(one); !free) return std::move(free).error();
      claim.devices.push_back(to_claimed(one));
      found.push_back(one.device);
    }
    claim.boot_id = boot_;
    const auto options = settled_options(claim);
    record_version(claim, options);
    const auto spec = claim_spec(survey_, claim, found, options);
    if (!spec) return spec.error();
    if (auto carried_out = carry_out(claim, spec->spec); !carried_out) {
      static_cast<void>(forget(claim));  // the next call finishes what fails now
      return std::move(carried_out).error();
    }
    warn_of_limits(claim, *spec, options);
    claims_.emplace(claim.uid, claim);
    return claim;
  }

  /// Releases the devices of a claim. An unknown claim is not an error.
  cdi::Result<void> unprepare(const std::string& uid) {
    if (const auto known = claims_.find(uid); known != claims_.end()) {
      auto& claim = known->second;
      claim.phase = Claim::Phase::removing;
      static_cast<void>(journal_.save(claim));  // on a full disk, the claim is removed anyway
      if (auto forgotten = forget(claim); !forgotten) return forgotten;
      claims_.erase(known);
      return {};
    }
    const bool damaged = unreadable_.erase(uid) != 0;
    if (damaged) remove_orphans();
    for (const auto& error : left_) {
      if (is_spec_of(uid, error.position.file)) return error;
    }
    if (!damaged) return {};
    // As long as its spec may exist, no other claim may get its GPU.
    if (!unseen_.empty()) return unseen_.front();
    const bool found = std::any_of(removed_.begin(), removed_.end(),
                                   [&](const auto& path) { return is_spec_of(uid, path); });
    if (!found) {
      warn(fmt::format(
          "claim {}: its spec is not in {}: if it is in another directory, {} with that "
          "directory as --output-dir removes it",
          uid, fmt::join(output_dirs_, ", "),
          command_with(survey_.tree, "list",
                       {"--state-dir " + cdi::shell_word(journal_.directory())})));
    }
    return journal_.erase(uid);
  }

 private:
  /// The options with which a claim was prepared. A claim without a version gets the version of the
  /// installed engines, which are queried at most once.
  Options settled_options(const Claim& claim) {
    auto options = options_of(claim, options_);
    if (options.max_version) return options;
    if (!installed_) installed_ = choose_version(survey_, options);
    options.max_version = installed_->options.max_version;
    options.oldest_engine = installed_->options.oldest_engine;
    return options;
  }

  /// Records the newest version that the spec of a claim may have.
  static void record_version(Claim& claim, const Options& options) {
    claim.newest_version = cdi::to_string(options.max_version.value_or(cdi::known_versions.back()));
  }

  /// If an engine's version is unknown, limits the CDI version of a claim to the recorded version,
  /// or for an older journal, to the version of its spec file. Otherwise records the version.
  /// Returns whether the version is limited.
  bool hold_version(Claim& claim, Options& options) {
    const bool follows = !options_of(claim, options_).max_version;
    if (!follows) return false;
    if (installed_->knows_all_versions) {
      record_version(claim, options);
      return false;
    }
    const auto spec = files_.read(claim);
    auto version = cdi::parse_spec_version(claim.newest_version);
    if (!version && spec) version = cdi::parse_spec_version(spec->version);
    if (!version) warn_of_engines();  // the new file may be too new
    if (!version || (options.max_version && *options.max_version <= *version)) return false;
    options.max_version = std::max(*version, first_with_annotations);
    options.oldest_engine.clear();
    return true;
  }

  void warn_of_engines() {
    for (const auto& warning : installed_->warnings) warn(warning);
  }

  /// Warns about omissions in the spec of a new claim, and about its CDI version.
  void warn_of_limits(const Claim& claim, const PreparedSpec& spec, const Options& options) {
    if (!options_of(claim, options_).max_version) warn_of_engines();
    if (spec.converted && !options.oldest_engine.empty()) {
      warn(fmt::format("claim {}: its spec is {}", claim.uid, reason_for_version(options)));
    }
    for (const auto& warning : spec.warnings) warn(fmt::format("claim {}: {}", claim.uid, warning));
    warn_of_losses(claim, spec);
  }

  void warn_of_losses(const Claim& claim, const PreparedSpec& spec) {
    for (const auto& [text, count] : grouped(spec.losses)) {
      warn(fmt::format("claim {}: {}", claim.uid, text));
    }
  }

  /// Finishes a killed call for a claim, and records the claim in `all` or `faults`.
  void settle(Claim claim) {
    output_dirs_.insert(files_.directory_of(claim));
    const bool prepared = claim.phase == Claim::Phase::prepared;
    const auto settled = prepared ? renew(claim) : forget(claim);
    if (settled && !prepared) return;
    if (!settled) faults_[claim.uid] = cdi::to_string(settled.error());
    claims_.emplace(claim.uid, std::move(claim));
  }

  /// Saves a new claim in the journal, writes its spec, and records in the journal that the spec is
  /// written.
  cdi::Result<void> carry_out(Claim& claim, const cdi::Spec& spec) const {
    if (auto good = files_.check_writable(claim, spec); !good) return good;
    claim.phase = Claim::Phase::preparing;
    if (auto saved = journal_.save(claim); !saved) return saved;
    if (auto written = files_.write(claim, spec); !written) return written;
    claim.phase = Claim::Phase::prepared;
    return journal_.save(claim);
  }

  /// Removes the spec of a claim, and then the claim. A spec file of another owner stays.
  cdi::Result<void> forget(const Claim& claim) const {
    const auto removed = files_.remove(claim);
    if (!removed && removed.error().code != cdi::Errc::conflict) return removed;
    return journal_.erase(claim.uid);
  }

  /// Writes the current spec of a claim. If that fails, a spec from this boot stays, unless it now
  /// gives access to another GPU or contains an outdated device number. A spec from another boot is
  /// removed, because its numbers may belong to another device.
  cdi::Result<void> renew(Claim& claim) {
    const bool other_boot = !boot_.empty() && claim.boot_id != boot_;
    auto renewed = update_spec(claim);
    if (renewed) return renewed;
    const bool is_unsafe = other_boot || renewed.error().code == cdi::Errc::conflict;
    if (is_unsafe || has_wrong_node(claim)) static_cast<void>(files_.remove(claim));
    return renewed;
  }

  /// Whether the spec of a claim gives access to another GPU, or contains an outdated device
  /// number.
  bool has_wrong_node(const Claim& claim) const {
    const auto spec = files_.read(claim);
    if (!spec) return false;
    for (const auto& claimed : claim.devices) {
      const auto* const kind = find_gpu(survey_, claimed).inventory;
      if (kind != nullptr && renumbered(*spec, *kind)) return true;
    }
    return gives_another_gpu(survey_, claim, *spec);
  }

  /// Checks that the found devices certainly belong to a claim whose spec is missing or from
  /// another boot: a partition may now have another size.
  cdi::Result<void> check_sizes(const Claim& claim, const std::vector<FoundDevice>& found) const {
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto& its = claim.devices[i];
      if (its.division.empty() || !found[i].division().empty()) continue;
      auto why = fmt::format("it is unknown whether it is still {}", its.division);
      if (found[i].whole.gpu->vendor == "nvidia") {
        why += fmt::format(": {} can check it",
                           recheck_command(survey_.tree, claim, journal_.directory()));
      }
      return device_error(its.name, why);
    }
    return {};
  }

  cdi::Result<void> update_spec(Claim& claim) {
    const auto found = find_again(survey_, claim);
    if (!found) return found.error();
    const auto old = files_.read(claim);
    const bool is_certain = claim.boot_id == boot_ && old;
    if (auto good = is_certain ? cdi::Result<void>{} : check_sizes(claim, *found); !good) {
      return good;
    }
    auto options = settled_options(claim);
    const auto before = claim;
    const bool is_held = hold_version(claim, options);
    const auto spec = claim_spec(survey_, claim, *found, options);
    if (!spec) return spec.error();
    if (is_held && spec->converted) warn_of_engines();
    if (!old || old->devices != spec->spec.devices) warn_of_losses(claim, *spec);
    if (auto written = files_.write(claim, spec->spec); !written) return written;
    for (std::size_t i = 0; i < found->size(); ++i) update(claim.devices[i], (*found)[i]);
    if (!boot_.empty()) claim.boot_id = boot_;
    return claim == before ? cdi::Result<void>{} : journal_.save(claim);
  }

  /// Removes spec files of this journal that belong to no claim, and temporary files of killed
  /// writers. The files of unreadable claims stay.
  void remove_orphans() {
    left_.clear();
    unseen_.clear();
    std::set<std::string> keep;
    for (const auto& [uid, claim] : claims_) keep.insert(claim.file_name());
    for (const auto* const dirs : {&output_dirs_, &named_dirs_}) {
      for (const auto& path : *dirs) {
        auto pruned = files_.prune(path, keep, unreadable_);
        if (pruned) {
          note(std::move(*pruned));
        } else if (dirs == &output_dirs_) {
          unseen_.push_back(std::move(pruned).error());
        } else {  // the directory may not exist
          warn(cdi::to_string(pruned.error()));
        }
      }
    }
    for (const auto* const errors : {&unseen_, &left_}) {
      for (const auto& error : *errors) warn(cdi::to_string(error));
    }
  }

  /// Records the files that were removed from a directory, and those that could not be removed.
  void note(cdi::Reconciled pruned) {
    for (auto& error : pruned.errors) left_.push_back(std::move(error));
    for (auto& error : pruned.unreadable) {
      error.message += ": its owner is unknown";
      error.advice = "remove it by hand if no program needs it";
      left_.push_back(std::move(error));
    }
    for (const auto& file : pruned.files) {
      if (file.action != cdi::Publication::Action::removed) continue;
      warn(file.path + " removed: it belongs to no claim");
      removed_.push_back(file.path);
    }
  }

  /// Adds a warning, unless it was added before.
  void warn(std::string text) {
    if (std::find(warnings_.begin(), warnings_.end(), text) != warnings_.end()) return;
    warnings_.push_back(std::move(text));
  }

  cdi::Result<void> check_free(const RequestedDevice& requested) const {
    const auto& device = requested.device;
    for (const auto& [uid, claim] : claims_) {
      for (const auto& its : claim.devices) {
        const auto whole = find_gpu(survey_, its);
        if (whole.gpu == nullptr || !excludes(device, *whole.gpu, its.suffix)) continue;
        return taken(requested, uid, its);
      }
    }
    if (unreadable_.empty()) return {};
    const auto& uid = *unreadable_.begin();
    return conflict(
        fmt::format("device {}: claim {} may have it: {}", requested.text(), uid, faults_.at(uid)));
  }

  const Journal& journal_;
  const Survey& survey_;
  const Options& options_;
  ClaimFiles files_;
  std::string boot_;
  std::set<std::string> output_dirs_;         // of the command line, and of all claims
  std::set<std::string> named_dirs_{};        // in journals that cannot be read
  std::optional<VersionChoice> installed_{};  // from the installed engines, if needed
  std::map<std::string, Claim> claims_{};
  std::set<std::string> unreadable_{};
  std::map<std::string, std::string> faults_{};
  std::vector<std::string> warnings_{};
  std::vector<std::string> removed_{};  // spec files that belonged to no claim
  std::vector<cdi::Error> left_{};      // spec files that cannot be read or removed
  std::vector<cdi::Error> unseen_{};    // directories of specs that cannot be read
};

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_CLAIMS_CLAIMS_HPP
