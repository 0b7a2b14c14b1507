// The bodies of <cdi/claims/claims.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CLAIMS_CLAIMS_INL
#define CDI_CLAIMS_CLAIMS_INL

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include <cdi/claims/claim_directory.hpp>
#include <cdi/claims/claim_json.hpp>
#include <cdi/claims/claims.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/rules/owner.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// The owner of specs by default.
inline std::string owner_of(const ClaimJournal& journal) {
  return "claims of " + journal.directory();
}

/// The boot of this host; empty if it is unknown.
inline std::string boot_of_host() {
  auto text = read_file("/proc/sys/kernel/random/boot_id", 4096);
  return text ? text->substr(0, text->find('\n')) : std::string{};
}

inline std::string joined(const std::set<std::string>& texts) {
  std::string out;
  for (const auto& text : texts) out.append(out.empty() ? "" : ", ").append(text);
  return out;
}

inline ClaimOptions with_defaults(ClaimOptions options, const ClaimJournal& journal) {
  if (options.owner.empty()) options.owner = owner_of(journal);
  if (!options.boot_id) options.boot_id = boot_of_host();
  options.spec_dir = path_from_root(std::move(options.spec_dir));
  return options;
}

}  // namespace detail

CDI_INLINE bool may_be_shared(const ClaimedDevice& a, const ClaimedDevice& b) {
  if (a.admin_access || b.admin_access) return true;
  return a.name == b.name && !a.share_id.empty() && !b.share_id.empty() && a.share_id != b.share_id;
}

CDI_INLINE Claims::Claims(const ClaimJournal& journal, ClaimDriver& driver, ClaimOptions options)
    : journal_{journal},
      driver_{driver},
      options_{detail::with_defaults(std::move(options), journal)},
      specs_{driver, journal, options_.owner, options_.spec_dir},
      spec_dirs_{options_.spec_dir} {}

CDI_INLINE Result<void> Claims::repair() {
  if (auto good = check_owner(options_.owner); !good) {
    if (options_.owner == detail::owner_of(journal_)) {
      good.error().advice =
          "use another directory for the journal, in ASCII, of at most 200 characters";
      good.error().position.file = journal_.directory();
    }
    return good;
  }
  auto loaded = journal_.load();
  if (!loaded) return std::move(loaded).error();
  start_again(std::move(*loaded));
  for (auto known = claims_.begin(); known != claims_.end();) {
    const auto next = std::next(known);
    settle(known);
    known = next;
  }
  remove_orphans();
  return {};
}

/// Replaces what is known by what the journal contains.
CDI_INLINE void Claims::start_again(ClaimJournal::Claims loaded) {
  spec_dirs_ = {options_.spec_dir};
  for (auto* const texts : {&named_dirs_, &unreadable_}) texts->clear();
  for (auto* const texts : {&warnings_, &removed_}) texts->clear();
  claims_.clear();
  faults_.clear();
  for (auto& [uid, claim] : loaded) {
    if (claim) {
      claims_.emplace(uid, std::move(*claim));
      continue;
    }
    faults_[uid] = to_string(claim.error()) + "; unprepare the claim to remove it";
    unreadable_.insert(uid);
    auto path = journal_.named_directory(uid);
    if (!path.empty()) named_dirs_.insert(std::move(path));
  }
}

CDI_INLINE Result<void> Claims::check(const std::string& uid) const {
  const auto fault = faults_.find(uid);
  if (fault == faults_.end()) return {};
  return Error{.code = Errc::host, .message = fault->second};
}

