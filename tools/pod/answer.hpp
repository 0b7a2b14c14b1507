// `Answer`: what a command prints, with warnings for standard error.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/spec.hpp>

#include "input.hpp"

namespace pod {

/// What a request of a claim asks of the VM.
struct MappedRequest {
  std::string request{};
  std::string resource{};  // such as nvidia.com/gpu; empty if unknown or an instance
  std::optional<std::uint32_t> count{};
  std::string instance{};  // the device that stands for an instance type
  std::string reason{};    // why it has neither
  bool has_selectors = false;

  static constexpr void fields(auto& list) {
    list("request", &MappedRequest::request, cdi::required);
    list("resource", &MappedRequest::resource);
    list("count", &MappedRequest::count);
    list("instanceDevice", &MappedRequest::instance);
    list("reason", &MappedRequest::reason);
  }
};

struct MappedClaim {
  std::string claim{};
  std::string space{};
  std::vector<MappedRequest> requests{};

  static constexpr void fields(auto& list) {
    list("claim", &MappedClaim::claim, cdi::required);
    list("namespace", &MappedClaim::space);
    list("requests", &MappedClaim::requests, cdi::required);
  }
};

/// What a container has or lacks: the devices of its claims, a resource or a claim.
struct OfContainer {
  std::string container{};
  std::vector<std::string> devices{};
  std::string resource{};
  std::string claim{};

  static constexpr void fields(auto& list) {
    list("container", &OfContainer::container, cdi::required);
    list("devices", &OfContainer::devices);
    list("resource", &OfContainer::resource);
    list("claim", &OfContainer::claim);
  }
};

/// The terms of the sums of a size, by member of the answer.
using Terms = std::map<std::string, std::map<std::string, cdi::AnyValue>>;

/// CPU time and memory of a sandbox, without the pod's overhead.
struct Sandbox {
  std::uint64_t period = 0;  // in us; 0 if unknown
  std::int64_t quota = 0;    // in us for each period; negative without a quota
  std::uint64_t shares = 0;  // 1024 for each requested CPU
  std::int64_t memory = 0;   // in bytes; 0 without a limit

  static constexpr void fields(auto& list) {
    using cdi::Presence::keep_empty;
    list("cpu-period", &Sandbox::period, keep_empty);
    list("cpu-quota", &Sandbox::quota, keep_empty);
    list("cpu-shares", &Sandbox::shares, keep_empty);
    list("memory", &Sandbox::memory, keep_empty);
  }
};

/// A node, and how it handles a request for a GPU.
struct NodePath {
  std::string node{};  // its runtime: containerd://2.1.4
  std::string path{};  // native, runtime, hook or unsupported
  std::string why{};

  static constexpr void fields(auto& list) {
    list("node", &NodePath::node);
    list("path", &NodePath::path);
    list("why", &NodePath::why);
  }
};

/// The answer of a command, which has some of these members.
struct Answer {
  int version = 1;
  std::optional<std::vector<std::string>> devices{};  // of `requests` and others
  std::vector<std::string> origins{};
  std::int64_t vcpus = 0;  // of `size`
  std::int64_t memory_mib = 0;
  std::optional<Annotations> annotations{};  // of `inner`, `peerpod` and `size`
  std::vector<std::string> unknown{};        // of `inner`
  Terms terms{};
  Annotations overhead{};  // of the pod, so that Kubernetes accounts for the whole VM
  std::optional<Sandbox> sandbox{};
  std::map<std::string, std::int64_t> kubernetes{};  // what it accounts for a pod
  std::vector<MappedClaim> claims{};                 // of `peerpod`
  std::vector<OfContainer> containers{};
  std::optional<cdi::Spec> guest_spec{};
  std::string instance{};  // also of `instance`
  std::string rule{};
  std::vector<OfContainer> unmapped{};
  std::string runtime{};  // of `strategy`
  std::vector<std::string> strategies{};
  std::string runtime_class{};
  std::optional<bool> is_default{};
  std::string path{};
  std::string why{};
  std::vector<NodePath> nodes{};
  std::vector<std::string> warnings{};  // sentences without a full stop

  static constexpr void fields(auto& list) {
    list("version", &Answer::version, cdi::required);
    list("devices", &Answer::devices);
    list("origins", &Answer::origins);
    list("vcpus", &Answer::vcpus);
    list("memoryMiB", &Answer::memory_mib);
    list("annotations", &Answer::annotations);
    list("unknown", &Answer::unknown);
    list("terms", &Answer::terms);
    list("podOverhead", &Answer::overhead);
    list("sandbox", &Answer::sandbox);
    list("kubernetes", &Answer::kubernetes);
    list("claims", &Answer::claims);
    list("containers", &Answer::containers);
    list("guestSpec", &Answer::guest_spec);
    list("instance", &Answer::instance);
    list("rule", &Answer::rule);
    list("unmapped", &Answer::unmapped);
    list("runtime", &Answer::runtime);
    list("deviceListStrategy", &Answer::strategies);
    list("runtimeClass", &Answer::runtime_class);
    list("setAsDefault", &Answer::is_default);
    list("path", &Answer::path);
    list("why", &Answer::why);
    list("nodes", &Answer::nodes);
  }

  /// Adds a warning about what users may not expect.
  template <class... Parts>
  void warn(fmt::format_string<Parts...> text, Parts&&... parts) {
    warnings.push_back(fmt::format(text, std::forward<Parts>(parts)...));
  }
};

}  // namespace pod
