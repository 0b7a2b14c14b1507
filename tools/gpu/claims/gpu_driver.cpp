// Implements the library's driver of claims for GPUs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "gpu_driver.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "../../kit/cdi_specs/write_command.hpp"
#include "../cdi_specs/lost_libraries.hpp"
#include "../cdi_specs/old_numbers.hpp"
#include "claim.hpp"
#include "claim_command.hpp"
#include "claim_edits.hpp"
#include "kept_spec.hpp"
#include "requested_device.hpp"

namespace prepare {

cdi::Result<cdi::Spec> GpuDriver::make_spec(Claim& claim, const cdi::Spec* old) {
  return claim.phase == Claim::Phase::preparing ? first_spec(claim) : next_spec(claim, old);
}

bool GpuDriver::is_same(const ClaimedDevice& a, const ClaimedDevice& b) {
  const auto one = gpu_of(a);
  const auto other = gpu_of(b);
  return find_gpu(survey_, one).gpu == find_gpu(survey_, other).gpu && one.suffix == other.suffix &&
         one.by_iommufd == other.by_iommufd;
}

bool GpuDriver::overlaps(const ClaimedDevice& a, const ClaimedDevice& b) {
  const auto* const gpu = find_gpu(survey_, gpu_of(a)).gpu;
  return gpu != nullptr && gpu == find_gpu(survey_, gpu_of(b)).gpu && has_common_part(a, b);
}

bool GpuDriver::excludes(const ClaimedDevice& a, const ClaimedDevice& b) {
  const auto* const one = find_gpu(survey_, gpu_of(a)).gpu;
  const auto* const other = find_gpu(survey_, gpu_of(b)).gpu;
  if (one == nullptr || other == nullptr) return false;
  return one == other ? has_common_part(a, b) : are_bound_together(*one, *other);
}

bool GpuDriver::may_stay(const Claim& claim, const cdi::Spec& spec) {
  const auto its = surveys_.of(claim);
  const auto& survey = its ? **its : survey_;
  for (const auto& claimed : claim.devices) {
    const auto* const kind = find_gpu(survey, gpu_of(claimed)).inventory;
    if (kind != nullptr && renumbered(spec, *kind)) return false;
  }
  return !gives_another_gpu(survey, claim, spec);
}

cdi::Result<Directory> GpuDriver::open_spec_dir(const std::string& path, Missing missing) {
  if (is_of_tree() && path != options_.output_dir && !options_.place_on_host(path)) {
    return cdi::Error{.code = cdi::Errc::denied,
                      .message = "the journal records this directory, which is not under the root",
                      .advice = "give it as --output-dir if it is correct",
                      .position = {.file = path}};
  }
  return open_directory(options_, path, missing);
}

std::string GpuDriver::advice_for_lost_spec(const std::set<std::string>& /*dirs*/) {
  return fmt::format(
      ": if it is in another directory, {} with that directory as --output-dir removes it",
      command_with(survey_.tree, "list", {"--state-dir " + cdi::shell_word(journal_.directory())}));
}

bool GpuDriver::is_of_tree() const {
  return options_.root != "/" && options_.place_on_host(journal_.path()).has_value();
}

bool GpuDriver::has_common_part(const ClaimedDevice& a, const ClaimedDevice& b) {
  const auto one = gpu_of(a).suffix;
  const auto other = gpu_of(b).suffix;
  return one == other || one.empty() || other.empty();
}

cdi::Result<cdi::Spec> GpuDriver::first_spec(Claim& claim) {
  const auto found = find_again(survey_, claim);
  if (!found) return found.error();
  const auto options = settled_options(claim);
  warn_of_kinds(*found, options);
  record_version(claim, options);
  auto spec = claim_spec(survey_, claim, *found, options);
  if (!spec) return std::move(spec).error();
  if (auto good = check_libraries(*found, spec->spec, options); !good) {
    return std::move(good).error();
  }
  warn_of_limits(claim, *spec, options);
  return std::move(spec->spec);
}

cdi::Result<cdi::Spec> GpuDriver::next_spec(Claim& claim, const cdi::Spec* old) {
  if (places_ == ClaimPlaces::given) record_place(claim.options, options_);
  const auto survey = surveys_.of(claim);
  if (!survey) return survey.error();
  const auto found = find_again(**survey, claim);
  if (!found) return found.error();
  if (claim.boot_id != boot_ || old == nullptr) {
    if (auto good = check_sizes(claim, *found); !good) return std::move(good).error();
  }
  auto options = settled_options(claim);
  warn_of_kinds(*found, options);
  const bool is_held = hold_version(claim, options);
  auto spec = claim_spec(**survey, claim, *found, options);
  if (!spec) return std::move(spec).error();
  if (old != nullptr) {
    const auto now = tools::file_mounts(spec->spec);
    const auto lost = tools::lost_driver_file((**survey).tree, *old, now);
    if (lost) return lost_error(*lost, nullptr, "then run `cdi-prepare list`");
  }
  if (is_held && spec->converted) warn_of_engines();
  if (old == nullptr || old->devices != spec->spec.devices) warn_of_losses(claim, *spec);
  for (std::size_t i = 0; i < found->size(); ++i) update(claim.devices[i], (*found)[i]);
  return std::move(spec->spec);
}

cdi::Result<void> GpuDriver::check_libraries(const std::vector<FoundDevice>& found,
                                             const cdi::Spec& spec, const Options& options) const {
  for (const auto& device : found) {
    const auto& kind = *device.whole.inventory;
    const auto lost = lost_from_spec(survey_.tree, spec, kind, options);
    if (lost) return lost_error(*lost, &kind, "then prepare the claim again");
  }
  return {};
}

Options GpuDriver::settled_options(const Claim& claim) {
  auto options = options_of(claim, options_);
  if (options.max_version) return options;
  if (!installed_) installed_ = choose_version(survey_, options);
  options.max_version = installed_->options.max_version;
  options.oldest_engine = installed_->options.oldest_engine;
  return options;
}

void GpuDriver::record_version(Claim& claim, const Options& options) {
  claim.newest_version = cdi::to_string(options.max_version.value_or(cdi::known_versions.back()));
}

bool GpuDriver::hold_version(Claim& claim, Options& options) {
  const bool follows = !options_of(claim, options_).max_version;
  if (!follows) return false;
  if (installed_->knows_all_versions) {
    record_version(claim, options);
    return false;
  }
  const auto version = cdi::parse_spec_version(claim.newest_version);
  if (!version || (options.max_version && *options.max_version <= *version)) return false;
  options.max_version = std::max(*version, first_with_annotations);
  options.oldest_engine.clear();
  return true;
}

cdi::Result<void> GpuDriver::check_sizes(const Claim& claim,
                                         const std::vector<FoundDevice>& found) const {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto its = gpu_of(claim.devices[i]);
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

void GpuDriver::warn_of_kinds(const std::vector<FoundDevice>& found, const Options& options) {
  for (const auto& device : found) {
    auto texts = warnings_of(*device.whole.inventory, profiles_named(options.profile));
    for (auto& text : texts) warn(std::move(text));
  }
}

void GpuDriver::warn_of_engines() {
  for (const auto& warning : installed_->warnings) warn(warning);
}

void GpuDriver::warn_of_limits(const Claim& claim, const PreparedSpec& spec,
                               const Options& options) {
  if (!options_of(claim, options_).max_version) warn_of_engines();
  if (spec.converted && !options.oldest_engine.empty()) {
    warn(fmt::format("claim {}: its spec is {}", claim.uid, reason_for_version(options)));
  }
  for (const auto& warning : spec.warnings) warn(fmt::format("claim {}: {}", claim.uid, warning));
  warn_of_losses(claim, spec);
}

void GpuDriver::warn_of_losses(const Claim& claim, const PreparedSpec& spec) {
  for (const auto& [text, count] : grouped(spec.losses)) {
    warn(fmt::format("claim {}: {}", claim.uid, text));
  }
}

void GpuDriver::warn(std::string text) {
  if (std::find(warnings_.begin(), warnings_.end(), text) != warnings_.end()) return;
  warnings_.push_back(std::move(text));
}

}  // namespace prepare
