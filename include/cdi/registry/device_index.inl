// The bodies of <cdi/registry/device_index.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REGISTRY_DEVICE_INDEX_INL
#define CDI_REGISTRY_DEVICE_INDEX_INL

#include <cstring>
#include <ctime>
#include <string>
#include <utility>

#include <cdi/base/order.hpp>
#include <cdi/registry/device_index.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Hashes text so that any bits of the result can be used. Reads eight bytes at a time into two
/// hashes in turn, which a processor computes in parallel. The last eight bytes may overlap.
inline std::uint32_t hash_of(std::string_view text, std::uint64_t seed) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio
  std::uint64_t one = seed;
  std::uint64_t other = seed ^ text.size() * odd;
  const auto mix_into = [](std::uint64_t& hash, std::uint64_t word) {
    hash = (hash ^ word) * odd;
    hash ^= hash >> 32;
  };
  const auto load = [&](std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    return word;
  };
  std::size_t at = 0;
  for (; at + 16 < text.size(); at += 16) {
    mix_into(one, load(at));
    mix_into(other, load(at + 8));
  }
  if (at + 8 < text.size()) mix_into(one, load(at));
  if (text.size() >= 8) {
    mix_into(other, load(text.size() - 8));
  } else {
    for (const char c : text) mix_into(other, static_cast<unsigned char>(c));
  }
  one ^= other >> 29 ^ other << 17;
  one = (one ^ one >> 29) * 0xbf58476d1ce4e5b9;
  return static_cast<std::uint32_t>(one >> 32);
}

CDI_INLINE std::int64_t rank_of(const LoadedSpec& spec) {
  return std::int64_t{spec.priority} * 2 + (spec.last_error == nullptr ? 1 : 0);
}

CDI_INLINE void DeviceIndex::Slot::set_name(std::string_view text) {
  name_size = static_cast<std::uint32_t>(text.size());
  const char* const address = text.data();
  if (text.size() > sizeof name) {
    std::memcpy(name, &address, sizeof address);
  } else if (!text.empty()) {
    std::memcpy(name, address, text.size());
  }
}

CDI_INLINE const char* DeviceIndex::Slot::name_begin() const {
  const char* address = name;
  if (name_size > sizeof name) std::memcpy(&address, name, sizeof address);
  return address;
}

CDI_INLINE std::uint64_t DeviceIndex::make_seed() const {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);  // including <chrono> is expensive
  const auto nanoseconds = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                           static_cast<std::uint64_t>(now.tv_nsec);
  return nanoseconds ^ reinterpret_cast<std::uintptr_t>(this) << 20;
}

inline std::uintptr_t address_of(const DeviceIndex::Conflict& rival) {
  return reinterpret_cast<std::uintptr_t>(rival.one.device);  // any two integers can be compared
}

/// Returns the number of slots for a number of devices.
inline std::size_t slots_for(std::size_t devices) {
  if (devices == 0) return 0;
  std::size_t slots = 2;
  while (slots < devices + devices / 3 + 1) slots *= 2;
  return slots;
}

inline std::size_t count_devices(const DeviceIndex::Specs& specs, std::size_t first,
                                 std::size_t last) {
  std::size_t devices = 0;
  for (std::size_t i = first; i < last; ++i) devices += specs[i]->spec.devices.size();
  return devices;
}

CDI_INLINE DeviceIndex::DeviceIndex(Specs specs)
    : specs_{std::move(specs)}, devices_{detail::count_devices(specs_, 0, specs_.size())} {
  kinds_.reserve(specs_.size());
  for (const auto& spec : specs_) kinds_.push_back(spec->spec.kind);
  slots_.resize(detail::slots_for(devices_));
  const auto by_rank = detail::order_of(specs_.size(), [&](std::size_t a, std::size_t b) {
    return detail::rank_of(*specs_[a]) < detail::rank_of(*specs_[b]);
  });
  for (const auto i : by_rank) add_devices(i);
  by_device_ = detail::order_of(rivals_.size(), [&](std::size_t a, std::size_t b) {
    return address_of(rivals_[a]) < address_of(rivals_[b]);
  });
}

CDI_INLINE DeviceIndex DeviceIndex::updated(const DeviceIndex& before, Specs specs) {
  const auto differing = before.difference_from(specs);
  const auto removed = detail::count_devices(before.specs_, differing.first, differing.last);
  const auto added = detail::count_devices(specs, differing.first, differing.other_last);
  const auto devices = before.devices_ - removed + added;
  const bool few = removed + added < devices / 2;
  if (few && detail::slots_for(devices) == before.slots_.size()) {
    DeviceIndex out{before};
    out.devices_ = devices;
    if (out.replace(differing, specs)) return out;
  }
  return DeviceIndex{std::move(specs)};
}

CDI_INLINE auto DeviceIndex::difference_from(const Specs& other) const -> Difference {
  const auto shorter = detail::min(specs_.size(), other.size());
  std::size_t first = 0;
  while (first < shorter && specs_[first] == other[first]) ++first;
  Difference out{first, specs_.size(), other.size()};
  for (; out.last > first && out.other_last > first; --out.last, --out.other_last) {
    if (specs_[out.last - 1] != other[out.other_last - 1]) break;
  }
  return out;
}

