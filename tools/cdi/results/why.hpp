// What `cdi why` prints with -o json and -o yaml, and why names do not resolve.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../kit/base/error_record.hpp"
#include "files.hpp"

using Records = std::vector<ErrorRecord>;

/// The records of several errors.
inline Records records_of(std::string_view level, const std::vector<cdi::Error>& errors) {
  Records out;
  for (const auto& one : errors) out.push_back(tools::error_record(level, one));
  return out;
}

/// A CDI version that an engine reads, if its table has one; absent where no engine is asked.
using NewestRead = std::optional<std::optional<std::string>>;

/// How installed engines treat the file of a device.
inline constexpr std::array<std::string_view, 6> engine_results{
    "reads", "in-doubt", "refuses", "off", "other-directory", "unknown"};

/// How an engine treats the file of a device.
struct EngineRecord {
  std::string engine{};
  std::string_view result{};  // of `engine_results`
  NewestRead reads{};
  Records causes{};
  std::string file{};  // the file that it uses instead
  std::uint32_t line = 0;
  std::string advice{};
  std::string message{};  // why its version is unknown

  static constexpr void fields(auto& list) {
    using Self = EngineRecord;
    list("engine", &Self::engine, cdi::required);
    list("result", &Self::result, cdi::required);
    list("reads", &Self::reads);
    list("causes", &Self::causes);
    list("file", &Self::file);
    list("line", &Self::line);
    list("advice", &Self::advice);
    list("message", &Self::message);
  }
};

/// A fault in the configuration of an engine.
struct SetupWarning {
  std::string engine{};
  std::string message{};

  static constexpr void fields(auto& list) {
    list("engine", &SetupWarning::engine, cdi::required);
    list("message", &SetupWarning::message, cdi::required);
  }
};

/// Why a name does not resolve.
struct NameFault {
  std::string_view reason{};  // a code in `cdi::reasons`
  std::optional<Texts> nearest{};
  std::optional<Records> causes{};
  std::size_t more_causes = 0;
  std::string needs_version{};

  static constexpr void fields(auto& list) {
    list("reason", &NameFault::reason);
    list("nearest", &NameFault::nearest);
    list("causes", &NameFault::causes);
    list("moreCauses", &NameFault::more_causes);
    list("needsVersion", &NameFault::needs_version);
  }
};

/// The error about a name that does not resolve, with the place of its first cause.
struct UnresolvedError : ErrorRecord, NameFault {
  std::string name{};
  bool resolved = false;

  static constexpr void fields(auto& list) {
    ErrorRecord::fields(list);
    list("name", &UnresolvedError::name, cdi::required);
    list("resolved", &UnresolvedError::resolved, cdi::required);
    NameFault::fields(list);
  }
};

/// What `cdi why` and `cdi wait` know about a name.
struct ExplainedName : NameFault {
  std::string name{};
  bool resolved = false;
  std::string file{};  // of the device
  std::optional<std::uint32_t> line{};
  std::optional<int> priority{};
  Records not_used{};  // rejected files of the same kind
  std::string message{};
  Records warnings{};  // of the engine of --for
  std::string advice{};
  std::string assumed{};
  Texts needs{};  // of the engine of --for
  Records host_faults{};
  std::string host_advice{};
  std::vector<EngineRecord> engines{};
  std::vector<SetupWarning> setup_warnings{};
  std::string engine{};  // of --for
  NewestRead reads{};

  static constexpr void fields(auto& list) {
    using Self = ExplainedName;
    list("name", &Self::name, cdi::required);
    list("resolved", &Self::resolved, cdi::required);
    list("file", &Self::file);
    list("line", &Self::line);
    list("priority", &Self::priority);
    list("notUsed", &Self::not_used);
    list("message", &Self::message);
    NameFault::fields(list);
    list("warnings", &Self::warnings);
    list("advice", &Self::advice);
    list("assumed", &Self::assumed);
    list("needs", &Self::needs);
    list("hostFaults", &Self::host_faults);
    list("hostAdvice", &Self::host_advice);
    list("engines", &Self::engines);
    list("setupWarnings", &Self::setup_warnings);
    list("engine", &Self::engine);
    list("reads", &Self::reads);
  }
};

/// The states of an edit in a container, in the order of `BundleMatch::State`.
inline constexpr std::array<std::string_view, 4> edit_states{"same", "differs", "replaced",
                                                             "absent"};

/// An edit of a spec, and its entry in the config of a container.
struct BundleEdit {
  std::string_view kind{};  // as in a spec: env, deviceNodes, ...
  std::string key{};
  std::string where{};
  std::string file{};
  std::uint32_t line = 0;
  std::string_view state{};  // of `edit_states`
  std::string in_config{};   // the place of the entry
  Texts replaced_by{};       // the devices whose entry the container has
  std::optional<std::string> container{};
  std::optional<std::string> spec{};
  Records host_faults{};

