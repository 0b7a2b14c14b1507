// Implements the library's driver of claims for GPUs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../base/options.hpp"
#include "../cdi_specs/fingerprint.hpp"
#include "../cdi_specs/prepared_spec.hpp"
#include "../cdi_specs/version_choice.hpp"
#include "../host/directories.hpp"
#include "../survey/survey.hpp"
#include "claim_places.hpp"
#include "found_device.hpp"

namespace prepare {

/// The GPUs of a survey, for the claims in a journal. All arguments must outlive this object.
class GpuDriver final : public cdi::ClaimDriver {
 public:
  GpuDriver(const cdi::ClaimJournal& journal, const Survey& survey, const Options& options,
            ClaimPlaces places)
      : journal_{journal},
        survey_{survey},
        options_{options},
        places_{places},
        surveys_{survey, options, is_of_tree() ? JournalPlace::under_root : JournalPlace::here},
        boot_{boot_id(survey.tree)} {}

  const Survey& survey() const { return survey_; }

  /// Warnings about engines and the content of specs.
  const std::vector<std::string>& warnings() const { return warnings_; }

  cdi::Result<cdi::Spec> make_spec(Claim& claim, const cdi::Spec* old) override;

  /// GPUs need no preparation.
  bool makes_ready() const override { return false; }

  bool is_same(const ClaimedDevice& a, const ClaimedDevice& b) override;

  bool overlaps(const ClaimedDevice& a, const ClaimedDevice& b) override;

  bool excludes(const ClaimedDevice& a, const ClaimedDevice& b) override;

  /// Not with a node of another GPU, or with an outdated device number.
  bool may_stay(const Claim& claim, const cdi::Spec& spec) override;

  /// Opens the spec directory recorded in a claim. A journal under a root may not refer to
  /// directories outside the root.
  cdi::Result<Directory> open_spec_dir(const std::string& path, Missing missing) override;

  std::string advice_for_lost_spec(const std::set<std::string>& /*dirs*/) override;

 private:
  /// Whether the journal is under a root.
  bool is_of_tree() const;

  static bool has_common_part(const ClaimedDevice& a, const ClaimedDevice& b);

  /// The spec of a new claim.
  cdi::Result<cdi::Spec> first_spec(Claim& claim);

  /// The present spec of a claim, whose spec so far may be missing.
  cdi::Result<cdi::Spec> next_spec(Claim& claim, const cdi::Spec* old);

  /// Fails if the host has lost libraries that specs of `write` mount.
  cdi::Result<void> check_libraries(const std::vector<FoundDevice>& found, const cdi::Spec& spec,
                                    const Options& options) const;

  /// The options with which a claim was prepared. A claim without a version gets the version of the
  /// installed engines, which are queried at most once.
  Options settled_options(const Claim& claim);

  /// Records the newest version that the spec of a claim may have.
  static void record_version(Claim& claim, const Options& options);

  /// If an engine's version is unknown, limits the CDI version of a claim to the recorded version.
  /// Otherwise records the version. Returns whether the version is limited.
  bool hold_version(Claim& claim, Options& options);

  /// Checks that the found devices certainly belong to a claim whose spec is missing or from
  /// another boot: a partition may now have another size.
  cdi::Result<void> check_sizes(const Claim& claim, const std::vector<FoundDevice>& found) const;

  /// Warns about the drivers of the found devices, as `write` does.
  void warn_of_kinds(const std::vector<FoundDevice>& found, const Options& options);

  void warn_of_engines();

  /// Warns about omissions in the spec of a new claim, and about its CDI version.
  void warn_of_limits(const Claim& claim, const PreparedSpec& spec, const Options& options);

  void warn_of_losses(const Claim& claim, const PreparedSpec& spec);

  /// Adds a warning, unless it was added before.
  void warn(std::string text);

  const cdi::ClaimJournal& journal_;
  const Survey& survey_;
  const Options& options_;
  const ClaimPlaces places_;
  ClaimSurveys surveys_;
  std::string boot_;
  std::optional<VersionChoice> installed_{};  // from the installed engines, if needed
  std::vector<std::string> warnings_{};
};

}  // namespace prepare
