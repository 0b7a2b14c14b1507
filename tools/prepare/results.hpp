// What `cdi-prepare` prints as JSON, besides ResourceSlices and specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/model/fields.hpp>

#include "../gpu/cdi_specs/prepared_spec.hpp"
#include "../gpu/findings/finding.hpp"
#include "../gpu/model/driver_file.hpp"
#include "../gpu/model/node.hpp"

// `version` is the version of a form, which changes if a member changes its meaning or is gone.

namespace prepare {

using Texts = std::vector<std::string>;

/// A device node.
struct ShownNode : Node {
  std::string type_letter{};      // "c" or "b"
  std::string octal_mode{};       // "0666"
  std::optional<bool> on_host{};  // only if false

  static constexpr void fields(auto& list) {
    list("path", &ShownNode::path, cdi::required);
    list("type", &ShownNode::type_letter, cdi::required);
    list("major", &ShownNode::major, cdi::required);
    list("minor", &ShownNode::minor, cdi::required);
    list("uid", &ShownNode::uid, cdi::required);
    list("gid", &ShownNode::gid, cdi::required);
    list("mode", &ShownNode::octal_mode, cdi::required);
    list("onHost", &ShownNode::on_host);
    list("byPath", &ShownNode::by_path);
  }
};

/// A MIG instance or partition.
struct ShownPartition {
  std::string name{};
  Texts aliases{};
  std::optional<std::string> size{};
  std::vector<ShownNode> nodes{};
  std::optional<std::string> left_out{};
  std::optional<std::string_view> left_out_code{};  // of `fault_meanings`

  static constexpr void fields(auto& list) {
    list("name", &ShownPartition::name, cdi::required);
    list("aliases", &ShownPartition::aliases, cdi::required);
    list("size", &ShownPartition::size, cdi::required);
    list("nodes", &ShownPartition::nodes, cdi::required);
    list("leftOut", &ShownPartition::left_out, cdi::required);
    list("leftOutCode", &ShownPartition::left_out_code, cdi::required);
  }
};

/// A GPU or another device.
struct ShownGpu {
  std::optional<std::size_t> index{};
  std::string name{};
  Texts aliases{};  // none if it is divided
  std::string vendor{};
  std::optional<std::string> id{}, model{}, pci_address{}, pci_id{}, physical_function{};
  std::optional<std::string> iommu_group{}, driver{};
  std::optional<int> numa_node{};
  std::optional<std::string> mode{};
  std::vector<ShownNode> nodes{}, iommufd_nodes{}, other_nodes{};
  std::vector<ShownPartition> partitions{};
  std::optional<std::string> left_out{};
  std::optional<std::string_view> left_out_code{};
  std::map<std::string, std::string> attributes{};  // of a vendor file

  static constexpr void fields(auto& list) {
    list("index", &ShownGpu::index, cdi::required);
    list("name", &ShownGpu::name, cdi::required);
    list("aliases", &ShownGpu::aliases, cdi::required);
    list("vendor", &ShownGpu::vendor, cdi::required);
    list("id", &ShownGpu::id, cdi::required);
    list("model", &ShownGpu::model, cdi::required);
    list("pciAddress", &ShownGpu::pci_address, cdi::required);
    list("pciId", &ShownGpu::pci_id, cdi::required);
    list("physicalFunction", &ShownGpu::physical_function, cdi::required);
    list("iommuGroup", &ShownGpu::iommu_group, cdi::required);
    list("driver", &ShownGpu::driver, cdi::required);
    list("numaNode", &ShownGpu::numa_node, cdi::required);
    list("mode", &ShownGpu::mode, cdi::required);
    list("nodes", &ShownGpu::nodes, cdi::required);
    list("iommufdNodes", &ShownGpu::iommufd_nodes, cdi::required);
    list("otherNodes", &ShownGpu::other_nodes, cdi::required);
    list("partitions", &ShownGpu::partitions, cdi::required);
    list("leftOut", &ShownGpu::left_out, cdi::required);
    list("leftOutCode", &ShownGpu::left_out_code, cdi::required);
    list("attributes", &ShownGpu::attributes);
  }
};

/// Why a node is missing.
struct ShownMissing {
  std::string reason{};
  std::string_view code{};  // of `fault_meanings`

