// Plans the changes that bring the published ResourceSlices up to date.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "slice_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace dra {

namespace {

/// What a slice says about its devices, without the pool's generation and the members that the
/// server adds.
ApiJson content_of(ApiJson spec) {
  spec["pool"].erase("generation");
  spec["pool"].erase("resourceSliceCount");
  const auto devices = spec.find("devices");
  if (devices == spec.end() || !devices->is_array()) return spec;
  // The server leaves an empty list out.
  if (devices->empty()) {
    spec.erase(devices);
    return spec;
  }
  for (auto& device : *devices) {
    if (!device.is_object() || !device.contains("taints")) continue;
    for (auto& taint : device["taints"]) {
      if (taint.is_object()) taint.erase("timeAdded");
    }
  }
  return spec;
}

/// The times of the taints in slices that exist: a taint that stays keeps its time.
class TaintTimes {
 public:
  explicit TaintTimes(const std::vector<ExistingSlice>& slices) {
    for (const auto& slice : slices) {
      visit(slice.spec, [&](const std::string& device, const ApiJson& taint) {
        const auto time = text_in(taint, "timeAdded");
        if (!time.empty()) times_[key_of(device, taint)] = time;
      });
    }
  }

  void add_to(ApiJson& spec) const {
    visit(spec, [&](const std::string& device, ApiJson& taint) {
      const auto found = times_.find(key_of(device, taint));
      if (found != times_.end()) taint["timeAdded"] = found->second;
    });
  }

 private:
  static std::string key_of(const std::string& device, const ApiJson& taint) {
    return device + '\n' + text_in(taint, "key") + '\n' + text_in(taint, "value") + '\n' +
           text_in(taint, "effect");
  }

  template <class Spec, class Act>
  static void visit(Spec& spec, const Act& act) {
    const auto devices = spec.find("devices");
    if (devices == spec.end() || !devices->is_array()) return;
    for (auto& device : *devices) {
      const auto taints = device.is_object() ? device.find("taints") : device.end();
      if (taints == device.end() || !taints->is_array()) continue;
      for (auto& taint : *taints) act(text_in(device, "name"), taint);
    }
  }

  std::map<std::string, std::string> times_{};
};

/// Makes a plan.
class SlicePlan {
 public:
  SlicePlan(const std::vector<ApiJson>& desired, const std::vector<ExistingSlice>& existing)
      : desired_{desired},
        existing_{existing},
        used_(existing.size(), false),
        matches_(desired.size()) {}

  std::vector<SliceChange> make() {
    newest_ = newest_generation();
    match_contents();
    const auto unmatched = std::count(matches_.begin(), matches_.end(), std::nullopt);
    const bool same_count = count_of_newest() == desired_.size() && has_same_counts();
    if (same_count && unmatched <= 1) {
      if (unmatched == 1) update_one();
    } else {
      write_all();
    }
    remove_others();
    return std::move(changes_);
  }

 private:
  using Action = SliceChange::Action;

  bool is_newest(const ExistingSlice& slice) const {
    return is_of_pool(slice) && slice.generation() == newest_;
  }

  bool is_of_pool(const ExistingSlice& slice) const {
    return !desired_.empty() && slice.pool_name() == text_in(desired_.front()["pool"], "name");
  }

  std::int64_t newest_generation() const {
    std::int64_t out = 0;
    for (const auto& slice : existing_) {
      if (is_of_pool(slice)) out = std::max(out, slice.generation());
    }
    return out;
  }

  std::size_t count_of_newest() const {
    return static_cast<std::size_t>(
        std::count_if(existing_.begin(), existing_.end(),
                      [this](const auto& slice) { return is_newest(slice); }));
  }

  bool has_same_counts() const {
    return std::all_of(existing_.begin(), existing_.end(), [this](const auto& slice) {
      return !is_newest(slice) || slice.count() == static_cast<std::int64_t>(desired_.size());
    });
  }

  void match_contents() {
    for (std::size_t i = 0; i < desired_.size(); ++i) {
      const auto content = content_of(desired_[i]);
      for (std::size_t k = 0; k < existing_.size(); ++k) {
        if (used_[k] || !is_newest(existing_[k])) continue;
        if (content_of(existing_[k].spec) != content) continue;
        used_[k] = true;
        matches_[i] = k;
        break;
      }
    }
  }

  /// A slice that can be rewritten, preferably one of the newest. The pool of a slice cannot
  /// change.
  std::optional<std::size_t> take_unused() {
    for (const bool newest : {true, false}) {
      for (std::size_t k = 0; k < existing_.size(); ++k) {
        if (used_[k] || !is_of_pool(existing_[k]) || is_newest(existing_[k]) != newest) continue;
        used_[k] = true;
        return k;
      }
    }
    return std::nullopt;
  }

  void update_one() {
    const auto i = static_cast<std::size_t>(
        std::find(matches_.begin(), matches_.end(), std::nullopt) - matches_.begin());
    write(i, take_unused(), newest_);
  }

  void write_all() {
    for (std::size_t i = 0; i < desired_.size(); ++i) {
      const auto match = matches_[i] ? matches_[i] : take_unused();
      write(i, match, newest_ + 1);
    }
  }

  void write(std::size_t i, std::optional<std::size_t> over, std::int64_t generation) {
    SliceChange change{.action = over ? Action::update : Action::create};
    if (over) change.slice = existing_[*over];
    change.slice.spec = desired_[i];
    change.slice.spec["pool"]["generation"] = generation;
    change.slice.spec["pool"]["resourceSliceCount"] = desired_.size();
    times_.add_to(change.slice.spec);
    changes_.push_back(std::move(change));
  }

  void remove_others() {
    for (std::size_t k = 0; k < existing_.size(); ++k) {
      if (used_[k]) continue;
      changes_.push_back({.action = Action::remove,
                          .slice = {.name = existing_[k].name,
                                    .uid = existing_[k].uid,
                                    .resource_version = existing_[k].resource_version}});
    }
  }

  const std::vector<ApiJson>& desired_;
  const std::vector<ExistingSlice>& existing_;
  std::vector<bool> used_;
  std::vector<std::optional<std::size_t>> matches_;
  std::int64_t newest_ = 0;
  TaintTimes times_{existing_};
  std::vector<SliceChange> changes_{};
};

}  // namespace

std::int64_t ExistingSlice::number(const char* key) const {
  constexpr auto most = std::int64_t{1} << 62;
  const auto all = pool();
  const auto found = all.find(key);
  const auto number =
      found != all.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
  return number >= 0 && number < most ? number : 0;
}

std::vector<SliceChange> plan_slices(const std::vector<ApiJson>& desired,
                                     const std::vector<ExistingSlice>& existing) {
  return SlicePlan{desired, existing}.make();
}

std::int64_t generation_of(const std::vector<SliceChange>& changes) {
  for (const auto& change : changes) {
    if (change.action != SliceChange::Action::remove) return change.slice.generation();
  }
  return 0;
}

}  // namespace dra
