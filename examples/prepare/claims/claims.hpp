// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_CLAIMS_CLAIMS_HPP
#define CDI_PREPARE_CLAIMS_CLAIMS_HPP

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

#include <cdi/publish.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>

#include "../base/options.hpp"
#include "../host/directories.hpp"
#include "../spec/fingerprint.hpp"
#include "../spec/prepared_spec.hpp"
#include "../spec/target_release.hpp"
#include "../vendors/survey.hpp"
#include "claim_edits.hpp"
#include "found_device.hpp"
#include "journal.hpp"

// Claims: which GPUs of the host are promised to whom. The journal says what was promised; the spec
// files and the hardware are made to agree with it, or the claim has a fault.

namespace prepare {

/// What a claim asks for.
struct AskedDevice {
  std::string request{};  // of the claim; empty for all of them
  std::string name{};     // by which it is asked for
  FoundDevice device{};

  /// For messages: "1 (GPU-5f2a...)"
  std::string text() const {
    const auto first = device.name();
    return first == name ? name : fmt::format("{} ({})", name, first);
  }
};

/// What a claim is to remember of a device.
inline ClaimedDevice to_claimed(const AskedDevice& asked) {
  const auto& [whole, share, by_iommufd] = asked.device;
  return {.request = asked.request,
          .asked = asked.name,
          .kind = whole.inventory->kind,
          .name = asked.device.name(),
          .id = whole.gpu->id,
          .suffix = share.suffix,
          .pci_address = whole.gpu->pci_address,
          .pci_id = whole.gpu->pci_id,
          .by_iommufd = by_iommufd};
}

/// Notes where a device is now, and its id once that is known.
inline void update(ClaimedDevice& claimed, const FoundDevice& found) {
  const auto& gpu = *found.whole.gpu;
  if (!gpu.id.empty()) claimed.id = gpu.id;
  claimed.pci_address = gpu.pci_address;
}

/// The claims of a journal, made to agree with the spec files and the hardware. All that it is made
/// of must live as long.
class Claims {
 public:
  Claims(const Journal& journal, const Survey& survey, const Options& options)
      : journal_{journal},
        survey_{survey},
        options_{options},
        boot_{boot_id(survey.tree)},
        output_dirs_{options.output_dir} {}

  /// Ends what killed calls have begun, makes specs that are missing or out of date, and removes
  /// those that belong to no claim. Fails when nobody can tell which claims there are.
  cdi::Result<void> reconcile() {
    if (!cdi::check_owner(owner())) {
      return cdi::Error{.code = cdi::Errc::invalid,
                        .message =
                            "specs cannot record this name: take another --state-dir, in "
                            "ASCII, of at most 200 characters",
                        .position = {.file = journal_.directory()}};
    }
    auto loaded = journal_.load();
    if (!loaded) return std::move(loaded).error();
    for (auto& [uid, claim] : *loaded) {
      if (claim) {
        settle(std::move(*claim));
      } else {
        faults_[uid] = cdi::to_string(claim.error()) + "; unprepare the claim to be rid of it";
        unreadable_.insert(uid);
      }
    }
    remove_orphans();
    return {};
  }

  const Survey& survey() const { return survey_; }

  /// Those that the journal has; some may have a fault.
  const std::map<std::string, Claim>& all() const { return claims_; }

  /// What is wrong with claims, by UID. There may be a claim that is not among `all`.
  const std::map<std::string, std::string>& faults() const { return faults_; }

  /// What is wrong with the directory of the specs.
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// Why a claim has not what it should have, as an error.
  cdi::Result<void> check(const std::string& uid) const {
    const auto fault = faults_.find(uid);
    if (fault == faults_.end()) return {};
    return cdi::Error{.code = cdi::Errc::host, .message = fault->second};
  }

