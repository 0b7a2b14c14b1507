// A survey that is used again while the host would give the same.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_GPU_VENDORS_KEPT_SURVEY_HPP
#define CDI_TOOLS_GPU_VENDORS_KEPT_SURVEY_HPP

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include <cdi/result.hpp>

#include "../../kit/host/trail.hpp"
#include "../base/options.hpp"
#include "../host/uevents.hpp"
#include "../model/gpu_events.hpp"
#include "survey.hpp"

namespace prepare {

/// Surveys a host, and again only if something that the last survey looked at has changed. Each
/// call checks all of it: the nodes in /dev, the numbers and names in /proc, the files of drivers.
/// For devices in /sys, the kernel's messages count too; without them, nothing is kept. One thread
/// uses an object at a time.
class KeptSurvey {
 public:
  /// Uses the messages of the kernel about devices of any vendor; without `events`, no survey of a
  /// host with a real /sys is kept.
  KeptSurvey(SurveyOptions options, std::optional<Uevents> events)
      : options_{std::move(options)}, events_{std::move(events)} {}

  /// The same, with the messages that the kernel sends to this process.
  explicit KeptSurvey(SurveyOptions options) : KeptSurvey{std::move(options), all_events()} {}

  /// The GPUs as they are now.
  cdi::Result<std::shared_ptr<const Survey>> get() {
    const bool is_told = events_ && events_->drain();  // before the look, to miss none
    const bool is_doubted = doubted_.exchange(false);
    if (kept_ && !is_told && !is_doubted && trail_->is_same()) return kept_;
    kept_.reset();
    trail_ = std::make_shared<tools::Trail>();
    options_.observer = trail_;
    auto found = survey_host(options_);
    if (!found) return std::move(found).error();
    trail_->end();
    auto survey = std::make_shared<const Survey>(std::move(*found));
    if (may_be_kept(*survey)) kept_ = survey;
    return survey;
  }

  /// Makes the next `get` survey the host. Any thread may call this.
  void doubt() { doubted_ = true; }

 private:
  static std::optional<Uevents> all_events() {
    if (!gets_all_uevents()) return std::nullopt;
    auto opened = Uevents::open(&concerns_any_device);
    return opened ? std::optional{std::move(*opened)} : std::nullopt;
  }

  /// NVML's answer cannot be checked, and devices that come or go cause more changes.
  bool may_be_kept(const Survey& survey) const {
    return trail_->is_certain() && (events_ || !trail_->needs_events()) && !options_.nvml &&
           survey.complete && !is_between_states(survey);
  }

  SurveyOptions options_;
  std::optional<Uevents> events_;
  std::shared_ptr<const Survey> kept_{};
  std::shared_ptr<tools::Trail> trail_{};  // of the last survey
  std::atomic<bool> doubted_ = false;
};

}  // namespace prepare

#endif  // CDI_TOOLS_GPU_VENDORS_KEPT_SURVEY_HPP