  static constexpr void fields(auto& list) {
    list("reason", &ShownMissing::reason, cdi::required);
    list("code", &ShownMissing::code, cdi::required);
  }
};

/// The devices of a kind.
struct ShownKind {
  std::string kind{};
  std::optional<std::string> driver_version{};
  std::optional<std::string> not_ready{};
  std::optional<std::string_view> not_ready_code{};
  std::vector<ShownNode> control_nodes{}, fabric_nodes{};
  std::vector<DriverFile> files{};
  std::vector<ShownMissing> missing{};
  Texts warnings{};
  std::vector<std::string_view> warning_codes{};
  std::vector<ShownGpu> gpus{};

  static constexpr void fields(auto& list) {
    list("kind", &ShownKind::kind, cdi::required);
    list("driverVersion", &ShownKind::driver_version, cdi::required);
    list("notReady", &ShownKind::not_ready, cdi::required);
    list("notReadyCode", &ShownKind::not_ready_code, cdi::required);
    list("controlNodes", &ShownKind::control_nodes, cdi::required);
    list("fabricNodes", &ShownKind::fabric_nodes, cdi::required);
    list("files", &ShownKind::files, cdi::required);
    list("missing", &ShownKind::missing, cdi::required);
    list("warnings", &ShownKind::warnings, cdi::required);
    list("warningCodes", &ShownKind::warning_codes, cdi::required);
    list("gpus", &ShownKind::gpus, cdi::required);
  }
};

/// The result of `detect`.
struct DetectResult {
  std::uint32_t version = 1;
  std::vector<ShownKind> vendors{};

  static constexpr void fields(auto& list) {
    list("version", &DetectResult::version, cdi::required);
    list("vendors", &DetectResult::vendors, cdi::required);
  }
};

/// A spec that `write` has published.
struct PublishedSpec {
  std::string path{};
  std::string_view action{};  // of `publish_actions`
  std::string kind{};
  Texts devices{};

  static constexpr void fields(auto& list) {
    list("path", &PublishedSpec::path, cdi::required);
    list("action", &PublishedSpec::action, cdi::required);
    list("kind", &PublishedSpec::kind, cdi::required);
    list("devices", &PublishedSpec::devices, cdi::required);
  }
};

/// The actions of `write` on the file of a spec.
inline constexpr std::array<std::string_view, 3> publish_actions{"created", "replaced",
                                                                 "unchanged"};

/// The result of `write`.
struct WrittenSpecs {
  std::uint32_t version = 1;
  std::vector<PublishedSpec> specs{};
  Texts removed{};
  std::vector<LeftOut> left_out{};
  Texts not_ready{}, warnings{}, errors{};

  static constexpr void fields(auto& list) {
    list("version", &WrittenSpecs::version, cdi::required);
    list("specs", &WrittenSpecs::specs, cdi::required);
    list("removed", &WrittenSpecs::removed, cdi::required);
    list("leftOut", &WrittenSpecs::left_out, cdi::required);
    list("notReady", &WrittenSpecs::not_ready, cdi::required);
    list("warnings", &WrittenSpecs::warnings, cdi::required);
    list("errors", &WrittenSpecs::errors, cdi::required);
  }
};

/// A spec file that `write` would change.
struct StaleSpec {
  std::string path{};
  std::string reason{};
  Texts changes{};

  static constexpr void fields(auto& list) {
    list("path", &StaleSpec::path, cdi::required);
    list("reason", &StaleSpec::reason, cdi::required);
    list("changes", &StaleSpec::changes, cdi::required);
  }
};

/// The result of `check` and of `diff`.
struct CheckResult {
  std::uint32_t version = 1;
  std::vector<StaleSpec> stale{};
  Texts warnings{}, not_ready{};

  static constexpr void fields(auto& list) {
    list("version", &CheckResult::version, cdi::required);
    list("stale", &CheckResult::stale, cdi::required);
    list("warnings", &CheckResult::warnings, cdi::required);
    list("notReady", &CheckResult::not_ready, cdi::required);
  }
};

/// An engine of the host.
struct ShownEngine {
  std::string name{};
  std::optional<std::string> version{};
  std::string_view cdi{};              // of `engine_states`
  std::optional<std::string> reads{};  // the newest CDI version
  Texts spec_dirs{};