  /// Prepares a claim without a fault. Doing so again changes nothing.
  cdi::Result<Claim> prepare(Claim claim, const std::vector<AskedDevice>& asked) {
    if (auto distinct = check_distinct(asked); !distinct) return std::move(distinct).error();
    const auto known = claims_.find(claim.uid);
    if (known != claims_.end()) {
      if (has_devices(known->second, asked)) return known->second;
      return conflict(
          fmt::format("the claim has {} already: unprepare it first", listed(known->second)));
    }
    std::vector<FoundDevice> found;
    for (const auto& one : asked) {
      if (auto free = check_free(one); !free) return std::move(free).error();
      claim.devices.push_back(to_claimed(one));
      found.push_back(one.device);
    }
    claim.boot_id = boot_;
    const auto options = settled_options(claim);
    const auto spec = claim_spec(survey_, claim, found, options);
    if (!spec) return spec.error();
    if (auto carried_out = carry_out(claim, spec->spec); !carried_out) {
      static_cast<void>(forget(claim));  // the next call ends what cannot be ended now
      return std::move(carried_out).error();
    }
    warn_of_release(claim, *spec, options);
    claims_.emplace(claim.uid, claim);
    return claim;
  }

  /// Takes back what a claim was given; that it was given nothing is no error.
  cdi::Result<void> unprepare(const std::string& uid) {
    if (const auto known = claims_.find(uid); known != claims_.end()) {
      auto& claim = known->second;
      claim.phase = Claim::Phase::removing;
      static_cast<void>(journal_.save(claim));  // it must end on a full disk, too
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
    // As long as its spec may be there, its GPU is not to be given to others.
    if (!unseen_.empty()) return unseen_.front();
    return journal_.erase(uid);
  }

 private:
  static cdi::Error conflict(std::string message) {
    return {.code = cdi::Errc::conflict, .message = std::move(message)};
  }

  /// Of its files: another journal in the same directory has others.
  std::string owner() const { return "cdi-prepare claims of " + journal_.directory(); }

  std::string output_dir(const Claim& claim) const {
    return options_of(claim, options_).output_dir;
  }

  /// The options with which a claim was prepared, with the release of the engines that are
  /// installed when it was given none. They are asked only when a claim follows them, and once.
  Options settled_options(const Claim& claim) {
    auto options = options_of(claim, options_);
    if (options.max_version) return options;
    if (!installed_) installed_ = find_target(survey_, options);
    options.max_version = installed_->options.max_version;
    options.oldest_engine = installed_->options.oldest_engine;
    return options;
  }

  /// Says what engines and the release that they read mean for a new claim.
  void warn_of_release(const Claim& claim, const PreparedSpec& spec, const Options& options) {
    const bool follows = !options_of(claim, options_).max_version;
    if (follows) {
      for (const auto& warning : installed_->warnings) warn(warning);
    }
    if (spec.lowered && !options.oldest_engine.empty()) {
      warn(fmt::format("claim {}: its spec is {}", claim.uid, reason_for_release(options)));
    }
    for (const auto& [text, count] : grouped(spec.losses)) {
      warn(fmt::format("claim {}: {}", claim.uid, text));
    }
  }

  cdi::Publisher publisher(const Directory& directory) const {
    return cdi::Publisher{owner(), directory.number(), directory.path};
  }

  /// Opens a directory of specs that claims name. A journal below the root is as good as what made
  /// that tree: it does not decide which directories outside of it are written to.
  cdi::Result<Directory> open(const std::string& path, Missing missing) const {
    const bool of_tree = options_.root != "/" && options_.place_on_host(options_.state_dir);
    if (of_tree && path != options_.output_dir && !options_.place_on_host(path)) {
      return cdi::Error{.code = cdi::Errc::refused,
                        .message =
                            "the journal names this directory, which is not below the "
                            "root: give it as --output-dir if that is right",
                        .position = {.file = path}};
    }
    return open_directory(options_, path, missing);
  }

  /// Ends what was begun with a claim, and takes note of it.
  void settle(Claim claim) {
    output_dirs_.insert(output_dir(claim));
    const bool prepared = claim.phase == Claim::Phase::prepared;
    const auto settled = prepared ? renew(claim) : forget(claim);
    if (settled && !prepared) return;
    if (!settled) faults_[claim.uid] = cdi::to_string(settled.error());
    claims_.emplace(claim.uid, std::move(claim));
  }

  cdi::Result<void> publish(const Claim& claim, const cdi::Spec& spec) const {
    const auto directory = open(output_dir(claim), Missing::made);
    if (!directory) return directory.error();
    const auto published = publisher(*directory).write(claim.file_name(), spec);
    if (!published) return published.error();
    return {};
  }

  /// Puts a new claim in the journal, then in a spec, and says in the journal that it is there.
  cdi::Result<void> carry_out(Claim& claim, const cdi::Spec& spec) const {
    const auto directory = open(output_dir(claim), Missing::stays);
    if (!directory) return directory.error();
    const auto tried = publisher(*directory).write(claim.file_name(), spec, cdi::DryRun::yes);
    if (!tried) return tried.error();
    claim.phase = Claim::Phase::preparing;
    if (auto saved = journal_.save(claim); !saved) return saved;
    if (auto published = publish(claim, spec); !published) return published;
    claim.phase = Claim::Phase::prepared;
    return journal_.save(claim);
  }

  /// Removes the spec of a claim, then the claim. A file of another owner stays.
  cdi::Result<void> forget(const Claim& claim) const {
    const auto removed = remove_spec(claim);
    if (!removed && removed.error().code != cdi::Errc::conflict) return removed;
    return journal_.erase(claim.uid);
  }

  cdi::Result<void> remove_spec(const Claim& claim) const {
    const auto directory = open(output_dir(claim), Missing::stays);
    if (!directory) return directory.error();
    const auto removed = publisher(*directory).remove(claim.file_name());
    return removed ? cdi::Result<void>{} : removed.error();
  }

  /// Makes the spec of a claim what it is to be now. When that cannot be, a spec of this boot
  /// stays: its numbers are good still. That of another boot goes: they could be another device's.
  cdi::Result<void> renew(Claim& claim) {
    const bool other_boot = !boot_.empty() && claim.boot_id != boot_;
    auto renewed = write_anew(claim);
    if (!renewed && (other_boot || renewed.error().code == cdi::Errc::conflict)) {
      static_cast<void>(remove_spec(claim));
    }
    return renewed;
  }

  cdi::Result<void> write_anew(Claim& claim) {
    const auto found = find_again(survey_, claim);
    if (!found) return found.error();
    const auto spec = claim_spec(survey_, claim, *found, settled_options(claim));
    if (!spec) return spec.error();
    if (auto published = publish(claim, spec->spec); !published) return published;
    const auto before = claim;
    for (std::size_t i = 0; i < found->size(); ++i) update(claim.devices[i], (*found)[i]);
    if (!boot_.empty()) claim.boot_id = boot_;
    return claim == before ? cdi::Result<void>{} : journal_.save(claim);
  }

  /// Removes spec files of this journal that no claim has, and what killed writers left. Of a claim
  /// that cannot be read the UID is known.
  void remove_orphans() {
    left_.clear();
    unseen_.clear();
    std::set<std::string> keep;
    for (const auto& [uid, claim] : claims_) keep.insert(claim.file_name());
    for (const auto& path : output_dirs_) {
      auto removed = remove_orphans(path, keep);
      if (!removed) unseen_.push_back(std::move(removed).error());
    }
    for (const auto* const errors : {&unseen_, &left_}) {
      for (const auto& error : *errors) warn(cdi::to_string(error));
    }
  }

  cdi::Result<void> remove_orphans(const std::string& path, std::set<std::string> keep) {
    const auto directory = open(path, Missing::stays);
    if (!directory) return directory.error();
    const auto its_publisher = publisher(*directory);
    if (!unreadable_.empty()) keep.merge(files_of_unreadable(its_publisher));
    auto pruned = its_publisher.prune(keep);
    if (!pruned) return std::move(pruned).error();
    for (auto& error : pruned->errors) left_.push_back(std::move(error));
    for (auto& error : pruned->unreadable) {
      error.message += ": nobody can tell whose it is: remove it by hand if nobody needs it";
      left_.push_back(std::move(error));
    }
    for (const auto& file : pruned->files) {
      if (file.action != cdi::Publication::Action::removed) continue;
      warn(file.path + " removed: it belongs to no claim");
    }
    return {};
  }

  /// Takes note of a warning, once.
  void warn(std::string text) {
    if (std::find(warnings_.begin(), warnings_.end(), text) != warnings_.end()) return;
    warnings_.push_back(std::move(text));
  }

  /// Whether a file is named as the spec of a claim is, of whatever kind.
  static bool is_spec_of(const std::string& uid, std::string_view path) {
    return path.ends_with("_" + uid + ".json");
  }

  std::set<std::string> files_of_unreadable(const cdi::Publisher& publisher) const {
    std::set<std::string> out;
    const auto files = publisher.files();
    if (!files) return out;
    for (const auto& file : *files) {
      for (const auto& uid : unreadable_) {
        if (is_spec_of(uid, file)) out.insert(file);
      }
    }
    return out;
  }

  /// Whether a claim has what is asked for, for the same requests; the order is of no interest.
  bool has_devices(const Claim& claim, const std::vector<AskedDevice>& asked) const {
    const auto same = [&](const AskedDevice& one, const ClaimedDevice& its) {
      return one.request == its.request && one.device.whole.gpu == find_gpu(survey_, its).gpu &&
             one.device.share.suffix == its.suffix && one.device.by_iommufd == its.by_iommufd;
    };
    return asked.size() == claim.devices.size() &&
           std::all_of(asked.begin(), asked.end(), [&](const AskedDevice& one) {
             return std::any_of(claim.devices.begin(), claim.devices.end(),
                                [&](const ClaimedDevice& its) { return same(one, its); });
           });
  }

  static cdi::Result<void> check_distinct(const std::vector<AskedDevice>& asked) {
    for (std::size_t i = 0; i < asked.size(); ++i) {
      for (std::size_t before = 0; before < i; ++before) {
        const auto& other = asked[before].device;
        if (!is_same_part(asked[i].device, *other.whole.gpu, other.share.suffix)) continue;
        return conflict(fmt::format("device {}: asked for twice", asked[i].text()));
      }
    }
    return {};
  }

  /// What a claim has, and for which requests.
  static std::string listed(const Claim& claim) {
    std::string out;
    for (const auto& device : claim.devices) {
      if (!out.empty()) out += ", ";
      out += device.request.empty() ? device.name : device.name + "@" + device.request;
    }
    return out;
  }

  cdi::Result<void> check_free(const AskedDevice& asked) const {
    const auto& device = asked.device;
    for (const auto& [uid, claim] : claims_) {
      for (const auto& its : claim.devices) {
        const auto whole = find_gpu(survey_, its);
        if (whole.gpu == nullptr || !excludes(device, *whole.gpu, its.suffix)) continue;
        return conflict(fmt::format("device {}: claim {} has {}", asked.text(), uid, its.name));
      }
    }
    if (unreadable_.empty()) return {};
    const auto& uid = *unreadable_.begin();
    return conflict(
        fmt::format("device {}: claim {} could have it: {}", asked.text(), uid, faults_.at(uid)));
  }

  const Journal& journal_;
  const Survey& survey_;
  const Options& options_;
  std::string boot_;
  std::set<std::string> output_dirs_;  // of these options, and of all claims
  std::optional<Target> installed_{};  // what the engines installed read, once it was needed
  std::map<std::string, Claim> claims_{};
  std::set<std::string> unreadable_{};
  std::map<std::string, std::string> faults_{};
  std::vector<std::string> warnings_{};
  std::vector<cdi::Error> left_{};    // spec files that nobody could judge or remove
  std::vector<cdi::Error> unseen_{};  // directories of specs that cannot be read
};

}  // namespace prepare

#endif  // CDI_PREPARE_CLAIMS_CLAIMS_HPP
