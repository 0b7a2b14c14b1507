// The bodies of <cdi/registry/device_index.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_IMPL_DEVICE_INDEX_HPP
#define CDI_REGISTRY_IMPL_DEVICE_INDEX_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

#include <cdi/base/order.hpp>
#include <cdi/registry/device_index.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

/// Mixes a text into a hash, eight bytes at a time; what is left over as parts that overlap.
inline std::uint64_t hash_of(std::string_view text, std::uint64_t hash) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * odd;
    hash ^= hash >> 32;
  };
  const auto load = [&]<class Word>(Word word, std::size_t at) {
    std::memcpy(&word, text.data() + at, sizeof word);
    return std::uint64_t{word};
  };
  const auto size = text.size();
  for (; text.size() >= 8; text.remove_prefix(8)) mix(load(std::uint64_t{}, 0));
  std::uint64_t rest = 0;
  if (text.size() >= 4) {
    rest = load(std::uint32_t{}, 0) << 32 | load(std::uint32_t{}, text.size() - 4);
  } else if (!text.empty()) {
    rest = load(std::uint8_t{}, 0) << 16 | load(std::uint8_t{}, text.size() / 2) << 8 |
           load(std::uint8_t{}, text.size() - 1);
  }
  mix(rest ^ std::uint64_t{size} << 56);
  return hash;
}

/// The hash of a device, of which any bits will do.
inline std::uint32_t hash_of_device(std::string_view device, std::uint64_t kind_hash) {
  std::uint64_t hash = hash_of(device, kind_hash);
  hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9;
  return static_cast<std::uint32_t>(hash >> 32);
}

CDI_INLINE std::int64_t rank_of(const LoadedSpec& spec) {
  return std::int64_t{spec.priority} * 2 + (spec.fault == nullptr ? 1 : 0);
}

CDI_INLINE std::uint64_t DeviceIndex::make_seed() const {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);  // <chrono> is dear to include
  const auto nanoseconds = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                           static_cast<std::uint64_t>(now.tv_nsec);
  return nanoseconds ^ reinterpret_cast<std::uintptr_t>(this) << 20;
}

CDI_INLINE DeviceIndex::DeviceIndex(Specs specs) : specs_{std::move(specs)} {
  std::size_t devices = 0;
  for (const auto& spec : specs_) devices += spec->spec.devices.size();
  if (devices == 0) return;
  std::size_t slots = 2;
  while (slots < devices + devices / 3 + 1) slots *= 2;
  slots_.resize(slots);
  const auto by_rank = detail::order_of(specs_.size(), [&](std::size_t a, std::size_t b) {
    return detail::rank_of(*specs_[a]) < detail::rank_of(*specs_[b]);
  });
  for (const auto i : by_rank) {
    const auto kind_hash = hash_of(specs_[i]->spec.kind, seed_);
    for (const auto& device : specs_[i]->spec.devices) {
      add({.device = &device,
           .hash = detail::hash_of_device(device.name, kind_hash),
           .spec = static_cast<std::uint32_t>(i) & 0x7fffffff});
    }
  }
}

CDI_INLINE std::size_t DeviceIndex::place_of(std::uint32_t hash, std::string_view kind,
                                             std::string_view device) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.device == nullptr) return i;
    if (slot.hash != hash) continue;
    if (slot.device->name == device && specs_[slot.spec]->spec.kind == kind) return i;
  }
}

CDI_INLINE const DeviceIndex::Slot* DeviceIndex::find(std::string_view name) const {
  const auto equals = name.find('=');
  if (equals == std::string_view::npos || slots_.empty()) return nullptr;
  const auto kind = name.substr(0, equals);
  const auto device = name.substr(equals + 1);
  const auto hash = detail::hash_of_device(device, hash_of(kind, seed_));
  const Slot& slot = slots_[place_of(hash, kind, device)];
  return slot.device == nullptr ? nullptr : &slot;
}

CDI_INLINE void DeviceIndex::add(const Slot& slot) {
  const auto added = device_of(slot);
  Slot& place = slots_[place_of(slot.hash, added.spec->spec.kind, added.device->name)];
  if (place.device == nullptr) {
    place = slot;
    return;
  }
  const auto first = device_of(place);
  if (first.spec == added.spec) return;  // given twice
  if (detail::rank_of(*first.spec) < detail::rank_of(*added.spec)) {
    place = slot;
    return;
  }
  place.contested = 1;
  for (auto i = conflicts_.size(); i > 0 && conflicts_[i - 1].other == added.spec; --i) {
    if (conflicts_[i - 1].spec != first.spec) continue;
    ++conflicts_[i - 1].devices;
    return;
  }
  conflicts_.push_back({first.spec, added.spec, added.device, 1});
}

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_REGISTRY_IMPL_DEVICE_INDEX_HPP