  static constexpr void fields(auto& list) {
    list("name", &ShownEngine::name, cdi::required);
    list("version", &ShownEngine::version, cdi::required);
    list("cdi", &ShownEngine::cdi, cdi::required);
    list("reads", &ShownEngine::reads, cdi::required);
    list("specDirs", &ShownEngine::spec_dirs, cdi::required);
  }
};

/// Whether an engine injects CDI devices, in the order of `tools::Engine::Cdi`.
inline constexpr std::array<std::string_view, 3> engine_states{"on", "off", "unknown"};

/// The result of `doctor`.
struct DoctorResult {
  std::uint32_t version = 1;
  std::vector<ShownFinding> findings{};
  std::vector<ShownEngine> engines{};
  std::vector<ShownKind> vendors{};

  static constexpr void fields(auto& list) {
    list("version", &DoctorResult::version, cdi::required);
    list("findings", &DoctorResult::findings, cdi::required);
    list("engines", &DoctorResult::engines, cdi::required);
    list("vendors", &DoctorResult::vendors, cdi::required);
  }
};

/// A file of NVIDIA's driver.
struct ListedFile : DriverFile {
  std::string_view kind_name{};  // of `file_kinds`

  static constexpr void fields(auto& list) {
    list("path", &ListedFile::host_path, cdi::required);
    list("kind", &ListedFile::kind_name, cdi::required);
    list("containerPath", &ListedFile::container_path, cdi::required);
    list("links", &ListedFile::links, cdi::required);
  }
};

/// The result of `files`.
struct FilesResult {
  std::uint32_t version = 1;
  std::string driver_version{};
  std::vector<ListedFile> files{};

  static constexpr void fields(auto& list) {
    list("version", &FilesResult::version, cdi::required);
    list("driverVersion", &FilesResult::driver_version, cdi::required);
    list("files", &FilesResult::files, cdi::required);
  }
};

/// A device of a claim in the kubelet's format. The kubelet knows `gpu/large` only as `gpu`.
struct ClaimDevice {
  Texts request_names{};
  std::string requested{};
  std::string device_name{};
  Texts cdi_device_ids{};

  static constexpr void fields(auto& list) {
    list("request_names", &ClaimDevice::request_names, cdi::required);
    list("requested", &ClaimDevice::requested, cdi::required);
    list("device_name", &ClaimDevice::device_name, cdi::required);
    list("cdi_device_ids", &ClaimDevice::cdi_device_ids, cdi::required);
  }
};

/// The outcome for a claim.
struct ClaimOutcome {
  std::optional<std::vector<ClaimDevice>> devices{};  // of `prepare`
  std::string error{};

  static constexpr void fields(auto& list) {
    list("devices", &ClaimOutcome::devices);
    list("error", &ClaimOutcome::error);
  }
};

/// The result of `prepare` and of `unprepare`.
struct ClaimResult {
  std::map<std::string, ClaimOutcome> claims{};  // by UID; one

  static constexpr void fields(auto& list) { list("claims", &ClaimResult::claims, cdi::required); }
};

/// A claim in the journal.
struct ListedClaim {
  std::string name_space{};
  std::string name{};
  std::vector<ClaimDevice> devices{};
  std::optional<std::string> fault{};

  static constexpr void fields(auto& list) {
    list("namespace", &ListedClaim::name_space, cdi::required);
    list("name", &ListedClaim::name, cdi::required);
    list("devices", &ListedClaim::devices, cdi::required);
    list("fault", &ListedClaim::fault, cdi::required);
  }
};

/// The result of `list`: the claims, or an error.
struct ClaimList {
  std::uint32_t version = 1;
  std::optional<std::map<std::string, ListedClaim>> claims{};  // by UID
  std::string error{};

  static constexpr void fields(auto& list) {
    list("version", &ClaimList::version, cdi::required);
    list("claims", &ClaimList::claims);
    list("error", &ClaimList::error);
  }
};

}  // namespace prepare
