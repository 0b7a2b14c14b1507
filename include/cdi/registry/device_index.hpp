// `DeviceIndex`: finds devices by qualified name in a hash table; and conflicts between specs.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_DEVICE_INDEX_HPP
#define CDI_REGISTRY_DEVICE_INDEX_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <cdi/model/spec.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

/// Which of several specs a device is taken from, the highest: that of the highest priority, and
/// among those one that is what its file holds now.
std::int64_t rank_of(const LoadedSpec& spec);

/// The devices of many specs by name. Of specs that provide the same device, the one of the highest
/// rank counts; two of that rank are in conflict.
class DeviceIndex {
 public:
  using Specs = std::vector<std::shared_ptr<const LoadedSpec>>;

  /// One place of the table, which has what a lookup compares: half a cache line.
  struct alignas(32) Slot {
    const Device* device = nullptr;
    std::uint32_t hash = 0;
    std::uint32_t spec : 31 = 0;      // index in `specs()`
    std::uint32_t contested : 1 = 0;  // another spec of the same rank has the device, too
    std::uint32_t name_size = 0;
    char name[12] = {};  // the name of the device; of a longer one, its address

    void set_name(std::string_view text);
    const char* name_begin() const;
  };

  /// The first device that two specs of the same rank provide, and how many there are.
  struct Conflict {
    ResolvedDevice one;
    ResolvedDevice other;
    std::size_t devices;
  };

  /// A device of the table, and the same device of another spec of the same rank.
  struct Rival {
    const Device* device;
    ResolvedDevice other;
  };

  /// The places of the rivals of one device, for `rival`.
  struct Rivals {
    std::size_t first;
    std::size_t last;  // the place after the last one
  };

  DeviceIndex() = default;

  /// Costs one hash for each device.
  explicit DeviceIndex(Specs specs);

  const Specs& specs() const { return specs_; }
  /// All places of the table; those without a device are empty.
  const std::vector<Slot>& slots() const { return slots_; }
  const std::vector<Conflict>& conflicts() const { return conflicts_; }
  /// The rivals of a contested device of the table, in the order of their specs.
  Rivals rivals_of(const Device& device) const;
  const ResolvedDevice& rival(std::size_t place) const { return rivals_[by_device_[place]].other; }

  /// The place of a qualified name, also of a device in conflict; null when no spec has the device.
  /// Does not allocate.
  const Slot* find(std::string_view name) const;

  ResolvedDevice device_of(const Slot& slot) const {
    return {specs_[slot.spec].get(), slot.device};
  }

 private:
  /// A number that a spec cannot be crafted for, so that all its names collide.
  std::uint64_t make_seed() const;

  /// Whether a place has the device of a qualified name.
  bool is_named(const Slot& slot, std::string_view name) const;

  /// The place of a qualified name, or the empty one where it belongs.
  std::size_t place_of(std::uint32_t hash, std::string_view name) const;

  void add(const Slot& slot, std::string_view name);
  void add_conflict(const ResolvedDevice& first, std::size_t first_spec,
                    const ResolvedDevice& added);

  Specs specs_{};
  std::vector<std::string_view> kinds_{};  // of each spec; those of one kind share its text
  // Open addressing: a power of two of slots, at least a quarter of them empty.
  // bench/resolve_bench.cpp has it beside `std::unordered_map`.
  std::vector<Slot> slots_{};
  std::uint64_t seed_ = make_seed();
  std::vector<Conflict> conflicts_{};
  std::vector<std::size_t> last_conflict_{};  // of each spec as `one`, if there are conflicts
  std::vector<Rival> rivals_{};
  std::vector<std::size_t> by_device_{};  // the indices of `rivals_`, sorted by device
};

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/registry/device_index.inl>
#endif

#endif  // CDI_REGISTRY_DEVICE_INDEX_HPP