CDI_INLINE bool DeviceIndex::replace(const Difference& differing, Specs specs) {
  const auto [first, last, new_last] = differing;
  for (auto i = first; i < last; ++i) {
    if (!remove_devices(i)) return false;
  }
  JoinedTexts kinds;
  for (auto i = first; i < new_last; ++i) kinds.push_back(specs[i]->spec.kind);
  kinds_.replace(first, last, kinds);
  specs_.swap(specs);
  if (last != new_last) {
    for (auto& slot : slots_) {
      if (slot.spec >= last) slot.spec = (slot.spec - last + new_last) & max_spec;
    }
  }
  for (auto i = first; i < new_last; ++i) {
    if (!add_devices(i)) return false;
  }
  return true;
}

CDI_INLINE bool DeviceIndex::is_named(const Slot& slot, std::string_view name) const {
  const auto kind = kinds_[slot.spec];
  if (name.size() != kind.size() + 1 + slot.name_size) return false;
  const char* const device = name.data() + kind.size() + 1;
  return device[-1] == '=' && std::memcmp(device, slot.name_begin(), slot.name_size) == 0 &&
         std::memcmp(name.data(), kind.data(), kind.size()) == 0;
}

CDI_INLINE std::size_t DeviceIndex::place_of(std::uint32_t hash, std::string_view name) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.device == nullptr || (slot.hash == hash && is_named(slot, name))) return i;
  }
}

CDI_INLINE const DeviceIndex::Slot* DeviceIndex::find(std::string_view name) const {
  if (slots_.empty()) return nullptr;
  const Slot& slot = slots_[place_of(hash_of(name, seed_), name)];
  return slot.device == nullptr ? nullptr : &slot;
}

/// Calls `use(device, name)` with the qualified name of each device of a spec.
template <class Use>
void for_each_device(const LoadedSpec& spec, const Use& use) {
  std::string name = spec.spec.kind;
  name.push_back('=');
  const auto kind_end = name.size();
  for (const auto& device : spec.spec.devices) {
    name.resize(kind_end);
    name.append(device.name);
    use(device, std::string_view{name});
  }
}

CDI_INLINE bool DeviceIndex::add_devices(std::size_t spec) {
  bool all_new = true;
  detail::for_each_device(*specs_[spec], [&](const Device& device, std::string_view name) {
    Slot slot{.device = &device,
              .hash = hash_of(name, seed_),
              .spec = static_cast<std::uint32_t>(spec) & max_spec};
    slot.set_name(device.name);
    all_new = add(slot, name) && all_new;
  });
  return all_new;
}

CDI_INLINE bool DeviceIndex::add(const Slot& slot, std::string_view name) {
  const auto added = device_of(slot);
  Slot& place = slots_[place_of(slot.hash, name)];
  if (place.device == nullptr) {
    place = slot;
    return true;
  }
  const auto first = device_of(place);
  if (detail::rank_of(*first.spec) < detail::rank_of(*added.spec)) {
    place = slot;
  } else if (first.spec != added.spec) {  // otherwise, the spec lists the device twice
    place.contested = 1;
    rivals_.push_back({first, added, 1});
    add_conflict(first, place.spec, added);
  }
  place.shared = 1;
  return false;
}

CDI_INLINE bool DeviceIndex::remove_devices(std::size_t spec) {
  bool alone = true;
  detail::for_each_device(*specs_[spec], [&](const Device&, std::string_view name) {
    const auto place = place_of(hash_of(name, seed_), name);
    alone = slots_[place].shared == 0 && alone;
    if (alone) remove(place);
  });
  return alone;
}

CDI_INLINE void DeviceIndex::remove(std::size_t place) {
  const std::size_t mask = slots_.size() - 1;
  // Entries that belong at or before the free place move there, so that lookups still meet them.
  for (std::size_t i = (place + 1) & mask; slots_[i].device != nullptr; i = (i + 1) & mask) {
    const std::size_t from_home = (i - slots_[i].hash) & mask;
    if (from_home < ((i - place) & mask)) continue;
    slots_[place] = slots_[i];
    place = i;
  }
  slots_[place] = {};
}

CDI_INLINE void DeviceIndex::add_conflict(const ResolvedDevice& first, std::size_t first_spec,
                                          const ResolvedDevice& added) {
  last_conflict_.resize(specs_.size());
  auto& last = last_conflict_[first_spec];
  const bool is_known = last < conflicts_.size() && conflicts_[last].one.spec == first.spec &&
                        conflicts_[last].other.spec == added.spec;
  if (is_known) {
    ++conflicts_[last].devices;
    return;
  }
  last = conflicts_.size();
  conflicts_.push_back({first, added, 1});
}

CDI_INLINE auto DeviceIndex::rivals_of(const Device& device) const -> Rivals {
  const auto address = reinterpret_cast<std::uintptr_t>(&device);
  const auto first = detail::count_first(by_device_.size(), [&](std::size_t i) {
    return address_of(rivals_[by_device_[i]]) < address;
  });
  auto last = first;
  while (last < by_device_.size() && rivals_[by_device_[last]].one.device == &device) ++last;
  return {first, last};
}

}  // namespace cdi::detail

#endif  // CDI_REGISTRY_DEVICE_INDEX_INL
