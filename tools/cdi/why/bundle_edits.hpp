// Finds the edits of devices that an OCI config contains.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/oci.hpp>
#include <cdi/registry.hpp>

/// An entry of a config that a device may have made, or an edit of a spec, in the same form.
struct BundleEntry {
  std::string_view kind{};     // the list of edits in a spec: env, deviceNodes, ...
  std::string key{};           // what distinguishes it from other entries of its kind
  std::string value{};         // the rest, as far as specs determine it; for people
  std::string where{};         // its path in the config or the spec
  cdi::ContainerEdits edit{};  // with only this entry, for checks of the host
};

/// An edit of a device, and its state in the container.
struct BundleMatch {
  enum class State : std::uint8_t { same, differs, replaced, absent };

  BundleEntry edit{};
  State state = State::absent;
  std::size_t entry = 0;                   // the index of the entry, unless absent
  std::vector<std::string> replaced_by{};  // the devices whose entry the container has
};

/// Devices with the same edits, found in a container; or the edits of a spec for all its devices.
struct BundleDevice {
  std::vector<std::string> names{};  // or the kind
  const cdi::LoadedSpec* spec = nullptr;
  const cdi::ContainerEdits* edits = nullptr;
  cdi::Position position{};
  std::vector<BundleMatch> matches{};

  std::size_t count(BundleMatch::State state) const;
};

/// Finds the edits of devices in a config.
class BundleSearch {
 public:
  explicit BundleSearch(const cdi::oci::Spec& config);

  BundleSearch(const BundleSearch&) = delete;  // `places_` refers to `entries_`
  BundleSearch& operator=(const BundleSearch&) = delete;

  const std::vector<BundleEntry>& entries() const { return entries_; }

  /// The devices with all nodes in the container, or, for devices without nodes, all edits. The
  /// edits that a spec makes for all its devices follow its first device.
  std::vector<BundleDevice> find(const cdi::Registry& registry) const;

 private:
  using Key = std::pair<std::string_view, std::string_view>;  // the kind of an edit, and its key
  using Places = std::vector<std::size_t>;

  static Key key_of(const BundleEntry& entry) { return {entry.kind, entry.key}; }

  /// Adds a device to the found ones; false if the container lacks it, or if a device with the same
  /// edits was found.
  bool add(const std::string& name, const cdi::ResolvedDevice& device,
           std::vector<BundleDevice>& found) const;

  /// Adds the edits that a spec makes for all its devices.
  void add_shared(const cdi::LoadedSpec& spec, std::vector<BundleDevice>& found) const;

  /// An edit that differs has not changed if the container has the value of another device: the
  /// later of two injected edits replaces the earlier.
  static void mark_replaced(std::vector<BundleDevice>& found);

  std::vector<BundleMatch> compare(std::vector<BundleEntry> edits) const;

  /// Finds the entry of an edit among entries with its key: the first matching one, or else the
  /// last.
  void place(BundleMatch& match, const Places& places) const;

  /// A spec may leave the numbers of a node to the host.
  static bool is_same(const BundleEntry& edit, const BundleEntry& entry);

  static bool is_there(const std::vector<BundleMatch>& matches);

  std::vector<BundleEntry> entries_;
  std::map<Key, Places> places_{};  // the indices of entries; refers to their texts
};
