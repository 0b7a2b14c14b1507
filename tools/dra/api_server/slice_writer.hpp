// Brings the published ResourceSlices of a node up to date once.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

#include "reduced_slices.hpp"
#include "slice_plan.hpp"
#include "slice_store.hpp"

namespace dra {

/// What was written.
struct SlicesWritten {
  std::size_t changes = 0;  // of slices; 0 if all were right
  std::size_t slices = 0;   // that there are now
  std::int64_t generation = 0;
  SliceFeatures features{};  // that the server has

  friend bool operator==(const SlicesWritten&, const SlicesWritten&) = default;
};

/// Brings published slices up to date. Remembers which features the server lacks.
class SliceWriter {
 public:
  explicit SliceWriter(SliceStore store) : store_{std::move(store)} {}

  /// Lists the slices, and writes those that differ. Lists again if another program changed them in
  /// the meantime.
  std::optional<ApiFailure> write(const std::vector<ApiJson>& specs, SlicesWritten& written) {
    std::optional<ApiFailure> failed;
    for (int i = 0; i < max_rounds; ++i) {
      const auto before = features_;
      failed = write_once(reduced_slices(specs, features_), written);
      written.features = features_;
      const bool changed = before != features_;
      if (failed && !is_outdated(*failed) && !changed) return failed;
      if (!failed && !changed) return std::nullopt;
    }
    if (!failed) {
      failed.emplace();
      failed->error = {
          .code = cdi::Errc::conflict,
          .message = "the API server stored ResourceSlices that differ from those it was sent"};
    }
    return failed;
  }

  /// Forgets which features the server lacks, because it may be another server now.
  void forget_features() { features_ = {}; }

 private:
  static constexpr int max_rounds = 6;

  /// Whether another program changed or removed a slice since it was listed.
  static bool is_outdated(const ApiFailure& failure) {
    return failure.status == 409 || failure.status == 410 || failure.status == 404;
  }

  std::optional<ApiFailure> write_once(const std::vector<ApiJson>& specs, SlicesWritten& written) {
    std::vector<ExistingSlice> existing;
    if (auto failed = store_.list(existing)) return failed;
    const auto changes = plan_slices(specs, existing);
    written.slices = specs.size();
    if (changes.empty()) return std::nullopt;
    written.generation = generation_of(changes);
    std::string node_uid;
    const bool has_new = std::any_of(changes.begin(), changes.end(), [](const auto& change) {
      return change.action != SliceChange::Action::remove && change.slice.owners.is_null();
    });
    if (has_new) {
      if (auto failed = store_.node_uid(node_uid)) return failed;
    }
    for (const auto& change : changes) {
      ApiJson kept;
      if (auto failed = store_.apply(change, node_uid, kept)) return refused(change, *failed);
      ++written.changes;
      if (change.action != SliceChange::Action::remove) note_features(change.slice.spec, kept);
    }
    return std::nullopt;
  }

  void note_features(const ApiJson& sent, const ApiJson& kept) {
    const auto found = kept_features(sent, kept);
    features_.taints = features_.taints && found.taints;
    features_.counters = features_.counters && found.counters;
  }

  /// A server before 1.36 may know counters only in the slices of their devices.
  ApiFailure refused(const SliceChange& change, const ApiFailure& failure) {
    const auto& spec = change.slice.spec;
    const bool is_invalid = failure.status == 400 || failure.status == 422;
    if (is_invalid && (detail::has_member(spec, "sharedCounters") ||
                       detail::has_member(spec, "consumesCounters"))) {
      features_.counters = false;
    }
    return failure;
  }

  SliceStore store_;
  SliceFeatures features_{};
};

}  // namespace dra
