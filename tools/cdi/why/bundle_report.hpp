// Reports what devices added to a container, and whether specs and host still provide it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/requests.hpp>
#include <cdi/text/document.hpp>

#include "../../kit/cdi_specs/host_faults.hpp"
#include "../base/output.hpp"
#include "../results/why.hpp"
#include "bundle_edits.hpp"
#include "host_view.hpp"

/// The answer of `cdi why --bundle`, as text and as a record.
class BundleReport {
 public:
  /// Compares a config with the devices of a registry. `requests` lists the devices that its
  /// annotations request. `host` is null if it is not examined; `dirs_named` says whether the user
  /// named the directories of the registry.
  BundleReport(const cdi::Document& config, const cdi::oci::Spec& spec,
               const std::vector<cdi::RequestedDevice>& requests, const cdi::Registry& registry,
               const HostView* host, bool dirs_named);

  const std::string& text() const { return text_; }
  const ExplainedBundle& record() const { return record_; }

  /// Whether the container matches the specs, and the host has what it needs.
  bool holds() const { return record_.holds; }

  /// Whether the container has a device of this name.
  bool has(std::string_view name) const;

 private:
  using State = BundleMatch::State;

  /// Finds what each entry needs and the host lacks.
  void examine(const HostView& host);

  /// The host paths of nodes, which only the specs contain, by entry.
  std::map<std::size_t, std::string> host_paths_of_nodes() const;

  static bool is_known(const tools::HostFault& fault);

  bool is_broken(std::size_t entry) const;

  void judge();

  /// Finds out what to do about the specs that name something that the host lacks.
  void advise(const HostView& host, bool dirs_named);

  void write_devices();

  BundleEdit write_match(const BundleDevice& device, const BundleMatch& match);

  void write_requests(const std::vector<cdi::RequestedDevice>& requests,
                      const cdi::Registry& registry);

  /// Writes a device that an annotation requests, and whether it is in the container.
  void write_request(const cdi::RequestedDevice& request, bool is_there,
                     const cdi::Registry& registry);

  /// Writes what the host lacks for an entry.
  Records write_faults(std::size_t entry);

  /// Writes the nodes, interfaces and hooks of no known device, and the mounts that fail.
  void write_others();

  void write_end();

  static std::string name_of(const BundleEntry& entry);

  const cdi::Document& config_;
  BundleSearch search_;
  std::vector<BundleDevice> devices_;
  std::vector<std::string> dirs_{};
  std::vector<tools::HostFaults> faults_{};      // by entry
  std::vector<bool> has_device_{};               // by entry
  std::vector<const cdi::LoadedSpec*> stale_{};  // that name something that the host lacks
  Texts advice_{};                               // about these
  std::string text_{};
  ExplainedBundle record_{};
};