CDI_INLINE Result<Claim> Claims::prepare(Claim claim) {
  if (claim.kind.empty()) claim.kind = options_.kind;
  if (claim.spec_dir.empty()) claim.spec_dir = options_.spec_dir;
  claim.spec_dir = detail::path_from_root(std::move(claim.spec_dir));
  if (auto good = check_new(claim); !good) return std::move(good).error();
  if (const auto known = claims_.find(claim.uid); known != claims_.end()) {
    if (has_devices(known->second, claim.devices)) return known->second;
    return detail::claim_conflict("the claim already has " + to_string(known->second) +
                                  ": unprepare it first");
  }
  for (const auto& device : claim.devices) {
    if (auto free = check_free(device); !free) return std::move(free).error();
  }
  claim.phase = Claim::Phase::preparing;
  claim.boot_id = boot();
  auto spec = driver_.make_spec(claim, nullptr);
  if (!spec) return std::move(spec).error();
  if (auto text = claim_to_json(claim); !text) return std::move(text).error();
  if (auto good = specs_.check_writable(claim, *spec); !good) return std::move(good).error();
  if (auto carried_out = carry_out(claim, std::move(*spec)); !carried_out) {
    if (auto undone = forget(claim); !undone) {  // no other claim may get its devices
      faults_[claim.uid] = to_string(undone.error());
      claims_.insert_or_assign(claim.uid, std::move(claim));
    }
    return std::move(carried_out).error();
  }
  spec_dirs_.insert(specs_.directory_of(claim));
  return claims_.insert_or_assign(claim.uid, std::move(claim)).first->second;
}

CDI_INLINE Result<Claim> Claims::prepare(std::string uid, std::vector<ClaimedDevice> devices) {
  return prepare(Claim{.uid = std::move(uid), .devices = std::move(devices)});
}

CDI_INLINE Result<void> Claims::unprepare(const std::string& uid) {
  const auto known = claims_.find(uid);
  if (known == claims_.end()) return unprepare_unreadable(uid);
  auto& claim = known->second;
  claim.phase = Claim::Phase::removing;
  // On a full disk, the claim is removed anyway.
  if (driver_.makes_ready()) static_cast<void>(journal_.save(claim));
  if (auto forgotten = forget(claim); !forgotten) {
    if (!driver_.makes_ready()) static_cast<void>(journal_.save(claim));  // `repair` goes on
    faults_[uid] = to_string(forgotten.error());
    return forgotten;
  }
  faults_.erase(uid);
  claims_.erase(known);  // last: `uid` may be its key
  return {};
}

/// Removes a claim whose file cannot be read. If that fails, the claim stays as it is.
CDI_INLINE Result<void> Claims::unprepare_unreadable(const std::string& uid) {
  const bool damaged = unreadable_.erase(uid) != 0;
  if (damaged) remove_orphans();
  auto removed = check_removed(uid);
  if (!damaged) return removed;
  if (removed) removed = journal_.erase(uid);
  if (!removed) {
    unreadable_.insert(uid);
    return removed;
  }
  faults_.erase(uid);
  return {};
}

/// Fails if the spec of a claim that is not known exists, or if it may: then no other claim may get
/// its devices.
CDI_INLINE Result<void> Claims::check_removed(const std::string& uid) {
  for (const auto& error : left_) {
    if (is_spec_of_claim(uid, error.position.file)) return error;
  }
  if (!faults_.contains(uid)) return {};
  if (!unseen_.empty()) return unseen_.front();
  const bool found = std::any_of(removed_.begin(), removed_.end(),
                                 [&](const auto& path) { return is_spec_of_claim(uid, path); });
  if (!found) {
    warn("claim " + uid + ": its spec is not in " + detail::joined(spec_dirs_) +
         driver_.advice_for_lost_spec(spec_dirs_));
  }
  return {};
}

/// Finishes a killed call for a claim, which stays in `list` or gets a fault.
CDI_INLINE void Claims::settle(std::map<std::string, Claim>::iterator known) {
  auto& [uid, claim] = *known;
  spec_dirs_.insert(specs_.directory_of(claim));
  const bool prepared = claim.phase == Claim::Phase::prepared;
  const auto settled = prepared ? renew(claim) : forget(claim);
  if (!settled) faults_[uid] = to_string(settled.error());
  if (settled && !prepared) claims_.erase(known);
}

