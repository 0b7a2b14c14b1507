// Plans the changes that bring the published ResourceSlices up to date.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_API_SERVER_SLICE_PLAN_HPP
#define CDI_TOOLS_DRA_API_SERVER_SLICE_PLAN_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../gpu/slices/api_versions.hpp"
#include "api_error.hpp"

// The scheduler uses only the newest generation of a pool, and only if all its slices are there. So
// a single slice can change alone. If several change, all get a new generation, and no device is
// known until the last new slice is written.

namespace dra {

/// A slice in the API server. Its spec is as in v1.
struct ExistingSlice {
  std::string name{};
  std::string uid{};
  std::string resource_version{};
  ApiJson owners{};  // null if it has none
  ApiJson spec{};    // an object

  ApiJson pool() const { return spec.value("pool", ApiJson::object()); }
  std::string pool_name() const { return text_in(pool(), "name"); }
  std::int64_t generation() const { return number("generation"); }
  std::int64_t count() const { return number("resourceSliceCount"); }

 private:
  /// A number of the pool; 0 if the next number would not be valid, which no driver causes.
  std::int64_t number(const char* key) const {
    constexpr auto most = std::int64_t{1} << 62;
    const auto all = pool();
    const auto found = all.find(key);
    const auto number =
        found != all.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
    return number >= 0 && number < most ? number : 0;
  }
};

/// A change of one slice.
struct SliceChange {
  enum class Action : std::uint8_t { create, update, remove };

  Action action{};
  ExistingSlice slice{};  // its spec is the new one; only the spec if it is created

  friend bool operator==(const SliceChange& a, const SliceChange& b) {
    return a.action == b.action && a.slice.name == b.slice.name && a.slice.spec == b.slice.spec;
  }
};

namespace detail {

/// What a slice says about its devices, without the pool's generation and the members that the
/// server adds.
inline ApiJson content_of(ApiJson spec) {
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

}  // namespace detail

/// The ordered changes from the slices of a driver on a node to the desired ones. The specs in
/// `desired` belong to one pool. Slices of other pools and superfluous slices are removed last.
inline std::vector<SliceChange> plan_slices(const std::vector<ApiJson>& desired,
                                            const std::vector<ExistingSlice>& existing) {
  return detail::SlicePlan{desired, existing}.make();
}

/// The pool's generation after a plan; 0 if no slice changes.
inline std::int64_t generation_of(const std::vector<SliceChange>& changes) {
  for (const auto& change : changes) {
    if (change.action != SliceChange::Action::remove) return change.slice.generation();
  }
  return 0;
}

}  // namespace dra

#endif  // CDI_TOOLS_DRA_API_SERVER_SLICE_PLAN_HPP
