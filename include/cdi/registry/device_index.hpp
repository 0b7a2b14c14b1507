// `DeviceIndex`: a hash table of devices by qualified name, with the conflicts between specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REGISTRY_DEVICE_INDEX_HPP
#define CDI_REGISTRY_DEVICE_INDEX_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <cdi/model/spec.hpp>
#include <cdi/registry/joined_texts.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Returns the rank of a spec; a device comes from the spec with the highest rank. Priority
/// decides; within a priority, a spec that matches its file's current contents ranks higher.
std::int64_t rank_of(const LoadedSpec& spec);

/// Finds the devices of many specs by name. If several specs provide a device, the spec with the
/// highest rank wins; if two specs share that rank, they conflict.
class DeviceIndex {
 public:
  using Specs = std::vector<std::shared_ptr<const LoadedSpec>>;

  /// A table entry: half a cache line that holds everything a lookup compares.
  struct alignas(32) Slot {
    const Device* device = nullptr;
    std::uint32_t hash = 0;
    std::uint32_t spec : 30 = 0;      // index in `specs()`
    std::uint32_t contested : 1 = 0;  // whether another spec of this rank defines the device
    std::uint32_t shared : 1 = 0;     // whether the device is defined more than once
    std::uint32_t name_size = 0;
    char name[12] = {};  // the device name, or the address of a longer name

    void set_name(std::string_view text);
    const char* name_begin() const;
  };

  /// A device that two specs of the same rank both define; `one` is in the table. A conflict of
  /// several devices has the first of them.
  struct Conflict {
    ResolvedDevice one;
    ResolvedDevice other;
    std::size_t devices;  // the number of such devices
  };

  /// The range of one device's rivals, for `rival`.
  struct Rivals {
    std::size_t first;
    std::size_t last;  // one past the last place
  };

  DeviceIndex() = default;

  /// Builds the table; each device's name is hashed once.
  explicit DeviceIndex(Specs specs);

  /// Returns the index of `specs`, made from the index of other specs. If few specs differ, are
  /// neighbours, and define no device that another spec defines, this hashes only their devices.
  static DeviceIndex updated(const DeviceIndex& before, Specs specs);

  const Specs& specs() const { return specs_; }
  /// Returns all entries of the table; an entry without a device is empty.
  const std::vector<Slot>& slots() const { return slots_; }
  const std::vector<Conflict>& conflicts() const { return conflicts_; }
  /// Returns the rivals of a contested device of the table, in the order of their specs.
  Rivals rivals_of(const Device& device) const;
  const ResolvedDevice& rival(std::size_t place) const { return rivals_[by_device_[place]].other; }

  /// Returns the entry of a qualified name, even if its device is in conflict; null if no spec
  /// defines the device. Does not allocate.
  const Slot* find(std::string_view name) const;

  ResolvedDevice device_of(const Slot& slot) const {
    return {specs_[slot.spec].get(), slot.device};
  }

 private:
  /// Makes a seed that differs between indices, so that names which collide in one index seldom do
  /// in another.
  std::uint64_t make_seed() const;

  /// Returns whether an entry contains the device with a qualified name.
  bool is_named(const Slot& slot, std::string_view name) const;

  /// Returns the index of a qualified name's entry, or of the empty entry where it belongs.
  std::size_t place_of(std::uint32_t hash, std::string_view name) const;

  static constexpr std::uint32_t max_spec = 0x3fffffff;  // in `Slot::spec`

  /// The specs in which this index differs from another one, as indices.
  struct Difference {
    std::size_t first;       // in both
    std::size_t last;        // one past the last, in this index
    std::size_t other_last;  // one past the last, in the other index
  };
  Difference difference_from(const Specs& other) const;

  /// Replaces the specs. Returns false, with a table that cannot be used, if a device of the specs
  /// that differ is defined more than once.
  bool replace(const Difference& differing, Specs specs);

  /// Adds the devices of a spec; no spec before has a higher rank. Returns whether all are new.
  bool add_devices(std::size_t spec);
  bool add(const Slot& slot, std::string_view name);
  /// Removes the devices of a spec. Returns whether no other spec defines them.
  bool remove_devices(std::size_t spec);
  void remove(std::size_t place);
  void add_conflict(const ResolvedDevice& first, std::size_t first_spec,
                    const ResolvedDevice& added);

  Specs specs_{};
  JoinedTexts kinds_{};      // of the specs, so that a lookup does not read them there
  std::size_t devices_ = 0;  // of all specs
  // Open addressing: the number of slots is a power of two, and at least a quarter are empty.
  // bench/resolve_bench.cpp compares the table with `std::unordered_map`.
  std::vector<Slot> slots_{};
  std::uint64_t seed_ = make_seed();
  std::vector<Conflict> conflicts_{};
  std::vector<std::size_t> last_conflict_{};  // each spec's latest conflict in which it is `one`
  std::vector<Conflict> rivals_{};            // one per device
  std::vector<std::size_t> by_device_{};      // indices into `rivals_`, sorted by device
};

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/registry/device_index.inl>
#endif

#endif  // CDI_REGISTRY_DEVICE_INDEX_HPP