CDI_INLINE Result<void> Claims::check_new(const Claim& claim) const {
  if (auto good = detail::check_claim(claim); !good) return good;
  if (auto good = check(claim.uid); !good) return good;
  return check_distinct(claim);
}

/// Rejects a device that a claim has twice.
CDI_INLINE Result<void> Claims::check_distinct(const Claim& claim) const {
  const auto& devices = claim.devices;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (std::size_t before = 0; before < i; ++before) {
      const bool same = driver_.overlaps(devices[i], devices[before]) &&
                        !may_be_shared(devices[i], devices[before]);
      if (!same) continue;
      return detail::claim_conflict("device " + detail::names_of(devices[i]) + ": requested twice");
    }
  }
  return {};
}

CDI_INLINE Result<void> Claims::check_free(const ClaimedDevice& device) const {
  for (const auto& [uid, claim] : claims_) {
    for (const auto& its : claim.devices) {
      if (may_be_shared(device, its) || !driver_.excludes(device, its)) continue;
      return detail::taken(device, claim, its);
    }
  }
  if (unreadable_.empty() || device.admin_access) return {};
  const auto& uid = *unreadable_.begin();
  return detail::claim_conflict("device " + detail::names_of(device) + ": claim " + uid +
                                " may have it: " + faults_.at(uid));
}

/// Whether a claim has these devices for the same requests, in any order.
CDI_INLINE bool Claims::has_devices(const Claim& claim,
                                    const std::vector<ClaimedDevice>& devices) const {
  const auto same = [&](const ClaimedDevice& one, const ClaimedDevice& its) {
    return one.request == its.request && one.share_id == its.share_id &&
           one.admin_access == its.admin_access && driver_.is_same(one, its);
  };
  return std::is_permutation(devices.begin(), devices.end(), claim.devices.begin(),
                             claim.devices.end(), same);
}

/// Saves a new claim in the journal, makes its devices ready, writes its spec, and records that it
/// is prepared.
CDI_INLINE Result<void> Claims::carry_out(Claim& claim, Spec spec) const {
  // With nothing to undo, a killed call may as well be finished by `repair`.
  if (!driver_.makes_ready()) claim.phase = Claim::Phase::prepared;
  if (auto saved = journal_.save(claim); !saved) return saved;
  const auto acquired = acquire_all(claim);
  if (!acquired) return acquired.error();
  if (*acquired == Acquired::changed) {
    auto made = driver_.make_spec(claim, nullptr);
    if (!made) return std::move(made).error();
    spec = std::move(*made);
  }
  if (const auto written = specs_.write(claim, spec); !written) return written.error();
  if (claim.phase == Claim::Phase::prepared) return {};
  claim.phase = Claim::Phase::prepared;
  return journal_.save(claim);
}

CDI_INLINE Result<Acquired> Claims::acquire_all(const Claim& claim) const {
  auto out = Acquired::unchanged;
  for (const auto& device : claim.devices) {
    if (device.admin_access) continue;
    const auto acquired = driver_.acquire(claim, device);
    if (!acquired) return acquired.error();
    if (*acquired == Acquired::changed) out = Acquired::changed;
  }
  return out;
}

/// Removes the spec of a claim, releases its devices in reverse order, and removes the claim. A
/// spec file of another owner stays.
CDI_INLINE Result<void> Claims::forget(const Claim& claim) const {
  const auto removed = specs_.remove(claim);
  if (!removed && removed.error().code != Errc::conflict) return removed;
  for (auto device = claim.devices.rbegin(); device != claim.devices.rend(); ++device) {
    if (device->admin_access || has_other_user(claim, *device)) continue;
    if (auto released = driver_.release(claim, *device); !released) return released;
  }
  return journal_.erase(claim.uid);
}