  static constexpr void fields(auto& list) {
    using Self = BundleEdit;
    list("kind", &Self::kind, cdi::required);
    list("key", &Self::key, cdi::required);
    list("where", &Self::where, cdi::required);
    list("file", &Self::file, cdi::required);
    list("line", &Self::line, cdi::required);
    list("state", &Self::state, cdi::required);
    list("inConfig", &Self::in_config);
    list("replacedBy", &Self::replaced_by);
    list("container", &Self::container);
    list("spec", &Self::spec);
    list("hostFaults", &Self::host_faults);
  }
};

/// Devices with the same edits, found in a container.
struct FoundDevices {
  Texts names{};
  std::string file{};
  std::uint32_t line = 0;
  std::vector<BundleEdit> edits{};

  static constexpr void fields(auto& list) {
    list("names", &FoundDevices::names, cdi::required);
    list("file", &FoundDevices::file, cdi::required);
    list("line", &FoundDevices::line, cdi::required);
    list("edits", &FoundDevices::edits, cdi::required);
  }
};

/// A device that an annotation of a config requests.
struct BundleRequest {
  std::string name{};
  std::string annotation{};
  bool in_container = false;
  bool defined = false;

  static constexpr void fields(auto& list) {
    list("name", &BundleRequest::name, cdi::required);
    list("annotation", &BundleRequest::annotation, cdi::required);
    list("inContainer", &BundleRequest::in_container, cdi::required);
    list("defined", &BundleRequest::defined, cdi::required);
  }
};

/// An entry of a config that no known device makes.
struct OtherEntry {
  std::string_view kind{};
  std::string key{};
  std::string in_config{};
  Records host_faults{};

  static constexpr void fields(auto& list) {
    list("kind", &OtherEntry::kind, cdi::required);
    list("key", &OtherEntry::key, cdi::required);
    list("inConfig", &OtherEntry::in_config, cdi::required);
    list("hostFaults", &OtherEntry::host_faults);
  }
};

/// `cdi why --bundle`
struct ExplainedBundle {
  std::uint32_t version = 1;
  std::string config{};
  std::vector<BundleRequest> requests{};
  std::vector<FoundDevices> devices{};
  std::vector<OtherEntry> others{};
  bool holds = true;  // the container matches the specs, and the host has what it needs
  std::string advice{};

  static constexpr void fields(auto& list) {
    using Self = ExplainedBundle;
    list("version", &Self::version, cdi::required);
    list("config", &Self::config, cdi::required);
    list("requests", &Self::requests, cdi::required);
    list("devices", &Self::devices, cdi::required);
    list("others", &Self::others, cdi::required);
    list("holds", &Self::holds, cdi::required);
    list("advice", &Self::advice);
  }
};

/// The states of a step, in the order of `PodStep::State`.
inline constexpr std::array<std::string_view, 4> step_states{"ok", "missing", "wrong",
                                                             "not-checked"};
/// The parts of the chain from a claim to a container.
inline constexpr std::array<std::string_view, 6> step_parts{"pod",    "claim",  "kubelet",
                                                            "driver", "engine", "container"};

/// A step from a claim to a container.
struct StepRecord {
  std::string_view step{};   // of `step_parts`
  std::string_view state{};  // of `step_states`
  std::string message{};
  std::string file{};  // where it was read
  std::string advice{};

  static constexpr void fields(auto& list) {
    list("step", &StepRecord::step, cdi::required);
    list("state", &StepRecord::state, cdi::required);
    list("message", &StepRecord::message, cdi::required);
    list("file", &StepRecord::file);
    list("advice", &StepRecord::advice);
  }
};

/// A pod.
struct PodName {
  std::string space{};
  std::string name{};
  Texts uids{};

  static constexpr void fields(auto& list) {
    list("namespace", &PodName::space, cdi::required);
    list("name", &PodName::name, cdi::required);
    list("uids", &PodName::uids, cdi::required);
  }
};

/// `cdi why --pod`
struct ExplainedPod {
  std::uint32_t version = 1;
  PodName pod{};
  std::optional<ExplainedBundle> bundle{};
  std::vector<StepRecord> steps{};
  std::vector<ExplainedName> devices{};
  bool holds = true;

  static constexpr void fields(auto& list) {
    using Self = ExplainedPod;
    list("version", &Self::version, cdi::required);
    list("pod", &Self::pod, cdi::required);
    list("bundle", &Self::bundle);
    list("steps", &Self::steps, cdi::required);
    list("devices", &Self::devices, cdi::required);
    list("holds", &Self::holds, cdi::required);
  }
};
