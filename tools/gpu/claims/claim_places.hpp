// Where the drivers and devices of claims are: the place options of each claim, and their surveys.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cdi/base/shell_word.hpp>
#include <cdi/result.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../base/options.hpp"
#include "../survey/survey.hpp"
#include "../vendors/driver_place.hpp"
#include "claim.hpp"

namespace prepare {

/// Which place the specs of claims are made for.
enum class ClaimPlaces : std::uint8_t {
  recorded,  // the place of each claim, from the journal
  given,     // the place of the options, which apply to all claims of a journal
};

/// Whose paths a journal of claims may name.
enum class JournalPlace : std::uint8_t {
  here,        // all
  under_root,  // paths of the host under a root, whose journal may not be trusted
};

inline constexpr const char* driver_root_key = "driver_root";
inline constexpr const char* dev_root_key = "dev_root";
inline constexpr const char* library_dirs_key = "library_dirs";
inline constexpr const char* vendor_files_key = "vendor_files";

/// Records a place in the options of a claim.
inline void record_place(std::map<std::string, std::string>& kept, const SurveyOptions& options) {
  kept[driver_root_key] = options.driver_root;
  kept[dev_root_key] = options.dev_root;
  kept[library_dirs_key] = fmt::format("{}", fmt::join(options.library_dirs, ":"));
  kept[vendor_files_key] = fmt::format("{}", fmt::join(options.vendor_files, "\n"));
}

/// An option that a claim records; empty if it does not.
inline std::string kept_option(const Claim& claim, const char* key) {
  const auto found = claim.options.find(key);
  return found == claim.options.end() ? std::string{} : found->second;
}

/// Sets the place that a claim records.
inline void use_place(const Claim& claim, SurveyOptions& options) {
  options.driver_root = kept_option(claim, driver_root_key);
  options.dev_root = kept_option(claim, dev_root_key);
  options.library_dirs = tools::split(kept_option(claim, library_dirs_key), ":");
  options.vendor_files = tools::split(kept_option(claim, vendor_files_key), "\n");
}

/// Converts a path recorded by a cdi-prepare call, which may have seen another root, to a path on
/// the host under the root.
inline std::string on_host(const tools::HostTree& tree, const std::string& path) {
  std::error_code failed;
  for (const auto& root : {tree.root(), std::filesystem::canonical(tree.root(), failed).string()}) {
    if (root.size() > 1 && path.starts_with(root + "/")) return path.substr(root.size());
  }
  return path;
}

/// The surveys of the places that claims record.
class ClaimSurveys {
 public:
  /// `survey` is the caller's, and must outlive this object. `options` has the host.
  ClaimSurveys(const Survey& survey, SurveyOptions options, JournalPlace journal)
      : survey_{survey}, options_{std::move(options)}, journal_{journal} {}

  /// The survey for a claim: a place is surveyed when its first claim comes. The answer lives as
  /// long as this object.
  cdi::Result<const Survey*> of(const Claim& claim) {
    auto options = options_;
    use_place(claim, options);
    auto place = place_arguments(options);
    if (place == survey_.place) return &survey_;
    auto known = others_.find(place);
    if (known == others_.end()) {
      if (journal_ == JournalPlace::under_root) read_vendor_files_of_host(options);
      known = others_.emplace(std::move(place), survey_host(options)).first;
    }
    if (!known->second) return known->second.error();
    return &*known->second;
  }

 private:
  /// Reads vendor files below the root, except files that the caller's options also name.
  void read_vendor_files_of_host(SurveyOptions& options) const {
    for (const auto& file : std::exchange(options.vendor_files, {})) {
      const auto argument = "--vendor-file " + cdi::shell_word(file);
      const auto& given = survey_.place;
      if (std::find(given.begin(), given.end(), argument) != given.end()) {
        options.vendor_files.push_back(file);
      } else {
        options.host_vendor_files.push_back(on_host(survey_.tree, file));
      }
    }
  }

  const Survey& survey_;
  const SurveyOptions options_;
  const JournalPlace journal_;
  std::map<std::vector<std::string>, cdi::Result<Survey>> others_{};  // by place
};

}  // namespace prepare