/// Whether another claim has a device of a claim, not only to monitor it. One whose file cannot be
/// read may have it.
CDI_INLINE bool Claims::has_other_user(const Claim& claim, const ClaimedDevice& device) const {
  if (device.share_id.empty()) return false;
  if (!unreadable_.empty()) return true;
  return std::any_of(claims_.begin(), claims_.end(), [&](const auto& entry) {
    const auto& its = entry.second.devices;
    return entry.first != claim.uid &&
           std::any_of(its.begin(), its.end(), [&](const ClaimedDevice& other) {
             return !other.admin_access && driver_.is_same(device, other);
           });
  });
}

/// Writes the current spec of a claim. If that fails, a spec from this boot stays if the driver
/// says so. A spec from another boot is removed, because its numbers may belong to another device.
CDI_INLINE Result<void> Claims::renew(Claim& claim) {
  const auto old = specs_.read(claim);
  auto renewed = update_spec(claim, old ? &*old : nullptr);
  if (renewed) return renewed;
  const bool is_unsafe = is_of_other_boot(claim) || renewed.error().code == Errc::conflict ||
                         (old && !driver_.may_stay(claim, *old));
  if (is_unsafe) static_cast<void>(specs_.remove(claim));
  return renewed;
}

CDI_INLINE Result<void> Claims::update_spec(Claim& claim, const Spec* old) {
  auto now = claim;
  if (now.spec_dir.empty()) now.spec_dir = options_.spec_dir;
  // On a full disk, `unprepare` removes the spec and releases devices, but cannot record that.
  if (old == nullptr || is_of_other_boot(now)) {
    if (const auto acquired = acquire_all(now); !acquired) return acquired.error();
  }
  const auto spec = driver_.make_spec(now, old);
  if (!spec) return spec.error();
  if (const auto written = specs_.write(now, *spec); !written) return written.error();
  if (!boot().empty()) now.boot_id = boot();
  const bool changed = now != claim;
  claim = std::move(now);
  return changed ? journal_.save(claim) : Result<void>{};
}

/// Removes spec files of this journal that belong to no claim, and temporary files of killed
/// writers. The files of unreadable claims stay.
CDI_INLINE void Claims::remove_orphans() {
  left_.clear();
  unseen_.clear();
  std::set<std::string> keep;
  for (const auto& [uid, claim] : claims_) keep.insert(claim.file_name());
  for (const auto* const dirs : {&spec_dirs_, &named_dirs_}) {
    for (const auto& path : *dirs) {
      auto pruned = specs_.prune(path, keep, unreadable_);
      if (pruned) {
        note(std::move(*pruned));
      } else if (dirs == &spec_dirs_) {
        unseen_.push_back(std::move(pruned).error());
      } else {  // the directory may not exist
        warn(to_string(pruned.error()));
      }
    }
  }
  for (const auto* const errors : {&unseen_, &left_}) {
    for (const auto& error : *errors) warn(to_string(error));
  }
}

/// Records the files that were removed from a directory, and those that could not be removed.
CDI_INLINE void Claims::note(Reconciled pruned) {
  for (auto& error : pruned.errors) left_.push_back(std::move(error));
  for (auto& error : pruned.unreadable) {
    error.message += ": its owner is unknown";
    error.advice = "remove it by hand if no program needs it";
    left_.push_back(std::move(error));
  }
  for (const auto& file : pruned.files) {
    if (file.action != Publication::Action::removed) continue;
    warn(file.path + " removed: it belongs to no claim");
    removed_.push_back(file.path);
  }
}

/// Adds a warning, unless it was added before.
CDI_INLINE void Claims::warn(std::string text) {
  if (std::find(warnings_.begin(), warnings_.end(), text) != warnings_.end()) return;
  warnings_.push_back(std::move(text));
}

}  // namespace cdi

#endif  // CDI_CLAIMS_CLAIMS_INL
